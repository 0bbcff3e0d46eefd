#define UT_LOG_MODULE "launch"
#include "launch/inject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/api_list.h"
#include "base/arena.h"
#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "launch/env.h"
#include "launch/levelzero_inject.h"

#define VENDORS      "/etc/OpenCL/vendors"
#define LONGEST_NCCL 254u /* bytes; NCCL cuts off the rest */

const char *ut_inject_backend_dir(struct ut_arena *a, const char *library)
{
	return ut_path_join(a, ut_path_dir(a, library), "unitrace/backends");
}

/* Room for one name: the user's own stays. */
static void open_single(const struct ut_inject *d, struct ut_env *env, const char *variable,
			const char *path, const char *what)
{
	const char *old = ut_env_get(env, variable);

	if (old && old[0] && strcmp(old, path))
		ut_logger_log(d->logger, UT_WARN,
			      "%s is '%s' already and stays so: %s is not recorded", variable, old,
			      what);
	else
		ut_env_set(env, variable, path);
}

static bool is_listed(const char *list, const char *path)
{
	size_t len = strlen(path);

	for (const char *p = list; *p; p += strcspn(p, ":"), p += *p == ':') {
		if (!strncmp(p, path, len) && (p[len] == ':' || !p[len]))
			return true;
	}
	return false;
}

/* The layer that comes last is called first: it sees what the program itself does. */
static void open_list(const struct ut_inject *d, struct ut_env *env, const char *variable,
		      const char *path, const char *what)
{
	const char *old = ut_env_get(env, variable);

	if (strchr(path, ':'))
		ut_logger_log(d->logger, UT_WARN, "%s: a colon in the path: %s is not recorded",
			      path, what);
	else if (!old || !old[0])
		ut_env_set(env, variable, path);
	else if (!is_listed(old, path))
		ut_env_set(env, variable, ut_str_fmt(env->arena, "%s:%s", old, path));
}

/* ---- OpenCL without layers ----------------------------------------------------------------- */

/* Does the file hold the text? */
static bool file_holds(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	bool yes = false;
	void *map;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			yes = memmem(map, (size_t)st.st_size, text, strlen(text));
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return yes;
}

/* In a child: a library called libOpenCL.so.1 may be a whole driver. */
static _Noreturn void look_at_loader(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
	void *function = library ? dlsym(library, "clGetPlatformIDs") : NULL;
	Dl_info info;

	if (!function || !dladdr(function, &info))
		_exit(0);
	_exit(file_holds(info.dli_fname, "OPENCL_LAYERS") ? 0 : 1);
}

/* True also when there is no loader where we look: the program may bring its own. */
static bool loader_has_layers(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		look_at_loader();
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

/* The library that a file of a vendor names: its first line. */
static void add_vendor(FILE *to, const char *path)
{
	char line[4096];
	FILE *from = fopen(path, "re");

	if (from && fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0])
			fprintf(to, "%s\n", line);
	}
	if (from)
		fclose(from);
}

/*
 * In the order in which the folder lists them. NVIDIA's loader, which has no layers, takes them so
 * (seen), and a program that uses the first platform must find the one that it finds without us.
 */
static void add_folder(FILE *to, struct ut_arena *a, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (ut_str_ends(e->d_name, ".icd"))
			add_vendor(to, ut_path_join(a, folder, e->d_name));
	}
	if (dir)
		closedir(dir);
}

/*
 * The vendors that the loader would have found, in its order: libraries by name, then a folder, a
 * file or a library. Some may be there twice; the backend takes each once.
 */
static void add_vendors(FILE *to, const struct ut_env *env)
{
	const char *chosen = ut_env_get(env, "OCL_ICD_VENDORS");
	const char *folder = ut_env_get(env, "OPENCL_VENDOR_PATH");
	const char *named = ut_env_get(env, "OCL_ICD_FILENAMES");

	for (; named && *named; named += strcspn(named, ":"), named += *named == ':')
		fprintf(to, "%.*s\n", (int)strcspn(named, ":"), named);
	folder = folder && folder[0] ? folder : VENDORS;
	if (!chosen || !chosen[0])
		add_folder(to, env->arena, folder);
	else if (ut_path_is_dir(chosen))
		add_folder(to, env->arena, chosen);
	else if (ut_str_ends(chosen, ".icd"))
		add_vendor(to,
			   strchr(chosen, '/') ? chosen : ut_path_join(env->arena, folder, chosen));
	else
		fprintf(to, "%s\n", chosen);
}

static int write_folder(const char *dir, const struct ut_env *env, const char *backend)
{
	FILE *f;
	int rc;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	f = fopen(ut_path_join(env->arena, dir, "vendors"), "we");
	if (!f)
		return -errno;
	add_vendors(f, env);
	rc = fclose(f);
	f = fopen(ut_path_join(env->arena, dir, "unitrace.icd"), "we");
	if (!f)
		return -errno;
	fprintf(f, "%s\n", backend);
	return rc || fclose(f) ? -EIO : 0;
}

static void open_icd(const struct ut_inject *d, struct ut_env *env, const char *backend)
{
	const char *dir = ut_path_join(env->arena, d->session_dir, "opencl");
	int rc = write_folder(dir, env, backend);

	if (rc) {
		ut_logger_log(d->logger, UT_WARN, "%s: %s: OpenCL is not recorded", dir,
			      strerror(-rc));
		return;
	}
	/* With the slash: NVIDIA's loader puts the name of a file right behind it. */
	ut_env_set(env, "OCL_ICD_VENDORS", ut_str_fmt(env->arena, "%s/", dir));
	if (ut_env_get(env, "OCL_ICD_FILENAMES"))
		ut_env_set(env, "OCL_ICD_FILENAMES", "");
}

