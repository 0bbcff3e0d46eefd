/*
 * ticks.h - where an axis has its numbers, and how they are written: round ones, as many as there
 * is room for, all with the same unit prefix and number of decimals.
 */
#ifndef UT_DRAW_TICKS_H
#define UT_DRAW_TICKS_H

#include <stdbool.h>
#include <stddef.h>

#include "draw/chart.h"

#define UT_TICKS_MOST  24u
#define UT_TICKS_LABEL 32u

struct ut_ticks {
	double at[UT_TICKS_MOST];
	size_t count;
	double step;     /* between two; on a log axis 0 */
	double greatest; /* of their sizes: decides the prefix */
	enum ut_axis_numbers numbers;
	bool is_log;
};

/*
 * Round numbers within [low, high], about want of them and at least two. widen: low and high move
 * outwards to the next ones. low < high, both finite; on a log axis low > 0.
 */
void ut_ticks_find(struct ut_ticks *t, double *low, double *high, unsigned int want, bool widen);

/* How the number of a tick is written; NUL-terminated. Returns its length. */
size_t ut_ticks_label(const struct ut_ticks *t, double value, char to[UT_TICKS_LABEL]);

/* A number by itself with three digits or more: "12.3 M", "0.5". */
size_t ut_number_label(double value, enum ut_axis_numbers numbers, char to[UT_TICKS_LABEL]);

#endif
