/*
 * stats_walk.c - one look at every row: counts spans and instants, and whose time it was.
 *
 * Self time: frames are the spans that are going on, the one that started last on top. A span that
 * outlasts those below it takes over all the time that they still had, so they leave the stack:
 * ends always grow smaller towards the top, and a row costs O(1) on average whatever the nesting.
 * Time that a span takes is added to its own self time and subtracted from its owner's at once;
 * the difference may be negative in one part of a track, which its neighbours make up for.
 *
 * Totals: spans come in order of their start, so it is enough to know until when a group goes on;
 * what of a new one lies before that is nested, and in no total twice.
 */
#include "analyze/stats_walk.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "base/grow.h"
#include "base/str.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * A slot is 0 while nobody has looked at its type, else 1 + what to do: the number of a group
 * whose spans are counted, or ODD and something else. The 1 is subtracted in 32 bits, so that
 * "not known" is the largest of the odd ones.
 */
#define ODD            (1u << 31)
#define ODD_INSTANT    ODD
#define ODD_UNFINISHED (ODD | 1u << 28)
#define ODD_NOTHING    (ODD | 2u << 28) /* nobody asks for it */
#define ODD_LATER      (ODD | 3u << 28) /* ut_stats_walk_odd() */
#define ODD_ASIDE      (ODD | 4u << 28) /* nobody's work */
#define ODD_WHAT       (ODD | 7u << 28)
#define ODD_GROUP      (UINT32_MAX >> 4)
#define UNKNOWN        UINT32_MAX

void ut_stats_walk_init(struct ut_stats_walk *w, const struct ut_store *store,
			const struct ut_filter_view *view, unsigned int by)
{
	*w = (struct ut_stats_walk){ .store = store, .view = view };
	ut_stats_init(&w->stats, by);
	w->slots = ut_make(((size_t)store->types.count + 1) * sizeof(*w->slots));
	w->touched = ut_make(((size_t)store->types.count + 1) * sizeof(*w->touched));
	w->frames = ut_grow(NULL, 2, &w->frame_cap, sizeof(*w->frames));
	w->frames[0].end = UINT64_MAX;
	w->tallies = ut_grow(NULL, 1, &w->tally_cap, sizeof(*w->tallies));
	w->lengths = ut_make(UT_STATS_WALK_BATCH * sizeof(*w->lengths));
	w->sorted = ut_make(UT_STATS_WALK_BATCH * sizeof(*w->sorted));
	w->groups = ut_make(UT_STATS_WALK_BATCH * sizeof(*w->groups));
}

void ut_stats_walk_release(struct ut_stats_walk *w)
{
	ut_stats_release(&w->stats);
	free(w->slots);
	free(w->touched);
	free(w->frames);
	free(w->tallies);
	free(w->lengths);
	free(w->sorted);
	free(w->groups);
	*w = (struct ut_stats_walk){ 0 };
}

/* ---- which group --------------------------------------------------------------------------- */

uint32_t ut_stats_walk_string(struct ut_stats_walk *w, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&w->store->trace.strings, id);

	return ut_strtab_intern(&w->stats.strings, s.ptr, s.len);
}

static uint32_t stats_walk_take_text(struct ut_stats_walk *w, struct ut_buf *b)
{
	uint32_t id = ut_strtab_intern(&w->stats.strings, b->data ? b->data : "", b->len);

	ut_buf_release(b);
	return id;
}

void ut_stats_walk_enter(struct ut_stats_walk *w, uint32_t track)
{
	const struct ut_trace *t = &w->store->trace;
	uint32_t process = t->tracks[track].process;
	struct ut_buf b = { 0 };

	w->track = track;
	w->track_key = w->process_key = w->rank_key = 0;
	if (w->stats.by & 1u << UT_BY_TRACK) {
		ut_label_track(&b, t, track);
		w->track_key = stats_walk_take_text(w, &b);
	}
	if (w->stats.by & 1u << UT_BY_PROCESS) {
		ut_label_process(&b, t, process);
		w->process_key = stats_walk_take_text(w, &b);
	}
	if (w->stats.by & 1u << UT_BY_RANK && t->processes[process].rank >= 0) {
		ut_buf_fmt(&b, "%d", (int)t->processes[process].rank);
		w->rank_key = stats_walk_take_text(w, &b);
	}
}

void ut_stats_walk_key(const struct ut_stats_walk *w, uint32_t key[UT_BY_COUNT])
{
	key[UT_BY_NAME] = key[UT_BY_CATEGORY] = 0;
	key[UT_BY_TRACK] = w->track_key;
	key[UT_BY_PROCESS] = w->process_key;
	key[UT_BY_RANK] = w->rank_key;
}

