/*
 * roofline_files.h - the file that `unitrace roofline --output` makes: a page, a picture or a
 * table, by its suffix.
 */
#ifndef UT_CMD_ROOFLINE_FILES_H
#define UT_CMD_ROOFLINE_FILES_H

#include <stdbool.h>

#include "base/err.h"

struct ut_arena;
struct ut_roof;

struct ut_roofline_file {
	const char *path; /* in the arena: with .html, if it had no suffix that we know */
	int kind;
};

/* Before work begins: can it be made here? output may be NULL. */
int ut_roofline_file_check(struct ut_roofline_file *f, const char *output, struct ut_arena *a,
			   struct ut_err *err) UT_MUST_CHECK;

/* levels: tables have a row for each level of memory. */
int ut_roofline_file_write(const struct ut_roofline_file *f, const struct ut_roof *r, bool levels,
			   struct ut_err *err) UT_MUST_CHECK;

#endif
