/* test_spool_zone.c - tests src/import/spool*.c: functions of a language, at their places. */
#include "import/spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/build.h"

#define PLACE 500u /* numbers of places, behind those of names */

/* A spool in which zones belong to domain 2 and tasks to domain 1. */
static void start(struct build *b)
{
	build_start(b);
	BUILD_DEFINE(b, DOMAIN, pair(2, build_name(b, "Python")));
	build_chunk(b, 1);
	build_thread(b, 1, 100);
}

static uint32_t place(struct build *b, const char *name, const char *file, uint32_t line)
{
	static uint32_t last = PLACE;

	BUILD_DEFINE(b, PLACE, pair(++last, build_name(b, name)),
		     pair(file ? build_name(b, file) : 0, line));
	return last;
}

static void enter(struct build *b, uint64_t ticks, uint32_t zone)
{
	build_raw(b, ut_word(UT_WORD_BEGIN, ticks, 2 | (uint64_t)zone << 8));
}

static void leave(struct build *b, uint64_t ticks)
{
	build_raw(b, ut_word(UT_WORD_END, ticks, 2));
}

static void functions_of_one_name_have_their_own_file_and_line(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	enter(&b, 110, place(&b, "f", "a.py", 3));
	enter(&b, 120, place(&b, "f", "b.py", 7));
	leave(&b, 130);
	enter(&b, 140, place(&b, "len", NULL, 0));
	leave(&b, 150);
	leave(&b, 160);
	expect_events(&b, "main: span f 110+50 {file='a.py', line=3}\n"
			  "main: span f 120+10 {file='b.py', line=7}\n"
			  "main: span len 140+10\n");
}

static void a_task_that_outlives_its_function_is_shown_beside_it(void **state)
{
	struct build b;
	uint32_t step;

	(void)state;
	start(&b);
	step = place(&b, "step", "a.py", 1);
	enter(&b, 110, step); /* a generator begins the task and yields */
	build_begin(&b, 120, "range");
	leave(&b, 130);
	enter(&b, 140, step); /* it goes on and ends it */
	build_end(&b, 150);
	leave(&b, 160);
	expect_events(&b, "main: span step 110+20 {file='a.py', line=1}\n"
			  "main: async begin range 120#1\n"
			  "main: async end range 150#1\n"
			  "main: span step 140+20 {file='a.py', line=1}\n");
}

static void a_task_around_functions_nests(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	build_begin(&b, 110, "range");
	enter(&b, 120, place(&b, "f", "a.py", 1));
	leave(&b, 130);
	build_end(&b, 140);
	expect_events(&b, "main: span range 110+30\n"
			  "main: span f 120+10 {file='a.py', line=1}\n");
}

static void a_task_that_never_ends_does_not_end_functions(void **state)
{
	struct build b;
	struct seen s;

	(void)state;
	start(&b);
	enter(&b, 110, place(&b, "outer", "a.py", 1));
	enter(&b, 120, place(&b, "inner", "a.py", 2));
	build_begin(&b, 130, "forgotten");
	leave(&b, 140);
	leave(&b, 150);
	seen_import(&s, &b);
	assert_int_equal(s.trace.losses.implicit_ends, 0);
	assert_int_equal(s.trace.losses.stray_ends, 0);
	assert_int_equal(s.trace.losses.unfinished, 1);
	seen_release(&s);
	build_release(&b);
}

static void a_place_that_cannot_be_is_no_place(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, PLACE, pair(UINT32_MAX, 1), pair(UINT32_MAX, 1));
	BUILD_DEFINE(&b, PLACE, pair(PLACE + 99, UINT32_MAX), pair(UINT32_MAX, 0));
	enter(&b, 110, PLACE + 99);
	leave(&b, 120);
	expect_events(&b, "main: span  110+10\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_one_name_have_their_own_file_and_line),
		cmocka_unit_test(a_task_that_outlives_its_function_is_shown_beside_it),
		cmocka_unit_test(a_task_around_functions_nests),
		cmocka_unit_test(a_task_that_never_ends_does_not_end_functions),
		cmocka_unit_test(a_place_that_cannot_be_is_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
