#define UT_LOG_MODULE "launch"
#include "launch/levelzero_inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/env.h"
#include "launch/inject.h"
#include "wire/control.h"

#define VARIABLE "ZE_ENABLE_ALT_DRIVERS"
#define LOADER   "libze_loader.so.1"

/* ---- which drivers there are --------------------------------------------------------------- */

/* Those that loaders know, in their order. */
static const struct {
	const char *name;
	bool gpu;
} usual[] = {
	{ "libze_intel_gpu.so.1", true },
	{ "libze_intel_gpu_legacy1.so.1", true },
	{ "libze_intel_vpu.so.1", false },
	{ "libze_intel_npu.so.1", false },
};

#define USUAL (sizeof(usual) / sizeof(*usual))

/* The loader's file; NULL = there is none where we look. */
static const char *map_loader(size_t *size)
{
	void *library = dlopen(LOADER, RTLD_LAZY | RTLD_LOCAL);
	void *function = library ? dlsym(library, "zeInit") : NULL;
	struct stat st = { 0 };
	Dl_info info;
	void *map;
	int fd;

	if (!function || !dladdr(function, &info))
		return NULL;
	fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	*size = (size_t)st.st_size;
	return map == MAP_FAILED ? NULL : map;
}

/* In a child: drivers may do anything while they are loaded. Bit i: the driver is to be listed. */
static _Noreturn void levelzero_inject_look(void)
{
	size_t size = 0;
	const char *loader = map_loader(&size);
	int found = 0;

	for (size_t i = 0; i < USUAL; i++) {
		const char *name = usual[i].name;
		bool known = !loader || memmem(loader, size, name, strlen(name));

		/* What is no GPU's stays in the list, there or not, as the loader has it. */
		if (known && (!usual[i].gpu || dlopen(name, RTLD_LAZY | RTLD_LOCAL)))
			found |= 1 << i;
	}
	_exit(found);
}

static int drivers_here(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (nowhere >= 0) {
			dup2(nowhere, 1);
			dup2(nowhere, 2);
		}
		levelzero_inject_look();
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* ---- what stands for them ------------------------------------------------------------------ */

/* What is on its way into the variable. */
struct listing {
	const struct ut_inject *d;
	struct ut_arena *a;
	const char *backend;
	const char *dir; /* in the session's */
	FILE *drivers;
	struct ut_buf value;
	unsigned int count; /* drivers that we stand for */
};

static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, rc = 0;
	struct stat st = { 0 };
	ssize_t n = 1;

	if (in < 0)
		return -errno;
	if (fstat(in, &st))
		rc = -errno;
	else if ((out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700)) < 0)
		rc = -errno;
	for (off_t left = st.st_size; !rc && left > 0 && n > 0; left -= n) {
		n = sendfile(out, in, NULL, (size_t)left);
		rc = n < 0 ? -errno : n == 0 ? -EIO : 0;
	}
	close(in);
	if (out >= 0 && close(out) && !rc)
		rc = -errno;
	return rc;
}

/* Where a library of ours looks for the collector is relative to its own place. */
static const char *copy_backend(const struct listing *l, unsigned int number, int *rc)
{
	const char *root = ut_str_fmt(l->a, "%s/%u", l->dir, number);
	const char *folder = ut_path_join(l->a, root, "unitrace/backends");
	const char *to = ut_path_join(l->a, folder, "levelzero.so");
	const char *collector = ut_path_join(l->a, l->d->backends, "../../libunitrace.so");
	struct ut_err err = { 0 };

	*rc = ut_path_mkdirs(folder, &err);
	if (!*rc)
		*rc = copy_file(l->backend, to);
	if (!*rc && symlink(collector, ut_path_join(l->a, root, "libunitrace.so")) &&
	    errno != EEXIST)
		*rc = -errno;
	return to;
}

static void list_name(struct listing *l, const char *name)
{
	if (l->value.len)
		ut_buf_char(&l->value, ',');
	ut_buf_text(&l->value, name);
}

