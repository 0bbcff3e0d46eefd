/*
 * pass_align.c - flex and torch traces of one run on one clock (release 1.0).
 *
 * The torch profiler sees the call that starts a flex job, flex sees its round trip. Both lists,
 * put side by side in the order of time, give an offset: the smallest distance between the ends of
 * a pair, so that no round trip ends after the call that made it.
 */
#include <stdlib.h>

#include <inttypes.h>

#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

struct span {
	double ts, dur;
	int priority;
};

struct spans {
	struct span *items;
	size_t count, cap;
};

struct rank {
	uint32_t pid;
	struct spans flex, torch;
	double offset;
};

struct ut_ace_align {
	struct rank *ranks; /* in order of appearance */
	size_t count, cap;
	struct ut_idmap index; /* pid -> place in ranks + 1 */
};

static void pass_align_add_span(struct spans *s, const struct ut_ace_event *e, int priority)
{
	s->items = ut_grow(s->items, s->count + 1, &s->cap, sizeof(*s->items));
	s->items[s->count++] = (struct span){ e->ts, e->dur, priority };
}

static struct rank *pass_align_rank_of(struct ut_ace_align *l, uint32_t pid)
{
	uint32_t at = ut_idmap_get(&l->index, pid);

	if (!at) {
		l->ranks = ut_grow(l->ranks, l->count + 1, &l->cap, sizeof(*l->ranks));
		l->ranks[l->count++].pid = pid;
		at = (uint32_t)l->count;
		ut_idmap_put(&l->index, pid, at);
	}
	return &l->ranks[at - 1];
}

static size_t pass_align_collect(struct ut_ace_analysis *a, struct ut_ace_align *l)
{
	struct ut_ace_table *t = &a->table;
	size_t ranks = 0;

	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		uint64_t n = ut_ace_flags_of(a, e);
		struct rank *r = pass_align_rank_of(l, e->pid);
		bool any = r->flex.count || r->torch.count;

		if (e->ph != 'X')
			continue;
		if (n & UT_ACE_NAME(FLEX_TRIP))
			pass_align_add_span(&r->flex, e, 0);
		if (n & (UT_ACE_NAME(PREDICT) | UT_ACE_NAME(COMPILED)))
			pass_align_add_span(&r->torch, e, n & UT_ACE_NAME(PREDICT) ? 0 : 1);
		ranks += !any && (r->flex.count || r->torch.count);
	}
	return ranks;
}

static void copy_spans(struct spans *to, const struct spans *from)
{
	if (to == from)
		return;
	to->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		to->items = ut_grow(to->items, i + 1, &to->cap, sizeof(*to->items));
		to->items[to->count++] = from->items[i];
	}
}

/* One process may appear under two numbers: that of its rank and that of the system. */
static void join_single(struct ut_ace_analysis *a, struct ut_ace_align *l)
{
	const struct rank *one = &l->ranks[0], *two = &l->ranks[1];
	struct spans flex = { 0 }, torch = { 0 };

	if (one->flex.count && two->flex.count)
		return;
	ut_ace_say(&a->messages, UT_ACE_INFO,
		   "TALN found 2 pids that appear belong to a single rank. Assuming single-process "
		   "run and spreading data to both pids.");
	copy_spans(&flex, one->flex.count ? &one->flex : &two->flex);
	copy_spans(&torch, one->flex.count ? &two->torch : &one->torch);
	for (size_t i = 0; i < l->count; i++) {
		copy_spans(&l->ranks[i].flex, &flex);
		copy_spans(&l->ranks[i].torch, &torch);
	}
	free(flex.items);
	free(torch.items);
}

static int pass_align_by_ts(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	return (a->ts > b->ts) - (a->ts < b->ts);
}

/* Keeps those of the best kind that is there. */
static void keep_best(struct spans *s)
{
	size_t kept = 0;
	int best = 2;

	for (size_t i = 0; i < s->count; i++)
		best = s->items[i].priority < best ? s->items[i].priority : best;
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].priority == best)
			s->items[kept++] = s->items[i];
	}
	s->count = kept;
}

static void find_offset(struct ut_ace_analysis *a, struct rank *r)
{
	char text[UT_SHORTEST_ROOM];
	size_t n;

	keep_best(&r->torch);
	if (!r->flex.count || !r->torch.count)
		return;
	if (r->flex.count != r->torch.count)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"TALN Matching Flex and Torch events will be based on different number of "
			"entries. This could result in mis-alignment. Make sure the correct traces "
			"are ingested.");
	n = r->flex.count < r->torch.count ? r->flex.count : r->torch.count;
	qsort(r->flex.items, n, sizeof(*r->flex.items), pass_align_by_ts);
	qsort(r->torch.items, n, sizeof(*r->torch.items), pass_align_by_ts);
	for (size_t i = 0; i < n; i++) {
		const struct span *x = &r->torch.items[i], *y = &r->flex.items[i];
		double d = (x->ts + x->dur) - (y->ts + y->dur);

		r->offset = !i || d < r->offset ? d : r->offset;
	}
	ut_ace_say(&a->messages, UT_ACE_INFO, "TALN Flex Time Offset for %" PRId64 ": %s",
		   ut_ace_num(&a->table, r->pid), ut_shortest(text, r->offset));
}

/* Does any name in use stand for one of the two sides? Names are fewer than events. */
static bool has_both(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	uint64_t all = 0;

	for (uint32_t id = 1; id <= t->strings.count && id < t->seq_count; id++)
		all |= ut_ace_name_flags(&a->names, t, id);
	if (t->strings.count >= t->seq_count)
		return true;
	return all & UT_ACE_NAME(FLEX_TRIP) && all & (UT_ACE_NAME(PREDICT) | UT_ACE_NAME(COMPILED));
}

int ut_ace_pass_align_collect(struct ut_ace_analysis *a)
{
	struct ut_ace_align *l;

	if (!has_both(a))
		return 0;
	l = UT_NEW(&a->table.arena, struct ut_ace_align);
	ut_idmap_init(&l->index, &a->table.arena);
	if (pass_align_collect(a, l) == 2)
		join_single(a, l);
	for (size_t i = 0; i < l->count; i++)
		find_offset(a, &l->ranks[i]);
	a->align = l;
	return 0;
}

void ut_ace_end_align(struct ut_ace_analysis *a)
{
	struct ut_ace_align *l = a->align;

	for (size_t i = 0; l && i < l->count; i++) {
		free(l->ranks[i].flex.items);
		free(l->ranks[i].torch.items);
	}
	if (l)
		free(l->ranks);
	a->align = NULL;
}

int ut_ace_pass_align_apply(struct ut_ace_analysis *a)
{
	struct ut_ace_align *l = a->align;
	struct ut_ace_table *t = &a->table;
	bool any = false;

	for (size_t i = 0; l && i < l->count; i++)
		any |= !ut_is_zero(l->ranks[i].offset);
	for (size_t i = 0; any && i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);
		const struct rank *r = pass_align_rank_of(l, e->pid);

		if (!ut_is_zero(r->offset) && !(e->flags & UT_ACE_TORCH_ID))
			e->ts += r->offset;
	}
	ut_ace_end_align(a);
	return 0;
}
