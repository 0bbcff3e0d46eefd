/* test_strtab.c - tests src/trace/model/strtab.h: same bytes, same id, and the text stays put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/strtab.h"
#include "support/unit.h"

struct fixture {
	struct ut_arena arena;
	struct ut_strtab table;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ut_strtab_init(&f->table, &f->arena);
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_arena_release(&f->arena);
	free(f);
	return 0;
}

static void same_bytes_have_one_id(void **state)
{
	struct ut_strtab *t = &((struct fixture *)*state)->table;
	uint32_t a = ut_strtab_intern(t, "gemm", 4);

	assert_int_equal(a, 1);
	assert_int_equal(ut_strtab_intern(t, "gemm!", 4), a);
	assert_int_equal(ut_strtab_intern_z(t, "gemm"), a);
	assert_int_equal(ut_strtab_intern_z(t, "gemm!"), 2);
	assert_int_equal(t->count, 2);
}

static void no_string_and_the_empty_string_are_id_zero(void **state)
{
	struct ut_strtab *t = &((struct fixture *)*state)->table;

	assert_int_equal(ut_strtab_intern_z(t, NULL), 0);
	assert_int_equal(ut_strtab_intern_z(t, ""), 0);
	assert_int_equal(ut_strtab_intern(t, NULL, 0), 0);
	assert_string_equal(ut_strtab_get(t, 0).ptr, "");
	assert_int_equal(t->count, 0);
}

static void an_unknown_id_is_the_empty_string(void **state)
{
	struct ut_strtab *t = &((struct fixture *)*state)->table;

	ut_strtab_intern_z(t, "x");
	assert_int_equal(ut_strtab_get(t, 2).len, 0);
	assert_string_equal(ut_strtab_get(t, UINT32_MAX).ptr, "");
}

static void nul_bytes_are_part_of_the_string(void **state)
{
	struct ut_strtab *t = &((struct fixture *)*state)->table;
	uint32_t a = ut_strtab_intern(t, "a\0b", 3), b = ut_strtab_intern(t, "a\0c", 3);

	assert_int_not_equal(a, b);
	assert_int_equal(ut_strtab_get(t, a).len, 3);
	assert_memory_equal(ut_strtab_get(t, a).ptr, "a\0b", 4);
}

static void ids_and_pointers_survive_growth(void **state)
{
	struct ut_strtab *t = &((struct fixture *)*state)->table;
	const char *first;
	char name[32];

	ut_strtab_intern_z(t, "name 1");
	first = ut_strtab_get(t, 1).ptr;
	for (uint32_t i = 1; i <= 100000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(ut_strtab_intern_z(t, name), i);
	}
	assert_ptr_equal(ut_strtab_get(t, 1).ptr, first);
	assert_string_equal(first, "name 1");
	for (uint32_t i = 1; i <= 100000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_string_equal(ut_strtab_get(t, i).ptr, name);
		assert_int_equal(ut_strtab_intern_z(t, name), i);
	}
}

static void a_huge_string_is_kept_whole(void **state)
{
	struct ut_strtab *t = &((struct fixture *)*state)->table;
	size_t len = 1 << 20;
	char *big = malloc(len);
	uint32_t id;

	memset(big, 'x', len);
	id = ut_strtab_intern(t, big, len);
	assert_int_equal(ut_strtab_get(t, id).len, len);
	assert_memory_equal(ut_strtab_get(t, id).ptr, big, len);
	assert_int_not_equal(ut_strtab_intern(t, big, len - 1), id);
	free(big);
}

static void strings_of_a_file_stay_where_they_are(void **state)
{
	static const char text[] = "one\0two\0a\0b";
	static const uint64_t starts[] = { 0, 4, 8, 12 };
	struct ut_strtab *t = &((struct fixture *)*state)->table;

	ut_strtab_map(t, starts, 3, text, sizeof(text));
	assert_int_equal(t->count, 3);
	assert_ptr_equal(ut_strtab_get(t, 1).ptr, text);
	assert_int_equal(ut_strtab_get(t, 3).len, 3);
	assert_int_equal(ut_strtab_get(t, 4).len, 0);
	assert_int_equal(ut_strtab_intern_z(t, "two"), 2);
	assert_int_equal(ut_strtab_intern(t, "a\0b", 3), 3);
	for (uint32_t i = 1; i <= 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "new %u", i);
		assert_int_equal(ut_strtab_intern_z(t, name), 3 + i);
	}
	assert_int_equal(ut_strtab_intern_z(t, "one"), 1);
	assert_string_equal(ut_strtab_get(t, 3 + 500).ptr, "new 500");
	assert_ptr_equal(ut_strtab_get(t, 2).ptr, text + 4);
}

static void a_damaged_file_has_empty_strings(void **state)
{
	static const char text[] = { 'x', 'y', 0, 'z', 'z' };
	static const uint64_t starts[] = { 0, 3, 5, 2, 99, UINT64_MAX, 0, 3 };
	struct ut_strtab *t = &((struct fixture *)*state)->table;

	ut_strtab_map(t, starts, 7, text, sizeof(text));
	assert_string_equal(ut_strtab_get(t, 1).ptr, "xy");
	for (uint32_t id = 2; id <= 6; id++) /* no NUL, backwards, behind the end */
		assert_int_equal(ut_strtab_get(t, id).len, 0);
	assert_string_equal(ut_strtab_get(t, 7).ptr, "xy"); /* twice: the first is found */
	assert_int_equal(ut_strtab_intern_z(t, "xy"), 1);
	assert_int_equal(ut_strtab_intern_z(t, "new"), 8);
}

UT_TESTS(strtab)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_bytes_have_one_id, make, drop),
		cmocka_unit_test_setup_teardown(no_string_and_the_empty_string_are_id_zero, make,
						drop),
		cmocka_unit_test_setup_teardown(an_unknown_id_is_the_empty_string, make, drop),
		cmocka_unit_test_setup_teardown(nul_bytes_are_part_of_the_string, make, drop),
		cmocka_unit_test_setup_teardown(ids_and_pointers_survive_growth, make, drop),
		cmocka_unit_test_setup_teardown(a_huge_string_is_kept_whole, make, drop),
		cmocka_unit_test_setup_teardown(strings_of_a_file_stay_where_they_are, make, drop),
		cmocka_unit_test_setup_teardown(a_damaged_file_has_empty_strings, make, drop),
	};

	return cmocka_run_group_tests_name("model/strtab", tests, NULL, NULL);
}