static void open_opencl(const struct ut_inject *d, struct ut_env *env, const char *backend)
{
	bool layer = d->opencl == UT_OPENCL_LAYER ||
		     (d->opencl == UT_OPENCL_AUTO && loader_has_layers());

	ut_logger_log(d->logger, UT_DEBUG, "OpenCL injection: %s", layer ? "layer" : "vendor");
	if (layer)
		open_list(d, env, "OPENCL_LAYERS", backend, "OpenCL");
	else
		open_icd(d, env, backend);
}

/* ---- all of them --------------------------------------------------------------------------- */

static bool open_loader(const struct ut_inject *d, struct ut_env *env, const char *file,
			const char *what)
{
	const char *backend = ut_path_join(env->arena, d->backends, file);

	if (!ut_path_exists(backend)) {
		ut_logger_log(d->logger, UT_WARN, "%s is missing: %s is not recorded", backend,
			      what);
		return false;
	}
	if (!ut_env_preload(env, backend)) {
		ut_logger_log(d->logger, UT_WARN,
			      "%s: a blank or colon in the path: %s is not recorded", backend,
			      what);
		return false;
	}
	return true;
}

static void open_memory(const struct ut_inject *d, struct ut_env *env)
{
	const char *options = ut_env_get(env, "ASAN_OPTIONS");
	const char *ours = "verify_asan_link_order=0";

	if (open_loader(d, env, "memory.so", "memory"))
		ut_env_set(env, "ASAN_OPTIONS",
			   options && options[0] ? ut_str_fmt(env->arena, "%s:%s", options, ours)
						 : ours);
}

/* Lists that are separated by commas. */
static void inject_add_word(struct ut_env *env, const char *variable, const char *word)
{
	const char *old = ut_env_get(env, variable);
	size_t len = strlen(word);

	for (const char *p = old; p && *p; p += strcspn(p, ","), p += *p == ',') {
		if (!strncmp(p, word, len) && (p[len] == ',' || !p[len]))
			return;
	}
	ut_env_set(env, variable,
		   old && old[0] ? ut_str_fmt(env->arena, "%s,%s", old, word) : word);
}

static bool is_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcasecmp(value, "false"));
}

static void open_sycl(const struct ut_inject *d, struct ut_env *env)
{
	const char *backend = ut_path_join(env->arena, d->backends, "sycl.so");
	const char *framework = ut_env_get(env, "XPTI_FRAMEWORK_DISPATCHER");

	if (!ut_path_exists(backend)) {
		ut_logger_log(d->logger, UT_WARN, "%s is missing: SYCL is not recorded", backend);
	} else if (strchr(backend, ',')) {
		ut_logger_log(d->logger, UT_WARN, "%s: a comma in the path: SYCL is not recorded",
			      backend);
	} else if (is_off(ut_env_get(env, "XPTI_TRACE_ENABLE"))) {
		ut_logger_log(d->logger, UT_WARN, "XPTI_TRACE_ENABLE is '%s': SYCL is not recorded",
			      ut_env_get(env, "XPTI_TRACE_ENABLE"));
	} else {
		if (!framework || !framework[0])
			ut_env_set(env, "XPTI_FRAMEWORK_DISPATCHER", "libxptifw.so");
		ut_env_set(env, "XPTI_TRACE_ENABLE", "1");
		inject_add_word(env, "XPTI_SUBSCRIBERS", backend);
		inject_add_word(env, "UR_ENABLE_LAYERS", "UR_LAYER_TRACING");
	}
}

static void open_devices(const struct ut_inject *d, struct ut_env *env)
{
	static const struct ut_api_traits apis[] = {
#define API_TRAITS(api, name, title, ...) { name, title, __VA_ARGS__ },
		UT_API_LIST(API_TRAITS)
#undef API_TRAITS
	};
	const char *cuda = ut_path_join(env->arena, d->backends, "cuda.so");
	const char *opencl = ut_path_join(env->arena, d->backends, "opencl.so");
	const char *levelzero = ut_path_join(env->arena, d->backends, "levelzero.so");

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		const char *backend = ut_path_join(env->arena, d->backends,
						   ut_str_fmt(env->arena, "%s.so", apis[i].name));

		if (!apis[i].variable || !ut_path_exists(backend))
			continue;
		if (apis[i].list)
			open_list(d, env, apis[i].variable, backend, apis[i].title);
		else
			open_single(d, env, apis[i].variable, backend, apis[i].title);
	}
	if (ut_path_exists(cuda))
		open_single(d, env, "NVTX_INJECTION64_PATH", cuda, "what NVTX marks");
	if (ut_path_exists(opencl))
		open_opencl(d, env, opencl);
	if (ut_path_exists(levelzero))
		ut_levelzero_inject_set_env(d, env, levelzero);
}

/* Without a backend nothing is lost that the user has asked for by name: oneCCL needs none. */
static void open_nccl(const struct ut_inject *d, struct ut_env *env)
{
	const char *backend = ut_path_join(env->arena, d->backends, "nccl.so");

	if (!ut_path_exists(backend))
		return;
	if (strlen(backend) > LONGEST_NCCL)
		ut_logger_log(d->logger, UT_WARN,
			      "%s: too long a path for NCCL: it is not recorded", backend);
	else
		open_single(d, env, "NCCL_PROFILER_PLUGIN", backend, "NCCL");
}

void ut_inject_set_env(const struct ut_inject *d, struct ut_env *env)
{
	if (d->ccl)
		open_nccl(d, env);
	if (d->devices)
		open_devices(d, env);
	if (d->mpi)
		open_loader(d, env, "mpi.so", "MPI");
	if (d->sycl)
		open_sycl(d, env);
	if (d->memory)
		open_memory(d, env);
}
