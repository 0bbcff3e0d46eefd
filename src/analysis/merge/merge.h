/*
 * merge.h - the two ways to merge: Chrome JSON as text, anything else through the model.
 *
 * Both write the result under its name only when it is complete.
 */
#ifndef UT_MERGE_MERGE_H
#define UT_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "merge/plan.h"

struct ut_exporter;
struct ut_mpijob;
struct ut_logger;

struct ut_merge {
	struct ut_merge_rules rules;
	const char *output;
	unsigned int out_flags; /* enum ut_out_flag */
	bool strict;            /* a file that is no trace ends it; otherwise it is left out */
	bool quiet;
	const struct ut_logger *logger;   /* hears what is left out, and what was done */
	unsigned int threads;             /* that read and rewrite */
	const struct ut_exporter *format; /* of the result */
	struct ut_mpijob *job;
	struct ut_merge_file *files; /* all inputs; the same on all ranks */
	size_t count;
	uint64_t *sizes; /* of the files, bytes */
	struct ut_progress *progress;
	uint64_t events; /* of the result; on rank 0, when it is there */
};

/* Inputs and result are Chrome JSON. All ranks of a parallel job take part. */
int ut_merge_text(struct ut_merge *m, struct ut_err *err) UT_MUST_CHECK;

/* Any format. Rank 0 alone; the others return at once. */
int ut_merge_model(struct ut_merge *m, struct ut_err *err) UT_MUST_CHECK;

/* The facts of the files [first, first + count), and what has to be told about them, in order. */
int ut_merge_read_facts(struct ut_merge *m, size_t first, size_t count,
			struct ut_err *err) UT_MUST_CHECK;

/*
 * Brings the clocks of several hosts together, by what their ranks measured and sent each other, if
 * the files [first, first + count), which are this process's share, and those of the others have
 * such: fills in maps of all files, and *clocks. Collective.
 */
int ut_merge_find_clocks(struct ut_merge *m, size_t first, size_t count,
			 struct ut_merge_clocks *clocks, struct ut_err *err) UT_MUST_CHECK;

/* The error that no input is left. */
int ut_merge_empty_result(const struct ut_merge *m, struct ut_err *err);

#endif
