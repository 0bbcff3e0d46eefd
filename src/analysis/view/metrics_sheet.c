#include "view/metrics_sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_log.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "metrics/kernel_facts.h"
#include "metrics/kernel_measures.h"
#include "metrics/roofline_words.h"
#include "model/store.h"
#include "text/out.h"
#include "view/attached.h"
#include "view/kernel_code.h"
#include "view/memory_sheet.h"
#include "view/roofline_sheet.h"
#include "view/sheet.h"
#include "view/view_kernels.h"
#include "view/view_parts.h"

#define TOOL         "metrics"
#define MOST_KERNELS 5000u
#define MOST_STALLED 200u  /* kernels whose instructions are listed */
#define MOST_LISTED  1000u /* instructions of one of them */
#define MOST_TITLES  256u
#define REASONS      6u /* columns of reasons: the most frequent ones */
#define NAME_MOST    80u

/* What is known of one trace. */
struct part {
	const struct ut_device_log *log;
	const struct ut_kernel_set *set;
	struct ut_kernel_measures m;
	const struct ut_device_work **first; /* launch of each variant */
	size_t title_of[MOST_TITLES];        /* 1 + its own title, by title of all */
};

/* A row of the table. */
struct row {
	uint64_t total;
	uint32_t part, variant;
};

/* All traces together. */
struct measures {
	struct ut_arena arena;
	struct part *parts;
	size_t part_count;
	struct ut_str titles[MOST_TITLES]; /* that any row has a value of */
	size_t title_count;
	struct row *rows; /* the one with most time first */
	size_t row_count, row_cap;
	uint64_t total;
	struct ut_roof roof;
	struct ut_strtab names; /* of its kernels */
	struct ut_idmap roof_rows;
};

/* ---- gathering ------------------------------------------------------------------------------ */

static bool has_values(const struct part *p, size_t title)
{
	for (size_t v = 0; v < p->set->count; v++) {
		if (!isnan(p->m.means[v * p->m.title_count + title]))
			return true;
	}
	return false;
}

static void add_titles(struct measures *all, struct part *p)
{
	for (size_t i = 0; i < p->m.title_count; i++) {
		size_t at = 0;

		if (!has_values(p, i))
			continue;
		while (at < all->title_count && !ut_str_eq(all->titles[at], p->m.titles[i]))
			at++;
		if (at == MOST_TITLES)
			continue;
		if (at == all->title_count)
			all->titles[all->title_count++] = p->m.titles[i];
		p->title_of[at] = i + 1;
	}
}

static void metrics_sheet_add_rows(struct measures *all, uint32_t number)
{
	const struct part *p = &all->parts[number];

	for (uint32_t v = 0; v < p->set->count; v++) {
		all->rows =
			ut_grow(all->rows, all->row_count + 1, &all->row_cap, sizeof(*all->rows));
		all->rows[all->row_count++] = (struct row){ p->set->variants[v].total, number, v };
		all->total += p->set->variants[v].total;
	}
}

/* One roof for all: the same kernels of several ranks are one. */
static void add_roof(struct measures *all, const struct part *p)
{
	for (size_t i = 0; i < p->m.roof.count; i++) {
		all->roof.device = p->m.roof.device;
		ut_roof_add(&all->roof, 0, p->m.roof.kernels[i].name,
			    &p->m.roof.kernels[i].runs[0]);
	}
}

static int metrics_sheet_by_total(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = (x->total < y->total) - (x->total > y->total);

	if (!order)
		order = (x->part > y->part) - (x->part < y->part);
	return order ? order : (x->variant > y->variant) - (x->variant < y->variant);
}

