/* send.c - what was found on a thread becomes events, with their arguments and arrows. */
#include <stdlib.h>

#include "base/grow.h"
#include "import/spool/live_state.h"
#include "import/spool/thread.h"
#include "ittnotify.h"
#include "model/growing.h"
#include "model/sink.h"

static void add_args(struct ut_spool_reader *rd, const struct ut_spool_argument *pool,
		     uint32_t first)
{
	for (uint32_t at = first; at; at = pool[at - 1].next) {
		if (pool[at - 1].rec.type == UT_REC_CALL_END)
			ut_spool_args_facts(rd->im, &pool[at - 1].rec, 1);
		else
			ut_spool_args_meta(rd->im, &pool[at - 1].rec);
	}
}

static void send_told(struct ut_spool_reader *rd, const struct ut_spool_argument *pool,
		      uint32_t first, const struct ut_event *span)
{
	for (uint32_t at = first; at; at = pool[at - 1].next) {
		if (pool[at - 1].rec.type == UT_REC_CALL_END)
			ut_spool_send_fact_messages(rd->im, &pool[at - 1].rec, 1, span);
	}
}

static void send_call_messages(struct ut_spool_reader *rd, const struct ut_spool_item *it,
			       const struct ut_event *span)
{
	ut_spool_send_messages(rd->im, ut_rec_word(&it->rec, 1), span);
	send_told(rd, rd->args.items, it->args, span);
	if (it->carried)
		send_told(rd, rd->kept.items, rd->carried.items[it->carried - 1].args, span);
}

/* The body of a flow graph's node has no parent of its own, but its id belongs to the node. */
static void add_group_args(struct ut_spool_reader *rd, const struct ut_spool_item *it, size_t at)
{
	struct ut_spool_import *im = rd->im;
	uint64_t parent;

	ut_spool_args_id(im, "id", &it->rec, at, 2);
	if (ut_spool_id(&it->rec, at + 1, 2)) {
		ut_spool_args_parent(im, &it->rec, at + 1, 2, it->begin);
		return;
	}
	parent = ut_spool_group_parent(im, ut_spool_id(&it->rec, at, 2), it->begin);
	ut_spool_args_text(im, "parent", ut_spool_group_name(im, parent, it->begin));
}

static void add_item_args(struct ut_spool_reader *rd, const struct ut_spool_item *it)
{
	const struct ut_spool_rec *r = &it->rec;

	if (r->kind == UT_WORD_LONG && r->type == UT_REC_TASK_BEGIN)
		add_group_args(rd, it, 1);
	else if (r->kind == UT_WORD_LONG && r->type == UT_REC_TASK_BEGIN_FN)
		add_group_args(rd, it, 2);
	else if (r->kind == UT_WORD_LONG && r->type == UT_REC_SYNC)
		ut_spool_args_pointer(rd->im, "object", ut_rec_word(r, 0));
	else if (r->kind == UT_WORD_LONG && r->type == UT_REC_CALL_BEGIN)
		ut_spool_args_facts(rd->im, r, 2);
	add_args(rd, rd->args.items, it->args);
	if (it->carried)
		add_args(rd, rd->kept.items, rd->carried.items[it->carried - 1].args);
}

