/*
 * lanes.c - spans that belong to no thread get lanes of their own, as many as it takes for
 * them to nest; and the arrows between tasks that refer to each other.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "import/spool/state.h"
#include "ittnotify.h"
#include "model/sink.h"

/* One row of spans that nest. */
struct row {
	uint32_t track;
	UT_VEC(uint64_t) ends; /* of the spans that are open, outermost first */
};

/*
 * By lane; then outer before inner, as sinks expect it. Of two with the same bounds, the one that
 * came later is the outer: libomp submits a barrier, then the region that it ends.
 */
static int by_lane(const void *a, const void *b)
{
	const struct ut_spool_late *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? 1 : -1;
	return (x->order < y->order) - (x->order > y->order);
}

static bool fits(struct row *row, const struct ut_spool_late *s)
{
	while (row->ends.count && row->ends.items[row->ends.count - 1] <= s->begin)
		row->ends.count--;
	return !row->ends.count || s->end <= row->ends.items[row->ends.count - 1];
}

static uint32_t add_row_track(struct ut_spool_import *im, const struct ut_spool_late *first,
			      size_t number)
{
	uint32_t lane = first->lane, track;
	struct ut_str s = ut_strtab_get(&im->trace->strings, lane);
	char name[600];

	if (number)
		snprintf(name, sizeof(name), "%.*s (%zu)", s.len > 500 ? 500 : (int)s.len, s.ptr,
			 number + 1);
	track = ut_spool_add_lane(&im->tables, UT_TRACK_LANE,
				  number ? ut_strtab_intern_z(&im->trace->strings, name) : lane);
	im->trace->tracks[track].role = first->role;
	return track;
}

static void send_late(struct ut_spool_import *im, const struct ut_spool_late *s, uint32_t track)
{
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .ts = s->begin,
			      .val = s->end - s->begin,
			      .name = s->name,
			      .cat = s->cat,
			      .track = track,
			      .flags = s->flags };

	for (uint32_t i = 0; i < s->arg_count; i++)
		*ut_trace_add_arg(im->trace, 0, UT_ARG_END) = s->args[i];
	ut_spool_send(im, &e, mark);
}

/* Rows are tried in order, so programs that nest get one; a row is never searched, only its top. */
static size_t send_lane(struct ut_spool_import *im, const struct ut_spool_late *spans, size_t count)
{
	UT_VEC(struct row) rows = { 0 };
	size_t n = 0;

	for (; n < count && spans[n].lane == spans[0].lane; n++) {
		size_t at = 0;

		while (at < rows.count && !fits(&rows.items[at], &spans[n]))
			at++;
		if (at == rows.count)
			*UT_VEC_PUSH(&rows) =
				(struct row){ .track = add_row_track(im, &spans[n], at) };
		*UT_VEC_PUSH(&rows.items[at].ends) = spans[n].end;
		send_late(im, &spans[n], rows.items[at].track);
	}
	for (size_t i = 0; i < rows.count; i++)
		free(rows.items[i].ends.items);
	free(rows.items);
	return n;
}

void ut_spool_sort_lanes(struct ut_spool_import *im)
{
	if (im->late.count)
		qsort(im->late.items, im->late.count, sizeof(*im->late.items), by_lane);
}

void ut_spool_send_lanes(struct ut_spool_import *im)
{
	for (size_t i = 0; i < im->late.count;)
		i += send_lane(im, &im->late.items[i], im->late.count - i);
}

/* ---- flows --------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct ut_spool_place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* Ids are addresses and get used again: the latest instance by then, else the next to come. */
static const struct ut_spool_place *find_place(const struct ut_spool_import *im, uint64_t key,
					       uint64_t ticks)
{
	const struct ut_spool_place *all = im->places.items;
	size_t lo = 0, hi = im->places.count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].key < key || (all[mid].key == key && all[mid].ticks <= ticks))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && all[lo - 1].key == key)
		return &all[lo - 1];
	return lo < im->places.count && all[lo].key == key ? &all[lo] : NULL;
}

/*
 * The edges of a flow graph run between ports of nodes; what shows up in time are the nodes'
 * bodies. So for an id that is no task: a task that belongs to it, or to what it belongs to.
 */
static const struct ut_spool_place *find_task(const struct ut_spool_import *im, uint64_t key,
					      uint64_t ticks)
{
	const struct ut_spool_place *p = find_place(im, key, ticks);
	uint64_t parent;

	if (!p)
		p = find_place(im, ut_spool_children(key), ticks);
	if (p)
		return p;
	parent = ut_spool_group_parent(im, key, ticks);
	return parent ? find_place(im, ut_spool_children(parent), ticks) : NULL;
}

/* Does "head is RELATION tail" mean that time runs from tail to head? */
static bool from_tail(uint32_t relation)
{
	return relation == __itt_relation_is_dependent_on ||
	       relation == __itt_relation_is_continuation_of ||
	       relation == __itt_relation_is_child_of;
}

static void add_flow(struct ut_spool_import *im, const struct ut_spool_place *from,
		     const struct ut_spool_place *to, uint32_t relation, uint64_t number)
{
	*UT_VEC_PUSH(&im->flows) = (struct ut_spool_flow){ .begin = from->begin,
							   .thread = from->thread,
							   .out = true,
							   .relation = relation,
							   .number = number };
	*UT_VEC_PUSH(&im->flows) = (struct ut_spool_flow){ .begin = to->begin,
							   .thread = to->thread,
							   .out = false,
							   .relation = relation,
							   .number = number };
}

void ut_spool_import_flows(struct ut_spool_import *im)
{
	if (im->places.count)
		qsort(im->places.items, im->places.count, sizeof(*im->places.items), by_key);
	for (size_t i = 0; i < im->references.count; i++) {
		const struct ut_spool_place *r = &im->references.items[i];
		const struct ut_spool_place *tail = find_task(im, r->key, r->ticks);
		const struct ut_spool_place *head = r->head ? find_task(im, r->head, r->ticks) : r;

		if (!head || !tail || (head->begin == tail->begin && head->thread == tail->thread))
			continue;
		if (from_tail(r->relation))
			add_flow(im, tail, head, r->relation, i + 1);
		else
			add_flow(im, head, tail, r->relation, i + 1);
	}
}
