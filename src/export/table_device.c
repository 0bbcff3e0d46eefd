#include "export/table_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_table.h"
#include "export/cells.h"
#include "export/out.h"

#define ANY_WIDTH 100000u

/* ---- what the tables share ----------------------------------------------------------------- */

/* How Intel's tool lays out a table; OpenCL's has no blanks and no quotes. */
struct layout {
	const char *comma, *quote;
	int percent_width, percent_digits;
};

static bool is_opencl(enum ut_device_api api)
{
	return api == UT_API_CL_CPU || api == UT_API_CL_GPU || api == UT_API_CL_OTHER;
}

static float percent(uint64_t part, uint64_t all)
{
	return all ? 100.0f * (float)part / (float)all : 0.0f;
}

static size_t widest(const struct ut_device_section *s, const char *title, const char *quote)
{
	size_t columns = strlen(title);

	for (size_t i = 0; i < s->count; i++) {
		size_t n = ut_cell_columns(s->rows[i].name, strlen(s->rows[i].name)) +
			   2 * strlen(quote);

		columns = n > columns ? n : columns;
	}
	return columns;
}

static void put_name(struct ut_out *o, const char *name, const char *quote, size_t columns)
{
	struct ut_buf cell = { 0 };
	size_t used = ut_cell_name(&cell, name, strlen(name), ANY_WIDTH) + 2 * strlen(quote);

	ut_out_fmt(o, "%*s%s", used < columns ? (int)(columns - used) : 0, "", quote);
	ut_out_write(o, cell.data, cell.len);
	ut_out_text(o, quote);
	ut_buf_release(&cell);
}

static uint64_t total_of(const struct ut_device_table *t)
{
	uint64_t total = 0;

	for (size_t i = 0; i < UT_API_COUNT; i++)
		total += t->sections[i].total;
	return total;
}

/* "=== Device Timing Summary ===" and the totals; what is "API" or "Device". */
static void put_head(struct ut_out *o, const struct ut_device_table *t, const char *title,
		     const char *what)
{
	size_t longest = strlen("CL GPU");

	for (int i = 0; i < UT_API_COUNT; i++) {
		size_t len = strlen(ut_device_api_name((enum ut_device_api)i));

		longest = t->sections[i].total && len > longest ? len : longest;
	}
	longest += strlen(what) + strlen("Total  Time for  backend (ns):");
	ut_out_fmt(o, "\n=== %s ===\n\n%*s %20" PRIu64 "\n", title, (int)longest,
		   "Total Execution Time (ns):", t->execution);
	for (int i = 0; i < UT_API_COUNT; i++) {
		const char *api = ut_device_api_name((enum ut_device_api)i);
		size_t used = strlen(api) + strlen(what) + strlen("Total  Time for  backend (ns):");

		if (t->sections[i].total)
			ut_out_fmt(o, "%*sTotal %s Time for %s backend (ns): %20" PRIu64 "\n",
				   (int)(longest - used), "", what, api, t->sections[i].total);
	}
}

static void put_section_head(struct ut_out *o, int api)
{
	ut_out_fmt(o, "\n== %s Backend ==\n\n", ut_device_api_name((enum ut_device_api)api));
}

/* ---- -h and -d ----------------------------------------------------------------------------- */

static void put_times(struct ut_out *o, const struct ut_device_section *s, const char *title,
		      const struct layout *l)
{
	size_t columns = widest(s, title, l->quote);
	const char *c = l->comma;

	ut_out_fmt(o, "%*s%s%12s%s%20s%s%*s", (int)columns, title, c, "Calls", c, "Time (ns)", c,
		   l->percent_width, "Time (%)");
	ut_out_fmt(o, "%s%20s%s%20s%s%20s\n", c, "Average (ns)", c, "Min (ns)", c, "Max (ns)");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_row *r = &s->rows[i];

		put_name(o, r->name, l->quote, columns);
		ut_out_fmt(o, "%s%12" PRIu64 "%s%20" PRIu64 "%s%*.*f", c, r->calls, c, r->total, c,
			   l->percent_width, l->percent_digits,
			   (double)percent(r->total, s->total));
		ut_out_fmt(o, "%s%20" PRIu64 "%s%20" PRIu64 "%s%20" PRIu64 "\n", c,
			   r->total / r->calls, c, r->min, c, r->max);
	}
}

static const struct layout opencl_layout = { ",", "", 12, 2 };

void ut_table_host_timing(struct ut_out *o, const struct ut_device_log *log, uint32_t source)
{
	static const struct layout usual = { ", ", "", 13, 6 };
	struct ut_device_table t;

	ut_device_table_calls(&t, log, source);
	if (total_of(&t)) {
		put_head(o, &t, "API Timing Summary", "API");
		for (int i = 0; i < UT_API_COUNT; i++) {
			if (!t.sections[i].total)
				continue;
			put_section_head(o, i);
			put_times(o, &t.sections[i], "Function",
				  is_opencl((enum ut_device_api)i) ? &opencl_layout : &usual);
		}
		ut_out_text(o, "\n\n");
	}
	ut_device_table_release(&t);
}

