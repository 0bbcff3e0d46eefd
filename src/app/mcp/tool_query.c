/*
 * tool_query.c - SQL, its tables, and what is slow, which is SQL as well.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "mcp/mcp_tools.h"
#include "query/query.h"
#include "text/out.h"
#include "text/shell_words.h"
#include "text/table_report.h"

/* ---- the last result ------------------------------------------------------------------------ */

struct answer {
	struct ut_mcp_job *job;
	struct ut_out *out; /* of the statement that runs; that of the one before is gone */
	struct ut_report *report;
	struct ut_report_column *columns;
	struct ut_report_cell *cells;
	char **names;
	size_t count;
	uint64_t limit, rows;
};

static void tool_query_drop(struct answer *a)
{
	if (a->report)
		ut_report_finish(a->report);
	for (size_t i = 0; i < a->count; i++)
		free(a->names[i]);
	free(a->names);
	free(a->columns);
	free(a->cells);
	a->report = NULL;
	a->names = NULL;
	a->columns = NULL;
	a->cells = NULL;
	a->count = 0;
}

static void tool_query_begin(void *ctx, size_t columns, const char *const *names)
{
	const struct ut_report_opts opts = { .format = UT_REPORT_CSV };
	struct answer *a = ctx;
	struct ut_report_table table;

	tool_query_drop(a);
	ut_out_clear(a->out);
	a->rows = 0;
	a->count = columns;
	a->columns = ut_make((columns + 1) * sizeof(*a->columns));
	a->cells = ut_make((columns + 1) * sizeof(*a->cells));
	a->names = ut_make((columns + 1) * sizeof(*a->names));
	for (size_t i = 0; i < columns; i++) {
		a->names[i] = strdup(names[i] ? names[i] : "");
		a->columns[i] =
			(struct ut_report_column){ .key = a->names[i], .title = a->names[i] };
	}
	table = (struct ut_report_table){ a->columns, columns, false };
	a->report = ut_report_start(a->out, &opts, &table);
}

static struct ut_report_cell cell_of(const struct ut_value *v)
{
	switch (v->type) {
	case UT_VALUE_INT:
		return ut_report_i64(v->number);
	case UT_VALUE_REAL:
		return ut_report_real(v->real);
	case UT_VALUE_TEXT:
		return ut_report_str((struct ut_str){ v->text, v->len });
	case UT_VALUE_BLOB:
		return (struct ut_report_cell){ .type = UT_CELL_BLOB, .text = { v->text, v->len } };
	case UT_VALUE_NULL:
		break;
	}
	return ut_report_none();
}

/* Rows behind the limit are counted, but not forever. */
static int tool_query_row(void *ctx, const struct ut_value *values)
{
	struct answer *a = ctx;

	if (a->job && (a->job->cancelled || a->job->too_late))
		return -EINTR;
	if (a->rows++ < a->limit) {
		for (size_t i = 0; i < a->count; i++)
			a->cells[i] = cell_of(&values[i]);
		ut_report_add(a->report, a->cells);
	}
	return 0;
}

static void tool_query_end(void *ctx)
{
	(void)ctx;
}

static int tool_query_run(struct ut_mcp_call *c, struct ut_mcp_trace *t, const char *sql,
			  struct answer *a, struct ut_err *err)
{
	const struct ut_result result = { a, tool_query_begin, tool_query_row, tool_query_end };
	int rc = ut_mcp_trace_query(t, c->traces->threads, err);

	if (rc)
		return rc;
	if (c->job)
		atomic_store(&c->job->running, t->query);
	rc = ut_query_run(t->query, sql, &result, err);
	if (c->job)
		atomic_store(&c->job->running, NULL);
	if (rc && c->job && c->job->too_late) {
		*err = (struct ut_err){ 0 };
		return ut_err_set(err, -ETIME,
				  "the SQL took longer than %" PRIu64
				  " s and was ended; ask for less, or narrow it by ts, name or "
				  "track_id",
				  c->timeout);
	}
	return rc;
}

int ut_mcp_run_sql(struct ut_mcp_call *c, struct ut_mcp_trace *t, const char *sql, uint64_t limit,
		   struct ut_err *err)
{
	struct answer a = { .job = c->job, .out = ut_out_open_memory(), .limit = limit };
	int rc = tool_query_run(c, t, sql, &a, err);
	const char *text;
	size_t len;

