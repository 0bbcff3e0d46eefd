/*
 * stats.h - how often and how long, per group of spans; what counters did; how often instants came.
 *
 * A group is what has the same texts in the dimensions asked for (ut_stats_by): all spans of one
 * name, of one name in one process, ... What the columns of every table mean (summary.h counts the
 * same way while it records; docs/guides/analyze-traces.md tells it to users):
 *
 * Total is the time in which a track had at least one span of the group going on, of all tracks: a
 * function that calls itself counts once. The mean is that of the durations of all calls.
 * Self is the part of a span in which no other span of its track was going on inside it: every
 * moment of a track belongs to the one span that started last of those still going on, so that self
 * times of a track add up to the time it was busy, also where spans overlap without nesting.
 * Share is self time, in percent of the self time of all groups: of all work on threads and queues.
 * What is nobody's work has total, but neither self time nor share: async spans and those marked
 * UT_EV_ASIDE (frames). What is about the recording (UT_EV_NOT_WORK) is not counted at all.
 *
 * Statistics of several traces or parts are merged: everything is integers and texts, so the result
 * does not depend on who counted what in which order (see also stats_pack.h, for other processes).
 * Owner: the caller of init. Not thread-safe, except that add uses threads of its own.
 */
#ifndef UT_ANALYZE_STATS_H
#define UT_ANALYZE_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/stats_dist.h"
#include "analyze/stats_exact.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/hashtab.h"
#include "model/strtab.h"

struct ut_filter;
struct ut_store;

/* dimension, its word on the command line, its title */
#define UT_BY_LIST(X)                                                                              \
	X(NAME, "name", "Name")                                                                    \
	X(CATEGORY, "category", "Category")                                                        \
	X(TRACK, "thread", "Thread")                                                               \
	X(PROCESS, "process", "Process")                                                           \
	X(RANK, "rank", "Rank")

enum ut_by {
#define UT_BY_ENUM(dim, word, title) UT_BY_##dim,
	UT_BY_LIST(UT_BY_ENUM)
#undef UT_BY_ENUM
	UT_BY_COUNT
};

extern const char *const ut_by_words[UT_BY_COUNT];
extern const char *const ut_by_titles[UT_BY_COUNT];

/* "name,process" to bits of enum ut_by; "track" and "cat" are understood, too. */
int ut_by_parse(const char *text, unsigned int *by, struct ut_err *err) UT_MUST_CHECK;

struct ut_stats_group {
	uint32_t key[UT_BY_COUNT]; /* ids in the statistics' strings; 0 where not asked for */
	uint64_t instants;
	uint64_t unfinished; /* they count up to the last sign of life */
	uint64_t aside;      /* of the spans, those that are nobody's work */
	ut_u128 self;        /* ns */
	ut_u128 nested;      /* ns of the durations that others of the group go on in, too */
	struct ut_dist dist; /* of the durations, ns */
};

static inline ut_u128 ut_stats_total(const struct ut_stats_group *g)
{
	return g->dist.total - g->nested;
}

/* Has it a self time and a share at all? */
static inline bool ut_stats_is_work(const struct ut_stats_group *g)
{
	return g->dist.count > g->aside;
}

struct ut_stats_counter {
	uint32_t key[UT_BY_COUNT]; /* always with the name */
	uint32_t unit;             /* string id; the first in order if there are several */
	uint64_t count;            /* samples; without those that end a value */
	uint64_t bad;              /* of them infinite: nowhere else in here */
	uint64_t values;           /* that are in the following; one may be from before a window */
	double min, max;
	double last; /* the latest; of several at one time, the largest */
	uint64_t last_ts;
	ut_u128 weight;      /* ns during which the counter had a value that is known */
	struct ut_exact sum; /* of value * ns */
};

struct ut_stats {
	unsigned int by; /* bits of enum ut_by */
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_stats_group *groups; /* from 1 to group_count; 0 gets what a filter hides */
	size_t group_count, group_cap;
	struct ut_stats_counter *counters; /* from 1 to counter_count */
	size_t counter_count, counter_cap;
	struct ut_hashtab groups_by_key, counters_by_key;
	uint64_t traces, processes, tracks; /* tracks: those with events that were asked for */
	uint64_t rows;                      /* events of these tracks */
};

void ut_stats_init(struct ut_stats *s, unsigned int by);
void ut_stats_release(struct ut_stats *s);

/* Adds what filter (NULL = no filter) wants of a store, on up to threads threads (0 = 1). */
void ut_stats_add(struct ut_stats *s, const struct ut_store *store, const struct ut_filter *filter,
		  unsigned int threads);

/* to += from, which have the same dimensions; from stays. */
void ut_stats_merge(struct ut_stats *to, const struct ut_stats *from);

/* The number of the group or counter of these texts (ids in s->strings), which may be new. */
uint32_t ut_stats_group(struct ut_stats *s, const uint32_t key[UT_BY_COUNT]);
uint32_t ut_stats_counter(struct ut_stats *s, const uint32_t key[UT_BY_COUNT]);

/* The number of the group of s that has the texts of a key of from. */
uint32_t ut_stats_same(struct ut_stats *s, const struct ut_stats *from,
		       const uint32_t key[UT_BY_COUNT]);

/* The order of a key of s and one of t by texts, dimension by dimension. */
int ut_stats_compare(const struct ut_stats *s, const uint32_t a[UT_BY_COUNT],
		     const struct ut_stats *t, const uint32_t b[UT_BY_COUNT]);

/* One counter of s into another; the keys stay. */
void ut_stats_merge_counter(const struct ut_stats *s, struct ut_stats_counter *to,
			    const struct ut_stats_counter *from);

double ut_stats_counter_mean(const struct ut_stats_counter *c); /* weighted by time */

/* 100 % of all shares, in ns; and what part of it some time is, in percent. */
ut_u128 ut_stats_busy(const struct ut_stats *s);
double ut_stats_share(ut_u128 self, ut_u128 busy);

/* Other orders are made of the rows of a report: text/table_report.h. */
enum ut_stats_sort {
	UT_SORT_TOTAL,
	UT_SORT_NAME,
};

/*
 * Makes quantiles ready and gives the groups that have spans (instants: those that have instants)
 * in order: the largest total (number) first, ties by their texts; or by texts. The array is in the
 * arena.
 */
const struct ut_stats_group **ut_stats_order(struct ut_stats *s, enum ut_stats_sort sort,
					     size_t *count);
const struct ut_stats_group **ut_stats_order_instants(struct ut_stats *s, size_t *count);

/* Counters by their texts. */
const struct ut_stats_counter **ut_stats_order_counters(struct ut_stats *s, size_t *count);

#endif