static void read_part(struct part *p, struct ut_view *v, size_t trace, struct ut_arena *a)
{
	const struct ut_view_kernels *k = ut_view_kernels_take(v, trace);

	p->log = &k->log;
	p->set = &k->set;
	ut_kernel_measures_make(&p->m, v->traces[trace].store, p->log, p->set);
	p->first = UT_NEW_N(a, const struct ut_device_work *, p->set->count + 1);
	for (size_t i = p->log->work_count; i-- > 0;) {
		if (p->set->of_work[i])
			p->first[p->set->of_work[i] - 1] = &p->log->works[i];
	}
}

static void metrics_sheet_gather(struct measures *all, struct ut_view *v)
{
	*all = (struct measures){ .part_count = v->trace_count };
	all->parts = UT_NEW_N(&all->arena, struct part, v->trace_count + 1);
	for (size_t i = 0; i < v->trace_count; i++) {
		read_part(&all->parts[i], v, i, &all->arena);
		add_titles(all, &all->parts[i]);
		metrics_sheet_add_rows(all, (uint32_t)i);
		add_roof(all, &all->parts[i]);
	}
	ut_sort(all->rows, all->row_count, sizeof(*all->rows), metrics_sheet_by_total);
	ut_roof_place(&all->roof);
	ut_strtab_init(&all->names, &all->arena);
	for (size_t i = 0; i < all->roof.count; i++) {
		struct ut_str name = all->roof.kernels[i].name;

		ut_idmap_put(&all->roof_rows, ut_strtab_intern(&all->names, name.ptr, name.len),
			     (uint32_t)i + 1);
	}
}

static void metrics_sheet_release(struct measures *all, struct ut_view *v)
{
	for (size_t i = 0; i < all->part_count; i++) {
		ut_kernel_measures_release(&all->parts[i].m);
		ut_view_kernels_drop(v, i);
	}
	all->roof.device = (struct ut_roof_device){ 0 }; /* a part's */
	ut_roof_release(&all->roof);
	ut_idmap_release(&all->roof_rows);
	free(all->rows);
	ut_arena_release(&all->arena);
}

/* Its kernel under the roof; NULL = it has none. */
static const struct ut_roof_kernel *roof_of(struct measures *all, const struct row *r)
{
	const struct part *p = &all->parts[r->part];
	uint32_t own = p->m.roof_of[r->variant], at;
	struct ut_str name;

	if (!own)
		return NULL;
	name = p->m.roof.kernels[own - 1].name;
	at = ut_idmap_get(&all->roof_rows, ut_strtab_intern(&all->names, name.ptr, name.len));
	return at ? &all->roof.kernels[at - 1] : NULL;
}

/* ---- the table of kernels ------------------------------------------------------------------- */

enum {
	OWN_COLUMNS = 10
};

static const char *metrics_sheet_type_of(struct ut_str unit)
{
	if (ut_str_is(unit, "%") || ut_str_is(unit, "percent")) /* NVIDIA's and Intel's */
		return "share";
	if (ut_str_is(unit, "bytes"))
		return "bytes";
	if (ut_str_is(unit, "ns"))
		return "time";
	return "number";
}

/* Names of NVIDIA's end in what their unit says already. */
static struct ut_str metrics_sheet_short_name(struct ut_str name)
{
	static const char *const ends[] = { ".avg.pct_of_peak_sustained_elapsed",
					    ".avg.pct_of_peak_sustained_active",
					    ".avg.per_second",
					    ".avg",
					    ".sum",
					    ".pct",
					    ".ratio" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ut_str_has_end(name, ends[i])) {
			name.len -= strlen(ends[i]);
			break;
		}
	}
	return name;
}

/* "dram__bytes_read.sum[bytes]": the unit stands beside the title where the type has none. */
static struct ut_sheet_column metrics_sheet_column_of(struct ut_arena *a, struct ut_str title)
{
	struct ut_str unit = ut_measure_unit(title),
		      name = metrics_sheet_short_name(ut_measure_name(title));
	struct ut_sheet_column c = { .key = ut_arena_copy(a, title.ptr, title.len),
				     .title = ut_arena_copy(a, name.ptr, name.len),
				     .type = metrics_sheet_type_of(unit) };

