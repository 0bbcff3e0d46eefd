/*
 * test_pyramid.c - tests src/trace/model/pyramid.h: lanes hold every row once and nothing overlaps
 * in them, and what is drawn is what a rasteriser that looks at every entry would draw, within the
 * bounds that the header states by number. Traces are made at random, always the same ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/build.h"
#include "model/pyramid.h"
#include "model/store.h"
#include "support/unit.h"

#define MOST_PIXELS 3000u

static uint64_t seed;

static uint64_t dice(uint64_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 20) % sides;
}

/* Mostly short, sometimes nothing, rarely long: as spans are. */
static uint64_t any_length(void)
{
	return dice(8) ? dice((uint64_t)1 << dice(14)) : 0;
}

/* ---- traces -------------------------------------------------------------------------------- */

static uint32_t type_of(struct ut_build *b, enum ut_kind kind, uint8_t flags)
{
	char name[16];
	struct ut_type type = { .kind = (uint8_t)kind, .flags = flags };

	snprintf(name, sizeof(name), "name %u", (unsigned int)dice(20));
	type.name = ut_strtab_intern_z(&b->store.trace.strings, name);
	return ut_types_intern(&b->store.types, &type);
}

static uint32_t new_track(struct ut_build *b)
{
	if (!b->store.trace.process_count)
		ut_trace_add_process(&b->store.trace, 1);
	return ut_trace_add_track(&b->store.trace, 0, UT_TRACK_THREAD);
}

/* Spans that nest, from ts to at most end. */
static void add_nested(struct ut_build *b, uint32_t track, uint64_t ts, uint64_t end, int depth)
{
	while (ts < end && dice(40)) {
		uint64_t length = any_length() << depth;

		length = length < end - ts ? length : end - ts;
		ut_build_add(b, track, ts, length, type_of(b, UT_KIND_SPAN, 0), 0);
		if (depth && length)
			add_nested(b, track, ts + dice(length), ts + length, depth - 1);
		ts += length + (dice(3) ? 0 : any_length());
	}
}

static void add_overlapping(struct ut_build *b, uint32_t track, uint64_t rows)
{
	for (uint64_t ts = dice(1000); rows; rows--, ts += dice(2) * any_length())
		ut_build_add(b, track, ts, any_length(), type_of(b, UT_KIND_SPAN, 0), 0);
}

static void add_async(struct ut_build *b, uint32_t track, uint64_t rows)
{
	uint64_t ts = dice(1000), begun = 0, ended = 0;

	for (; rows; rows--, ts += dice(3) ? 0 : any_length()) {
		if (dice(2) && ended < begun)
			ut_build_add(b, track, ts, ended++, type_of(b, UT_KIND_ASYNC_END, 0), 0);
		else
			ut_build_add(b, track, ts, begun++, type_of(b, UT_KIND_ASYNC_BEGIN, 0), 0);
	}
}

static void add_counter(struct ut_build *b, uint32_t track, uint64_t rows)
{
	for (uint64_t ts = dice(1000); rows; rows--, ts += dice(4) ? dice(50) : any_length()) {
		double value = (double)dice(1000000) - 500000;
		uint64_t bits;

		memcpy(&bits, &value, sizeof(bits));
		ut_build_add(b, track, ts, bits, type_of(b, UT_KIND_COUNTER, UT_EV_DOUBLE), 0);
	}
}

static void add_marks(struct ut_build *b, uint32_t track, uint64_t rows)
{
	static const enum ut_kind kinds[] = { UT_KIND_INSTANT, UT_KIND_FLOW_OUT, UT_KIND_FLOW_IN,
					      UT_KIND_OBJECT_NEW };

	for (uint64_t ts = dice(1000); rows; rows--, ts += any_length())
		ut_build_add(b, track, ts, dice(9), type_of(b, kinds[dice(4)], 0), 0);
}

