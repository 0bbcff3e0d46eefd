/*
 * ranks_read.c - the calls of a store: rows of threads, in order of time, with a stack of what is
 * open. Calls know the task around them; ends of messages lie in the call that is open; what the
 * program was in between calls is kept as shifts from task to task.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/grow.h"
#include "model/classify.h"
#include "model/store.h"
#include "model/user_code.h"
#include "ranks/coll_kind.h"
#include "ranks/ranks.h"
#include "ranks/ranks_links.h"
#include "ranks/ranks_parts.h"

#define MOST_ARGS     32
#define MOST_OPEN     1024 /* deeper ones are not looked at */
#define ROUNDED       2    /* ns by which the end of a span may lie behind the begin of the next */
#define TOGETHER      UINT64_C(1000000000) /* ns between tests: the program does nothing else */
#define UT_RANK_POSTS 64u                  /* sends and receives before a call that has not ended */

/* The facts of a call that count here. */
#define KEY_LIST(X)                                                                                \
	X(to)                                                                                      \
	X(from)                                                                                    \
	X(new)                                                                                     \
	X(target)                                                                                  \
	X(bytes)                                                                                   \
	X(received)                                                                                \
	X(comm)                                                                                    \
	X(win)                                                                                     \
	X(file)                                                                                    \
	X(seq)                                                                                     \
	X(root)                                                                                    \
	X(polling_ns)                                                                              \
	X(pending)                                                                                 \
	X(collective)                                                                              \
	X(rank)                                                                                    \
	X(size)

struct keys {
#define KEY(key) uint32_t key;
	KEY_LIST(KEY)
#undef KEY
};

static const char *const key_texts[] = {
#define KEY(key) #key,
	KEY_LIST(KEY)
#undef KEY
};

/* What rows of a type are. */
enum row_kind {
	ROW_NOTHING,
	ROW_CALL,
	ROW_TASK,
	ROW_PYTHON, /* a function: a task of programs that have no others */
	ROW_KERNEL, /* of a device: a task where its queue is read */
	ROW_SENT,
	ROW_RECEIVED,
};

struct row_type {
	uint8_t kind, use, meets;
	bool is_part;  /* it makes a part of a message ready */
	bool open;     /* it has not ended */
	bool beside;   /* the same of what is no call: a task, an overlapped one, a frame */
	uint32_t name; /* string of the ranks' */
};

struct open {
	uint64_t end;
	uint32_t task;   /* 0: it is a call */
	uint32_t call;   /* index + 1; 0: it is a task */
	uint32_t before; /* the call that it overlaps by rounding; index + 1, 0 = none */
	uint64_t begin;  /* behind that one */
};

/* Tests of the main thread that have failed, as they were recorded last. */
struct polls {
	struct ut_rank_found call; /* with what they ask for */
	int32_t from;
	uint32_t index;  /* + 1; 0 = none */
	uint64_t polled; /* ns, of all of them since another call */
};

struct reader {
	struct ut_ranks *ranks;
	const struct ut_store *store;
	struct keys keys;
	struct row_type *types; /* one for each of the store's */
	uint32_t *strings;      /* of the store's: number in ranks->strings, plus 1 */
	uint32_t file;          /* that Python told last; string of the store's */
	bool installed;         /* it is none of the program's own */
	struct ut_rank *rank;
	struct ut_rank_shaper shaper; /* of that rank */
	struct open open[MOST_OPEN];
	size_t depth;
	bool main;     /* the thread that is read is the rank's main one */
	bool kernels;  /* what is read is a device's queue */
	bool any_open; /* something has not ended */
	uint32_t task;
	int64_t init_rank;
	struct ut_rank_links links;
	int32_t from;                             /* of the call that is read */
	struct ut_rank_post posts[UT_RANK_POSTS]; /* the last ones of the main thread */
	size_t post_count;
	struct polls polls;
};

/* ---- what there is ------------------------------------------------------------------------- */

static uint32_t ranks_read_text(struct reader *rd, uint32_t string)
{
	if (!rd->strings[string]) {
		struct ut_str s = ut_strtab_get(&rd->store->trace.strings, string);

		rd->strings[string] = ut_strtab_intern(&rd->ranks->strings, s.ptr, s.len) + 1;
	}
	return rd->strings[string] - 1;
}

static bool ranks_read_is_call(const struct ut_trace *trace, const struct ut_type *t)
{
	struct ut_category c;

	if (t->kind != UT_KIND_SPAN || t->flags & UT_EV_NOT_WORK)
		return false;
	c = ut_classify_category(trace, t->cat);
	return c.use == UT_CATEGORY_CALL && c.api.api == UT_API_MPI;
}

