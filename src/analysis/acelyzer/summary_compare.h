/*
 * summary_compare.h - two summaries of `analyze --json`, row by row: the run, its ranks, its
 * kernels.
 *
 * A figure that a summary does not have is NAN. Figures of the run: length is that of the longest
 * rank; step times are those of all steps of all ranks, their median that of the slowest rank;
 * other times are sums over ranks, as in "totals". Kernels of one name on several ranks are one
 * row unless ranks are told apart. Owner: the caller. Not thread-safe.
 */
#ifndef UT_ACELYZER_SUMMARY_COMPARE_H
#define UT_ACELYZER_SUMMARY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/strtab.h"

enum ut_ace_unit {
	UT_ACE_US,
	UT_ACE_PERCENT,
	UT_ACE_JOULE,
	UT_ACE_WATT,
	UT_ACE_NUMBER,
};

/* figure, its word in tables and rules, unit; the first ones are of runs, the last of kernels */
#define UT_ACE_FIGURE_LIST(X)                                                                      \
	X(LENGTH, "length", US)                                                                    \
	X(STEP, "step", US)                                                                        \
	X(STEP_P50, "step_p50", US)                                                                \
	X(STEP_MAX, "step_max", US)                                                                \
	X(BUSY, "busy", PERCENT)                                                                   \
	X(COMPUTE, "compute", US)                                                                  \
	X(COMM, "communication", US)                                                               \
	X(EXPOSED, "exposed", US)                                                                  \
	X(OVERLAP, "overlap", PERCENT)                                                             \
	X(TRANSFER, "transfer", US)                                                                \
	X(PREP, "prep", US)                                                                        \
	X(IDLE, "idle", US)                                                                        \
	X(TRUST, "trust", PERCENT)                                                                 \
	X(ENERGY, "energy", JOULE)                                                                 \
	X(POWER, "power", WATT)                                                                    \
	X(COUNT, "count", NUMBER)                                                                  \
	X(TOTAL, "total", US)                                                                      \
	X(MEAN, "mean", US)                                                                        \
	X(P50, "p50", US)                                                                          \
	X(MIN, "min", US)                                                                          \
	X(MAX, "max", US)

enum ut_ace_figure {
#define UT_ACE_FIGURE_ENUM(figure, word, unit) UT_ACE_FIGURE_##figure,
	UT_ACE_FIGURE_LIST(UT_ACE_FIGURE_ENUM)
#undef UT_ACE_FIGURE_ENUM
	UT_ACE_FIGURES
};

struct ut_ace_figure_about {
	const char *word;
	enum ut_ace_unit unit;
};

extern const struct ut_ace_figure_about ut_ace_figures[UT_ACE_FIGURES];

enum ut_ace_row_kind {
	UT_ACE_ROW_RUN,
	UT_ACE_ROW_RANK,
	UT_ACE_ROW_KERNEL,
};

#define UT_ACE_ALL_RANKS INT64_MIN

struct ut_ace_row {
	enum ut_ace_row_kind kind;
	const char *name; /* of the kernel; "run", "rank 3" */
	int64_t rank;
	double value[UT_ACE_FIGURES];
};

struct ut_ace_summary {
	struct ut_arena arena;
	struct ut_ace_row *rows; /* by kind, name and rank, each once */
	size_t count, cap;
};

/* Does the file look like one? What cannot be opened does not. */
bool ut_ace_is_summary(const char *path);

/* On failure there is nothing to release. name: of the text, for messages. */
int ut_ace_summary_read(struct ut_ace_summary *s, const char *path, bool by_rank,
			struct ut_err *err) UT_MUST_CHECK;
int ut_ace_summary_text(struct ut_ace_summary *s, const char *name, struct ut_str text,
			bool by_rank, struct ut_err *err) UT_MUST_CHECK;
void ut_ace_summary_release(struct ut_ace_summary *s);

/* One row of both; NULL = not there. */
struct ut_ace_pair {
	const struct ut_ace_row *before, *after;
};

/*
 * The run, the ranks, the kernels: those first whose total has changed most. Kernels that were
 * called less than min_count times on both sides are left out. free() the list.
 */
struct ut_ace_pair *ut_ace_compare(const struct ut_ace_summary *before,
				   const struct ut_ace_summary *after, uint64_t min_count,
				   size_t *count);

#endif
