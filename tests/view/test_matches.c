/* test_matches.c - tests src/analysis/view/matches.h: what a search finds, against every row looked
 * at by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "support/unit.h"
#include "view/ask.h"
#include "view/matches.h"
#include "view/search_query.h"
#include "view/view.h"
#include "view/visit.h"

#define ROWS  20000u /* of a track: more than a block */
#define LIMIT 50u

static struct ut_store stores[2];
static struct ut_view *view;

/* The second trace has marks and async spans, whose rows do not say how long they are. */
static void fill(struct ut_store *store, bool mixed, uint64_t seed)
{
	struct maker m;

	make_start(&m);
	for (uint32_t t = 0; t < 3; t++) {
		uint32_t track = make_track(&m, UT_TRACK_THREAD, t + 1, "main");
		uint64_t ts = make_random(&seed) % 100;

		for (uint32_t i = 0; i < ROWS; i++) {
			uint64_t length = make_random(&seed) % 2000;

			make_span(&m, track, i % 3 ? "one" : "two", ts, length);
			if (mixed && i % 7 == 0)
				make_kind(&m, track, UT_KIND_INSTANT, "one mark", ts, length);
			ts += length / 2;
		}
	}
	if (!mixed) { /* spans that nest: a track that can be parted */
		uint32_t track = make_track(&m, UT_TRACK_THREAD, 7, "nested");
		uint64_t ts = 50;

		for (uint32_t i = 0; i < ROWS; i++) {
			uint64_t length = 10 + make_random(&seed) % 2000;

			make_span(&m, track, "one", ts, length);
			make_span(&m, track, "two", ts + length / 5, length / 2);
			make_span(&m, track, "one", ts + length / 4, length / 7);
			ts += length + make_random(&seed) % 3;
		}
	}
	if (mixed) {
		uint32_t track = make_track(&m, UT_TRACK_ASYNC, 9, "async");

		for (uint64_t i = 0; i < 100; i++) {
			make_kind(&m, track, UT_KIND_ASYNC_BEGIN, "one async", i * 10, i);
			make_kind(&m, track, UT_KIND_ASYNC_END, "one async", i * 10 + i * 20, i);
		}
	}
	make_finish(&m, store);
}

/* The self times of all rows of work, as a walk over everything finds them; others have none. */
static uint64_t *selves[16];

static void keep_self(void *ctx, const struct ut_visit *visit)
{
	(void)ctx;
	selves[visit->row->track - view->tracks][visit->row->row] = visit->self;
}

static void find_selves(void)
{
	const struct ut_ask_scope all = { 0 };
	struct ut_search_query search_query;

	assert_true(view->track_count <= sizeof(selves) / sizeof(selves[0]));
	for (uint32_t t = 0; t < view->track_count; t++)
		selves[t] = calloc(view->tracks[t].rows->count + 1, sizeof(uint64_t));
	assert_int_equal(
		ut_search_query_init(&search_query, view, (struct ut_str){ "", 0 }, &all, NULL), 0);
	ut_view_walk(view, &all, &search_query, keep_self, NULL);
	ut_search_query_release(&search_query);
}

static int make(void **state)
{
	(void)state;
	fill(&stores[0], false, 1);
	fill(&stores[1], true, 2);
	view = ut_view_new();
	ut_view_lend(view, "a", &stores[0]);
	ut_view_lend(view, "b", &stores[1]);
	ut_view_ready(view, 2);
	find_selves();
	return 0;
}

static int drop(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(selves) / sizeof(selves[0]); i++)
		free(selves[i]);
	ut_view_free(view);
	ut_store_release(&stores[0]);
	ut_store_release(&stores[1]);
	return 0;
}

static int in_order(const void *a, const void *b)
{
	const struct ut_view_match *x = a, *y = b;

	return ut_view_match_before(*x, *y) ? -1 : ut_view_match_before(*y, *x);
}

/* All of them, one after the other, in order. */
static size_t find_slowly(const struct ut_view_matches_ask *ask, struct ut_view_match *to,
			  uint64_t *total)
{
	size_t n = 0;

	*total = 0;
	for (uint32_t t = 0; t < view->track_count; t++) {
		const struct ut_view_track *track = &view->tracks[t];

		for (uint64_t i = 0; i < track->rows->count; i++) {
			struct ut_view_row row;

			if (!ut_view_row(view, track, i, &row) || !ask->query->types[row.type] ||
			    !ut_search_query_row(ask->query, &row) ||
			    !ut_search_query_self(ask->query, selves[t][i]) ||
			    !ut_scope_touches(ask->scope, row.start, row.end))
				continue;
			to[n++] = (struct ut_view_match){ row.start, ut_view_id(view, track, i) };
			*total += row.end - row.start;
		}
	}
	qsort(to, n, sizeof(*to), in_order);
	return n;
}