/* Arrows inside a process may have numbers like those of messages. */
static bool is_message(const struct reader *rd, const struct ut_type *t)
{
	return t->flags & UT_EV_GLOBAL_ID &&
	       !ut_str_is(ut_strtab_get(&rd->store->trace.strings, t->name), "SYCL dependency");
}

bool ut_rank_is_library(struct ut_str category, struct ut_str name)
{
	return ut_str_has_start(category, "oneCCL") || ut_str_has_start(name, "oneCCL::") ||
	       ut_str_is(category, "NCCL") || ut_str_has_start(name, "nccl:") ||
	       ut_str_has_start(name, "c10d::") || ut_str_is(name, "record_param_comms");
}

static struct row_type ranks_read_type_of(struct reader *rd, const struct ut_type *t)
{
	const struct ut_trace *trace = &rd->store->trace;
	struct row_type row = { 0 };
	enum ut_coll_kind coll;
	struct ut_category c;

	if (t->kind == UT_KIND_FLOW_OUT && is_message(rd, t))
		row.kind = ROW_SENT;
	else if (t->kind == UT_KIND_FLOW_IN && is_message(rd, t))
		row.kind = ROW_RECEIVED;
	c = ut_classify_category(trace, t->cat);
	if (t->flags & UT_EV_UNFINISHED && c.use == UT_CATEGORY_PLAIN &&
	    (t->kind == UT_KIND_SPAN || t->kind == UT_KIND_ASYNC_BEGIN)) {
		row.beside = true;
		row.name = ranks_read_text(rd, t->name);
	}
	if (t->kind != UT_KIND_SPAN || t->flags & UT_EV_NOT_WORK)
		return row;
	row.open = t->flags & UT_EV_UNFINISHED;
	if (ranks_read_is_call(trace, t)) {
		struct ut_str name = ut_strtab_get(&trace->strings, t->name);

		row.kind = ROW_CALL;
		row.use = (uint8_t)ut_rank_use_of(name);
		row.meets = (uint8_t)ut_rank_meets_of(name);
		row.is_part = ut_str_has_start(name, "MPI_Pready");
	} else if (c.use == UT_CATEGORY_PLAIN &&
		   !ut_rank_is_library(ut_strtab_get(&trace->strings, t->cat),
				       ut_strtab_get(&trace->strings, t->name))) {
		row.kind = ROW_TASK;
	} else if (c.use == UT_CATEGORY_WORK &&
		   !ut_coll_is_nccl(ut_strtab_get(&trace->strings, t->name), &coll)) {
		row.kind = ROW_KERNEL;
	} else if (ut_str_is(ut_strtab_get(&trace->strings, t->cat), "Python")) {
		row.kind = ROW_PYTHON;
	}
	row.name = ranks_read_text(rd, t->name);
	return row;
}

/* False: there is no call at all. */
static bool look_at_types(struct reader *rd)
{
	const struct ut_store *s = rd->store;
	bool calls = false, tasks = false;

	ut_rank_links_keys(&rd->links, &s->trace.strings);
	ut_rank_find_keys(&s->trace.strings, key_texts, (uint32_t *)&rd->keys,
			  sizeof(key_texts) / sizeof(*key_texts));
	rd->strings = ut_make(((size_t)s->trace.strings.count + 1) * sizeof(*rd->strings));
	rd->types = ut_make(((size_t)s->types.count + 1) * sizeof(*rd->types));
	for (uint32_t i = 0; i < s->types.count; i++) {
		rd->types[i] = ranks_read_type_of(rd, &s->types.items[i]);
		calls = calls || rd->types[i].kind == ROW_CALL;
		rd->any_open = rd->any_open || rd->types[i].beside || rd->types[i].open;
		tasks = tasks || (rd->types[i].kind == ROW_TASK && rd->types[i].name);
	}
	for (uint32_t i = 0; i < s->types.count && tasks; i++) {
		if (rd->types[i].kind == ROW_PYTHON)
			rd->types[i].kind = ROW_NOTHING;
	}
	return calls;
}

/* ---- calls --------------------------------------------------------------------------------- */

static bool ranks_read_is_whole(const struct ut_arg *a)
{
	return a->type == UT_ARG_U64 || a->type == UT_ARG_I64;
}

static uint32_t ranks_read_group_of(struct reader *rd, const struct ut_arg *a)
{
	return a->type == UT_ARG_STR ? ranks_read_text(rd, a->value.str) : 0;
}

