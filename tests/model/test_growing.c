/*
 * test_growing.c - tests src/trace/model/growing.h: whatever is added in whatever steps, what is
 * shown is what a store made at once would be, rows, arguments and picture, and stays so while more
 * comes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "model/build.h"
#include "model/growing.h"
#include "model/pyramid.h"
#include "support/unit.h"

#define TRACKS 5u
#define DEPTH  12u
#define PIXELS 400u

static uint64_t seed;

static uint64_t dice(uint64_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 20) % sides;
}

/* ---- what happened, as a list --------------------------------------------------------------- */

struct happened {
	struct ut_event e;
	uint64_t args[2]; /* said at its begin and at its end; 0 = nothing */
	bool is_open;
};

struct stack {
	uint32_t event[DEPTH]; /* in the list */
	uint32_t number[DEPTH];
	uint32_t depth;
};

struct world {
	struct ut_growing *g;
	struct happened *list;
	size_t count, cap;
	struct stack stacks[TRACKS];
	uint64_t now, instances;
	bool has_odd; /* ends out of order, rows that come too late */
};

static uint32_t text(struct ut_trace *t, const char *start, uint64_t number)
{
	char s[32];

	snprintf(s, sizeof(s), "%s %u", start, (unsigned int)number);
	return ut_strtab_intern_z(&t->strings, s);
}

static void begin_world(struct world *w, bool has_odd)
{
	*w = (struct world){ .g = ut_growing_new(), .now = 1000, .has_odd = has_odd };
	ut_trace_add_process(ut_growing_trace(w->g), 1);
	for (uint32_t i = 0; i < TRACKS; i++)
		ut_trace_add_track(ut_growing_trace(w->g), 0,
				   i == TRACKS - 1 ? UT_TRACK_COUNTER : UT_TRACK_THREAD);
	ut_growing_trace(w->g)->first = w->now;
}

/* The index of a list of arguments in the trace. */
static uint32_t put_args(struct ut_trace *t, uint64_t value, const char *key)
{
	size_t mark = t->arg_count;

	if (!value)
		return 0;
	ut_trace_add_arg(t, ut_strtab_intern_z(&t->strings, key), UT_ARG_U64)->value.u64 = value;
	ut_trace_close_args(t);
	return (uint32_t)mark;
}

static uint32_t remember(struct world *w, struct ut_event e, uint64_t args, bool is_open)
{
	w->list = ut_grow(w->list, w->count + 1, &w->cap, sizeof(*w->list));
	w->list[w->count] = (struct happened){ .e = e, .args = { args, 0 }, .is_open = is_open };
	return (uint32_t)w->count++;
}

static void send(struct world *w, struct ut_event e)
{
	struct ut_trace *t = ut_growing_trace(w->g);
	uint64_t args = dice(4) ? 0 : 1 + dice(1u << 20);
	size_t mark = t->arg_count;

	remember(w, e, args, false);
	e.args = put_args(t, args, "said");
	ut_sink_event(ut_growing_sink(w->g), t, &e);
	ut_trace_drop_args(t, mark);
}

static void begin(struct world *w, uint32_t track)
{
	struct ut_trace *t = ut_growing_trace(w->g);
	struct stack *s = &w->stacks[track];
	uint64_t args = dice(4) ? 0 : 1 + dice(1u << 20);
	struct ut_event e = { .ts = w->now, .track = track, .name = text(t, "span", dice(20)) };
	size_t mark = t->arg_count;

	if (s->depth == DEPTH)
		return;
	s->event[s->depth] = remember(w, e, args, true);
	e.args = put_args(t, args, "said");
	s->number[s->depth++] = ut_growing_begin(w->g, &e);
	ut_trace_drop_args(t, mark);
}

static void end(struct world *w, uint32_t track, uint32_t at)
{
	struct ut_trace *t = ut_growing_trace(w->g);
	struct stack *s = &w->stacks[track];
	struct happened *h = &w->list[s->event[at]];
	struct ut_event e = { .val = w->now - h->e.ts };
	size_t mark = t->arg_count;

	assert_int_equal(ut_growing_begun(w->g, s->number[at]), h->e.ts);
	h->e.val = e.val;
	h->e.flags = e.flags = dice(9) ? 0 : UT_EV_IMPLICIT_END;
	h->args[1] = dice(5) ? 0 : 1 + dice(1000);
	h->is_open = false;
	if (h->args[1]) {
		ut_growing_put_args(w->g, s->number[at]);
		put_args(t, h->args[1], "at end");
		e.args = (uint32_t)mark;
	}
	ut_growing_finish(w->g, s->number[at], &e);
	ut_trace_drop_args(t, mark);
	s->depth--;
	memmove(&s->event[at], &s->event[at + 1], (s->depth - at) * sizeof(*s->event));
	memmove(&s->number[at], &s->number[at + 1], (s->depth - at) * sizeof(*s->number));
}