/* A number, or "unknown" for 0, which no kernel has. */
static void put_known(struct ut_out *o, int width, uint64_t value)
{
	if (value)
		ut_out_fmt(o, ", %*" PRIu64, width, value);
	else
		ut_out_fmt(o, ", %*s", width, "unknown");
}

static void put_properties(struct ut_out *o, const struct ut_device_section *s)
{
	size_t columns = widest(s, "Kernel", "\"");

	ut_out_text(o, "\n\n=== Kernel Properties ===\n\n");
	ut_out_fmt(o,
		   "%*s, Compiled, SIMD, Number of Arguments, SLM Per Work Group, Private Memory "
		   "Per Thread, Spill Memory Per Thread, Register File Size Per Thread\n",
		   (int)columns, "Kernel");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_kernel *k = s->rows[i].kernel;

		if (!k)
			continue;
		put_name(o, s->rows[i].name, "\"", columns);
		/* Of what CUPTI does not tell we say so. */
		ut_out_fmt(o, ", %8s, %4s, %19s", "unknown", "32", "unknown");
		ut_out_fmt(o, ", %18" PRIu64 ", %25" PRIu64 ", %23s", k->shared, k->local,
			   "unknown");
		put_known(o, 29, k->registers);
		ut_out_text(o, "\n");
	}
}

static bool has_kernels(const struct ut_device_section *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->rows[i].kernel)
			return true;
	}
	return false;
}

void ut_table_device_timing(struct ut_out *o, const struct ut_device_log *log, uint32_t source,
			    bool shapes)
{
	static const struct layout usual = { ", ", "\"", 12, 6 };
	struct ut_device_table t;

	ut_device_table_work(&t, log, source, shapes);
	if (total_of(&t)) {
		put_head(o, &t, "Device Timing Summary", "Device");
		for (int i = 0; i < UT_API_COUNT; i++) {
			if (!t.sections[i].total)
				continue;
			put_section_head(o, i);
			put_times(o, &t.sections[i], "Kernel",
				  is_opencl((enum ut_device_api)i) ? &opencl_layout : &usual);
		}
		if (has_kernels(&t.sections[UT_API_CUDA]))
			put_properties(o, &t.sections[UT_API_CUDA]);
		ut_out_text(o, "\n\n");
	}
	ut_device_table_release(&t);
}

/* ---- -s ------------------------------------------------------------------------------------ */

static void put_submission(struct ut_out *o, const struct ut_device_section *s, bool opencl)
{
	const char *c = opencl ? "," : ", ", *quote = opencl ? "" : "\"";
	size_t columns = widest(s, "Kernel", quote);
	int digits = opencl ? 2 : 6;

	ut_out_fmt(o, "%*s%s%12s%s%20s%s%11s", (int)columns, "Kernel", c, "Calls", c,
		   opencl ? "Queued (ns)" : "Append (ns)", c, opencl ? "Queued (%)" : "Append (%)");
	ut_out_fmt(o, "%s%20s%s%11s%s%20s%s%12s\n", c, "Submit (ns)", c, "Submit (%)", c,
		   "Execute (ns)", c, "Execute (%)");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_row *r = &s->rows[i];

		put_name(o, r->name, quote, columns);
		ut_out_fmt(o, "%s%12" PRIu64 "%s%20" PRIu64 "%s%11.*f", c, r->calls, c, r->append,
			   c, digits, (double)percent(r->append, s->append));
		ut_out_fmt(o, "%s%20" PRIu64 "%s%11.*f", c, r->submit, c, digits,
			   (double)percent(r->submit, s->submit));
		ut_out_fmt(o, "%s%20" PRIu64 "%s%12.*f\n", c, r->total, c, digits,
			   (double)percent(r->total, s->total));
	}
}

void ut_table_submission(struct ut_out *o, const struct ut_device_log *log, uint32_t source,
			 bool shapes)
{
	struct ut_device_table t;

	ut_device_table_work(&t, log, source, shapes);
	if (total_of(&t)) {
		put_head(o, &t, "Kernel Submission Summary", "Device");
		for (int i = 0; i < UT_API_COUNT; i++) {
			if (!t.sections[i].total)
				continue;
			put_section_head(o, i);
			put_submission(o, &t.sections[i], is_opencl((enum ut_device_api)i));
		}
		ut_out_text(o, "\n\n");
	}
	ut_device_table_release(&t);
}

/* ---- -t ------------------------------------------------------------------------------------ */

