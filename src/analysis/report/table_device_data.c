/*
 * table_device_data.c - the rows of device tables, the summary of devices and its kernels, as
 * reports.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/device_summary.h"
#include "analyze/device_table.h"
#include "report/table_device.h"
#include "text/out.h"
#include "text/table_report.h"

#define KERNEL_COLUMNS 60
#define TASK_COLUMNS   32

static const char *const limiters[] = { "device-bound", "host-bound", "latency-bound", "idle" };

/* ---- columns ------------------------------------------------------------------------------- */

#define TEXT(k)                                                                                    \
	{                                                                                          \
		.key = (k), .type = UT_REPORT_TEXT                                                 \
	}
#define WORD(k)                                                                                    \
	{                                                                                          \
		.key = (k), .type = UT_REPORT_WORD                                                 \
	}
#define COUNT(k)                                                                                   \
	{                                                                                          \
		.key = (k), .type = UT_REPORT_COUNT                                                \
	}
#define TIME(k)                                                                                    \
	{                                                                                          \
		.key = (k), .unit = "ns", .type = UT_REPORT_TIME                                   \
	}
#define MAY_TIME(k)                                                                                \
	{                                                                                          \
		.key = (k), .unit = "ns", .type = UT_REPORT_TIME, .optional = true                 \
	}
#define MAY_COUNT(k)                                                                               \
	{                                                                                          \
		.key = (k), .type = UT_REPORT_COUNT, .optional = true                              \
	}
#define MAY_BYTES(k)                                                                               \
	{                                                                                          \
		.key = (k), .unit = "bytes", .type = UT_REPORT_BYTES, .optional = true             \
	}

/* How a device was used. Only JSON leaves a host out that is not known. */
static const struct ut_report_column use_columns[] = {
	TEXT("device"),
	{ .key = "host", .type = UT_REPORT_TEXT, .readers = UT_FOR_CSV },
	{ .key = "host", .type = UT_REPORT_TEXT, .readers = UT_FOR_JSON, .optional = true },
	MAY_COUNT("rank"),
	WORD("verdict"),
	TIME("run"),
	TIME("window"),
	TIME("paused"),
	TIME("busy"),
	TIME("kernel"),
	TIME("copy"),
	TIME("overlap"),
	TIME("idle"),
	TIME("starved"),
	TIME("delayed"),
	COUNT("kernels"),
	COUNT("copies"),
	COUNT("fills"),
	COUNT("others"),
	{ .key = "copied", .unit = "bytes", .type = UT_REPORT_BYTES },
	COUNT("timed"),
	TIME("latency_p50"),
	TIME("latency_p99"),
	TIME("latency_max"),
	{ .key = "queue_depth_mean", .type = UT_REPORT_NUMBER, .data_digits = UT_DIGITS_FIXED + 3 },
	COUNT("queue_depth_max"),
};

/* Kernels, and which task launched most of each. */
static const struct ut_report_column top_columns[] = {
	{ .key = "kernel", .title = "Kernel", .type = UT_REPORT_TEXT, .most = KERNEL_COLUMNS },
	{ .key = "task",
	  .title = "Launched by",
	  .type = UT_REPORT_TEXT,
	  .readers = UT_FOR_PEOPLE,
	  .most = TASK_COLUMNS },
	{ .key = "calls", .title = "Calls", .type = UT_REPORT_COUNT },
	{ .key = "total", .title = "Total", .unit = "ns", .type = UT_REPORT_TIME },
	{ .key = "average",
	  .title = "Average",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .readers = UT_FOR_PEOPLE },
	{ .key = "share",
	  .title = "Of kernels",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .readers = UT_FOR_PEOPLE },
	{ .key = "min", .unit = "ns", .type = UT_REPORT_TIME, .readers = UT_FOR_JSON },
	{ .key = "max", .unit = "ns", .type = UT_REPORT_TIME, .readers = UT_FOR_JSON },
	{ .key = "task", .type = UT_REPORT_TEXT, .readers = UT_FOR_JSON, .optional = true },
	{ .key = "task",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .readers = UT_FOR_JSON,
	  .optional = true },
};

/* Calls and work. What calls do not have, and what only some runtimes tell of kernels, is none. */
static const struct ut_report_column row_columns[] = {
	{ .key = "table", .type = UT_REPORT_WORD, .readers = UT_FOR_CSV },
	WORD("backend"),
	TEXT("name"),
	COUNT("calls"),
	TIME("total"),
	TIME("average"),
	TIME("min"),
	TIME("max"),
	MAY_TIME("append"),
	MAY_TIME("submit"),
	MAY_COUNT("registers"),
	MAY_BYTES("shared"),
	MAY_BYTES("local"),
};

static const struct ut_report_column timeline_columns[] = {
	COUNT("thread"), WORD("backend"), COUNT("device"), TEXT("name"),
	TIME("append"),  TIME("submit"),  TIME("start"),   TIME("end"),
};

