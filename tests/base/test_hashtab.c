/* test_hashtab.c - tests src/base/hashtab.h with items in an array, as its users keep them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/hashtab.h"
#include "support/unit.h"

enum {
	ITEMS = 20000
};

static uint32_t find(const struct ut_hashtab *t, const uint32_t *items, uint32_t hash, uint32_t key)
{
	uint32_t at = hash, n;

	while ((n = ut_hashtab_next(t, hash, &at)) && items[n - 1] != key)
		;
	return n;
}

static void nothing_is_found_in_an_empty_table(void **state)
{
	struct ut_hashtab t = { 0 };
	uint32_t at = 7;

	(void)state;
	assert_int_equal(ut_hashtab_next(&t, 7, &at), 0);
	ut_hashtab_release(&t);
}

/* Hashes that are equal, that wrap around the end, and that differ in high bits only. */
static uint32_t poor_hash(uint32_t key)
{
	return key % 3 ? key % 1000 : UINT32_MAX - key % 5 * 0x1000000;
}

static void find_all(struct ut_hashtab *t)
{
	static uint32_t items[ITEMS];

	for (uint32_t i = 0; i < ITEMS; i++) {
		uint32_t key = i * 2;

		assert_int_equal(find(t, items, poor_hash(key), key), 0);
		items[i] = key;
		ut_hashtab_add(t, poor_hash(key), i + 1);
		if (i == 5000)
			i = ITEMS - 100; /* the chains are long, and that is slow */
	}
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(find(t, items, poor_hash(i * 2), i * 2), i + 1);
	assert_int_equal(find(t, items, poor_hash(1), 1), 0);
}

static void items_are_distinguished_by_their_owner(void **state)
{
	struct ut_arena arena = { 0 };
	struct ut_hashtab heap = { 0 }, inside = { .arena = &arena };

	(void)state;
	find_all(&heap);
	find_all(&inside);
	assert_int_equal(heap.count, inside.count);
	ut_hashtab_release(&heap);
	ut_hashtab_release(&inside);
	assert_ptr_equal(inside.arena, &arena);
	assert_int_equal(inside.count, 0);
	find_all(&inside);
	ut_arena_release(&arena);
}

static void equal_hashes_come_in_the_order_of_their_coming(void **state)
{
	struct ut_hashtab t = { 0 };
	uint32_t at = 9;

	(void)state;
	for (uint32_t n = 1; n <= 500; n++)
		ut_hashtab_add(&t, n % 2 ? 9 : 10, n);
	for (uint32_t n = 1; n <= 500; n += 2)
		assert_int_equal(ut_hashtab_next(&t, 9, &at), n);
	assert_int_equal(ut_hashtab_next(&t, 9, &at), 0);
	ut_hashtab_release(&t);
}

static void reserved_room_is_enough(void **state)
{
	struct ut_hashtab t = { 0 };
	const struct ut_hashtab_slot *slots;

	(void)state;
	ut_hashtab_reserve(&t, 1000);
	slots = t.slots;
	for (uint32_t n = 1; n <= 1000; n++)
		ut_hashtab_add(&t, n * 2654435761u, n);
	assert_ptr_equal(t.slots, slots);
	ut_hashtab_release(&t);
}

UT_TESTS(hashtab)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_an_empty_table),
		cmocka_unit_test(items_are_distinguished_by_their_owner),
		cmocka_unit_test(equal_hashes_come_in_the_order_of_their_coming),
		cmocka_unit_test(reserved_room_is_enough),
	};

	return cmocka_run_group_tests_name("hashtab", tests, NULL, NULL);
}
