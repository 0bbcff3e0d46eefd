/*
 * thread.c - what happened on each thread: begins and ends paired, arguments hung on.
 *
 * A thread is read part by part. A span is handed on at its begin, when its end may lie parts
 * ahead; so a thread of several parts is read twice: the first look ("peek") only finds out how
 * the spans end that are still open when their part ends, and which arguments they get later.
 * There are few of those: memory does not grow with the file.
 */
#include "import/spool/thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/live_state.h"
#include "ittnotify.h"
#include "model/sink.h"
#include "wire/spool_ops.h"

/* ---- spans --------------------------------------------------------------------------------- */

static struct ut_spool_item *add_item(struct ut_spool_reader *rd, uint64_t ticks,
				      const struct ut_spool_rec *r)
{
	struct ut_spool_item *it = UT_VEC_PUSH(&rd->items);

	*it = (struct ut_spool_item){ .begin = ticks, .rec = *r };
	return it;
}

static void follow_stitch(struct ut_spool_reader *rd, uint64_t ticks);

static size_t thread_slot_of(enum ut_spool_what what, uint32_t key)
{
	return (key + what * 37u) % 256;
}

static struct ut_spool_item *begin_span(struct ut_spool_reader *rd, enum ut_spool_what what,
					uint32_t key, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct ut_spool_item *it = add_item(rd, ticks, r);
	struct ut_spool_open *o = UT_VEC_PUSH(&rd->stack);

	it->what = (uint8_t)what;
	it->lane = rd->lane;
	*o = (struct ut_spool_open){
		.key = key, .what = (uint8_t)what, .item = (uint32_t)rd->items.count, .begin = ticks
	};
	rd->open_of[thread_slot_of(what, key)]++;
	if (rd->entered && what == UT_SPAN_TASK)
		follow_stitch(rd, ticks);
	return it;
}

size_t ut_spool_slack(const struct ut_spool_reader *rd, uint64_t from, uint64_t to)
{
	return (size_t)(ut_spool_ns(&rd->im->tables, to) - ut_spool_ns(&rd->im->tables, from));
}

/*
 * Ids of open spans are found without a walk over the stack: a program may leave any number of
 * tasks open and go on to say something about others.
 */
static void add_id(struct ut_spool_reader *rd, struct ut_spool_open *o, uint64_t id)
{
	o->id = id;
	o->again = ut_idmap_get(&rd->ids, id) != 0;
	ut_idmap_put(&rd->ids, id, (uint32_t)(o - rd->stack.items) + 1);
}

static struct ut_spool_open *find_id(const struct ut_spool_reader *rd, uint64_t id)
{
	uint32_t at = ut_idmap_get(&rd->ids, id);

	return at ? &rd->stack.items[at - 1] : NULL;
}

static void forget_id(struct ut_spool_reader *rd, const struct ut_spool_open *o)
{
	size_t at = (size_t)(o - rd->stack.items);

	if (!o->id || find_id(rd, o->id) != o)
		return;
	ut_idmap_take(&rd->ids, o->id);
	while (o->again && at && rd->stack.items[at - 1].id != o->id)
		at--;
	if (o->again && at)
		ut_idmap_put(&rd->ids, o->id, (uint32_t)at);
}

/*
 * Spans that end together because the outermost did get ends one nanosecond apart, the inner
 * ones first: viewers add start and length as doubles and would see the inner end later.
 */
static void thread_close_span(struct ut_spool_reader *rd, const struct ut_spool_open *o,
			      uint64_t ticks, size_t inset, bool crossed)
{
	uint8_t flags = inset ? UT_EV_IMPLICIT_END : 0;
	size_t most = inset ? ut_spool_slack(rd, rd->before, ticks) : 0;

	inset = inset < most ? inset : most;
	crossed = crossed || o->lifted;
	rd->open_of[thread_slot_of((enum ut_spool_what)o->what, o->key)]--;
	forget_id(rd, o);
	if (o->item) {
		struct ut_spool_item *it = &rd->items.items[o->item - 1];

		it->end = ticks;
		it->flags |= flags;
		it->crossed = crossed;
		it->inset = (uint16_t)(inset < 1000 ? inset : 1000);
	} else if (rd->look != UT_LOOK_SEND) {
		struct ut_spool_carried *c = &rd->carried.items[o->carried - 1];

		c->end = ticks;
		c->flags |= flags;
		c->crossed = crossed;
		c->inset = (uint16_t)(inset < 1000 ? inset : 1000);
		if (rd->look == UT_LOOK_LIVE)
			ut_spool_end_carried(rd, o->carried);
	}
	if (ut_spool_is_sent(rd) && flags)
		rd->im->trace->losses.implicit_ends++;
}

