/*
 * spool_thread.c - what happened on each thread: begins and ends paired, arguments hung on.
 *
 * A thread is read part by part. A span is handed on at its begin, when its end may lie parts
 * ahead; so a thread of several parts is read twice: the first look ("peek") only finds out how
 * the spans end that are still open when their part ends, and which arguments they get later.
 * There are few of those: memory does not grow with the file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool_import.h"
#include "ittnotify.h"
#include "model/sink.h"
#include "wire/spool_ops.h"

/* Why a thread is being read. */
enum look {
	JOIN, /* to find the tasks that others refer to */
	PEEK, /* to find out how open spans end */
	SEND,
};

enum what {
	TASK,
	EVENT,
	WAIT,
	SITE,
	MODEL_TASK,
	ITERATION
};

/* A record of the part that becomes an event. */
struct item {
	uint64_t begin, end; /* ticks; end 0 = still open */
	uint32_t name, cat;
	uint32_t args, last_arg; /* its argument records, first and last; index + 1, 0 = none */
	uint32_t carried;        /* how it ended in a later part: index + 1 */
	uint8_t what;
	uint8_t flags;           /* of the event */
	bool crossed;            /* ended out of order: cannot nest */
	uint16_t inset;          /* ns by which it is shown to end earlier: see close_span() */
	uint32_t lane;           /* string id of the user's track; 0 = the thread */
	struct ut_spool_rec rec; /* what began it, for ids */
};

struct argument {
	struct ut_spool_rec rec;
	uint32_t next; /* index + 1 */
};

/* The fate of a span that was open at the end of its part. */
struct carried {
	uint64_t end; /* 0 = never ended */
	uint8_t flags;
	bool crossed;
	uint16_t inset;
	uint32_t args, last_arg; /* in kept; index + 1 */
};

/* An open span: in this part (item) or from an earlier one (carried). Each is index + 1. */
struct open {
	uint32_t key; /* domain, event name or lock that its end has to match */
	uint8_t what;
	uint32_t item, carried;
	uint64_t id; /* hash; 0 = none */
	uint64_t begin;
};

struct reader {
	struct ut_spool_import *im;
	uint32_t thread;
	uint32_t track;
	enum look look;
	uint32_t lane; /* string id of the track that the program has set */
	UT_VEC(struct item) items;
	UT_VEC(struct argument) args;
	UT_VEC(struct argument) kept;
	UT_VEC(struct carried) carried;
	UT_VEC(struct open) stack;
	uint32_t open_of[256]; /* how many on the stack have a kind and key of this slot */
	uint64_t before, now;  /* ticks of the last record and of this one; never backwards */
	uint64_t last;         /* ticks of the thread's last record of all */
	size_t unfinished;     /* how many of its spans never ended: those around the next one */
	size_t next_carried;   /* second look: the fate to be used next */
	uint64_t entered;      /* stitch that waits for the first task of its callee; 0 = none */
};

/* ---- spans --------------------------------------------------------------------------------- */

static struct item *add_item(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct item *it = UT_VEC_PUSH(&rd->items);

	*it = (struct item){ .begin = ticks, .rec = *r };
	return it;
}

static void follow_stitch(struct reader *rd, uint64_t ticks);

static size_t slot_of(enum what what, uint32_t key)
{
	return (key + what * 37u) % 256;
}

static struct item *begin_span(struct reader *rd, enum what what, uint32_t key, uint64_t ticks,
			       const struct ut_spool_rec *r)
{
	struct item *it = add_item(rd, ticks, r);
	struct open *o = UT_VEC_PUSH(&rd->stack);

	it->what = (uint8_t)what;
	it->lane = rd->lane;
	*o = (struct open){
		.key = key, .what = (uint8_t)what, .item = (uint32_t)rd->items.count, .begin = ticks
	};
	rd->open_of[slot_of(what, key)]++;
	if (rd->entered && what == TASK)
		follow_stitch(rd, ticks);
	return it;
}

