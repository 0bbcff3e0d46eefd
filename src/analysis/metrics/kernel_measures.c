#include "metrics/kernel_measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_log.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "metrics/kernel_facts.h"
#include "metrics/roofline_columns.h"
#include "metrics/roofline_device.h"
#include "model/shape.h"
#include "model/store.h"

#define MOST_TITLES 256u
#define MOST_PLACES 65536u /* instructions with samples */
#define MOST_ARGS   256u
#define TIME        "GpuTime[ns]"

struct ut_str ut_measure_unit(struct ut_str title)
{
	const char *open = title.len ? memchr(title.ptr, '[', title.len) : NULL;

	if (!open || title.ptr[title.len - 1] != ']')
		return (struct ut_str){ "", 0 };
	return (struct ut_str){ open + 1, (size_t)(title.ptr + title.len - 1 - (open + 1)) };
}

struct ut_str ut_measure_name(struct ut_str title)
{
	struct ut_str unit = ut_measure_unit(title);

	return unit.ptr[0] || unit.len ? (struct ut_str){ title.ptr, title.len - unit.len - 2 }
				       : title;
}

/* ---- is there anything ----------------------------------------------------------------------- */

/* A column of -q: "NAME[UNIT]", or NVIDIA's without one. Grid, registers and the like are none. */
static bool is_metric(struct ut_str key)
{
	return ut_measure_unit(key).len ||
	       (ut_str_find(key, "__") && ut_str_find(key, ".") && !ut_str_find(key, " "));
}

static bool is_number(uint8_t form)
{
	uint8_t type = form & (uint8_t)~UT_FORM_SHORT;

	return type == UT_ARG_U64 || type == UT_ARG_I64 || type == UT_ARG_F64;
}

static bool has_metric_args(const struct ut_store *store)
{
	const struct ut_arglists *l = &store->args;

	for (uint32_t i = 0; i < l->shape_arg_count; i++) {
		if (is_number(l->shape_args[i].form) &&
		    is_metric(ut_strtab_get(&store->trace.strings, l->shape_args[i].key)))
			return true;
	}
	return false;
}

static struct ut_str counter_name(const struct ut_trace *t, const struct ut_track *row)
{
	return ut_strtab_get(&t->strings, row->base ? row->base : row->name);
}

/* What -k samples has a unit, the name of a metric or one beside it; memory that others count has
 * neither, and the power of AIUs has tabs of its own (acelyzer). */
static bool is_counter(const struct ut_trace *t, uint32_t track)
{
	const struct ut_track *row = &t->tracks[track];

	return row->type == UT_TRACK_COUNTER &&
	       (row->unit || row->args || is_metric(counter_name(t, row))) &&
	       ut_is_device(t, row->process) && t->processes[row->process].api.api != UT_API_AIU;
}

/* Samples lie on a row of their own. */
static bool has_samples(const struct ut_store *store, uint32_t track)
{
	const struct ut_rows *rows = &store->rows[track];

	return rows->count && ut_is_device(&store->trace, store->trace.tracks[track].process) &&
	       ut_block_event(store, track, &rows->blocks[0], 0).kind == UT_KIND_SAMPLE;
}

bool ut_kernel_measures_sampled(const struct ut_store *store)
{
	for (uint32_t i = 0; i < store->trace.track_count; i++) {
		if (has_samples(store, i))
			return true;
	}
	return false;
}

bool ut_kernel_measures_counted(const struct ut_store *store)
{
	return has_metric_args(store);
}

bool ut_kernel_measures_any(const struct ut_store *store)
{
	for (uint32_t i = 0; i < store->trace.track_count; i++) {
		if (is_counter(&store->trace, i))
			return true;
	}
	return ut_kernel_measures_sampled(store) || has_metric_args(store);
}

static bool has_known_device(const struct ut_trace *t)
{
	struct ut_roof_device device;
	struct ut_arena arena = { 0 };
	bool known = false;

	for (uint32_t i = 0; i < t->process_count && !known; i++) {
		const struct ut_process *p = &t->processes[i];

		known = ut_is_device(t, i) &&
			!ut_roof_device_for(
				&device, &arena,
				ut_strtab_get(&t->strings, p->model ? p->model : p->name));
	}
	ut_arena_release(&arena);
	return known;
}

