#include "report/compat_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_table.h"
#include "text/cells.h"
#include "text/out.h"

#define ANY_WIDTH 100000u

/* ---- what the tables share ----------------------------------------------------------------- */

/* How Intel's tool lays out a table; OpenCL's has no blanks and no quotes. */
struct layout {
	const char *comma, *quote;
	int percent_width, percent_digits;
	size_t least, most; /* columns of names, without quotes; most 0 = all of a name */
};

static bool is_compact(const struct ut_device_log *log, size_t api)
{
	return ut_device_api_traits(log, (uint16_t)api)->compact;
}

static float percent(uint64_t part, uint64_t all)
{
	return all ? 100.0f * (float)part / (float)all : 0.0f;
}

/*
 * A title may be wider: the original does not make room for it. It does make room for any name;
 * those of templates would leave thousands of blanks in front of the others.
 */
static size_t widest(const struct ut_device_section *s, const struct layout *l)
{
	size_t columns = l->least;
	size_t most = l->most ? l->most : UT_CELL_PAD;

	for (size_t i = 0; i < s->count; i++) {
		size_t n = ut_cell_columns(s->rows[i].name, strlen(s->rows[i].name));

		n = (n > most ? most : n) + 2 * strlen(l->quote);
		columns = n > columns ? n : columns;
	}
	return columns;
}

static void compat_device_put_name(struct ut_out *o, const char *name, const struct layout *l,
				   size_t columns)
{
	struct ut_buf cell = { 0 };
	size_t most = l->most ? l->most : ANY_WIDTH;
	size_t used = ut_cell_name(&cell, name, strlen(name), most) + 2 * strlen(l->quote);

	ut_out_fmt(o, "%*s%s", used < columns ? (int)(columns - used) : 0, "", l->quote);
	ut_out_write(o, cell.data, cell.len);
	ut_out_text(o, l->quote);
	ut_buf_release(&cell);
}

static uint64_t total_of(const struct ut_device_table *t)
{
	uint64_t total = 0;

	for (size_t i = 0; i < t->section_count; i++)
		total += t->sections[i].total;
	return total;
}

/* "=== Device Timing Summary ===" and the totals; what is "API" or "Device". */
static void compat_device_put_head(struct ut_out *o, const struct ut_device_log *log,
				   const struct ut_device_table *t, const char *title,
				   const char *what)
{
	size_t longest = strlen("CL GPU");

	for (size_t i = 0; i < t->section_count; i++) {
		size_t len = strlen(ut_device_api_name(log, (uint16_t)i));

		longest = t->sections[i].total && len > longest ? len : longest;
	}
	longest += strlen(what) + strlen("Total  Time for  backend (ns):");
	ut_out_fmt(o, "\n=== %s ===\n\n%*s %20" PRIu64 "\n", title, (int)longest,
		   "Total Execution Time (ns):", t->execution);
	for (size_t i = 0; i < t->section_count; i++) {
		const char *api = ut_device_api_name(log, (uint16_t)i);
		size_t used = strlen(api) + strlen(what) + strlen("Total  Time for  backend (ns):");

		if (t->sections[i].total)
			ut_out_fmt(o, "%*sTotal %s Time for %s backend (ns): %20" PRIu64 "\n",
				   (int)(longest - used), "", what, api, t->sections[i].total);
	}
}

static void put_section_head(struct ut_out *o, const struct ut_device_log *log, size_t api)
{
	ut_out_fmt(o, "\n== %s Backend ==\n\n", ut_device_api_name(log, (uint16_t)api));
}

/* ---- -h and -d ----------------------------------------------------------------------------- */

static void put_times(struct ut_out *o, const struct ut_device_section *s, const char *title,
		      const struct layout *l)
{
	size_t columns = widest(s, l);
	const char *c = l->comma;

	ut_out_fmt(o, "%*s%s%12s%s%20s%s%*s", (int)columns, title, c, "Calls", c, "Time (ns)", c,
		   l->percent_width, "Time (%)");
	ut_out_fmt(o, "%s%20s%s%20s%s%20s\n", c, "Average (ns)", c, "Min (ns)", c, "Max (ns)");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_row *r = &s->rows[i];

		compat_device_put_name(o, r->name, l, columns);
		ut_out_fmt(o, "%s%12" PRIu64 "%s%20" PRIu64 "%s%*.*f", c, r->calls, c, r->total, c,
			   l->percent_width, l->percent_digits,
			   (double)percent(r->total, s->total));
		ut_out_fmt(o, "%s%20" PRIu64 "%s%20" PRIu64 "%s%20" PRIu64 "\n", c,
			   r->total / r->calls, c, r->min, c, r->max);
	}
}

