/*
 * pass_overlap.c - spans of one thread must nest: a viewer cannot draw one that begins inside
 * another and ends outside.
 *
 * Per thread the ends of the open spans are kept. A span that conflicts with none of them ends
 * before all that are still open, so they form a stack with the earliest end on top, and one look
 * tells whether the next span conflicts. Its begin never goes back, so what has ended is popped.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "acelyzer/order.h"
#include "acelyzer/stage.h"
#include "base/grow.h"
#include "text/shortest.h"

#define SHIFT_LIMIT 0.005 /* us */
#define MOST_HOPS   1000  /* threads that an event is moved on; a viewer shows no more anyway */

struct stream {
	double *ends;
	size_t count, cap;
	double now; /* the begin of the last span */
};

/* The threads that a thread's spans may move on to (release 1.2). */
struct ut_ace_overlaps {
	struct ut_idmap next; /* process and thread -> thread */
	struct ut_idmap used; /* process and thread: taken */
};

struct overlap {
	struct stream *streams;
	size_t count, cap;
	struct ut_idmap index; /* process and thread -> place in streams + 1 */
	uint64_t last_key;     /* that was asked for last: the next one probably is the same */
	uint32_t last;         /* its place + 1 */
	uint64_t resolved, stuck, extended;
	int64_t next_async;
};

static uint64_t pass_overlap_key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static struct stream *pass_overlap_stream_of(struct overlap *o, uint32_t pid, uint32_t tid)
{
	uint64_t key = pass_overlap_key_of(pid, tid);

	if (!o->last || o->last_key != key) {
		o->last = ut_idmap_get(&o->index, key);
		o->last_key = key;
	}
	if (!o->last) {
		o->streams = ut_grow(o->streams, o->count + 1, &o->cap, sizeof(*o->streams));
		o->last = (uint32_t)++o->count;
		ut_idmap_put(&o->index, key, o->last);
	}
	return &o->streams[o->last - 1];
}

static double pass_overlap_end_of(const struct ut_ace_analysis *a, const struct ut_ace_event *e)
{
	double end = ut_ace_end(e);

	/* rounded to 0.1 ns; the long double has room for the product */
	return a->opts.release >= UT_ACE_1_2 ? (double)(rintl((long double)end * 10000) / 10000)
					     : end;
}

static bool conflicts(struct stream *s, double ts, double end)
{
	while (s->count && s->ends[s->count - 1] <= ts)
		s->count--;
	return s->count && s->ends[s->count - 1] < end;
}

static void pass_overlap_push(struct stream *s, double ts, double end)
{
	s->ends = ut_grow(s->ends, s->count + 1, &s->cap, sizeof(*s->ends));
	s->ends[s->count++] = end;
	s->now = ts;
}

/* The thread after this one; 0 = there is none that counts. */
static uint32_t next_tid(struct ut_ace_analysis *a, struct overlap *o, const struct ut_ace_event *e,
			 uint32_t tid)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_overlaps *l = a->overlaps;
	uint32_t next;
	int64_t num = ut_ace_num(t, tid);

	if (!ut_ace_is_num(t, tid) || num == INT64_MAX)
		return 0;
	if (!l)
		return ut_ace_id_int(t, num + 1);
	next = ut_idmap_get(&l->next, pass_overlap_key_of(e->pid, tid));
	if (next)
		return next;
	o->extended++;
	do
		next = ut_ace_id_int(t, ++num);
	while (ut_idmap_get(&l->used, pass_overlap_key_of(e->pid, next)) && num < INT64_MAX);
	ut_idmap_put(&l->used, pass_overlap_key_of(e->pid, next), 1);
	ut_idmap_put(&l->next, pass_overlap_key_of(e->pid, tid), next);
	return next;
}

/*
 * -O tid: to the first thread where there is room. False if a thread's time would go back: its
 * own spans come later in seq than those that moved to it. Then all has to be done in the order
 * of time.
 */
static bool move_on(struct ut_ace_analysis *a, struct overlap *o, struct ut_ace_event *e)
{
	double end = pass_overlap_end_of(a, e);
	uint32_t tid = e->tid, next;

	for (int hops = 0;; hops++) {
		struct stream *s = pass_overlap_stream_of(o, e->pid, tid);

		if (s->now > e->ts)
			return false;
		if (!conflicts(s, e->ts, end)) {
			pass_overlap_push(s, e->ts, end);
			break;
		}
		s->now = e->ts;
		next = hops < MOST_HOPS ? next_tid(a, o, e, tid) : 0;
		o->resolved++;
		if (!next) {
			o->stuck += ut_ace_is_num(&a->table, tid);
			break;
		}
		tid = next;
	}
	e->link = tid;
	return true;
}