/* One track of each sort, and one with everything on it. */
static void make_store(struct ut_store *s, uint64_t number)
{
	struct ut_build b;
	uint32_t all;

	seed = number;
	ut_build_init(&b);
	all = new_track(&b);
	add_nested(&b, all, dice(1000), (uint64_t)1 << (8 + dice(14)), (int)dice(6));
	add_marks(&b, all, dice(300));
	if (dice(2)) {
		add_overlapping(&b, all, dice(500));
		add_async(&b, all, dice(100));
		add_counter(&b, all, dice(300));
	}
	add_nested(&b, new_track(&b), 0, (uint64_t)1 << (8 + dice(14)), (int)dice(8));
	add_overlapping(&b, new_track(&b), dice(3000));
	add_async(&b, new_track(&b), dice(500));
	add_counter(&b, new_track(&b), dice(3000));
	add_marks(&b, new_track(&b), dice(2000));
	new_track(&b);
	ut_build_finish(&b, s);
	ut_pyramid_build(s, (unsigned int)dice(4));
}

/* ---- lanes --------------------------------------------------------------------------------- */

static uint8_t kind_of_row(const struct ut_store *s, uint32_t track, uint64_t row)
{
	const struct ut_block *b = &s->rows[track].blocks[row / UT_BLOCK_ROWS];

	return ut_store_type(s, b->type[row % UT_BLOCK_ROWS])->kind;
}

static bool fits(enum ut_lane_kind lane, enum ut_kind row)
{
	static const char *const kinds[UT_LANE_KINDS] = { "s", "s", "a", "i", "f", "c" };
	static const char letters[] = "sicaxfffiiiii"; /* in the order of UT_KIND_LIST */

	_Static_assert(sizeof(letters) == UT_KIND_COUNT + 1, "a letter per kind");
	return strchr(kinds[lane], letters[row]) != NULL;
}

/* Entries are in order of time, do not overlap, and each is a row that belongs there. */
static void check_lane(const struct ut_store *s, uint32_t track, uint32_t lane, uint8_t *seen)
{
	const struct ut_lane *l = &ut_pyramid_lanes(s, track)->lanes[lane];
	struct ut_entry e, before = { 0 };

	assert_true(l->count > 0);
	for (uint64_t i = 0; i < l->count; i++, before = e) {
		assert_true(ut_lane_entry(s, track, lane, i, &e));
		assert_true(fits(l->kind, kind_of_row(s, track, e.row)));
		assert_int_equal(seen[e.row]++, 0);
		assert_true(e.end >= e.ts);
		if (!i)
			continue;
		assert_true(e.row > before.row);
		assert_true(e.ts >= before.end);
	}
	assert_false(ut_lane_entry(s, track, lane, l->count, &e));
}

static void every_row_is_on_one_lane_and_nothing_overlaps(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 100; n++) {
		struct ut_store s;

		make_store(&s, n);
		for (uint32_t track = 0; track < s.trace.track_count; track++) {
			uint8_t *seen = calloc(1, s.rows[track].count + 1);

			for (uint32_t lane = 0; lane < ut_pyramid_lanes(&s, track)->count; lane++)
				check_lane(&s, track, lane, seen);
			for (uint64_t row = 0; row < s.rows[track].count; row++)
				assert_int_equal(seen[row],
						 kind_of_row(&s, track, row) != UT_KIND_ASYNC_END);
			free(seen);
		}
		ut_store_release(&s);
	}
}

/* The lane of each span, given as start and length, in the order of the store. */
static void expect_lanes(const uint64_t (*spans)[2], const char *lanes, size_t count)
{
	struct ut_store s;
	struct ut_build b;
	struct ut_entry e;

	ut_build_init(&b);
	new_track(&b);
	for (size_t i = 0; i < count; i++)
		ut_build_add(&b, 0, spans[i][0], spans[i][1], 0, 0);
	ut_build_finish(&b, &s);
	ut_pyramid_build(&s, 1);
	for (uint32_t lane = 0; lane < ut_pyramid_lanes(&s, 0)->count; lane++) {
		for (uint64_t i = 0; ut_lane_entry(&s, 0, lane, i, &e); i++) {
			assert_int_equal(lanes[e.row], '0' + lane);
			assert_int_equal(spans[e.row][0], e.ts);
		}
	}
	ut_store_release(&s);
}

