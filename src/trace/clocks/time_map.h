/*
 * time_map.h - from the times of one clock to those of another: what has to be added, by knots
 * between which it changes evenly.
 *
 * Integers throughout, so that all ranks of a parallel merge find the same. Owner: whoever releases
 * it. {0} adds nothing.
 */
#ifndef UT_CLOCKS_TIME_MAP_H
#define UT_CLOCKS_TIME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UT_TIME_UNKNOWN UINT64_MAX /* in place of an error */

struct ut_time_knot {
	int64_t at;     /* ns of the clock */
	int64_t add;    /* ns */
	uint64_t error; /* bound of that, ns */
};

struct ut_time_map {
	struct ut_time_knot *knots; /* by at */
	size_t count, cap;
};

/* At the end, or in place of the last one if that is not before it. */
void ut_time_map_knot(struct ut_time_map *m, int64_t at, int64_t add, uint64_t error);
void ut_time_map_release(struct ut_time_map *m);

/* What to add at a time. Outside of the knots it changes as between the two nearest. */
int64_t ut_time_map_add(const struct ut_time_map *m, int64_t at);

/* The time on the other clock; saturates at both ends of the range. */
int64_t ut_time_map_to(const struct ut_time_map *m, int64_t at);

/* A time of the other clock on this one: at + add is as near to it as a ns allows. */
int64_t ut_time_map_from(const struct ut_time_map *m, int64_t to);

/* The bound at a time; the larger one of the two knots around it. */
uint64_t ut_time_map_error(const struct ut_time_map *m, int64_t at);

/* The same for all times between the first and the last knot. */
uint64_t ut_time_map_worst(const struct ut_time_map *m);

/* Is the same added everywhere? */
bool ut_time_map_is_shift(const struct ut_time_map *m);

/* ns gained in 10^9, from the first knot to the last. */
int64_t ut_time_map_drift(const struct ut_time_map *m);

/* Both, one after the other: to = then(first(at)). Errors add up. */
void ut_time_map_chain(const struct ut_time_map *first, const struct ut_time_map *then,
		       struct ut_time_map *both);

/* Adds a constant to what is added. */
void ut_time_map_shift(struct ut_time_map *m, int64_t by);

#endif
