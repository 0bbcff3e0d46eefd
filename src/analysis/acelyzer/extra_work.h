/*
 * extra_work.h - what the files of extra.h share.
 */
#ifndef UT_ACELYZER_EXTRA_WORK_H
#define UT_ACELYZER_EXTRA_WORK_H

#include "acelyzer/extra.h"

enum ut_ace_mark {
	UT_ACE_MARK_DEVICE = 1, /* a span with stamps */
	UT_ACE_MARK_DOUBT = 2,  /* host and device do not agree about it */
};

/* The place of a rank, made if need be. */
uint32_t ut_ace_extra_rank(struct ut_ace_extra *x, int64_t number);

/* Microseconds of the trace as nanoseconds since zero. */
int64_t ut_ace_extra_ns(const struct ut_ace_extra *x, double us);

void ut_ace_intervals_add(struct ut_ace_intervals *v, int64_t begin, int64_t end);
void ut_ace_intervals_sort(struct ut_ace_intervals *v);
void ut_ace_intervals_unite(struct ut_ace_intervals *v); /* of sorted ones */

/* The middle of v, which is reordered; 0 if there are none. */
int64_t ut_ace_median(int64_t *v, size_t n);

/* Where the time of sorted, disjoint stretches went. Unites what each rank does. */
void ut_ace_extra_split(struct ut_ace_extra *x);

/* Joules up to a moment. *at is where to look from, for moments that come in order. */
double ut_ace_extra_joules(const struct ut_ace_extra_rank *r, int64_t ts, size_t *at);
void ut_ace_extra_sum_power(struct ut_ace_extra *x);

/* What the watch looks at while host times are still there. */
void ut_ace_extra_clocks(struct ut_ace_extra *x, struct ut_ace_analysis *a);

/* Steps of a collective, in the order of time, then what they come to. */
struct ut_ace_meets;
struct ut_ace_meets *ut_ace_meets_new(struct ut_ace_extra *x, struct ut_ace_analysis *a);
void ut_ace_meets_add(struct ut_ace_meets *m, const struct ut_ace_event *e, uint32_t rank);
void ut_ace_meets_finish(struct ut_ace_meets *m); /* frees m; work must be sorted */

/*
 * Everything that the events say: work, kernels, power, steps; steps of collectives go to m.
 * Afterwards work is sorted and power summed up.
 */
void ut_ace_extra_collect(struct ut_ace_extra *x, struct ut_ace_analysis *a,
			  struct ut_ace_meets *m);

void ut_ace_extra_stragglers(struct ut_ace_extra *x);
void ut_ace_extra_trust(struct ut_ace_extra *x, struct ut_ace_analysis *a, const char *stopped);

/*
 * Readings of the charge counter that newer torch traces have on their device spans ("charge";
 * flex calls it Power). The trace passes them through, as every release did; reports turn them
 * into samples of power for ranks that have none. {0} is none.
 */
struct ut_ace_charge {
	uint32_t rank;
	int64_t ts; /* ns */
	double value;
};

struct ut_ace_charges {
	struct ut_ace_charge *items;
	size_t count, cap;
};

void ut_ace_charges_add(struct ut_ace_charges *c, struct ut_ace_charge reading);

/* Makes the samples and releases the readings. */
void ut_ace_charges_finish(struct ut_ace_charges *c, struct ut_ace_extra *x,
			   struct ut_ace_analysis *a);

#endif
