/* test_lane_items.c - tests src/analysis/view/lane_items.h: what is drawn, against every entry
 * looked at by itself.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "model/growing.h"
#include "support/unit.h"
#include "view/lane_items.h"
#include "view/view.h"
#include "view/view_parts.h"

#define PIXELS_MOST 400

struct drawn {
	const struct ut_lane_items *s;
	uint64_t next; /* entry that has to come */
	uint64_t items;
	double end; /* of the last item's start */
};

static void get(const struct ut_lane_items *s, uint64_t i, struct ut_entry *e)
{
	assert_true(ut_lane_entry(s->track->trace->store, s->track->local, s->lane, i, e));
	e->ts = ut_view_time(s->track, e->ts);
	e->end = ut_view_time(s->track, e->end);
}

static void check_one(const struct ut_lane_items *s, const struct ut_lane_item *item)
{
	struct ut_entry e;

	get(s, item->first, &e);
	assert_int_equal(item->next, item->first + 1);
	assert_int_equal(item->row, e.row);
	assert_true(item->start == (double)e.ts);
	assert_true(item->length == (float)(e.end - e.ts));
	assert_int_equal(item->type, ut_view_type(s->track, e.type));
}

static void check_many(const struct ut_lane_items *s, const struct ut_lane_item *item)
{
	double busy = 0, most = -1;
	bool is_longest = false;
	struct ut_entry e;
	long fill;

	for (uint64_t i = item->first; i < item->next; i++) {
		double length;

		get(s, i, &e);
		length = (double)(e.end - e.ts);
		assert_true(length < s->pixel);
		assert_true((double)e.ts >= item->start - s->pixel);
		assert_true((double)e.ts < item->start + 2 * s->pixel);
		busy += length;
		if (length > most)
			is_longest = false;
		most = length > most ? length : most;
		is_longest |= length >= most && item->type == ut_view_type(s->track, e.type);
	}
	assert_true(is_longest); /* of several that are as long, any */
	assert_true(item->next - item->first > 1);
	fill = lround(busy / s->pixel * 255);
	assert_int_equal(item->fill, fill < 1 ? 1 : fill > 255 ? 255 : fill);
}

/* Every entry of the window is in exactly one item, in order. */
static void check_item(void *ctx, const struct ut_lane_item *item)
{
	struct drawn *d = ctx;

	if (d->items++)
		assert_int_equal(item->first, d->next);
	d->next = item->next;
	assert_true(item->start >= d->end);
	d->end = item->start;
	if (item->row == UT_LANE_ITEM_MANY)
		check_many(d->s, item);
	else
		check_one(d->s, item);
}

static void check_window(const struct ut_view_track *t, uint32_t lane, double t0, double t1,
			 uint32_t pixels)
{
	struct ut_lane_items s = { t, lane, t0, t1, (t1 - t0) / pixels, check_item, NULL };
	struct drawn d = { .s = &s, .end = -INFINITY };
	uint64_t count = 0, first = UINT64_MAX;

	s.ctx = &d;
	ut_lane_items_draw(&s);
	for (uint64_t i = 0; i < t->lanes->lanes[lane].count; i++) {
		struct ut_entry e;

		get(&s, i, &e);
		if ((double)e.ts >= t1 || ((double)e.end <= t0 && (double)e.ts < t0))
			continue;
		first = first == UINT64_MAX ? i : first;
		count++;
	}
	if (count)
		assert_true(d.next >= first + count); /* a leaf may reach behind the window */
	else
		assert_int_equal(d.items, 0);
}