bool ut_kernel_measures_roof(const struct ut_store *store)
{
	const struct ut_arglists *l = &store->args;
	struct ut_roof_columns columns = { 0 };
	struct ut_str titles[MOST_TITLES];
	size_t count = 0;
	bool any;

	for (uint32_t i = 0; i < l->shape_arg_count && count < MOST_TITLES; i++) {
		struct ut_str key = ut_strtab_get(&store->trace.strings, l->shape_args[i].key);

		if (is_number(l->shape_args[i].form) && is_metric(key))
			titles[count++] = key;
	}
	ut_roof_columns_bind(&columns, titles, count);
	any = columns.known && columns.counts_work;
	ut_roof_columns_release(&columns);
	return any && has_known_device(&store->trace);
}

/* ---- values ---------------------------------------------------------------------------------- */

struct making {
	struct ut_kernel_measures *m;
	const struct ut_store *store;
	const struct ut_device_log *log;
	const struct ut_kernel_set *set;
	struct ut_idmap title_of; /* string of the trace -> 1 + title; titles + 1 = none */
	struct ut_str titles[MOST_TITLES + 1]; /* and the time of a launch behind them */
	size_t counters[MOST_TITLES];          /* 1 + track of titles that are counters */
	double *weights;                       /* beside means */
	double values[MOST_TITLES + 1];        /* of one launch */
	struct ut_roof_columns columns;
	struct ut_idmap code_of;  /* function of the trace -> 1 + stalled */
	struct ut_idmap place_of; /* hash -> 1 + place */
	struct ut_arena arena;
};

static uint32_t add_title(struct making *k, struct ut_str title)
{
	for (size_t i = 0; i < k->m->title_count; i++) {
		if (ut_str_eq(k->titles[i], title))
			return (uint32_t)i + 1;
	}
	if (k->m->title_count == MOST_TITLES)
		return MOST_TITLES + 1;
	k->titles[k->m->title_count] = title;
	return (uint32_t)++k->m->title_count;
}

static void find_titles(struct making *k)
{
	const struct ut_arglists *l = &k->store->args;
	const struct ut_trace *t = &k->store->trace;

	for (uint32_t i = 0; i < l->shape_arg_count; i++) {
		uint32_t key = l->shape_args[i].key;
		struct ut_str text = ut_strtab_get(&t->strings, key);

		if (is_number(l->shape_args[i].form) && is_metric(text) &&
		    !ut_idmap_get(&k->title_of, key))
			ut_idmap_put(&k->title_of, key, add_title(k, text));
	}
	for (uint32_t i = 0; i < t->track_count; i++) {
		const struct ut_track *track = &t->tracks[i];
		struct ut_str name = counter_name(t, track);
		struct ut_str unit = ut_strtab_get(&t->strings, track->unit);
		uint32_t at;

		if (!is_counter(t, i))
			continue;
		if (unit.len && !ut_measure_unit(name).len)
			name = ut_str_of(ut_str_fmt(&k->m->arena, "%.*s[%.*s]", (int)name.len,
						    name.ptr, (int)unit.len, unit.ptr));
		at = add_title(k, name);
		if (at <= MOST_TITLES)
			k->counters[at - 1] = (size_t)i + 1;
	}
}

/* How far apart the samples of counters are, on average. */
static void find_periods(struct making *k)
{
	struct ut_kernel_measures *m = k->m;

	m->periods = UT_NEW_N(&m->arena, double, m->title_count + 1);
	for (size_t i = 0; i < m->title_count; i++) {
		const struct ut_rows *rows;
		const struct ut_block *last;

		if (!k->counters[i])
			continue;
		rows = &k->store->rows[k->counters[i] - 1];
		if (rows->count < 2)
			continue;
		last = &rows->blocks[ut_rows_blocks(rows) - 1];
		m->periods[i] = (double)(last->ts[last->count - 1] - rows->blocks[0].ts[0]) /
				(double)(rows->count - 1);
	}
}

static void take_args(struct making *k, uint32_t list)
{
	struct ut_arg args[MOST_ARGS];
	size_t count = list ? ut_arglists_get(&k->store->args, list, args, MOST_ARGS) : 0;

	for (size_t i = 0; i < count && i < MOST_ARGS; i++) {
		uint32_t title = ut_idmap_get(&k->title_of, args[i].key);
		double *to = title && title <= MOST_TITLES ? &k->values[title - 1] : NULL;

		if (!to)
			continue;
		if (args[i].type == UT_ARG_F64)
			*to = args[i].value.f64;
		else if (args[i].type == UT_ARG_U64)
			*to = (double)args[i].value.u64;
		else if (args[i].type == UT_ARG_I64)
			*to = (double)args[i].value.i64;
	}
}

/* The mean of the samples that were taken while it ran. */
static double sampled(const struct making *k, uint32_t track, const struct ut_device_work *w)
{
	double sum = 0;
	uint32_t n = ut_kernel_sampled(k->store, w, track, &sum);

	return n ? sum / n : NAN;
}