/* How far ends at this time can move forward without leaving what is inside them behind. */
static size_t slack(const struct reader *rd, uint64_t from, uint64_t to)
{
	return (size_t)(ut_spool_ns(&rd->im->tables, to) - ut_spool_ns(&rd->im->tables, from));
}

/*
 * Spans that end together because the outermost did get ends one nanosecond apart, the inner
 * ones first: viewers add start and length as doubles and would see the inner end later.
 */
static void close_span(struct reader *rd, const struct open *o, uint64_t ticks, size_t inset,
		       bool crossed)
{
	uint8_t flags = inset ? UT_EV_IMPLICIT_END : 0;
	size_t most = inset ? slack(rd, rd->before, ticks) : 0;

	inset = inset < most ? inset : most;
	rd->open_of[slot_of((enum what)o->what, o->key)]--;
	if (o->item) {
		struct item *it = &rd->items.items[o->item - 1];

		it->end = ticks;
		it->flags |= flags;
		it->crossed = crossed;
		it->inset = (uint16_t)(inset < 1000 ? inset : 1000);
	} else if (rd->look != SEND) {
		struct carried *c = &rd->carried.items[o->carried - 1];

		c->end = ticks;
		c->flags |= flags;
		c->crossed = crossed;
		c->inset = (uint16_t)(inset < 1000 ? inset : 1000);
	}
	if (rd->look == SEND && flags)
		rd->im->trace->losses.implicit_ends++;
}

static size_t find_open(const struct reader *rd, enum what what, uint32_t key)
{
	/* Most ends without a begin are known at once, however many spans are open. */
	size_t i = rd->open_of[slot_of(what, key)] ? rd->stack.count : 0;

	while (i && (rd->stack.items[i - 1].what != what || rd->stack.items[i - 1].key != key))
		i--;
	return i;
}

/* A task ends with everything in it, whether or not that had said so. */
static void end_task(struct reader *rd, enum what what, uint32_t key, uint64_t ticks)
{
	size_t at = find_open(rd, what, key);

	if (!at) {
		if (rd->look == SEND)
			rd->im->trace->losses.stray_ends++;
		return;
	}
	for (size_t n = rd->stack.count; n >= at; n--)
		close_span(rd, &rd->stack.items[n - 1], ticks, n - at, false);
	rd->stack.count = at - 1;
}

/* Events and waits are no nesting constructs: they end alone. */
static void end_loose(struct reader *rd, enum what what, uint32_t key, uint64_t ticks)
{
	size_t at = find_open(rd, what, key);

	if (!at) {
		if (rd->look == SEND && what == EVENT)
			rd->im->trace->losses.stray_ends++;
		return; /* a lock that was free has no wait to end */
	}
	close_span(rd, &rd->stack.items[at - 1], ticks, 0, at != rd->stack.count);
	memmove(&rd->stack.items[at - 1], &rd->stack.items[at],
		(rd->stack.count - at) * sizeof(*rd->stack.items));
	rd->stack.count--;
}

/* ---- arguments ----------------------------------------------------------------------------- */

static void hang_on(struct reader *rd, const struct open *o, const struct ut_spool_rec *r)
{
	if (o->item) {
		struct item *it = &rd->items.items[o->item - 1];

		*UT_VEC_PUSH(&rd->args) = (struct argument){ *r, 0 };
		if (it->args)
			rd->args.items[it->last_arg - 1].next = (uint32_t)rd->args.count;
		else
			it->args = (uint32_t)rd->args.count;
		it->last_arg = (uint32_t)rd->args.count;
	} else if (rd->look != SEND) {
		struct carried *c = &rd->carried.items[o->carried - 1];

		*UT_VEC_PUSH(&rd->kept) = (struct argument){ *r, 0 };
		if (c->args)
			rd->kept.items[c->last_arg - 1].next = (uint32_t)rd->kept.count;
		else
			c->args = (uint32_t)rd->kept.count;
		c->last_arg = (uint32_t)rd->kept.count;
	}
}

