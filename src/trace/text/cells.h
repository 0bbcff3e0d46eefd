/*
 * cells.h - names and times in tables, the same in all of them.
 */
#ifndef UT_TEXT_CELLS_H
#define UT_TEXT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_out;

/*
 * Appends a name made fit for a terminal: no control characters, no bad UTF-8, and at most max
 * columns (from 4), of which a name that is too wide gives up the middle, since both ends tell
 * more. Returns its columns.
 */
size_t ut_cell_name(struct ut_buf *b, const char *s, size_t len, size_t max);

/* The same for a text of any length, straight to the out. */
void ut_cell_text(struct ut_out *o, const char *s);

/*
 * How many columns blanks fill up at most: where names are whole (files, pipes), one of thousands
 * of characters stands out instead of moving the numbers of all others out of sight.
 */
#define UT_CELL_PAD 60u

/* How many columns a name takes if nothing is cut. */
size_t ut_cell_columns(const char *s, size_t len);

/* Four digits and a unit: "12.34 ms". Returns buf, which has room for UT_CELL_TIME bytes. */
#define UT_CELL_TIME 40
const char *ut_cell_time(char buf[UT_CELL_TIME], uint64_t ns);

#endif
