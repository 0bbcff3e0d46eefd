/*
 * metrics_lines.h - lines of a file of metrics, one by one from a piece of it in memory. A line
 * that begins with a quote ends behind the name in quotes, which may hold line breaks.
 */
#ifndef UT_METRICS_METRICS_LINES_H
#define UT_METRICS_METRICS_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "text/source.h"

#define UT_LINES_PAD 32u /* bytes behind a line that may be read */

struct ut_lines {
	struct ut_source source;
	char *data;
	size_t at, len, cap;
	uint64_t line; /* number of the line that was given out last, from 1 */
	uint64_t next; /* of the one behind it */
	bool at_end;   /* of the file: all of it is in memory */
	bool is_whole; /* the last line had its line break */
	bool no_quote; /* at the end: there is no closing quote any more */
};

int ut_lines_open(struct ut_lines *l, const char *path, struct ut_err *err) UT_MUST_CHECK;
void ut_lines_close(struct ut_lines *l);

/* 1 with a line without its end, which stays until the next call; 0 at the end. */
int ut_lines_next(struct ut_lines *l, struct ut_str *line, struct ut_err *err) UT_MUST_CHECK;

/*
 * The closing quote of the name that begins with the one at line.ptr[0]: "" is a quote in the name,
 * and so is one that neither a comma nor the end of the line follows. NULL: there is none.
 */
const char *ut_lines_quote(struct ut_str line);

#endif