static void add_made(struct reader *rd, uint32_t group)
{
	struct ut_rank *r = rd->rank;

	r->made = ut_grow(r->made, r->made_count + 1, &r->made_cap, sizeof(*r->made));
	r->made[r->made_count++] = (struct ut_rank_made){ group };
}

static void ranks_read_take_text(struct reader *rd, struct ut_rank_found *c, const struct ut_arg *a)
{
	const struct keys *k = &rd->keys;
	struct ut_rank_shape *s = &c->shape;

	if (a->key == k->comm || a->key == k->win || a->key == k->file)
		s->group = ranks_read_group_of(rd, a);
	if (a->key == k->file && s->use == UT_RANK_WAIT)
		s->use = UT_RANK_WAIT_FILE;
	if (a->key == k->collective && a->type == UT_ARG_STR)
		s->meets = (uint8_t)ut_rank_meets_of(
			ut_strtab_get(&rd->store->trace.strings, a->value.str));
	if (a->key == k->new)
		add_made(rd, ranks_read_group_of(rd, a));
}

static void ranks_read_take_number(struct reader *rd, struct ut_rank_found *c,
				   const struct ut_arg *a)
{
	const struct keys *k = &rd->keys;
	struct ut_rank_shape *s = &c->shape;

	if (a->key == k->to || a->key == k->target)
		s->to = (int32_t)a->value.i64;
	else if (a->key == k->from)
		rd->from = (int32_t)a->value.i64;
	else if (a->key == k->bytes)
		s->sent = a->value.u64;
	else if (a->key == k->received)
		s->received = a->value.u64;
	else if (a->key == k->seq)
		c->seq = a->value.u64 + 1;
	else if (a->key == k->root)
		s->root = (int32_t)a->value.i64;
	else if (a->key == k->polling_ns && a->value.u64 <= c->begin)
		c->begin -= a->value.u64;
	else if (a->key == k->pending)
		c->pending = true;
	else if (a->key == k->rank && s->use == UT_RANK_INIT)
		rd->init_rank = a->value.i64;
	else if (a->key == k->size && s->use == UT_RANK_INIT && a->value.i64 > rd->ranks->world)
		rd->ranks->world = a->value.i64;
}

static void take_facts(struct reader *rd, struct ut_rank_found *c, uint32_t list)
{
	struct ut_rank_shape *s = &c->shape;
	struct ut_arg args[MOST_ARGS];
	size_t n = ut_arglists_get(&rd->store->args, list, args, MOST_ARGS);

	n = n < MOST_ARGS ? n : MOST_ARGS;
	for (size_t i = 0; i < n; i++) {
		if (ut_rank_links_fact(&rd->links, rd->ranks, rd->store, &args[i], c))
			continue;
		if (ranks_read_is_whole(&args[i]))
			ranks_read_take_number(rd, c, &args[i]);
		else
			ranks_read_take_text(rd, c, &args[i]);
	}
	/* What is only found is still to be received. */
	if (c->message && s->use != UT_RANK_POST)
		s->sent = s->received = 0;
	/* A receive says what it got as bytes. */
	if ((s->use == UT_RANK_RECEIVE || s->use == UT_RANK_WAIT) && !s->received) {
		s->received = s->sent;
		s->sent = 0;
	}
	if (!c->seq || !s->group)
		s->meets = UT_RANK_OTHER;
	s->firm = s->meets != UT_RANK_OTHER && s->use != UT_RANK_WAIT_FILE &&
		  (s->use == UT_RANK_WAIT ||
		   ut_rank_is_firm(ut_strtab_get(&rd->ranks->strings, s->name),
				   s->sent || s->received));
}

/* The first of the failed tests, one after the other, that are the last calls of the main thread.
 */
static size_t first_poll(const struct ut_rank *r, const struct ut_strtab *strings)
{
	size_t i = r->call_count;

	while (i) {
		const struct ut_rank_call *c = &r->calls[i - 1];
		const struct ut_rank_shape *is = ut_rank_shape(r, c);

		if (is->group || c->more || !ut_rank_is_poll(ut_strtab_get(strings, is->name)) ||
		    (i < r->call_count && r->calls[i].begin > c->end + TOGETHER))
			break;
		i--;
	}
	return i;
}

/*
 * What a report of tests that have failed asks for counts only if it is the last of all. polled:
 * how long they took.
 */
static void keep_polls(struct reader *rd, struct ut_rank_found *c, uint64_t polled)
{
	if (rd->main && !c->shape.side) {
		rd->polls.call = *c;
		rd->polls.from = rd->from;
		rd->polls.index = (uint32_t)rd->rank->call_count + 1;
		rd->polls.polled += polled;
	}
	c->seq = 0;
	c->shape.group = 0;
	c->shape.meets = UT_RANK_OTHER;
	c->shape.firm = false;
}

