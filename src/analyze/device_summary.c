#include "analyze/device_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/idmap.h"

#define BUSY_ENOUGH 0.8 /* what is left may be the ends of the run */

/* ---- busy and idle ------------------------------------------------------------------------- */

/* Something starts or ends, or waits from here on. */
struct edge {
	uint64_t time;
	uint32_t work;
	int8_t step; /* -1 or 1 */
	bool waits;  /* it is about waiting to start, not about working */
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	/* Begins first: what follows without a gap leaves none, and what takes no time begins
	 * before it ends. */
	if (x->step != y->step)
		return y->step - x->step;
	return (x->work > y->work) - (x->work < y->work);
}

static uint64_t submitted_at(const struct ut_device_work *w)
{
	return w->called ? w->called : w->queued;
}

/* What goes on at a moment of the sweep. */
struct now {
	uint64_t time;
	uint64_t kernels, copies, others, waiting;
	double depth_area;
};

static bool idle(const struct now *n)
{
	return !n->kernels && !n->copies && !n->others;
}

/* The time since the last edge belongs to what was going on. */
static void pass_time(struct ut_device_use *u, struct now *n, uint64_t time)
{
	uint64_t d = time - n->time;

	if (!idle(n))
		u->busy += d;
	if (n->kernels)
		u->computing += d;
	if (n->copies)
		u->copying += d;
	if (n->kernels && n->copies)
		u->both += d;
	n->depth_area += (double)d * (double)n->waiting;
	n->time = time;
}

/* The device was idle since then, and w ends that: was it there to be begun? */
static void judge_gap(struct ut_device_use *u, const struct ut_device_work *w, uint64_t since)
{
	uint64_t given = submitted_at(w);

	if (given > since)
		u->starved += (given < w->start ? given : w->start) - since;
}

static uint64_t *counter_of(struct now *n, const struct ut_device_work *w)
{
	switch ((enum ut_device_kind)w->kind) {
	case UT_DEVICE_KERNEL:
		return &n->kernels;
	case UT_DEVICE_COPY:
	case UT_DEVICE_FILL:
		return &n->copies;
	case UT_DEVICE_SYNC:
	case UT_DEVICE_OTHER:
		break;
	}
	return &n->others;
}

static void sweep(struct ut_device_use *u, const struct ut_device_log *log,
		  const struct edge *edges, size_t count)
{
	struct now n = { .time = u->first };
	uint64_t idle_since = u->first;

	for (size_t i = 0; i < count; i++) {
		const struct edge *e = &edges[i];
		const struct ut_device_work *w = &log->works[e->work];
		uint64_t *counter = e->waits ? &n.waiting : counter_of(&n, w);
		bool was_idle = idle(&n);

		/* What was submitted before the first start waits from there on. */
		pass_time(u, &n, e->time > n.time ? e->time : n.time);
		*counter += (uint64_t)(int64_t)e->step;
		if (was_idle && !idle(&n))
			judge_gap(u, w, idle_since);
		else if (!was_idle && idle(&n))
			idle_since = n.time;
		u->depth_max = n.waiting > u->depth_max ? n.waiting : u->depth_max;
	}
	if (u->last > u->first)
		u->depth_mean = n.depth_area / (double)(u->last - u->first);
}

/* ---- one device ---------------------------------------------------------------------------- */

static void count_work(struct ut_device_use *u, const struct ut_device_work *w)
{
	u->works++;
	u->kernels += w->kind == UT_DEVICE_KERNEL;
	u->copies += w->kind == UT_DEVICE_COPY;
	u->fills += w->kind == UT_DEVICE_FILL;
	u->others += w->kind == UT_DEVICE_OTHER;
	if (w->kind == UT_DEVICE_COPY)
		u->bytes += w->bytes;
	u->first = u->works == 1 || w->start < u->first ? w->start : u->first;
	u->last = w->end > u->last ? w->end : u->last;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The smallest of them that at least so many percent do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t count, size_t percent)
{
	size_t rank = (count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

static void judge(struct ut_device_use *u)
{
	uint64_t window = u->last - u->first, quiet = window - u->busy;

	if ((double)u->busy >= BUSY_ENOUGH * (double)window)
		u->verdict = UT_VERDICT_DEVICE;
	else if (!u->timed)
		u->verdict = UT_VERDICT_IDLE;
	else
		u->verdict = u->starved >= quiet - u->starved ? UT_VERDICT_HOST : UT_VERDICT_WAITS;
}

/* Room for what one device needs, used again for the next. */
struct scratch {
	struct edge *edges;
	size_t edge_count, edge_cap;
	uint64_t *latencies;
	size_t latency_cap;
};

static void add_edges(struct scratch *s, const struct ut_device_work *w, uint32_t number)
{
	uint64_t given = submitted_at(w);
	struct edge *e;

	s->edges = ut_grow(s->edges, s->edge_count + 4, &s->edge_cap, sizeof(*s->edges));
	e = s->edges + s->edge_count;
	*e++ = (struct edge){ .time = w->start, .work = number, .step = 1 };
	*e++ = (struct edge){ .time = w->end, .work = number, .step = -1 };
	if (given) {
		*e++ = (struct edge){ .time = given, .work = number, .step = 1, .waits = true };
		*e++ = (struct edge){ .time = w->start, .work = number, .step = -1, .waits = true };
	}
	s->edge_count = (size_t)(e - s->edges);
}

/* The works of one device, by their numbers. */
static void measure(struct ut_device_use *u, const struct ut_device_log *log,
		    const uint32_t *numbers, size_t count, struct scratch *s)
{
	s->edge_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ut_device_work *w = &log->works[numbers[i]];

		if (w->kind == UT_DEVICE_SYNC)
			continue;
		count_work(u, w);
		add_edges(s, w, numbers[i]);
		if (submitted_at(w)) {
			s->latencies = ut_grow(s->latencies, u->timed + 1, &s->latency_cap,
					       sizeof(*s->latencies));
			s->latencies[u->timed++] = w->start - submitted_at(w);
		}
	}
	if (!u->works)
		return;
	qsort(s->edges, s->edge_count, sizeof(*s->edges), by_time);
	sweep(u, log, s->edges, s->edge_count);
	if (u->timed) {
		qsort(s->latencies, u->timed, sizeof(*s->latencies), compare_u64);
		u->latency_p50 = percentile(s->latencies, u->timed, 50);
		u->latency_p99 = percentile(s->latencies, u->timed, 99);
		u->latency_max = s->latencies[u->timed - 1];
	}
	judge(u);
}

/* ---- kernels ------------------------------------------------------------------------------- */

/* A kernel's time by task. */
struct share {
	uint32_t name, task;
	uint64_t total;
};

static int by_name_and_total(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->task > y->task) - (x->task < y->task);
}