	c.hint = ut_str_fmt(a, "%s, mean of its launches", c.key);

	if (!strcmp(c.type, "number") && unit.len)
		c.unit = ut_arena_copy(a, unit.ptr, unit.len);
	return c;
}

static void metrics_sheet_put_value(struct ut_sheet *s, double value, const char *type)
{
	if (isnan(value))
		ut_sheet_null(s);
	else
		ut_sheet_double(s, strcmp(type, "share") != 0 ? value : value / 100);
}

/* "64x1x1" */
static void put_shape(struct ut_sheet *s, const struct part *p, uint32_t variant, bool grid)
{
	const struct ut_device_work *w = p->first[variant];
	const struct ut_device_launch *l = w ? &p->log->launches.items[w->launch] : NULL;
	struct ut_buf text = { 0 };

	if (l)
		ut_device_size_text(&text, grid ? l->grid : l->block);
	if (text.len)
		ut_sheet_text(s, (struct ut_str){ text.data, text.len });
	else
		ut_sheet_null(s);
	ut_buf_release(&text);
}

static void metrics_sheet_put_kernel(struct measures *all, struct ut_sheet *s, const struct row *r)
{
	const struct part *p = &all->parts[r->part];
	const struct ut_kernel_variant *k = &p->set->variants[r->variant];
	const struct ut_roof_kernel *roof = roof_of(all, r);

	ut_sheet_text(s, k->facts.name);
	put_shape(s, p, r->variant, true);
	put_shape(s, p, r->variant, false);
	ut_sheet_u64(s, k->launches);
	ut_sheet_u64(s, p->m.measured[r->variant]);
	ut_sheet_u64(s, k->total);
	ut_sheet_double(s, all->total ? (double)k->total / (double)all->total : 0);
	ut_sheet_text(s, ut_str_of(k->bottlenecks->sentence));
	if (roof && roof->bound != UT_ROOF_NONE) {
		ut_sheet_text(s, ut_str_of(ut_roof_title(&all->roof.device, roof->bound)));
		ut_sheet_double(s, ut_roof_reached(roof));
	} else {
		ut_sheet_null(s);
		ut_sheet_null(s);
	}
	for (size_t i = 0; i < all->title_count; i++) {
		size_t own = p->title_of[i];

		metrics_sheet_put_value(
			s, own ? p->m.means[r->variant * p->m.title_count + own - 1] : NAN,
			s->columns[OWN_COLUMNS + i].type);
	}
}

static size_t shown_rows(const struct measures *all)
{
	return all->row_count < MOST_KERNELS ? all->row_count : MOST_KERNELS;
}

static void metrics_sheet_put_kernels(struct measures *all, struct ut_out *out)
{
	static const struct ut_sheet_column own[OWN_COLUMNS] = {
		{ .key = "kernel", .title = "Kernel", .type = "name" },
		{ .key = "grid", .title = "Grid", .type = "text" },
		{ .key = "block", .title = "Block", .type = "text" },
		{ .key = "launches", .title = "Launches", .type = "count" },
		{ .key = "measured", .title = "Measured", .type = "count" },
		{ .key = "time", .title = "Time", .type = "time" },
		{ .key = "share", .title = "Of all", .type = "share" },
		{ .key = "verdict", .title = "Verdict", .type = "text" },
		{ .key = "bound", .title = "Bound by", .type = "text" },
		{ .key = "reached", .title = "Of its roof", .type = "share" },
	};
	struct ut_sheet_column columns[OWN_COLUMNS + MOST_TITLES];
	size_t rows = shown_rows(all);
	struct ut_sheet s;

	memcpy(columns, own, sizeof(own));
	for (size_t i = 0; i < all->title_count; i++)
		columns[OWN_COLUMNS + i] = metrics_sheet_column_of(&all->arena, all->titles[i]);
	ut_sheet_init(&s, columns, OWN_COLUMNS + all->title_count);
	for (size_t i = 0; i < rows; i++)
		metrics_sheet_put_kernel(all, &s, &all->rows[i]);
	ut_sheet_write(&s, all->row_count - rows, out);
}

