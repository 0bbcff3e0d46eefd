/* test_ze_clock.c - tests src/record/backend/levelzero/ze_clock.h */
#include "backend/levelzero/ze_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

#define HZ  UINT64_C(12500000)
#define MS  UINT64_C(1000000)
#define NOW UINT64_C(7000000000000)

/* A device's clock that began at a time of ours, with a number of ticks, and is too fast. */
struct device {
	uint64_t began, ticks;
	int64_t ppm;
};

static uint64_t ticks_at(const struct device *d, uint64_t ns)
{
	__extension__ typedef unsigned __int128 wide;

	return d->ticks + (uint64_t)((wide)(ns - d->began) * HZ * (uint64_t)(1000000 + d->ppm) /
				     UINT64_C(1000000000000000));
}

/* A pair that was read within 400 ns. */
static void look(struct ut_ze_clock *c, const struct device *d, uint64_t ns)
{
	ut_ze_clock_feed(c, ticks_at(d, ns), ns - 200, ns + 200);
}

/* Where a kernel is put that ran from a time on for so long, submitted some time before. */
static void map(const struct ut_ze_clock *c, const struct device *d, uint64_t start, uint64_t ns,
		uint64_t times[2])
{
	const uint64_t ticks[2] = { ticks_at(d, start) & UINT32_MAX,
				    ticks_at(d, start + ns) & UINT32_MAX };

	assert_true(ut_ze_clock_map(c, ticks, start - 30000, times));
}

static void assert_near(uint64_t a, uint64_t b, uint64_t by)
{
	assert_true((a > b ? a - b : b - a) <= by);
}

static void a_clock_that_nobody_has_read_maps_nothing(void **state)
{
	struct ut_ze_clock c;
	const uint64_t ticks[2] = { 1, 2 };
	uint64_t times[2];

	(void)state;
	ut_ze_clock_init(&c, HZ, 36, 32);
	assert_false(ut_ze_clock_map(&c, ticks, NOW, times));
	assert_int_equal(ut_ze_clock_fed(&c), 0);
}

static void durations_are_those_of_the_ticks(void **state)
{
	const struct device d = { .began = NOW, .ticks = 12345 };
	struct ut_ze_clock c;
	uint64_t times[2];

	(void)state;
	ut_ze_clock_init(&c, HZ, 36, 32);
	look(&c, &d, NOW + MS);
	map(&c, &d, NOW + 2 * MS, 1500 * 1000, times);
	assert_int_equal(times[1] - times[0], 1500 * 1000);
	assert_near(times[0], NOW + 2 * MS, 400);
	assert_true(ut_ze_clock_error(&c) <= 201);
}

static void timestamps_that_wrap_are_made_whole(void **state)
{
	/* The low 32 bits are over 10 ms after the beginning, and every 343 s from then on. */
	const struct device d = { .began = NOW, .ticks = UINT64_C(0x100000000) - 125000 };
	struct ut_ze_clock c;
	uint64_t times[2];

	(void)state;
	ut_ze_clock_init(&c, HZ, 36, 32);
	for (uint64_t ms = 0; ms < 1200000; ms += 1000) {
		uint64_t at = NOW + ms * MS + MS;

		look(&c, &d, at);
		map(&c, &d, at + 4 * MS, 10 * MS, times);
		assert_near(times[0], at + 4 * MS, 500);
		assert_near(times[1] - times[0], 10 * MS, 100);
	}
}

static void a_question_of_few_bits_wraps_too(void **state)
{
	const struct device d = { .began = NOW, .ticks = UINT64_C(0xfffffff0) };
	struct ut_ze_clock c;
	uint64_t times[2];

	(void)state;
	ut_ze_clock_init(&c, HZ, 32, 32);
	for (int i = 1; i < 3000; i++) {
		uint64_t at = NOW + (uint64_t)i * 300 * MS;

		ut_ze_clock_feed(&c, ticks_at(&d, at) & UINT32_MAX, at - 100, at + 100);
		map(&c, &d, at - 2 * MS, MS, times);
		assert_near(times[0], at - 2 * MS, 500);
	}
}

static void a_clock_that_is_too_fast_is_followed(void **state)
{
	for (int64_t ppm = -80; ppm <= 80; ppm += 40) {
		const struct device d = { .began = NOW, .ticks = 99, .ppm = ppm };
		struct ut_ze_clock c;
		uint64_t times[2], at = 0;

		(void)state;
		ut_ze_clock_init(&c, HZ, 36, 32);
		for (uint64_t ms = 0; ms < 60000; ms += 10) {
			at = NOW + ms * MS + MS;
			look(&c, &d, at);
		}
		/* A kernel of a second right after it: without the true rate its end is 80 us off.
		 */
		map(&c, &d, at + MS, 1000 * MS, times);
		assert_near(times[0], at + MS, 500);
		assert_near(times[1], at + 1001 * MS, 1500);
	}
}

static void the_makers_word_counts_while_nothing_speaks_against_it(void **state)
{
	const struct device d = { .began = NOW, .ticks = 1 };
	struct ut_ze_clock c;

	(void)state;
	ut_ze_clock_init(&c, HZ, 36, 32);
	for (uint64_t ms = 0; ms < 20000; ms += 10) {
		uint64_t at = NOW + ms * MS + MS;

		/* Noise, always to the same side. */
		ut_ze_clock_feed(&c, ticks_at(&d, at), at - 2000, at + 100 + ms % 70);
	}
	assert_true(c.rate == 80.0);
}

static void a_kernel_that_waited_long_is_not_put_a_turn_too_early(void **state)
{
	const struct device d = { .began = NOW, .ticks = 5 };
	struct ut_ze_clock c;
	uint64_t start = NOW + 200000 * MS, times[2];
	const uint64_t ticks[2] = { ticks_at(&d, start) & UINT32_MAX,
				    ticks_at(&d, start + MS) & UINT32_MAX };

	(void)state;
	ut_ze_clock_init(&c, HZ, 36, 32);
	for (uint64_t ms = 1; ms < 201000; ms += 10)
		look(&c, &d, NOW + ms * MS);
	/* Submitted 200 s before it ran: the clock has gone more than half way round. */
	assert_true(ut_ze_clock_map(&c, ticks, NOW + MS, times));
	assert_near(times[0], start, 500);
}

UT_TESTS(ze_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_nobody_has_read_maps_nothing),
		cmocka_unit_test(durations_are_those_of_the_ticks),
		cmocka_unit_test(timestamps_that_wrap_are_made_whole),
		cmocka_unit_test(a_question_of_few_bits_wraps_too),
		cmocka_unit_test(a_clock_that_is_too_fast_is_followed),
		cmocka_unit_test(the_makers_word_counts_while_nothing_speaks_against_it),
		cmocka_unit_test(a_kernel_that_waited_long_is_not_put_a_turn_too_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
