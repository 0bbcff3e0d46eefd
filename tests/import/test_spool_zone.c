/* test_spool_zone.c - tests src/trace/import/spool*.c: functions of a language, at their places. */
#include "import/spool/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/build.h"
#include "support/unit.h"

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

static void a_task_that_outlives_its_function_may_end_with_another(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, DOMAIN, pair(3, build_name(&b, "other")));
	build_raw(&b, ut_word(UT_WORD_BEGIN, 105, 3 | build_name(&b, "outer") << 8));
	enter(&b, 110, place(&b, "f", "a.py", 1));
	build_begin(&b, 120, "forgotten");
	leave(&b, 130);
	build_raw(&b, ut_word(UT_WORD_END, 150, 3));
	expect_events(&b, "main: span outer 105+45\n"
			  "main: span f 110+20 {file='a.py', line=1}\n"
			  "main: async begin forgotten 120#1 implicit\n"
			  "main: async end forgotten 150#1 implicit\n");
}

static void what_outlives_its_function_is_beside_it_in_a_later_part_too(void **state)
{
	struct build b;
	uint32_t f;

	(void)state;
	start(&b);
	f = place(&b, "f", "a.py", 1);
	enter(&b, 110, f);
	build_begin(&b, 120, "never");
	leave(&b, 130);
	build_chunk(&b, 1);
	build_thread(&b, 1, 140);
	enter(&b, 150, f);
	leave(&b, 160);
	expect_events(&b, "main: span f 110+20 {file='a.py', line=1}\n"
			  "main: async begin never 120#1 unfinished\n"
			  "main: async end never 160#1 unfinished\n"
			  "main: span f 150+10 {file='a.py', line=1}\n");
}

static void tag(struct build *b, uint64_t ticks, uint64_t id, const char *text)
{
	build_bytes(b, UT_REC_META_STR, ticks,
		    (uint64_t[]){ pair(1, build_name(b, "tag")), id, 0, 0, 1 }, 5, text, 1);
}

/* Ids are known by their place on the stack, which changes when something below ends. */
static void arguments_find_their_task_whatever_ends_around_it(void **state)
{
	struct build b;
	uint32_t f;

	(void)state;
	start(&b);
	f = place(&b, "f", "a.py", 1);
	enter(&b, 110, f);
	BUILD_LONG(&b, TASK_BEGIN, 111, pair(1, build_name(&b, "one")), 1, 0, 0, 0, 0, 0);
	BUILD_LONG(&b, TASK_BEGIN, 112, pair(1, build_name(&b, "two")), 2, 0, 0, 0, 0, 0);
	BUILD_LONG(&b, TASK_BEGIN, 113, pair(1, build_name(&b, "two again")), 2, 0, 0, 0, 0, 0);
	leave(&b, 120); /* they move down */
	tag(&b, 121, 1, "a");
	tag(&b, 122, 2, "b");
	build_end(&b, 130);
	tag(&b, 131, 2, "c");
	build_end(&b, 140);
	tag(&b, 141, 1, "d");
	build_end(&b, 150);
	expect_events(&b, "main: span f 110+10 {file='a.py', line=1}\n"
			  "main: async begin one 111#1 {id=0x1, tag='a', tag #2='d'}\n"
			  "main: async end one 150#1\n"
			  "main: async begin two 112#2 {id=0x2, tag='c'}\n"
			  "main: async end two 140#2\n"
			  "main: async begin two again 113#3 {id=0x2, tag='b'}\n"
			  "main: async end two again 130#3\n");
}

static void kernels_name_the_task_and_the_function_that_launched_them(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	build_begin(&b, 105, "operator");
	enter(&b, 110, place(&b, "f", "a.py", 7));
	BUILD_LONG(&b, CALL_BEGIN, 120, pair(build_name(&b, "CUDA"), build_name(&b, "launch")), 9);
	BUILD_LONG(&b, CALL_END, 130, pair(build_name(&b, "CUDA"), 0));
	BUILD_LONG(&b, WORK, 160, pair(0, build_name(&b, "kernel")), 0, 0, 0, 140, 150, 9);
	leave(&b, 170);
	build_end(&b, 180);
	expect_events(&b,
		      "main: span operator 105+75\n"
		      "main: span f 110+60 {file='a.py', line=7}\n"
		      "main: span launch 120+10\n"
		      "main: flow out submits 120#1099511627777\n"
		      ": span kernel 140+10 {task='operator', function='f', file='a.py', line=7, "
		      "correlation=9}\n"
		      ": flow in submits 140#1099511627777\n");
}

static void a_place_that_cannot_be_has_lost_its_name(void **state)
{
	struct build b;

	(void)state;
	start(&b);
	BUILD_DEFINE(&b, PLACE, pair(UINT32_MAX, 1), pair(UINT32_MAX, 1));
	BUILD_DEFINE(&b, PLACE, pair(PLACE + 99, UINT32_MAX), pair(UINT32_MAX, 0));
	enter(&b, 110, PLACE + 99);
	leave(&b, 120);
	expect_events(&b, "main: span (name lost) 110+10 {file='(name lost)'}\n");
}

UT_TESTS(spool_zone)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_one_name_have_their_own_file_and_line),
		cmocka_unit_test(a_task_that_outlives_its_function_is_shown_beside_it),
		cmocka_unit_test(a_task_around_functions_nests),
		cmocka_unit_test(a_task_that_never_ends_does_not_end_functions),
		cmocka_unit_test(a_task_that_outlives_its_function_may_end_with_another),
		cmocka_unit_test(what_outlives_its_function_is_beside_it_in_a_later_part_too),
		cmocka_unit_test(arguments_find_their_task_whatever_ends_around_it),
		cmocka_unit_test(kernels_name_the_task_and_the_function_that_launched_them),
		cmocka_unit_test(a_place_that_cannot_be_has_lost_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