int ut_spool_by_place(const void *a, const void *b)
{
	const struct ut_spool_flow *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static const char *relation_name(uint32_t relation)
{
	static const char *const names[] = {
		"relation",     "dependent on",    "sibling of",
		"parent of",    "continuation of", "child of",
		"continued by", "predecessor to",  [UT_RELATION_SUBMITS] = "submits",
	};

	return names[relation < sizeof(names) / sizeof(*names) ? relation : 0];
}

void ut_spool_send_flow(struct ut_spool_import *im, const struct ut_spool_flow *f,
			const struct ut_event *span)
{
	const struct ut_event e = {
		.ts = span->ts,
		.track = span->track,
		.kind = f->out ? UT_KIND_FLOW_OUT : UT_KIND_FLOW_IN,
		.val = f->number,
		.name = ut_strtab_intern_z(&im->trace->strings, relation_name(f->relation)),
		.cat = span->cat,
	};

	ut_sink_event(im->sink, im->trace, &e);
}

static void send_flows(struct ut_spool_reader *rd, const struct ut_spool_item *it,
		       const struct ut_event *span)
{
	struct ut_spool_flow key = { .thread = rd->thread, .begin = it->begin };
	struct ut_spool_flow *all = rd->im->flows.items, *f;
	size_t count = rd->im->flows.count;

	f = bsearch(&key, all, count, sizeof(*all), ut_spool_by_place);
	while (f && f > all && ut_spool_by_place(f - 1, &key) == 0)
		f--;
	for (; f && f < all + count && ut_spool_by_place(f, &key) == 0; f++)
		ut_spool_send_flow(rd->im, f, span);
}

/* Ended out of order: two halves of an overlapping span instead of one that nests. */
static void send_crossed(struct ut_spool_reader *rd, const struct ut_spool_item *it,
			 struct ut_event *e, size_t mark)
{
	uint64_t end = ut_spool_ns(&rd->im->tables, it->end);

	e->kind = UT_KIND_ASYNC_BEGIN;
	e->track = ut_spool_overlap_track(rd->im, rd->track);
	e->val = ut_spool_next_instance(rd->im);
	ut_spool_send(rd->im, e, mark);
	e->kind = UT_KIND_ASYNC_END;
	e->ts = end;
	e->args = 0;
	ut_sink_event(rd->im->sink, rd->im->trace, e);
}

static void send_late(struct ut_spool_reader *rd, const struct ut_spool_item *it,
		      const struct ut_event *e, size_t mark)
{
	struct ut_spool_late *late = UT_VEC_PUSH(&rd->im->late);

	*late = (struct ut_spool_late){ .begin = e->ts,
					.end = e->ts + e->val,
					.lane = it->lane,
					.name = e->name,
					.cat = e->cat,
					.flags = e->flags,
					/* begun first is outside */
					.order = UINT32_MAX - (uint32_t)rd->im->late.count };
	ut_spool_keep_args(rd->im, late, mark);
}

static void finish_item(struct ut_spool_reader *rd, struct ut_spool_item *it)
{
	size_t most;

	if (it->carried) {
		const struct ut_spool_carried *c = &rd->carried.items[it->carried - 1];

		it->end = c->end;
		it->flags |= c->flags;
		it->crossed = it->crossed || c->crossed;
		it->inset = c->inset;
	}
	if (!it->end) {
		it->end = rd->im->last > it->begin ? rd->im->last : it->begin;
		most = ut_spool_slack(rd, rd->last < it->end ? rd->last : it->end, it->end);
		most = most < 1000 ? most : 1000;
		it->inset = (uint16_t)(rd->unfinished < most ? rd->unfinished : most);
		rd->unfinished++;
		it->flags |= UT_EV_UNFINISHED;
		/* a start may stand alone; idle threads wait until the process ends */
		if (it->what != UT_SPAN_EVENT && it->what != UT_SPAN_WAIT)
			ut_spool_count_unfinished(rd->im, 1);
	}
}

/* Its end is not known yet. What belongs to no thread is shown when it is. */
static void send_open(struct ut_spool_reader *rd, const struct ut_spool_item *it)
{
	struct ut_spool_carried *c = &rd->carried.items[it->carried - 1];
	struct ut_spool_import *im = rd->im;
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .track = rd->track, .name = it->name, .cat = it->cat };

	e.ts = ut_spool_ns(&im->tables, it->begin);
	if (it->source)
		ut_spool_args_source(im, it->source);
	add_item_args(rd, it);
	if (it->lane) {
		send_late(rd, it, &e, mark);
		c->late = im->late.items[--im->late.count];
		return;
	}
	ut_spool_close_args(im, &e, mark);
	c->open = ut_growing_begin(im->live->growing, &e);
	ut_trace_drop_args(im->trace, mark);
	if (it->what == UT_SPAN_CALL)
		ut_spool_live_call(im, ut_rec_word(&it->rec, 1), &e);
}

