/* test_visit.c - tests the walk of src/analysis/view/visit.h against src/analysis/analyze/stats.h,
 * and the tables made in it, with stores made at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/filter.h"
#include "analyze/make_store.h"
#include "analyze/stats.h"
#include "base/str.h"
#include "support/unit.h"
#include "view/ask.h"
#include "view/search_query.h"
#include "view/view.h"
#include "view/view_parts.h"
#include "view/visit.h"

#define NAMES 5u

static const char *const names[NAMES] = { "a", "b", "c", "d", "e" };

/* Spans of all shapes: nested, overlapping by a hair or a lot, equal, without length. */
static void make_mess(struct ut_store *store, uint64_t seed, bool nested)
{
	struct maker m;

	make_start(&m);
	for (uint32_t t = 0; t < 3; t++) {
		uint32_t track = make_track(&m, UT_TRACK_THREAD, t + 1, "main");
		uint64_t ts = 100;

		for (int i = 0; i < 60; i++) {
			uint64_t length = make_random(&seed) % 50, inner = length / 2;

			make_span(&m, track, names[make_random(&seed) % NAMES], ts, length);
			make_span(&m, track, names[make_random(&seed) % NAMES], ts, inner);
			if (!nested)
				make_span(&m, track, names[make_random(&seed) % NAMES],
					  ts + make_random(&seed) % 20, make_random(&seed) % 60);
			if (i % 9 == 0)
				make_kind(&m, track, UT_KIND_INSTANT, "mark", ts, 0);
			ts += nested ? length + make_random(&seed) % 5 : make_random(&seed) % 40;
		}
	}
	make_finish(&m, store);
}

struct sums {
	struct ut_view *view;
	uint64_t count[NAMES], total[NAMES], self[NAMES], busy;
	uint64_t marks;
};

static void add(void *ctx, const struct ut_visit *v)
{
	struct sums *s = ctx;
	struct ut_str name = ut_view_type_name(s->view, v->row->type);
	uint32_t n = (uint32_t)(name.ptr[0] - 'a');

	if (v->mark) {
		s->marks++;
		return;
	}
	assert_true(n < NAMES);
	s->count[n]++;
	s->total[n] += v->fresh;
	s->self[n] += v->self;
	s->busy += v->alone;
	assert_true(v->self <= v->total && v->fresh <= v->total && v->alone <= v->total);
	for (size_t i = 0; i < v->depth; i++) {
		assert_true(v->path[i].row.start <= v->row->start);
		assert_true(v->path[i].row.end >= v->row->end);
	}
}

static void walk(struct ut_view *view, struct ut_ask_scope *scope, const char *query,
		 struct sums *s)
{
	struct ut_search_query search_query;

	*s = (struct sums){ .view = view };
	assert_int_equal(ut_search_query_init(&search_query, view,
					      (struct ut_str){ query, strlen(query) }, scope, NULL),
			 0);
	ut_view_walk(view, scope, &search_query, add, s);
	ut_search_query_release(&search_query);
}

/* What `stats --clip` says of the same window. */
static void compare(const struct ut_store *store, const struct sums *s, uint64_t from, uint64_t to)
{
	char low[32], high[32];
	struct ut_filter_opts opts = { .from = low, .to = high, .clip = true };
	struct ut_filter filter;
	struct ut_stats stats;
	uint64_t self = 0;

	snprintf(low, sizeof(low), "%lluns", (unsigned long long)from);
	snprintf(high, sizeof(high), "%lluns", (unsigned long long)to);
	assert_int_equal(ut_filter_init(&filter, &opts, NULL), 0);
	ut_stats_init(&stats, 1u << UT_BY_NAME);
	ut_stats_add(&stats, store, &filter, 1);
	for (size_t i = 1; i <= stats.group_count; i++) {
		const struct ut_stats_group *g = &stats.groups[i];
		const char *name = ut_strtab_get(&stats.strings, g->key[UT_BY_NAME]).ptr;
		uint32_t n = (uint32_t)(name[0] - 'a');

		if (n >= NAMES)
			continue;
		assert_int_equal(s->count[n], g->dist.count);
		assert_int_equal(s->total[n], (uint64_t)ut_stats_total(g));
		assert_int_equal(s->self[n], (uint64_t)g->self);
		self += s->self[n];
	}
	assert_int_equal(s->busy, self); /* every moment belongs to one span */
	ut_stats_release(&stats);
	ut_filter_release(&filter);
}