uint32_t ut_stats_walk_group(struct ut_stats_walk *w, const struct ut_type *type)
{
	uint32_t key[UT_BY_COUNT], group;

	ut_stats_walk_key(w, key);
	if (w->stats.by & 1u << UT_BY_NAME)
		key[UT_BY_NAME] = ut_stats_walk_string(w, type->name);
	if (w->stats.by & 1u << UT_BY_CATEGORY)
		key[UT_BY_CATEGORY] = ut_stats_walk_string(w, type->cat);
	group = ut_stats_group(&w->stats, key);
	w->tallies = ut_grow(w->tallies, (size_t)group + 1, &w->tally_cap, sizeof(*w->tallies));
	return group;
}

static uint32_t decide(struct ut_stats_walk *w, uint32_t number)
{
	const struct ut_type *type = ut_store_type(w->store, number);
	bool wanted = ut_filter_wants(w->view, w->track, number);

	switch ((enum ut_kind)type->kind) {
	case UT_KIND_SPAN:
		if (type->flags & UT_EV_NOT_WORK)
			return ODD_NOTHING;
		if (type->flags & UT_EV_ASIDE)
			return wanted ? ODD_ASIDE | ut_stats_walk_group(w, type) : ODD_NOTHING;
		if (!wanted)
			return 0; /* hidden, but its time is still not its parent's */
		return ut_stats_walk_group(w, type) |
		       (type->flags & UT_EV_UNFINISHED ? ODD_UNFINISHED : 0);
	case UT_KIND_INSTANT:
	case UT_KIND_SAMPLE:
		return wanted ? ODD_INSTANT | ut_stats_walk_group(w, type) : ODD_NOTHING;
	case UT_KIND_COUNTER:
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_END:
		return wanted ? ODD_LATER : ODD_NOTHING;
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
	case UT_KIND_ASYNC_INSTANT:
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
	case UT_KIND_COUNT:
		break;
	}
	return ODD_NOTHING;
}

static uint32_t stats_walk_look_up(struct ut_stats_walk *w, uint32_t number)
{
	uint32_t what = w->slots[number] - 1;

	if (what != UNKNOWN)
		return what;
	what = decide(w, number);
	w->slots[number] = what + 1;
	w->touched[w->touched_count++] = number;
	return what;
}

/* ---- time of a group ----------------------------------------------------------------------- */

static __attribute__((noinline)) void add_nested(struct ut_stats_walk *w, uint32_t group,
						 uint64_t ts, uint64_t end)
{
	uint64_t *until = &w->tallies[group].until;

	w->stats.groups[group].nested += (end < *until ? end : *until) - ts;
	*until = end > *until ? end : *until;
}

/* The group goes on from ts to end, be it once more or still. */
static inline void cover(struct ut_stats_walk *w, struct ut_stats_walk_tally *tallies,
			 uint32_t group, uint64_t ts, uint64_t end)
{
	if (UNLIKELY(ts < tallies[group].until))
		add_nested(w, group, ts, end);
	else
		tallies[group].until = end;
}

/* With window or lengths: what is left of a span. False: it is of no concern at all. */
static inline bool pick(const struct ut_filter_view *v, uint64_t *ts, uint64_t *end,
			uint32_t *group)
{
	if (!ut_filter_wants_span(v, *ts, *end))
		*group = 0;
	if (!v->clip)
		return true;
	*ts = *ts > v->from ? *ts : v->from;
	*end = *end < v->to ? *end : v->to;
	return *ts <= *end;
}

