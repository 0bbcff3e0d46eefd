#include "analyze/device_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"

#define BUSY_ENOUGH 0.8 /* what is left may be the ends of the run */

/* ---- pauses -------------------------------------------------------------------------------- */

/* Nothing was recorded from start to end; before is how long that was so earlier. */
struct pause {
	uint64_t start, end, before;
};

/* Disjoint, in order. */
struct pauses {
	struct pause *items;
	size_t count, cap;
};

static int by_pause_start(const void *a, const void *b)
{
	const struct pause *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Pauses of several programs become one where they meet. */
static void finalize_pauses(struct pauses *p)
{
	size_t kept = 0;

	ut_sort(p->items, p->count, sizeof(*p->items), by_pause_start);
	for (size_t i = 0; i < p->count; i++) {
		const struct pause *next = &p->items[i];
		struct pause *last = kept ? &p->items[kept - 1] : NULL;

		if (last && next->start <= last->end) {
			last->end = next->end > last->end ? next->end : last->end;
		} else {
			p->items[kept] = *next;
			p->items[kept].before = last ? last->before + (last->end - last->start) : 0;
			kept++;
		}
	}
	p->count = kept;
}

/* How much of the time before a moment was paused. */
static uint64_t paused_until(const struct pauses *p, uint64_t time)
{
	size_t lo = 0, hi = p->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->items[mid].start < time)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	hi = lo - 1;
	return p->items[hi].before +
	       ((time < p->items[hi].end ? time : p->items[hi].end) - p->items[hi].start);
}

/* ---- busy and idle ------------------------------------------------------------------------- */

/* Work ends. */
struct end {
	uint64_t time;
	uint32_t kind; /* enum ut_device_kind */
};