static int by_total(const void *a, const void *b)
{
	const struct ut_device_top *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

struct ranking {
	struct ut_arena arena;
	struct ut_idmap top_of;   /* name -> index + 1 */
	struct ut_idmap share_of; /* (name, task) -> index + 1 */
	struct share *shares;
	size_t share_count, share_cap, top_cap;
};

static struct ut_device_top *top_of(struct ut_device_summary *s, struct ranking *r, uint32_t name)
{
	uint32_t at = ut_idmap_get(&r->top_of, name);

	if (!at) {
		s->tops = ut_grow(s->tops, s->top_count + 1, &r->top_cap, sizeof(*s->tops));
		s->tops[s->top_count].name = name;
		s->tops[s->top_count].min = UINT64_MAX;
		at = (uint32_t)++s->top_count;
		ut_idmap_put(&r->top_of, name, at);
	}
	return &s->tops[at - 1];
}

static struct share *share_of(struct ranking *r, const struct ut_device_work *w)
{
	uint64_t key = (uint64_t)w->name << 32 | w->task;
	uint32_t at = ut_idmap_get(&r->share_of, key);

	if (!at) {
		r->shares =
			ut_grow(r->shares, r->share_count + 1, &r->share_cap, sizeof(*r->shares));
		r->shares[r->share_count] = (struct share){ .name = w->name, .task = w->task };
		at = (uint32_t)++r->share_count;
		ut_idmap_put(&r->share_of, key, at);
	}
	return &r->shares[at - 1];
}

static void rank_kernels(struct ut_device_summary *s, const struct ut_device_log *log)
{
	struct ranking r = { 0 };

	ut_idmap_init(&r.top_of, &r.arena);
	ut_idmap_init(&r.share_of, &r.arena);
	for (size_t i = 0; i < log->work_count; i++) {
		const struct ut_device_work *w = &log->works[i];
		uint64_t length = w->end - w->start;
		struct ut_device_top *t;

		if (w->kind != UT_DEVICE_KERNEL)
			continue;
		t = top_of(s, &r, w->name);
		t->calls++;
		t->total += length;
		t->min = length < t->min ? length : t->min;
		t->max = length > t->max ? length : t->max;
		s->kernel_total += length;
		share_of(&r, w)->total += length;
	}
	if (r.share_count)
		qsort(r.shares, r.share_count, sizeof(*r.shares), by_name_and_total);
	for (size_t i = 0; i < r.share_count; i++) {
		struct ut_device_top *t = top_of(s, &r, r.shares[i].name);

		if (!t->task && r.shares[i].task) {
			t->task = r.shares[i].task;
			t->task_total = r.shares[i].total;
		}
	}
	if (s->top_count)
		qsort(s->tops, s->top_count, sizeof(*s->tops), by_total);
	free(r.shares);
	ut_arena_release(&r.arena);
}

/* The numbers of all works, device by device: those of device d end at ends[d]. */
static uint32_t *sort_by_device(const struct ut_device_log *log, size_t *ends)
{
	uint32_t *numbers = ut_make((log->work_count + 1) * sizeof(*numbers));
	size_t before = 0;

	for (size_t i = 0; i < log->work_count; i++)
		ends[log->works[i].device]++;
	for (size_t d = 0; d < log->device_count; d++) {
		size_t count = ends[d];

		ends[d] = before;
		before += count;
	}
	for (size_t i = 0; i < log->work_count; i++)
		numbers[ends[log->works[i].device]++] = (uint32_t)i;
	return numbers;
}

void ut_device_summary_make(struct ut_device_summary *s, const struct ut_device_log *log)
{
	size_t *ends = ut_make((log->device_count + 1) * sizeof(*ends));
	uint32_t *numbers = sort_by_device(log, ends);
	struct scratch scratch = { 0 };
	size_t cap = 0, first = 0;

	*s = (struct ut_device_summary){ 0 };
	for (size_t i = 0; i < log->device_count; first = ends[i++]) {
		struct ut_device_use u = { .device = (uint32_t)i };

		measure(&u, log, numbers + first, ends[i] - first, &scratch);
		if (!u.works)
			continue;
		s->uses = ut_grow(s->uses, s->use_count + 1, &cap, sizeof(*s->uses));
		s->uses[s->use_count++] = u;
	}
	free(scratch.edges);
	free(scratch.latencies);
	free(numbers);
	free(ends);
	rank_kernels(s, log);
}

void ut_device_summary_release(struct ut_device_summary *s)
{
	free(s->uses);
	free(s->tops);
	*s = (struct ut_device_summary){ 0 };
}
