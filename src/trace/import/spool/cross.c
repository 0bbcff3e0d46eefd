/* cross.c - what is joined by id and time, whichever thread it came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/steps.h"
#include "ittnotify.h"
#include "model/sink.h"
#include "wire/spool_ops.h"

/* An overlapped task, a region or a mark. */
struct async {
	uint64_t begin, end; /* ticks on our clock; end 0 = open */
	uint64_t ts, end_ts; /* ns, when another clock was used; 0 = by begin and end */
	uint64_t key;        /* hash of its id, or name of a mark */
	uint32_t depth;      /* regions: begins without end */
	uint32_t outer;      /* the open one with the same key that it hides; index + 1 */
	uint32_t name, cat;
	uint32_t track;
	uint64_t instance;
	struct ut_spool_rec rec;
};

struct frame {
	uint64_t begin; /* ticks; 0 = none open */
	struct ut_spool_rec rec;
};

struct clocked {
	uint32_t thread, clock;
	uint64_t ticks;
	uint64_t begin; /* ns */
	struct ut_spool_rec rec;
};

struct ut_spool_cross {
	struct ut_spool_import *im;
	UT_VEC(struct async) asyncs;
	UT_VEC(struct frame) frames;
	UT_VEC(struct clocked) clocked; /* open tasks on other clocks */
	UT_VEC(uint64_t) sizes;         /* of live blocks */
	struct ut_idmap open;           /* key -> innermost open async, index + 1 */
	struct ut_idmap open_frames;    /* hash of domain and id -> frame, index + 1 */
	struct ut_idmap blocks;         /* address -> size, index + 1 */
	struct ut_idmap next_meta;      /* id -> the first of its metas to look at, index + 1 */
	struct ut_idmap async_tracks;   /* name -> track + 1 */
	UT_VEC(uint32_t) ended;         /* followed: asyncs that ended since the last time */
	size_t begun;                   /* followed: how many asyncs have been sent */
	uint64_t paused;                /* ticks; 0 = not */
	bool controlled;                /* somebody has paused or resumed */
};

static uint32_t cross_text(struct ut_spool_import *im, const char *s)
{
	return ut_strtab_intern_z(&im->trace->strings, s);
}

static uint32_t prefixed(struct ut_spool_import *im, const char *prefix, uint32_t name)
{
	struct ut_str s = ut_strtab_get(&im->trace->strings, name);
	char buf[512];

	snprintf(buf, sizeof(buf), "%s%.*s", prefix, s.len > 400 ? 400 : (int)s.len, s.ptr);
	return cross_text(im, buf);
}

static uint32_t async_track(struct ut_spool_cross *x, const char *prefix, uint32_t domain)
{
	uint32_t name = prefixed(x->im, prefix, domain);
	uint32_t track = ut_idmap_get(&x->async_tracks, name);

	if (!track) {
		track = 1 + ut_spool_add_lane(&x->im->tables, UT_TRACK_ASYNC, name);
		ut_idmap_put(&x->async_tracks, name, track);
	}
	return track - 1;
}

/* ---- overlapped tasks, regions, marks ------------------------------------------------------ */

static struct async *open_async(struct ut_spool_cross *x, uint64_t key,
				const struct ut_spool_note *n)
{
	struct async *a = UT_VEC_PUSH(&x->asyncs);

	*a = (struct async){ .begin = n->ticks, .key = key, .depth = 1, .rec = n->rec };
	a->outer = ut_idmap_get(&x->open, key);
	ut_idmap_put(&x->open, key, (uint32_t)x->asyncs.count);
	return a;
}

static struct async *find_async(struct ut_spool_cross *x, uint64_t key)
{
	uint32_t at = ut_idmap_get(&x->open, key);

	return at ? &x->asyncs.items[at - 1] : NULL;
}

static void close_async(struct ut_spool_cross *x, uint64_t key, uint64_t ticks)
{
	struct async *a = find_async(x, key);

	if (!a) {
		x->im->trace->losses.stray_ends++;
		return;
	}
	a->end = ticks;
	if (x->im->live)
		*UT_VEC_PUSH(&x->ended) = (uint32_t)(a - x->asyncs.items);
	ut_idmap_take(&x->open, key);
	if (a->outer)
		ut_idmap_put(&x->open, key, a->outer);
}