static int by_end(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t submitted_at(const struct ut_device_work *w)
{
	return w->called ? w->called : w->queued;
}

/*
 * The host had done its part: a launch that takes long keeps the device waiting for the host, and
 * so does a queue of OpenCL's that nobody flushes. 0 = unknown.
 */
static uint64_t handed_at(const struct ut_device_work *w)
{
	uint64_t handed = w->handed ? w->handed : w->queued;

	return handed && w->submitted > handed ? w->submitted : handed;
}

/* The works of one device; room for the next one's is kept. */
struct sweep {
	const struct ut_device_log *log;
	const uint32_t *numbers; /* of its works, in the order of their starts */
	size_t count;
	struct end *ends; /* in order */
	size_t end_count, end_cap;
	uint64_t *times; /* in order: when work was submitted, afterwards how long it waited */
	size_t time_count, time_cap;
	struct pauses pauses;

	/* the moment that it has come to */
	uint64_t now, idle_since, first;
	uint64_t kernels, copies, others, waiting;
	double depth_area;
};

static bool idle(const struct sweep *s)
{
	return !s->kernels && !s->copies && !s->others;
}

/* The time since the last change belongs to what was going on. */
static void pass_time(struct ut_device_use *u, struct sweep *s, uint64_t time)
{
	/* What was submitted before the first start waits from there on. */
	uint64_t d = time > s->now ? time - s->now : 0;

	if (!idle(s))
		u->busy += d;
	if (s->kernels)
		u->computing += d;
	if (s->copies)
		u->copying += d;
	if (s->kernels && s->copies)
		u->both += d;
	s->depth_area += (double)d * (double)s->waiting;
	s->now += d;
}

/* The device was idle, and w ends that: was it there to be begun? Nobody knows of a pause. */
static void classify_gap(struct ut_device_use *u, const struct sweep *s,
			 const struct ut_device_work *w)
{
	uint64_t given = handed_at(w), since = s->idle_since;
	uint64_t paused = paused_until(&s->pauses, w->start) - paused_until(&s->pauses, since);
	uint64_t starved = 0;

	if (given > since)
		starved = given - since -
			  (paused_until(&s->pauses, given) - paused_until(&s->pauses, since));
	u->paused += paused;
	if (given) {
		u->starved += starved;
		u->delayed += w->start - since - paused - starved;
	}
}

static uint64_t *device_summary_counter_of(struct sweep *s, uint32_t kind)
{
	switch ((enum ut_device_kind)kind) {
	case UT_DEVICE_KERNEL:
		return &s->kernels;
	case UT_DEVICE_COPY:
	case UT_DEVICE_FILL:
		return &s->copies;
	case UT_DEVICE_SYNC:
	case UT_DEVICE_OTHER:
		break;
	}
	return &s->others;
}

static void begin_work(struct ut_device_use *u, struct sweep *s, const struct ut_device_work *w)
{
	pass_time(u, s, w->start);
	if (idle(s))
		classify_gap(u, s, w);
	++*device_summary_counter_of(s, w->kind);
	s->waiting -= submitted_at(w) != 0;
}

static void end_work(struct ut_device_use *u, struct sweep *s, const struct end *e)
{
	pass_time(u, s, e->time);
	--*device_summary_counter_of(s, e->kind);
	if (idle(s))
		s->idle_since = s->now;
}

static void submit_work(struct ut_device_use *u, struct sweep *s, uint64_t time)
{
	pass_time(u, s, time);
	s->waiting++;
	u->depth_max = s->waiting > u->depth_max ? s->waiting : u->depth_max;
}

/*
 * Through all that happens, by time. Begins come first: what follows without a gap leaves none,
 * and what takes no time begins before it ends.
 */
static void sweep(struct ut_device_use *u, struct sweep *s)
{
	size_t begun = 0, ended = 0, given = 0;

	s->now = s->idle_since = s->first;
	s->kernels = s->copies = s->others = s->waiting = 0;
	s->depth_area = 0;
	while (ended < s->end_count) {
		const struct ut_device_work *w =
			begun < s->count ? &s->log->works[s->numbers[begun]] : NULL;
		const struct end *e = &s->ends[ended];

		if (w && given < s->time_count && s->times[given] <= w->start &&
		    s->times[given] <= e->time) {
			submit_work(u, s, s->times[given++]);
		} else if (w && w->start <= e->time) {
			begin_work(u, s, w);
			begun++;
		} else {
			end_work(u, s, e);
			ended++;
		}
	}
	u->window = s->now - s->first - u->paused;
	if (s->now > s->first)
		u->depth_mean = s->depth_area / (double)(s->now - s->first);
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
}

/* The smallest of them that at least so many percent do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t count, size_t percent)
{
	size_t rank = (count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

static void device_summary_evaluate(struct ut_device_use *u)
{
	uint64_t known = u->starved + u->delayed;

	if (u->busy && (double)u->busy >= BUSY_ENOUGH * (double)u->window)
		u->limiter = UT_LIMITER_DEVICE;
	else if (!known || known < u->window - u->busy - known)
		u->limiter = UT_LIMITER_IDLE;
	else
		u->limiter = u->starved >= u->delayed ? UT_LIMITER_HOST : UT_LIMITER_WAITS;
}

static void device_summary_add_work(struct sweep *s, const struct ut_device_work *w)
{
	s->ends = ut_grow(s->ends, s->end_count + 1, &s->end_cap, sizeof(*s->ends));
	s->ends[s->end_count++] = (struct end){ .time = w->end, .kind = w->kind };
	if (!submitted_at(w))
		return;
	s->times = ut_grow(s->times, s->time_count + 1, &s->time_cap, sizeof(*s->times));
	s->times[s->time_count++] = submitted_at(w);
}

/* How long each piece of work waited, from the call to the start. */
static void measure_latency(struct ut_device_use *u, struct sweep *s)
{
	u->timed = s->time_count;
	if (!u->timed)
		return;
	s->time_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_device_work *w = &s->log->works[s->numbers[i]];

		if (submitted_at(w))
			s->times[s->time_count++] = w->start - submitted_at(w);
	}
	ut_sort(s->times, s->time_count, sizeof(*s->times), compare_u64);
	u->latency_p50 = percentile(s->times, s->time_count, 50);
	u->latency_p99 = percentile(s->times, s->time_count, 99);
	u->latency_max = s->times[s->time_count - 1];
}