static struct open *find_id(struct reader *rd, uint64_t id)
{
	for (size_t i = rd->stack.count; i; i--)
		if (rd->stack.items[i - 1].id == id)
			return &rd->stack.items[i - 1];
	return NULL;
}

static void note_meta(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	if (rd->look == SEND)
		*UT_VEC_PUSH(&rd->im->metas) =
			(struct ut_spool_note){ ticks, rd->thread, *r, false };
}

static void add_meta(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint64_t id = ut_spool_id(r, 1, 1);
	uint32_t scope = r->type == UT_REC_META_TEXT ? 0 : ut_rec_high(r, 4);
	struct open *o = NULL;

	if (scope == __itt_scope_unknown || scope == __itt_scope_task ||
	    scope == __itt_scope_marker)
		o = id                ? find_id(rd, id)
		    : rd->stack.count ? &rd->stack.items[rd->stack.count - 1]
				      : NULL;
	if (o)
		hang_on(rd, o, r);
	else
		note_meta(rd, ticks, r);
}

/* ---- ids, relations, stitches -------------------------------------------------------------- */

static const struct open *current(const struct reader *rd)
{
	return rd->stack.count ? &rd->stack.items[rd->stack.count - 1] : NULL;
}

static void note_place(struct reader *rd, uint64_t id, uint64_t begin)
{
	uint64_t parent;

	if (rd->look != JOIN)
		return;
	if (ut_idmap_get(&rd->im->wanted, id))
		*UT_VEC_PUSH(&rd->im->places) = (struct ut_spool_place){
			.key = id, .ticks = begin, .begin = begin, .thread = rd->thread
		};
	parent = ut_spool_group_parent(rd->im, id, begin);
	if (parent)
		*UT_VEC_PUSH(&rd->im->places) =
			(struct ut_spool_place){ .key = ut_spool_children(parent),
						 .ticks = begin,
						 .begin = begin,
						 .thread = rd->thread };
}

static void name_task(struct reader *rd, uint64_t id)
{
	struct open *o = rd->stack.count ? &rd->stack.items[rd->stack.count - 1] : NULL;

	if (!id || !o)
		return;
	o->id = id;
	note_place(rd, id, o->begin);
}

static void add_reference(struct reader *rd, uint64_t ticks, uint64_t head, uint32_t relation,
			  uint64_t key)
{
	const struct open *o = current(rd);
	struct ut_spool_place *p;

	if (rd->look != JOIN || !key || (!head && !o))
		return;
	p = UT_VEC_PUSH(&rd->im->references);
	*p = (struct ut_spool_place){ .key = key,
				      .ticks = ticks,
				      .begin = o ? o->begin : 0,
				      .thread = rd->thread,
				      .relation = relation,
				      .head = head };
}

static void stitch(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	const struct open *o = current(rd);
	/* Numbers of stitches and hashes of ids must not meet. */
	uint64_t key = ut_rec_word(r, 0) << 1 | 1ull << 63;

	if (ut_rec_low(r, 1) == UT_STITCH_CREATE && rd->look == JOIN && o) {
		*UT_VEC_PUSH(&rd->im->places) = (struct ut_spool_place){
			.key = key, .ticks = ticks, .begin = o->begin, .thread = rd->thread
		};
	} else if (ut_rec_low(r, 1) == UT_STITCH_ENTER) {
		rd->entered = key;
		if (o)
			follow_stitch(rd, ticks);
	} else if (ut_rec_low(r, 1) == UT_STITCH_LEAVE) {
		rd->entered = 0;
	}
}

/* The callee's task is the one that is open, or else (as in TBB) the first that it begins. */
static void follow_stitch(struct reader *rd, uint64_t ticks)
{
	add_reference(rd, ticks, 0, __itt_relation_is_continuation_of, rd->entered);
	rd->entered = 0;
}

/* ---- one record ---------------------------------------------------------------------------- */