	tool_query_drop(&a);
	if (!rc) {
		text = ut_out_data(a.out, &len);
		if (a.rows > limit)
			ut_out_fmt(c->text, "The first %" PRIu64 " of %" PRIu64 " rows:\n", limit,
				   a.rows);
		ut_out_write(c->text, text, len);
		if (!a.rows)
			ut_out_text(c->text, "(no rows)\n");
	}
	ut_out_abandon(a.out);
	return rc;
}

/* ---- the tools ------------------------------------------------------------------------------ */

int ut_mcp_tool_schema(struct ut_mcp_call *c, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	bool known = ut_query_schema(&text, c->ask.table);

	if (known)
		ut_out_write(c->text, text.data, text.len);
	ut_buf_release(&text);
	ut_buf_text(&c->how, "unitrace query --schema");
	return known ? 0
		     : ut_err_set(err, -ENOENT, "there is no table '%.60s'",
				  c->ask.table ? c->ask.table : "");
}

int ut_mcp_tool_query(struct ut_mcp_call *c, struct ut_err *err)
{
	struct ut_mcp_trace *t;
	int rc = ut_mcp_traces_get(c->traces, c->ask.trace, &t, err);

	if (!rc)
		rc = ut_mcp_run_sql(c, t, c->ask.sql, ut_mcp_limit(c), err);
	if (rc)
		return rc;
	ut_buf_text(&c->how, "unitrace query --csv");
	ut_mcp_how_files(c, t);
	ut_buf_char(&c->how, ' ');
	ut_shell_quote(&c->how, c->ask.sql);
	return 0;
}

/* Against the median: a few that are slow do not move it. Below 20 of a name nothing is usual. */
static const char slow_sql[] =
	"select s.id, s.name, s.ts - (select min(ts) from slice) as after_start_ns, s.dur as "
	"dur_ns, "
	"u.p50 as usual_ns, round(1.0 * s.dur / max(u.p50, 1), 1) as times, u.count, "
	"s.thread_name, "
	"s.rank from slice_stats u join slice s on s.name = u.name "
	"where u.count >= 20 and u.max > 3 * u.p50 and s.dur > 3 * u.p50 and not s.instant "
	"order by s.dur - u.p50 desc";

static const char ranks_sql[] =
	"with r as (select name, rank, total from slice_stats('name,rank') where rank is not "
	"null), "
	"m as (select name, count(*) as ranks, avg(total) as mean, max(total) as most, "
	"min(total) as least from r group by 1 having count(*) > 1) "
	"select m.name, r.rank, r.total as total_ns, cast(m.mean as integer) as mean_of_ranks_ns, "
	"round(100.0 * (r.total / m.mean - 1), 1) as above_mean_percent, m.ranks "
	"from m join r on r.name = m.name and r.total = m.most "
	"where m.most > 1.1 * m.mean order by m.most - m.mean desc";

int ut_mcp_tool_slow(struct ut_mcp_call *c, struct ut_err *err)
{
	struct ut_mcp_trace *t;
	int rc = ut_mcp_traces_get(c->traces, c->ask.trace, &t, err);

	if (rc)
		return rc;
	ut_out_text(c->text, "Spans that took more than 3 times the median of their name (of names "
			     "with 20 spans or more), the most time lost first:\n");
	rc = ut_mcp_run_sql(c, t, slow_sql, ut_mcp_limit(c), err);
	if (!rc) {
		ut_out_text(c->text, "\nNames that one rank spends 10 % or more above the mean of "
				     "the ranks in:\n");
		rc = ut_mcp_run_sql(c, t, ranks_sql, ut_mcp_limit(c), err);
	}
	if (rc)
		return rc;
	ut_buf_text(&c->how, "medians of all spans; unitrace query --csv");
	ut_mcp_how_files(c, t);
	ut_buf_char(&c->how, ' ');
	ut_shell_quote(&c->how, slow_sql);
	ut_buf_text(&c->how, " and, for ranks, ");
	ut_shell_quote(&c->how, ranks_sql);
	return 0;
}