void ut_spool_end_carried(struct ut_spool_reader *rd, uint32_t carried)
{
	struct ut_spool_carried *c = &rd->carried.items[carried - 1];
	struct ut_spool_import *im = rd->im;
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .flags = c->flags };
	uint64_t begun = c->open ? ut_growing_begun(im->live->growing, c->open) : c->late.begin;
	uint64_t end = ut_spool_ns(&im->tables, c->end) - c->inset;

	e.val = end > begun ? end - begun : 0;
	if (c->open) {
		if (c->args) {
			ut_growing_put_args(im->live->growing, c->open);
			add_args(rd, rd->kept.items, c->args);
			ut_spool_close_args(im, &e, mark);
		}
		ut_growing_finish(im->live->growing, c->open, &e);
		ut_trace_drop_args(im->trace, mark);
	} else {
		c->late.end = begun + e.val;
		c->late.flags |= c->flags;
		*UT_VEC_PUSH(&im->late) = c->late;
	}
	c->next_free = rd->free_carried;
	rd->free_carried = carried;
}

static void send_span(struct ut_spool_reader *rd, struct ut_spool_item *it)
{
	size_t mark = rd->im->trace->arg_count;
	struct ut_event e = { .track = rd->track, .name = it->name, .cat = it->cat };

	if (rd->look == UT_LOOK_LIVE && it->carried) {
		send_open(rd, it);
		return;
	}
	finish_item(rd, it);
	e.flags = it->flags;
	e.ts = ut_spool_ns(&rd->im->tables, it->begin);
	e.val = ut_spool_ns(&rd->im->tables, it->end) - e.ts;
	e.val -= e.val < it->inset ? e.val : it->inset;
	if (it->source)
		ut_spool_args_source(rd->im, it->source);
	if (it->args || it->carried || it->rec.kind == UT_WORD_LONG)
		add_item_args(rd, it);
	if (it->lane) {
		send_late(rd, it, &e, mark);
	} else if (it->what == UT_SPAN_EVENT && it->flags & UT_EV_UNFINISHED) {
		e.kind = UT_KIND_INSTANT; /* a start alone is a moment */
		e.val = 0;
		e.flags = 0;
		ut_spool_send(rd->im, &e, mark);
	} else if (it->crossed) {
		send_crossed(rd, it, &e, mark);
	} else {
		ut_spool_send(rd->im, &e, mark);
		if (it->what == UT_SPAN_CALL)
			send_call_messages(rd, it, &e);
		if (it->what == UT_SPAN_CALL && rd->im->live)
			ut_spool_live_call(rd->im, ut_rec_word(&it->rec, 1), &e);
		if (rd->im->flows.count && (it->what == UT_SPAN_TASK || it->what == UT_SPAN_CALL))
			send_flows(rd, it, &e);
	}
}

static bool is_span(const struct ut_spool_item *it)
{
	if (it->rec.kind != UT_WORD_LONG)
		return true;
	switch ((int)it->rec.type) {
	case UT_REC_COUNTER:
	case UT_REC_COUNTER_CLOCK:
	case UT_REC_MARKER:
	case UT_REC_HISTOGRAM:
	case UT_REC_MODULE:
	case UT_REC_HINT:
	case UT_REC_MESSAGE:
		return false;
	default:
		return true;
	}
}

void ut_spool_send_part(struct ut_spool_reader *rd)
{
	/* A thread that only carries records of others, as CUPTI's does, gets no row of its own. */
	if (rd->items.count && rd->track == UT_NO_TRACK)
		rd->track = ut_spool_thread_track(&rd->im->tables, rd->thread);
	for (size_t i = 0; i < rd->items.count; i++) {
		struct ut_spool_item *it = &rd->items.items[i];

		if (is_span(it))
			send_span(rd, it);
		else if (it->rec.type == UT_REC_MESSAGE)
			ut_spool_send_message(rd->im, &it->rec, rd->track,
					      ut_spool_ns(&rd->im->tables, it->begin));
		else
			ut_spool_send_single_event(rd->im, rd->track, it->begin, &it->rec);
	}
}