static void happen(struct world *w)
{
	struct ut_trace *t = ut_growing_trace(w->g);
	uint32_t track = (uint32_t)dice(TRACKS - 2);
	struct stack *s = &w->stacks[track];

	/* two that begin together and end out of order stay in the order of their begins */
	w->now += dice(3) ? dice(50) : 0;
	w->now += w->has_odd;
	switch (dice(w->has_odd ? 12 : 9)) {
	case 0:
	case 1:
	case 2:
		begin(w, track);
		break;
	case 3:
	case 4:
	case 5:
		if (s->depth)
			end(w, track, s->depth - 1);
		break;
	case 6: /* a whole span at once */
		send(w, (struct ut_event){ .ts = w->now,
					   .val = dice(20),
					   .track = track,
					   .name = text(t, "whole", dice(5)) });
		w->now += 20;
		break;
	case 7:
		send(w, (struct ut_event){ .ts = w->now,
					   .track = track,
					   .kind = UT_KIND_INSTANT,
					   .name = text(t, "mark", dice(3)) });
		break;
	case 8:
		send(w, (struct ut_event){ .ts = w->now,
					   .val = dice(1000),
					   .track = TRACKS - 1,
					   .kind = UT_KIND_COUNTER,
					   .name = text(t, "counter", 0) });
		break;
	case 9: /* too late */
		send(w, (struct ut_event){ .ts = w->now - dice(dice(20) ? 60 : w->now),
					   .track = track,
					   .kind = UT_KIND_INSTANT,
					   .name = text(t, "late", dice(3)) });
		break;
	case 10:
		if (s->depth > 1)
			end(w, track, (uint32_t)dice(s->depth));
		break;
	default:
		send(w,
		     (struct ut_event){ .ts = w->now,
					.val = dice(30),
					.track = TRACKS - 2,
					.kind = dice(2) ? UT_KIND_ASYNC_BEGIN : UT_KIND_ASYNC_END,
					.name = text(t, "async", 0) });
		break;
	}
	ut_growing_trace(w->g)->last = w->now + 1; /* nothing begins as late as what is open ends */
}

/* ---- the same at once ----------------------------------------------------------------------- */

static uint32_t own_args(struct ut_build *b, const struct happened *h)
{
	static const char *const keys[] = { "said", "at end" };
	struct ut_arg args[2];
	size_t count = 0;

	for (size_t i = 0; i < 2; i++) {
		if (h->args[i])
			args[count++] = (struct ut_arg){ .key = ut_strtab_intern_z(
								 &b->store.trace.strings, keys[i]),
							 .type = UT_ARG_U64,
							 .value.u64 = h->args[i] };
	}
	return ut_arglists_add(&b->store.args, args, count);
}