/* Another call; a test that did not fail is one wait with those before it. */
static void end_polls(struct reader *rd, struct ut_rank_found *c)
{
	struct ut_rank *r = rd->rank;
	bool poll = ut_rank_is_poll(ut_strtab_get(&rd->ranks->strings, c->shape.name));
	size_t first;

	if (!rd->polls.index || (poll && !c->shape.group && !c->request))
		return;
	first = poll ? first_poll(r, &rd->ranks->strings) : r->call_count;
	if (first < rd->polls.index) {
		uint64_t end = r->calls[first].end, polled = rd->polls.polled;

		/* the first of them is a call of its own, as where there is no report */
		c->begin = c->begin > end + polled ? c->begin - polled : end;
		r->call_count = first + 1;
	}
	rd->polls = (struct polls){ 0 };
}

static void keep_post(struct reader *rd, const struct ut_rank_found *c)
{
	if (!rd->main || c->shape.use != UT_RANK_POST || (rd->from < 0 && c->shape.to < 0))
		return;
	rd->posts[rd->post_count++ % UT_RANK_POSTS] =
		(struct ut_rank_post){ (uint32_t)rd->rank->call_count,
				       rd->from >= 0 ? rd->from : c->shape.to };
}

static void ranks_read_add_call(struct reader *rd, const struct ut_event *e,
				const struct row_type *type)
{
	struct ut_rank *r = rd->rank;
	bool inner = rd->depth && rd->open[rd->depth - 1].call;
	uint64_t polled;
	struct ut_rank_found c = { .begin = e->ts,
				   .end = ut_event_end(e),
				   .shape = { .name = type->name,
					      .task = rd->task,
					      .to = -1,
					      .root = -1,
					      .use = type->use,
					      .meets = type->meets,
					      .side = inner || !rd->main } };

	rd->from = -1;
	if (e->args)
		take_facts(rd, &c, e->args);
	else
		c.shape.meets = UT_RANK_OTHER;
	polled = e->ts > c.begin ? e->ts - c.begin : 0;
	c.is_part = type->is_part;
	if (c.is_part) /* the message is that of MPI_Start */
		c.shape.to = -1;
	if (type->use == UT_RANK_IDLE)
		c.shape.side = true;
	if (type->use == UT_RANK_FINALIZE) { /* nobody counts them: each rank makes one */
		c.seq = 1;
		c.shape.group = type->name;
		c.shape.meets = UT_RANK_ALL;
	}
	/* Polls reach back to the first of them, but not into the call before. */
	if (c.begin < e->ts && r->call_count && r->calls[r->call_count - 1].end > c.begin)
		c.begin = r->calls[r->call_count - 1].end < e->ts ? r->calls[r->call_count - 1].end
								  : e->ts;
	if (c.pending)
		keep_polls(rd, &c, polled);
	else if (rd->main && !c.shape.side)
		end_polls(rd, &c);
	keep_post(rd, &c);
	if (type->open && type->use != UT_RANK_IDLE)
		ut_rank_put_open(r, rd->from, ut_rank_links_peers(&rd->links, rd->ranks, &c));
	ut_rank_put_call(r, &rd->shaper, &c);
	rd->links.me = r->rank >= 0 ? r->rank : (int32_t)rd->init_rank;
	ut_rank_links_take(&rd->links, rd->ranks, r, &c);
}

/* The call that a message arrives in or leaves from; index + 1, 0 = none. */
static uint32_t enclosing_call(const struct reader *rd, uint64_t ts, bool received)
{
	size_t i = rd->depth;

	while (i && !rd->open[i - 1].call)
		i--;
	if (!i)
		return 0; /* of somebody else's runtime */
	/* what arrives as a call ends may be told when the next has begun */
	return received && rd->open[i - 1].before && ts <= rd->open[i - 1].begin
		       ? rd->open[i - 1].before
		       : rd->open[i - 1].call;
}

static void ranks_read_add_end(struct reader *rd, const struct ut_event *e, bool received)
{
	struct ut_rank *r = rd->rank;
	uint32_t call = enclosing_call(rd, e->ts, received);

	if (!call)
		return;
	r->ends = ut_ace_big_grow(r->ends, r->end_count + 1, &r->end_cap, sizeof(*r->ends));
	r->ends[r->end_count++] =
		(struct ut_rank_end){ .id = e->val, .call = call - 1, .received = received };
}

/* ---- tasks --------------------------------------------------------------------------------- */

