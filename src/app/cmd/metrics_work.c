#include "cmd/metrics_work.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/metrics_options.h"
#include "cmd/table_options.h"
#include "metrics/stall_report.h"
#include "text/out.h"
#include "text/table_report.h"
#include "view/view.h"

/* ---- stalls --------------------------------------------------------------------------------- */

static struct ut_report_opts listing_opts(const struct ut_metrics_work *w)
{
	const struct ut_metrics_given *g = &w->opts->given;
	const struct ut_table_opts table = { UT_TABLE_OPTS, .csv = g->csv,
					     .csv_safe = g->csv_safe };

	return ut_table_report(&table, g->report ? -1 : STDOUT_FILENO, 0);
}

/* For people: a table for each kernel, under its name. */
static void list_code(struct ut_metrics_work *w, const struct ut_stall_result *r,
		      enum ut_stall_listing what)
{
	const struct ut_report_opts opts = listing_opts(w);
	struct ut_report *report;

	ut_stall_listing_head(w->text, r, what);
	report = ut_stall_listing_start(w->text, &opts, what);
	ut_stall_listing_add(report, r, what);
	ut_report_finish(report);
	ut_out_text(w->text, "\n");
}

static void metrics_work_put_result(struct ut_metrics_work *w, const struct ut_stall_result *r)
{
	const struct ut_metrics_opts *o = w->opts;

	ut_out_text(w->json, w->reported ? "," : "");
	ut_stall_json(w->json, r);
	if (w->listing) {
		ut_stall_listing_add(w->listing, r,
				     o->source ? UT_STALL_SOURCE : UT_STALL_ASSEMBLY);
		return;
	}
	if (o->source)
		list_code(w, r, UT_STALL_SOURCE);
	if (o->assembly)
		list_code(w, r, UT_STALL_ASSEMBLY);
	if (o->source || o->assembly)
		return;
	ut_stall_text(w->text, r);
	ut_out_text(w->text, "\n"); /* behind the last one, too: so does the original */
}

/* Of several kernels, one without code: the report says so in its place, as the original's does. */
static void lacks_code(struct ut_metrics_work *w, const struct ut_err *why)
{
	ut_log(UT_WARN, "%s", why->text);
	if (w->opts->source || w->opts->assembly || w->listing)
		return;
	ut_out_fmt(w->text, "%s\n", why->text);
}

/* A kernel without code has no report, the others have theirs. */
static void metrics_work_report(struct ut_metrics_work *w, const struct ut_stall_samples *samples)
{
	const struct ut_metrics_given *g = &w->opts->given;
	const struct ut_stall_opts opts = { .code = g->shaders,
					    .top = w->opts->top,
					    .demangler = g->demangler,
					    .logger = ut_log_stderr() };
	struct ut_stall_result result;
	struct ut_err err = { 0 };

	if (ut_stall_find(&result, samples, &opts, &err)) {
		if (!w->trouble.code)
			w->trouble = err;
		if (w->stalls.count > 1)
			lacks_code(w, &err);
		return;
	}
	metrics_work_put_result(w, &result);
	ut_stall_release(&result);
	w->reported++;
}

static int do_stalls(struct ut_metrics_work *w, const struct ut_metrics_want *want,
		     struct ut_err *err)
{
	int rc = ut_metrics_stalls_read(&w->stalls, w->opts->input, want, ut_log_stderr(), err);

	if (rc)
		return rc;
	if (w->opts->given.shaders) {
		w->text = ut_out_open_memory();
		w->json = ut_out_open_memory();
		ut_out_text(w->json, "{\"reports\":[");
		if (w->opts->given.csv) {
			const struct ut_report_opts opts = listing_opts(w);

			w->listing = ut_stall_listing_start(w->text, &opts,
							    w->opts->source ? UT_STALL_SOURCE
									    : UT_STALL_ASSEMBLY);
		}
	}
	for (size_t i = 0; i < w->stalls.count; i++) {
		const struct ut_stall_samples *samples = &w->stalls.kernels[i].samples;

		ut_metrics_charts_add_stalls(&w->charts, &w->opts->plan, samples);
		if (w->text)
			metrics_work_report(w, samples);
	}
	if (w->json)
		ut_out_text(w->json, "]}");
	if (w->listing)
		ut_report_finish(w->listing);
	w->listing = NULL;
	if (!w->charts.count)
		return ut_err_set(err, -ENODATA, "%s: nothing stalled", w->opts->input);
	return 0;
}

/* ---- metrics -------------------------------------------------------------------------------- */

static int do_metrics(struct ut_metrics_work *w, const struct ut_metrics_want *want,
		      struct ut_err *err)
{
	int rc;

	if (!w->opts->plan.set_count)
		return ut_err_set(err, -EINVAL, "-m option is missing");
	rc = ut_metrics_data_read(&w->data, w->opts->input, want, ut_log_stderr(), err);
	if (rc)
		return rc;
	if (want->kernel.ptr || want->instance || want->id)
		ut_metrics_charts_add(&w->charts, &w->opts->plan, &w->data, ut_log_stderr());
	else
		ut_metrics_charts_add_kernels(&w->charts, &w->opts->plan, &w->data,
					      ut_log_stderr());
	if (!w->charts.count)
		return ut_err_set(err, -ENODATA,
				  "%s has none of the metrics that were asked for: -l lists them",
				  w->opts->input);
	return 0;
}

int ut_metrics_work_do(struct ut_metrics_work *w, const struct ut_metrics_opts *o,
		       const struct ut_metrics_want *want, struct ut_err *err)
{
	int rc;

	*w = (struct ut_metrics_work){ .opts = o };
	rc = ut_metrics_stalls_check(o->input, &w->is_stall, err);
	if (rc)
		return rc;
	rc = w->is_stall ? do_stalls(w, want, err) : do_metrics(w, want, err);
	if (rc)
		ut_metrics_work_release(w);
	return rc;
}

void ut_metrics_work_attach(const struct ut_metrics_work *w, struct ut_view *view)
{
	struct ut_out *line;

	if (!w->reported)
		return;
	line = ut_out_open_memory(); /* a sheet is one */
	ut_out_one_line(line, w->json);
	ut_view_attach(view, "charts", "Charts", "stalls", line);
}

void ut_metrics_work_release(struct ut_metrics_work *w)
{
	ut_metrics_charts_release(&w->charts);
	ut_metrics_data_release(&w->data);
	ut_metrics_stalls_release(&w->stalls);
	ut_out_abandon(w->text);
	ut_out_abandon(w->json);
	*w = (struct ut_metrics_work){ 0 };
}
