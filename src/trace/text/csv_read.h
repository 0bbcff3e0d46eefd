/*
 * csv_read.h - reads CSV files with a line of titles, such as tt-metal's: records of fields.
 *
 * A file is read whole, gzip and zstd are unpacked; fields point into its text and are not copied.
 * Writing CSV: csv_write.h.
 */
#ifndef UT_TEXT_CSV_READ_H
#define UT_TEXT_CSV_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;

#define UT_CSV_NO_FIELD SIZE_MAX

struct ut_csv {
	char separator;
	char quote; /* 0 = none */
	bool trim;  /* blanks around a field do not count */
	char *at, *end;
	uint64_t line; /* of the record, from 1 */
	uint64_t next_line;
	struct ut_str *fields; /* of the record; their texts stay */
	size_t count, cap;
	struct ut_str *titles; /* of the first record */
	size_t title_count;
};

/* Takes the text of a file, which lives in the arena, and reads the titles. */
int ut_csv_open(struct ut_csv *c, struct ut_arena *a, const char *path,
		struct ut_err *err) UT_MUST_CHECK;

/* The same for a text at hand, which is written to. */
void ut_csv_open_text(struct ut_csv *c, struct ut_arena *a, char *text, size_t len);
void ut_csv_close(struct ut_csv *c);

/* The next record that is not empty; false at the end. */
bool ut_csv_next(struct ut_csv *c);

/* Which field has this title; UT_CSV_NO_FIELD: none. */
size_t ut_csv_find(const struct ut_csv *c, const char *title);

/* A field of the record; empty if it has none. */
struct ut_str ut_csv_field(const struct ut_csv *c, size_t field);

/* Is the text a whole number from 0, and nothing else? */
bool ut_csv_number(struct ut_str text, uint64_t *value);

#endif
