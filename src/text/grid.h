/*
 * grid.h - a table for people: columns as wide as their widest cell (up to UT_CELL_PAD), numbers to
 * the right.
 *
 * Declare the columns, add the cells row by row, print. Names may hold any bytes: control
 * characters and bad UTF-8 are replaced, and what is too wide loses its middle. {0} is empty.
 */
#ifndef UT_TEXT_GRID_H
#define UT_TEXT_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_out;

enum ut_grid_align {
	UT_GRID_LEFT,
	UT_GRID_RIGHT,
};

struct ut_grid_column {
	const char *title; /* not copied */
	enum ut_grid_align align;
	size_t columns; /* of the widest cell so far */
};

struct ut_grid_cell {
	size_t start, len, columns; /* in text */
};

struct ut_grid {
	struct ut_grid_column *columns;
	size_t column_count, column_cap;
	struct ut_grid_cell *cells;
	size_t cell_count, cell_cap;
	struct ut_buf text;
};

void ut_grid_column(struct ut_grid *g, const char *title, enum ut_grid_align align);

/* The next cell. */
void ut_grid_name(struct ut_grid *g, const char *s, size_t len, size_t max);
void ut_grid_text(struct ut_grid *g, const char *s);
void ut_grid_fmt(struct ut_grid *g, const char *fmt, ...) UT_PRINTF(2, 3);
void ut_grid_count(struct ut_grid *g, uint64_t n);
void ut_grid_time(struct ut_grid *g, uint64_t ns); /* "12.34 ms" */

/* Titles and rows; lines do not end in blanks. A row that is not complete is not printed. */
void ut_grid_print(const struct ut_grid *g, struct ut_out *o);
void ut_grid_release(struct ut_grid *g);

#endif
