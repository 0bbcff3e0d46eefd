/* test_env.c - tests src/record/launch/env.h */
#include "launch/env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"

static void set_replaces_every_earlier_setting(void **state)
{
	static char a[] = "A=1", aa[] = "AA=2", again[] = "A=3";
	char *from[] = { a, aa, again, NULL };
	struct ut_arena arena = { 0 };
	struct ut_env env;

	(void)state;
	ut_env_init(&env, &arena, from);
	assert_string_equal(ut_env_get(&env, "A"), "1");
	ut_env_set(&env, "A", "new");
	assert_int_equal(env.count, 2);
	assert_string_equal(env.vars[0], "AA=2");
	assert_string_equal(env.vars[1], "A=new");
	assert_null(env.vars[2]);
	assert_null(ut_env_get(&env, "B"));
	assert_string_equal(from[2], "A=3");
	ut_arena_release(&arena);
}

static void environment_may_grow(void **state)
{
	struct ut_arena arena = { 0 };
	struct ut_env env;
	char name[2] = "a";

	(void)state;
	ut_env_init(&env, &arena, NULL);
	for (int i = 0; i < 26; i++) {
		name[0] = (char)('a' + i);
		ut_env_set(&env, name, "x");
	}
	assert_int_equal(env.count, 26);
	assert_string_equal(env.vars[25], "z=x");
	assert_null(env.vars[26]);
	ut_arena_release(&arena);
}

UT_TESTS(env)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_replaces_every_earlier_setting),
		cmocka_unit_test(environment_may_grow),
	};

	return cmocka_run_group_tests_name("launch/env", tests, NULL, NULL);
}
