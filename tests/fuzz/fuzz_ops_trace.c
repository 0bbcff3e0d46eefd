/*
 * fuzz_ops_trace.c - libFuzzer target: any bytes as a Chrome trace, and the ops report made from
 * it, with and without ops inside of others.
 *
 * Every row is in its place, and all go out in every format.
 */
#include <stdint.h>
#include <stdlib.h>

#include "ops/from_trace.h"
#include "ops/page_view.h"
#include "ops/report.h"
#include "ops/write_report.h"
#include "text/out.h"
#include "trace.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(struct ut_store *store, bool nested)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_ops_report r;
	struct ut_ops_trace t;

	ut_ops_report_init(&r);
	ut_ops_trace_init(&t, &r, nested);
	ut_ops_trace_add(&t, store);
	ut_ops_report_order(&r);
	for (size_t i = 0; i < r.row_count; i++)
		need(r.rows[i].when == (int64_t)i + 1, "rows are in order");
	ut_ops_write_csv(&r, out);
	ut_ops_write_json(&r, out);
	ut_view_free(ut_ops_page_view(&r, &(struct ut_ops_about){ "-", "trace" }));
	ut_ops_trace_release(&t);
	ut_ops_report_release(&r);
	ut_out_abandon(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_store store;

	if (load_trace(data, size, &store))
		return 0;
	report(&store, false);
	report(&store, true);
	ut_store_release(&store);
	return 0;
}