/* Counts of a launch have a mean over launches; rates and shares one over time. */
static bool is_count(struct ut_str title)
{
	return ut_str_has_end(ut_measure_name(title), ".sum");
}

static void take_launch(struct making *k, const struct ut_device_work *w, uint32_t variant)
{
	struct ut_kernel_measures *m = k->m;
	double time = (double)(w->end - w->start) + 1;
	bool any = false;

	for (size_t i = 0; i < m->title_count; i++)
		k->values[i] = NAN;
	take_args(k, ut_kernel_row_args(k->store, w));
	for (size_t i = 0; i < m->title_count; i++) {
		size_t at = (size_t)variant * m->title_count + i;
		double weight = is_count(k->titles[i]) ? 1 : time;

		if (k->counters[i] && isnan(k->values[i]))
			k->values[i] = sampled(k, (uint32_t)k->counters[i] - 1, w);
		if (!isfinite(k->values[i]))
			continue;
		m->means[at] += weight * k->values[i];
		k->weights[at] += weight;
		any = true;
	}
	m->measured[variant] += any;
}

static void finish_means(struct making *k)
{
	struct ut_kernel_measures *m = k->m;

	for (size_t i = 0; i < k->set->count * m->title_count; i++)
		m->means[i] = k->weights[i] > 0 ? m->means[i] / k->weights[i] : NAN;
	m->titles = UT_NEW_N(&m->arena, struct ut_str, m->title_count + 1);
	memcpy(m->titles, k->titles, m->title_count * sizeof(*m->titles));
}

/* ---- the roof -------------------------------------------------------------------------------- */

/* As files of metrics name it, so that the two are the same kernel for whoever compares. */
static struct ut_str shaped(struct ut_arena *a, const struct ut_device_log *log,
			    const struct ut_device_work *w)
{
	struct ut_buf b = { 0 };
	size_t len;

	ut_shape_name(&b, ut_strtab_get(&log->strings, w->name), &log->launches.items[w->launch],
		      32);
	len = b.len;
	return (struct ut_str){ ut_buf_take(&b, a), len };
}

/* Which levels a column of a launch tells about, in bits of one of these. */
static void know_level(struct ut_measured_levels *l, const struct ut_roof_column *c)
{
	uint32_t level;

	if (!ut_roof_is_level(c->part))
		return;
	level = 1u << (c->part - UT_ROOF_UNITS);
	l->has_hits |= c->about == UT_ROOF_ABOUT_HITS ? level : 0;
	l->has_read |= c->about == UT_ROOF_ABOUT_READ ? level : 0;
	l->has_written |= c->about == UT_ROOF_ABOUT_WRITTEN ? level : 0;
	if (c->about == UT_ROOF_ABOUT_DONE ||
	    (c->about != UT_ROOF_ABOUT_HITS && c->about != UT_ROOF_ABOUT_NOTHING &&
	     !c->only_splits))
		l->has_bytes |= level;
}

static void take_levels(struct making *k, const struct ut_roof_work *work, uint32_t variant)
{
	struct ut_measured_levels *l = &k->m->levels[variant];

	for (size_t i = 0; i < k->m->title_count; i++) {
		if (isfinite(k->values[i]))
			know_level(l, &k->columns.items[i]);
	}
	l->launches++;
	l->ns += work->ns;
	for (unsigned int i = 0; i < UT_ROOF_LEVELS; i++) {
		l->bytes[i] += work->done[UT_ROOF_UNITS + i];
		l->read[i] += work->read[i];
		l->written[i] += work->written[i];
		l->hits[i] += work->hits[i];
	}
}

/* Those of -q alone: what was sampled over time cannot be added up for one kernel. */
static void take_counts(struct making *k, const struct ut_device_work *w, uint32_t variant,
			bool roof)
{
	struct ut_kernel_measures *m = k->m;
	struct ut_roof_work work = { .count = 1 };
	struct ut_arena scratch = { 0 };
	bool counted = false;

	for (size_t i = 0; i <= m->title_count; i++)
		k->values[i] = NAN;
	take_args(k, ut_kernel_row_args(k->store, w));
	for (size_t i = 0; i < m->title_count; i++)
		counted |= k->columns.items[i].about != UT_ROOF_ABOUT_NOTHING &&
			   isfinite(k->values[i]);
	if (!counted)
		return;
	/* Where a launch has not the time of its own that others have, the slice's does. */
	for (size_t i = 0; i <= m->title_count; i++) {
		if (k->columns.items[i].about == UT_ROOF_ABOUT_TIME &&
		    (i == m->title_count || !isfinite(k->values[i])))
			k->values[i] = (double)(w->end - w->start);
	}
	ut_roof_columns_take(&k->columns, k->values, &work);
	take_levels(k, &work, variant);
	if (roof) {
		ut_roof_add(&m->roof, 0, shaped(&scratch, k->log, w), &work);
		m->roof_of[variant] = 1; /* until it is known which */
	}
	ut_arena_release(&scratch);
}

