#include "launch/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "wire/control.h"

#define LIBRARY "libunitrace.so"
#define TIMER   "unitrace/libunitrace-timer.so"

#ifndef UT_LIBDIR_REL
#define UT_LIBDIR_REL "../lib"
#endif

static int check_elf(const char *path, struct ut_err *err)
{
	const unsigned char our_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	ElfW(Ehdr) header = { 0 };
	ssize_t len;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ut_err_set(err, -errno, "%s: cannot read the collector: %s", path,
				  strerror(errno));
	len = read(fd, &header, sizeof(header));
	close(fd);
	if (len != (ssize_t)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_type != ET_DYN)
		return ut_err_set(err, -ENOEXEC, "%s: not a shared library; install unitrace again",
				  path);
	if (header.e_ident[EI_CLASS] != our_class)
		return ut_err_set(err, -ENOEXEC,
				  "%s: made for another kind of machine; install unitrace again",
				  path);
	return 0;
}

int ut_library_check(const char *path, struct ut_err *err)
{
	int rc = check_elf(path, err);

	if (rc)
		return rc;
	/* We may run inside a recorded program ourselves: this load must not join its session. */
	unsetenv(UT_SESSION_ENV);
	if (!dlopen(path, RTLD_LAZY | RTLD_LOCAL))
		return ut_err_set(err, -ELIBBAD, "the collector cannot be loaded: %s", dlerror());
	return 0;
}

int ut_library_timer(struct ut_arena *a, const char *collector, const char **path,
		     struct ut_err *err)
{
	*path = ut_path_join(a, ut_path_dir(a, collector), TIMER);
	return check_elf(*path, err);
}

int ut_library_place(struct ut_arena *a, const char **path, struct ut_err *err)
{
	static const char *const places[] = { UT_LIBDIR_REL, "../lib" };
	const char *bin = ut_path_self_dir(a);
	char *real, *tried = NULL;

	if (!bin)
		return ut_err_set(err, -ENOENT,
				  "unitrace cannot find its own file, and so not the collector: is "
				  "/proc mounted?");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		tried = ut_path_join(a, ut_path_join(a, bin, places[i]), LIBRARY);
		real = realpath(tried, NULL);
		if (!real)
			continue;
		*path = ut_arena_copy(a, real, strlen(real));
		free(real);
		return 0;
	}
	return ut_err_set(err, -ENOENT,
			  "%s: the collector is missing; install unitrace again or build it whole",
			  tried);
}

int ut_library_find(struct ut_arena *a, const char **path, struct ut_err *err)
{
	int rc = ut_library_place(a, path, err);

	return rc ? rc : ut_library_check(*path, err);
}