static void depth_decides_and_what_does_not_nest_moves_below(void **state)
{
	static const uint64_t nested[][2] = { { 0, 100 }, { 0, 40 },  { 10, 30 },
					      { 40, 60 }, { 50, 50 }, { 100, 5 } };
	static const uint64_t crossing[][2] = { { 0, 10 }, { 5, 10 },  { 6, 2 },
						{ 8, 20 }, { 12, 10 }, { 15, 3 } };

	(void)state;
	expect_lanes(nested, "012120", 6);
	/* [5,15) and [8,28) cross [0,10); [12,22) is alone in its depth; [15,18) is inside that. */
	expect_lanes(crossing, "021301", 6);
}

static uint32_t counter_lane(const struct ut_store *s, uint32_t track)
{
	const struct ut_lanes *l = ut_pyramid_lanes(s, track);

	return l->count && l->lanes[l->count - 1].kind == UT_LANE_COUNTER ? l->count - 1
									  : UINT32_MAX;
}

/* ---- drawing ------------------------------------------------------------------------------- */

struct raster {
	uint64_t busy, row;
	uint64_t most;
	uint32_t touched, count;
	uint32_t crowd; /* entries that touch it or the next one */
};

static uint64_t border(const struct ut_picture *w, uint32_t pixels, uint64_t i)
{
	__extension__ typedef unsigned __int128 u128;

	return w->t0 + (uint64_t)((u128)(w->t1 - w->t0) * i / pixels);
}

/* What entry e does to the pixels, one by one. */
static void raster_entry(const struct ut_picture *w, uint32_t pixels, struct raster *r,
			 const struct ut_entry *e)
{
	uint64_t visible = e->end > e->ts ? e->end : e->ts + 1;

	for (uint32_t p = 0; p < pixels; p++) {
		uint64_t lo = border(w, pixels, p), hi = border(w, pixels, p + 1);
		uint64_t begin = e->ts > lo ? e->ts : lo, end = e->end < hi ? e->end : hi;
		uint64_t busy = end > begin ? end - begin : 0;
		uint64_t after = p + 1 < pixels ? border(w, pixels, p + 2) : hi;

		r[p].crowd += e->ts < after && visible > lo;
		if (e->ts >= hi || visible <= lo)
			continue;
		r[p].busy += busy;
		r[p].touched++;
		r[p].count += e->ts >= lo;
		r[p].row = e->row;
		r[p].most = busy > r[p].most ? busy : r[p].most;
	}
}

static struct raster *raster_lane(const struct ut_store *s, uint32_t track, uint32_t lane,
				  const struct ut_picture *w, uint32_t pixels)
{
	struct raster *r = calloc(pixels, sizeof(*r));
	struct ut_entry e;

	for (uint64_t i = 0; ut_lane_entry(s, track, lane, i, &e); i++) {
		if (e.ts < w->t1 && (e.end > w->t0 || e.ts >= w->t0))
			raster_entry(w, pixels, r, &e);
	}
	return r;
}

/* The most of a pixel that entries of this type cover, in one piece. */
static uint64_t cover(const struct ut_store *s, uint32_t track, uint32_t lane, uint32_t type,
		      const uint64_t *pixel)
{
	struct ut_entry e;
	uint64_t most = 0;

	for (uint64_t i = ut_lane_seek(s, track, lane, pixel[0]);
	     ut_lane_entry(s, track, lane, i, &e) && e.ts < pixel[1]; i++) {
		uint64_t begin = e.ts > pixel[0] ? e.ts : pixel[0];
		uint64_t end = e.end < pixel[1] ? e.end : pixel[1];

		if (e.type == type && end > begin && end - begin > most)
			most = end - begin;
	}
	return most;
}

