/*
 * table_stats.c - slice_stats: how often and how long, per name or other groups, counted in the
 * columns by analyze/stats.h. What to group by and what to count are arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/stats.h"
#include "base/grow.h"
#include "query/sql.h"

enum what {
	NAME,
	CAT,
	THREAD,
	PROCESS,
	RANK,
	COUNT,
	TOTAL,
	SELF,
	MIN,
	MAX,
	AVG,
	STDDEV,
	P50,
	P90,
	P99,
	UNFINISHED,
	SHARE,
	ARG_BY, /* the arguments */
	ARG_TRACE,
	ARG_FROM,
	ARG_TO,
	ARG_PID,
	WHAT_COUNT,
};

#define ARG(name, type, what, doc)                                                                 \
	{                                                                                          \
		name, type, doc, what, true                                                        \
	}

static const struct ut_sql_column columns[] = {
	UT_SQL_TEXT("name", NAME, "what the slices are called"),
	UT_SQL_TEXT("cat", CAT, "their category; NULL unless grouped by it"),
	UT_SQL_TEXT("thread", THREAD, "their thread; NULL unless grouped by it"),
	UT_SQL_TEXT("process", PROCESS, "their process; NULL unless grouped by it"),
	UT_SQL_INT("rank", RANK, "their rank; NULL unless grouped by it"),
	UT_SQL_INT("count", COUNT, "how many slices"),
	UT_SQL_INT("total", TOTAL,
		   "time in which they went on, in ns; slices inside others of the row count once"),
	UT_SQL_INT("self", SELF,
		   "the part of it in which no slice inside them was going on, in ns; 0: nobody's "
		   "work"),
	UT_SQL_INT("min", MIN, "the shortest, in ns"),
	UT_SQL_INT("max", MAX, "the longest, in ns"),
	UT_SQL_INT("avg", AVG, "the average length, in ns"),
	{ "stddev", "REAL", "standard deviation of the lengths, in ns", STDDEV, false },
	UT_SQL_INT("p50", P50, "half of them took at most this, in ns; exact to 0.4 %"),
	UT_SQL_INT("p90", P90, "nine of ten took at most this, in ns"),
	UT_SQL_INT("p99", P99, "99 of 100 took at most this, in ns"),
	UT_SQL_INT("unfinished", UNFINISHED, "how many of them never ended"),
	{ "share", "REAL", "self in percent of all; NULL: nobody's work (frames, async)", SHARE,
	  false },
	ARG("by", "TEXT", ARG_BY,
	    "argument: name (the default), category, thread, process, rank, or several: "
	    "'name,rank'"),
	ARG("trace", "INTEGER", ARG_TRACE, "argument: of this trace only: trace.id"),
	ARG("from_ts", "INTEGER", ARG_FROM, "argument: only slices that go on at or after this ts"),
	ARG("to_ts", "INTEGER", ARG_TO, "argument: only slices that begin before this ts"),
	ARG("pid", "INTEGER", ARG_PID, "argument: of this process only"),
	{ 0 },
};

#define ARGS (WHAT_COUNT - ARG_BY)

/* What was asked for; -1 = not said. */
struct request {
	unsigned int by;
	int64_t trace, from, to, pid;
};

/* The last answer, for joins that ask the same thing again and again. */
struct ut_stats_answer {
	struct request request;
	struct ut_stats stats;
	const struct ut_stats_group **groups;
	size_t count;
	ut_u128 busy; /* self time of all of them */
};

void ut_stats_answer_free(struct ut_stats_answer *a)
{
	if (a)
		ut_stats_release(&a->stats);
	free(a);
}

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	const struct ut_stats_answer *answer;
	struct ut_stats_answer *own; /* not the one that is kept, because that is in use */
	size_t at;
};

