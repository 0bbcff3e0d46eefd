#include "ops/page_view.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/logger.h"
#include "ops/page_findings.h"
#include "ops/page_sheet.h"
#include "ops/page_trace.h"
#include "ops/report.h"
#include "report/one_page.h"
#include "text/out.h"
#include "view/view.h"

#define TOOL  "ops"
#define TITLE "Ops"

static void page_view_describe(struct ut_view *v, const struct ut_ops_report *r,
			       const struct ut_ops_about *about)
{
	char when[40] = "", text[160];
	struct stat st;
	struct tm tm;

	if (!stat(about->input, &st) && gmtime_r(&st.st_mtime, &tm))
		strftime(when, sizeof(when), ", written %Y-%m-%d %H:%M UTC", &tm);
	snprintf(text, sizeof(text), "%s, %zu row%s%s", about->kind, r->row_count,
		 r->row_count == 1 ? "" : "s", when);
	ut_view_describe(v, &(struct ut_view_about){ .input = about->input,
						     .subtitle = text,
						     .first = TOOL,
						     .no_file = true });
}

struct ut_view *ut_ops_page_view(const struct ut_ops_report *r, const struct ut_ops_about *about)
{
	struct ut_view *v = ut_view_new();
	struct ut_out *sheet = ut_out_open_memory(), *findings = ut_out_open_memory();
	struct ut_ops_page_trace trace;

	ut_ops_page_trace_make(&trace, r);
	ut_view_add(v, about->input, &trace.store);
	ut_view_ready(v, 1);
	page_view_describe(v, r, about);
	ut_ops_page_sheet_write(r, &trace, v, sheet);
	ut_view_attach(v, TOOL, TITLE, "ops", sheet);
	ut_ops_page_findings_write(r, &trace, v, findings);
	ut_view_attach(v, TOOL, TITLE, "findings", findings);
	ut_ops_page_trace_release(&trace);
	return v;
}

int ut_ops_page_write(struct ut_view *v, const char *path, const struct ut_logger *logger,
		      bool *written, struct ut_err *err)
{
	const char *missing = ut_one_page_missing();
	struct ut_out *out;

	*written = !missing;
	if (missing) {
		ut_logger_log(logger, UT_WARN, "no page: %s", missing);
		return 0;
	}
	out = ut_out_open(path, UT_OUT_OVERWRITE);
	ut_one_page_write(v, UT_PAGE_SLICES, out);
	return ut_out_commit(out, err);
}
