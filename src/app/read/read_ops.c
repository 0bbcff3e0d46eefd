/*
 * read_ops.c - a row per op, host and device together (the table of `unitrace ops`), as a stream.
 */
#include "read/read_ops.h"

#include <errno.h>

#include "arrow/arrow_table.h"
#include "base/json.h"
#include "ops/from_trace.h"
#include "ops/report.h"
#include "read/read_options.h"
#include "read/read_trace.h"

static void read_ops_add_text(struct ut_arrow_table *t, struct ut_str text)
{
	struct ut_json_number n;

	if (!ut_ops_is_number(text)) {
		ut_arrow_add_text(t, text);
		return;
	}
	switch (ut_json_number(text, &n)) {
	case UT_JSON_I64:
		ut_arrow_add_int(t, n.i64);
		break;
	case UT_JSON_U64:
		if (n.u64 <= INT64_MAX) {
			ut_arrow_add_int(t, (int64_t)n.u64);
			break;
		}
		/* fall through */
	case UT_JSON_F64:
	case UT_JSON_BIG:
		ut_arrow_add_real(t, n.f64);
		break;
	case UT_JSON_NOT:
		ut_arrow_add_text(t, text);
		break;
	}
}

static struct ut_arrow_table *read_ops_make_table(const struct ut_ops_report *r, uint64_t limit)
{
	struct ut_arena arena = { 0 };
	struct ut_str *texts = UT_NEW_N(&arena, struct ut_str, r->shown + 1);
	const char **names = UT_NEW_N(&arena, const char *, r->shown + 1);
	struct ut_arrow_table *t;

	for (size_t i = 0; i < r->shown; i++)
		names[i] = r->columns[r->by_place[i]].name;
	t = ut_arrow_table_new(names, r->shown);
	for (size_t row = 0; row < r->row_count && (!limit || row < limit); row++) {
		ut_ops_row_texts(r, row, texts);
		for (size_t i = 0; i < r->shown; i++) {
			if (!texts[i].len || texts[i].ptr == r->empty[i].ptr)
				ut_arrow_add_null(t);
			else
				read_ops_add_text(t, texts[i]);
		}
	}
	ut_arena_release(&arena);
	return t;
}

/* Reading arguments uses what a store has once, so nobody else may do that meanwhile. */
static void read_traces(struct unitrace_trace *trace, struct ut_ops_report *r)
{
	struct ut_ops_trace ops;

	ut_ops_trace_init(&ops, r, false);
	pthread_mutex_lock(&trace->asking);
	for (size_t i = 0; i < trace->inputs.count; i++)
		ut_ops_trace_add(&ops, &trace->stores[i]);
	pthread_mutex_unlock(&trace->asking);
	ut_ops_trace_release(&ops);
	ut_ops_report_order(r);
}

struct ut_arrow_table *ut_read_ops(struct unitrace_trace *trace, const struct ut_read_options *o)
{
	struct ut_arrow_table *t;
	struct ut_ops_report r;

	ut_ops_report_init(&r);
	read_traces(trace, &r);
	t = read_ops_make_table(&r, o->limit);
	ut_ops_report_release(&r);
	return t;
}