static size_t find_open(const struct ut_spool_reader *rd, enum ut_spool_what what, uint32_t key)
{
	/* Most ends without a begin are known at once, however many spans are open. */
	size_t i = rd->open_of[thread_slot_of(what, key)] ? rd->stack.count : 0;

	while (i && (rd->stack.items[i - 1].what != what || rd->stack.items[i - 1].key != key))
		i--;
	return i;
}

/* The others stay open. */
static void end_alone(struct ut_spool_reader *rd, size_t at, uint64_t ticks, bool crossed)
{
	thread_close_span(rd, &rd->stack.items[at - 1], ticks, 0, crossed);
	rd->stack.count--;
	for (; at <= rd->stack.count; at++) {
		struct ut_spool_open *o = &rd->stack.items[at];

		if (o->id && find_id(rd, o->id) == o)
			ut_idmap_put(&rd->ids, o->id, (uint32_t)at);
		rd->stack.items[at - 1] = *o;
	}
}

/* What was begun inside a function and outlives it cannot be shown inside of it. */
static void lift(struct ut_spool_reader *rd, size_t from)
{
	for (size_t i = from; i < rd->stack.count; i++) {
		struct ut_spool_open *o = &rd->stack.items[i];

		o->lifted = true;
		if (o->item)
			rd->items.items[o->item - 1].crossed = true;
		else if (rd->look != UT_LOOK_SEND)
			rd->carried.items[o->carried - 1].crossed = true;
	}
}

static bool has_zone(const struct ut_spool_reader *rd, size_t from)
{
	while (from < rd->stack.count && !rd->stack.items[from].zone)
		from++;
	return from < rd->stack.count;
}

/*
 * A task ends with everything in it, whether or not that had said so. Functions of a language are
 * no such tasks: each has its end. A generator may begin a task, yield, and end it when it goes on;
 * then the functions stay as they are, and the task is shown beside them.
 */
static void end_task(struct ut_spool_reader *rd, enum ut_spool_what what, uint32_t key,
		     uint64_t ticks)
{
	size_t at = find_open(rd, what, key);

	if (!at || !rd->stack.items) { /* the second: for the analyzer */
		if (ut_spool_is_sent(rd))
			rd->im->trace->losses.stray_ends++;
		return;
	}
	if (rd->stack.items[at - 1].zone) {
		lift(rd, at);
		end_alone(rd, at, ticks, false);
		return;
	}
	if (rd->stack.items[at - 1].lifted || has_zone(rd, at)) {
		end_alone(rd, at, ticks, true);
		return;
	}
	for (size_t n = rd->stack.count; n >= at; n--)
		thread_close_span(rd, &rd->stack.items[n - 1], ticks, n - at, false);
	rd->stack.count = at - 1;
}

/* Events and waits are no nesting constructs: they end alone. */
static void end_loose(struct ut_spool_reader *rd, enum ut_spool_what what, uint32_t key,
		      uint64_t ticks)
{
	size_t at = find_open(rd, what, key);

	if (!at) {
		if (ut_spool_is_sent(rd) && what == UT_SPAN_EVENT)
			rd->im->trace->losses.stray_ends++;
		return; /* a lock that was free has no wait to end */
	}
	end_alone(rd, at, ticks, at != rd->stack.count);
}

/* ---- arguments ----------------------------------------------------------------------------- */

static void hang_on(struct ut_spool_reader *rd, const struct ut_spool_open *o,
		    const struct ut_spool_rec *r)
{
	if (o->item) {
		struct ut_spool_item *it = &rd->items.items[o->item - 1];

		*UT_VEC_PUSH(&rd->args) = (struct ut_spool_argument){ *r, 0 };
		if (it->args)
			rd->args.items[it->last_arg - 1].next = (uint32_t)rd->args.count;
		else
			it->args = (uint32_t)rd->args.count;
		it->last_arg = (uint32_t)rd->args.count;
	} else if (rd->look != UT_LOOK_SEND) {
		struct ut_spool_carried *c = &rd->carried.items[o->carried - 1];

		*UT_VEC_PUSH(&rd->kept) = (struct ut_spool_argument){ *r, 0 };
		if (c->args)
			rd->kept.items[c->last_arg - 1].next = (uint32_t)rd->kept.count;
		else
			c->args = (uint32_t)rd->kept.count;
		c->last_arg = (uint32_t)rd->kept.count;
	}
}

