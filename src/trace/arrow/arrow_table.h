/*
 * arrow_table.h - a table that is made cell by cell and becomes a stream of Arrow's C interface.
 *
 * A column gets its type from its values: whole numbers, numbers, text, bytes, whatever fits all of
 * them. Missing values are null. Text that is no UTF-8 is repaired, because readers rely on it. One
 * owner, one thread, until it is a stream.
 */
#ifndef UT_ARROW_ARROW_TABLE_H
#define UT_ARROW_ARROW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "unitrace/arrow.h"

struct ut_arrow_table;

/* names: one per column, copied; repaired if they are no UTF-8. */
struct ut_arrow_table *ut_arrow_table_new(const char *const *names, size_t columns);
void ut_arrow_table_free(struct ut_arrow_table *table);

/* The next cell, from left to right; a row is complete with its last column. */
void ut_arrow_add_null(struct ut_arrow_table *table);
void ut_arrow_add_int(struct ut_arrow_table *table, int64_t value);
void ut_arrow_add_real(struct ut_arrow_table *table, double value);
void ut_arrow_add_text(struct ut_arrow_table *table, struct ut_str text);
void ut_arrow_add_bytes(struct ut_arrow_table *table, struct ut_str bytes);

/*
 * For tables that are handed on in pieces: the types of all columns are said before the first cell,
 * and only such cells are added.
 */
enum ut_arrow_kind {
	UT_ARROW_KIND_INT = 1,
	UT_ARROW_KIND_REAL,
	UT_ARROW_KIND_TEXT,
	UT_ARROW_KIND_SMALL, /* numbers of 32 bits */
};

void ut_arrow_table_fix(struct ut_arrow_table *table, const enum ut_arrow_kind *kinds);
int64_t ut_arrow_table_rows(const struct ut_arrow_table *table);
void ut_arrow_table_schema(const struct ut_arrow_table *table, struct ArrowSchema *out);
/* The rows so far, which leave the table. */
void ut_arrow_table_take(struct ut_arrow_table *table, struct ArrowArray *out);

/* Takes the table. One batch; columns without any value are text. */
void ut_arrow_table_stream(struct ut_arrow_table *table, struct ArrowArrayStream *out);

#endif