static void make_at_once(const struct world *w, struct ut_store *out)
{
	const struct ut_trace *from = ut_growing_trace(w->g);
	struct ut_build b;

	ut_build_init(&b);
	ut_trace_add_process(&b.store.trace, 1);
	for (uint32_t i = 0; i < TRACKS; i++)
		ut_trace_add_track(&b.store.trace, 0, from->tracks[i].type);
	b.store.trace.first = from->first;
	b.store.trace.last = from->last;
	for (size_t i = 0; i < w->count; i++) {
		const struct happened *h = &w->list[i];
		struct ut_str name = ut_strtab_get(&from->strings, h->e.name);
		const struct ut_type type = {
			.name = ut_strtab_intern(&b.store.trace.strings, name.ptr, name.len),
			.kind = h->e.kind,
			.flags = h->is_open ? UT_EV_UNFINISHED : h->e.flags,
		};

		ut_build_add(&b, h->e.track, h->e.ts, h->is_open ? from->last - h->e.ts : h->e.val,
			     ut_types_intern(&b.store.types, &type), own_args(&b, h));
	}
	ut_build_finish(&b, out);
	ut_pyramid_build(out, 1);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static void same_name(const struct ut_store *a, uint32_t x, const struct ut_store *b, uint32_t y)
{
	const struct ut_type *s = ut_store_type(a, x), *t = ut_store_type(b, y);

	assert_string_equal(ut_strtab_get(&a->trace.strings, s->name).ptr,
			    ut_strtab_get(&b->trace.strings, t->name).ptr);
	assert_int_equal(s->kind, t->kind);
	assert_int_equal(s->flags, t->flags);
}

static void same_args(const struct ut_store *a, uint32_t x, const struct ut_store *b, uint32_t y)
{
	struct ut_arg p[4], q[4];
	size_t n = ut_arglists_get(&a->args, x, p, 4);

	assert_int_equal(n, ut_arglists_get(&b->args, y, q, 4));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(ut_strtab_get(&a->trace.strings, p[i].key).ptr,
				    ut_strtab_get(&b->trace.strings, q[i].key).ptr);
		assert_int_equal(p[i].value.u64, q[i].value.u64);
	}
}

static void same_rows(const struct ut_store *a, const struct ut_store *b, uint32_t track)
{
	const struct ut_rows *r = &a->rows[track], *s = &b->rows[track];

	assert_int_equal(r->count, s->count);
	assert_int_equal(r->first, s->first);
	assert_int_equal(r->last, s->last);
	for (uint64_t row = 0; row < r->count; row++) {
		const struct ut_block *x = &r->blocks[row / UT_BLOCK_ROWS];
		const struct ut_block *y = &s->blocks[row / UT_BLOCK_ROWS];
		uint32_t i = (uint32_t)(row % UT_BLOCK_ROWS);

		assert_int_equal(x->count, y->count);
		assert_int_equal(x->ts[i], y->ts[i]);
		assert_int_equal(x->val[i], y->val[i]);
		same_name(a, x->type[i], b, y->type[i]);
		same_args(a, x->args[i], b, y->args[i]);
	}
}

static void same_cells(const struct ut_store *a, const struct ut_store *b, uint32_t track,
		       uint32_t lane, const struct ut_picture *w)
{
	static struct ut_cell x[PIXELS], y[PIXELS];
	uint32_t n = ut_pyramid_window(a, track, lane, w, x);

	assert_int_equal(n, ut_pyramid_window(b, track, lane, w, y));
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(x[i].busy, y[i].busy);
		assert_int_equal(x[i].touched, y[i].touched);
		assert_int_equal(x[i].count, y[i].count);
		if (x[i].touched == 1)
			assert_int_equal(x[i].row, y[i].row);
		assert_memory_equal(&x[i].most, &y[i].most, sizeof(x[i].most));
	}
}

static void same_values(const struct ut_store *a, const struct ut_store *b, uint32_t track,
			uint32_t lane, const struct ut_picture *w)
{
	static struct ut_value_cell x[PIXELS], y[PIXELS];
	uint32_t n = ut_pyramid_values(a, track, lane, w, x);

	assert_int_equal(n, ut_pyramid_values(b, track, lane, w, y));
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(x[i].count, y[i].count);
		assert_memory_equal(&x[i].min, &y[i].min, 3 * sizeof(double));
	}
}

static void same_picture(const struct ut_store *a, const struct ut_store *b, uint32_t track)
{
	const struct ut_lanes *p = ut_pyramid_lanes(a, track), *q = ut_pyramid_lanes(b, track);
	uint64_t span = a->trace.last + 100;

	assert_int_equal(p->count, q->count);
	for (uint32_t lane = 0; lane < p->count; lane++) {
		assert_int_equal(p->lanes[lane].kind, q->lanes[lane].kind);
		assert_int_equal(p->lanes[lane].count, q->lanes[lane].count);
		for (int n = 0; n < 4; n++) {
			uint64_t t0 = n ? dice(span) : 0, t1 = n ? t0 + dice(span - t0) : span;
			struct ut_picture w = { t0, t1, 1 + (uint32_t)dice(PIXELS) };

			if (p->lanes[lane].kind == UT_LANE_COUNTER)
				same_values(a, b, track, lane, &w);
			else
				same_cells(a, b, track, lane, &w);
			assert_int_equal(ut_lane_seek(a, track, lane, t0),
					 ut_lane_seek(b, track, lane, t0));
		}
	}
}