#define TABLE(list)                                                                                \
	{                                                                                          \
		.columns = (list), .count = sizeof(list) / sizeof((list)[0])                       \
	}

static const struct ut_report_table use_table = TABLE(use_columns);
static const struct ut_report_table top_table = TABLE(top_columns);
static const struct ut_report_table row_table = TABLE(row_columns);
static const struct ut_report_table timeline_table = TABLE(timeline_columns);

/* ---- reports ------------------------------------------------------------------------------- */

/* --sort is about the rows of people and of CSV; other tables of a report may lack the column. */
static struct ut_report *table_device_data_start(struct ut_out *o,
						 const struct ut_report_opts *opts,
						 const struct ut_report_table *table)
{
	struct ut_report_opts own = *opts;
	struct ut_err err = { 0 };

	if (ut_report_check_sort(table, opts->sort, &err))
		own.sort = NULL;
	return ut_report_start(o, &own, table);
}

int ut_device_check_sort(const struct ut_report_opts *opts, struct ut_err *err)
{
	return ut_report_check_sort(opts->format == UT_REPORT_CSV ? &row_table : &top_table,
				    opts->sort, err);
}

void ut_device_uses(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_summary *s, const struct ut_report_opts *opts)
{
	struct ut_report *r = table_device_data_start(o, opts, &use_table);

	for (size_t i = 0; i < s->use_count; i++) {
		const struct ut_device_use *u = &s->uses[i];
		const struct ut_device_info *d = &log->devices[u->device];
		const struct ut_report_cell host =
			ut_report_str(ut_strtab_get(&log->strings, d->host));

		ut_report_add(r, (const struct ut_report_cell[]){
					 ut_report_str(ut_strtab_get(&log->strings, d->name)),
					 host,
					 d->host ? host : ut_report_none(),
					 d->rank >= 0 ? ut_report_u64((uint64_t)d->rank)
						      : ut_report_none(),
					 ut_report_text(limiters[u->limiter]),
					 ut_report_u64(u->run),
					 ut_report_u64(u->window),
					 ut_report_u64(u->paused),
					 ut_report_u64(u->busy),
					 ut_report_u64(u->computing),
					 ut_report_u64(u->copying),
					 ut_report_u64(u->both),
					 ut_report_u64(u->window - u->busy),
					 ut_report_u64(u->starved),
					 ut_report_u64(u->delayed),
					 ut_report_u64(u->kernels),
					 ut_report_u64(u->copies),
					 ut_report_u64(u->fills),
					 ut_report_u64(u->others),
					 ut_report_u64(u->bytes),
					 ut_report_u64(u->timed),
					 ut_report_u64(u->latency_p50),
					 ut_report_u64(u->latency_p99),
					 ut_report_u64(u->latency_max),
					 ut_report_real(u->depth_mean),
					 ut_report_u64(u->depth_max),
				 });
	}
	ut_report_finish(r);
}

static void add_top(struct ut_report *r, const struct ut_device_log *log,
		    const struct ut_device_summary *s, const struct ut_device_top *t)
{
	struct ut_report_cell task = ut_report_str(ut_strtab_get(&log->strings, t->task));
	double share = s->kernel_total ? 100.0 * (double)t->total / (double)s->kernel_total : 0.0;

	if (!t->task)
		task = ut_report_said(ut_report_none(), "-");
	ut_report_add(r, (const struct ut_report_cell[]){
				 ut_report_str(ut_strtab_get(&log->strings, t->name)),
				 task,
				 ut_report_u64(t->calls),
				 ut_report_u64(t->total),
				 ut_report_u64(t->total / t->calls),
				 ut_report_real(share),
				 ut_report_u64(t->min),
				 ut_report_u64(t->max),
				 task,
				 t->task ? ut_report_u64(t->task_total) : ut_report_none(),
			 });
}

void ut_device_kernels(struct ut_out *o, const struct ut_device_log *log,
		       const struct ut_device_summary *s, const struct ut_report_opts *opts)
{
	struct ut_report *r = table_device_data_start(o, opts, &top_table);
	uint64_t left;

	for (size_t i = 0; i < s->top_count; i++)
		add_top(r, log, s, &s->tops[i]);
	ut_report_end(r);
	left = ut_report_left(r, NULL);
	if (left && ut_report_for_people(r))
		ut_out_fmt(o, "... and %" PRIu64 " more\n", left);
	ut_report_close(r);
}

