/*
 * library.h - where the collector lies that goes into the program's process.
 */
#ifndef UT_LAUNCH_LIBRARY_H
#define UT_LAUNCH_LIBRARY_H

#include "base/err.h"

struct ut_arena;

/*
 * The absolute path of libunitrace.so, found from our own executable: in the build tree and after
 * an installation alike. It is an ELF file for our own machine and can be loaded: a program that
 * fails to load its ITT library stays silent about it, so we look before.
 */
int ut_library_find(struct ut_arena *a, const char **path, struct ut_err *err) UT_MUST_CHECK;

/* Where it lies, without a look inside. */
int ut_library_place(struct ut_arena *a, const char **path, struct ut_err *err) UT_MUST_CHECK;

/* The same checks for a file at hand. Loads it into this process, where it stays. */
/* The library for programs that sample themselves, which lies beside a collector. */
int ut_library_timer(struct ut_arena *a, const char *collector, const char **path,
		     struct ut_err *err) UT_MUST_CHECK;

int ut_library_check(const char *path, struct ut_err *err) UT_MUST_CHECK;

#endif
