/*
 * tar.h - a few files of one folder in a tarball: POSIX ustar, streamed; what does not fit into its
 * headers (a long name, a large file) is told in pax headers in front of them.
 */
#ifndef UT_TEXT_TAR_H
#define UT_TEXT_TAR_H

#include <stdint.h>
#include <time.h>

#include "base/err.h"

struct ut_out;

/* Adds dir/name under the name "./name". */
int ut_tar_add(struct ut_out *out, const char *dir, const char *name,
	       struct ut_err *err) UT_MUST_CHECK;

/* The same for those who bring the bytes themselves: what stands before a file of this name and
 * size, and what fills its last block. */
void ut_tar_head(struct ut_out *out, const char *name, uint64_t size, time_t mtime);
void ut_tar_fill(struct ut_out *out, uint64_t size);

/* The two empty blocks behind the last file. */
void ut_tar_end(struct ut_out *out);

#endif