static void windows_are_those_of_stats(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct ut_store store;
		struct ut_view *view = ut_view_new();
		struct sums s;

		make_mess(&store, seed + (uint64_t)round * 977, round % 2);
		ut_view_lend(view, "x", &store);
		ut_view_ready(view, 1);
		for (int i = 0; i < 30; i++) {
			uint64_t from = make_random(&seed) % (view->span + 10);
			uint64_t to = from + 1 + make_random(&seed) % (view->span / 2 + 1);
			struct ut_ask_range range = { from, to };
			struct ut_ask_scope scope = { .ranges = &range,
						      .range_count = 1,
						      .has_ranges = true };

			walk(view, &scope, "", &s);
			compare(&store, &s, from, to);
		}
		ut_view_free(view);
		ut_store_release(&store);
	}
}

/* Several ranges are the sum of each, but for how many slices there are. */
static void ranges_add_up(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct ut_store store;
		struct ut_view *view = ut_view_new();
		struct ut_ask_range ranges[3];
		struct ut_ask_scope all = { .ranges = ranges,
					    .range_count = 3,
					    .has_ranges = true };
		struct sums s, one;
		uint64_t self[NAMES] = { 0 }, busy = 0, at = 0;

		make_mess(&store, seed + (uint64_t)round, round % 2);
		ut_view_lend(view, "x", &store);
		ut_view_ready(view, 1);
		for (int i = 0; i < 3; i++) {
			ranges[i].from = at + make_random(&seed) % 300;
			ranges[i].to = at = ranges[i].from + 1 + make_random(&seed) % 300;
		}
		walk(view, &all, "", &s);
		for (int i = 0; i < 3; i++) {
			struct ut_ask_scope scope = { .ranges = &ranges[i],
						      .range_count = 1,
						      .has_ranges = true };

			walk(view, &scope, "", &one);
			busy += one.busy;
			for (uint32_t n = 0; n < NAMES; n++)
				self[n] += one.self[n];
		}
		assert_int_equal(s.busy, busy);
		for (uint32_t n = 0; n < NAMES; n++)
			assert_int_equal(s.self[n], self[n]);
		ut_view_free(view);
		ut_store_release(&store);
	}
}

static void without_ranges_it_is_everything(void **state)
{
	struct ut_store store;
	struct ut_view *view = ut_view_new();
	struct ut_ask_scope scope = { 0 };
	struct sums s;
	uint64_t count = 0;

	(void)state;
	make_mess(&store, 11, false);
	ut_view_lend(view, "x", &store);
	ut_view_ready(view, 1);
	walk(view, &scope, "", &s);
	compare(&store, &s, 0, view->span + 1);
	assert_int_equal(s.marks, 21);
	for (uint32_t n = 0; n < NAMES; n++)
		count += s.count[n];
	assert_int_equal(count, 3 * 60 * 3);
	assert_int_equal(view->slices, 3 * 60 * 3);
	walk(view, &scope, "\"a\"", &s);
	assert_int_equal(s.count[1] + s.count[2] + s.marks, 0);
	assert_true(s.count[0] > 0);
	ut_view_free(view);
	ut_store_release(&store);
}

UT_TESTS(visit)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_those_of_stats),
		cmocka_unit_test(ranges_add_up),
		cmocka_unit_test(without_ranges_it_is_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