static void check_cells(const struct ut_store *s, uint32_t track, uint32_t lane,
			const struct ut_picture *w)
{
	static struct ut_cell cells[MOST_PIXELS];
	uint32_t pixels = ut_pyramid_window(s, track, lane, w, cells);
	struct raster *r = raster_lane(s, track, lane, w, pixels);
	uint64_t count = 0, expected = 0;
	int64_t ahead = 0; /* busy time drawn too far left so far */

	assert_int_equal(pixels, w->t1 - w->t0 < w->pixels ? w->t1 - w->t0 : w->pixels);
	for (uint32_t p = 0; p < pixels; p++) {
		uint64_t pixel[2] = { border(w, pixels, p), border(w, pixels, p + 1) };
		bool exact = r[p].crowd < UT_LANE_LEAF && (!p || r[p - 1].crowd < UT_LANE_LEAF);

		assert_int_equal(cells[p].touched > 0, r[p].touched > 0);
		if (cells[p].touched == 1) {
			assert_int_equal(r[p].touched, 1);
			assert_int_equal(cells[p].row, r[p].row);
		}
		assert_true(cells[p].busy <= pixel[1] - pixel[0]);
		ahead += (int64_t)(cells[p].busy - r[p].busy);
		assert_true(llabs(ahead) <= (int64_t)(pixel[1] - pixel[0]) / 4 + 1);
		count += cells[p].count;
		expected += r[p].count;
		if (r[p].most >= pixel[1] - pixel[0])
			assert_int_equal(cells[p].busy, r[p].busy);
		if (!exact)
			continue;
		assert_int_equal(cells[p].busy, r[p].busy);
		assert_int_equal(cells[p].count, r[p].count);
		assert_true((float)r[p].most <= cells[p].most * 1.00001f);
		if (r[p].touched)
			assert_true((float)cover(s, track, lane, cells[p].type, pixel) >=
				    (float)r[p].most);
	}
	assert_int_equal(ahead, 0);
	assert_int_equal(count, expected);
	free(r);
}

/* Windows of all sizes, some beyond the trace, some narrower in ns than in pixels. */
static struct ut_picture any_window(const struct ut_rows *rows)
{
	uint64_t length = rows->last - rows->first + 10;
	struct ut_picture w = { .pixels = 1 + (uint32_t)dice(1 + dice(MOST_PIXELS - 1)) };

	if (dice(3) == 0) {
		w.t0 = rows->first - dice(rows->first + 1);
		w.t1 = rows->last + 1 + dice(length);
	} else {
		w.t0 = rows->first + dice(length);
		w.t1 = w.t0 + 1 + dice((length >> dice(20)) + 1);
	}
	return w;
}

static void what_is_drawn_is_what_is_there(void **state)
{
	(void)state;
	for (uint64_t n = 1000; n < 1060; n++) {
		struct ut_store s;

		make_store(&s, n);
		for (uint32_t track = 0; track < s.trace.track_count; track++) {
			uint32_t lanes = ut_pyramid_lanes(&s, track)->count;

			for (int i = 0; i < 6 && lanes; i++) {
				struct ut_picture w = any_window(&s.rows[track]);
				uint32_t lane = (uint32_t)dice(lanes);

				if (lane != counter_lane(&s, track))
					check_cells(&s, track, lane, &w);
			}
		}
		ut_store_release(&s);
	}
}

static void one_pixel_is_an_exact_sum(void **state)
{
	struct ut_store s;
	struct ut_build b;
	struct ut_cell cell;
	uint64_t busy = 0, rows = 100000;

	(void)state;
	seed = 7;
	ut_build_init(&b);
	new_track(&b);
	for (uint64_t i = 0; i < rows; i++) {
		uint64_t length = dice(100);

		ut_build_add(&b, 0, i * 100, length, 0, 0);
		if (i * 100 >= 5050 && i * 100 < 7000050)
			busy += length;
		else if (i == 50 && length > 50) /* clipped on the left */
			busy += length - 50;
		if (i == 70000 && length > 50) /* and on the right */
			busy -= length - 50;
	}
	ut_build_finish(&b, &s);
	ut_pyramid_build(&s, 1);
	assert_int_equal(ut_pyramid_lanes(&s, 0)->count, 1);
	assert_null(ut_pyramid_lanes(&s, 0)->lanes[0].rows);
	assert_int_equal(
		ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 5050, 7000050, 1 }, &cell), 1);
	assert_int_equal(cell.busy, busy);
	assert_int_equal(cell.count, 70000 - 51 + 1);
	ut_store_release(&s);
}