static void begin_overlapped(struct ut_spool_cross *x, const struct ut_spool_note *n, size_t id_at)
{
	const struct ut_spool_rec *r = &n->rec;
	struct async *a = open_async(x, ut_spool_id(r, id_at, 2), n);

	a->cat = ut_spool_domain(&x->im->tables, ut_rec_low(r, 0));
	a->name = ut_spool_string(&x->im->tables, ut_rec_high(r, 0));
	a->track = async_track(x, "", a->cat);
	if (r->type == UT_REC_OVERLAPPED_BEGIN_CLOCK)
		a->ts = ut_spool_clock_ns(&x->im->tables, ut_rec_low(r, 1), ut_rec_word(r, 2));
}

static void end_overlapped_clock(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	uint64_t key = ut_spool_id(&n->rec, 3, 1);
	struct async *a = find_async(x, key);

	if (a)
		a->end_ts = ut_spool_clock_ns(&x->im->tables, ut_rec_low(&n->rec, 1),
					      ut_rec_word(&n->rec, 2));
	close_async(x, key, n->ticks);
}

/* The API says that a second begin does nothing; TBB's flow graph counts begins and ends. */
static void begin_region(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	uint64_t key = ut_spool_id(&n->rec, 1, 2) ^ 2;
	struct async *a = find_async(x, key);

	if (a) {
		a->depth++;
		return;
	}
	a = open_async(x, key, n);
	a->cat = ut_spool_domain(&x->im->tables, ut_rec_low(&n->rec, 0));
	a->name = ut_spool_string(&x->im->tables, ut_rec_high(&n->rec, 0));
	a->track = async_track(x, "Regions: ", a->cat);
}

static void end_region(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	uint64_t key = ut_spool_id(&n->rec, 1, 1) ^ 2;
	struct async *a = find_async(x, key);

	if (a && --a->depth)
		return;
	close_async(x, key, n->ticks);
}

/* A mark is a moment until somebody switches it off. */
static uint64_t mark_key(const struct ut_spool_note *n)
{
	return (uint64_t)ut_rec_low(&n->rec, 0) << 2 | 1ull << 62;
}

static void begin_mark(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	struct async *a = open_async(x, mark_key(n), n);

	a->outer = 0; /* no end will come for the earlier one */
	a->name = ut_spool_string(&x->im->tables, ut_rec_low(&n->rec, 0));
	a->cat = cross_text(x->im, "mark");
	a->track = ut_spool_thread_track(&x->im->tables, n->thread);
}

static void end_mark(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	struct async *a = find_async(x, mark_key(n));

	if (a)
		a->track = async_track(x, "Marks", 0);
	close_async(x, mark_key(n), n->ticks);
}

/* ---- frames, control, other clocks --------------------------------------------------------- */

static struct ut_spool_late *add_late(struct ut_spool_cross *x, uint64_t begin, uint64_t end)
{
	struct ut_spool_late *late = UT_VEC_PUSH(&x->im->late);

	*late = (struct ut_spool_late){ .begin = begin,
					.end = end > begin ? end : begin,
					.order = (uint32_t)x->im->late.count };
	return late;
}

static void add_frame(struct ut_spool_cross *x, const struct ut_spool_rec *r, uint64_t begin,
		      uint64_t end, uint8_t flags)
{
	struct ut_spool_import *im = x->im;
	size_t mark = im->trace->arg_count;
	uint32_t domain = ut_spool_domain(&im->tables, ut_rec_low(r, 0));
	struct ut_spool_late *late =
		add_late(x, ut_spool_ns(&im->tables, begin), ut_spool_ns(&im->tables, end));

	late->flags = flags | UT_EV_ASIDE;
	late->role = UT_ROLE_FRAMES;
	late->lane = ut_spool_omp_lane(im, domain);
	late->name = late->lane ? domain : cross_text(im, "frame");
	late->cat = late->lane ? late->lane : domain;
	if (!late->lane)
		late->lane = prefixed(im, "Frames: ", domain);
	ut_spool_args_id(im, "id", r, 1, 1);
	ut_spool_keep_args(im, late, mark);
}

