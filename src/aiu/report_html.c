/*
 * report_html.c - the report as a page: the JSON of report_json.c and the script that shows it.
 */
#include "aiu/report.h"
#include "export/embed.h"
#include "export/html.h"
#include "export/out.h"

UT_EMBED(ut_aiu_page_js, "analyze.js");

void ut_aiu_report_html(struct ut_out *o, const struct ut_aiu_report *r)
{
	struct ut_out *json = ut_out_open_memory();
	const char *text;
	size_t len;

	ut_aiu_report_json(json, r, &ut_aiu_report_page);
	text = ut_out_data(json, &len);
	ut_html_begin(o, r->title);
	ut_html_data(o, "data", text, len);
	ut_html_end(o, ut_aiu_page_js);
	ut_out_abandon(json);
}
