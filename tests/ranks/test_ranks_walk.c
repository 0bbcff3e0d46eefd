/* test_ranks_walk.c - tests how places in a rank's time are found: src/analysis/ranks/ranks_walk.c
 */
#include "ranks/ranks_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

#define MOST 70u

/* Times 10, 20, 20, 30, 40, 40, ...: whatever was guessed, the same is found. */
static void a_place_is_found_from_anywhere(void **state)
{
	struct ut_rank_call calls[MOST];
	struct ut_rank_shift shifts[MOST];
	struct ut_rank r = { .calls = calls, .shifts = shifts };

	(void)state;
	for (size_t i = 0; i < MOST; i++) {
		calls[i] = (struct ut_rank_call){ .begin = 10 * (i - i / 3 + 1) };
		shifts[i] = (struct ut_rank_shift){ .at = 10 * (i + 1) };
	}
	for (size_t n = 0; n <= MOST; n += 7) {
		r.call_count = r.shift_count = n;
		for (uint64_t time = 0; time < 10 * (MOST + 2); time += 5) {
			struct ut_rank_place is = { 0 };

			while (is.call < n && calls[is.call].begin < time)
				is.call++;
			while (is.shift < n && shifts[is.shift].at < time)
				is.shift++;
			for (size_t guess = 0; guess < MOST + 2; guess++) {
				struct ut_rank_place found = { guess, guess };

				ut_rank_seek(&r, time, &found);
				assert_int_equal(found.call, is.call);
				assert_int_equal(found.shift, is.shift);
			}
		}
	}
}

UT_TESTS(ranks_walk)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_found_from_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
