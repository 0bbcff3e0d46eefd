/* memory_send.c - see memory_books.h: what the books say, as events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/memory_books.h"
#include "model/memory_samples.h"
#include "model/sink.h"
#include "unitrace/backend_memory.h"

/* ---- live bytes over time ------------------------------------------------------------------ */

static void send_point(struct ut_memory_books *b, const struct ut_memory_point *p)
{
	struct ut_trace *t = b->im->trace;
	struct ut_event e = { .ts = p->ts, .kind = UT_KIND_COUNTER };

	if (!b->track) {
		uint32_t name = ut_strtab_intern_z(&t->strings, UT_MEMORY_LIVE);

		b->track = 1 + ut_spool_add_lane(&b->im->tables, UT_TRACK_COUNTER, name);
		t->tracks[b->track - 1].unit = ut_strtab_intern_z(&t->strings, "bytes");
	}
	e.track = b->track - 1;
	e.name = t->tracks[e.track].name;
	e.val = p->bytes > 0 ? (uint64_t)llround(p->bytes) : 0;
	ut_sink_event(b->im->sink, t, &e);
}

static void send_step(struct ut_memory_books *b)
{
	if (!b->pending)
		return;
	if (b->highest.ts < b->latest.ts && b->highest.bytes > b->latest.bytes)
		send_point(b, &b->highest);
	send_point(b, &b->latest);
	b->pending = false;
}

void ut_memory_level(struct ut_memory_books *b, uint64_t ts)
{
	const struct ut_memory_point now = { ts, b->live.bytes };

	if (ts >= b->step_end) {
		send_step(b);
		b->step_end = ts + b->step - (ts - b->first) % b->step;
		b->highest = now;
	}
	if (now.bytes > b->highest.bytes)
		b->highest = now;
	b->latest = now;
	b->pending = true;
}

void ut_memory_level_end(struct ut_memory_books *b)
{
	send_step(b);
}

/* ---- samples ------------------------------------------------------------------------------- */

/* What sending needs to know: string ids. */
struct sender {
	struct ut_memory_books *b;
	uint32_t names[UT_MEMORY_SAMPLES], kinds[2];
	uint32_t weight, task, count, variance, freed, life;
};

static void make_sender(struct sender *s, struct ut_memory_books *b)
{
	struct ut_strtab *strings = &b->im->trace->strings;

	*s = (struct sender){ .b = b };
	for (int i = 0; i < UT_MEMORY_SAMPLES; i++)
		s->names[i] = ut_strtab_intern_z(strings, ut_memory_sample_names[i]);
	s->kinds[UT_MEMORY_MALLOC] = ut_strtab_intern_z(strings, "malloc");
	s->kinds[UT_MEMORY_PYTHON] = ut_strtab_intern_z(strings, "python");
	s->weight = ut_strtab_intern_z(strings, UT_SAMPLE_WEIGHT);
	s->task = ut_strtab_intern_z(strings, "task");
	s->count = ut_strtab_intern_z(strings, UT_MEMORY_COUNT);
	s->variance = ut_strtab_intern_z(strings, UT_MEMORY_VARIANCE);
	s->freed = ut_strtab_intern_z(strings, UT_MEMORY_FREED);
	s->life = ut_strtab_intern_z(strings, UT_MEMORY_LIFE);
}

static void memory_send_put_number(const struct sender *s, uint32_t key, double value)
{
	struct ut_trace *t = s->b->im->trace;
	double whole = nearbyint(value);

	/* what is exact is shown as it is counted */
	if (fabs(value - whole) < 1e-9 && whole >= 0 && whole < 9e15)
		ut_trace_add_arg(t, key, UT_ARG_U64)->value.u64 = (uint64_t)whole;
	else
		ut_trace_add_arg(t, key, UT_ARG_F64)->value.f64 = value;
}

static void put_sum(const struct sender *s, const struct ut_memory_sum *sum, uint64_t weight,
		    uint32_t task)
{
	struct ut_trace *t = s->b->im->trace;

	if (weight >= UT_SAMPLE_WEIGHT_ARG)
		ut_trace_add_arg(t, s->weight, UT_ARG_U64)->value.u64 = weight;
	if (task)
		ut_trace_add_arg(t, s->task, UT_ARG_STR)->value.str = task;
	memory_send_put_number(s, s->count, sum->count);
	if (sum->variance > 0)
		ut_trace_add_arg(t, s->variance, UT_ARG_F64)->value.f64 = sum->variance;
}

/* One sample; row: of what was allocated, else NULL. */
static void memory_send_send(const struct sender *s, enum ut_memory_sample what,
			     const struct ut_memory_site *site, const struct ut_memory_sum *sum,
			     const struct ut_memory_row *row)
{
	struct ut_spool_import *im = s->b->im;
	uint64_t weight = sum->bytes > 0 ? (uint64_t)llround(sum->bytes) : 0;
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .kind = UT_KIND_SAMPLE,
			      .name = s->names[what],
			      .cat = s->kinds[site->kind == UT_MEMORY_PYTHON] };

	e.ts = row ? row->ts : what == UT_MEMORY_AT_PEAK ? s->b->peak_ts : s->b->last;
	e.track = ut_spool_thread_track(&im->tables, site->thread);
	e.val = ut_sample_val(site->stack, weight);
	put_sum(s, sum, weight, site->task);
	if (row && row->freed > 0) {
		memory_send_put_number(s, s->freed, row->freed);
		memory_send_put_number(s, s->life, row->life);
	}
	ut_spool_send(im, &e, mark);
}

/* Less than half a block is what is left of sums of fractions. */
static bool is_any(const struct ut_memory_sum *sum)
{
	return sum->count > 0.5;
}

static struct ut_memory_sum corrected(const struct ut_memory_books *b,
				      const struct ut_memory_sum *sum, double excess)
{
	double less = excess > 0 ? excess * sum->variance / b->peak.variance : 0;
	double scale = sum->bytes > less ? 1 - less / sum->bytes : 0;

	return (struct ut_memory_sum){ sum->bytes * scale, sum->count * scale, sum->variance };
}

static int memory_send_by_thread(const void *a, const void *b, void *ctx)
{
	const struct ut_memory_books *books = ctx;
	const struct ut_memory_row *x = a, *y = b;
	uint32_t s = books->sites.items[x->site].thread, t = books->sites.items[y->site].thread;

	if (s != t)
		return s < t ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

void ut_memory_send(struct ut_memory_books *b)
{
	double excess = ut_memory_peak_excess(b);
	struct sender s;

	make_sender(&s, b);
	if (b->rows.count)
		qsort_r(b->rows.items, b->rows.count, sizeof(*b->rows.items), memory_send_by_thread,
			b);
	for (size_t i = 0; i < b->rows.count; i++) {
		const struct ut_memory_row *row = &b->rows.items[i];

		memory_send_send(&s, UT_MEMORY_ALLOCATED, &b->sites.items[row->site], &row->sum,
				 row);
	}
	for (size_t i = 0; i < b->sites.count; i++) {
		const struct ut_memory_site *site = &b->sites.items[i];
		struct ut_memory_sum peak = corrected(b, &site->peak, excess);

		if (is_any(&peak))
			memory_send_send(&s, UT_MEMORY_AT_PEAK, site, &peak, NULL);
	}
	for (size_t i = 0; i < b->sites.count; i++) {
		const struct ut_memory_site *site = &b->sites.items[i];

		if (is_any(&site->live))
			memory_send_send(&s, UT_MEMORY_NEVER_FREED, site, &site->live, NULL);
	}
}