static void pass_overlap_release(struct overlap *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->streams[i].ends);
	free(o->streams);
}

static void pass_overlap_start(struct ut_ace_analysis *a, struct overlap *o)
{
	*o = (struct overlap){ 0 };
	ut_idmap_init(&o->index, &a->table.arena);
}

static bool move_all(struct ut_ace_analysis *a, struct overlap *o, const uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ut_ace_event *e = ut_ace_listed(&a->table, order, n, i);

		if (e->ph == 'X' && !move_on(a, o, e))
			return false;
	}
	return true;
}

static void resolve_tid(struct ut_ace_analysis *a, struct overlap *o)
{
	struct ut_ace_table *t = &a->table;

	if (!move_all(a, o, t->seq, t->seq_count)) {
		uint32_t *seq = t->seq;

		pass_overlap_release(o);
		pass_overlap_start(a, o);
		t->seq = ut_make(t->seq_count * sizeof(*t->seq));
		for (size_t i = 0; i < t->seq_count; i++)
			t->seq[i] = seq[i];
		ut_ace_order_by_ts(t, 0, t->seq_count);
		move_all(a, o, t->seq, t->seq_count);
		free(t->seq);
		t->seq = seq;
	}
	for (size_t i = 0; i < t->seq_count; i++) {
		struct ut_ace_event *e = ut_ace_at(t, i);

		if (e->ph == 'X')
			e->tid = e->link;
		e->link = 0;
	}
	if (o->extended)
		ut_ace_say(
			&a->messages, UT_ACE_WARN,
			"POD: insufficient dynamic range for tid-based overlap resolution (%" PRId64
			"); %" PRIu64 " more thread numbers were used. Increase --max_tid_streams.",
			a->opts.tid_streams, o->extended);
	if (o->stuck)
		ut_ace_say(&a->messages, UT_ACE_WARN,
			   "POD: %" PRIu64
			   " slices overlap more than %d others and stay where they are",
			   o->stuck, MOST_HOPS);
}

/* How far the span has to move to lie behind the last end inside it. */
static double distance(const struct stream *s, double ts, double end)
{
	size_t low = 0, high = s->count; /* ends[] falls: find the first that is not behind end */

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->ends[mid] > end)
			low = mid + 1;
		else
			high = mid;
	}
	return s->ends[low] - ts;
}

static void set_arg(struct ut_ace_analysis *a, struct ut_ace_event *e, uint32_t key, double value)
{
	struct ut_arg arg = ut_ace_num_arg(key, value);

	e->args = ut_ace_arg_set(&a->table, e->args, &arg);
}

static void say_too_far(struct ut_ace_analysis *a, const struct ut_ace_event *e, double need)
{
	char text[UT_SHORTEST_ROOM];

	ut_ace_say(&a->messages, UT_ACE_WARN,
		   "Detected overlap of %s exceeds the threshold/limit 0.005 us. Overlap of %s us: "
		   "increase threshold or use different overlap res option.",
		   ut_ace_str(&a->table, e->name).ptr, ut_shortest(text, need));
}

/* -O shift: what overlaps by next to nothing begins a little later. */
static void shift(struct ut_ace_analysis *a, struct overlap *o, struct ut_ace_event *e)
{
	struct stream *s = pass_overlap_stream_of(o, e->pid, e->tid);
	char text[UT_SHORTEST_ROOM];

	while (conflicts(s, e->ts, pass_overlap_end_of(a, e))) {
		double need = distance(s, e->ts, pass_overlap_end_of(a, e)), by;

		o->resolved++;
		if (need >= SHIFT_LIMIT) {
			say_too_far(a, e, need);
			return;
		}
		by = ut_round(need + 0.0015, 3);
		set_arg(a, e, UT_ACE_K_ORIG_TS, e->ts);
		e->ts += by;
		if (need > e->dur) {
			ut_ace_say(&a->messages, UT_ACE_WARN,
				   "Overlap shifting of %s exceeds its duration %s",
				   ut_ace_str(&a->table, e->name).ptr, ut_shortest(text, e->dur));
		} else {
			set_arg(a, e, UT_ACE_K_ORIG_DUR, e->dur);
			e->dur -= by;
		}
	}
	pass_overlap_push(s, e->ts, pass_overlap_end_of(a, e));
}

