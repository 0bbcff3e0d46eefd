/*
 * table_device_data.c - the rows of device tables and the summary of devices, for programs.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/device_summary.h"
#include "analyze/device_table.h"
#include "export/table_device.h"
#include "text/cells.h"
#include "text/out.h"

static const char *const verdicts[] = { "device-bound", "host-bound", "latency-bound", "idle" };

static const char *device_name(const struct ut_device_log *log, const struct ut_device_use *u)
{
	return ut_strtab_get(&log->strings, log->devices[u->device].name).ptr;
}

static const char *host_name(const struct ut_device_log *log, const struct ut_device_use *u)
{
	return ut_strtab_get(&log->strings, log->devices[u->device].host).ptr;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

/* What calls do not have, and what only some runtimes tell of kernels, is empty. */
static void put_csv_work(struct ut_out *o, const struct ut_device_row *r, bool work)
{
	const struct ut_device_kernel *k = r->kernel;

	if (work)
		ut_out_fmt(o, ",%" PRIu64 ",%" PRIu64, r->append, r->submit);
	else
		ut_out_text(o, ",,");
	if (k && k->registers)
		ut_out_fmt(o, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", k->registers, k->shared,
			   k->local);
	else
		ut_out_text(o, ",,,\n");
}

/* A cell and its comma: names of apis that nobody knows may hold anything. */
static void put_way(struct ut_out *o, const struct ut_device_log *log, uint16_t way)
{
	const char *name = ut_device_way_name(log, way);

	if (way < UT_WAY_COUNT)
		ut_out_text(o, name);
	else
		ut_cell_csv(o, name, strlen(name));
	ut_out_text(o, ",");
}

static void put_csv_rows(struct ut_out *o, const struct ut_device_log *log,
			 const struct ut_device_table *t, const char *table)
{
	bool work = !strcmp(table, "device");

	for (size_t way = 0; way < t->section_count; way++) {
		const struct ut_device_section *s = &t->sections[way];

		for (size_t i = 0; i < s->count; i++) {
			const struct ut_device_row *r = &s->rows[i];

			ut_out_fmt(o, "%s,", table);
			put_way(o, log, (uint16_t)way);
			ut_cell_csv(o, r->name, strlen(r->name));
			ut_out_fmt(o, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
				   r->calls, r->total, r->total / r->calls, r->min, r->max);
			put_csv_work(o, r, work);
		}
	}
}

void ut_device_rows_csv(struct ut_out *o, const struct ut_device_log *log,
			const struct ut_device_rows_view *v)
{
	struct ut_device_table t;

	ut_out_text(o, "table,backend,name,calls,total_ns,average_ns,min_ns,max_ns,append_ns,"
		       "submit_ns,registers,shared_bytes,local_bytes\n");
	if (v->host) {
		ut_device_table_calls(&t, log, v->source);
		put_csv_rows(o, log, &t, "host");
		ut_device_table_release(&t);
	}
	if (v->device) {
		ut_device_table_work(&t, log, v->source, v->shapes);
		put_csv_rows(o, log, &t, "device");
		ut_device_table_release(&t);
	}
}

void ut_device_timeline_csv(struct ut_out *o, const struct ut_device_log *log, uint32_t source)
{
	const struct ut_device_range range = ut_device_log_works(log, source);
	struct ut_buf name = { 0 };

	ut_out_text(o, "thread,backend,device,name,append_ns,submit_ns,start_ns,end_ns\n");
	for (size_t i = range.first; i < range.end; i++) {
		const struct ut_device_work *w = &log->works[i];
		const struct ut_device_info *d = &log->devices[w->device];

		name.len = 0;
		ut_device_shaped_name(&name, log, w);
		ut_out_fmt(o, "%" PRIu32 ",", w->thread);
		put_way(o, log, d->way);
		ut_out_fmt(o, "%" PRIu32 ",", d->index);
		ut_cell_csv(o, name.data, name.len);
		ut_out_fmt(o, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			   ut_device_appended(w), ut_device_submitted(w), w->start, w->end);
	}
	ut_buf_release(&name);
}