static void begin_task(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint32_t domain = ut_rec_low(r, 0);
	struct item *it = begin_span(rd, TASK, domain, ticks, r);

	it->cat = ut_spool_domain(&rd->im->tables, domain);
	if (r->type == UT_REC_TASK_BEGIN_FN) {
		it->name = ut_spool_function(&rd->im->tables, ut_rec_word(r, 1));
		name_task(rd, ut_spool_id(r, 2, 2));
	} else {
		it->name = ut_spool_string(&rd->im->tables, ut_rec_high(r, 0));
		name_task(rd, ut_spool_id(r, 1, 2));
	}
}

static void begin_wait(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint64_t object = ut_rec_word(r, 0);
	uint32_t key = (uint32_t)(object ^ object >> 32);
	struct item *it = begin_span(rd, WAIT, key, ticks, r);
	uint32_t name = ut_spool_group_name(rd->im, object << 1, ticks);

	it->cat = ut_strtab_intern_z(&rd->im->trace->strings, "sync");
	it->name = name ? name : ut_strtab_intern_z(&rd->im->trace->strings, "wait");
}

static void sync_call(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint64_t object = ut_rec_word(r, 0);

	switch (ut_rec_low(r, 1)) {
	case UT_SYNC_PREPARE:
		begin_wait(rd, ticks, r);
		break;
	case UT_SYNC_ACQUIRED:
	case UT_SYNC_CANCEL:
		end_loose(rd, WAIT, (uint32_t)(object ^ object >> 32), ticks);
		break;
	default:
		break;
	}
}

static void begin_model(struct reader *rd, enum what what, uint64_t ticks,
			const struct ut_spool_rec *r)
{
	struct item *it = begin_span(rd, what, 0, ticks, r);

	it->cat = ut_strtab_intern_z(&rd->im->trace->strings, "advisor");
	it->name = ut_spool_string(&rd->im->tables, ut_rec_high(r, 0));
}

static void model_call(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	switch (ut_rec_low(r, 0)) {
	case UT_MODEL_SITE_BEGIN:
		begin_model(rd, SITE, ticks, r);
		break;
	case UT_MODEL_SITE_END:
		if (rd->stack.count && current(rd)->what == ITERATION)
			end_task(rd, ITERATION, 0, ticks);
		end_task(rd, SITE, 0, ticks);
		break;
	case UT_MODEL_TASK_BEGIN:
		begin_model(rd, MODEL_TASK, ticks, r);
		break;
	case UT_MODEL_TASK_END:
		end_task(rd, MODEL_TASK, 0, ticks);
		break;
	case UT_MODEL_ITERATION:
		if (rd->stack.count && current(rd)->what == ITERATION)
			end_task(rd, ITERATION, 0, ticks);
		begin_model(rd, ITERATION, ticks, r);
		break;
	default:
		break;
	}
}

static void begin_event(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct item *it = begin_span(rd, EVENT, ut_rec_low(r, 0), ticks, r);

	it->name = ut_spool_string(&rd->im->tables, ut_rec_low(r, 0));
	it->cat = ut_strtab_intern_z(&rd->im->trace->strings, "event");
}

static void set_track(struct reader *rd, const struct ut_spool_rec *r)
{
	rd->lane = ut_spool_track_name(&rd->im->tables, ut_rec_low(r, 0));
}

/* Counters, instants and histograms are items without an end; emit() knows them by their type. */
static void moment(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	if (rd->look == SEND)
		add_item(rd, ticks, r)->end = ticks;
}