static bool open_roof(struct making *k)
{
	const struct ut_device_log *log = k->log;
	struct ut_kernel_measures *m = k->m;

	k->titles[m->title_count] = ut_str_of(TIME);
	ut_roof_columns_bind(&k->columns, k->titles, m->title_count + 1);
	m->is_intel = m->is_intel || k->columns.is_intel;
	if (!k->columns.known || !k->columns.counts_work)
		return false;
	for (size_t i = 0; i < log->device_count; i++) {
		uint32_t model =
			log->devices[i].model ? log->devices[i].model : log->devices[i].name;

		if (!ut_roof_device_for(&m->roof.device, &m->roof.arena,
					ut_strtab_get(&log->strings, model)))
			return true;
	}
	return false;
}

/* Which kernel of the roof a variant is: by the name of any of its launches. */
static void find_roof_rows(struct making *k)
{
	struct ut_kernel_measures *m = k->m;
	struct ut_strtab names;
	struct ut_idmap rows = { 0 };
	struct ut_arena scratch = { 0 };

	ut_strtab_init(&names, &scratch);
	for (size_t i = 0; i < m->roof.count; i++) {
		struct ut_str name = m->roof.kernels[i].name;

		ut_idmap_put(&rows, ut_strtab_intern(&names, name.ptr, name.len), (uint32_t)i + 1);
	}
	for (size_t i = 0; i < k->log->work_count; i++) {
		uint32_t variant = k->set->of_work[i];
		struct ut_str name;

		if (!variant || !m->roof_of[variant - 1])
			continue;
		name = shaped(&scratch, k->log, &k->log->works[i]);
		m->roof_of[variant - 1] =
			ut_idmap_get(&rows, ut_strtab_intern(&names, name.ptr, name.len));
	}
	ut_idmap_release(&rows);
	ut_arena_release(&scratch);
}

/* ---- samples of instructions ----------------------------------------------------------------- */

static uint32_t reason_number(struct ut_kernel_measures *m, struct ut_str reason)
{
	for (size_t i = 0; i < m->reason_count; i++) {
		if (ut_str_eq(m->reasons[i], reason))
			return (uint32_t)i;
	}
	if (m->reason_count == UT_MEASURED_REASONS)
		return UT_MEASURED_REASONS - 1;
	m->is_intel = m->is_intel || ut_str_has_end(reason, "Stall");
	m->reasons[m->reason_count] = reason;
	return (uint32_t)m->reason_count++;
}

static uint32_t kernel_measures_code_of(struct making *k, uint32_t function)
{
	struct ut_kernel_measures *m = k->m;
	uint32_t n = ut_idmap_get(&k->code_of, function);

	if (n)
		return n - 1;
	m->stalled =
		ut_grow(m->stalled, m->stalled_count + 1, &m->stalled_cap, sizeof(*m->stalled));
	m->stalled[m->stalled_count].kernel = ut_strtab_get(&k->store->trace.strings, function);
	ut_idmap_put(&k->code_of, function, (uint32_t)++m->stalled_count);
	return (uint32_t)m->stalled_count - 1;
}

static uint64_t kernel_measures_mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15u;
}

static struct ut_measured_place *
kernel_measures_place_of(struct making *k, const struct ut_place_in_code *at, uint32_t code)
{
	struct ut_kernel_measures *m = k->m;
	const struct ut_strtab *strings = &k->store->trace.strings;
	uint64_t key = kernel_measures_mix(kernel_measures_mix(at->address + 1, at->module), code);
	uint32_t n = ut_idmap_get(&k->place_of, key);

	if (n)
		return &m->places[n - 1];
	if (m->place_count == MOST_PLACES)
		return NULL;
	m->places = ut_grow(m->places, m->place_count + 1, &m->place_cap, sizeof(*m->places));
	m->places[m->place_count] =
		(struct ut_measured_place){ .address = at->address,
					    .module = ut_strtab_get(strings, at->module),
					    .file = ut_strtab_get(strings, at->file),
					    .line = at->line,
					    .kernel = code };
	ut_idmap_put(&k->place_of, key, (uint32_t)m->place_count + 1);
	return &m->places[m->place_count++];
}

