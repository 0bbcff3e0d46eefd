/* test_bars.c - tests ut_tt_bars_thin() of src/tt/bars.h: fewer bars, and nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/grow.h"
#include "tt/bars.h"

static void add(struct ut_tt_bars *b, uint64_t start, uint64_t cycles, uint32_t depth, uint8_t kind)
{
	b->items = ut_grow(b->items, b->count + 1, &b->cap, sizeof(*b->items));
	b->items[b->count] = (struct ut_tt_bar){ .start = start,
						 .cycles = cycles,
						 .depth = depth,
						 .row = (uint32_t)b->count,
						 .kind = kind,
						 .count = 1 };
	b->count++;
}

static uint64_t counted(const struct ut_tt_bars *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->count; i++)
		n += b->items[i].count;
	return n;
}

static void few_bars_stay_as_they_are(void **state)
{
	struct ut_tt_bars b = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		add(&b, i * 10, 5, 0, UT_TT_BAR_USER);
	assert_int_equal(ut_tt_bars_thin(&b, 20), 0);
	assert_int_equal(b.count, 20);
	ut_tt_bars_release(&b);
}

static void a_long_bar_and_its_end_survive(void **state)
{
	struct ut_tt_bars b = { 0 };
	bool found = false;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		add(&b, i * 10, 5, 0, UT_TT_BAR_USER);
	add(&b, 10000, 900000, 0, UT_TT_BAR_KERNEL);
	for (uint64_t i = 0; i < 1000; i++)
		add(&b, 910000 + i * 10, 5, 0, UT_TT_BAR_USER);
	assert_true(ut_tt_bars_thin(&b, 64) > 0);
	assert_true(b.count <= 64);
	assert_int_equal(counted(&b), 2001);
	for (size_t i = 0; i < b.count; i++) {
		const struct ut_tt_bar *bar = &b.items[i];

		assert_true(!i || b.items[i - 1].start <= bar->start);
		found = found || (bar->start == 10000 && bar->cycles == 900000 && bar->count == 1 &&
				  bar->kind == UT_TT_BAR_KERNEL);
	}
	assert_true(found);
	assert_int_equal(b.items[0].start, 0);
	assert_int_equal(b.items[b.count - 1].start + b.items[b.count - 1].cycles, 919995);
	ut_tt_bars_release(&b);
}

static void depths_stay_apart_and_the_longest_gives_the_name(void **state)
{
	struct ut_tt_bars b = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		add(&b, i * 10, 9, 0, UT_TT_BAR_FIRMWARE);
		add(&b, i * 10 + 1, i == 50 ? 7 : 2, 1, UT_TT_BAR_KERNEL);
	}
	assert_true(ut_tt_bars_thin(&b, 16) > 0);
	assert_true(b.count <= 16);
	for (size_t i = 0; i < b.count; i++) {
		const struct ut_tt_bar *bar = &b.items[i];

		assert_int_equal(bar->kind, bar->depth ? UT_TT_BAR_KERNEL : UT_TT_BAR_FIRMWARE);
		if (bar->depth && bar->start <= 501 && bar->start + bar->cycles >= 508)
			assert_int_equal(bar->row, 101);
	}
	ut_tt_bars_release(&b);
}

static void idle_times_give_no_name(void **state)
{
	struct ut_tt_bars b = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		add(&b, i * 100, 1, 0, UT_TT_BAR_USER);
		add(&b, i * 100 + 1, 99, 0, UT_TT_BAR_IDLE);
	}
	ut_tt_bars_thin(&b, 16);
	for (size_t i = 0; i < b.count; i++)
		assert_int_equal(b.items[i].kind, UT_TT_BAR_USER);
	ut_tt_bars_release(&b);
}

static void times_at_the_end_of_the_counter_are_fine(void **state)
{
	struct ut_tt_bars b = { 0 };

	(void)state;
	add(&b, 0, UINT64_MAX, 0, UT_TT_BAR_USER);
	for (uint64_t i = 0; i < 100; i++)
		add(&b, UINT64_MAX - 100 + i, 1, 1, UT_TT_BAR_USER);
	ut_tt_bars_thin(&b, 16);
	assert_true(b.count <= 16);
	assert_int_equal(counted(&b), 101);
	ut_tt_bars_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_bars_stay_as_they_are),
		cmocka_unit_test(a_long_bar_and_its_end_survive),
		cmocka_unit_test(depths_stay_apart_and_the_longest_gives_the_name),
		cmocka_unit_test(idle_times_give_no_name),
		cmocka_unit_test(times_at_the_end_of_the_counter_are_fine),
	};

	return cmocka_run_group_tests_name("tt/bars", tests, NULL, NULL);
}