/* idxNum has a bit for each argument that has a value. */
static int stats_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int place[ARGS] = { 0 }, args = 0;

	(void)vtab;
	for (int i = 0; i < info->nConstraint; i++) {
		int which = info->aConstraint[i].iColumn - ARG_BY;

		if (which < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT; /* arguments must be there before the rows */
		place[which] = i + 1;
	}
	for (int k = 0; k < ARGS; k++) {
		if (!place[k])
			continue;
		info->aConstraintUsage[place[k] - 1].argvIndex = ++args;
		info->aConstraintUsage[place[k] - 1].omit = 1;
		info->idxNum |= 1 << k;
	}
	info->estimatedRows = 1000;
	info->estimatedCost = (double)((struct ut_sql_vtab *)vtab)->traces->row_count / 100 + 1000;
	return SQLITE_OK;
}

static int stats_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	*cursor = ut_make(sizeof(struct cursor));
	return SQLITE_OK;
}

static int stats_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	if (c->answer && !c->own)
		((struct ut_sql_vtab *)cursor->pVtab)->traces->stats_users--;
	ut_stats_answer_free(c->own);
	free(c);
	return SQLITE_OK;
}

static int query_table_stats_fail(sqlite3_vtab *vtab, const char *what, const char *why)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("slice_stats: %s: %s", what, why);
	return SQLITE_ERROR;
}

static int read_request(sqlite3_vtab *vtab, int args, sqlite3_value **argv, struct request *r)
{
	int64_t *const numbers[ARGS] = { NULL, &r->trace, &r->from, &r->to, &r->pid };
	struct ut_err err = { 0 };
	const char *by;

	*r = (struct request){ 1u << UT_BY_NAME, -1, -1, -1, -1 };
	for (int k = 0; k < ARGS; k++) {
		if (!(args >> k & 1))
			continue;
		if (sqlite3_value_type(*argv) == SQLITE_NULL) {
			argv++; /* as if it were not there */
			continue;
		}
		if (numbers[k]) {
			*numbers[k] = sqlite3_value_int64(*argv++);
			if (*numbers[k] < 0)
				return query_table_stats_fail(vtab, columns[ARG_BY + k].name,
							      "must not be negative");
			continue;
		}
		by = (const char *)sqlite3_value_text(*argv++);
		if (!by || ut_by_parse(by, &r->by, &err))
			return query_table_stats_fail(vtab, "by", err.text);
	}
	return SQLITE_OK;
}

static bool has_limits(const struct request *r)
{
	return r->from >= 0 || r->to >= 0 || r->pid >= 0;
}

static void query_table_stats_count(const struct ut_traces *t, struct ut_stats_answer *a)
{
	const struct request *r = &a->request;
	struct ut_filter_opts opts = { 0 };
	char from[32], to[32], pid[32];
	struct ut_filter filter;
	struct ut_err err = { 0 };

	snprintf(from, sizeof(from), "@%lldns", (long long)r->from);
	snprintf(to, sizeof(to), "@%lldns", (long long)r->to);
	snprintf(pid, sizeof(pid), "%lld", (long long)r->pid);
	opts.from = r->from >= 0 ? from : NULL;
	opts.to = r->to >= 0 ? to : NULL;
	if (r->pid >= 0)
		ut_opt_list_add(&opts.pids, pid);
	ut_stats_init(&a->stats, r->by);
	/* A window that is empty is the only thing that can be wrong with it. */
	if (!ut_filter_init(&filter, &opts, &err)) {
		for (size_t i = 0; i < t->count && !t->stop; i++) {
			if (r->trace < 0 || (uint64_t)r->trace == i)
				ut_stats_add(&a->stats, t->traces[i].store,
					     has_limits(r) ? &filter : NULL, t->threads);
		}
		ut_filter_release(&filter);
	}
	ut_filter_opts_release(&opts);
	a->groups = ut_stats_order(&a->stats, UT_SORT_TOTAL, &a->count);
	a->busy = ut_stats_busy(&a->stats);
}

static bool same_request(const struct request *a, const struct request *b)
{
	return a->by == b->by && a->trace == b->trace && a->from == b->from && a->to == b->to &&
	       a->pid == b->pid;
}