/* driver NULL: whichever is there when it is loaded. */
static int list_ours(struct listing *l, const char *driver)
{
	const char *path = l->backend;
	int rc = 0;

	if (l->count++)
		path = copy_backend(l, l->count, &rc);
	if (rc)
		return rc;
	if (driver)
		fprintf(l->drivers, "%s\t%s\n", path, driver);
	list_name(l, path);
	return 0;
}

static int list_given(struct listing *l, const char *given)
{
	int rc = 0;

	for (const char *p = given; *p && !rc; p += strcspn(p, ","), p += *p == ',') {
		size_t len = strcspn(p, ",");

		if (len)
			rc = list_ours(l, ut_arena_copy(l->a, p, len));
	}
	return rc;
}

static int list_usual(struct listing *l)
{
	int here = drivers_here(), rc = 0;

	for (size_t i = 0; i < USUAL && !rc; i++) {
		if (!(here >> i & 1))
			continue;
		/* Where there is none, the program may find one. */
		if (!usual[i].gpu && !l->count)
			rc = list_ours(l, NULL);
		if (usual[i].gpu)
			rc = list_ours(l, usual[i].name);
		else
			list_name(l, usual[i].name);
	}
	return rc || l->count ? rc : list_ours(l, NULL);
}

/* ---- the variable -------------------------------------------------------------------------- */

static int make_list(struct listing *l, const char *given)
{
	int rc = mkdir(l->dir, 0700) && errno != EEXIST ? -errno : 0;

	if (rc)
		return rc;
	l->drivers = fopen(ut_path_join(l->a, l->dir, "drivers"), "we");
	if (!l->drivers)
		return -errno;
	rc = given && given[0] ? list_given(l, given) : list_usual(l);
	if (fclose(l->drivers) && !rc)
		rc = -EIO;
	return rc;
}

/* A recording within a recording: who stands for which driver is as it was. */
static void take_over(const struct listing *l)
{
	const char *outer = getenv(UT_SESSION_ENV);

	if (outer && (!mkdir(l->dir, 0700) || errno == EEXIST))
		(void)copy_file(ut_str_fmt(l->a, "%s/levelzero/drivers", outer),
				ut_path_join(l->a, l->dir, "drivers"));
}

bool ut_levelzero_inject_has_driver(void)
{
	const char *given = getenv(VARIABLE);
	int here = given && given[0] ? 0 : drivers_here();

	for (size_t i = 0; i < USUAL; i++) {
		if (usual[i].gpu && here & 1 << i)
			return true;
	}
	return given && given[0];
}

void ut_levelzero_inject_set_env(const struct ut_inject *d, struct ut_env *env, const char *backend)
{
	struct listing l = { .d = d,
			     .a = env->arena,
			     .backend = backend,
			     .dir = ut_path_join(env->arena, d->session_dir, "levelzero") };
	const char *given = ut_env_get(env, VARIABLE);
	int rc;

	if (strpbrk(backend, ",\t\n") || strpbrk(l.dir, ",\t\n")) {
		ut_logger_log(d->logger, UT_WARN,
			      "%s: a comma or blank in the path: Level Zero is not recorded",
			      backend);
		return;
	}
	if (given && strstr(given, backend)) {
		take_over(&l);
		return;
	}
	rc = make_list(&l, given);
	if (rc)
		ut_logger_log(d->logger, UT_WARN, "%s: %s: Level Zero is not recorded", l.dir,
			      strerror(-rc));
	else
		ut_env_set(env, VARIABLE, ut_arena_copy(env->arena, l.value.data, l.value.len));
	ut_logger_log(d->logger, UT_DEBUG, "Level Zero injection: %s", rc ? "none" : l.value.data);
	ut_buf_release(&l.value);
	if (!rc && d->metrics)
		ut_env_set(env, "ZET_ENABLE_METRICS", "1");
}