static struct frame *frame_of(struct ut_spool_cross *x, const struct ut_spool_rec *r)
{
	uint64_t key = (ut_spool_id(r, 1, 1) ^ ut_rec_low(r, 0) * 0x9e3779b97f4a7c15u) | 1;
	uint32_t at = ut_idmap_get(&x->open_frames, key);

	if (!at) {
		*UT_VEC_PUSH(&x->frames) = (struct frame){ 0 };
		at = (uint32_t)x->frames.count;
		ut_idmap_put(&x->open_frames, key, at);
	}
	return &x->frames.items[at - 1];
}

static void frame_call(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	struct frame *f = frame_of(x, &n->rec);

	if (n->rec.type == UT_REC_FRAME_SUBMIT) {
		add_frame(x, &n->rec, ut_rec_word(&n->rec, 4), ut_rec_word(&n->rec, 5), 0);
		return;
	}
	if (f->begin)
		add_frame(x, &n->rec, f->begin, n->ticks, 0);
	else if (n->rec.type == UT_REC_FRAME_END)
		x->im->trace->losses.stray_ends++;
	/* A begin in an open frame ends it and begins the next. */
	f->begin = n->rec.type == UT_REC_FRAME_BEGIN ? n->ticks : 0;
	f->rec = n->rec;
}

static void end_frames(struct ut_spool_cross *x)
{
	for (size_t i = 0; i < x->frames.count; i++) {
		const struct frame *f = &x->frames.items[i];

		if (!f->begin)
			continue;
		add_frame(x, &f->rec, f->begin, x->im->last, UT_EV_UNFINISHED);
		ut_spool_count_unfinished(x->im, 1);
	}
}

static void control_call(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	struct ut_spool_import *im = x->im;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .flags = UT_EV_SCOPE_PROCESS };
	struct ut_spool_late *late;

	e.ts = ut_spool_ns(&im->tables, n->ticks);
	e.cat = cross_text(im, "control");
	e.track = ut_spool_thread_track(&im->tables, n->thread);
	e.name = cross_text(im, n->rec.type == UT_REC_PAUSE    ? "collection paused"
				: n->rec.type == UT_REC_RESUME ? "collection resumed"
							       : "collector detached");
	ut_sink_event(im->sink, im->trace, &e);
	if (n->rec.type == UT_REC_RESUME && !x->controlled)
		x->paused = im->map.header->start.ticks; /* the session began paused */
	x->controlled = true;
	if (n->rec.type == UT_REC_RESUME && x->paused) {
		late = add_late(x, ut_spool_ns(&im->tables, x->paused), e.ts);
		late->lane = cross_text(im, "Control");
		late->role = UT_ROLE_CONTROL;
		late->name = cross_text(im, "paused");
		late->flags = UT_EV_NOT_WORK;
		late->cat = e.cat;
	}
	x->paused = n->rec.type == UT_REC_PAUSE ? n->ticks : 0;
}

static void begin_clocked(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	uint32_t clock = ut_rec_low(&n->rec, 1);

	*UT_VEC_PUSH(&x->clocked) =
		(struct clocked){ .thread = n->thread,
				  .clock = clock,
				  .ticks = n->ticks,
				  .begin = ut_spool_clock_ns(&x->im->tables, clock,
							     ut_rec_word(&n->rec, 2)),
				  .rec = n->rec };
}

static void send_clocked(struct ut_spool_cross *x, const struct clocked *c, uint64_t end,
			 uint8_t flags)
{
	struct ut_spool_import *im = x->im;
	size_t mark = im->trace->arg_count;
	struct ut_spool_late *late = add_late(x, c->begin, end);
	uint32_t domain = ut_spool_domain(&im->tables, ut_rec_low(&c->rec, 0));

	late->lane = prefixed(im, "Clock: ", domain);
	late->flags = flags;
	late->cat = domain;
	late->name = ut_rec_word(&c->rec, 9)
			     ? ut_spool_function(&im->tables, ut_rec_word(&c->rec, 9))
			     : ut_spool_string(&im->tables, ut_rec_high(&c->rec, 0));
	ut_spool_args_id(im, "id", &c->rec, 3, 2);
	ut_spool_args_parent(im, &c->rec, 4, 2, c->ticks);
	ut_spool_keep_args(im, late, mark);
}