/* Adds those of a program; *at is how far its predecessors have come in the log's list. */
static void add_pauses(struct pauses *to, const struct ut_device_log *log, uint32_t source,
		       size_t *at)
{
	for (; *at < log->pause_count && log->pauses[*at].source <= source; ++*at) {
		const struct ut_device_pause *p = &log->pauses[*at];

		if (p->source < source)
			continue;
		to->items = ut_grow(to->items, to->count + 1, &to->cap, sizeof(*to->items));
		to->items[to->count++] = (struct pause){ .start = p->start, .end = p->end };
	}
}

/* How long the programs lived that used the device, and when they were not recorded. */
static void look_at_sources(struct ut_device_use *u, struct sweep *s)
{
	uint64_t first = UINT64_MAX, last = 0;
	uint32_t seen = UINT32_MAX;
	size_t at = 0;

	s->pauses.count = 0;
	for (size_t i = 0; i < s->count; i++) {
		uint32_t source = s->log->works[s->numbers[i]].source;
		const struct ut_device_source *from = &s->log->sources[source];

		if (source == seen)
			continue;
		seen = source;
		first = from->first < first ? from->first : first;
		last = from->last > last ? from->last : last;
		add_pauses(&s->pauses, s->log, source, &at);
	}
	finalize_pauses(&s->pauses);
	u->run = last > first ? last - first : 0;
}

static int device_summary_by_start(const void *a, const void *b, void *ctx)
{
	const struct ut_device_work *works = ctx;
	const struct ut_device_work *x = &works[*(const uint32_t *)a];
	const struct ut_device_work *y = &works[*(const uint32_t *)b];

	return (x->start > y->start) - (x->start < y->start);
}

/* The works of one device, by their numbers. */
static void device_summary_measure(struct ut_device_use *u, struct sweep *s, uint32_t *numbers,
				   size_t count)
{
	uint32_t source = count ? s->log->works[numbers[0]].source : 0;

	s->numbers = numbers;
	s->count = s->end_count = s->time_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ut_device_work *w = &s->log->works[numbers[i]];

		if (w->kind == UT_DEVICE_SYNC)
			continue;
		numbers[s->count++] = numbers[i];
		count_work(u, w);
		device_summary_add_work(s, w);
	}
	if (!u->works)
		return;
	look_at_sources(u, s);
	if (s->log->works[numbers[s->count - 1]].source != source)
		qsort_r(numbers, s->count, sizeof(*numbers), device_summary_by_start,
			s->log->works);
	ut_sort(s->ends, s->end_count, sizeof(*s->ends), by_end);
	ut_sort(s->times, s->time_count, sizeof(*s->times), compare_u64);
	s->first = s->log->works[numbers[0]].start;
	sweep(u, s);
	if (u->run < u->window + u->paused)
		u->run = u->window + u->paused; /* work may outlive the last sign of its program */
	measure_latency(u, s);
	device_summary_evaluate(u);
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

static int device_summary_by_total(const void *a, const void *b)
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
	ut_sort(r.shares, r.share_count, sizeof(*r.shares), by_name_and_total);
	for (size_t i = 0; i < r.share_count; i++) {
		struct ut_device_top *t = top_of(s, &r, r.shares[i].name);

		if (!t->task && r.shares[i].task) {
			t->task = r.shares[i].task;
			t->task_total = r.shares[i].total;
		}
	}
	ut_sort(s->tops, s->top_count, sizeof(*s->tops), device_summary_by_total);
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
	struct sweep room = { .log = log };
	size_t cap = 0, first = 0;

	*s = (struct ut_device_summary){ 0 };
	for (size_t i = 0; i < log->device_count; first = ends[i++]) {
		struct ut_device_use u = { .device = (uint32_t)i };

		device_summary_measure(&u, &room, numbers + first, ends[i] - first);
		if (!u.works)
			continue;
		s->uses = ut_grow(s->uses, s->use_count + 1, &cap, sizeof(*s->uses));
		s->uses[s->use_count++] = u;
	}
	free(room.ends);
	free(room.times);
	free(room.pauses.items);
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
