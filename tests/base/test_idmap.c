/* test_idmap.c - tests src/base/idmap.h against a plain array that does the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "support/unit.h"

static void what_was_never_put_is_zero(void **state)
{
	struct ut_arena arena = { 0 };
	struct ut_idmap m;

	(void)state;
	ut_idmap_init(&m, &arena);
	assert_int_equal(ut_idmap_get(&m, 0), 0);
	assert_int_equal(ut_idmap_take(&m, UINT64_MAX), 0);
	ut_idmap_put(&m, 0, 5);
	assert_int_equal(ut_idmap_get(&m, 0), 5);
	assert_int_equal(ut_idmap_get(&m, 1), 0);
	ut_arena_release(&arena);
}

static void agrees_with_an_array_through_random_work(void **state)
{
	enum {
		KEYS = 3000
	};
	static uint32_t mirror[KEYS];
	struct ut_arena arena = { 0 };
	struct ut_idmap m;
	uint32_t seed = 1;
	size_t live = 0;

	(void)state;
	ut_idmap_init(&m, &arena);
	for (int i = 0; i < 300000; i++) {
		uint32_t key, value;

		seed = seed * 1664525 + 1013904223;
		key = (seed >> 8) % KEYS;
		value = seed | 1;
		if (seed >> 31) {
			live += !mirror[key];
			mirror[key] = value;
			ut_idmap_put(&m, (uint64_t)key << 32, value);
		} else {
			live -= mirror[key] != 0;
			assert_int_equal(ut_idmap_take(&m, (uint64_t)key << 32), mirror[key]);
			mirror[key] = 0;
		}
		assert_int_equal(m.count, live);
	}
	for (uint32_t key = 0; key < KEYS; key++)
		assert_int_equal(ut_idmap_get(&m, (uint64_t)key << 32), mirror[key]);
	ut_arena_release(&arena);
}

static void one_on_the_heap_is_emptied_and_used_again(void **state)
{
	struct ut_idmap m = { 0 };

	(void)state;
	assert_int_equal(ut_idmap_get(&m, 3), 0);
	ut_idmap_clear(&m);
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t most = round == 1 ? 3 : 5000; /* few in a table that was large */

		for (uint32_t i = 0; i < most; i++)
			ut_idmap_put(&m, i, i + 1);
		assert_int_equal(m.count, most);
		assert_int_equal(ut_idmap_get(&m, most - 1), most);
		ut_idmap_clear(&m);
		assert_int_equal(m.count, 0);
		for (uint32_t i = 0; i < 5000; i++)
			assert_int_equal(ut_idmap_get(&m, i), 0);
	}
	ut_idmap_release(&m);
}

UT_TESTS(idmap)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_on_the_heap_is_emptied_and_used_again),
		cmocka_unit_test(what_was_never_put_is_zero),
		cmocka_unit_test(agrees_with_an_array_through_random_work),
	};

	return cmocka_run_group_tests_name("base/idmap", tests, NULL, NULL);
}