static void shift_to(struct reader *rd, uint64_t at, uint32_t task)
{
	struct ut_rank *r = rd->rank;
	uint64_t last = r->shift_count ? r->shifts[r->shift_count - 1].at : 0;

	rd->task = task;
	if (!rd->main)
		return;
	if (at < last) /* a task that ends behind the one around it */
		at = last;
	if (r->shift_count && last == at)
		r->shift_count--;
	r->shifts = ut_grow(r->shifts, r->shift_count + 1, &r->shift_cap, sizeof(*r->shifts));
	r->shifts[r->shift_count++] = (struct ut_rank_shift){ at, task };
}

static uint32_t task_below(const struct reader *rd)
{
	size_t i = rd->depth;

	while (i && !rd->open[i - 1].task)
		i--;
	return i ? rd->open[i - 1].task : 0;
}

/* Everything that has ended before this time; flows belong to what ends in the same moment. */
static void close_until(struct reader *rd, uint64_t ts, bool with_it)
{
	while (rd->depth) {
		struct open *o = &rd->open[rd->depth - 1];

		if (with_it ? o->end > ts : o->end >= ts)
			return;
		rd->depth--;
		if (o->task)
			shift_to(rd, o->end, task_below(rd));
	}
}

static void add_task(struct reader *rd, const struct ut_event *e, uint32_t task)
{
	struct ut_rank *r = rd->rank;

	if (!task_below(rd) && rd->main) {
		r->tops = ut_grow(r->tops, r->top_count + 1, &r->top_cap, sizeof(*r->tops));
		r->tops[r->top_count++] = (struct ut_rank_top){ e->ts, ut_event_end(e), task };
	}
	shift_to(rd, e->ts, task);
}

/* ---- a thread ------------------------------------------------------------------------------ */

/*
 * Begin and length of a span are rounded apart, so the next may seem to begin inside it. What
 * lasts longer than what it lies in by a moment follows it. Returns when it begins; *before: the
 * call that it follows so.
 */
static uint64_t begin_behind(const struct reader *rd, const struct ut_event *e, uint32_t *before)
{
	uint64_t begin = e->ts, end = ut_event_end(e);

	for (size_t i = rd->depth; i; i--) {
		const struct open *o = &rd->open[i - 1];

		if (o->end > e->ts + ROUNDED || o->end >= end)
			break;
		if (o->end <= begin)
			continue;
		begin = o->end;
		*before = o->call ? o->call : *before;
	}
	return begin;
}

static void take_span(struct reader *rd, const struct ut_event *event, const struct row_type *type)
{
	struct open o = { .end = ut_event_end(event) };
	struct ut_event e = *event;

	e.ts = o.begin = begin_behind(rd, event, &o.before);
	e.val = o.end - e.ts;
	close_until(rd, e.ts, true);
	if (type->kind == ROW_CALL)
		ranks_read_add_call(rd, &e, type);
	else if (type->name)
		add_task(rd, &e, type->name);
	if (type->open && type->kind != ROW_CALL && rd->main) {
		rd->rank->in_task = type->name;
		rd->rank->in_since = e.ts;
	}
	if (o.end > rd->rank->end)
		rd->rank->end = o.end;
	if (rd->depth == MOST_OPEN)
		return;
	o.call = type->kind == ROW_CALL ? (uint32_t)rd->rank->call_count : 0;
	o.task = type->kind == ROW_CALL ? 0 : type->name;
	rd->open[rd->depth++] = o;
}

/* Is it a function of what came with Python or was installed? */
static bool is_installed(struct reader *rd, const struct ut_event *e)
{
	struct ut_arg args[MOST_ARGS];
	size_t n = e->args ? ut_arglists_get(&rd->store->args, e->args, args, MOST_ARGS) : 0;

	for (size_t i = 0; i < n && i < MOST_ARGS; i++) {
		if (args[i].key != rd->keys.file || args[i].type != UT_ARG_STR)
			continue;
		if (args[i].value.str != rd->file) {
			rd->file = args[i].value.str;
			rd->installed = ut_is_library_file(
				ut_strtab_get(&rd->store->trace.strings, rd->file));
		}
		return rd->installed;
	}
	return false;
}

static void ranks_read_take_row(struct reader *rd, const struct ut_event *e,
				const struct row_type *type)
{
	switch (type->kind) {
	case ROW_KERNEL:
		if (!rd->kernels)
			break;
		/* fall through */
	case ROW_CALL:
	case ROW_TASK:
		take_span(rd, e, type);
		break;
	case ROW_PYTHON:
		if (!is_installed(rd, e))
			take_span(rd, e, type);
		break;
	case ROW_SENT:
	case ROW_RECEIVED:
		close_until(rd, e->ts, false);
		ranks_read_add_end(rd, e, type->kind == ROW_RECEIVED);
		break;
	default:
		break;
	}
}