/* Rows of one type on one track: start and length. */
static void store_of(struct ut_store *s, enum ut_kind kind, const uint64_t (*rows)[2], size_t count)
{
	struct ut_build b;
	uint32_t type;

	ut_build_init(&b);
	new_track(&b);
	type = type_of(&b, kind, 0);
	for (size_t i = 0; i < count; i++)
		ut_build_add(&b, 0, rows[i][0], rows[i][1], type, 0);
	ut_build_finish(&b, s);
	ut_pyramid_build(s, 1);
}

/* All that is busy lies left of the border: the worst that dividing a node can meet. */
static void a_node_across_a_border_is_divided_by_its_time(void **state)
{
	static const uint64_t rows[UT_LANE_LEAF][2] = { { 50, 10 }, { 60, 10 }, { 70, 10 },
							{ 80, 10 }, { 90, 10 }, { 100, 0 },
							{ 110, 0 }, { 149, 0 } };
	struct ut_cell cells[2];
	struct ut_store s;

	(void)state;
	store_of(&s, UT_KIND_SPAN, rows, UT_LANE_LEAF);
	ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 0, 200, 2 }, cells);
	assert_int_equal(cells[0].busy + cells[1].busy, 50);
	assert_int_equal(cells[0].busy, 50 * 50 / 99); /* half of the 99 ns, so half of it */
	assert_true(cells[0].busy >= 50 - 100 / 4);
	assert_true(cells[0].touched > 0 && cells[1].touched > 0);
	ut_store_release(&s);
}

/* A node ends where the last of its marks is; that may be the first moment of the next pixel. */
static void what_stands_on_a_border_belongs_to_the_right(void **state)
{
	static const uint64_t rows[UT_LANE_LEAF][2] = {
		{ 10, 0 }, { 20, 0 }, { 30, 0 }, { 40, 0 },
		{ 50, 0 }, { 60, 0 }, { 70, 0 }, { 80, 0 }
	};
	struct ut_cell cells[2];
	struct ut_store s;

	(void)state;
	store_of(&s, UT_KIND_INSTANT, rows, UT_LANE_LEAF);
	ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 0, 160, 2 }, cells);
	assert_int_equal(cells[0].count, 7);
	assert_int_equal(cells[1].count, 1);
	ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 80, 160, 2 }, cells);
	assert_int_equal(cells[0].count, 1);
	assert_int_equal(cells[0].row, 7);
	ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 0, 80, 1 }, cells);
	assert_int_equal(cells[0].count, 7);
	ut_store_release(&s);
}

/* ---- counters ------------------------------------------------------------------------------ */

struct samples {
	double min, max, last;
	uint32_t count;
};

static void take_sample(struct samples *s, double value)
{
	s->min = s->count && s->min < value ? s->min : value;
	s->max = s->count && s->max > value ? s->max : value;
	s->last = value;
	s->count++;
}

static double sample(const struct ut_store *s, uint32_t track, uint64_t row)
{
	double value;

	memcpy(&value, &s->rows[track].blocks[row / UT_BLOCK_ROWS].val[row % UT_BLOCK_ROWS],
	       sizeof(value));
	return value;
}

/* Samples of each pixel, and in front of them the last one before the window. */
static struct samples *raster_values(const struct ut_store *s, uint32_t track, uint32_t lane,
				     const struct ut_picture *w, uint32_t pixels)
{
	struct samples *r = calloc(pixels + 1u, sizeof(*r));
	struct ut_entry e;
	uint32_t p = 0;

	for (uint64_t i = 0; ut_lane_entry(s, track, lane, i, &e) && e.ts < w->t1; i++) {
		while (e.ts >= w->t0 && e.ts >= border(w, pixels, p))
			p++;
		take_sample(&r[p], sample(s, track, e.row));
	}
	return r;
}

