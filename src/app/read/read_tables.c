/*
 * read_tables.c - the tables that commands print, as streams.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_log.h"
#include "analyze/device_summary.h"
#include "analyze/diff.h"
#include "analyze/stats.h"
#include "arrow/arrow_table.h"
#include "read/read_ops.h"
#include "read/read_options.h"
#include "read/read_trace.h"
#include "report/table_device.h"
#include "report/table_diff.h"
#include "report/table_stats.h"
#include "text/table_report.h"

/* ---- reports as streams -------------------------------------------------------------------- */

struct taken {
	struct ut_arrow_table *table;
	size_t columns;
};

static void take_begin(void *ctx, const char *const *names, size_t columns)
{
	struct taken *t = ctx;

	ut_arrow_table_free(t->table);
	t->table = ut_arrow_table_new(names, columns);
	t->columns = columns;
}

/* Sums of ns may need more than 63 bits: such a number is a real one, near enough for its size. */
static void take_cell(struct ut_arrow_table *t, const struct ut_report_cell *cell)
{
	switch (cell->type) {
	case UT_CELL_NONE:
		ut_arrow_add_null(t);
		break;
	case UT_CELL_U64:
	case UT_CELL_BOOL:
		if (cell->u64 > INT64_MAX)
			ut_arrow_add_real(t, (double)cell->u64);
		else
			ut_arrow_add_int(t, (int64_t)cell->u64);
		break;
	case UT_CELL_I64:
		ut_arrow_add_int(t, cell->i64);
		break;
	case UT_CELL_BIG:
		if (cell->big.high || cell->big.low > INT64_MAX)
			ut_arrow_add_real(t,
					  (double)cell->big.high * 0x1p64 + (double)cell->big.low);
		else
			ut_arrow_add_int(t, (int64_t)cell->big.low);
		break;
	case UT_CELL_REAL:
		ut_arrow_add_real(t, cell->real);
		break;
	case UT_CELL_TEXT:
	case UT_CELL_JSON:
		ut_arrow_add_text(t, cell->text);
		break;
	case UT_CELL_BLOB:
		ut_arrow_add_bytes(t, cell->text);
		break;
	}
}

static void read_tables_take_row(void *ctx, const struct ut_report_cell *cells)
{
	struct taken *t = ctx;

	for (size_t i = 0; i < t->columns; i++)
		take_cell(t->table, &cells[i]);
}

static struct ut_report_opts report_into(struct taken *t, const struct ut_read_options *o)
{
	return (struct ut_report_opts){ .format = UT_REPORT_TYPED,
					.sort = o->sort,
					.limit = o->limit,
					.begin = take_begin,
					.row = read_tables_take_row,
					.ctx = t };
}

/* ---- statistics ---------------------------------------------------------------------------- */

static void count_all(struct unitrace_trace *trace, const struct ut_read_options *o,
		      struct ut_stats *s)
{
	for (size_t i = 0; i < trace->inputs.count; i++)
		ut_stats_add(s, &trace->stores[i], &o->filter, trace->threads);
}

static int stats(struct unitrace_trace *trace, const struct ut_read_options *o,
		 enum ut_stats_what what, struct taken *t, struct ut_err *err)
{
	const struct ut_report_opts report = report_into(t, o);
	const struct ut_stats_view view = { .what = what };
	struct ut_stats s;
	unsigned int by;
	int rc = ut_by_parse(o->by, &by, err);

	if (!rc)
		rc = ut_stats_check_sort(by, &view, o->sort, err);
	if (rc)
		return rc;
	ut_stats_init(&s, by);
	count_all(trace, o, &s);
	ut_stats_print(NULL, &s, &view, &report);
	ut_stats_release(&s);
	return 0;
}

static int table_stats(struct unitrace_trace *trace, const struct ut_read_options *o,
		       struct taken *t, struct ut_err *err)
{
	return stats(trace, o, UT_STATS_SPANS, t, err);
}

static int table_counters(struct unitrace_trace *trace, const struct ut_read_options *o,
			  struct taken *t, struct ut_err *err)
{
	return stats(trace, o, UT_STATS_COUNTERS, t, err);
}

static int table_instants(struct unitrace_trace *trace, const struct ut_read_options *o,
			  struct taken *t, struct ut_err *err)
{
	return stats(trace, o, UT_STATS_INSTANTS, t, err);
}

/* ---- devices ------------------------------------------------------------------------------- */

enum device_table {
	DEVICE_USES,
	DEVICE_KERNELS,
	DEVICE_CALLS,
};

static void print_device(const struct ut_device_log *log, enum device_table which,
			 const struct ut_report_opts *report)
{
	const struct ut_device_rows_view all = { .source = UT_DEVICE_ALL,
						 .host = true,
						 .device = true };
	struct ut_device_summary s;

	ut_device_summary_make(&s, log);
	if (which == DEVICE_USES)
		ut_device_uses(NULL, log, &s, report);
	else if (which == DEVICE_KERNELS)
		ut_device_kernels(NULL, log, &s, report);
	else
		ut_device_rows(NULL, log, &all, report);
	ut_device_summary_release(&s);
}