static void end_clocked(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	uint32_t domain = ut_rec_low(&n->rec, 0);
	uint64_t end =
		ut_spool_clock_ns(&x->im->tables, ut_rec_low(&n->rec, 1), ut_rec_word(&n->rec, 2));

	for (size_t i = x->clocked.count; i; i--) {
		struct clocked *c = &x->clocked.items[i - 1];

		if (c->thread != n->thread || ut_rec_low(&c->rec, 0) != domain)
			continue;
		send_clocked(x, c, end, 0);
		memmove(c, c + 1, (x->clocked.count - i) * sizeof(*c));
		x->clocked.count--;
		return;
	}
	x->im->trace->losses.stray_ends++;
}

/* ---- heaps --------------------------------------------------------------------------------- */

static void change_heap(struct ut_spool_cross *x, const struct ut_spool_note *n, int64_t delta)
{
	struct ut_spool_object *o = ut_spool_object(&x->im->tables, ut_rec_low(&n->rec, 0));
	struct ut_event e = { .kind = UT_KIND_COUNTER, .flags = UT_EV_SIGNED };

	if (o->type != UT_REC_HEAP_FUNCTION)
		return;
	o->total = (int64_t)((uint64_t)o->total + (uint64_t)delta);
	e.ts = ut_spool_ns(&x->im->tables, n->ticks);
	e.val = (uint64_t)o->total;
	e.track = ut_spool_counter_track(&x->im->tables, o);
	e.name = x->im->trace->tracks[e.track].name;
	e.cat = o->domain;
	ut_sink_event(x->im->sink, x->im->trace, &e);
}

static int64_t forget_block(struct ut_spool_cross *x, uint64_t address)
{
	uint32_t at = ut_idmap_take(&x->blocks, address);

	return at ? (int64_t)x->sizes.items[at - 1] : 0;
}

static void remember_block(struct ut_spool_cross *x, uint64_t address, uint64_t size)
{
	*UT_VEC_PUSH(&x->sizes) = size;
	ut_idmap_put(&x->blocks, address, (uint32_t)x->sizes.count);
}

static void heap_call(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	uint64_t address = ut_rec_word(&n->rec, 1), size = ut_rec_word(&n->rec, 2);
	int64_t old;

	switch (ut_rec_high(&n->rec, 0)) {
	case UT_HEAP_ALLOC_END:
		remember_block(x, address, size);
		change_heap(x, n, (int64_t)size);
		break;
	case UT_HEAP_FREE_END:
		change_heap(x, n, -forget_block(x, address));
		break;
	case UT_HEAP_REALLOC_END:
		old = forget_block(x, address);
		remember_block(x, ut_rec_word(&n->rec, 3), size);
		change_heap(x, n, (int64_t)size - old);
		break;
	default:
		break;
	}
}

/* ---- JIT ----------------------------------------------------------------------------------- */

static void send_jit(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	struct ut_spool_import *im = x->im;
	const struct ut_spool_rec *r = &n->rec;
	size_t mark = im->trace->arg_count;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .ts = ut_spool_ns(&im->tables, n->ticks) };

	e.name = ut_spool_string(&im->tables, ut_rec_low(r, 4));
	e.cat = cross_text(im, "jit");
	e.track = async_track(x, "JIT", 0);
	ut_trace_add_arg(im->trace, cross_text(im, "address"), UT_ARG_PTR)->value.u64 =
		ut_rec_word(r, 2);
	ut_trace_add_arg(im->trace, cross_text(im, "bytes"), UT_ARG_U64)->value.u64 =
		ut_rec_word(r, 3);
	ut_spool_args_text(im, "class", ut_spool_string(&im->tables, ut_rec_high(r, 4)));
	ut_spool_args_text(im, "file", ut_spool_string(&im->tables, ut_rec_low(r, 5)));
	ut_spool_send(im, &e, mark);
}

/* ---- all notes in order -------------------------------------------------------------------- */