static bool held(const struct ut_value_cell *c, double value)
{
	return (c->min == value && c->max == value && c->last == value) ||
	       (isnan(value) && isnan(c->min) && isnan(c->max) && isnan(c->last));
}

static void check_values(const struct ut_store *s, uint32_t track, uint32_t lane,
			 const struct ut_picture *w)
{
	static struct ut_value_cell cells[MOST_PIXELS];
	uint32_t pixels = ut_pyramid_values(s, track, lane, w, cells);
	struct samples *all = raster_values(s, track, lane, w, pixels), *r = all + 1;
	double before = all[0].count ? all[0].last : NAN;
	uint64_t count = 0, expected = 0;

	for (uint32_t p = 0; p < pixels; p++) {
		bool crowded = r[p].count + (p + 1 < pixels ? r[p + 1].count : 0) >= UT_LANE_LEAF;

		count += cells[p].count;
		expected += r[p].count;
		/* Samples may be ahead of their time by less than a pixel, never late. */
		assert_true(count >= expected);
		assert_true(count <= expected + (p + 1 < pixels ? r[p + 1].count : 0));
		if (!cells[p].count)
			assert_true(held(&cells[p], before));
		else
			before = cells[p].last;
		if (crowded || (p && count - cells[p].count != expected - r[p].count))
			continue;
		assert_int_equal(cells[p].count, r[p].count);
		if (r[p].count) {
			assert_true(cells[p].min == r[p].min && cells[p].max == r[p].max);
			assert_true(cells[p].last == r[p].last);
		}
	}
	assert_int_equal(count, expected);
	free(all);
}

static void counters_keep_their_extremes_and_their_last_value(void **state)
{
	(void)state;
	for (uint64_t n = 2000; n < 2100; n++) {
		struct ut_store s;

		make_store(&s, n);
		for (uint32_t track = 0; track < s.trace.track_count; track++) {
			uint32_t lane = counter_lane(&s, track);

			for (int i = 0; i < 10 && lane != UINT32_MAX; i++) {
				struct ut_picture w = any_window(&s.rows[track]);

				check_values(&s, track, lane, &w);
			}
		}
		ut_store_release(&s);
	}
}

static void what_is_not_a_number_hides_nothing(void **state)
{
	static const double values[] = { NAN, 3, NAN, -2, 7, NAN };
	struct ut_value_cell cell;
	struct ut_store s;
	struct ut_build b;
	uint32_t type;

	(void)state;
	ut_build_init(&b);
	new_track(&b);
	type = type_of(&b, UT_KIND_COUNTER, UT_EV_DOUBLE);
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t bits;

		memcpy(&bits, &values[i], sizeof(bits));
		ut_build_add(&b, 0, i, bits, type, 0);
	}
	ut_build_finish(&b, &s);
	ut_pyramid_build(&s, 1);
	ut_pyramid_values(&s, 0, 0, &(struct ut_picture){ 0, 100, 1 }, &cell);
	assert_true(cell.min == -2 && cell.max == 7 && isnan(cell.last));
	assert_int_equal(cell.count, 6);
	ut_store_release(&s);
}