/* Of each row: which kernel of the roofline it is, and what that says of it. */
static void put_roof(struct measures *all, struct ut_out *out)
{
	struct ut_buf said = { 0 };

	ut_out_text(out, ",\"roof\":[");
	for (size_t i = 0; i < shown_rows(all); i++) {
		const struct ut_roof_kernel *k = roof_of(all, &all->rows[i]);

		ut_out_fmt(out, "%s%td", i ? "," : "", k ? k - all->roof.kernels : -1);
	}
	ut_out_text(out, "],\"said\":[");
	for (size_t i = 0; i < shown_rows(all); i++) {
		const struct ut_roof_kernel *k = roof_of(all, &all->rows[i]);

		said.len = 0;
		if (k)
			ut_roof_say_kernel(&all->roof, k, NAME_MOST, &said);
		ut_out_text(out, i ? "," : "");
		ut_out_json_str(out, said.len ? said.data : "", said.len);
	}
	ut_out_text(out, "]");
	ut_buf_release(&said);
}

/* Of each row: what it asks of the levels of memory. */
static void put_memory(struct measures *all, struct ut_out *out)
{
	ut_out_text(out, ",\"memory\":[");
	for (size_t i = 0; i < shown_rows(all); i++) {
		const struct row *r = &all->rows[i];
		const struct part *p = &all->parts[r->part];
		const struct ut_kernel_variant *k = &p->set->variants[r->variant];
		const struct ut_device_info *d = &p->log->devices[k->device];

		ut_out_text(out, i ? "," : "");
		ut_memory_sheet_put(out, &p->m, r->variant, k,
				    ut_strtab_get(&p->log->strings, d->model ? d->model : d->name));
	}
	ut_out_text(out, "]");
}

/* ---- instructions --------------------------------------------------------------------------- */

/* Which reasons of a kernel have a column: the most frequent first. */
static size_t choose_reasons(const struct ut_kernel_measures *m, const struct ut_measured_code *c,
			     size_t chosen[REASONS])
{
	uint64_t totals[UT_MEASURED_REASONS] = { 0 };
	size_t n = 0;

	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		for (size_t k = 0; k < m->reason_count; k++)
			totals[k] += m->places[i].count[k];
	}
	while (n < REASONS) {
		size_t most = 0;

		for (size_t k = 1; k < m->reason_count; k++)
			most = totals[k] > totals[most] ? k : most;
		if (!totals[most])
			break;
		totals[most] = 0;
		chosen[n++] = most;
	}
	return n;
}

static void put_instruction(struct ut_sheet *s, const struct ut_measured_place *p,
			    const struct ut_measured_code *c, const size_t *reasons, size_t count)
{
	uint64_t rest = p->samples;
	char address[32];

	snprintf(address, sizeof(address), "0x%04llx", (unsigned long long)p->address);
	ut_sheet_text(s, ut_str_of(address));
	if (p->file.len)
		ut_sheet_text(s, p->file);
	else
		ut_sheet_null(s);
	if (p->line)
		ut_sheet_u64(s, p->line);
	else
		ut_sheet_null(s);
	ut_sheet_u64(s, p->samples);
	ut_sheet_double(s, c->samples ? (double)p->samples / (double)c->samples : 0);
	for (size_t i = 0; i < count; i++) {
		ut_sheet_u64(s, p->count[reasons[i]]);
		rest -= p->count[reasons[i]];
	}
	ut_sheet_u64(s, rest);
	ut_sheet_text(s, p->module);
}

