/* test_window.c - tests src/analysis/analyze/window.h with stores made by hand. */
#include "analyze/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "support/unit.h"

#define ROWS (3 * UT_BLOCK_ROWS + 5)

/* The times of a track's rows are from, from + 1, ... */
static void expect_run(const struct ut_rows *rows, uint64_t from, uint64_t count)
{
	assert_int_equal(rows->count, count);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(rows->blocks[i / UT_BLOCK_ROWS].ts[i % UT_BLOCK_ROWS], from + i);
	for (size_t i = 0; i + 1 < ut_rows_blocks(rows); i++)
		assert_int_equal(rows->blocks[i].count, UT_BLOCK_ROWS);
}

static void rows_between_two_times_across_blocks(void **state)
{
	struct ut_store store;
	struct ut_window w;
	struct maker m;
	uint32_t track;

	(void)state;
	make_start(&m);
	track = make_track(&m, UT_TRACK_THREAD, 1, "main");
	for (uint64_t i = 0; i < ROWS; i++)
		make_span(&m, track, "s", 100 + i, 1);
	make_finish(&m, &store);
	ut_window_open(&w, &store, 100 + 10, 100 + 10 + 2 * UT_BLOCK_ROWS + 1);
	expect_run(&store.rows[track], 110, 2 * UT_BLOCK_ROWS + 1);
	assert_int_equal(store.row_count, 2 * UT_BLOCK_ROWS + 1);
	ut_window_close(&w);
	expect_run(&store.rows[track], 100, ROWS);
	assert_int_equal(store.row_count, ROWS);
	ut_window_open(&w, &store, 0, 100);
	assert_int_equal(store.row_count, 0);
	ut_window_close(&w);
	ut_window_open(&w, &store, 0, UINT64_MAX);
	expect_run(&store.rows[track], 100, ROWS);
	ut_window_close(&w);
	ut_store_release(&store);
}

static void overlapping_spans_stay_if_they_begin_inside(void **state)
{
	struct ut_store store;
	struct ut_window w;
	struct maker m;
	uint32_t track;

	(void)state;
	make_start(&m);
	track = make_track(&m, UT_TRACK_ASYNC, 1, "tasks");
	make_kind(&m, track, UT_KIND_ASYNC_BEGIN, "before", 10, 1);
	make_kind(&m, track, UT_KIND_ASYNC_BEGIN, "inside", 20, 2);
	make_kind(&m, track, UT_KIND_ASYNC_END, "before", 30, 1);
	make_kind(&m, track, UT_KIND_ASYNC_END, "inside", 40, 2);
	make_kind(&m, track, UT_KIND_ASYNC_BEGIN, "after", 50, 3);
	make_finish(&m, &store);
	ut_window_open(&w, &store, 15, 50);
	assert_int_equal(store.rows[track].count, 2);
	assert_int_equal(store.rows[track].blocks[0].ts[0], 20);
	assert_int_equal(store.rows[track].blocks[0].ts[1], 40);
	ut_window_close(&w);
	ut_store_release(&store);
}

UT_TESTS(window)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_between_two_times_across_blocks),
		cmocka_unit_test(overlapping_spans_stay_if_they_begin_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
