/*
 * bins.h - more samples than a picture has columns, put together: of each column its mean and its
 * extremes, so that neither the course nor a single peak is lost.
 */
#ifndef UT_DRAW_BINS_H
#define UT_DRAW_BINS_H

#include <stdbool.h>
#include <stddef.h>

struct ut_bin {
	double x;         /* mean of what is in it */
	double mean;      /* of y */
	double low, high; /* of y */
	size_t count;     /* samples in it: at least one */
};

/* So many samples a column and more are put together; fewer are shown one by one. */
#define UT_BINS_DENSE 2u

/* What is looked at: samples within [low, high] of x, which ascends; x NULL = 0, 1, 2, ... */
struct ut_bins_of {
	const double *x, *y;
	size_t count;
	double low, high;
};

/*
 * Those columns that have samples, in their order; holes (not finite) are in none. bins has room
 * for columns of them; returns how many there are.
 */
size_t ut_bins_fill(struct ut_bin *bins, size_t columns, const struct ut_bins_of *of);

#endif