static void metrics_sheet_put_code(struct measures *all, const struct ut_kernel_measures *m,
				   const struct ut_measured_code *c, struct ut_out *out)
{
	struct ut_sheet_column columns[5 + REASONS + 2] = {
		{ .key = "address", .title = "Address", .type = "text" },
		{ .key = "file", .title = "File", .type = "text" },
		{ .key = "line", .title = "Line", .type = "number" },
		{ .key = "samples", .title = "Samples", .type = "count" },
		{ .key = "share", .title = "Of the kernel", .type = "share" },
	};
	size_t reasons[REASONS], count = choose_reasons(m, c, reasons), n = 5;
	uint32_t shown = c->count < MOST_LISTED ? c->count : MOST_LISTED;
	struct ut_sheet s;

	for (size_t i = 0; i < count; i++) {
		struct ut_str r = m->reasons[reasons[i]];
		const char *name = ut_arena_copy(&all->arena, r.ptr, r.len);

		columns[n++] = (struct ut_sheet_column){ .key = name,
							 .title = name,
							 .type = "count",
							 .hint = "samples that waited for it" };
	}
	columns[n++] =
		(struct ut_sheet_column){ .key = "others", .title = "Others", .type = "count" };
	columns[n++] = (struct ut_sheet_column){
		.key = "module", .title = "Module", .type = "text", .wide = true
	};
	ut_out_text(out, "{\"kernel\":");
	ut_out_json_str(out, c->kernel.ptr, c->kernel.len);
	ut_out_fmt(out, ",\"samples\":");
	ut_out_u64(out, c->samples);
	ut_out_text(out, ",\"instructions\":");
	ut_sheet_init(&s, columns, n);
	for (uint32_t i = c->first; i < c->first + shown; i++)
		put_instruction(&s, &m->places[i], c, reasons, count);
	ut_sheet_write(&s, c->count - shown, out);
	ut_out_text(out, "}");
}

static void put_stalls(struct measures *all, struct ut_out *out)
{
	size_t n = 0;

	ut_out_text(out, ",\"stalls\":[");
	for (size_t i = 0; i < all->part_count; i++) {
		const struct ut_kernel_measures *m = &all->parts[i].m;

		for (size_t k = 0; k < m->stalled_count && n < MOST_STALLED; k++, n++) {
			ut_out_text(out, n ? "," : "");
			metrics_sheet_put_code(all, m, &m->stalled[k], out);
		}
	}
	ut_out_text(out, "]");
}

/* ---- the sheets ----------------------------------------------------------------------------- */

static void make_metrics(struct ut_view *v, struct ut_out *out)
{
	struct measures all;

	metrics_sheet_gather(&all, v);
	ut_out_text(out, "{\"kernels\":");
	metrics_sheet_put_kernels(&all, out);
	put_roof(&all, out);
	put_memory(&all, out);
	put_stalls(&all, out);
	ut_out_text(out, "}");
	metrics_sheet_release(&all, v);
}

static void make_roofline(struct ut_view *v, struct ut_out *out)
{
	struct measures all;

	metrics_sheet_gather(&all, v);
	ut_roofline_sheet(out, &all.roof);
	metrics_sheet_release(&all, v);
}

static bool has_any(const struct ut_view *v, bool (*has)(const struct ut_store *store))
{
	for (size_t i = 0; i < v->trace_count; i++) {
		if (has(v->traces[i].store))
			return true;
	}
	return false;
}

void ut_view_attach_metrics(struct ut_view *v)
{
	if (!has_any(v, ut_kernel_measures_any))
		return;
	ut_view_attach_later(v, TOOL, "Metrics", TOOL, make_metrics);
	if (has_any(v, ut_kernel_measures_sampled))
		ut_view_attach_later(v, TOOL, "Metrics", "code", ut_make_kernel_code_sheet);
	if (has_any(v, ut_kernel_measures_roof))
		ut_view_attach_later(v, UT_ROOFLINE_TOOL, "Roofline", UT_ROOFLINE_TOOL,
				     make_roofline);
}
