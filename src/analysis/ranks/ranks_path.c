/* ranks_path.c - see ranks_path.h. */
#include "ranks/ranks_path.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"

/* ---- the path ------------------------------------------------------------------------------ */

static void add_stretch(struct ut_rank_path *p, uint32_t rank, uint64_t begin, uint64_t end)
{
	if (end <= begin)
		return;
	p->stretches =
		ut_grow(p->stretches, p->stretch_count + 1, &p->stretch_cap, sizeof(*p->stretches));
	p->stretches[p->stretch_count++] = (struct ut_rank_stretch){ begin, end, rank };
	p->of_rank[rank] += end - begin;
}

/* The last call of the main thread that began before a time; -1 = none. */
static int64_t call_before(const struct ut_rank *r, uint64_t at)
{
	size_t lo = 0, hi = r->call_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->calls[mid].begin < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo - 1;
}

/*
 * Back from a time on a rank to where it stopped waiting for another one, or to its start. at gets
 * smaller with every hop, so this ends.
 */
static void ranks_path_follow(const struct ut_ranks *r, struct ut_rank_path *p, uint32_t rank,
			      uint64_t at)
{
	uint64_t end = at;

	for (int64_t i = call_before(&r->items[rank], at); i >= 0;) {
		const struct ut_rank *one = &r->items[rank];
		const struct ut_rank_call *c = &one->calls[i];
		const struct ut_rank_more *w = ut_rank_more(one, c);
		uint64_t free = c->begin + w->wait;

		if (!w->wait || w->waited_for == UT_RANK_ABSENT || ut_rank_shape(one, c)->side ||
		    free >= end || c->begin < one->start) {
			i--;
			continue;
		}
		add_stretch(p, rank, free, end);
		rank = w->waited_for;
		end = free;
		i = call_before(&r->items[rank], end);
	}
	add_stretch(p, rank, r->items[rank].start, end);
}

static void turn_round(struct ut_rank_path *p)
{
	for (size_t i = 0, k = p->stretch_count; i + 1 < k; i++) {
		struct ut_rank_stretch other = p->stretches[i];

		p->stretches[i] = p->stretches[--k];
		p->stretches[k] = other;
	}
}

/* ---- what lies on it ----------------------------------------------------------------------- */

struct parts {
	struct ut_rank_keys keys;
	struct ut_rank_path *path;
	uint32_t rank;
};

static void ranks_path_add_part(void *ctx, const struct ut_rank_piece *piece)
{
	struct parts *x = ctx;
	uint32_t task = piece->call ? UT_RANK_IN_CALL : piece->task;
	size_t row = ut_rank_keys_row(&x->keys, x->rank, task, 0, 0);
	struct ut_rank_path *p = x->path;

	p->parts = ut_grow(p->parts, row + 1, &p->part_cap, sizeof(*p->parts));
	p->part_count = x->keys.count;
	p->parts[row].rank = x->rank;
	p->parts[row].task = task;
	p->parts[row].found = (uint32_t)row;
	p->parts[row].time += piece->end - piece->begin;
}

static int ranks_path_by_time(const void *a, const void *b)
{
	const struct ut_rank_on_path *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->found > y->found) - (x->found < y->found);
}

static void find_parts(const struct ut_ranks *r, struct ut_rank_path *p)
{
	struct parts x = { .path = p };

	for (size_t i = 0; i < p->stretch_count; i++) {
		const struct ut_rank_stretch *s = &p->stretches[i];

		x.rank = s->rank;
		ut_rank_walk(&r->items[s->rank], s->begin, s->end, ranks_path_add_part, &x);
	}
	ut_sort(p->parts, p->part_count, sizeof(*p->parts), ranks_path_by_time);
	ut_rank_keys_release(&x.keys);
}

/* ---- steps --------------------------------------------------------------------------------- */

struct candidate {
	uint64_t time;
	uint32_t count; /* in the first rank */
	uint32_t ranks; /* that have as many */
	uint32_t here;  /* in the rank that is looked at */
};

/* The task with the most time of those that all ranks have equally often, twice or more. */
static uint32_t find_step(const struct ut_ranks *r)
{
	struct ut_rank_keys keys = { 0 };
	struct candidate *all = NULL;
	size_t cap = 0, best = SIZE_MAX;
	uint32_t task;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		for (size_t k = 0; k < one->top_count; k++) {
			size_t row = ut_rank_keys_row(&keys, one->tops[k].task, 0, 0, 0);

			all = ut_grow(all, row + 1, &cap, sizeof(*all));
			all[row].here++;
			all[row].time += one->tops[k].end - one->tops[k].begin;
		}
		for (size_t k = 0; k < keys.count; k++) {
			if (!i)
				all[k].count = all[k].here;
			all[k].ranks += all[k].here == all[k].count && all[k].count > 1;
			all[k].here = 0;
		}
	}
	for (size_t k = 0; k < keys.count; k++) {
		if (all[k].ranks == r->count && (best == SIZE_MAX || all[k].time > all[best].time))
			best = k;
	}
	task = best == SIZE_MAX ? 0 : keys.items[best][0];
	free(all);
	ut_rank_keys_release(&keys);
	return task;
}

