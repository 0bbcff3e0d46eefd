/*
 * tar_read.h - the files in a tarball, one after another: POSIX ustar and pax, and GNU's long
 * names. Compression is the source's business.
 */
#ifndef UT_TEXT_TAR_READ_H
#define UT_TEXT_TAR_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct ut_source;

/* Do these first bytes of a file look like a tarball? */
bool ut_tar_is(const char *head, size_t len);

/*
 * Calls file(ctx, name, text) for every regular file, until it says no (a negative errno). A file
 * of more than most bytes is an error, as is an end in the middle of one.
 */
int ut_tar_each(struct ut_source *s, size_t most,
		int (*file)(void *ctx, const char *name, struct ut_str text, struct ut_err *err),
		void *ctx, struct ut_err *err) UT_MUST_CHECK;

#endif
