/* test_handle_table.c - tests src/record/backend/handle_table.h */
#include "backend/handle_table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

#define MANY    20000u
#define THREADS 4

struct thing {
	struct ut_handle_item item;
	_Atomic uint32_t value;
};

static const void *handle(uint32_t n)
{
	return (const void *)(uintptr_t)(0x1000 + 64 * (uintptr_t)n);
}

static void what_was_put_is_found(void **state)
{
	static struct ut_handle_table t = { .size = sizeof(struct thing) };

	(void)state;
	assert_null(ut_handle_find(&t, handle(1)));
	for (uint32_t n = 0; n < MANY; n++)
		((struct thing *)ut_handle_item_of(&t, handle(n)))->value = n;
	for (uint32_t n = 0; n < MANY; n++) {
		struct thing *one = ut_handle_find(&t, handle(n));

		assert_int_equal(one->value, n);
		assert_ptr_equal(one->item.handle, handle(n));
	}
	assert_null(ut_handle_find(&t, handle(MANY)));
}

static void a_handle_has_one_item_for_ever(void **state)
{
	static struct ut_handle_table t = { .size = sizeof(struct thing) };
	struct thing *first = ut_handle_item_of(&t, handle(7));

	(void)state;
	assert_int_equal(first->value, 0);
	first->value = 3;
	assert_ptr_equal(ut_handle_item_of(&t, handle(7)), first);
	assert_int_equal(first->value, 3);
}

static void all_items_can_be_listed(void **state)
{
	static struct ut_handle_table t = { .size = sizeof(struct thing) };
	uint32_t count = 0;

	(void)state;
	for (uint32_t n = 0; n < 100; n++)
		ut_handle_item_of(&t, handle(n % 50));
	for (const struct ut_handle_item *i = t.last; i; i = i->all)
		count++;
	assert_int_equal(count, 50);
}

static struct ut_handle_table shared = { .size = sizeof(struct thing) };

static void *fill(void *arg)
{
	for (uint32_t n = 0; n < MANY; n++)
		((struct thing *)ut_handle_item_of(&shared, handle(n)))->value += 1;
	return arg;
}

static void threads_agree_about_items(void **state)
{
	pthread_t threads[THREADS];
	uint32_t count = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (const struct ut_handle_item *i = shared.last; i; i = i->all, count++)
		assert_int_equal(((const struct thing *)i)->value, THREADS);
	assert_int_equal(count, MANY);
}

static void memory_is_zeroed_and_apart(void **state)
{
	char *before = NULL;

	(void)state;
	for (size_t size = 1; size < 400000; size = size * 3 + 1) {
		char *p = ut_guest_alloc(size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_int_equal(p[0] | p[size - 1], 0);
		memset(p, 0x55, size);
		assert_true(!before || before[0] == 0x55);
		before = p;
	}
}

UT_TESTS(handle_table)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found),
		cmocka_unit_test(a_handle_has_one_item_for_ever),
		cmocka_unit_test(all_items_can_be_listed),
		cmocka_unit_test(threads_agree_about_items),
		cmocka_unit_test(memory_is_zeroed_and_apart),
	};

	return cmocka_run_group_tests_name("backend/opencl_table", tests, NULL, NULL);
}
