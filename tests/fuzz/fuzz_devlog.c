/*
 * fuzz_devlog.c - libFuzzer target: any bytes as a device log.
 *
 * What could be read must keep the order that log.h promises, and go out in every format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "export/exporter.h"
#include "model/trace.h"
#include "report/one_page.h"
#include "text/out.h"
#include "text/table_report.h"
#include "tt/devlog_page.h"
#include "tt/durations.h"
#include "tt/kernels.h"
#include "tt/log_compare.h"
#include "tt/log_trace.h"
#include "tt/read_log.h"
#include "tt/write_devlog.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct ut_tt_log *log)
{
	for (size_t i = 0; i < log->lane_count; i++) {
		const struct ut_tt_lane *l = &log->lanes[i];

		for (uint32_t k = l->first + 1; k < l->first + l->count; k++)
			need(log->rows[k - 1].ts <= log->rows[k].ts, "a lane is in order");
	}
	for (size_t i = 0; i < log->chip_count; i++) {
		const struct ut_tt_chip *c = &log->chips[i];

		for (uint32_t k = c->first + 1; k < c->first + c->count; k++)
			need(log->rows[log->by_chip[k - 1]].ts <= log->rows[log->by_chip[k]].ts,
			     "a chip is in order");
	}
}

/* All that the page asks for: the sheets, and the trace as columns if there is a page. */
static void show(const struct ut_tt_shown *shown, struct ut_out *out)
{
	static const char *const sheets[] = { "cores", "ops", "zones", "stats", "findings" };
	struct ut_view *view = ut_tt_make_view(shown);

	for (size_t i = 0; i < sizeof(sheets) / sizeof(sheets[0]); i++) {
		char ask[80];
		struct ut_err err = { 0 };
		enum ut_answer kind;
		int len = snprintf(ask, sizeof(ask), "{\"tool\":\"devlog\",\"name\":\"%s\"}",
				   sheets[i]);

		need(!ut_view_ask(view, "sheet", (struct ut_str){ ask, (size_t)len }, out, &kind,
				  &err),
		     "every sheet is there");
	}
	if (!ut_one_page_missing())
		ut_one_page_write(view, 1, out);
	ut_view_free(view);
}

static void write_all(struct ut_tt_analysis *a)
{
	const struct ut_tt_about_run run = { "fuzz", "out", 1 };
	struct ut_out *out = ut_out_open_memory();
	struct ut_tt_kernels kernels = { 0 };
	struct ut_tt_alignment align;
	struct ut_sink *sink;
	struct ut_trace trace;

	ut_tt_write_stats(a, out);
	ut_tt_write_rearranged(a->log, out);
	ut_tt_write_chrome(a->log, out);
	ut_tt_write_analysis(a, &run, out);
	ut_tt_align(a, UT_TT_ALIGN_AUTO, &align);
	show(&(struct ut_tt_shown){ a, &align, UT_TT_ALL_CHIPS, "-", "trace.utr" }, out);
	ut_tt_kernels_find(&kernels, a, UT_TT_ALL_CHIPS);
	for (int format = 0; format < UT_REPORT_FORMATS; format++) {
		const struct ut_report_opts opts = { .format = (enum ut_report_format)format };
		struct ut_err err = { 0 };

		if (ut_tt_kernels_print(&kernels, a->log, out, &opts, &err))
			abort();
		ut_tt_compare(a, a, out, &opts);
	}
	sink = ut_export_utr.open(out);
	ut_trace_init(&trace);
	ut_tt_send(a, &align, UT_TT_ALL_CHIPS, &trace, sink);
	ut_export_utr.end_trace(sink, &trace);
	ut_export_utr.close(sink);
	ut_trace_release(&trace);
	ut_tt_kernels_release(&kernels);
	ut_tt_alignment_release(&align);
	ut_out_abandon(out);
}

/* The first byte chooses how many bytes a read gives. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ut_tt_read_opts opts = { 0 };
	struct bytes bytes = { data + 1, size - 1, 1 };
	struct ut_tt_analysis analysis;
	struct ut_tt_setup setup;
	struct ut_err err = { 0 };
	struct ut_tt_log log;
	int rc;

	if (!size)
		return 0;
	bytes.step = data[0] ? data[0] : SIZE_MAX;
	ut_tt_log_init(&log);
	rc = ut_tt_read(&log, "fuzz", read_bytes, &bytes, &opts, &err);
	need(!rc == !err.text[0], "an error says why");
	need(!strchr(err.text, '\n'), "an error is one line");
	if (!rc) {
		check_order(&log);
		need(ut_tt_setup_find(&setup, log.zones, NULL), "there are rules");
		ut_tt_analyze(&analysis, &log, &setup);
		write_all(&analysis);
		ut_tt_analysis_release(&analysis);
	}
	ut_tt_log_release(&log);
	return 0;
}