/* Sending a store uses its trace's arguments, so nobody else may do that meanwhile. */
static int device(struct unitrace_trace *trace, const struct ut_read_options *o,
		  enum device_table which, struct taken *t)
{
	const struct ut_report_opts report = report_into(t, o);
	struct ut_device_log log;

	ut_device_log_init(&log, false);
	pthread_mutex_lock(&trace->asking);
	for (size_t i = 0; i < trace->inputs.count; i++)
		ut_device_log_store(&log, &trace->stores[i]);
	pthread_mutex_unlock(&trace->asking);
	ut_device_log_finish(&log);
	print_device(&log, which, &report);
	ut_device_log_release(&log);
	return 0;
}

static int table_device(struct unitrace_trace *trace, const struct ut_read_options *o,
			struct taken *t, struct ut_err *err)
{
	(void)err;
	return device(trace, o, DEVICE_USES, t);
}

static int table_kernels(struct unitrace_trace *trace, const struct ut_read_options *o,
			 struct taken *t, struct ut_err *err)
{
	(void)err;
	return device(trace, o, DEVICE_KERNELS, t);
}

static int table_calls(struct unitrace_trace *trace, const struct ut_read_options *o,
		       struct taken *t, struct ut_err *err)
{
	(void)err;
	return device(trace, o, DEVICE_CALLS, t);
}

/* ---- ops ----------------------------------------------------------------------------------- */

static int table_ops(struct unitrace_trace *trace, const struct ut_read_options *o, struct taken *t,
		     struct ut_err *err)
{
	if (o->sort)
		return ut_err_set(err, -EINVAL, "ops are in the order of time: no sort");
	t->table = ut_read_ops(trace, o);
	return 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

static const struct table {
	const char *name;
	int (*make)(struct unitrace_trace *trace, const struct ut_read_options *o, struct taken *t,
		    struct ut_err *err);
} tables[] = {
	{ "stats", table_stats },   { "counters", table_counters }, { "instants", table_instants },
	{ "device", table_device }, { "kernels", table_kernels },   { "calls", table_calls },
	{ "ops", table_ops },
};

static const struct table *find_table(const char *name, struct ut_err *err)
{
	const size_t count = sizeof(tables) / sizeof(tables[0]);
	struct ut_buf known = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	}
	for (size_t i = 0; i < count; i++)
		ut_buf_fmt(&known, " %s", tables[i].name);
	ut_err_set(err, -EINVAL, "no table '%s'; there are:%s", name, known.data);
	ut_buf_release(&known);
	return NULL;
}

/* Hands over what was taken, or says what went wrong. */
static int read_tables_finish(int rc, struct taken *t, struct ArrowArrayStream *out,
			      const struct ut_err *err, struct unitrace_error *error)
{
	if (rc) {
		ut_arrow_table_free(t->table);
		*out = (struct ArrowArrayStream){ 0 };
	} else {
		ut_arrow_table_stream(t->table, out);
	}
	return ut_read_result(rc, err, error);
}

int unitrace_table(struct unitrace_trace *trace, const char *table, const char *const *options,
		   struct ArrowArrayStream *out, struct unitrace_error *error)
{
	struct ut_read_options o = { 0 };
	struct taken t = { 0 };
	struct ut_err err = { 0 };
	const struct table *which = find_table(table, &err);
	int rc = which ? ut_read_options_parse(&o, options, &err) : -EINVAL;

	if (!rc)
		rc = which->make(trace, &o, &t, &err);
	ut_read_options_release(&o);
	return read_tables_finish(rc, &t, out, &err, error);
}

/* ---- differences --------------------------------------------------------------------------- */

static void add_side(struct ut_diff_side *side, struct unitrace_trace *trace,
		     const struct ut_read_options *o, unsigned int by)
{
	struct ut_stats run;

	ut_diff_side_init(side, by);
	ut_stats_init(&run, by);
	count_all(trace, o, &run);
	ut_diff_side_add(side, &run);
	ut_stats_release(&run);
}

static int diff(struct unitrace_trace *before, struct unitrace_trace *after,
		const struct ut_read_options *o, struct taken *t, struct ut_err *err)
{
	const struct ut_report_opts report = report_into(t, o);
	struct ut_diff_side sides[2];
	struct ut_diff d = { 0 };
	unsigned int by;
	int rc = ut_by_parse(o->by, &by, err);

	if (!rc)
		rc = ut_diff_check_sort(by, false, o->sort, err);
	if (rc)
		return rc;
	add_side(&sides[0], before, o, by);
	add_side(&sides[1], after, o, by);
	ut_diff_make(&d, &sides[0], &sides[1], o->min_count);
	ut_diff_print(NULL, &d, &report, NULL, 0);
	ut_diff_release(&d);
	ut_diff_side_release(&sides[0]);
	ut_diff_side_release(&sides[1]);
	return 0;
}

int unitrace_diff(struct unitrace_trace *before, struct unitrace_trace *after,
		  const char *const *options, struct ArrowArrayStream *out,
		  struct unitrace_error *error)
{
	struct ut_read_options o = { 0 };
	struct taken t = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_read_options_parse(&o, options, &err);

	if (!rc)
		rc = diff(before, after, &o, &t, &err);
	ut_read_options_release(&o);
	return read_tables_finish(rc, &t, out, &err, error);
}