static void same_store(const struct ut_store *a, const struct ut_store *b)
{
	assert_int_equal(a->row_count, b->row_count);
	assert_int_equal(a->trace.first, b->trace.first);
	assert_int_equal(a->trace.last, b->trace.last);
	for (uint32_t i = 0; i < TRACKS; i++) {
		same_rows(a, b, i);
		same_picture(a, b, i);
	}
}

/* ---- tests ---------------------------------------------------------------------------------- */

#define KEPT 8u

/* Shown in steps of any size; a few of those shown are kept and looked at again in the end. */
static void grow_in_steps(bool has_odd, size_t events, uint64_t most)
{
	struct ut_store shown[KEPT] = { 0 }, whole[KEPT] = { 0 };
	struct world w;
	size_t steps = 0;

	begin_world(&w, has_odd);
	for (size_t done = 0; done < events; steps++) {
		size_t at = steps % KEPT, n = 1 + dice(most);

		if (steps >= KEPT && dice(2))
			at = (size_t)dice(KEPT);
		for (size_t i = 0; i < n; i++)
			happen(&w);
		done += n;
		ut_store_release(&shown[at]);
		ut_store_release(&whole[at]);
		ut_growing_show(w.g, ut_growing_trace(w.g)->last, &shown[at]);
		make_at_once(&w, &whole[at]);
		same_store(&shown[at], &whole[at]);
	}
	for (size_t i = 0; i < KEPT; i++) {
		if (shown[i].rows)
			same_store(&shown[i], &whole[i]);
	}
	ut_growing_end(w.g); /* what was shown stays */
	for (size_t i = 0; i < KEPT; i++) {
		if (shown[i].rows)
			same_store(&shown[i], &whole[i]);
		ut_store_release(&shown[i]);
		ut_store_release(&whole[i]);
	}
	free(w.list);
}

static void test_what_is_shown_is_what_happened(void **state)
{
	(void)state;
	for (seed = 1; seed <= 12; seed++) {
		uint64_t again = seed;

		grow_in_steps(false, 3000, 300);
		seed = again;
	}
}

static void test_odd_orders_are_put_right(void **state)
{
	(void)state;
	for (seed = 1; seed <= 12; seed++) {
		uint64_t again = seed;

		grow_in_steps(true, 2000, 150);
		seed = again;
	}
}

static void test_many_blocks(void **state)
{
	(void)state;
	seed = 77;
	grow_in_steps(false, 160000, 60000);
	seed = 78;
	grow_in_steps(true, 120000, 60000);
}

static void test_nothing_is_shown_as_nothing(void **state)
{
	struct ut_growing *g = ut_growing_new();
	struct ut_store s;

	(void)state;
	ut_growing_show(g, 0, &s);
	assert_int_equal(s.row_count, 0);
	assert_int_equal(s.trace.track_count, 0);
	ut_store_release(&s);
	ut_growing_end(g);
}

static void test_strings_of_what_is_shown_are_its_own(void **state)
{
	struct ut_growing *g = ut_growing_new();
	struct ut_trace *t = ut_growing_trace(g);
	struct ut_store s;
	uint32_t mine, theirs;

	(void)state;
	for (uint64_t i = 0; i < 300; i++)
		(void)text(t, "before", i);
	ut_growing_show(g, 0, &s);
	mine = ut_strtab_intern_z(&s.trace.strings, "only here");
	theirs = text(t, "after", 1);
	assert_int_equal(mine, theirs); /* the same number, each in its own table */
	assert_string_equal(ut_strtab_get(&s.trace.strings, mine).ptr, "only here");
	assert_string_equal(ut_strtab_get(&t->strings, theirs).ptr, "after 1");
	assert_int_equal(ut_strtab_intern_z(&s.trace.strings, "before 299"),
			 ut_strtab_intern_z(&t->strings, "before 299"));
	ut_store_release(&s);
	ut_growing_end(g);
}

UT_TESTS(growing)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_shown_is_what_happened),
		cmocka_unit_test(test_odd_orders_are_put_right),
		cmocka_unit_test(test_many_blocks),
		cmocka_unit_test(test_nothing_is_shown_as_nothing),
		cmocka_unit_test(test_strings_of_what_is_shown_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