static void kernel_measures_take_sample(void *ctx, const struct ut_event *e)
{
	struct making *k = ctx;
	const struct ut_trace *t = &k->store->trace;
	struct ut_place_in_code at = ut_stacks_innermost(&t->stacks, ut_sample_stack(e->val));
	uint64_t weight = ut_sample_weight(e->val);
	struct ut_measured_place *place;
	uint32_t code;

	if (!at.function || !e->cat)
		return;
	weight = weight ? weight : 1;
	code = kernel_measures_code_of(k, at.function);
	place = kernel_measures_place_of(k, &at, code);
	k->m->stalled[code].samples += weight;
	if (!place)
		return;
	place->samples += weight;
	place->count[reason_number(k->m, ut_strtab_get(&t->strings, e->cat))] += weight;
}

struct code_order {
	uint64_t samples;
	uint32_t at;
};

static int by_samples(const void *a, const void *b)
{
	const struct code_order *x = a, *y = b;
	int order = (x->samples < y->samples) - (x->samples > y->samples);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_kernel(const void *a, const void *b)
{
	const struct ut_measured_place *x = a, *y = b;
	int order = (x->kernel > y->kernel) - (x->kernel < y->kernel);

	if (!order)
		order = (x->address > y->address) - (x->address < y->address);
	return order ? order : ut_str_cmp(x->module, y->module);
}

static void sort_samples(struct making *k)
{
	struct ut_kernel_measures *m = k->m;
	struct code_order *order = UT_NEW_N(&k->arena, struct code_order, m->stalled_count + 1);
	struct ut_measured_code *sorted =
		UT_NEW_N(&k->arena, struct ut_measured_code, m->stalled_count + 1);
	uint32_t *now = UT_NEW_N(&k->arena, uint32_t, m->stalled_count + 1);

	for (uint32_t i = 0; i < m->stalled_count; i++)
		order[i] = (struct code_order){ m->stalled[i].samples, i };
	ut_sort(order, m->stalled_count, sizeof(*order), by_samples);
	for (uint32_t i = 0; i < m->stalled_count; i++) {
		sorted[i] = m->stalled[order[i].at];
		now[order[i].at] = i;
	}
	if (m->stalled_count)
		memcpy(m->stalled, sorted, m->stalled_count * sizeof(*sorted));
	for (size_t i = 0; i < m->place_count; i++)
		m->places[i].kernel = now[m->places[i].kernel];
	ut_sort(m->places, m->place_count, sizeof(*m->places), by_kernel);
	for (size_t i = m->place_count; i-- > 0;) {
		m->stalled[m->places[i].kernel].first = (uint32_t)i;
		m->stalled[m->places[i].kernel].count++;
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void take_launches(struct making *k)
{
	struct ut_kernel_measures *m = k->m;
	bool roof = open_roof(k);

	for (size_t i = 0; i < k->log->work_count; i++) {
		uint32_t variant = k->set->of_work[i];

		if (!variant)
			continue;
		take_launch(k, &k->log->works[i], variant - 1);
		take_counts(k, &k->log->works[i], variant - 1, roof);
	}
	finish_means(k);
	if (m->roof.count) {
		ut_roof_place(&m->roof);
		find_roof_rows(k);
	}
}

void ut_kernel_measures_make(struct ut_kernel_measures *m, const struct ut_store *store,
			     const struct ut_device_log *log, const struct ut_kernel_set *set)
{
	struct making *k = ut_make(sizeof(*k));
	size_t cells;

	*m = (struct ut_kernel_measures){ 0 };
	*k = (struct making){ .m = m, .store = store, .log = log, .set = set };
	find_titles(k);
	cells = set->count * m->title_count + 1;
	m->means = UT_NEW_N(&m->arena, double, cells);
	m->measured = UT_NEW_N(&m->arena, uint64_t, set->count + 1);
	m->roof_of = UT_NEW_N(&m->arena, uint32_t, set->count + 1);
	m->levels = UT_NEW_N(&m->arena, struct ut_measured_levels, set->count + 1);
	find_periods(k);
	k->weights = UT_NEW_N(&k->arena, double, cells);
	take_launches(k);
	ut_kernel_each_sample(store, kernel_measures_take_sample, k);
	sort_samples(k);
	ut_roof_columns_release(&k->columns);
	ut_idmap_release(&k->title_of);
	ut_idmap_release(&k->code_of);
	ut_idmap_release(&k->place_of);
	ut_arena_release(&k->arena);
	free(k);
}

void ut_kernel_measures_release(struct ut_kernel_measures *m)
{
	free(m->places);
	free(m->stalled);
	ut_roof_release(&m->roof);
	ut_arena_release(&m->arena);
	*m = (struct ut_kernel_measures){ 0 };
}