static void table_device_data_add_rows(struct ut_report *r, const struct ut_device_log *log,
				       const struct ut_device_table *t, bool work)
{
	const struct ut_report_cell none = ut_report_none();

	for (size_t api = 0; api < t->section_count; api++) {
		const struct ut_device_section *s = &t->sections[api];
		const char *backend = ut_device_api_name(log, (uint16_t)api);

		for (size_t i = 0; i < s->count; i++) {
			const struct ut_device_row *row = &s->rows[i];
			const struct ut_device_kernel *k = row->kernel;
			bool known = k && k->registers;

			ut_report_add(r, (const struct ut_report_cell[]){
						 ut_report_text(work ? "device" : "host"),
						 ut_report_text(backend),
						 ut_report_text(row->name),
						 ut_report_u64(row->calls),
						 ut_report_u64(row->total),
						 ut_report_u64(row->total / row->calls),
						 ut_report_u64(row->min),
						 ut_report_u64(row->max),
						 work ? ut_report_u64(row->append) : none,
						 work ? ut_report_u64(row->submit) : none,
						 known ? ut_report_u64(k->registers) : none,
						 known ? ut_report_u64(k->shared) : none,
						 known ? ut_report_u64(k->local) : none,
					 });
		}
	}
}

static void add_calls(struct ut_report *r, const struct ut_device_log *log, uint32_t source)
{
	struct ut_device_table t;

	ut_device_table_calls(&t, log, source);
	table_device_data_add_rows(r, log, &t, false);
	ut_device_table_release(&t);
}

static void table_device_data_add_work(struct ut_report *r, const struct ut_device_log *log,
				       uint32_t source, bool shapes)
{
	struct ut_device_table t;

	ut_device_table_work(&t, log, source, shapes);
	table_device_data_add_rows(r, log, &t, true);
	ut_device_table_release(&t);
}

void ut_device_rows(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_rows_view *v, const struct ut_report_opts *opts)
{
	struct ut_report *r = table_device_data_start(o, opts, &row_table);

	if (v->host)
		add_calls(r, log, v->source);
	if (v->device)
		table_device_data_add_work(r, log, v->source, v->shapes);
	ut_report_finish(r);
}

/* ---- what of it is asked for --------------------------------------------------------------- */

static const struct ut_report_opts plain_csv = { .format = UT_REPORT_CSV };

void ut_device_rows_csv(struct ut_out *o, const struct ut_device_log *log,
			const struct ut_device_rows_view *v)
{
	ut_device_rows(o, log, v, &plain_csv);
}

void ut_device_summary_csv(struct ut_out *o, const struct ut_device_log *log,
			   const struct ut_device_summary *s)
{
	ut_device_uses(o, log, s, &plain_csv);
}

void ut_device_timeline_csv(struct ut_out *o, const struct ut_device_log *log, uint32_t source)
{
	const struct ut_device_range range = ut_device_log_works(log, source);
	struct ut_report *r = table_device_data_start(o, &plain_csv, &timeline_table);
	struct ut_buf name = { 0 };

	for (size_t i = range.first; i < range.end; i++) {
		const struct ut_device_work *w = &log->works[i];
		const struct ut_device_info *d = &log->devices[w->device];

		name.len = 0;
		ut_device_shaped_name(&name, log, w);
		ut_report_add(r, (const struct ut_report_cell[]){
					 ut_report_u64(w->thread),
					 ut_report_text(ut_device_api_name(log, d->api)),
					 ut_report_u64(d->index),
					 ut_report_str((struct ut_str){ name.data, name.len }),
					 ut_report_u64(ut_device_appended(w)),
					 ut_report_u64(ut_device_submitted(w)),
					 ut_report_u64(w->start),
					 ut_report_u64(w->end),
				 });
	}
	ut_report_finish(r);
	ut_buf_release(&name);
}

static void table_device_data_put_json(struct ut_out *o, const struct ut_device_log *log,
				       const struct ut_device_summary *s,
				       struct ut_report_opts opts)
{
	const struct ut_device_rows_view calls = { .source = UT_DEVICE_ALL, .host = true };
	const struct ut_device_rows_view work = { .source = UT_DEVICE_ALL, .device = true };

	ut_out_text(o, "{\"devices\":[");
	opts.open = "";
	opts.first = "\n";
	opts.close = "],\n\"kernels\":[";
	ut_device_uses(o, log, s, &opts);
	opts.close = "],\n\"host\":[";
	ut_device_kernels(o, log, s, &opts);
	opts.close = "],\n\"device\":[";
	ut_device_rows(o, log, &calls, &opts);
	opts.close = "]}\n";
	ut_device_rows(o, log, &work, &opts);
}

void ut_device_print(struct ut_out *o, const struct ut_device_log *log,
		     const struct ut_device_summary *s, const struct ut_report_opts *opts)
{
	const struct ut_device_rows_view all = { .source = UT_DEVICE_ALL,
						 .host = true,
						 .device = true };

	if (opts->format == UT_REPORT_JSON) {
		table_device_data_put_json(o, log, s, *opts);
	} else if (opts->format == UT_REPORT_CSV) {
		ut_device_uses(o, log, s, opts);
		ut_out_text(o, "\n");
		ut_device_rows(o, log, &all, opts);
	} else {
		ut_device_summary_people(o, log, s, opts);
	}
}
