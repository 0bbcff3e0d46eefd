/*
 * printed.h - what another program prints: runs it, waits for it, takes its standard output.
 */
#ifndef UT_TEXT_PRINTED_H
#define UT_TEXT_PRINTED_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;

/*
 * argv[0] is a path or a name to be found in PATH; no shell is asked. Its input is empty, what it
 * complains about is not shown but becomes part of the error. It is ended after so many seconds, or
 * when it prints more than most bytes. -ENOENT: there is no such program; -EIO: it failed.
 */
int ut_printed(struct ut_str *text, struct ut_arena *a, const char *const *argv, size_t most,
	       unsigned int seconds, struct ut_err *err) UT_MUST_CHECK;

#endif