static void same(struct ut_view_match a, struct ut_view_match b)
{
	assert_int_equal(a.t, b.t);
	assert_int_equal(a.id, b.id);
}

static void check(const struct ut_view_matches_ask *ask, const struct ut_view_match *all,
		  size_t count)
{
	struct ut_view_matches matches;
	size_t before = 0, behind;

	ut_view_matches_find(&matches, view, ask);
	assert_int_equal(matches.count, count);
	assert_int_equal(matches.list_count, count < LIMIT ? count : LIMIT);
	for (size_t i = 0; i < matches.list_count; i++)
		same(matches.list[i], all[i]);
	while (before < count && ut_view_match_before(all[before], ask->here))
		before++;
	behind = before + (before < count && !ut_view_match_before(ask->here, all[before]));
	assert_int_equal(matches.before, before);
	assert_int_equal(matches.has_previous, before > 0);
	assert_int_equal(matches.has_next, behind < count);
	if (count) {
		same(matches.first, all[0]);
		same(matches.last, all[count - 1]);
	}
	if (before)
		same(matches.previous, all[before - 1]);
	if (behind < count)
		same(matches.next, all[behind]);
	ut_view_matches_release(&matches);
}

/* From every side: before, behind and on hits, and where there is none. */
static void check_query(const char *query, const struct ut_ask_scope *scope,
			struct ut_view_match *room)
{
	struct ut_search_query search_query;
	struct ut_view_matches_ask ask = {
		.scope = scope, .query = &search_query, .limit = LIMIT, .part_rows = 5000
	};
	struct ut_view_matches matches;
	uint64_t total;
	size_t count;

	assert_int_equal(ut_search_query_init(&search_query, view,
					      (struct ut_str){ query, strlen(query) }, scope, NULL),
			 0);
	count = find_slowly(&ask, room, &total);
	check(&ask, room, count);
	ask.here = (struct ut_view_match){ UINT64_MAX, UINT64_MAX };
	check(&ask, room, count);
	for (size_t i = 1; i < 8 && count; i++) {
		ask.here = room[count * i / 8];
		check(&ask, room, count);
		ask.here.id ^= 1;
		check(&ask, room, count);
	}
	ask.lengths = true;
	ut_view_matches_find(&matches, view, &ask);
	assert_int_equal(matches.total, total);
	ut_view_matches_release(&matches);
	ut_search_query_release(&search_query);
}

static void a_search_finds_what_a_look_at_every_row_does(void **state)
{
	static const char *const queries[] = {
		"",
		"two",
		"dur:>1us",
		"dur:>=1us",
		"dur:<500",
		"dur:<=500",
		"dur:500..700",
		"-dur:500..700",
		"-dur:>1us",
		"-dur:<=300",
		"dur:0",
		"dur:<0",
		"dur:<1 one",
		"dur:>1999",
		"dur:>1s",
		"dur:..",
		"two dur:>1.5us",
		"dur:>500 dur:<600",
		"dur:>600 dur:<500",
		"dur:100.5..200.5",
		"self:>900",
		"self:<300",
		"self:300..310",
		"-self:300..1500",
		"two self:>500 dur:<1us",
		"self:>0 self:<=7",
		"self:>10s",
		"-self:>1us one",
		"self:1",
	};
	struct ut_ask_range range = { view->span / 3, view->span / 2 };
	const struct ut_ask_scope all = { 0 };
	const struct ut_ask_scope some = { .ranges = &range, .range_count = 1, .has_ranges = true };
	struct ut_view_match *room = malloc((size_t)ROWS * 14 * sizeof(*room));

	(void)state;
	assert_non_null(room);
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		check_query(queries[i], &all, room);
		check_query(queries[i], &some, room);
	}
	free(room);
}

UT_TESTS(matches)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_finds_what_a_look_at_every_row_does),
	};

	return cmocka_run_group_tests_name("view/matches", tests, make, drop);
}
