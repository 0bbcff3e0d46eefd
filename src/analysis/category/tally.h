/*
 * tally.h - times and calls of names, as many processes report them, and what they come to by
 * category.
 *
 * Each process says what it spent on a name at most once per part; the values of one name are
 * aggregated over the processes that know it, and those of a category are added up. Whole numbers
 * stay whole where the original's do: minimum and maximum are, means and sums are not.
 * One owner, one thread.
 */
#ifndef UT_CATEGORY_TALLY_H
#define UT_CATEGORY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hashtab.h"
#include "base/str.h"

struct ut_device_log;
struct ut_schema;

/* part, the category of names that no rule knows */
#define UT_TALLY_LIST(X)                                                                           \
	X(DEVICE, "device")                                                                        \
	X(COMM, "comm")

enum ut_tally_part {
#define UT_TALLY_ENUM(part, text) UT_TALLY_##part,
	UT_TALLY_LIST(UT_TALLY_ENUM)
#undef UT_TALLY_ENUM
	UT_TALLY_PARTS
};

#define UT_AGGREGATE_LIST(X)                                                                       \
	X(MEAN, "mean")                                                                            \
	X(MIN, "min")                                                                              \
	X(MAX, "max")                                                                              \
	X(MEDIAN, "median")                                                                        \
	X(SUM, "sum")                                                                              \
	X(MIN_1, "min+1") /* the second smallest; of two, the mean */                              \
	X(MAX_1, "max-1")

enum ut_aggregate {
#define UT_AGGREGATE_ENUM(how, word) UT_AGGREGATE_##how,
	UT_AGGREGATE_LIST(UT_AGGREGATE_ENUM)
#undef UT_AGGREGATE_ENUM
	UT_AGGREGATES
};

struct ut_tally_value {
	uint64_t time, calls; /* ns */
};

struct ut_tally_name {
	enum ut_tally_part part;
	bool whole_run; /* no work of its own: how long the run or its devices took in all */
	struct ut_str name;
	struct ut_tally_value *values; /* one for each process that knows it */
	size_t count, cap;
};

/* {0} is empty. */
struct ut_tally {
	struct ut_arena arena;
	struct ut_tally_name *names; /* as they were met */
	size_t count, cap;
	struct ut_hashtab by_name;
	uint64_t odd_lines; /* of reports: rows that are none */
};

void ut_tally_release(struct ut_tally *t);

void ut_tally_add(struct ut_tally *t, const struct ut_tally_name *name,
		  struct ut_tally_value value);

/* All tables in the text of a report, as unitrace -h -d -r prints them. False: there is none. */
bool ut_tally_report(struct ut_tally *t, struct ut_str text);

/* What each trace of a finished log did on its devices. */
void ut_tally_traces(struct ut_tally *t, const struct ut_device_log *log);

/* A whole number or a fraction. */
struct ut_amount {
	bool whole;
	uint64_t number;
	double real; /* always set */
};

struct ut_tally_line {
	struct ut_str category;
	struct ut_amount time, calls;
	size_t names;
	bool known;     /* a rule names it */
	bool whole_run; /* see ut_tally_name */
};

/*
 * A line for each category, in the order in which they are met; in the arena of the tally. Names
 * that stand for the whole run and that no rule wants are left out, or with all are device time, as
 * in the original.
 */
struct ut_tally_line *ut_tally_lines(struct ut_tally *t, const struct ut_schema *schema,
				     enum ut_aggregate how, bool all, size_t *count);

/* One name over all processes. */
struct ut_amount ut_tally_time(const struct ut_tally_name *name, enum ut_aggregate how);
struct ut_amount ut_tally_calls(const struct ut_tally_name *name, enum ut_aggregate how);

/* -EINVAL: there is no such word; the message lists those there are. */
int ut_aggregate_find(const char *word, enum ut_aggregate *how, struct ut_err *err) UT_MUST_CHECK;

#endif
