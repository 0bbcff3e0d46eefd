/*
 * bottleneck_units.h - the units of a device that can be what limits a kernel: which are known,
 * which is busiest; and the words for reasons to wait. For the rules of bottleneck.c.
 */
#ifndef UT_METRICS_BOTTLENECK_UNITS_H
#define UT_METRICS_BOTTLENECK_UNITS_H

#include "metrics/bottleneck.h"

/* Thresholds; docs/guides/kernels.md says why. Percent, unless the name says otherwise. */
#define UT_BOTTLENECK_BOUND   60.0 /* a unit is what limits, from here on */
#define UT_BOTTLENECK_CERTAIN 80.0 /* the same, whatever else was not measured */
#define UT_BOTTLENECK_BOUND_ATOMICS                                                                \
	45.0 /* their unit in L2 is full at 60 to 80, by how they are spread */
#define UT_BOTTLENECK_ISSUE_ABOVE                                                                  \
	20.0 /* instruction issue is what limits if it is used so much more than any pipe */
#define UT_BOTTLENECK_LEAST_SAMPLES 5.0 /* of counters */

/* What can be busy, and what speaks of it. */
struct ut_unit {
	enum ut_kernel_fact fact;
	enum ut_kernel_rule rule;
	const char *title;
	bool is_pipe; /* of multiprocessors: COMPUTE has it among others */
};

#define UT_UNITS 14u
extern const struct ut_unit ut_units[UT_UNITS];

bool ut_unit_is_known(const struct ut_kernel_facts *f, const struct ut_unit *u);
bool ut_units_are_known(const struct ut_kernel_facts *f);

/* How much speaks for it: its use, if nothing else explains that. */
double ut_unit_weight(const struct ut_kernel_facts *f, const struct ut_unit *u);

/* The unit that is used most; NULL = nothing is known of any. */
const struct ut_unit *ut_unit_busiest(const struct ut_kernel_facts *f);

/* What people call it, as far as it is known what it does. */
const char *ut_unit_title(const struct ut_kernel_facts *f, const struct ut_unit *u);

/* Counters at intervals tell nothing of what they have hit a few times only. */
bool ut_units_have_few_samples(const struct ut_kernel_facts *f);

/* What samples of this reason wait for; NULL = nobody knows. latency: more work would hide it. */
const char *ut_stall_words(struct ut_str reason, bool *latency);

#endif
