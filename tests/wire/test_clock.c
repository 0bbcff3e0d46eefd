/* test_clock.c - tests src/record/wire/clock.h */
#include "wire/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

#define SECOND UINT64_C(1000000000)

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void add(struct ut_clock_map *map, uint64_t ticks, uint64_t mono)
{
	const struct ut_clock_pair pair = { .ticks = ticks, .mono = mono };

	ut_clock_map_add(map, &pair);
}

/* Wherever one looks, and in between: later ticks never give an earlier time. */
static void expect_never_backwards(const struct ut_clock_map *map)
{
	uint64_t last = 0, at[3 * 64 + 8];
	size_t n = 0;

	at[n++] = 0;
	at[n++] = 1;
	for (size_t i = 0; i < map->count; i++) {
		at[n++] = map->pairs[i].ticks ? map->pairs[i].ticks - 1 : 0;
		at[n++] = map->pairs[i].ticks;
		at[n++] = map->pairs[i].ticks < UINT64_MAX ? map->pairs[i].ticks + 1 : UINT64_MAX;
	}
	at[n++] = UINT64_MAX / 2;
	at[n++] = UINT64_MAX - 1;
	at[n++] = UINT64_MAX;
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j && at[j] < at[j - 1]; j--) {
			uint64_t swap = at[j];

			at[j] = at[j - 1];
			at[j - 1] = swap;
		}
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = ut_clock_map_ns(map, at[i]);
		uint64_t middle =
			i + 1 < n ? ut_clock_map_ns(map, at[i] + (at[i + 1] - at[i]) / 2) : ns;

		assert_true(ns >= last);
		assert_true(middle >= ns);
		last = middle;
	}
}

static void a_pair_maps_onto_itself(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 20; i++) /* 2.5 ticks a ns, drifting, at uneven distances */
		add(&map, i * i * 25 * SECOND / 10 + i * 77, i * i * SECOND);
	ut_clock_map_finish(&map, 1.0);
	assert_int_equal(map.count, 20);
	for (size_t i = 0; i < map.count; i++)
		assert_int_equal(ut_clock_map_ns(&map, map.pairs[i].ticks), map.pairs[i].mono);
	expect_never_backwards(&map);
}

static void the_clock_runs_straight_between_pairs_and_on_beyond_them(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	add(&map, 30 * SECOND, 110 * SECOND);
	add(&map, 10 * SECOND, 100 * SECOND); /* in any order */
	ut_clock_map_finish(&map, 7.0);
	assert_true(map.rate > 0.4999 && map.rate < 0.5001);
	assert_int_equal(ut_clock_map_ns(&map, 20 * SECOND), 105 * SECOND);
	assert_int_equal(ut_clock_map_ns(&map, 40 * SECOND), 115 * SECOND);
	assert_int_equal(ut_clock_map_ns(&map, 0), 95 * SECOND);
}

static void a_single_pair_uses_the_given_rate(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	assert_int_equal(ut_clock_map_ns(&map, 1234), 1234); /* none: ticks are ns */
	add(&map, 1000, 5000);
	ut_clock_map_finish(&map, 2.0);
	assert_int_equal(ut_clock_map_ns(&map, 1000), 5000);
	assert_int_equal(ut_clock_map_ns(&map, 1500), 6000);
	assert_int_equal(ut_clock_map_ns(&map, 500), 4000);
}

static void pairs_taken_too_close_together_do_not_make_a_rate(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	add(&map, 1000, 5000);
	add(&map, 1010, 5900); /* an interrupt between two readings */
	ut_clock_map_finish(&map, 1.0);
	assert_int_equal(ut_clock_map_ns(&map, 1000), 5000);
	assert_int_equal(ut_clock_map_ns(&map, 1010), 5900);
	assert_int_equal(ut_clock_map_ns(&map, 2010), 6900);
	expect_never_backwards(&map);
}

static void time_before_zero_is_zero(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	add(&map, 1000 * SECOND, 10);
	ut_clock_map_finish(&map, 1.0);
	assert_int_equal(ut_clock_map_ns(&map, 5), 0);
}