static void note_meta(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	if (ut_spool_is_sent(rd))
		*UT_VEC_PUSH(&rd->im->metas) =
			(struct ut_spool_note){ ticks, rd->thread, *r, false };
}

static void thread_add_meta(struct ut_spool_reader *rd, uint64_t ticks,
			    const struct ut_spool_rec *r)
{
	uint64_t id = ut_spool_id(r, 1, 1);
	uint32_t scope = r->type == UT_REC_META_TEXT ? 0 : ut_rec_high(r, 4);
	struct ut_spool_open *o = NULL;

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

static const struct ut_spool_open *current(const struct ut_spool_reader *rd)
{
	return rd->stack.count ? &rd->stack.items[rd->stack.count - 1] : NULL;
}

static void note_place(struct ut_spool_reader *rd, uint64_t id, uint64_t begin)
{
	uint64_t parent;

	if (rd->look == UT_LOOK_LIVE)
		ut_spool_live_place(rd->im, id, rd->thread, begin);
	if (rd->look != UT_LOOK_JOIN)
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

static void name_task(struct ut_spool_reader *rd, uint64_t id)
{
	struct ut_spool_open *o = rd->stack.count ? &rd->stack.items[rd->stack.count - 1] : NULL;

	if (!id || !o)
		return;
	add_id(rd, o, id);
	note_place(rd, id, o->begin);
}

static void add_reference(struct ut_spool_reader *rd, uint64_t ticks, uint64_t head,
			  uint32_t relation, uint64_t key)
{
	const struct ut_spool_open *o = current(rd);
	struct ut_spool_place *p;

	if ((rd->look != UT_LOOK_JOIN && rd->look != UT_LOOK_LIVE) || !key || (!head && !o))
		return;
	p = UT_VEC_PUSH(&rd->im->references);
	*p = (struct ut_spool_place){ .key = key,
				      .ticks = ticks,
				      .begin = o ? o->begin : 0,
				      .thread = rd->thread,
				      .relation = relation,
				      .head = head };
}

static void stitch(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	const struct ut_spool_open *o = current(rd);
	/* Numbers of stitches and hashes of ids must not meet. */
	uint64_t key = ut_rec_word(r, 0) << 1 | 1ull << 63;

	if (ut_rec_low(r, 1) == UT_STITCH_CREATE && rd->look == UT_LOOK_LIVE && o) {
		ut_spool_live_place(rd->im, key, rd->thread, o->begin);
	} else if (ut_rec_low(r, 1) == UT_STITCH_CREATE && rd->look == UT_LOOK_JOIN && o) {
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
static void follow_stitch(struct ut_spool_reader *rd, uint64_t ticks)
{
	add_reference(rd, ticks, 0, __itt_relation_is_continuation_of, rd->entered);
	rd->entered = 0;
}

/* ---- one record ---------------------------------------------------------------------------- */

/* The task that has just begun is called by a string or by a place. */
static void call_span(struct ut_spool_reader *rd, struct ut_spool_item *it, uint32_t number)
{
	struct ut_spool_open *o = &rd->stack.items[rd->stack.count - 1];

	it->name = o->name = ut_spool_string(&rd->im->tables, number);
	it->source = o->zone = ut_spool_source(&rd->im->tables, number) ? number : 0;
}

static void begin_task(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint32_t domain = ut_rec_low(r, 0);
	struct ut_spool_item *it = begin_span(rd, UT_SPAN_TASK, domain, ticks, r);

	it->cat = ut_spool_domain(&rd->im->tables, domain);
	if (r->type == UT_REC_TASK_BEGIN_FN) {
		it->name = ut_spool_function(&rd->im->tables, ut_rec_word(r, 1));
		name_task(rd, ut_spool_id(r, 2, 2));
	} else {
		call_span(rd, it, ut_rec_high(r, 0));
		name_task(rd, ut_spool_id(r, 1, 2));
	}
	rd->stack.items[rd->stack.count - 1].name = it->name;
}

static void begin_call(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct ut_spool_item *it;

	if (ut_spool_is_sent(rd))
		ut_spool_note_call(rd, ut_rec_word(r, 1));
	it = begin_span(rd, UT_SPAN_CALL, ut_rec_low(r, 0), ticks, r);
	it->cat = ut_spool_string(&rd->im->tables, ut_rec_low(r, 0));
	it->name = ut_spool_string(&rd->im->tables, ut_rec_high(r, 0));
	if (ut_rec_low(r, 0) == rd->im->sycl.api && rd->im->sycl.api) {
		struct ut_spool_open *o = &rd->stack.items[rd->stack.count - 1];

		it->name = o->name = ut_spool_readable(rd->im, it->name);
		o->node = ut_rec_word(r, 1);
	}
}

static void end_call(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	size_t at = find_open(rd, UT_SPAN_CALL, ut_rec_low(r, 0));

	if (at && r->count > 1)
		hang_on(rd, &rd->stack.items[at - 1], r);
	if (at && rd->stack.items[at - 1].node)
		ut_spool_command_end(rd->im, rd->stack.items[at - 1].node, r);
	end_task(rd, UT_SPAN_CALL, ut_rec_low(r, 0), ticks);
}

static void begin_wait(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint64_t object = ut_rec_word(r, 0);
	uint32_t key = (uint32_t)(object ^ object >> 32);
	struct ut_spool_item *it = begin_span(rd, UT_SPAN_WAIT, key, ticks, r);
	uint32_t name = ut_spool_group_name(rd->im, object << 1, ticks);

	it->cat = ut_strtab_intern_z(&rd->im->trace->strings, "sync");
	it->name = name ? name : ut_strtab_intern_z(&rd->im->trace->strings, "wait");
}

static void sync_call(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	uint64_t object = ut_rec_word(r, 0);

	switch (ut_rec_low(r, 1)) {
	case UT_SYNC_PREPARE:
		begin_wait(rd, ticks, r);
		break;
	case UT_SYNC_ACQUIRED:
	case UT_SYNC_CANCEL:
		end_loose(rd, UT_SPAN_WAIT, (uint32_t)(object ^ object >> 32), ticks);
		break;
	default:
		break;
	}
}

static void begin_model(struct ut_spool_reader *rd, enum ut_spool_what what, uint64_t ticks,
			const struct ut_spool_rec *r)
{
	struct ut_spool_item *it = begin_span(rd, what, 0, ticks, r);

	it->cat = ut_strtab_intern_z(&rd->im->trace->strings, "advisor");
	it->name = ut_spool_string(&rd->im->tables, ut_rec_high(r, 0));
}

static void model_call(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	switch (ut_rec_low(r, 0)) {
	case UT_MODEL_SITE_BEGIN:
		begin_model(rd, UT_SPAN_SITE, ticks, r);
		break;
	case UT_MODEL_SITE_END:
		if (rd->stack.count && current(rd)->what == UT_SPAN_ITERATION)
			end_task(rd, UT_SPAN_ITERATION, 0, ticks);
		end_task(rd, UT_SPAN_SITE, 0, ticks);
		break;
	case UT_MODEL_TASK_BEGIN:
		begin_model(rd, UT_SPAN_MODEL_TASK, ticks, r);
		break;
	case UT_MODEL_TASK_END:
		end_task(rd, UT_SPAN_MODEL_TASK, 0, ticks);
		break;
	case UT_MODEL_ITERATION:
		if (rd->stack.count && current(rd)->what == UT_SPAN_ITERATION)
			end_task(rd, UT_SPAN_ITERATION, 0, ticks);
		begin_model(rd, UT_SPAN_ITERATION, ticks, r);
		break;
	default:
		break;
	}
}

static void begin_event(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	struct ut_spool_item *it = begin_span(rd, UT_SPAN_EVENT, ut_rec_low(r, 0), ticks, r);

	it->name = ut_spool_string(&rd->im->tables, ut_rec_low(r, 0));
	it->cat = ut_strtab_intern_z(&rd->im->trace->strings, "event");
}

static void set_track(struct ut_spool_reader *rd, const struct ut_spool_rec *r)
{
	rd->lane = ut_spool_track_name(&rd->im->tables, ut_rec_low(r, 0));
}

/* Counters, instants and histograms are items without an end; emit() knows them by their type. */
static void send_single_event(struct ut_spool_reader *rd, uint64_t ticks,
			      const struct ut_spool_rec *r)
{
	if (ut_spool_is_sent(rd))
		add_item(rd, ticks, r)->end = ticks;
}

static void take_long(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	switch ((int)r->type) {
	case UT_REC_TASK_BEGIN:
	case UT_REC_TASK_BEGIN_FN:
		begin_task(rd, ticks, r);
		break;
	case UT_REC_CALL_BEGIN:
		begin_call(rd, ticks, r);
		break;
	case UT_REC_CALL_END:
		end_call(rd, ticks, r);
		break;
	case UT_REC_ID_CREATE:
		if (rd->stack.count && !current(rd)->id)
			name_task(rd, ut_spool_id(r, 1, 1));
		break;
	case UT_REC_META_NUM:
	case UT_REC_META_STR:
	case UT_REC_META_TEXT:
		thread_add_meta(rd, ticks, r);
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
		end_loose(rd, UT_SPAN_EVENT, ut_rec_low(r, 0), ticks);
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
	case UT_REC_HINT:
		send_single_event(rd, ticks, r);
		break;
	case UT_REC_ALLOCATED:
		if (rd->look == UT_LOOK_SEND)
			ut_spool_note_allocation(rd);
		break;
	case UT_REC_MESSAGE:
		if (!ut_rec_word(r, 2)) /* else it belongs to a call or to work */
			send_single_event(rd, ticks, r);
		break;
	default:
		break; /* noted by the scan, or counted there as unknown */
	}
}

/* A word says the same as a long begin without ids: one path for both would cost a third of the
 * speed, and nearly all records are words. */
static void take_word(struct ut_spool_reader *rd, uint64_t ticks, const struct ut_spool_rec *r)
{
	static const struct ut_spool_rec none = { .kind = UT_WORD_BEGIN };
	uint32_t domain = r->payload & (UT_WORD_DOMAINS - 1);
	struct ut_spool_item *it;

	if (r->kind == UT_WORD_END) {
		end_task(rd, UT_SPAN_TASK, r->payload, ticks);
		return;
	}
	it = begin_span(rd, UT_SPAN_TASK, domain, ticks, &none);
	it->cat = ut_spool_domain(&rd->im->tables, domain);
	call_span(rd, it, r->payload >> 8);
}

/* ---- one part ------------------------------------------------------------------------------ */

/* Room for the fate of a span, for as long as it takes. */
static uint32_t new_carried(struct ut_spool_reader *rd)
{
	uint32_t at = rd->free_carried;

	if (at) {
		rd->free_carried = rd->carried.items[at - 1].next_free;
	} else {
		UT_VEC_PUSH(&rd->carried);
		at = (uint32_t)rd->carried.count;
	}
	rd->carried.items[at - 1] = (struct ut_spool_carried){ 0 };
	return at;
}

/* The part ends, its open spans do not: their fate is noted, or looked up. */
static void carry_open(struct ut_spool_reader *rd)
{
	size_t i = rd->stack.count;

	while (i && rd->stack.items[i - 1].item)
		i--; /* those below were carried on by an earlier part */
	for (; i < rd->stack.count; i++) {
		struct ut_spool_open *o = &rd->stack.items[i];

		if (rd->look == UT_LOOK_LIVE) {
			o->carried = new_carried(rd);
			rd->items.items[o->item - 1].carried = o->carried;
		} else if (rd->look != UT_LOOK_SEND) {
			*UT_VEC_PUSH(&rd->carried) = (struct ut_spool_carried){ 0 };
			o->carried = (uint32_t)rd->carried.count;
		} else if (rd->next_carried < rd->carried.count) {
			o->carried = (uint32_t)++rd->next_carried;
			rd->items.items[o->item - 1].carried = o->carried;
		}
		o->item = 0;
	}
}

static void read_part(struct ut_spool_reader *rd, const struct ut_spool_part *p)
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
		if (rd->calls != rd->calls_end && rd->look == UT_LOOK_SEND)
			ut_spool_finalize_calls(rd, rd->now);
		if (r.kind == UT_WORD_LONG)
			take_long(rd, rd->now, &r);
		else
			take_word(rd, rd->now, &r);
	}
}

/* ---- one thread ---------------------------------------------------------------------------- */

static void clear_stack(struct ut_spool_reader *rd)
{
	for (size_t i = 0; i < rd->stack.count; i++) {
		if (rd->stack.items[i].id)
			ut_idmap_take(&rd->ids, rd->stack.items[i].id);
	}
	rd->stack.count = 0;
	memset(rd->open_of, 0, sizeof(rd->open_of));
}

/* The flight recorder has overwritten what came next: nobody knows how these spans ended. */
static void lose_open(struct ut_spool_reader *rd)
{
	for (size_t i = 0; i < rd->stack.count && rd->look != UT_LOOK_SEND; i++) {
		struct ut_spool_carried *c = &rd->carried.items[rd->stack.items[i].carried - 1];

		c->end = rd->now;
		c->flags |= UT_EV_UNFINISHED;
	}
	if (rd->look == UT_LOOK_SEND)
		rd->im->trace->losses.unfinished += rd->stack.count;
	clear_stack(rd);
}

static void send_part(struct ut_spool_reader *rd, const struct ut_spool_part *part)
{
	size_t before = (size_t)(part - rd->im->parts.items);

	rd->im->trace->percent = (unsigned int)(100 * before / rd->im->parts.count);
	ut_spool_send_part(rd);
}

static void read_thread(struct ut_spool_reader *rd, const struct ut_spool_part *parts, size_t count,
			enum ut_spool_look look)
{
	rd->look = look;
	rd->thread = parts->thread;
	rd->lane = 0;
	clear_stack(rd);
	rd->next_carried = 0;
	rd->entered = 0;
	rd->before = rd->now = 0;
	rd->unfinished = 0;
	for (size_t i = 0; i < count; i++) {
		if (i && parts[i].number && parts[i].number != parts[i - 1].number + 1)
			lose_open(rd);
		read_part(rd, &parts[i]);
		if (look != UT_LOOK_SEND || count == 1)
			rd->last = rd->now;
		carry_open(rd);
		if (look == UT_LOOK_SEND)
			send_part(rd, &parts[i]);
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
static void thread_join(struct ut_spool_reader *rd)
{
	struct ut_spool_import *im = rd->im;

	for (size_t i = 0, n; i < im->parts.count; i += n) {
		n = parts_of_same(im, i);
		rd->carried.count = rd->kept.count = 0;
		read_thread(rd, &im->parts.items[i], n, UT_LOOK_JOIN);
	}
	ut_spool_import_flows(im);
}

void ut_spool_reader_init(struct ut_spool_reader *rd, struct ut_spool_import *im)
{
	*rd = (struct ut_spool_reader){ .im = im, .track = UT_NO_TRACK };
	ut_idmap_init(&rd->ids, &im->trace->arena);
}

void ut_spool_reader_release(struct ut_spool_reader *rd)
{
	free(rd->items.items);
	free(rd->args.items);
	free(rd->kept.items);
	free(rd->carried.items);
	free(rd->stack.items);
}

void ut_spool_read_on(struct ut_spool_reader *rd, const struct ut_spool_part *parts, size_t count)
{
	rd->look = UT_LOOK_LIVE;
	rd->thread = parts->thread;
	for (size_t i = 0; i < count; i++) {
		read_part(rd, &parts[i]);
		rd->last = rd->now;
		carry_open(rd);
		ut_spool_send_part(rd);
		ut_spool_forget(parts[i].begin, parts[i].end);
	}
}

void ut_spool_import_threads(struct ut_spool_import *im)
{
	struct ut_spool_reader rd;

	ut_spool_reader_init(&rd, im);
	if (im->joined)
		thread_join(&rd);
	if (im->flows.count)
		qsort(im->flows.items, im->flows.count, sizeof(*im->flows.items),
		      ut_spool_by_place);
	for (size_t i = 0, n; i < im->parts.count; i += n) {
		n = parts_of_same(im, i);
		rd.track = UT_NO_TRACK;
		rd.carried.count = rd.kept.count = 0;
		if (n > 1)
			read_thread(&rd, &im->parts.items[i], n, UT_LOOK_PEEK);
		ut_spool_take_calls(&rd, im->parts.items[i].thread);
		read_thread(&rd, &im->parts.items[i], n, UT_LOOK_SEND);
		ut_spool_finalize_calls(&rd, UINT64_MAX);
	}
	ut_spool_reader_release(&rd);
}