static void read_track(struct reader *rd, uint32_t track)
{
	const struct ut_rows *rows = &rd->store->rows[track];

	rd->depth = 0;
	rd->task = 0;
	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t number =
				block->type[i] < rd->store->types.count ? block->type[i] : 0;
			struct ut_event e;

			if (rd->types[number].kind == ROW_NOTHING)
				continue;
			e = ut_block_event(rd->store, track, block, i);
			ranks_read_take_row(rd, &e, &rd->types[number]);
		}
	}
	close_until(rd, UINT64_MAX, true);
}

/* ---- a process ----------------------------------------------------------------------------- */

struct row_count {
	uint64_t calls, ends;
};

static struct row_count ranks_read_count_rows(const struct reader *rd, uint32_t track)
{
	const struct ut_rows *rows = &rd->store->rows[track];
	struct row_count n = { 0 };

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t type =
				block->type[i] < rd->store->types.count ? block->type[i] : 0;
			uint8_t kind = rd->types[type].kind;

			n.calls += kind == ROW_CALL;
			n.ends += kind == ROW_SENT || kind == ROW_RECEIVED;
		}
	}
	return n;
}

/*
 * From the end of MPI_Init to MPI_Finalize; without them all that there is. What has not ended
 * lasts as long as its process, so that is what is looked at.
 */
static void find_range(struct ut_rank *r)
{
	r->start = r->calls[0].begin;
	r->stop = 0;
	for (size_t i = 0; i < r->call_count; i++) {
		const struct ut_rank_call *c = &r->calls[i];
		uint8_t use = ut_rank_shape(r, c)->use;
		bool open = r->open_count && ut_rank_open(r, (uint32_t)i);

		if (use == UT_RANK_INIT && !open)
			r->start = c->end;
		if (use == UT_RANK_FINALIZE && !open) {
			r->stop = c->begin;
			return;
		}
		r->stop = c->end > r->stop ? c->end : r->stop;
	}
	if ((r->open_count || r->in_task || r->ended) && r->end > r->stop)
		r->stop = r->end;
}

/* What was measured while it ran is a fact about the process. */
static void take_clock(struct reader *rd, const struct ut_process *p)
{
	const struct ut_trace *t = &rd->store->trace;

	for (const struct ut_arg *a = &t->args[p->args]; a->type != UT_ARG_END; a++) {
		if (a->type == UT_ARG_JSON &&
		    ut_str_is(ut_strtab_get(&t->strings, a->key), "host_clock"))
			ut_ranks_measured(rd->ranks, rd->rank,
					  ut_strtab_get(&t->strings, a->value.str));
	}
}

/* What of a process has not ended, but calls: the last of it to begin. */
struct beside {
	uint32_t name;
	uint64_t since, end;
	bool any_open; /* also calls: they last as long as the process */
};

static void look_beside(const struct reader *rd, uint32_t track, struct beside *found)
{
	const struct ut_rows *rows = &rd->store->rows[track];

	for (size_t b = 0; b < ut_rows_blocks(rows); b++) {
		const struct ut_block *block = &rows->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t number =
				block->type[i] < rd->store->types.count ? block->type[i] : 0;
			const struct row_type *type = &rd->types[number];
			uint64_t ts;

			found->any_open = found->any_open || type->beside || type->open;
			if (!type->beside)
				continue;
			ts = ut_block_event(rd->store, track, block, i).ts;
			if (found->name && ts < found->since)
				continue;
			found->name = type->name;
			found->since = ts;
		}
	}
}

static struct beside find_beside(const struct reader *rd, uint32_t process)
{
	const struct ut_trace *t = &rd->store->trace;
	struct beside found = { 0 };

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].process != process)
			continue;
		if (rd->any_open)
			look_beside(rd, i, &found);
		if (rd->store->rows[i].last > found.end)
			found.end = rd->store->rows[i].last;
	}
	return found;
}

/* How the process ended, if that is known; its last sign of life is that of its threads then. */
static void take_end(struct reader *rd, uint32_t process, bool any_open)
{
	const struct ut_trace *t = &rd->store->trace;
	uint64_t after = ut_process_after(t, &t->processes[process]), last = 0;
	struct ut_rank *one = rd->rank;
	struct ut_buf how = { 0 };

	if (ut_process_failure(t, &t->processes[process], &how))
		one->ended = ut_strtab_intern(&rd->ranks->strings, how.data, how.len);
	one->left = ut_process_succeeded(t, &t->processes[process]);
	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].process == process && rd->store->rows[i].last > last)
			last = rd->store->rows[i].last;
	}
	if (one->ended || one->left) {
		one->end = t->process_count == 1 && t->last > last ? t->last : last;
		if (!any_open && after && one->end < last + after)
			one->end = last + after;
		one->end_known = any_open || after;
	}
	ut_buf_release(&how);
}

