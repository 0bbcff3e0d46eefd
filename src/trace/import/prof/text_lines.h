/*
 * text_lines.h - the lines of a source, one after the other, however long the source is.
 */
#ifndef UT_IMPORT_PROF_TEXT_LINES_H
#define UT_IMPORT_PROF_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_source;

/* What is longer is no line of a profile, and is cut. */
#define UT_TEXT_LINE_MOST ((size_t)16 << 20)

struct ut_text_lines {
	struct ut_source *source;
	struct ut_buf buf;
	size_t at;       /* of the next line in buf */
	uint64_t offset; /* of the line that was handed out, in the source */
	bool ended;
};

/* {.source} is at its beginning. True: *line is the next one, without its end, until the next call.
 * False: there are no more, or *rc says why it cannot be read. */
bool ut_text_lines_next(struct ut_text_lines *l, struct ut_str *line, int *rc, struct ut_err *err);
void ut_text_lines_release(struct ut_text_lines *l);

#endif
