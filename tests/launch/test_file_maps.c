/* test_file_maps.c - tests src/record/launch/cpu/file_maps.h. */
#include "launch/cpu/file_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

static struct ut_map map(uint64_t start, uint64_t end, uint32_t module, uint64_t born)
{
	return (struct ut_map){ .start = start, .end = end, .module = module, .born = born };
}

static void add(struct ut_maps *m, uint64_t start, uint64_t end, uint32_t module, uint64_t born)
{
	struct ut_map one = map(start, end, module, born);

	ut_maps_add(m, &one);
}

static uint32_t at(const struct ut_maps *m, uint64_t address, uint64_t time)
{
	const struct ut_map *found = ut_maps_find(m, address, time);

	return found ? found->module : 0;
}

static void what_is_mapped_over_was_there_before(void **state)
{
	struct ut_maps m = { 0 };

	(void)state;
	add(&m, 0x1000, 0x5000, 1, 10);
	add(&m, 0x2000, 0x3000, 2, 20);
	assert_int_equal(at(&m, 0x2800, 15), 1);
	assert_int_equal(at(&m, 0x2800, 20), 2);
	assert_int_equal(at(&m, 0x1800, 30), 1);
	assert_int_equal(at(&m, 0x3000, 30), 1);
	assert_int_equal(at(&m, 0x5000, 30), 0);
	ut_maps_forget(&m, 25);
	assert_int_equal(at(&m, 0x2800, 15), 2);
	ut_maps_release(&m);
}

static void the_rest_behind_a_cut_keeps_its_place_in_the_file(void **state)
{
	struct ut_maps m = { 0 };

	(void)state;
	add(&m, 0x1000, 0x5000, 1, 10);
	add(&m, 0x2000, 0x3000, 2, 20);
	assert_int_equal(ut_maps_find(&m, 0x4000, 30)->offset +
				 (0x4000 - ut_maps_find(&m, 0x4000, 30)->start),
			 0x3000);
	ut_maps_release(&m);
}

static void a_large_one_covers_many(void **state)
{
	struct ut_maps m = { 0 }, copy;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		add(&m, 0x1000 + i * 0x1000, 0x1800 + i * 0x1000, i + 1, 1);
	assert_int_equal(at(&m, 0x32400, 2), 50);
	assert_int_equal(at(&m, 0x32900, 2), 0);
	add(&m, 0x1000, 0x40000, 500, 5);
	assert_int_equal(m.count, 1 + 100 - 63);
	assert_int_equal(at(&m, 0x32900, 6), 500);
	ut_maps_copy(&copy, &m);
	ut_maps_release(&m);
	assert_int_equal(at(&copy, 0x32900, 6), 500);
	ut_maps_release(&copy);
}

UT_TESTS(file_maps)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_mapped_over_was_there_before),
		cmocka_unit_test(the_rest_behind_a_cut_keeps_its_place_in_the_file),
		cmocka_unit_test(a_large_one_covers_many),
	};

	return cmocka_run_group_tests_name("launch/file_maps", tests, NULL, NULL);
}
