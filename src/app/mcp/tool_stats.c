/*
 * tool_stats.c - statistics and differences, as CSV.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/diff.h"
#include "analyze/filter_why.h"
#include "analyze/stats.h"
#include "import/load.h"
#include "mcp/mcp_tools.h"
#include "report/table_diff.h"
#include "report/table_stats.h"
#include "text/out.h"
#include "text/table_report.h"
#include "view/view.h"

static void count_all(struct ut_mcp_call *c, struct ut_mcp_trace *t, struct ut_stats *s)
{
	for (size_t i = 0; i < t->inputs.count; i++)
		ut_stats_add(s, ut_view_store(t->view, i), &c->ask.filter,
			     ut_load_threads(c->traces->threads));
}

static struct ut_report_opts report_of(const struct ut_mcp_call *c)
{
	return (struct ut_report_opts){ .format = UT_REPORT_CSV,
					.sort = c->ask.sort,
					.limit = ut_mcp_limit(c) };
}

/* The line that stands before rows that were limited. */
static void tool_stats_put_count(struct ut_mcp_call *c, size_t count, const char *what)
{
	uint64_t limit = ut_mcp_limit(c);

	if (count > limit)
		ut_out_fmt(c->text, "The first %" PRIu64 " of %zu %s:\n", limit, count, what);
}

/* ---- stats ---------------------------------------------------------------------------------- */

static int what_of(const struct ut_mcp_ask *a, enum ut_stats_what *what, struct ut_err *err)
{
	const char *word = a->what ? a->what : "spans";

	*what = UT_STATS_SPANS;
	if (!strcmp(word, "counters"))
		*what = UT_STATS_COUNTERS;
	else if (!strcmp(word, "instants"))
		*what = UT_STATS_INSTANTS;
	else if (strcmp(word, "spans") != 0)
		return ut_err_set(err, -EINVAL, "what: '%.40s' is none of spans counters instants",
				  word);
	return 0;
}

static void report_stats(struct ut_mcp_call *c, const struct ut_mcp_trace *t,
			 enum ut_stats_what what)
{
	ut_buf_text(&c->how, "all events counted: unitrace stats --csv");
	if (what != UT_STATS_SPANS)
		ut_buf_text(&c->how, what == UT_STATS_COUNTERS ? " --counters" : " --instants");
	ut_buf_text(&c->how, c->ask.words.data ? c->ask.words.data : "");
	ut_mcp_how_files(c, t);
}

static size_t rows_of(struct ut_stats *s, enum ut_stats_what what)
{
	size_t count = s->counter_count;

	if (what == UT_STATS_SPANS)
		ut_stats_order(s, UT_SORT_TOTAL, &count);
	else if (what == UT_STATS_INSTANTS)
		ut_stats_order_instants(s, &count);
	return count;
}

static void put_nothing(struct ut_mcp_call *c, struct ut_mcp_trace *t)
{
	struct ut_buf why = { 0 };

	ut_filter_why(&why, &c->ask.events, ut_view_store(t->view, 0));
	ut_out_fmt(c->text, "Nothing: no event fits %s\n", why.data ? why.data : "");
	ut_buf_release(&why);
}

int ut_mcp_tool_stats(struct ut_mcp_call *c, struct ut_err *err)
{
	const struct ut_report_opts report = report_of(c);
	struct ut_stats_view view = { 0 };
	struct ut_mcp_trace *t;
	struct ut_stats s;
	unsigned int by;
	int rc = ut_mcp_traces_get(c->traces, c->ask.trace, &t, err);

	if (!rc)
		rc = what_of(&c->ask, &view.what, err);
	if (!rc)
		rc = ut_by_parse(c->ask.by ? c->ask.by : "name", &by, err);
	if (!rc)
		rc = ut_stats_check_sort(by, &view, report.sort, err);
	if (rc)
		return rc;
	ut_stats_init(&s, by);
	count_all(c, t, &s);
	if (!rows_of(&s, view.what) && !ut_filter_is_open(&c->ask.filter))
		put_nothing(c, t);
	tool_stats_put_count(c, rows_of(&s, view.what), "rows");
	ut_stats_print(c->text, &s, &view, &report);
	ut_stats_release(&s);
	report_stats(c, t, view.what);
	return 0;
}

/* ---- diff ----------------------------------------------------------------------------------- */

static void add_side(struct ut_mcp_call *c, struct ut_diff_side *side, struct ut_mcp_trace *t,
		     unsigned int by)
{
	struct ut_stats run;

	ut_diff_side_init(side, by);
	ut_stats_init(&run, by);
	count_all(c, t, &run);
	ut_diff_side_add(side, &run);
	ut_stats_release(&run);
}

/* A table of what is new and what has vanished looks like a comparison. */
static void put_apart(struct ut_mcp_call *c, const struct ut_diff *d)
{
	bool before = false, after = false;

	for (size_t i = 0; i < d->count; i++) {
		if (d->rows[i].before && d->rows[i].after)
			return;
		before |= d->rows[i].before != NULL;
		after |= d->rows[i].after != NULL;
	}
	ut_out_fmt(c->text, "Nothing was compared: %s\n",
		   before && after ? "no name is on both sides"
		   : before        ? "the run after has no spans, or none that was asked for"
		   : after         ? "the run before has no spans, or none that was asked for"
				   : "both runs have no spans, or none that was asked for");
}

static void put_diff(struct ut_mcp_call *c, struct ut_mcp_trace *const sides[2], unsigned int by)
{
	const struct ut_report_opts report = report_of(c);
	struct ut_diff_side counted[2];
	struct ut_diff d = { 0 };

	add_side(c, &counted[0], sides[0], by);
	add_side(c, &counted[1], sides[1], by);
	ut_diff_make(&d, &counted[0], &counted[1], c->ask.min_count);
	put_apart(c, &d);
	tool_stats_put_count(c, d.count, "rows");
	ut_diff_print(c->text, &d, &report, NULL, 0);
	ut_diff_release(&d);
	ut_diff_side_release(&counted[0]);
	ut_diff_side_release(&counted[1]);
}

int ut_mcp_tool_diff(struct ut_mcp_call *c, struct ut_err *err)
{
	struct ut_mcp_trace *sides[2];
	unsigned int by;
	int rc = ut_mcp_traces_get(c->traces, c->ask.before, &sides[0], err);

	if (!rc)
		rc = ut_mcp_traces_get(c->traces, c->ask.after, &sides[1], err);
	if (!rc)
		rc = ut_by_parse(c->ask.by ? c->ask.by : "name", &by, err);
	if (!rc)
		rc = ut_diff_check_sort(by, false, c->ask.sort, err);
	if (rc)
		return rc;
	put_diff(c, sides, by);
	ut_buf_fmt(&c->how,
		   "one run each, so what is said is how far apart their spans are, not how sure a "
		   "change of the program is: unitrace diff --csv%s",
		   c->ask.words.data ? c->ask.words.data : "");
	ut_mcp_how_files(c, sides[0]);
	ut_mcp_how_files(c, sides[1]);
	return 0;
}
