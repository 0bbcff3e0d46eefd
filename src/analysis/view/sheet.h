/*
 * sheet.h - a table in the making, as the viewer wants it: columns, each with all its cells.
 *
 * Cells are added row by row, from left to right; ut_sheet_write() writes them out and frees them.
 */
#ifndef UT_VIEW_SHEET_H
#define UT_VIEW_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_out;

struct ut_sheet_column {
	const char *key, *title;
	const char *type; /* text, name, time, count, share, number, bytes, event */
	const char *hint; /* NULL = none */
	const char *unit; /* said beside the title; NULL = none, or the type has its own */
	bool wide;        /* shown only where there is room */
	bool is_signed;   /* a difference: shown with its sign */
};

struct ut_sheet {
	const struct ut_sheet_column *columns;
	size_t count;
	struct ut_buf *cells; /* one per column: what stands between the brackets */
	size_t at;            /* the next column */
	size_t rows;
};

void ut_sheet_init(struct ut_sheet *s, const struct ut_sheet_column *columns, size_t count);
void ut_sheet_release(struct ut_sheet *s);

void ut_sheet_text(struct ut_sheet *s, struct ut_str text);
void ut_sheet_u64(struct ut_sheet *s, uint64_t value);
void ut_sheet_i64(struct ut_sheet *s, int64_t value);
void ut_sheet_double(struct ut_sheet *s, double value);
void ut_sheet_null(struct ut_sheet *s);

/* more: rows that were left out. */
void ut_sheet_write(struct ut_sheet *s, uint64_t more, struct ut_out *out);

#endif
