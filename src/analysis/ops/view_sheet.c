#include "ops/view_sheet.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"
#include "ops/from_trace.h"
#include "ops/page_sheet.h"
#include "ops/page_trace.h"
#include "ops/report.h"
#include "text/csv_read.h"
#include "text/out.h"
#include "view/view.h"

/* The times of all rows; how many of them were called by somebody. */
static size_t read_times(const struct ut_ops_report *r, struct ut_ops_times *times)
{
	const size_t host = ut_ops_place_of(r, "HOST START TS");
	const size_t took = ut_ops_place_of(r, "HOST DURATION [ns]");
	const size_t device = ut_ops_place_of(r, "DEVICE START TS");
	struct ut_arena arena = { 0 };
	struct ut_str *texts = UT_NEW_N(&arena, struct ut_str, r->shown + 1);
	size_t called = 0;

	for (size_t i = 0; i < r->row_count; i++) {
		struct ut_ops_times *t = &times[i];

		ut_ops_row_texts(r, i, texts);
		t->on_host = ut_csv_number(texts[took], &t->host_ns) &&
			     ut_csv_number(texts[host], &t->host);
		t->on_device = ut_csv_number(texts[device], &t->device);
		called += t->on_host;
	}
	ut_arena_release(&arena);
	return called;
}

/* Rows of the traces, one trace behind the other; ends[i] is behind the last row of trace i. */
static void read_traces(struct ut_ops_report *r, struct ut_view *v, size_t *ends)
{
	struct ut_ops_trace trace;

	ut_ops_trace_init(&trace, r, false);
	for (size_t i = 0; i < ut_view_traces(v); i++) {
		ut_ops_trace_add(&trace, ut_view_store(v, i));
		ends[i] = r->row_count;
	}
	ut_ops_trace_release(&trace);
	ut_ops_report_order(r);
}

void ut_ops_attach(struct ut_view *v, uint64_t slices)
{
	struct ut_ops_report r;
	struct ut_ops_times *times;
	size_t *ends, trace = 0;

	if (ut_view_slices(v) > slices)
		return;
	ends = ut_make((ut_view_traces(v) + 1) * sizeof(*ends));
	ut_ops_report_init(&r);
	read_traces(&r, v, ends);
	times = ut_make((r.row_count + 1) * sizeof(*times));
	if (read_times(&r, times)) {
		struct ut_out *json = ut_out_open_memory();

		for (size_t i = 0; i < r.row_count; i++) {
			while (i >= ends[trace])
				trace++;
			times[i].trace = trace;
		}
		ut_ops_page_sheet_write(&r, &(struct ut_ops_page_trace){ .times = times }, v, json);
		ut_view_attach(v, "ops", "Ops", "ops", json);
	}
	free(times);
	free(ends);
	ut_ops_report_release(&r);
}