/* Who ends while it tests again and again ends in a call: its tests become one that is open. */
static void open_polls(struct reader *rd)
{
	struct ut_rank *r = rd->rank;
	struct ut_rank_found c = rd->polls.call;
	size_t first = first_poll(r, &rd->ranks->strings);

	if (!rd->polls.index || rd->polls.index <= first ||
	    (r->open_count && r->opens[r->open_count - 1].call < first))
		return;
	c.begin = r->calls[first].begin;
	c.end = r->end > r->calls[r->call_count - 1].end ? r->end : r->calls[r->call_count - 1].end;
	while (r->open_count && r->opens[r->open_count - 1].call >= first)
		r->open_count--;
	while (r->end_count && r->ends[r->end_count - 1].call >= first)
		r->end_count--;
	r->call_count = first;
	ut_rank_put_open(r, rd->polls.from, 0);
	ut_rank_put_call(r, &rd->shaper, &c);
}

/* What a call may wait for that completes what was begun before. */
static void keep_posts(struct reader *rd)
{
	struct ut_rank *r = rd->rank;
	size_t i = rd->post_count > UT_RANK_POSTS ? rd->post_count - UT_RANK_POSTS : 0;

	for (; r->open_count && i < rd->post_count; i++) {
		r->posts = ut_grow(r->posts, r->post_count + 1, &r->post_cap, sizeof(*r->posts));
		r->posts[r->post_count++] = rd->posts[i % UT_RANK_POSTS];
	}
}

/* There may be millions: no room for more than there are. */
static void ranks_read_make_room(struct ut_rank *r, const struct row_count *n)
{
	r->calls = ut_ace_big_grow(NULL, n->calls, &r->call_cap, sizeof(*r->calls));
	if (n->ends)
		r->ends = ut_ace_big_grow(NULL, n->ends, &r->end_cap, sizeof(*r->ends));
}

static int read_process(struct reader *rd, uint32_t process, struct ut_err *err)
{
	const struct ut_trace *t = &rd->store->trace;
	const struct ut_process *p = &t->processes[process];
	uint32_t best = UINT32_MAX;
	struct row_count all = { 0 }, n;
	struct beside beside;
	uint64_t most = 0;

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].process != process)
			continue;
		n = ranks_read_count_rows(rd, i);
		all.calls += n.calls;
		all.ends += n.ends;
		if (n.calls > most) {
			best = i;
			most = n.calls;
		}
	}
	beside = find_beside(rd, process);
	if (!all.calls) {
		if (p->rank >= 0)
			*ut_ranks_add_silent(rd->ranks) = (struct ut_rank_silent){
				p->rank, beside.name,
				beside.end > beside.since ? beside.end - beside.since : 0
			};
		return 0;
	}
	if (all.calls >= UINT32_MAX)
		return ut_err_set(err, -EFBIG, "rank %" PRId32 ": %" PRIu64 " calls are too many",
				  p->rank, all.calls);
	rd->rank = ut_ranks_new(rd->ranks, p->rank);
	ranks_read_make_room(rd->rank, &all);
	rd->rank->host = ranks_read_text(rd, p->host);
	rd->rank->program = ranks_read_text(rd, p->name);
	rd->rank->origin = rd->ranks->origins;
	rd->rank->main_track = best;
	rd->rank->realtime = t->realtime_offset;
	rd->rank->first = t->first;
	rd->rank->last = t->last;
	rd->rank->lossy = t->losses.dropped || t->losses.overwritten || t->losses.unread;
	take_clock(rd, p);
	take_end(rd, process, beside.any_open);
	rd->rank->beside = beside.name;
	rd->rank->beside_since = beside.since;
	if (beside.end > rd->rank->end)
		rd->rank->end = beside.end;
	rd->init_rank = -1;
	rd->main = true;
	rd->post_count = 0;
	rd->polls = (struct polls){ 0 };
	read_track(rd, best);
	open_polls(rd);
	keep_posts(rd);
	rd->main = false;
	for (uint32_t i = 0; all.calls > most && i < t->track_count; i++) {
		if (t->tracks[i].process == process && i != best &&
		    ranks_read_count_rows(rd, i).calls)
			read_track(rd, i);
	}
	rd->rank->left = rd->rank->left && !rd->rank->lossy && !ut_rank_finalize(rd->rank);
	if ((rd->rank->ended || rd->rank->left) && rd->rank->end_known) {
		rd->main = true;
		shift_to(rd, rd->rank->end,
			 ut_strtab_intern_z(&rd->ranks->strings, UT_RANK_AFTER_END));
	}
	if (rd->rank->rank < 0)
		rd->rank->rank = (int32_t)rd->init_rank;
	if (all.calls > most)
		ut_rank_order_calls(rd->rank);
	find_range(rd->rank);
	ut_rank_shaper_release(&rd->shaper);
	ut_rank_links_release(&rd->links);
	return 0;
}