/* The last sample of one node and the first of the next have the same time. */
static void samples_at_the_first_moment_are_in(void **state)
{
	static const uint64_t rows[UT_LANE_LEAF + 1][2] = {
		{ 10, 0 }, { 20, 1 }, { 30, 2 }, { 40, 3 }, { 50, 4 },
		{ 60, 5 }, { 70, 6 }, { 80, 7 }, { 80, 8 },
	};
	struct ut_value_cell cells[2];
	struct ut_store s;

	(void)state;
	store_of(&s, UT_KIND_COUNTER, rows, UT_LANE_LEAF + 1);
	ut_pyramid_values(&s, 0, 0, &(struct ut_picture){ 80, 160, 2 }, cells);
	assert_int_equal(cells[0].count, 2);
	assert_true(cells[0].min == 7 && cells[0].last == 8 && cells[1].min == 8);
	ut_pyramid_values(&s, 0, 0, &(struct ut_picture){ 0, 80, 2 }, cells);
	assert_int_equal(cells[0].count + cells[1].count, 7);
	ut_pyramid_values(&s, 0, 0, &(struct ut_picture){ 81, 90, 1 }, cells);
	assert_int_equal(cells[0].count, 0);
	assert_true(cells[0].max == 8);
	ut_store_release(&s);
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void seek_finds_the_first_that_is_not_over(void **state)
{
	(void)state;
	for (uint64_t n = 3000; n < 3030; n++) {
		struct ut_store s;
		struct ut_entry e;

		make_store(&s, n);
		for (uint32_t track = 0; track < s.trace.track_count; track++) {
			uint32_t lanes = ut_pyramid_lanes(&s, track)->count;

			for (int i = 0; i < 30 && lanes; i++) {
				uint32_t lane = (uint32_t)dice(lanes);
				uint64_t t = dice(s.rows[track].last + 10), at = 0;

				while (ut_lane_entry(&s, track, lane, at, &e) && e.end <= t &&
				       e.ts < t)
					at++;
				assert_int_equal(ut_lane_seek(&s, track, lane, t), at);
			}
		}
		ut_store_release(&s);
	}
}

static void nothing_is_drawn_where_nothing_is(void **state)
{
	struct ut_cell cells[4];
	struct ut_value_cell values[4];
	struct ut_store s;
	struct ut_build b;

	(void)state;
	ut_build_init(&b);
	ut_build_finish(&b, &s);
	assert_int_equal(ut_pyramid_lanes(&s, 0)->count, 0);
	ut_pyramid_build(&s, 8);
	assert_int_equal(ut_pyramid_lanes(&s, 0)->count, 0);
	assert_int_equal(ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 5, 9, 4 }, cells), 4);
	assert_int_equal(cells[3].touched, 0);
	assert_int_equal(ut_pyramid_values(&s, 0, 0, &(struct ut_picture){ 5, 9, 4 }, values), 4);
	assert_true(isnan(values[0].last) && isnan(values[3].min));
	assert_int_equal(ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 9, 9, 4 }, cells), 0);
	assert_int_equal(ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 5, 9, 0 }, cells), 0);
	ut_store_release(&s);
}

/* Times at both ends of what 64 bits can say. */
static void the_end_of_time_is_drawn_as_well(void **state)
{
	struct ut_cell cells[4];
	struct ut_store s;
	struct ut_build b;

	(void)state;
	ut_build_init(&b);
	new_track(&b);
	ut_build_add(&b, 0, 0, UINT64_MAX / 2, 0, 0);
	ut_build_add(&b, 0, UINT64_MAX / 2 + 10, UINT64_MAX, 0, 0);
	ut_build_finish(&b, &s);
	ut_pyramid_build(&s, 1);
	assert_int_equal(
		ut_pyramid_window(&s, 0, 0, &(struct ut_picture){ 0, UINT64_MAX, 4 }, cells), 4);
	for (int i = 0; i < 4; i++)
		assert_true(cells[i].busy > UINT64_MAX / 4 - 20);
	assert_int_equal(cells[1].row, 0);
	assert_int_equal(cells[3].row, 1);
	ut_store_release(&s);
}

/* A million spans that are all open at once: no lane is searched for one by one. */
/* A cell and a value have padding: fields are compared. */
static void expect_same_lane(const struct ut_store *s, const struct ut_picture *w,
			     const struct ut_picture_lane *l)
{
	static struct ut_cell cells[MOST_PIXELS];
	static struct ut_value_cell values[MOST_PIXELS];
	bool counter = ut_pyramid_lanes(s, l->track)->lanes[l->lane].kind == UT_LANE_COUNTER;
	uint32_t pixels = counter ? ut_pyramid_values(s, l->track, l->lane, w, values)
				  : ut_pyramid_window(s, l->track, l->lane, w, cells);

	for (uint32_t i = 0; i < pixels && counter; i++) {
		assert_int_equal(l->values[i].count, values[i].count);
		assert_memory_equal(&l->values[i].last, &values[i].last, sizeof(values[i].last));
	}
	for (uint32_t i = 0; i < pixels && !counter; i++) {
		assert_int_equal(l->cells[i].busy, cells[i].busy);
		assert_int_equal(l->cells[i].count, cells[i].count);
		assert_int_equal(l->cells[i].type, cells[i].type);
	}
}

