/*
 * loaded.h - a shared library that is loaded when a command needs it, so that all others start
 * without it. It stays loaded.
 */
#ifndef UT_BASE_LOADED_H
#define UT_BASE_LOADED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_loaded_function {
	const char *name;
	void *to;      /* the address of the pointer to it */
	bool optional; /* the pointer is NULL where it is missing */
};

struct ut_loaded {
	const char *name;   /* as people call it */
	const char *file;   /* libNAME.so.1 */
	const char *absent; /* what is told where it is not installed */
	const struct ut_loaded_function *functions;
	size_t count;
};

/* -ELIBACC: not installed; -ELIBBAD: there, and of no use. */
int ut_loaded_open(const struct ut_loaded *l, struct ut_err *err) UT_MUST_CHECK;

#endif