/* ---- a store ------------------------------------------------------------------------------- */

static struct reader *start_reading(struct ut_ranks *r, const struct ut_store *store, bool *calls)
{
	struct reader *rd = ut_make(sizeof(*rd));

	rd->ranks = r;
	rd->store = store;
	*calls = look_at_types(rd);
	return rd;
}

static void stop_reading(struct reader *rd)
{
	ut_rank_links_release(&rd->links);
	ut_rank_shaper_release(&rd->shaper);
	free(rd->types);
	free(rd->strings);
	free(rd);
}

struct shifts {
	struct ut_rank_shift *items;
	size_t count;
};

static struct shifts take_shifts(struct ut_rank *r)
{
	struct shifts taken = { r->shifts, r->shift_count };

	r->shifts = NULL;
	r->shift_count = r->shift_cap = 0;
	return taken;
}

/* The shifts of a row; tasks that are in no other are added to the rank's, which has no shifts. */
static struct shifts read_shifts(struct reader *rd, uint32_t track, bool kernels)
{
	rd->kernels = kernels;
	read_track(rd, track);
	return take_shifts(rd->rank);
}

/* Steps are those of the program's first thread, if it has any. */
static void keep_tops_from(struct ut_rank *r, size_t first)
{
	r->top_count -= first;
	memmove(r->tops, r->tops + first, r->top_count * sizeof(*r->tops));
}

/* Takes both: where the upper row is in nothing, the lower counts. */
static struct shifts overlay(struct reader *rd, struct shifts upper, struct shifts lower)
{
	struct ut_rank *r = rd->rank;
	uint32_t above = 0, below = 0;
	size_t i = 0, k = 0;

	while (i < upper.count || k < lower.count) {
		uint64_t at = i < upper.count ? upper.items[i].at : UINT64_MAX;

		if (k < lower.count && lower.items[k].at < at)
			at = lower.items[k].at;
		while (i < upper.count && upper.items[i].at == at)
			above = upper.items[i++].task;
		while (k < lower.count && lower.items[k].at == at)
			below = lower.items[k++].task;
		shift_to(rd, at, above ? above : below);
	}
	free(upper.items);
	free(lower.items);
	return take_shifts(r);
}

void ut_ranks_read_tasks(struct ut_ranks *r, const struct ut_store *store, size_t rank,
			 const uint32_t rows[UT_RANK_ROWS])
{
	bool calls;
	struct reader *rd = start_reading(r, store, &calls);
	struct shifts all = { 0 };

	rd->rank = &r->items[rank];
	rd->main = true;
	/* From the last on: the program's own tasks say more about its steps than kernels do. */
	for (size_t i = UT_RANK_ROWS; i-- > 0;) {
		size_t tops = rd->rank->top_count;

		if (rows[i] == UINT32_MAX)
			continue;
		all = overlay(rd, read_shifts(rd, rows[i], i == 0), all);
		if (i == 0 && tops)
			rd->rank->top_count = tops;
		else if (tops && rd->rank->top_count > tops)
			keep_tops_from(rd->rank, tops);
	}
	rd->rank->shifts = all.items;
	rd->rank->shift_count = rd->rank->shift_cap = all.count;
	stop_reading(rd);
}

bool ut_ranks_any(const struct ut_store *store)
{
	for (uint32_t i = 0; i < store->types.count; i++) {
		if (ranks_read_is_call(&store->trace, &store->types.items[i]))
			return true;
	}
	return ut_ranks_any_colls(store);
}

int ut_ranks_add(struct ut_ranks *r, const struct ut_store *store, struct ut_err *err)
{
	size_t before = r->count;
	bool calls;
	struct reader *rd = start_reading(r, store, &calls);
	int rc = 0;

	for (uint32_t i = 0;
	     !rc && (calls || store->trace.process_count == 1) && i < store->trace.process_count;
	     i++)
		rc = read_process(rd, i, err);
	stop_reading(rd);
	if (!rc)
		ut_ranks_add_colls(r, store, before);
	r->origins++;
	return rc;
}