static void every_entry_is_drawn_once(void **state)
{
	uint64_t seed = 5;
	struct maker m;
	struct ut_store store;
	struct ut_view *view = ut_view_new();

	(void)state;
	make_start(&m);
	for (uint32_t t = 0; t < 4; t++) {
		uint32_t track = make_track(&m, UT_TRACK_THREAD, t + 1, "main");
		uint64_t ts = 1000;

		for (int i = 0; i < 3000; i++) {
			uint64_t length = make_random(&seed) % (t < 2 ? 20 : 2000);

			make_span(&m, track, i % 3 ? "a" : "b", ts, length);
			make_span(&m, track, "c", ts, length / 3);
			if (i % 50 == 0)
				make_kind(&m, track, UT_KIND_INSTANT, "mark", ts, 0);
			ts += length + make_random(&seed) % (t % 2 ? 3 : 400);
		}
	}
	make_finish(&m, &store);
	ut_view_lend(view, "x", &store);
	ut_view_ready(view, 1);
	for (int i = 0; i < 300; i++) {
		const struct ut_view_track *t = &view->tracks[make_random(&seed) % 4];
		uint32_t lane = (uint32_t)(make_random(&seed) % t->lanes->count);
		double t0 = (double)(make_random(&seed) % view->span) - 100.5;
		double t1 = t0 + 1 + (double)(make_random(&seed) % (i % 2 ? view->span : 5000));

		check_window(t, lane, t0, t1, 1 + (uint32_t)(make_random(&seed) % PIXELS_MOST));
	}
	ut_view_free(view);
	ut_store_release(&store);
}

/* Of a trace that grows, the last nodes lie apart, and the last span of a lane may go on. */
static void a_growing_lane_is_drawn_as_any(void **state)
{
	struct ut_growing *g = ut_growing_new();
	struct ut_trace *t = ut_growing_trace(g);
	uint64_t seed = 3, ts = 1000;

	(void)state;
	ut_trace_add_process(t, 1);
	ut_trace_add_track(t, 0, UT_TRACK_THREAD);
	for (int shown = 0; shown < 700; shown++) {
		struct ut_view *view = ut_view_new();
		struct ut_event e = { .ts = ts, .name = ut_strtab_intern_z(&t->strings, "a") };
		uint32_t open = ut_growing_begin(g, &e);
		uint64_t length = 1 + make_random(&seed) % 60;
		struct ut_store store;

		t->last = ts + length;
		ut_growing_show(g, t->last, &store);
		ut_view_lend(view, "x", &store);
		ut_view_ready(view, 1);
		for (uint32_t i = 0; i < 4; i++)
			check_window(&view->tracks[0], 0, 0, (double)view->span,
				     1 + (uint32_t)(make_random(&seed) % PIXELS_MOST));
		ut_view_free(view);
		ut_store_release(&store);
		e.val = length;
		ut_growing_finish(g, open, &e);
		ts += length + make_random(&seed) % 5;
	}
	ut_growing_end(g);
}

/* Goes on, and comes to an end. */
static void count_steps(void *ctx, const struct ut_lane_item *item)
{
	uint64_t *next = ctx;

	assert_true(item->next > item->first);
	assert_true(item->first >= *next);
	*next = item->next;
}

static void a_damaged_pyramid_is_drawn_to_its_end(void **state)
{
	static const double widths[] = { 1e-300, 0.5, 40, 3000, 1e7, 1e300 };
	struct ut_view *view = ut_view_new();
	struct ut_store store;
	struct maker m;
	uint64_t seed = 9, ts = 1000;
	uint32_t track;

	(void)state;
	make_start(&m);
	track = make_track(&m, UT_TRACK_THREAD, 1, "main");
	for (int i = 0; i < 2000; i++) {
		uint64_t length = make_random(&seed) % 50;

		make_span(&m, track, "a", ts, length);
		ts += length;
	}
	make_finish(&m, &store);
	ut_view_lend(view, "x", &store);
	ut_view_ready(view, 1);
	for (int round = 0; round < 200; round++) {
		const struct ut_lane *lane = &view->tracks[0].lanes->lanes[0];
		struct ut_node *nodes = (struct ut_node *)(uintptr_t)lane->nodes;

		for (int i = 0; i < 40; i++) {
			struct ut_node *n = &nodes[make_random(&seed) % ut_lane_nodes(lane->count)];

			n->first = make_random(&seed) % (2 * ts);
			n->end = make_random(&seed) % 2 ? make_random(&seed) % (2 * ts) : 0;
			n->longest = (float)(make_random(&seed) % 5000);
		}
		for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
			uint64_t next = 0;

			ut_lane_items_draw(&(struct ut_lane_items){ &view->tracks[0], 0, 0,
								    (double)view->span, widths[i],
								    count_steps, &next });
		}
	}
	ut_view_free(view);
	ut_store_release(&store);
}

UT_TESTS(lane_items)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_drawn_once),
		cmocka_unit_test(a_growing_lane_is_drawn_as_any),
		cmocka_unit_test(a_damaged_pyramid_is_drawn_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
