/*
 * report.h - the ops report in memory, whichever logs it comes from: a row per op.
 *
 * A column is known by its name and has a place; columns may be added while rows are read, and
 * ut_ops_report_order() puts them, and the rows, in order. A row is up to UT_OPS_PARTS ranges of
 * cells, so that rows of one program share what they have in common. Where a row has no cell its
 * column says what stands there.
 *
 * Texts are not copied: they live in the report's arena, or as long as it. One thread.
 */
#ifndef UT_OPS_REPORT_H
#define UT_OPS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/strtab.h"

#define UT_OPS_PARTS 4

/* Every row has every column: a log that names ever new things must not make rows without end. */
#define UT_OPS_MOST_COLUMNS 4096u
#define UT_OPS_NO_COLUMN    UINT32_MAX

/* Compared by group, index, key, sub: the order of columns. */
struct ut_ops_column {
	const char *name;
	uint32_t group, index;
	const char *key; /* NULL is "" */
	uint32_t sub;
	const char *missing; /* what stands where a row has nothing */
	size_t place;        /* set by ut_ops_report_order() */
};

struct ut_ops_cell {
	uint32_t column;
	struct ut_str text;
};

/* Cells that were put one after the other. */
struct ut_ops_range {
	size_t first, count;
};

/* Compared by when, kind, turn: the order of rows. Later parts win over earlier ones. */
struct ut_ops_row {
	int64_t when;
	uint32_t kind;
	uint64_t turn;
	uint32_t tag; /* the reader's own */
	struct ut_ops_range parts[UT_OPS_PARTS];
};

struct ut_ops_report {
	struct ut_arena arena;
	struct ut_strtab names; /* ids are those of the columns, plus one; later ones have none */
	struct ut_ops_column *columns;
	size_t column_count, column_cap;
	uint32_t *by_place;   /* columns in order */
	struct ut_str *empty; /* a row without cells, in order */
	char *numbers;        /* room for the texts of numbers, in the arena */
	size_t numbers_left;
	struct ut_ops_cell *cells;
	size_t cell_count, cell_cap;
	struct ut_ops_row *rows;
	size_t row_count, row_cap;
	bool used_only;   /* columns that no row uses are left out */
	size_t shown;     /* columns that are not */
	size_t missing;   /* ops that ran on a device and have no device times */
	uint32_t problem; /* the column of it */
	size_t problems;  /* rows that say what is wrong with them */
};

void ut_ops_report_init(struct ut_ops_report *r);
void ut_ops_report_release(struct ut_ops_report *r);

/* The column of that name, added if it is new and there is room. Name and key are copied. */
uint32_t ut_ops_column(struct ut_ops_report *r, const struct ut_ops_column *c);

/* Columns from a list of names closed by NULL, all of one group; the id of the first. */
uint32_t ut_ops_columns(struct ut_ops_report *r, const char *const *names, uint32_t group,
			const char *missing);

/* Does nothing for UT_OPS_NO_COLUMN. */
void ut_ops_put(struct ut_ops_report *r, uint32_t column, struct ut_str text);
void ut_ops_put_u64(struct ut_ops_report *r, uint32_t column, uint64_t value);

/* The cells put since first, which was r->cell_count. */
struct ut_ops_range ut_ops_since(const struct ut_ops_report *r, size_t first);

/* Puts why a row is not whole; the column comes last and only if some row needs it. */
void ut_ops_put_problem(struct ut_ops_report *r, const char *why);

/* A row of zeros at the end; the pointer holds until the next one. */
struct ut_ops_row *ut_ops_row_add(struct ut_ops_report *r);

void ut_ops_report_order(struct ut_ops_report *r);

/* The place of a column that is shown; where there is none, behind the last one. */
size_t ut_ops_place_of(const struct ut_ops_report *r, const char *name);

/* Is the text a number as JSON has them, without an exponent? */
bool ut_ops_is_number(struct ut_str s);

/* Fills texts[shown] in the order of columns. */
void ut_ops_row_texts(const struct ut_ops_report *r, size_t row, struct ut_str *texts);

#endif
