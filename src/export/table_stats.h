/*
 * table_stats.h - statistics (analyze/stats.h) as text, CSV or JSON. Human units in text, ns in
 * the others.
 */
#ifndef UT_EXPORT_TABLE_STATS_H
#define UT_EXPORT_TABLE_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats.h"

struct ut_out;

enum ut_stats_what {
	UT_STATS_SPANS,
	UT_STATS_COUNTERS,
	UT_STATS_INSTANTS,
};

struct ut_stats_view {
	enum ut_stats_what what; /* text and CSV; JSON has all of them */
	enum ut_stats_sort sort; /* of spans */
	size_t rows;             /* text: at most so many, then a line about the rest; 0 = all */
	const char *histogram;   /* a pattern for names: text shows only these, JSON adds them */
};

void ut_stats_text(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v);
void ut_stats_csv(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v);
void ut_stats_json(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v);

/* "name":"x","process":"y" for the dimensions in by. */
void ut_stats_json_key(struct ut_out *o, const struct ut_stats *s, const uint32_t *key,
		       unsigned int by);

/* A whole number of more than 64 bits. */
void ut_stats_u128(struct ut_out *o, ut_u128 value);

/* As much of it as a uint64_t holds: for people, who read four digits. */
uint64_t ut_stats_u64(ut_u128 value);

#endif