static void cross_take(struct ut_spool_cross *x, const struct ut_spool_note *n)
{
	switch ((int)n->rec.type) {
	case UT_REC_OVERLAPPED_BEGIN:
		begin_overlapped(x, n, 1);
		break;
	case UT_REC_OVERLAPPED_BEGIN_CLOCK:
		begin_overlapped(x, n, 3);
		break;
	case UT_REC_OVERLAPPED_END:
		close_async(x, ut_spool_id(&n->rec, 1, 1), n->ticks);
		break;
	case UT_REC_OVERLAPPED_END_CLOCK:
		end_overlapped_clock(x, n);
		break;
	case UT_REC_REGION_BEGIN:
		begin_region(x, n);
		break;
	case UT_REC_REGION_END:
		end_region(x, n);
		break;
	case UT_REC_MARK:
		begin_mark(x, n);
		break;
	case UT_REC_MARK_OFF:
		end_mark(x, n);
		break;
	case UT_REC_TASK_BEGIN_CLOCK:
		begin_clocked(x, n);
		break;
	case UT_REC_TASK_END_CLOCK:
		end_clocked(x, n);
		break;
	case UT_REC_HEAP:
		heap_call(x, n);
		break;
	case UT_REC_JIT_METHOD:
		send_jit(x, n);
		break;
	case UT_REC_PAUSE:
	case UT_REC_RESUME:
	case UT_REC_DETACH:
		control_call(x, n);
		break;
	default:
		frame_call(x, n);
		break;
	}
}

/* Records of the same time stay in the order of the file: qsort does not promise it. */
static int by_ticks(const void *a, const void *b)
{
	const struct ut_spool_note *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return (x->rec.words > y->rec.words) - (x->rec.words < y->rec.words);
}

/* ---- arguments that were said elsewhere ---------------------------------------------------- */

static int cross_by_id(const void *a, const void *b)
{
	const struct ut_spool_note *x = a, *y = b;
	uint64_t i = ut_spool_id(&x->rec, 1, 1), j = ut_spool_id(&y->rec, 1, 1);

	return i != j ? (i < j ? -1 : 1) : by_ticks(a, b);
}

