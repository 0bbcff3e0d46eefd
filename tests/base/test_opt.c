/* test_opt.c - tests src/base/opt.h */
#include "base/opt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

struct values {
	bool flag, group_flag, paused;
	const char *output, *group;
	uint64_t number;
	struct ut_opt_list list;
	char called[32];
	struct ut_err err;
};

static int remember(void *ctx, const char *value, struct ut_err *err)
{
	struct values *v = ctx;

	if (!strcmp(value, "bad"))
		return ut_err_set(err, -EINVAL, "not this one");
	snprintf(v->called, sizeof(v->called), "%s", value);
	return 0;
}

static int parse(struct values *v, int argc, const char *const *argv)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Things"),
		ut_opt_flag('f', "flag", &v->flag, "a flag"),
		ut_opt_str('o', "output", "FILE", &v->output, "a file"),
		ut_opt_str('g', "group", "NAME", &v->group, "a group"),
		ut_opt_flag(0, "group-by-thread", &v->group_flag, "longer than group"),
		ut_opt_range(ut_opt_u64('n', "number", "N", &v->number, "a number"), 1, 9),
		ut_opt_strs(0, "item", "X", &v->list, "may be repeated"),
		ut_opt_call("call", "X", remember, v, "a call"),
		ut_opt_flag(0, "start-paused", &v->paused, "one name"),
		ut_opt_flag(0, "start-quietly", &v->paused, "another name of the same"),
		ut_opt_hidden(ut_opt_flag(0, "secret", &v->flag, "hidden")),
		ut_opt_end(),
	};

	return ut_opt_parse(table, argc, argv, &v->err);
}

#define PARSE(v, ...)                                                                              \
	parse((v), (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)),                \
	      (const char *[]){ __VA_ARGS__ })

static void stops_at_the_first_plain_word(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--flag", "app", "--output", "x"), 1);
	assert_true(v.flag);
	assert_null(v.output);
	assert_int_equal(PARSE(&v, "-", "x"), 0);
}

static void two_dashes_end_the_options(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "-f", "--", "--output"), 2);
	assert_true(v.flag);
}

static void four_ways_to_give_a_value(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--output", "a"), 2);
	assert_string_equal(v.output, "a");
	assert_int_equal(PARSE(&v, "--output=b=c"), 1);
	assert_string_equal(v.output, "b=c");
	assert_int_equal(PARSE(&v, "-o", "-c"), 2);
	assert_string_equal(v.output, "-c");
	assert_int_equal(PARSE(&v, "-od"), 1);
	assert_string_equal(v.output, "d");
	assert_int_equal(PARSE(&v, "--output="), 1);
	assert_string_equal(v.output, "");
}

static void unique_prefix_is_enough(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--out", "a"), 2);
	assert_string_equal(v.output, "a");
	assert_int_equal(PARSE(&v, "--o=b"), 1);
	assert_string_equal(v.output, "b");
}

static void exact_name_wins_over_longer_ones(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--group", "X"), 2);
	assert_string_equal(v.group, "X");
	assert_false(v.group_flag);
}

static void ambiguous_prefix_lists_the_candidates(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--gr", "X"), -EINVAL);
	assert_non_null(strstr(v.err.text, "--group, --group-by-thread"));
}

static void two_names_of_one_thing_are_not_ambiguous(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--start"), 1);
	assert_true(v.paused);
}

static void unknown_option_suggests_a_near_one(void **state)
{
	static const char *const typed[] = { "--ouptut", "--outptu=x", "-output" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct values v = { 0 };

		assert_int_equal(PARSE(&v, typed[i]), -EINVAL);
		assert_non_null(strstr(v.err.text, "did you mean --output?"));
	}
}

static void far_and_hidden_options_are_not_suggested(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--secrte"), -EINVAL);
	assert_null(strstr(v.err.text, "did you mean"));
	assert_int_equal(PARSE(&v, "--sec"), -EINVAL);
	assert_int_equal(PARSE(&v, "--secret"), 1);
}

static void short_flags_are_not_grouped(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "-ff"), -EINVAL);
	assert_int_equal(PARSE(&v, "-x"), -EINVAL);
}

static void numbers_are_checked_against_their_range(void **state)
{
	static const char *const bad[] = { "0", "10", "x", "-1", "", "1x", "18446744073709551617" };
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "-n", "9"), 2);
	assert_int_equal(v.number, 9);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(PARSE(&v, "--number", bad[i]), -EINVAL);
		assert_int_equal(v.number, 9);
	}
	assert_non_null(strstr(v.err.text, "from 1 to 9"));
}

static void missing_and_superfluous_values_are_named(void **state)
{
	struct values v = { 0 }, w = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--output"), -EINVAL);
	assert_string_equal(v.err.text, "--output needs a value: FILE");
	assert_int_equal(PARSE(&w, "--flag=1"), -EINVAL);
	assert_string_equal(w.err.text, "--flag takes no value");
}

static void repeated_options_keep_their_order(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--item", "a", "--item=b", "--it", "c"), 5);
	assert_int_equal(v.list.count, 3);
	assert_string_equal(v.list.items[0], "a");
	assert_string_equal(v.list.items[2], "c");
	ut_opt_list_release(&v.list);
}

static void failing_call_is_reported_with_its_option(void **state)
{
	struct values v = { 0 };

	(void)state;
	assert_int_equal(PARSE(&v, "--call", "good"), 2);
	assert_string_equal(v.called, "good");
	assert_int_equal(PARSE(&v, "--call=bad"), -EINVAL);
	assert_string_equal(v.err.text, "--call: not this one");
}

static int count_call(void *ctx, const char *value, struct ut_err *err)
{
	(void)err;
	assert_null(value);
	++*(int *)ctx;
	return 0;
}

static void a_letter_may_be_said_several_times_at_once(void **state)
{
	int louder = 0;
	bool quiet = false;
	const struct ut_opt table[] = {
		ut_opt_letter('v', ut_opt_call("verbose", NULL, count_call, &louder, "")),
		ut_opt_flag('q', "quiet", &quiet, ""),
		ut_opt_end(),
	};
	const char *const argv[] = { "-vvv", "-q", "-v" };
	const char *const mixed[] = { "-vq" };
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_opt_parse(table, 3, argv, &err), 3);
	assert_int_equal(louder, 4);
	assert_true(quiet);
	assert_true(ut_opt_parse(table, 1, mixed, &err) < 0);
}

UT_TESTS(opt)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_letter_may_be_said_several_times_at_once),
		cmocka_unit_test(stops_at_the_first_plain_word),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(four_ways_to_give_a_value),
		cmocka_unit_test(unique_prefix_is_enough),
		cmocka_unit_test(exact_name_wins_over_longer_ones),
		cmocka_unit_test(ambiguous_prefix_lists_the_candidates),
		cmocka_unit_test(two_names_of_one_thing_are_not_ambiguous),
		cmocka_unit_test(unknown_option_suggests_a_near_one),
		cmocka_unit_test(far_and_hidden_options_are_not_suggested),
		cmocka_unit_test(short_flags_are_not_grouped),
		cmocka_unit_test(numbers_are_checked_against_their_range),
		cmocka_unit_test(missing_and_superfluous_values_are_named),
		cmocka_unit_test(repeated_options_keep_their_order),
		cmocka_unit_test(failing_call_is_reported_with_its_option),
	};

	return cmocka_run_group_tests_name("base/opt", tests, NULL, NULL);
}