void ut_device_summary_csv(struct ut_out *o, const struct ut_device_log *log,
			   const struct ut_device_summary *s)
{
	ut_out_text(o, "device,host,verdict,run_ns,window_ns,paused_ns,busy_ns,kernel_ns,copy_ns,"
		       "overlap_ns,idle_ns,starved_ns,delayed_ns,kernels,copies,fills,others,"
		       "copied_bytes,timed,latency_p50_ns,latency_p99_ns,latency_max_ns,"
		       "queue_depth_mean,queue_depth_max\n");
	for (size_t i = 0; i < s->use_count; i++) {
		const struct ut_device_use *u = &s->uses[i];
		const uint64_t numbers[] = {
			u->run,         u->window,      u->paused,      u->busy,
			u->computing,   u->copying,     u->both,        u->window - u->busy,
			u->starved,     u->delayed,     u->kernels,     u->copies,
			u->fills,       u->others,      u->bytes,       u->timed,
			u->latency_p50, u->latency_p99, u->latency_max,
		};

		ut_cell_csv(o, device_name(log, u), strlen(device_name(log, u)));
		ut_out_text(o, ",");
		ut_cell_csv(o, host_name(log, u), strlen(host_name(log, u)));
		ut_out_fmt(o, ",%s", verdicts[u->verdict]);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
			ut_out_fmt(o, ",%" PRIu64, numbers[k]);
		ut_out_fmt(o, ",%.3f,%" PRIu64 "\n", u->depth_mean, u->depth_max);
	}
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_key(struct ut_out *o, const char *key, uint64_t value)
{
	ut_out_fmt(o, ",\"%s\":%" PRIu64, key, value);
}

static void put_text(struct ut_out *o, const char *key, const char *text)
{
	ut_out_fmt(o, "\"%s\":", key);
	ut_out_json_str(o, text, strlen(text));
}

static void put_use(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_use *u)
{
	ut_out_text(o, "{");
	put_text(o, "device", device_name(log, u));
	if (log->devices[u->device].host) {
		ut_out_text(o, ",");
		put_text(o, "host", host_name(log, u));
	}
	ut_out_fmt(o, ",\"verdict\":\"%s\"", verdicts[u->verdict]);
	put_key(o, "run_ns", u->run);
	put_key(o, "window_ns", u->window);
	put_key(o, "paused_ns", u->paused);
	put_key(o, "busy_ns", u->busy);
	put_key(o, "kernel_ns", u->computing);
	put_key(o, "copy_ns", u->copying);
	put_key(o, "overlap_ns", u->both);
	put_key(o, "idle_ns", u->window - u->busy);
	put_key(o, "starved_ns", u->starved);
	put_key(o, "delayed_ns", u->delayed);
	put_key(o, "kernels", u->kernels);
	put_key(o, "copies", u->copies);
	put_key(o, "fills", u->fills);
	put_key(o, "others", u->others);
	put_key(o, "copied_bytes", u->bytes);
	put_key(o, "timed", u->timed);
	put_key(o, "latency_p50_ns", u->latency_p50);
	put_key(o, "latency_p99_ns", u->latency_p99);
	put_key(o, "latency_max_ns", u->latency_max);
	ut_out_fmt(o, ",\"queue_depth_mean\":%.3f", u->depth_mean);
	put_key(o, "queue_depth_max", u->depth_max);
	ut_out_text(o, "}");
}

static void put_top(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_top *t)
{
	ut_out_text(o, "{");
	put_text(o, "kernel", ut_strtab_get(&log->strings, t->name).ptr);
	put_key(o, "calls", t->calls);
	put_key(o, "total_ns", t->total);
	put_key(o, "min_ns", t->min);
	put_key(o, "max_ns", t->max);
	if (t->task) {
		ut_out_text(o, ",");
		put_text(o, "task", ut_strtab_get(&log->strings, t->task).ptr);
		put_key(o, "task_ns", t->task_total);
	}
	ut_out_text(o, "}");
}

static void put_json_row(struct ut_out *o, const struct ut_device_row *r, const char *way,
			 bool work)
{
	ut_out_text(o, "{");
	put_text(o, "backend", way);
	ut_out_text(o, ",");
	put_text(o, "name", r->name);
	put_key(o, "calls", r->calls);
	put_key(o, "total_ns", r->total);
	put_key(o, "average_ns", r->total / r->calls);
	put_key(o, "min_ns", r->min);
	put_key(o, "max_ns", r->max);
	if (work) {
		put_key(o, "append_ns", r->append);
		put_key(o, "submit_ns", r->submit);
	}
	if (r->kernel && r->kernel->registers) {
		put_key(o, "registers", r->kernel->registers);
		put_key(o, "shared_bytes", r->kernel->shared);
		put_key(o, "local_bytes", r->kernel->local);
	}
	ut_out_text(o, "}");
}

static void put_json_table(struct ut_out *o, const struct ut_device_log *log,
			   const struct ut_device_table *t, bool work)
{
	const char *comma = "\n";

	ut_out_fmt(o, "],\n\"%s\":[", work ? "device" : "host");
	for (size_t way = 0; way < t->section_count; way++) {
		for (size_t i = 0; i < t->sections[way].count; i++, comma = ",\n") {
			ut_out_text(o, comma);
			put_json_row(o, &t->sections[way].rows[i],
				     ut_device_way_name(log, (uint16_t)way), work);
		}
	}
}

void ut_device_json(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_summary *s)
{
	struct ut_device_table t;

	ut_out_text(o, "{\"devices\":[");
	for (size_t i = 0; i < s->use_count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		put_use(o, log, &s->uses[i]);
	}
	ut_out_text(o, "],\n\"kernels\":[");
	for (size_t i = 0; i < s->top_count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		put_top(o, log, &s->tops[i]);
	}
	ut_device_table_calls(&t, log, UT_DEVICE_ALL);
	put_json_table(o, log, &t, false);
	ut_device_table_release(&t);
	ut_device_table_work(&t, log, UT_DEVICE_ALL, false);
	put_json_table(o, log, &t, true);
	ut_device_table_release(&t);
	ut_out_text(o, "]}\n");
}