static size_t first_meta(const struct ut_spool_import *im, uint64_t id)
{
	size_t lo = 0, hi = im->metas.count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ut_spool_id(&im->metas.items[mid].rec, 1, 1) < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Said about this id until the end of this instance, and not about an earlier one. */
static void add_metas(struct ut_spool_cross *x, uint64_t id, struct async *a)
{
	struct ut_spool_import *im = x->im;
	uint32_t next = ut_idmap_get(&x->next_meta, id);

	for (size_t i = next ? next - 1 : first_meta(im, id); i < im->metas.count; i++) {
		struct ut_spool_note *n = &im->metas.items[i];

		if (ut_spool_id(&n->rec, 1, 1) != id)
			break;
		if (n->used)
			continue; /* of an earlier instance: ids are addresses */
		if (a->end && n->ticks > a->end)
			break;
		n->used = true;
		ut_idmap_put(&x->next_meta, id, (uint32_t)i + 2);
		ut_spool_args_meta(im, &n->rec);
		/* TBB names its regions this way. */
		if (!a->name && n->rec.type == UT_REC_META_STR &&
		    ut_spool_string(&im->tables, ut_rec_high(&n->rec, 0)) == im->object_name)
			a->name = im->trace->args[im->trace->arg_count - 1].value.str;
	}
}

/* Its begin, as far as it is known. */
static struct ut_event begin_async(struct ut_spool_cross *x, struct async *a)
{
	struct ut_spool_import *im = x->im;
	bool is_mark = a->rec.type == UT_REC_MARK;
	struct ut_event e = { .kind = UT_KIND_ASYNC_BEGIN, .track = a->track, .cat = a->cat };
	size_t id_at = a->rec.type == UT_REC_OVERLAPPED_BEGIN_CLOCK ? 3 : 1;

	if (is_mark) {
		ut_spool_args_text(im, "parameter",
				   ut_spool_string(&im->tables, ut_rec_high(&a->rec, 0)));
	} else {
		ut_spool_args_id(im, "id", &a->rec, id_at, 2);
		ut_spool_args_parent(im, &a->rec, id_at + 1, 2, a->begin);
		add_metas(x, ut_spool_id(&a->rec, id_at, 2), a);
		if (!a->name)
			a->name = ut_spool_group_name(im, ut_spool_id(&a->rec, id_at, 2), a->begin);
	}
	e.name = a->name;
	e.ts = a->ts ? a->ts : ut_spool_ns(&im->tables, a->begin);
	if (is_mark && !a->end) {
		e.kind = UT_KIND_INSTANT;
		if (ut_rec_word(&a->rec, 1))
			e.flags = UT_EV_SCOPE_PROCESS;
	}
	return e;
}

/* e is its begin. */
static void cross_end_async(struct ut_spool_cross *x, struct async *a, struct ut_event *e)
{
	e->kind = UT_KIND_ASYNC_END;
	e->args = 0;
	a->end_ts = a->end_ts ? a->end_ts : ut_spool_ns(&x->im->tables, a->end);
	e->ts = a->end_ts > e->ts ? a->end_ts : e->ts;
	ut_sink_event(x->im->sink, x->im->trace, e);
}

static void send_async(struct ut_spool_cross *x, struct async *a)
{
	struct ut_spool_import *im = x->im;
	size_t mark = im->trace->arg_count;
	struct ut_event e = begin_async(x, a);

	if (e.kind == UT_KIND_INSTANT) {
		ut_spool_send(im, &e, mark);
		return;
	}
	if (!a->end) {
		e.flags = UT_EV_UNFINISHED;
		ut_spool_count_unfinished(im, 1);
		a->end = im->last > a->begin ? im->last : a->begin;
	}
	e.val = ut_spool_next_instance(im);
	ut_spool_send(im, &e, mark);
	cross_end_async(x, a, &e);
}

static uint32_t scope_of(const struct ut_spool_note *n)
{
	return n->rec.type == UT_REC_META_TEXT ? 0 : ut_rec_high(&n->rec, 4);
}

static uint32_t list_scoped(struct ut_spool_import *im, uint32_t scope, uint32_t thread)
{
	size_t mark = im->trace->arg_count;

	for (size_t i = 0; i < im->metas.count; i++) {
		struct ut_spool_note *n = &im->metas.items[i];
		bool track = scope_of(n) == __itt_scope_track;
		bool global =
			scope_of(n) == __itt_scope_global || scope_of(n) == __itt_scope_track_group;

		if (n->used ||
		    (scope == __itt_scope_track ? !track || n->thread != thread : !global))
			continue;
		n->used = true;
		ut_spool_args_meta(im, &n->rec);
	}
	if (im->trace->arg_count == mark)
		return 0;
	ut_trace_close_args(im->trace);
	return (uint32_t)mark;
}

static bool names_group(const struct ut_spool_import *im, const struct ut_spool_note *n)
{
	return n->rec.type == UT_REC_META_STR &&
	       ut_spool_string(&im->tables, ut_rec_high(&n->rec, 0)) == im->object_name &&
	       ut_spool_group(im, ut_spool_id(&n->rec, 1, 1), n->ticks);
}

/* What nothing could be found to hang it on is an event of its own. */
static void send_rest(struct ut_spool_import *im)
{
	for (size_t i = 0; i < im->metas.count; i++) {
		const struct ut_spool_note *n = &im->metas.items[i];
		size_t mark = im->trace->arg_count;
		struct ut_event e = { .kind = UT_KIND_INSTANT };

		if (n->used || scope_of(n) || names_group(im, n))
			continue;
		e.ts = ut_spool_ns(&im->tables, n->ticks);
		e.track = ut_spool_thread_track(&im->tables, n->thread);
		e.cat = ut_spool_domain(&im->tables, ut_rec_low(&n->rec, 0));
		e.name = ut_spool_string(&im->tables, ut_rec_high(&n->rec, 0));
		ut_spool_args_id(im, "id", &n->rec, 1, 1);
		ut_spool_args_meta(im, &n->rec);
		ut_spool_send(im, &e, mark);
	}
}

static void finalize_scoped(struct ut_spool_import *im)
{
	uint32_t list, track;

	im->trace->global_args = list_scoped(im, __itt_scope_global, 0);
	for (size_t i = 0; i < im->metas.count; i++) {
		const struct ut_spool_note *n = &im->metas.items[i];

		if (n->used || scope_of(n) != __itt_scope_track)
			continue;
		track = ut_spool_thread_track(&im->tables, n->thread);
		list = list_scoped(im, __itt_scope_track, n->thread);
		im->trace->tracks[track].args = list;
	}
}

static void init(struct ut_spool_cross *x, struct ut_spool_import *im)
{
	struct ut_arena *arena = &im->trace->arena;

	*x = (struct ut_spool_cross){ .im = im };
	ut_idmap_init(&x->open, arena);
	ut_idmap_init(&x->open_frames, arena);
	ut_idmap_init(&x->blocks, arena);
	ut_idmap_init(&x->async_tracks, arena);
	ut_idmap_init(&x->next_meta, arena);
}

static void cross_release(struct ut_spool_cross *x)
{
	free(x->asyncs.items);
	free(x->frames.items);
	free(x->clocked.items);
	free(x->sizes.items);
	free(x->ended.items);
}

static void take_notes(struct ut_spool_cross *x)
{
	struct ut_spool_import *im = x->im;

	if (im->notes.count)
		qsort(im->notes.items, im->notes.count, sizeof(*im->notes.items), by_ticks);
	if (im->metas.count)
		qsort(im->metas.items, im->metas.count, sizeof(*im->metas.items), cross_by_id);
	for (size_t i = 0; i < im->notes.count; i++)
		cross_take(x, &im->notes.items[i]);
}

void ut_spool_import_cross(struct ut_spool_import *im)
{
	struct ut_spool_cross x;

	init(&x, im);
	take_notes(&x);
	end_frames(&x);
	ut_spool_count_unfinished(im, x.clocked.count);
	for (size_t i = 0; i < x.clocked.count; i++)
		send_clocked(&x, &x.clocked.items[i], ut_spool_ns(&im->tables, im->last),
			     UT_EV_UNFINISHED);
	for (size_t i = 0; i < x.asyncs.count; i++)
		send_async(&x, &x.asyncs.items[i]);
	ut_spool_sort_lanes(im);
	ut_spool_omp_finalize(im);
	send_rest(im);
	ut_spool_send_lanes(im);
	finalize_scoped(im);
	ut_spool_tables_finalize(&im->tables);
	cross_release(&x);
}

/* ---- of a recording that is followed -------------------------------------------------------- */

struct ut_spool_cross *ut_spool_cross_new(struct ut_spool_import *im)
{
	struct ut_spool_cross *x = ut_make(sizeof(*x));

	init(x, im);
	return x;
}

void ut_spool_cross_free(struct ut_spool_cross *x)
{
	if (x)
		cross_release(x);
	free(x);
}

/* Its begin stands where it is; the end comes when it comes. */
static void send_begun(struct ut_spool_cross *x, struct async *a)
{
	size_t mark = x->im->trace->arg_count;
	struct ut_event e = begin_async(x, a);

	if (e.kind == UT_KIND_ASYNC_BEGIN)
		e.val = a->instance = ut_spool_next_instance(x->im);
	ut_spool_send(x->im, &e, mark);
}

static void send_ended(struct ut_spool_cross *x, struct async *a)
{
	struct ut_event e = { .track = a->track, .cat = a->cat, .name = a->name };

	if (!a->instance) /* a mark that was shown as a moment */
		return;
	e.ts = a->ts ? a->ts : ut_spool_ns(&x->im->tables, a->begin);
	e.val = a->instance;
	cross_end_async(x, a, &e);
}

void ut_spool_cross_go_on(struct ut_spool_cross *x)
{
	struct ut_spool_import *im = x->im;

	take_notes(x);
	for (; x->begun < x->asyncs.count; x->begun++)
		send_begun(x, &x->asyncs.items[x->begun]);
	for (size_t i = 0; i < x->ended.count; i++)
		send_ended(x, &x->asyncs.items[x->ended.items[i]]);
	ut_spool_sort_lanes(im);
	ut_spool_omp_finalize(im);
	ut_spool_send_lanes(im);
	ut_idmap_clear(&x->next_meta);
	x->ended.count = im->notes.count = im->metas.count = im->late.count = 0;
}