/* The answer that is kept may be taken by any number of cursors, and replaced if none has it. */
static const struct ut_stats_answer *query_table_stats_answer(struct cursor *c, struct ut_traces *t,
							      const struct request *r)
{
	struct ut_stats_answer *fresh;

	if (c->answer && !c->own)
		t->stats_users--;
	ut_stats_answer_free(c->own);
	c->own = NULL;
	if (t->stats && same_request(&t->stats->request, r)) {
		t->stats_users++;
		return t->stats;
	}
	fresh = ut_make(sizeof(*fresh));
	fresh->request = *r;
	query_table_stats_count(t, fresh);
	if (t->stats_users) {
		c->own = fresh;
		return fresh;
	}
	ut_stats_answer_free(t->stats);
	t->stats = fresh;
	t->stats_users = 1;
	return fresh;
}

static int stats_filter(sqlite3_vtab_cursor *cursor, int args, const char *text, int argc,
			sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	struct ut_traces *t = ((struct ut_sql_vtab *)cursor->pVtab)->traces;
	struct request request;
	int rc = read_request(cursor->pVtab, args, argv, &request);

	(void)text;
	(void)argc;
	if (rc != SQLITE_OK)
		return rc;
	c->answer = query_table_stats_answer(c, t, &request);
	c->at = 0;
	return t->stop ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int stats_next(sqlite3_vtab_cursor *cursor)
{
	((struct cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int stats_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;

	return c->at >= c->answer->count;
}

static int stats_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((const struct cursor *)cursor)->at;
	return SQLITE_OK;
}

static void result_u128(sqlite3_context *ctx, ut_u128 value)
{
	if (value > INT64_MAX)
		sqlite3_result_double(ctx, (double)value);
	else
		sqlite3_result_int64(ctx, (sqlite3_int64)value);
}

static void result_key(sqlite3_context *ctx, const struct ut_stats *s, uint32_t id, bool number)
{
	struct ut_str text = ut_strtab_get(&s->strings, id);

	if (number && text.len)
		sqlite3_result_int64(ctx, strtoll(text.ptr, NULL, 10));
	else
		ut_sql_result_str(ctx, text);
}

static int stats_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	static const enum ut_by dimensions[] = { UT_BY_NAME, UT_BY_CATEGORY, UT_BY_TRACK,
						 UT_BY_PROCESS, UT_BY_RANK };
	const struct cursor *c = (const struct cursor *)cursor;
	const struct ut_stats_group *g = c->answer->groups[c->at];

	if (i <= RANK)
		result_key(ctx, &c->answer->stats, g->key[dimensions[i]], i == RANK);
	else if (i == COUNT)
		ut_sql_result_u64(ctx, g->dist.count);
	else if (i == TOTAL)
		result_u128(ctx, ut_stats_total(g));
	else if (i == SELF)
		result_u128(ctx, g->self);
	else if (i == MIN)
		ut_sql_result_u64(ctx, g->dist.min);
	else if (i == MAX)
		ut_sql_result_u64(ctx, g->dist.max);
	else if (i == AVG)
		ut_sql_result_u64(ctx, ut_dist_mean(&g->dist));
	else if (i == STDDEV)
		sqlite3_result_double(ctx, ut_dist_stddev(&g->dist));
	else if (i <= P99)
		ut_sql_result_u64(ctx, ut_dist_quantile(&g->dist, i == P50   ? 500
								  : i == P90 ? 900
									     : 990));
	else if (i == UNFINISHED)
		ut_sql_result_u64(ctx, g->unfinished);
	else if (i == SHARE && ut_stats_is_work(g))
		sqlite3_result_double(ctx, ut_stats_share(g->self, c->answer->busy));
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = stats_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = stats_open,
	.xClose = stats_close,
	.xFilter = stats_filter,
	.xNext = stats_next,
	.xEof = stats_eof,
	.xColumn = stats_column,
	.xRowid = stats_rowid,
};

const struct ut_sql_table ut_sql_slice_stats = {
	.name = "slice_stats",
	.doc = "how often and how long, per name; slice_stats('name,rank') per name and rank",
	.columns = columns,
	.module = &module,
};
