/*
 * lanes.c - spans that belong to no thread get lanes of their own, as many as it takes for
 * them to nest; and the arrows between tasks that refer to each other.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "import/spool/live_state.h"
#include "import/spool/rows.h"
#include "import/spool/steps.h"
#include "ittnotify.h"
#include "model/sink.h"

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

static size_t send_lane(struct ut_spool_import *im, const struct ut_spool_late *spans, size_t count)
{
	struct ut_spool_rows *rows = ut_spool_rows_begin(im, UT_ROWS_LANE, spans[0].lane);
	size_t n = 0;

	for (; n < count && spans[n].lane == spans[0].lane; n++) {
		size_t at = ut_spool_rows_find(rows, spans[n].begin, spans[n].end, true);

		ut_spool_rows_put(rows, at, spans[n].end,
				  at == rows->rows.count ? add_row_track(im, &spans[n], at) : 0);
		send_late(im, &spans[n], rows->rows.items[at].track);
	}
	ut_spool_rows_end(im, rows);
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

static int spool_lanes_by_key(const void *a, const void *b)
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
	return ut_spool_by_then(im->places.items, im->places.count, sizeof(*im->places.items), key,
				ticks);
}

_Static_assert(!offsetof(struct ut_spool_place, key) && offsetof(struct ut_spool_place, ticks) == 8,
	       "ut_spool_by_then() reads these");

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
		qsort(im->places.items, im->places.count, sizeof(*im->places.items),
		      spool_lanes_by_key);
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

/* ---- of a recording that is followed -------------------------------------------------------- */

#define WAIT_TICKS (UINT64_C(1) << 33) /* some seconds, for the other end of an arrow */

static const struct ut_spool_place *latest(const struct ut_spool_import *im, uint64_t key)
{
	uint32_t at = ut_idmap_get(&im->live->place_of, key);

	return at ? &im->places.items[at - 1] : NULL;
}

static void send_end(struct ut_spool_import *im, const struct ut_spool_flow *f)
{
	const struct ut_event span = { .ts = ut_spool_ns(&im->tables, f->begin),
				       .track = ut_spool_thread_track(&im->tables, f->thread) };

	ut_spool_send_flow(im, f, &span);
}

void ut_spool_flows_go_on(struct ut_spool_import *im, uint64_t ticks)
{
	size_t kept = 0;

	for (size_t i = 0; i < im->references.count; i++) {
		const struct ut_spool_place r = im->references.items[i];
		const struct ut_spool_place *tail = latest(im, r.key);
		const struct ut_spool_place *head = r.head ? latest(im, r.head) : &r;

		if (!head || !tail) {
			if (r.ticks + WAIT_TICKS > ticks)
				im->references.items[kept++] = r;
			continue;
		}
		if (head->begin == tail->begin && head->thread == tail->thread)
			continue;
		im->live->arrow_count++;
		if (from_tail(r.relation))
			add_flow(im, tail, head, r.relation, im->live->arrow_count);
		else
			add_flow(im, head, tail, r.relation, im->live->arrow_count);
	}
	im->references.count = kept;
	for (size_t i = 0; i < im->flows.count; i++)
		send_end(im, &im->flows.items[i]);
	im->flows.count = 0;
}
