/*
 * source_lines.h - lines of source files by their number, as far as the files are at hand.
 *
 * Names come from debug information, which anybody may have written: only regular files of a
 * bearable size are opened, once each. {0} with an arena is empty. One owner, one thread.
 */
#ifndef UT_TEXT_SOURCE_LINES_H
#define UT_TEXT_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"
#include "base/str.h"

struct ut_arena;

struct ut_source_file {
	struct ut_str path;
	struct ut_str *lines; /* lines[0] is the first; in the arena, without their ends */
	uint32_t count;       /* 0: the file is not there */
};

struct ut_source_lines {
	struct ut_arena *arena; /* not owned */
	struct ut_source_file *files;
	size_t count, cap;
	struct ut_hashtab by_path;
};

void ut_source_lines_release(struct ut_source_lines *s);

/* Never NULL; holds until the next file. */
const struct ut_source_file *ut_source_lines_file(struct ut_source_lines *s, struct ut_str path);

/* Line number from 1; "" if there is none. */
struct ut_str ut_source_line(struct ut_source_lines *s, struct ut_str path, uint32_t line);

#endif