static void put_work_line(struct ut_out *o, const struct ut_device_log *log,
			  const struct ut_device_work *w, struct ut_buf *name)
{
	const struct ut_device_info *d = &log->devices[w->device];
	bool opencl = is_opencl(d->api);
	/* What is not known happened at once, as the tables have it. */
	uint64_t submitted = w->submitted ? w->submitted : w->start;
	uint64_t queued = w->queued ? w->queued : submitted;

	name->len = 0;
	if (opencl) {
		struct ut_str s = ut_strtab_get(&log->strings, w->name);

		ut_buf_add(name, s.ptr, s.len);
	} else {
		ut_device_shaped_name(name, log, w);
	}
	ut_buf_char(name, '\0');
	ut_out_fmt(o, opencl ? "Thread %u Device 0x%x : " : "Thread %u Device %u : ", w->thread,
		   d->index);
	put_name(o, name->data, opencl ? "" : "\"", 0);
	ut_out_fmt(o, " [ns] %" PRIu64 " (append) %" PRIu64 " (submit)", queued, submitted);
	ut_out_fmt(o, " %" PRIu64 " (start) %" PRIu64 " (end)\n", w->start, w->end);
}

void ut_table_device_timeline(struct ut_out *o, const struct ut_device_log *log, uint32_t source)
{
	struct ut_buf name = { 0 };

	for (size_t i = 0; i < log->work_count; i++) {
		if (source == UT_DEVICE_ALL || log->works[i].source == source)
			put_work_line(o, log, &log->works[i], &name);
	}
	ut_buf_release(&name);
}

/* ---- -c ------------------------------------------------------------------------------------ */

struct call_log {
	struct ut_out *out;
	const struct ut_device_log *log;
	bool pid, tid;
};

static void put_call_start(const struct call_log *l, const struct ut_device_call *c,
			   const char *arrow, uint64_t time)
{
	ut_out_fmt(l->out, "%s [%" PRIu64 "] ", arrow, time);
	if (l->pid)
		ut_out_fmt(l->out, "<PID:%" PRIu64 "> ", l->log->sources[c->source].pid);
	if (l->tid)
		ut_out_fmt(l->out, "<TID:%u> ", c->thread);
}

/* Names of a program's own may be among the arguments. */
static void put_clean(struct ut_out *o, const struct ut_device_log *log, uint32_t id)
{
	put_name(o, ut_strtab_get(&log->strings, id).ptr, "", 0);
}

static void put_call(const struct call_log *l, const struct ut_device_call *c, bool ends)
{
	put_call_start(l, c, ends ? "<<<<" : ">>>>", ends ? c->end : c->start);
	put_clean(l->out, l->log, c->name);
	if (ends)
		ut_out_fmt(l->out, " [%" PRIu64 " ns]", c->end - c->start);
	else
		ut_out_text(l->out, ":");
	if (ends ? c->result : c->args) {
		ut_out_text(l->out, ends ? " -> " : " ");
		put_clean(l->out, l->log, ends ? c->result : c->args);
	}
	ut_out_text(l->out, "\n");
}

/* Calls that are open, the one that ends first on top: a heap by end. */
struct open_calls {
	const struct ut_device_call **items;
	size_t count;
};

static bool ends_before(const struct ut_device_call *a, const struct ut_device_call *b)
{
	return a->end != b->end ? a->end < b->end : a->start > b->start;
}

static void push(struct open_calls *h, const struct ut_device_call *c)
{
	size_t i = h->count++;

	for (; i && ends_before(c, h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = c;
}

static const struct ut_device_call *pop(struct open_calls *h)
{
	const struct ut_device_call *top = h->items[0], *last = h->items[--h->count];
	size_t i = 0;

	for (size_t child = 1; child < h->count; child = 2 * i + 1) {
		if (child + 1 < h->count && ends_before(h->items[child + 1], h->items[child]))
			child++;
		if (!ends_before(h->items[child], last))
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = last;
	return top;
}

void ut_table_call_log(struct ut_out *o, const struct ut_device_log *log, uint32_t source, bool pid,
		       bool tid)
{
	const struct call_log l = { o, log, pid, tid };
	struct ut_arena arena = { 0 };
	struct open_calls open = { .items = UT_NEW_N(&arena, const struct ut_device_call *,
						     log->each_count + 1) };

	for (size_t i = 0; i < log->each_count; i++) {
		const struct ut_device_call *c = &log->each_call[i];

		if (source != UT_DEVICE_ALL && c->source != source)
			continue;
		while (open.count && open.items[0]->end <= c->start)
			put_call(&l, pop(&open), true);
		put_call(&l, c, false);
		push(&open, c);
	}
	while (open.count)
		put_call(&l, pop(&open), true);
	ut_arena_release(&arena);
}