static void take_long(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	switch ((int)r->type) {
	case UT_REC_TASK_BEGIN:
	case UT_REC_TASK_BEGIN_FN:
		begin_task(rd, ticks, r);
		break;
	case UT_REC_ID_CREATE:
		if (rd->stack.count && !current(rd)->id)
			name_task(rd, ut_spool_id(r, 1, 1));
		break;
	case UT_REC_META_NUM:
	case UT_REC_META_STR:
	case UT_REC_META_TEXT:
		add_meta(rd, ticks, r);
		break;
	case UT_REC_RELATION:
		add_reference(rd, ticks, ut_spool_id(r, 1, 2), ut_rec_high(r, 0),
			      ut_spool_id(r, 2, 2));
		break;
	case UT_REC_STITCH:
		stitch(rd, ticks, r);
		break;
	case UT_REC_EVENT_START:
		begin_event(rd, ticks, r);
		break;
	case UT_REC_EVENT_END:
		end_loose(rd, EVENT, ut_rec_low(r, 0), ticks);
		break;
	case UT_REC_SYNC:
		sync_call(rd, ticks, r);
		break;
	case UT_REC_MODEL:
		model_call(rd, ticks, r);
		break;
	case UT_REC_SET_TRACK:
		set_track(rd, r);
		break;
	case UT_REC_COUNTER:
	case UT_REC_COUNTER_CLOCK:
	case UT_REC_MARKER:
	case UT_REC_HISTOGRAM:
	case UT_REC_MODULE:
		moment(rd, ticks, r);
		break;
	default:
		break; /* noted by the scan, or counted there as unknown */
	}
}

/* A word says the same as a long begin without ids: one path for both would cost a third of the
 * speed, and nearly all records are words. */
static void take_word(struct reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	static const struct ut_spool_rec none = { .kind = UT_WORD_BEGIN };
	uint32_t domain = r->payload & (UT_WORD_DOMAINS - 1);
	struct item *it;

	if (r->kind == UT_WORD_END) {
		end_task(rd, TASK, r->payload, ticks);
		return;
	}
	it = begin_span(rd, TASK, domain, ticks, &none);
	it->cat = ut_spool_domain(&rd->im->tables, domain);
	it->name = ut_spool_string(&rd->im->tables, r->payload >> 8);
}

/* ---- one part ------------------------------------------------------------------------------ */

/* The part ends, its open spans do not: their fate is noted, or looked up. */
static void carry_open(struct reader *rd)
{
	for (size_t i = 0; i < rd->stack.count; i++) {
		struct open *o = &rd->stack.items[i];

		if (!o->item)
			continue;
		if (rd->look != SEND) {
			*UT_VEC_PUSH(&rd->carried) = (struct carried){ 0 };
			o->carried = (uint32_t)rd->carried.count;
		} else if (rd->next_carried < rd->carried.count) {
			o->carried = (uint32_t)++rd->next_carried;
			rd->items.items[o->item - 1].carried = o->carried;
		}
		o->item = 0;
	}
}

static void read_part(struct reader *rd, const struct ut_spool_part *p)
{
	struct ut_spool_walk w = { .pos = p->begin, .end = p->end, .ticks = p->ticks };
	struct ut_spool_rec r;

	rd->items.count = 0;
	rd->args.count = 0;
	while (ut_spool_walk_next(&w, &r)) {
		/* A signal handler that records between a look at the clock and its use makes a
		 * thread's time step back. What was recorded later did not happen earlier. */
		rd->before = rd->now;
		rd->now = w.ticks > rd->now ? w.ticks : rd->now;
		if (r.kind == UT_WORD_LONG)
			take_long(rd, rd->now, &r);
		else
			take_word(rd, rd->now, &r);
	}
}

/* ---- handing on ---------------------------------------------------------------------------- */

static void add_args(struct reader *rd, const struct argument *pool, uint32_t first)
{
	for (uint32_t at = first; at; at = pool[at - 1].next)
		ut_spool_args_meta(rd->im, &pool[at - 1].rec);
}

/* The body of a flow graph's node has no parent of its own, but its id belongs to the node. */
static void add_group_args(struct reader *rd, const struct item *it, size_t at)
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