/* -O async: the span becomes a pair of events that may overlap whatever they like. */
static void make_async(struct ut_ace_analysis *a, struct overlap *o, uint32_t at)
{
	struct ut_ace_table *t = &a->table;
	struct ut_arg id = ut_ace_int_arg(UT_ACE_K_ID, o->next_async++);
	struct ut_ace_event end = t->events[at];

	end.extra = ut_ace_arg_set(t, end.extra, &id);
	t->events[at].extra = end.extra;
	t->events[at].ph = 'b';
	t->events[at].flags &= ~(uint32_t)UT_ACE_HAS_DUR;
	end.ph = 'e';
	end.ts += end.dur;
	end.flags &= ~(uint32_t)UT_ACE_HAS_DUR;
	*ut_ace_event_add(t) = end;
	ut_ace_seq_add(t, (uint32_t)(t->event_count - 1));
}

static void resolve_one(struct ut_ace_analysis *a, struct overlap *o, uint32_t at)
{
	struct ut_ace_event *e = &a->table.events[at];
	struct stream *s = pass_overlap_stream_of(o, e->pid, e->tid);
	char *text;

	if (a->opts.overlap == UT_ACE_OVERLAP_SHIFT) {
		shift(a, o, e);
		return;
	}
	if (!conflicts(s, e->ts, pass_overlap_end_of(a, e))) {
		pass_overlap_push(s, e->ts, pass_overlap_end_of(a, e));
		return;
	}
	o->resolved++;
	if (a->opts.overlap == UT_ACE_OVERLAP_ASYNC) {
		make_async(a, o, at);
	} else if (a->opts.overlap == UT_ACE_OVERLAP_WARN) {
		ut_ace_say(&a->messages, UT_ACE_WARN, "Detected overlap conflict:  %s",
			   ut_ace_str(&a->table, e->name).ptr);
	} else {
		text = ut_ace_describe(a, e);
		ut_ace_say(&a->messages, UT_ACE_WARN, "Solving overlap conflict by dropping: %s",
			   text);
		free(text);
		e->flags |= UT_ACE_DROP;
	}
}

int ut_ace_pass_overlap(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct overlap o;
	size_t n = t->seq_count;

	pass_overlap_start(a, &o);
	if (a->opts.overlap == UT_ACE_OVERLAP_TID) {
		resolve_tid(a, &o);
	} else {
		for (size_t i = 0; i < n; i++) {
			if (t->events[t->seq[i]].ph == 'X')
				resolve_one(a, &o, t->seq[i]);
		}
		ut_ace_seq_sweep(t);
	}
	a->issues[UT_ACE_ISSUE_OVERLAP] += o.resolved;
	a->issues[UT_ACE_ISSUE_OVERLAP_LEFT] += o.stuck;
	if (o.resolved || a->opts.release < UT_ACE_1_3)
		ut_ace_say(&a->messages, o.resolved ? UT_ACE_WARN : UT_ACE_INFO,
			   "Partial-overlap slices resolved: %" PRIu64, o.resolved);
	pass_overlap_release(&o);
	return 0;
}

/* Reserves the next thread numbers of one thread that no other thread has. */
static void pass_overlap_reserve(struct ut_ace_analysis *a, struct ut_ace_overlaps *l, uint32_t pid,
				 uint32_t tid)
{
	int64_t num = ut_ace_num(&a->table, tid), want = a->opts.tid_streams;

	for (int64_t i = 0; i < (want > 1 ? want : 1) && i < MOST_HOPS; i++) {
		uint32_t next;

		do
			next = ut_ace_id_int(&a->table, ++num);
		while (ut_idmap_get(&l->used, pass_overlap_key_of(pid, next)));
		ut_idmap_put(&l->used, pass_overlap_key_of(pid, next), 1);
		ut_idmap_put(&l->next, pass_overlap_key_of(pid, tid), next);
		tid = next;
	}
}

int ut_ace_pass_overlap_tids(struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct ut_ace_overlaps *l;
	uint32_t *threads = NULL;
	size_t count = 0, cap = 0;

	if (a->opts.tid_streams < 0)
		return 0;
	a->overlaps = l = UT_NEW(&t->arena, struct ut_ace_overlaps);
	ut_idmap_init(&l->next, &t->arena);
	ut_idmap_init(&l->used, &t->arena);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);
		uint64_t key = pass_overlap_key_of(e->pid, e->tid);

		if (e->ph != 'X' || !ut_ace_is_num(t, e->tid) || ut_idmap_get(&l->used, key))
			continue;
		ut_idmap_put(&l->used, key, 1);
		threads = ut_grow(threads, count + 1, &cap, sizeof(*threads));
		threads[count++] = t->seq[i];
	}
	for (size_t i = 0; i < count; i++)
		pass_overlap_reserve(a, l, t->events[threads[i]].pid, t->events[threads[i]].tid);
	free(threads);
	return 0;
}
