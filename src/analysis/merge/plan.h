/*
 * plan.h - decides what has to change in which file before Chrome traces can be one.
 *
 * A function of what is known about the files and of the options, nothing else: all ranks of a
 * parallel merge make the same plan out of the same facts. No I/O, no printing.
 */
#ifndef UT_MERGE_PLAN_H
#define UT_MERGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/opt.h"
#include "base/str.h"
#include "clocks/time_map.h"
#include "merge/rewrite.h"

struct ut_inputs;
struct ut_logger;

enum ut_merge_numbers {
	UT_MERGE_AUTO,     /* changed where two files would use the same */
	UT_MERGE_KEEP,     /* never changed */
	UT_MERGE_RENUMBER, /* pids only: all are changed */
};

struct ut_merge_rules {
	bool no_align;
	enum ut_merge_numbers pids, ids;
	struct ut_opt_list offsets; /* FILE=NS */
};

/* One input. */
struct ut_merge_file {
	const char *path;      /* to open it; not owned */
	const char *name;      /* what the user calls it; not owned */
	bool left_out;         /* empty, or invalid and skipped: no facts, no plan */
	struct ut_facts facts; /* owned */
	struct ut_rewrite_plan plan;
	bool placed;    /* its clock can be related to others by epoch */
	int64_t epoch;  /* ns since 1970 at its time 0 */
	uint32_t clock; /* if placed: the same number for files with one clock */
	/* Onto the clock of the root, if hosts were brought together by evidence; owned. */
	struct ut_time_map map;
	int64_t offset; /* ns, asked for by the user; part of plan.shift */
};

/* How the clocks of several hosts were brought together: evidence.c. Zeroed: they were not. */
struct ut_merge_clocks {
	size_t hosts;  /* clocks with evidence; the root counts */
	size_t others; /* that are placed by their wall clocks only */
	int64_t epoch; /* of the root: ns since 1970 at its time 0 */
	uint64_t error, evidence, measured;
	uint64_t messages, backwards, most_backwards; /* of those that were looked at */
};

struct ut_merge_plan {
	struct ut_merge_clocks clocks;
	struct ut_merge_file *files; /* owned by the caller, as are their facts */
	size_t count;
	struct ut_arena arena;
	bool placed;      /* the result's clock is known: */
	int64_t epoch;    /* ns since 1970 at time 0 of the result */
	size_t reference; /* the file that kept its times, if placed */
	size_t aligned;   /* files that were moved onto its clock, with the reference */
	size_t unplaced;  /* files of unknown epoch, while others have one */
	size_t new_pids;  /* processes that got another pid */
	size_t new_ids;   /* files whose pairing numbers changed */
};

/* Is FILE=NS good, and FILE one of the inputs? Without inputs only the form is looked at. */
int ut_merge_check_offset(const char *word, const struct ut_inputs *in,
			  struct ut_err *err) UT_MUST_CHECK;

/*
 * clocks are set, all else is made. -EINVAL if an offset names a file that is not among the inputs,
 * or is no number.
 */
int ut_merge_plan_make(struct ut_merge_plan *p, struct ut_merge_file *files, size_t count,
		       const struct ut_merge_rules *rules, struct ut_err *err) UT_MUST_CHECK;
void ut_merge_plan_release(struct ut_merge_plan *p);

/* What follows behind the last event, up to the end of the file: "\n],...}\n". */
void ut_merge_plan_tail(const struct ut_merge_plan *p, struct ut_buf *out);

/* Tells what is done to the files, and what is missing: merge_log.c. */
void ut_merge_log(const struct ut_merge_plan *p, enum ut_merge_numbers pids,
		  const struct ut_logger *logger);
/* Of that, what was done to clocks. */
void ut_merge_log_clocks(const struct ut_merge_plan *p, const struct ut_logger *logger);

/* When the time 0 of each file was, and which have one clock; how many clocks. */
uint32_t ut_merge_place(struct ut_merge_file *files, size_t count);

/* In parts, for tests and for the size of files: clock.c and names.c. */
void ut_merge_align(struct ut_merge_plan *p, bool no_align);
void ut_merge_processes(struct ut_merge_plan *p, enum ut_merge_numbers mode);
void ut_merge_ids(struct ut_merge_plan *p, enum ut_merge_numbers mode);

#endif
