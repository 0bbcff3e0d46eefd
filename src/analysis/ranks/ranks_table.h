/*
 * ranks_table.h - what is known about ranks as tables and as a sentence.
 */
#ifndef UT_RANKS_RANKS_TABLE_H
#define UT_RANKS_RANKS_TABLE_H

#include "base/err.h"
#include "ranks/ranks_coll.h"
#include "ranks/ranks_path.h"
#include "ranks/ranks_pop.h"
#include "ranks/ranks_sum.h"

struct ut_out;
struct ut_report_opts;
struct ut_report_table;

/* All that tables are made of. */
struct ut_rank_view {
	struct ut_ranks *ranks; /* settled */
	struct ut_rank_sums sums;
	struct ut_rank_pop pop;
	struct ut_rank_path path;
	struct ut_rank_colls colls;
};

/* word, member of JSON, table */
#define UT_RANK_TABLE_LIST(X)                                                                      \
	X(RANKS, "rank", "ranks")                                                                  \
	X(CALLS, "call", "calls")                                                                  \
	X(TASKS, "task", "tasks")                                                                  \
	X(WAITS, "waits", "waits")                                                                 \
	X(MATRIX, "matrix", "matrix")                                                              \
	X(POP, "pop", "efficiency")                                                                \
	X(STEPS, "steps", "steps")                                                                 \
	X(PATH, "path", "critical_path")                                                           \
	X(COLLECTIVES, "collectives", "collectives")                                               \
	X(CLOCKS, "clocks", "clocks")

enum ut_rank_table {
#define UT_RANK_TABLE_ENUM(table, word, member) UT_RANK_TABLE_##table,
	UT_RANK_TABLE_LIST(UT_RANK_TABLE_ENUM)
#undef UT_RANK_TABLE_ENUM
	UT_RANK_TABLES
};

void ut_rank_view_make(struct ut_rank_view *v, struct ut_ranks *r, struct ut_str step);
void ut_rank_view_release(struct ut_rank_view *v);

/* Which rank makes the others wait, how long, in which of its tasks: no newline. */
void ut_rank_summary_text(const struct ut_rank_view *v, struct ut_buf *out);
/* How efficient the job was, in one line. */
void ut_rank_efficiency(const struct ut_rank_view *v, struct ut_buf *out);

/* Why a table has no rows, as a sentence; NULL: it has some. */
const char *ut_rank_table_empty_text(const struct ut_rank_view *v, enum ut_rank_table table);

int ut_rank_table_check(enum ut_rank_table table, const char *sort,
			struct ut_err *err) UT_MUST_CHECK;

void ut_rank_table_print(struct ut_out *out, const struct ut_rank_view *v, enum ut_rank_table table,
			 const struct ut_report_opts *opts);

/* Its columns, for who takes rows as cells (UT_REPORT_CALL); the member of JSON that it is. */
const struct ut_report_table *ut_rank_table_columns(enum ut_rank_table table);
const char *ut_rank_table_member(enum ut_rank_table table);

/* Everything, as one object. */
void ut_rank_json(struct ut_out *out, const struct ut_rank_view *v);

#endif