static void add_item_args(struct reader *rd, const struct item *it)
{
	const struct ut_spool_rec *r = &it->rec;

	if (r->kind == UT_WORD_LONG && r->type == UT_REC_TASK_BEGIN)
		add_group_args(rd, it, 1);
	else if (r->kind == UT_WORD_LONG && r->type == UT_REC_TASK_BEGIN_FN)
		add_group_args(rd, it, 2);
	else if (r->kind == UT_WORD_LONG && r->type == UT_REC_SYNC)
		ut_spool_args_pointer(rd->im, "object", ut_rec_word(r, 0));
	add_args(rd, rd->args.items, it->args);
	if (it->carried)
		add_args(rd, rd->kept.items, rd->carried.items[it->carried - 1].args);
}

static int by_place(const void *a, const void *b)
{
	const struct ut_spool_flow *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static const char *relation_name(uint32_t relation)
{
	static const char *const names[] = {
		"relation",        "dependent on", "sibling of",   "parent of",
		"continuation of", "child of",     "continued by", "predecessor to",
	};

	return names[relation < sizeof(names) / sizeof(*names) ? relation : 0];
}

static void send_flows(struct reader *rd, const struct item *it, const struct ut_event *span)
{
	struct ut_spool_flow key = { .thread = rd->thread, .begin = it->begin };
	struct ut_spool_flow *all = rd->im->flows.items, *f;
	size_t count = rd->im->flows.count;
	struct ut_event e = { .ts = span->ts, .track = span->track };

	f = bsearch(&key, all, count, sizeof(*all), by_place);
	while (f && f > all && by_place(f - 1, &key) == 0)
		f--;
	for (; f && f < all + count && by_place(f, &key) == 0; f++) {
		e.kind = f->out ? UT_KIND_FLOW_OUT : UT_KIND_FLOW_IN;
		e.val = f->number;
		e.name = ut_strtab_intern_z(&rd->im->trace->strings, relation_name(f->relation));
		e.cat = span->cat;
		ut_sink_event(rd->im->sink, rd->im->trace, &e);
	}
}

/* Ended out of order: two halves of an overlapping span instead of one that nests. */
static void send_crossed(struct reader *rd, const struct item *it, struct ut_event *e, size_t mark)
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

static void send_late(struct reader *rd, const struct item *it, const struct ut_event *e,
		      size_t mark)
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

static void finish_item(struct reader *rd, struct item *it)
{
	size_t most;

	if (it->carried) {
		const struct carried *c = &rd->carried.items[it->carried - 1];

		it->end = c->end;
		it->flags |= c->flags;
		it->crossed = c->crossed;
		it->inset = c->inset;
	}
	if (!it->end) {
		it->end = rd->im->last > it->begin ? rd->im->last : it->begin;
		most = slack(rd, rd->last < it->end ? rd->last : it->end, it->end);
		most = most < 1000 ? most : 1000;
		it->inset = (uint16_t)(rd->unfinished < most ? rd->unfinished : most);
		rd->unfinished++;
		it->flags |= UT_EV_UNFINISHED;
		/* a start may stand alone; idle threads wait until the process ends */
		if (it->what != EVENT && it->what != WAIT)
			rd->im->trace->losses.unfinished++;
	}
}

static void send_span(struct reader *rd, struct item *it)
{
	size_t mark = rd->im->trace->arg_count;
	struct ut_event e = { .track = rd->track, .name = it->name, .cat = it->cat };

	finish_item(rd, it);
	e.flags = it->flags;
	e.ts = ut_spool_ns(&rd->im->tables, it->begin);
	e.val = ut_spool_ns(&rd->im->tables, it->end) - e.ts;
	e.val -= e.val < it->inset ? e.val : it->inset;
	if (it->args || it->carried || it->rec.kind == UT_WORD_LONG)
		add_item_args(rd, it);
	if (it->lane) {
		send_late(rd, it, &e, mark);
	} else if (it->what == EVENT && it->flags & UT_EV_UNFINISHED) {
		e.kind = UT_KIND_INSTANT; /* a start alone is a moment */
		e.val = 0;
		e.flags = 0;
		ut_spool_send(rd->im, &e, mark);
	} else if (it->crossed) {
		send_crossed(rd, it, &e, mark);
	} else {
		ut_spool_send(rd->im, &e, mark);
		if (rd->im->flows.count && it->what == TASK)
			send_flows(rd, it, &e);
	}
}

static bool is_span(const struct item *it)
{
	if (it->rec.kind != UT_WORD_LONG)
		return true;
	switch ((int)it->rec.type) {
	case UT_REC_COUNTER:
	case UT_REC_COUNTER_CLOCK:
	case UT_REC_MARKER:
	case UT_REC_HISTOGRAM:
	case UT_REC_MODULE:
		return false;
	default:
		return true;
	}
}

static void send_part(struct reader *rd)
{
	for (size_t i = 0; i < rd->items.count; i++) {
		struct item *it = &rd->items.items[i];

		if (is_span(it))
			send_span(rd, it);
		else
			ut_spool_send_moment(rd->im, rd->track, it->begin, &it->rec);
	}
}

/* ---- one thread ---------------------------------------------------------------------------- */

/* The flight recorder has overwritten what came next: nobody knows how these spans ended. */
static void lose_open(struct reader *rd)
{
	for (size_t i = 0; i < rd->stack.count && rd->look != SEND; i++) {
		struct carried *c = &rd->carried.items[rd->stack.items[i].carried - 1];

		c->end = rd->now;
		c->flags |= UT_EV_UNFINISHED;
	}
	if (rd->look == SEND)
		rd->im->trace->losses.unfinished += rd->stack.count;
	rd->stack.count = 0;
	memset(rd->open_of, 0, sizeof(rd->open_of));
}

static void read_thread(struct reader *rd, const struct ut_spool_part *parts, size_t count,
			enum look look)
{
	rd->look = look;
	rd->thread = parts->thread;
	rd->lane = 0;
	rd->stack.count = 0;
	memset(rd->open_of, 0, sizeof(rd->open_of));
	rd->next_carried = 0;
	rd->entered = 0;
	rd->before = rd->now = 0;
	rd->unfinished = 0;
	for (size_t i = 0; i < count; i++) {
		if (i && parts[i].number && parts[i].number != parts[i - 1].number + 1)
			lose_open(rd);
		read_part(rd, &parts[i]);
		if (look != SEND || count == 1)
			rd->last = rd->now;
		carry_open(rd);
		if (look == SEND)
			send_part(rd);
		ut_spool_forget(parts[i].begin, parts[i].end);
	}
}

static size_t parts_of_same(const struct ut_spool_import *im, size_t from)
{
	size_t to = from;

	while (to < im->parts.count && im->parts.items[to].thread == im->parts.items[from].thread)
		to++;
	return to - from;
}

/* When tasks refer to each other, all threads are looked at before any is handed on. */
static void join(struct reader *rd)
{
	struct ut_spool_import *im = rd->im;

	for (size_t i = 0, n; i < im->parts.count; i += n) {
		n = parts_of_same(im, i);
		rd->carried.count = rd->kept.count = 0;
		read_thread(rd, &im->parts.items[i], n, JOIN);
	}
	ut_spool_import_flows(im);
	if (im->flows.count)
		qsort(im->flows.items, im->flows.count, sizeof(*im->flows.items), by_place);
}

void ut_spool_import_threads(struct ut_spool_import *im)
{
	struct reader rd = { .im = im };

	if (im->joined)
		join(&rd);
	for (size_t i = 0, n; i < im->parts.count; i += n) {
		n = parts_of_same(im, i);
		rd.track = ut_spool_thread_track(&im->tables, im->parts.items[i].thread);
		rd.carried.count = rd.kept.count = 0;
		if (n > 1)
			read_thread(&rd, &im->parts.items[i], n, PEEK);
		read_thread(&rd, &im->parts.items[i], n, SEND);
	}
	free(rd.items.items);
	free(rd.args.items);
	free(rd.kept.items);
	free(rd.carried.items);
	free(rd.stack.items);
}
