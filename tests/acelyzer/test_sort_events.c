/* test_sort_events.c - tests src/analysis/acelyzer/sort_events.h against the promise: sorted,
 * stable, the same on two threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/sort_events.h"
#include "support/unit.h"

#define MANY   200000 /* enough for a second thread */
#define NEARLY 20
#define BOTH   21

struct lists {
	struct ut_ace_item *items, *spare;
};

/*
 * Keys from a few values on to all of them; runs: how many rising pieces, 0 = no order at all, but
 * with NEARLY a key is only so far from its place, up to the middle or (BOTH) everywhere.
 */
static struct lists make(size_t n, size_t runs, uint64_t values)
{
	struct lists l = { calloc(n, sizeof(*l.items)), calloc(n, sizeof(*l.spare)) };
	uint64_t x = 88172645463325252u + n + runs;

	assert_non_null(l.items);
	assert_non_null(l.spare);
	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		l.items[i].key = runs ? i % (n / runs + 1) / (1 + values % 3) : x % values;
		if (values == BOTH || (values == NEARLY && i < n / 2))
			l.items[i].key = i + x % values;
		l.items[i].event = (uint32_t)i;
	}
	return l;
}

static void release(struct lists *l)
{
	free(l->items);
	free(l->spare);
}

static void check(size_t n, size_t runs, uint64_t values, bool late)
{
	struct lists one = make(n, runs, values), two = make(n, runs, values);

	ut_ace_sort(&one.items, &one.spare, n, late, false);
	ut_ace_sort(&two.items, &two.spare, n, late, true);
	for (size_t i = 0; i < n; i++) {
		const struct ut_ace_item *x = &one.items[i ? i - 1 : 0], *y = &one.items[i];

		assert_int_equal(y->key, two.items[i].key);
		assert_int_equal(y->event, two.items[i].event);
		if (!i)
			continue;
		assert_true(x->key <= y->key);
		if (x->key == y->key)
			assert_true(late ? x->event > y->event : x->event < y->event);
	}
	release(&one);
	release(&two);
}

static void a_few_and_many_with_and_without_order(void **state)
{
	static const size_t sizes[] = { 1, 2, 64, 65, 1000, MANY + 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int late = 0; late < 2; late++) {
			check(sizes[i], 0, 7, late);
			check(sizes[i], 0, UINT64_MAX, late);
			check(sizes[i], 0, NEARLY, late);
			check(sizes[i], 0, BOTH, late);
			check(sizes[i], 1, 1, late);
			check(sizes[i], 5, 3, late);
			check(sizes[i], 40, 1, late);
		}
	}
}

static void keys_compare_like_doubles(void **state)
{
	static const double rising[] = { -1e300, -2.5, -1e-300, 0.0, 1e-300, 1, 1.5, 1e300 };

	(void)state;
	for (size_t i = 1; i < sizeof(rising) / sizeof(rising[0]); i++)
		assert_true(ut_ace_sort_key(rising[i - 1]) < ut_ace_sort_key(rising[i]));
	assert_int_equal(ut_ace_sort_key(-0.0), ut_ace_sort_key(0.0));
}

UT_TESTS(sort_events)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_and_many_with_and_without_order),
		cmocka_unit_test(keys_compare_like_doubles),
	};

	return cmocka_run_group_tests_name("acelyzer/sort_events", tests, NULL, NULL);
}
