#include "acelyzer/reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "acelyzer/analysis_report.h"
#include "acelyzer/profile.h"
#include "acelyzer/stage.h"
#include "text/out.h"

bool ut_ace_reports(const struct ut_ace_report_wants *w)
{
	return w->json || w->html || w->verify;
}

bool ut_ace_report_speaks(const struct ut_ace_report_wants *w)
{
	return (w->json && !strcmp(w->json, "-")) || (w->html && !strcmp(w->html, "-"));
}

/* An empty name is that of the trace with _report in it. */
static int reports_write_file(struct ut_ace_analysis *a, const struct ut_ace_report *r,
			      const char *name, bool html, struct ut_err *err)
{
	char *made = *name ? NULL : ut_ace_side_name(r->title, "report", html ? "html" : "json");
	const char *path = made ? made : name;
	struct ut_out *o = ut_out_open(path, UT_OUT_OVERWRITE);
	int rc;

	if (html)
		ut_ace_report_html(o, r);
	else
		ut_ace_report_json(o, r);
	rc = ut_out_commit(o, err);
	if (!rc)
		ut_ace_say(&a->messages, UT_ACE_INFO, "Report file created:  %s", path);
	free(made);
	return rc;
}

static int reports_watch(void *ctx, struct ut_ace_analysis *a, unsigned int number,
			 const char *stage, struct ut_err *err)
{
	(void)number;
	(void)err;
	ut_ace_extra_after(ctx, a, stage);
	return 0;
}

/* After a bare --verify the events are as they were: run the analysis for its report's sake. */
static void run_now(struct ut_ace_analysis *a, struct ut_ace_extra *x, struct ut_err *err)
{
	struct ut_ace_profile profile;

	a->opts.verify = false;
	a->messages.notify = NULL; /* the report says it all */
	ut_ace_extra_init(x, a);
	ut_ace_profile_all(&profile, a->opts.release);
	if (!ut_ace_run(a, &profile, reports_watch, x, err) && ut_ace_pass_sort_final(a))
		ut_err_set(err, -EINVAL, "%s", a->err.text);
}

int ut_ace_report_make(struct ut_ace_analysis *a, struct ut_ace_extra *x,
		       const struct ut_ace_setup *s, const char *other, bool *trusted,
		       struct ut_err *err)
{
	const struct ut_ace_report_wants *w = &s->report;
	struct ut_ace_report r = { .a = a, .x = x, .title = s->output, .source = other };
	struct ut_err stopped = { 0 };
	struct ut_out *o;
	int rc = 0;

	if (w->verify == UT_ACE_VERIFY_ONLY)
		run_now(a, x, &stopped);
	ut_ace_extra_finish(x, a, stopped.code ? stopped.text : NULL);
	if (w->json)
		rc = reports_write_file(a, &r, w->json, false, err);
	if (!rc && w->html)
		rc = reports_write_file(a, &r, w->html, true, err);
	if (!rc && w->verify) {
		o = ut_out_open(w->text, 0);
		ut_ace_report_text(o, &r);
		rc = ut_out_commit(o, err);
	}
	*trusted = w->verify != UT_ACE_VERIFY_STRICT ||
		   (x->trust.percent >= w->least && !x->trust.count[UT_ACE_LOSS]);
	return rc;
}