/* A span that is listed, but takes no time from anybody. */
static void add_aside(struct ut_stats_walk *w, uint32_t number, uint32_t group, uint64_t ts,
		      uint64_t end)
{
	struct ut_stats_group *g;

	if (!pick(w->view, &ts, &end, &group) || !group)
		return;
	cover(w, w->tallies, group, ts, end);
	g = &w->stats.groups[group];
	ut_dist_add(&g->dist, end - ts);
	g->unfinished += (ut_store_type(w->store, number)->flags & UT_EV_UNFINISHED) != 0;
	g->aside++;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Everything but plain spans. True if it is a span after all, of *group. */
static bool odd_row(struct ut_stats_walk *w, uint32_t number, uint64_t ts, uint64_t end,
		    uint32_t *group)
{
	uint32_t what = stats_walk_look_up(w, number);

	*group = what;
	if (what < ODD)
		return true;
	*group = what & ODD_GROUP;
	switch (what & ODD_WHAT) {
	case ODD_INSTANT:
		w->stats.groups[*group].instants += ut_filter_wants_timestamp(w->view, ts);
		return false;
	case ODD_UNFINISHED:
		w->stats.groups[*group].unfinished += ut_filter_wants_span(w->view, ts, end);
		return true;
	case ODD_ASIDE:
		add_aside(w, number, *group, ts, end);
		return false;
	case ODD_LATER:
		w->later = true;
		return false;
	default:
		return false;
	}
}

/* Room for n more frames above top, which may move. */
static struct ut_stats_walk_frame *stats_walk_make_room(struct ut_stats_walk *w,
							struct ut_stats_walk_frame *top, size_t n)
{
	size_t depth = (size_t)(top - w->frames);

	w->frames = ut_grow(w->frames, depth + 1 + n, &w->frame_cap, sizeof(*w->frames));
	return w->frames + depth;
}

/* In halves, because the compiler makes more of them than of one 128-bit number. */
static inline void stats_walk_give(struct ut_stats_walk_tally *t, uint64_t time)
{
	t->self_high += __builtin_add_overflow(t->self_low, time, &t->self_low);
}

static inline void stats_walk_take(struct ut_stats_walk_tally *t, uint64_t time)
{
	t->self_high -= __builtin_sub_overflow(t->self_low, time, &t->self_low);
}

/* A span starts: takes its time from those that are going on. Returns the new top. */
static inline __attribute__((always_inline)) struct ut_stats_walk_frame *
stats_walk_start(struct ut_stats_walk_tally *tallies, struct ut_stats_walk_frame *top, uint64_t ts,
		 uint64_t end, uint32_t group)
{
	uint64_t from = ts < UINT64_MAX ? ts : ts - 1; /* the lowest frame stays */

	while (top->end <= from)
		top--;
	from = ts;
	while (UNLIKELY(top->end <= end && top->end != UINT64_MAX)) {
		stats_walk_take(&tallies[top->group], top->end - from);
		from = top->end;
		top--;
	}
	stats_walk_take(&tallies[top->group], end - from);
	stats_walk_give(&tallies[group], end - ts);
	*++top = (struct ut_stats_walk_frame){ end, group };
	return top;
}

/* One by one: with more groups than rows there is nothing to gain from an order. */
static void count_unsorted(struct ut_stats_walk *w)
{
	for (uint32_t i = 0; i < w->batch; i++) {
		uint32_t group = w->groups[i];

		w->tallies[group].count = 0;
		if (group)
			ut_dist_add(&w->stats.groups[group].dist, w->lengths[i]);
	}
	w->batch = 0;
}

/*
 * Counts a batch. Sorted by group first, because the counts of thousands of names are in no cache:
 * this way each group is met once, in the order in which they lie in memory.
 */
static void count_batch(struct ut_stats_walk *w)
{
	struct ut_stats_walk_tally *tallies = w->tallies;
	const uint64_t *lengths = w->lengths;
	uint64_t *sorted = w->sorted;
	uint32_t at = 0;

	if (w->stats.group_count > w->batch) {
		count_unsorted(w);
		return;
	}
	for (size_t i = 0; i <= w->stats.group_count; i++) {
		tallies[i].end = at; /* moves from the start of its group to the end */
		at += tallies[i].count;
	}
	for (uint32_t i = 0; i < w->batch; i++)
		sorted[tallies[w->groups[i]].end++] = lengths[i];
	/* group 0 is what nobody wants to see */
	for (size_t i = 0; i <= w->stats.group_count; i++) {
		uint32_t n = tallies[i].count;

		if (i && n)
			ut_dist_add_many(&w->stats.groups[i].dist, sorted + tallies[i].end - n, n);
		tallies[i].count = 0;
	}
	w->batch = 0;
}

/* The hot loop: all it needs is in local variables, because its stores might change the rest. */
static inline __attribute__((always_inline)) struct ut_stats_walk_frame *
walk_block(struct ut_stats_walk *w, const struct ut_block *b, struct ut_stats_walk_frame *top,
	   const bool picky)
{
	const uint64_t *starts = b->ts, *values = b->val;
	const uint32_t *numbers = b->type, *slots = w->slots;
	const uint32_t types = w->store->types.count, count = b->count;
	uint64_t *lengths;
	uint32_t *groups;
	struct ut_stats_walk_tally *tallies = w->tallies;

	if (count > UT_STATS_WALK_BATCH - w->batch)
		count_batch(w);
	lengths = w->lengths + w->batch;
	groups = w->groups + w->batch;
	top = stats_walk_make_room(w, top, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ts = starts[i];
		uint64_t end = ts + values[i] < ts ? UINT64_MAX : ts + values[i];
		uint32_t number = numbers[i] < types ? numbers[i] : 0;
		uint32_t group = slots[number] - 1;

		if (UNLIKELY(group >= ODD)) {
			bool spans = odd_row(w, number, ts, end, &group);

			tallies = w->tallies; /* a new group may have moved them */
			if (!spans)
				continue;
		}
		if (picky && !pick(w->view, &ts, &end, &group))
			continue;
		top = stats_walk_start(tallies, top, ts, end, group);
		cover(w, tallies, group, ts, end);
		tallies[group].count++;
		*lengths++ = end - ts;
		*groups++ = group;
	}
	w->batch = (uint32_t)(lengths - w->lengths);
	return top;
}

/* What is left of a span that began before the part. False: nothing. Its group goes on. */
static bool resume(struct ut_stats_walk *w, const struct ut_stats_walk_open *o,
		   struct ut_stats_walk_frame *f)
{
	uint64_t ts = o->ts;

	*f = (struct ut_stats_walk_frame){ o->end, stats_walk_look_up(w, o->type) & ODD_GROUP };
	if (w->view->rows && !pick(w->view, &ts, &f->end, &f->group))
		return false;
	if (w->tallies[f->group].until < f->end)
		w->tallies[f->group].until = f->end;
	return true;
}

/* The frames as they are where the part begins; their time was counted with their rows. */
static struct ut_stats_walk_frame *enter_part(struct ut_stats_walk *w,
					      const struct ut_stats_walk_part *p)
{
	struct ut_stats_walk_frame *top = stats_walk_make_room(w, w->frames, p->open_count), hidden;

	for (size_t i = 0; i < p->open_count; i++)
		top += resume(w, &p->open[i], top + 1);
	for (size_t i = 0; i < p->hidden_count; i++)
		resume(w, &p->hidden[i], &hidden);
	return top;
}

static void forget_end(struct ut_stats_walk *w, uint32_t number)
{
	uint32_t group = (w->slots[number < w->store->types.count ? number : 0] - 1) & ODD_GROUP;

	if (group <= w->stats.group_count) /* else nobody has looked at its type */
		w->tallies[group].until = 0;
}

/* Groups go on on one track. Costs no more than the part has rows, or there are groups. */
static void leave_part(struct ut_stats_walk *w, const struct ut_stats_walk_part *p)
{
	const struct ut_block *blocks = w->store->rows[p->track].blocks;
	size_t rows = p->open_count + p->hidden_count;

	for (size_t i = p->first; i < p->last; i++)
		rows += blocks[i].count;
	if (rows > w->stats.group_count) {
		for (size_t i = 0; i <= w->stats.group_count; i++)
			w->tallies[i].until = 0;
		return;
	}
	for (size_t i = p->first; i < p->last; i++) {
		for (uint32_t k = 0; k < blocks[i].count; k++)
			forget_end(w, blocks[i].type[k]);
	}
	for (size_t i = 0; i < p->open_count; i++)
		forget_end(w, p->open[i].type);
	for (size_t i = 0; i < p->hidden_count; i++)
		forget_end(w, p->hidden[i].type);
}

/* What depends on the track must not be taken for another one's. */
static void forget_slots(struct ut_stats_walk *w)
{
	for (size_t i = 0; i < w->touched_count; i++)
		w->slots[w->touched[i]] = 0;
	w->touched_count = 0;
}

void ut_stats_walk_spans(struct ut_stats_walk *w, const struct ut_stats_walk_part *p)
{
	const struct ut_rows *rows = &w->store->rows[p->track];
	const unsigned int by_track = 1u << UT_BY_TRACK | 1u << UT_BY_PROCESS | 1u << UT_BY_RANK;
	struct ut_stats_walk_frame *top;

	if (w->stats.by & by_track || w->view->filter)
		forget_slots(w);
	ut_stats_walk_enter(w, p->track);
	w->later = false;
	top = enter_part(w, p);
	for (size_t i = p->first; i < p->last; i++) {
		const struct ut_block *b = &rows->blocks[i];

		if (!w->view->rows)
			top = walk_block(w, b, top, false);
		else if (b->count && b->ts[0] < w->view->to)
			top = walk_block(w, b, top, true);
	}
	leave_part(w, p);
}

void ut_stats_walk_finalize(struct ut_stats_walk *w)
{
	count_batch(w);
	for (size_t i = 1; i <= w->stats.group_count; i++) {
		struct ut_stats_walk_tally *t = &w->tallies[i];

		w->stats.groups[i].self += (ut_u128)t->self_high << 64 | t->self_low;
		t->self_high = t->self_low = 0;
	}
}
