/*
 * extra_interval.c - stretches of time: sorted, united, and what of a step they cover.
 */
#include <stdlib.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

void ut_ace_intervals_add(struct ut_ace_intervals *v, int64_t begin, int64_t end)
{
	if (end <= begin)
		return;
	v->items = ut_grow(v->items, v->count + 1, &v->cap, sizeof(*v->items));
	v->unsorted |= v->count && v->items[v->count - 1].begin > begin;
	v->items[v->count++] = (struct ut_ace_interval){ begin, end };
}

static int extra_interval_by_begin(const void *p, const void *q)
{
	const struct ut_ace_interval *a = p, *b = q;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

void ut_ace_intervals_sort(struct ut_ace_intervals *v)
{
	if (v->unsorted)
		qsort(v->items, v->count, sizeof(*v->items), extra_interval_by_begin);
	v->unsorted = false;
}

void ut_ace_intervals_unite(struct ut_ace_intervals *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->count; i++) {
		struct ut_ace_interval x = v->items[i];

		if (n && x.begin <= v->items[n - 1].end) {
			if (x.end > v->items[n - 1].end)
				v->items[n - 1].end = x.end;
		} else {
			v->items[n++] = x;
		}
	}
	v->count = n;
}

static int extra_interval_by_value(const void *p, const void *q)
{
	int64_t a = *(const int64_t *)p, b = *(const int64_t *)q;

	return (a > b) - (a < b);
}

int64_t ut_ace_median(int64_t *v, size_t n)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), extra_interval_by_value);
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

/* A moment that moves on, and what the rank does then. */
struct sweep {
	const struct ut_ace_extra_rank *rank;
	int64_t now;
	size_t at[UT_ACE_WORKS];
	int64_t edge[UT_ACE_WORKS]; /* when the work begins or ends next */
	bool on[UT_ACE_WORKS];
};

/* begin must not be behind any work. */
static void sweep_start(struct sweep *s, const struct ut_ace_extra_rank *r, int64_t begin)
{
	*s = (struct sweep){ .rank = r, .now = begin };
	for (int w = 0; w < UT_ACE_WORKS; w++)
		s->edge[w] = r->work[w].count ? r->work[w].items[0].begin : INT64_MAX;
}

static void pass_edge(struct sweep *s, int w)
{
	const struct ut_ace_intervals *v = &s->rank->work[w];

	if (s->on[w])
		s->edge[w] = ++s->at[w] < v->count ? v->items[s->at[w]].begin : INT64_MAX;
	else
		s->edge[w] = v->items[s->at[w]].end;
	s->on[w] = !s->on[w];
}

/* Moves on to a moment; what the time until then went to is added to out. */
static void sweep_to(struct sweep *s, int64_t to, struct ut_ace_split *out)
{
	while (s->now < to) {
		int64_t next = to, len;
		int first = UT_ACE_IDLE;

		for (int w = UT_ACE_WORKS - 1; w >= 0; w--) {
			next = s->edge[w] < next ? s->edge[w] : next;
			first = s->on[w] ? w : first;
		}
		len = next - s->now;
		for (int w = first; w < UT_ACE_WORKS; w++)
			out->whole[w] += s->on[w] ? len : 0;
		out->part[first] += len;
		out->length += len;
		s->now = next;
		for (int w = 0; w < UT_ACE_WORKS; w++) {
			if (s->edge[w] == next)
				pass_edge(s, w);
		}
	}
}

/* From the first work of a rank to its last; false if it does none. */
static bool extent(const struct ut_ace_extra_rank *r, int64_t *begin, int64_t *end)
{
	bool any = false;

	for (int w = 0; w < UT_ACE_WORKS; w++) {
		const struct ut_ace_intervals *v = &r->work[w];

		if (!v->count)
			continue;
		if (!any || v->items[0].begin < *begin)
			*begin = v->items[0].begin;
		if (!any || v->items[v->count - 1].end > *end)
			*end = v->items[v->count - 1].end;
		any = true;
	}
	return any;
}

/* A step whose length is not known yet ends where the next one begins, the last with the work. */
static void close_steps(struct ut_ace_extra_rank *r, int64_t end)
{
	for (size_t i = 0; i < r->step_count; i++) {
		struct ut_ace_step *s = &r->steps[i];
		bool last = i + 1 == r->step_count;
		int64_t next = last ? end : r->steps[i + 1].begin;

		if (!s->split.length || (!last && s->begin + s->split.length > next))
			s->split.length = next > s->begin ? next - s->begin : 0;
	}
}

static double compute_joules(const struct ut_ace_extra_rank *r)
{
	const struct ut_ace_intervals *v = &r->work[UT_ACE_WORK_COMPUTE];
	double sum = 0;
	size_t at = 0;

	for (size_t i = 0; r->sample_count && i < v->count; i++) {
		sum -= ut_ace_extra_joules(r, v->items[i].begin, &at);
		sum += ut_ace_extra_joules(r, v->items[i].end, &at);
	}
	return sum;
}

/* Sums up what a part of the rank's time went to. */
static void extra_interval_add_work(struct ut_ace_split *sum, const struct ut_ace_split *s)
{
	for (int w = 0; w < UT_ACE_WORKS; w++) {
		sum->part[w] += s->part[w];
		sum->whole[w] += s->whole[w];
	}
}

/* One sweep cuts the time at the steps; steps may begin before the work and end after it. */
static void split_steps(struct ut_ace_extra_rank *r, int64_t begin, int64_t end)
{
	struct ut_ace_split between = { 0 };
	struct sweep sweep;
	size_t power = 0;

	sweep_start(&sweep, r, r->steps[0].begin < begin ? r->steps[0].begin : begin);
	for (size_t i = 0; i < r->step_count; i++) {
		struct ut_ace_step *s = &r->steps[i];
		int64_t to = s->begin + s->split.length;

		s->split.length = 0;
		sweep_to(&sweep, s->begin, &between);
		sweep_to(&sweep, to, &s->split);
		s->energy = -ut_ace_extra_joules(r, s->begin, &power);
		s->energy += ut_ace_extra_joules(r, to, &power);
		extra_interval_add_work(&r->all, &s->split);
	}
	sweep_to(&sweep, end, &between);
	extra_interval_add_work(&r->all, &between);
	r->all.length = r->all.part[UT_ACE_IDLE] = end - begin;
	for (int w = 0; w < UT_ACE_WORKS; w++)
		r->all.part[UT_ACE_IDLE] -= r->all.part[w];
}

static void split_rank(struct ut_ace_extra_rank *r)
{
	int64_t begin = 0, end = 0;

	if (!extent(r, &begin, &end)) {
		r->step_count = 0;
		return;
	}
	r->begin = begin;
	r->active = compute_joules(r);
	if (!r->step_count) {
		r->steps = ut_grow(r->steps, 1, &r->step_cap, sizeof(*r->steps));
		r->steps[r->step_count++].begin = begin;
		r->source = UT_ACE_STEPS_RUN;
	}
	close_steps(r, end);
	split_steps(r, begin, end);
}

void ut_ace_extra_split(struct ut_ace_extra *x)
{
	for (size_t i = 0; i < x->rank_count; i++)
		split_rank(&x->ranks[i]);
}