static void ranks_path_widen(struct ut_rank_step *s, const struct ut_rank_top *t, uint32_t rank)
{
	uint64_t time = t->end - t->begin;

	s->begin = !s->end || t->begin < s->begin ? t->begin : s->begin;
	s->shortest = !s->end || time < s->shortest ? time : s->shortest;
	if (time > s->longest) {
		s->longest = time;
		s->slowest = rank;
	}
	s->end = t->end > s->end ? t->end : s->end;
}

static void make_steps(const struct ut_ranks *r, struct ut_rank_path *p)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		size_t n = 0;

		for (size_t k = 0; k < one->top_count; k++) {
			if (one->tops[k].task != p->step_task)
				continue;
			p->steps = ut_grow(p->steps, n + 1, &cap, sizeof(*p->steps));
			ranks_path_widen(&p->steps[n++], &one->tops[k], i);
		}
		p->step_count = n > p->step_count ? n : p->step_count;
	}
}

/* The part of the path that lies in a step, rank by rank. */
static void find_critical(const struct ut_ranks *r, struct ut_rank_path *p, size_t *first,
			  struct ut_rank_step *s)
{
	uint64_t *times = ut_make((r->count + 1) * sizeof(*times));
	struct ut_rank_path inside = { 0 };
	struct parts x = { .path = &inside };

	while (*first < p->stretch_count && p->stretches[*first].end <= s->begin)
		++*first;
	for (size_t i = *first; i < p->stretch_count && p->stretches[i].begin < s->end; i++) {
		const struct ut_rank_stretch *one = &p->stretches[i];
		uint64_t begin = one->begin > s->begin ? one->begin : s->begin;
		uint64_t end = one->end < s->end ? one->end : s->end;

		times[one->rank] += end - begin;
		x.rank = one->rank;
		ut_rank_walk(&r->items[one->rank], begin, end, ranks_path_add_part, &x);
	}
	for (uint32_t i = 0; i < r->count; i++) {
		if (times[i] > s->on_path) {
			s->on_path = times[i];
			s->critical = i;
		}
	}
	ut_sort(inside.parts, inside.part_count, sizeof(*inside.parts), ranks_path_by_time);
	for (size_t i = 0; i < inside.part_count; i++) {
		if (inside.parts[i].rank == s->critical) {
			s->task = inside.parts[i].task;
			break;
		}
	}
	free(inside.parts);
	ut_rank_keys_release(&x.keys);
	free(times);
}

/* Steps are in order, and so are calls: each call belongs to the last step that began before. */
static void sum_waits(const struct ut_ranks *r, struct ut_rank_path *p)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		size_t step = 0;

		for (size_t k = 0; k < one->call_count; k++) {
			const struct ut_rank_call *c = &one->calls[k];
			uint64_t wait = ut_rank_more(one, c)->wait;

			while (step + 1 < p->step_count && p->steps[step + 1].begin <= c->begin)
				step++;
			if (wait && !ut_rank_shape(one, c)->side &&
			    c->begin >= p->steps[step].begin && c->begin < p->steps[step].end)
				p->steps[step].wait += wait;
		}
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

static uint32_t called(const struct ut_ranks *r, struct ut_str name)
{
	for (uint32_t i = 1; i <= r->strings.count; i++) {
		if (ut_str_eq(ut_strtab_get(&r->strings, i), name))
			return i;
	}
	return 0;
}

/* When a rank did something last: what it waited for in the end never came. */
static uint64_t last_done(const struct ut_rank *one)
{
	uint64_t last = one->stop;

	for (size_t i = 0; i < one->open_count; i++) {
		const struct ut_rank_call *c = &one->calls[one->opens[i].call];

		if (ut_rank_more(one, c)->wait && !ut_rank_shape(one, c)->side && c->begin < last)
			last = c->begin;
	}
	return last;
}

void ut_ranks_path(const struct ut_ranks *r, struct ut_str step, struct ut_rank_path *p)
{
	uint32_t last = 0;
	size_t first = 0;

	*p = (struct ut_rank_path){ 0 };
	p->of_rank = ut_make((r->count + 1) * sizeof(*p->of_rank));
	for (uint32_t i = 0; i < r->count; i++)
		last = last_done(&r->items[i]) > last_done(&r->items[last]) ? i : last;
	ranks_path_follow(r, p, last, last_done(&r->items[last]));
	turn_round(p);
	find_parts(r, p);
	for (uint32_t i = 0; i < r->count; i++)
		p->critical = p->of_rank[i] > p->of_rank[p->critical] ? i : p->critical;
	p->step_task = step.len ? called(r, step) : find_step(r);
	if (p->step_task)
		make_steps(r, p);
	for (size_t i = 0; i < p->step_count; i++)
		find_critical(r, p, &first, &p->steps[i]);
	if (p->step_count)
		sum_waits(r, p);
}

void ut_rank_path_release(struct ut_rank_path *p)
{
	free(p->stretches);
	free(p->parts);
	free(p->of_rank);
	free(p->steps);
	*p = (struct ut_rank_path){ 0 };
}
