/* test_metric_groups.c - tests src/analysis/metrics/metric_groups.h and src/base/metric_list.h */
#include "metrics/metric_groups.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/metric_list.h"
#include "support/unit.h"

static struct ut_err err;

static int read_text(struct ut_metric_groups *g, const char *text)
{
	err = (struct ut_err){ 0 };
	return ut_metric_groups_read(g, "mine.ini", ut_str_of(text), &err);
}

static void what_comes_with_the_program_is_found_by_name(void **state)
{
	static const char *const query[] = { "ComputeBasic", "computebasic", "Memory",
					     "Tensor",       "Roofline",     "Warps" };
	const struct ut_metric_group *group;
	struct ut_metric_groups g;

	(void)state;
	ut_metric_groups_init(&g);
	for (size_t i = 0; i < sizeof(query) / sizeof(*query); i++) {
		assert_int_equal(ut_metric_groups_find(&g, query[i], UT_METRIC_QUERY, &group, &err),
				 0);
		assert_true(group->line_count > 3);
	}
	assert_int_equal(
		ut_metric_groups_find(&g, "VectorEngine138", UT_METRIC_QUERY, &group, &err), 0);
	assert_string_equal(group->name.ptr, "Roofline");
	assert_int_equal(ut_metric_groups_find(&g, "Roofline", UT_METRIC_SAMPLING, &group, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "there are: ComputeBasic, Memory, Tensor"));
	ut_metric_groups_release(&g);
}

static void groups_of_ones_own_come_first(void **state)
{
	const struct ut_metric_group *group;
	struct ut_metric_groups g;

	(void)state;
	ut_metric_groups_init(&g);
	assert_int_equal(read_text(&g,
				   "; mine\n[Memory query]\na.sum|b.sum = [bytes] text\n c.avg \n"
				   "[New]\nabout = new\nd = [%]\n"),
			 0);
	assert_int_equal(ut_metric_groups_find(&g, "Memory", UT_METRIC_QUERY, &group, &err), 0);
	assert_int_equal(group->line_count, 2);
	assert_string_equal(group->lines[0].unit.ptr, "bytes");
	assert_string_equal(group->lines[0].about.ptr, "text");
	assert_int_equal(ut_metric_groups_find(&g, "Memory", UT_METRIC_SAMPLING, &group, &err), 0);
	assert_true(group->line_count > 2);
	assert_int_equal(ut_metric_groups_find(&g, "new", UT_METRIC_SAMPLING, &group, &err), 0);
	ut_metric_groups_release(&g);
}

static void mistakes_are_named_with_their_line(void **state)
{
	static const char *const bad[] = { "a = b\n",    "[A\n",          "[A what]\na = b\n",
					   "[A]\na b\n", "[A]\na| = b\n", "[A]\na,b = c\n",
					   "[A]\n",      "[A]\na = [x\n", "[]\na\n" };
	struct ut_metric_groups g;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		g = (struct ut_metric_groups){ 0 };
		assert_int_equal(read_text(&g, bad[i]), -EINVAL);
		assert_non_null(strstr(err.text, "mine.ini:"));
		ut_metric_groups_release(&g);
	}
}

static void a_backend_gets_names_and_units(void **state)
{
	struct ut_metric_groups g = { 0 };
	struct ut_buf text = { 0 };
	struct ut_metric_entry e = { 0 };
	struct ut_str rest;

	(void)state;
	assert_int_equal(read_text(&g, "[A]\na|b = [x] t\nc\n"), 0);
	ut_metric_group_list(&g.items[0], &text);
	assert_string_equal(text.data, "a|b\tx\nc\t\n");
	rest = (struct ut_str){ text.data, text.len };
	assert_true(ut_metric_next(&rest, &e));
	assert_true(ut_str_is(e.names, "a|b") && ut_str_is(e.unit, "x"));
	assert_true(ut_metric_next(&rest, &e));
	assert_true(ut_str_is(e.names, "c") && !e.unit.len);
	assert_false(ut_metric_next(&rest, &e));
	ut_buf_release(&text);
	ut_metric_groups_release(&g);
}

static void instances_are_numbers_and_ranges(void **state)
{
	(void)state;
	assert_true(ut_metric_wants_instance(NULL, 7));
	assert_true(ut_metric_wants_instance("1-3,7", 3));
	assert_false(ut_metric_wants_instance("1-3,7", 4));
	assert_true(ut_metric_wants_instance("1-3,7", 7));
	assert_true(ut_metric_wants_instance("9-", 1000));
	assert_false(ut_metric_wants_instance("9-", 8));
	assert_true(ut_metric_wants_instance("9-,2", 2));
}

UT_TESTS(metric_groups)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_with_the_program_is_found_by_name),
		cmocka_unit_test(groups_of_ones_own_come_first),
		cmocka_unit_test(mistakes_are_named_with_their_line),
		cmocka_unit_test(a_backend_gets_names_and_units),
		cmocka_unit_test(instances_are_numbers_and_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
