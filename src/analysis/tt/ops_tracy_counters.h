/*
 * ops_tracy_counters.h - how busy the arithmetic units were: the device's counters, from its log.
 *
 * With TT_METAL_PROFILE_PERF_COUNTERS the device notes at the end of an op, core by core, what its
 * counters say: markers 9090 with {"counter type":"FPU_COUNTER";"ref cnt":1000;"value":250}. Of the
 * many counters these columns know three, those of FPU, SFPU and MATH.
 */
#ifndef UT_TT_OPS_TRACY_COUNTERS_H
#define UT_TT_OPS_TRACY_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"

struct ut_ops_report;
struct ut_tt_chip;
struct ut_tt_log;

/* What one counter said in one op, over the cores that have told. */
struct ut_tracy_util {
	bool known;
	double min, median, max; /* percent of the time in which the unit was busy */
	double sum;              /* of the counters */
};

#define UT_TRACY_UNITS 3u /* SFPU, FPU, MATH */

/* The counters of one chip. {0} is none. */
struct ut_tracy_counters {
	struct ut_arena arena;
	struct ut_idmap by_op; /* op and replay -> its number in ops, plus 1 */
	struct ut_tracy_util (*ops)[UT_TRACY_UNITS];
	size_t count;
};

void ut_tracy_counters_read(struct ut_tracy_counters *c, const struct ut_tt_log *log,
			    const struct ut_tt_chip *chip);
void ut_tracy_counters_release(struct ut_tracy_counters *c);

/* What there is to say about an op, besides its counts. */
struct ut_tracy_counted {
	uint64_t op;
	int64_t replay;
	uint64_t kernel; /* cycles; 0 = unknown: no average over all cores of the chip */
	int64_t cores;   /* of the chip; at most 0 = unknown, the same */
};

void ut_tracy_counters_put(const struct ut_tracy_counters *c, struct ut_ops_report *r,
			   const struct ut_tracy_counted *op);

#endif
