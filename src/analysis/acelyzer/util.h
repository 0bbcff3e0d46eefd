/*
 * util.h - what the utilisation pass (pass_util.c) adds up: sums per category, and the one counter
 * per job that a run with autopilot has.
 */
#ifndef UT_ACELYZER_UTIL_H
#define UT_ACELYZER_UTIL_H

#include "acelyzer/analysis.h"

struct ut_ace_sum {
	double time, ideal, cycles; /* us, us, cycles */
	uint64_t calls;
};

/* Which line: of which log, table and category. cats gives the lines that a table has. */
struct ut_ace_sum_key {
	uint32_t log;
	const struct ut_ace_ideal *table;
	const struct ut_ace_catmap *cats;
	uint32_t cat;
};

struct ut_ace_sum_line {
	uint32_t cat;
	struct ut_ace_sum sum;
};

/* The lines of one process and one table, Total first. */
struct ut_ace_sum_group {
	uint32_t pid, log;
	const struct ut_ace_ideal *table;
	struct ut_ace_sum_line *lines;
	size_t count, cap;
};

struct ut_ace_sums {
	struct ut_ace_sum_group *groups;
	size_t count, cap;
	size_t last; /* the group that was used last */
};

void ut_ace_sums_init(struct ut_ace_sums *s, struct ut_arena *arena);
void ut_ace_sums_add(struct ut_ace_sums *s, struct ut_ace_table *t, uint32_t pid,
		     struct ut_ace_sum_key key, const struct ut_ace_sum *add);

/* Fills a->found.categories, sorted as the reference sorts. */
void ut_ace_sums_table(struct ut_ace_analysis *a, struct ut_ace_sums *s);
void ut_ace_sums_release(struct ut_ace_sums *s);

/* Release 1.2 with autopilot: the kernels of a job count as one. */
struct ut_ace_autopilot_job {
	uint32_t pid, job;
	double start, end, busy, ideal; /* us */
	bool done;
};

struct ut_ace_autopilot {
	struct ut_ace_autopilot_job *jobs;
	size_t count, cap;
	struct ut_idmap index;   /* job -> place in jobs + 1 */
	struct ut_idmap current; /* process -> the job that runs there + 1 */
	double last_end;         /* of the last counter */
	uint64_t over;
};

/* An event of a job; may end the job before it on that process. Earlier pointers to
 * events become invalid. */
void ut_ace_autopilot_add(struct ut_ace_analysis *a, struct ut_ace_autopilot *p, uint32_t event,
			  uint32_t job, double ideal);
void ut_ace_autopilot_end(struct ut_ace_analysis *a, struct ut_ace_autopilot *p);

#endif