static void a_day_of_pairs_keeps_its_ends_and_stays_exact(void **state)
{
	struct ut_clock_map map = { 0 };
	uint64_t worst = 0;

	(void)state;
	for (uint64_t i = 0; i < 86400; i++)
		add(&map, i * 3 * SECOND, i * SECOND + 50);
	ut_clock_map_finish(&map, 1.0);
	assert_int_equal(map.count, 64);
	assert_int_equal(map.pairs[0].ticks, 0);
	assert_int_equal(map.pairs[63].ticks, 86399 * 3 * SECOND);
	for (uint64_t i = 0; i < 86400; i += 7) {
		uint64_t ns = ut_clock_map_ns(&map, i * 3 * SECOND), want = i * SECOND + 50;
		uint64_t off = ns > want ? ns - want : want - ns;

		worst = off > worst ? off : worst;
	}
	assert_true(worst <= 1);
	for (size_t i = 0; i < map.count; i++)
		assert_int_equal(ut_clock_map_ns(&map, map.pairs[i].ticks), map.pairs[i].mono);
}

static void a_pair_that_is_refused_costs_no_other_pair(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		add(&map, i * SECOND, i * SECOND);
	add(&map, 70 * SECOND, 3); /* runs backwards */
	assert_int_equal(map.count, 64);
	add(&map, 63 * SECOND, 63 * SECOND); /* known already */
	assert_int_equal(map.count, 64);
	assert_int_equal(map.pairs[1].ticks, SECOND);
}

static void pairs_that_run_backwards_are_not_believed(void **state)
{
	struct ut_clock_map map = { 0 };

	(void)state;
	add(&map, 100 * SECOND, 50 * SECOND);
	add(&map, 200 * SECOND, 40 * SECOND);
	add(&map, 90 * SECOND, 60 * SECOND);
	add(&map, 100 * SECOND, 70 * SECOND);
	assert_int_equal(map.count, 1);
	assert_int_equal(map.pairs[0].mono, 50 * SECOND);
}

static void hostile_pairs_never_turn_time_back(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct ut_clock_map map = { 0 };
		int count = (int)(next_random() % 100);

		for (int i = 0; i < count; i++)
			add(&map, next_random() >> (next_random() & 63),
			    next_random() >> (next_random() & 63));
		ut_clock_map_finish(&map, 1.0);
		expect_never_backwards(&map);
	}
}

static void looking_at_the_clocks_takes_a_pair_that_fits(void **state)
{
	enum ut_clock_source source = ut_clock_source();
	struct ut_clock_pair a, b;

	(void)state;
	assert_true(source == UT_CLOCK_TSC || source == UT_CLOCK_MONOTONIC);
	assert_int_equal(ut_clock_source(), source);
	ut_clock_pair_take(source, &a);
	ut_clock_pair_take(source, &b);
	assert_true(b.ticks >= a.ticks && b.mono >= a.mono);
	assert_true(a.real > a.mono && a.boot >= a.mono - SECOND);
	assert_true(a.error > 0 && a.error < SECOND);
	ut_clock_pair_take(UT_CLOCK_MONOTONIC, &a);
	assert_true(a.ticks > a.mono ? a.ticks - a.mono < SECOND : a.mono - a.ticks < SECOND);
}

UT_TESTS(clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_maps_onto_itself),
		cmocka_unit_test(the_clock_runs_straight_between_pairs_and_on_beyond_them),
		cmocka_unit_test(a_single_pair_uses_the_given_rate),
		cmocka_unit_test(pairs_taken_too_close_together_do_not_make_a_rate),
		cmocka_unit_test(time_before_zero_is_zero),
		cmocka_unit_test(a_day_of_pairs_keeps_its_ends_and_stays_exact),
		cmocka_unit_test(a_pair_that_is_refused_costs_no_other_pair),
		cmocka_unit_test(pairs_that_run_backwards_are_not_believed),
		cmocka_unit_test(hostile_pairs_never_turn_time_back),
		cmocka_unit_test(looking_at_the_clocks_takes_a_pair_that_fits),
	};

	return cmocka_run_group_tests_name("wire/clock", tests, NULL, NULL);
}