static void a_picture_on_many_threads_is_its_lanes(void **state)
{
	static struct ut_picture_lane lanes[1000];
	const struct ut_cell poison = { .busy = 1, .count = 77, .type = 99 };

	(void)state;
	for (uint64_t number = 0; number < 6; number++) {
		struct ut_store s;
		struct ut_picture w = { .pixels = 500 };
		size_t count = 0;

		make_store(&s, number);
		ut_pyramid_build(&s, 1);
		w.t0 = s.trace.first;
		w.t1 = s.trace.last + 1;
		for (uint32_t t = 0; t < s.trace.track_count; t++) {
			for (uint32_t i = 0; i < ut_pyramid_lanes(&s, t)->count && count < 1000;
			     i++)
				lanes[count++] = (struct ut_picture_lane){ .track = t, .lane = i };
		}
		for (size_t i = 0; i < count; i++) {
			lanes[i].cells = malloc(w.pixels * sizeof(*lanes[i].cells));
			for (uint32_t k = 0; k < w.pixels; k++)
				lanes[i].cells[k] = poison;
		}
		assert_int_equal(ut_pyramid_picture(&s, &w, lanes, count, 4), w.pixels);
		for (size_t i = 0; i < count; i++) {
			expect_same_lane(&s, &w, &lanes[i]);
			free(lanes[i].cells);
		}
		ut_store_release(&s);
	}
}

static void very_many_at_once_take_no_time(void **state)
{
	struct ut_store s;
	struct ut_build b;
	uint32_t begin, end;

	(void)state;
	ut_build_init(&b);
	new_track(&b);
	new_track(&b);
	begin = type_of(&b, UT_KIND_ASYNC_BEGIN, 0);
	end = type_of(&b, UT_KIND_ASYNC_END, 0);
	for (uint64_t i = 0; i < 200000; i++) {
		ut_build_add(&b, 0, i, i, begin, 0);
		ut_build_add(&b, 1, i, 1000000 + i, 0, 0); /* overlapping spans */
	}
	for (uint64_t i = 0; i < 200000; i++)
		ut_build_add(&b, 0, 300000, i, end, 0);
	ut_build_finish(&b, &s);
	ut_pyramid_build(&s, 2);
	assert_int_equal(ut_pyramid_lanes(&s, 0)->count, 200000);
	assert_int_equal(ut_pyramid_lanes(&s, 1)->count, 200000);
	ut_store_release(&s);
}

UT_TESTS(pyramid)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_on_one_lane_and_nothing_overlaps),
		cmocka_unit_test(depth_decides_and_what_does_not_nest_moves_below),
		cmocka_unit_test(what_is_drawn_is_what_is_there),
		cmocka_unit_test(one_pixel_is_an_exact_sum),
		cmocka_unit_test(a_node_across_a_border_is_divided_by_its_time),
		cmocka_unit_test(what_stands_on_a_border_belongs_to_the_right),
		cmocka_unit_test(samples_at_the_first_moment_are_in),
		cmocka_unit_test(counters_keep_their_extremes_and_their_last_value),
		cmocka_unit_test(what_is_not_a_number_hides_nothing),
		cmocka_unit_test(seek_finds_the_first_that_is_not_over),
		cmocka_unit_test(nothing_is_drawn_where_nothing_is),
		cmocka_unit_test(the_end_of_time_is_drawn_as_well),
		cmocka_unit_test(a_picture_on_many_threads_is_its_lanes),
		cmocka_unit_test(very_many_at_once_take_no_time),
	};

	return cmocka_run_group_tests_name("model/pyramid", tests, NULL, NULL);
}