static const struct layout calls_layout = { ", ", "", 13, 6, 0, 0 };
static const struct layout work_layout = { ", ", "\"", 12, 6, 0, 0 };
static const struct layout opencl_layout = { ",", "", 12, 2, 10, 0 };

static struct layout layout_of(const struct ut_device_log *log, size_t api,
			       const struct layout *usual, const struct ut_device_view *v)
{
	struct layout l = is_compact(log, api) ? opencl_layout : *usual;

	l.most = v->name_columns;
	return l;
}

void ut_table_host_timing(struct ut_out *o, const struct ut_device_log *log,
			  const struct ut_device_view *v)
{
	struct ut_device_table t;

	ut_device_table_calls(&t, log, v->source);
	if (total_of(&t)) {
		compat_device_put_head(o, log, &t, "API Timing Summary", "API");
		for (size_t i = 0; i < t.section_count; i++) {
			const struct layout l = layout_of(log, i, &calls_layout, v);

			if (!t.sections[i].total)
				continue;
			put_section_head(o, log, i);
			put_times(o, &t.sections[i], "Function", &l);
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

/* What the API does not tell is unknown. */
static void compat_device_put_kernel(struct ut_out *o, const struct ut_device_log *log,
				     const struct ut_device_kernel *k,
				     const struct ut_api_traits *api)
{
	uint32_t lanes = api->lanes ? api->lanes : k->simd;

	ut_out_fmt(o, ", %8s",
		   api->arguments && k->compiled ? ut_strtab_get(&log->strings, k->compiled).ptr
						 : "unknown");
	if (lanes == 1)
		ut_out_fmt(o, ", %4s", "ANY");
	else
		put_known(o, 4, lanes);
	if (api->arguments)
		ut_out_fmt(o, ", %19" PRIu64, k->arguments);
	else
		ut_out_fmt(o, ", %19s", "unknown");
	ut_out_fmt(o, ", %18" PRIu64 ", %25" PRIu64, k->shared, k->local);
	if (api->arguments)
		ut_out_fmt(o, ", %23" PRIu64, k->spill);
	else
		ut_out_fmt(o, ", %23s", "unknown");
	put_known(o, 29, k->registers);
}

static void put_properties(struct ut_out *o, const struct ut_device_log *log,
			   const struct ut_device_section *s, const struct layout *l,
			   const struct ut_api_traits *api)
{
	size_t columns = widest(s, l);

	ut_out_text(o, "\n\n=== Kernel Properties ===\n\n");
	ut_out_fmt(o,
		   "%*s, Compiled, SIMD, Number of Arguments, SLM Per Work Group, Private Memory "
		   "Per Thread, Spill Memory Per Thread, Register File Size Per Thread\n",
		   (int)columns, "Kernel");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_kernel *k = s->rows[i].kernel;

		if (!k)
			continue;
		compat_device_put_name(o, s->rows[i].name, l, columns);
		compat_device_put_kernel(o, log, k, api);
		ut_out_text(o, "\n");
	}
}

void ut_table_device_timing(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_view *v)
{
	struct ut_device_table t;

	ut_device_table_work(&t, log, v->source, v->shapes);
	if (total_of(&t)) {
		compat_device_put_head(o, log, &t, "Device Timing Summary", "Device");
		for (size_t i = 0; i < t.section_count; i++) {
			const struct ut_api_traits *api = ut_device_api_traits(log, (uint16_t)i);
			const struct layout l = layout_of(log, i, &work_layout, v);

			if (!t.sections[i].total)
				continue;
			put_section_head(o, log, i);
			put_times(o, &t.sections[i], "Kernel", &l);
			if (api->properties)
				put_properties(o, log, &t.sections[i], &l, api);
		}
		ut_out_text(o, "\n\n");
	}
	ut_device_table_release(&t);
}

/* ---- -s ------------------------------------------------------------------------------------ */

/* OpenCL's has wider shares, and a comma at the end of each line, too. */
static void put_submission(struct ut_out *o, const struct ut_device_section *s,
			   const struct layout *l, bool opencl)
{
	const char *c = l->comma, *last = opencl ? "," : "";
	size_t columns = widest(s, l);
	int digits = l->percent_digits, width = opencl ? l->percent_width : 11;

	ut_out_fmt(o, "%*s%s%12s%s%20s%s%*s", (int)columns, "Kernel", c, "Calls", c,
		   opencl ? "Queued (ns)" : "Append (ns)", c, width,
		   opencl ? "Queued (%)" : "Append (%)");
	ut_out_fmt(o, "%s%20s%s%*s%s%20s%s%12s%s\n", c, "Submit (ns)", c, width, "Submit (%)", c,
		   "Execute (ns)", c, "Execute (%)", last);
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_row *r = &s->rows[i];

		compat_device_put_name(o, r->name, l, columns);
		ut_out_fmt(o, "%s%12" PRIu64 "%s%20" PRIu64 "%s%*.*f", c, r->calls, c, r->append, c,
			   width, digits, (double)percent(r->append, s->append));
		ut_out_fmt(o, "%s%20" PRIu64 "%s%*.*f", c, r->submit, c, width, digits,
			   (double)percent(r->submit, s->submit));
		ut_out_fmt(o, "%s%20" PRIu64 "%s%12.*f%s\n", c, r->total, c, digits,
			   (double)percent(r->total, s->total), last);
	}
}

void ut_table_submission(struct ut_out *o, const struct ut_device_log *log,
			 const struct ut_device_view *v)
{
	struct ut_device_table t;

	ut_device_table_work(&t, log, v->source, v->shapes);
	if (total_of(&t)) {
		compat_device_put_head(o, log, &t, "Kernel Submission Summary", "Device");
		for (size_t i = 0; i < t.section_count; i++) {
			const struct layout l = layout_of(log, i, &work_layout, v);

			if (!t.sections[i].total)
				continue;
			put_section_head(o, log, i);
			put_submission(o, &t.sections[i], &l, is_compact(log, i));
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
	bool opencl = is_compact(log, d->api);

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
	compat_device_put_name(o, name->data, opencl ? &opencl_layout : &work_layout, 0);
	ut_out_fmt(o, " [ns] %" PRIu64 " (append) %" PRIu64 " (submit)", ut_device_appended(w),
		   ut_device_submitted(w));
	ut_out_fmt(o, " %" PRIu64 " (start) %" PRIu64 " (end)\n", w->start, w->end);
}

void ut_table_device_timeline(struct ut_out *o, const struct ut_device_log *log, uint32_t source)
{
	const struct ut_device_range range = ut_device_log_works(log, source);
	struct ut_buf name = { 0 };

	for (size_t i = range.first; i < range.end; i++)
		put_work_line(o, log, &log->works[i], &name);
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
	compat_device_put_name(o, ut_strtab_get(&log->strings, id).ptr, &calls_layout, 0);
}

static void compat_device_put_call(const struct call_log *l, const struct ut_device_call *c,
				   bool ends)
{
	put_call_start(l, c, ends ? "<<<<" : ">>>>", ends ? c->end : c->start);
	put_clean(l->out, l->log, c->name);
	if (ends)
		ut_out_fmt(l->out, " [%" PRIu64 " ns]", c->end - c->start);
	else
		ut_out_text(l->out, ":");
	if (ends ? c->result : c->args) {
		ut_out_text(l->out, " ");
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

static void compat_device_push(struct open_calls *h, const struct ut_device_call *c)
{
	size_t i = h->count++;

	for (; i && ends_before(c, h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = c;
}

static const struct ut_device_call *compat_device_pop(struct open_calls *h)
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
	const struct ut_device_range range = ut_device_log_each_call(log, source);
	const struct call_log l = { o, log, pid, tid };
	struct ut_arena arena = { 0 };
	struct open_calls open = { .items = UT_NEW_N(&arena, const struct ut_device_call *,
						     range.end - range.first + 1) };

	for (size_t i = range.first; i < range.end; i++) {
		const struct ut_device_call *c = &log->each_call[i];

		while (open.count && open.items[0]->end <= c->start)
			compat_device_put_call(&l, compat_device_pop(&open), true);
		compat_device_put_call(&l, c, false);
		compat_device_push(&open, c);
	}
	while (open.count)
		compat_device_put_call(&l, compat_device_pop(&open), true);
	ut_arena_release(&arena);
}
