/*
 * report_html.c - the report as a page: the JSON of report_json.c and the script that shows it.
 */
#include "acelyzer/analysis_report.h"
#include "text/embed.h"
#include "text/html.h"
#include "text/out.h"

UT_EMBED(ut_ace_page_js, "analyze.js");

void ut_ace_report_html(struct ut_out *o, const struct ut_ace_report *r)
{
	struct ut_out *json = ut_out_open_memory();
	const char *text;
	size_t len;

	ut_ace_report_json(json, r, &ut_ace_report_page);
	text = ut_out_data(json, &len);
	ut_html_begin(o, r->title);
	ut_html_data(o, "data", text, len);
	ut_html_end(o, ut_ace_page_js);
	ut_out_abandon(json);
}
