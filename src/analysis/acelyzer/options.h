/*
 * options.h - what the user asked the analysis to do, checked and ready. Made by the command.
 */
#ifndef UT_ACELYZER_OPTIONS_H
#define UT_ACELYZER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The release of acelyzer to follow where they differ in numbers or layout. */
enum ut_ace_release {
	UT_ACE_1_0,
	UT_ACE_1_2,
	UT_ACE_1_3,
};

enum ut_ace_counter {
	UT_ACE_POWER_TS4 = 1u << 0,
	UT_ACE_POWER_TS3 = 1u << 1,
	UT_ACE_COLL_BW = 1u << 2,
	UT_ACE_BANDWIDTH = 1u << 3,
	UT_ACE_PREP_QUEUE = 1u << 4,
	UT_ACE_RCU_UTIL = 1u << 5,
};

enum ut_ace_overlap {
	UT_ACE_OVERLAP_TID,
	UT_ACE_OVERLAP_DROP,
	UT_ACE_OVERLAP_ASYNC,
	UT_ACE_OVERLAP_WARN,
	UT_ACE_OVERLAP_SHIFT,
};

/* Drop spans whose member (a dotted path) contains a match of the pattern. */
struct ut_ace_filter {
	const char *path;
	const char *pattern; /* as written */
	void *regex;         /* regex_t */
};

struct ut_ace_limit {
	int64_t skip, count;
	double ts_start, ts_end;
	const char *free_types; /* phases that always pass */
};

struct ut_ace_opts {
	enum ut_ace_release release; /* as it counts and writes */
	double soc, core;            /* MHz */
	unsigned int counters;       /* enum ut_ace_counter */
	bool no_coll_bw;             /* release 1.2 shows none unless asked for */
	enum ut_ace_overlap overlap;
	int64_t tid_streams;
	bool flow, coll_events, summarize, flex_ts_fix, no_mp_sync, mp_sync_v2;
	bool keep_prep, keep_names, drop_globals, skip_events, split_events, ignore_crit;
	bool stats, refine, power_stats, verify;
	const char *keep_phases; /* -F; "" = all */
	const struct ut_ace_filter *filters;
	size_t filter_count;
	struct ut_ace_limit limit;
	unsigned int threads; /* to use; 0 is 1 */
};

/* -V of release 1.3 checks the files and analyses nothing. */
static inline bool ut_ace_verifies(const struct ut_ace_opts *o)
{
	return o->verify && o->release >= UT_ACE_1_3;
}

#endif
