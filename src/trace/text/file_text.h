/*
 * file_text.h - all of a file that is small enough to be held, unpacked if need be.
 */
#ifndef UT_TEXT_FILE_TEXT_H
#define UT_TEXT_FILE_TEXT_H

#include <stddef.h>

#include "base/err.h"

struct ut_buf;
struct ut_source;

/* Added to text. -EFBIG: that would be more than most bytes. */
int ut_file_text(const char *path, size_t most, struct ut_buf *text,
		 struct ut_err *err) UT_MUST_CHECK;

/* The same for what is left of a source. */
int ut_file_rest(struct ut_source *source, size_t most, struct ut_buf *text,
		 struct ut_err *err) UT_MUST_CHECK;

#endif
