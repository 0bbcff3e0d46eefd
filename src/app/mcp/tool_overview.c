/*
 * tool_overview.c - what is known about a trace without asking for anything in particular: the
 * sentences that the viewer, kernels and ranks have for people, and the first rows of statistics.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/stats.h"
#include "import/load.h"
#include "mcp/mcp_tools.h"
#include "ranks/ranks.h"
#include "ranks/ranks_table.h"
#include "report/table_stats.h"
#include "text/cells.h"
#include "text/json_doc.h"
#include "text/out.h"
#include "text/table_report.h"
#include "view/view.h"

#define REPORTED_KERNELS 10u
#define NAME_WIDE        160u
#define STATS_ROWS       15u

/* ---- what the viewer has found -------------------------------------------------------------- */

/* An answer of the view as values; NULL if it has none. */
static const struct ut_doc *tool_overview_ask(struct ut_mcp_call *c, struct ut_view *v,
					      const char *method, const char *question)
{
	struct ut_out *out = ut_out_open_memory();
	const struct ut_doc *root = NULL;
	enum ut_answer kind;
	size_t len;
	const char *text;

	if (!ut_view_ask(v, method, ut_str_of(question), out, &kind, NULL)) {
		text = ut_out_data(out, &len);
		if (ut_doc_read(&c->ask.arena, (struct ut_str){ text, len }, &root, NULL))
			root = NULL;
	}
	ut_out_abandon(out);
	return root;
}

static const char *tool_overview_text_of(const struct ut_doc *t, const char *key)
{
	const char *text = ut_doc_text(t, key);

	return text ? text : "";
}

static void put_findings(struct ut_mcp_call *c, struct ut_view *v)
{
	const struct ut_doc *list = tool_overview_ask(c, v, "findings", "{}");

	ut_out_text(c->text, "Findings:\n");
	for (const struct ut_doc *f = list ? list->first : NULL; f; f = f->next) {
		const char *tone = tool_overview_text_of(f, "tone");

		ut_out_text(c->text, !strcmp(tone, "bad")    ? "- (bad) "
				     : !strcmp(tone, "warn") ? "- (warning) "
							     : "- ");
		ut_cell_text(c->text, tool_overview_text_of(f, "say"));
		ut_out_text(c->text, " ");
		ut_cell_text(c->text, tool_overview_text_of(f, "why"));
		ut_out_text(c->text, "\n");
	}
}

static void tool_overview_put_kernels(struct ut_mcp_call *c, struct ut_view *v)
{
	const struct ut_doc *sheet =
		tool_overview_ask(c, v, "sheet", "{\"tool\":\"kernels\",\"name\":\"verdicts\"}");
	const struct ut_doc *list = ut_doc_get(sheet, "kernels");
	size_t reported = 0;

	if (!list || !list->first)
		return;
	ut_out_text(c->text, "\nWhat kernels are bound by:\n");
	for (const struct ut_doc *k = list->first; k && reported < REPORTED_KERNELS;
	     k = k->next, reported++) {
		struct ut_buf name = { 0 };

		ut_cell_name(&name, tool_overview_text_of(k, "name"),
			     strlen(tool_overview_text_of(k, "name")), NAME_WIDE);
		ut_out_fmt(c->text, "- %s: ", name.data ? name.data : "");
		ut_cell_text(c->text, tool_overview_text_of(k, "why"));
		ut_out_text(c->text, " ");
		ut_cell_text(c->text, tool_overview_text_of(k, "advice"));
		ut_out_text(c->text, "\n");
		ut_buf_release(&name);
	}
	if (list->count > reported)
		ut_out_fmt(c->text, "... and %zu more kernels\n", list->count - reported);
}

/* ---- what ranks do to each other ------------------------------------------------------------ */

static void put_sentence(struct ut_mcp_call *c, const struct ut_rank_view *v,
			 void (*text)(const struct ut_rank_view *, struct ut_buf *))
{
	struct ut_buf b = { 0 };

	text(v, &b);
	ut_out_text(c->text, "- ");
	ut_cell_text(c->text, b.data ? b.data : "");
	ut_out_text(c->text, ".\n");
	ut_buf_release(&b);
}

/* Nothing is said of traces that have no calls of MPI: that they have none is no finding. */
static void put_ranks(struct ut_mcp_call *c, struct ut_mcp_trace *t)
{
	struct ut_rank_view v = { 0 };
	struct ut_ranks r;
	int rc = 0;

	ut_ranks_init(&r);
	for (size_t i = 0; !rc && i < t->inputs.count; i++)
		rc = ut_ranks_add(&r, ut_view_store(t->view, i), NULL);
	if (!rc)
		rc = ut_ranks_finalize(&r, ut_load_threads(c->traces->threads), NULL);
	if (!rc && r.count > 1) {
		ut_rank_view_make(&v, &r, ut_str_of(""));
		ut_out_text(c->text, "\nRanks (unitrace ranks says more):\n");
		put_sentence(c, &v, ut_rank_summary_text);
		put_sentence(c, &v, ut_rank_efficiency);
		ut_rank_view_release(&v);
	}
	ut_ranks_release(&r);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void tool_overview_put_stats(struct ut_mcp_call *c, struct ut_mcp_trace *t)
{
	const struct ut_report_opts report = { .format = UT_REPORT_CSV,
					       .sort = "self",
					       .limit = STATS_ROWS };
	const struct ut_stats_view view = { .what = UT_STATS_SPANS };
	struct ut_stats s;
	size_t count;

	ut_stats_init(&s, 1u << UT_BY_NAME);
	for (size_t i = 0; i < t->inputs.count; i++)
		ut_stats_add(&s, ut_view_store(t->view, i), NULL,
			     ut_load_threads(c->traces->threads));
	ut_stats_order(&s, UT_SORT_TOTAL, &count); /* names of instants alone are no rows */
	ut_out_fmt(c->text, "\nMost self time (first %zu of %zu names, times in ns):\n",
		   count < STATS_ROWS ? count : STATS_ROWS, count);
	ut_stats_print(c->text, &s, &view, &report);
	ut_stats_release(&s);
}

int ut_mcp_tool_overview(struct ut_mcp_call *c, struct ut_err *err)
{
	struct ut_mcp_trace *t;
	int rc = ut_mcp_traces_get(c->traces, c->ask.trace, &t, err);

	if (rc)
		return rc;
	ut_out_fmt(c->text, "Trace %s: %zu files, %" PRIu64 " slices.\n\n", t->name,
		   t->inputs.count, ut_view_slices(t->view));
	put_findings(c, t->view);
	tool_overview_put_kernels(c, t->view);
	put_ranks(c, t);
	tool_overview_put_stats(c, t);
	if (t->odd.len)
		ut_out_fmt(c->text, "\nOdd about the files:\n%s", t->odd.data);
	ut_buf_text(&c->how, "findings: every slice is counted; the same as the Summary tab of "
			     "unitrace view; the table: unitrace stats --csv --sort self");
	ut_mcp_how_files(c, t);
	return 0;
}
