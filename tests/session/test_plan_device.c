/* test_plan_device.c - tests what src/app/session/session_plan.h says about devices */
#include "session/session_plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"
#include "unitrace/backend.h"
#include "wire/control.h"

struct fixture {
	struct ut_session_plan plan;
	struct ut_control control;
	struct ut_err err;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	ut_session_plan_init(&f->plan);
	f->control.rank = -1;
	*state = f;
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;

	ut_session_plan_release(&f->plan);
	free(f);
	return 0;
}

static uint32_t want(struct fixture *f)
{
	f->control.want = 99;
	assert_int_equal(ut_session_plan_apply_device(&f->plan, &f->control, NULL, &f->err), 0);
	return f->control.want == 99 ? 0 : f->control.want;
}

static void each_option_asks_for_what_it_needs(void **state)
{
	struct fixture *f = *state;
	struct ut_device_opts *d = &f->plan.device;

	assert_int_equal(want(f), 0);
	d->demangle = d->no_thread = d->separate_tiles = true;
	assert_int_equal(want(f), 0);
	*d = (struct ut_device_opts){ .chrome_device = true };
	assert_int_equal(want(f), UT_WANT_WORK);
	*d = (struct ut_device_opts){ .chrome_kernel = true };
	assert_int_equal(want(f), UT_WANT_WORK | UT_WANT_SUBMITS);
	*d = (struct ut_device_opts){ .chrome_call = true };
	assert_int_equal(want(f), UT_WANT_CALLS);
	*d = (struct ut_device_opts){ .call_logging = true };
	assert_int_equal(want(f), UT_WANT_CALLS | UT_WANT_CALL_ARGS);
	*d = (struct ut_device_opts){ .host_timing = true, .device_timing = true };
	assert_int_equal(want(f), UT_WANT_CALLS | UT_WANT_WORK);
	*d = (struct ut_device_opts){ .device_timeline = true };
	assert_int_equal(want(f), UT_WANT_WORK | UT_WANT_SUBMITS);
	*d = (struct ut_device_opts){ .kernel_submission = true };
	assert_int_equal(want(f), UT_WANT_WORK | UT_WANT_SUBMITS);
	*d = (struct ut_device_opts){ .opencl = true };
	assert_int_equal(want(f), UT_WANT_WORK | UT_WANT_SUBMITS);
}

static void ranks_that_are_not_listed_record_no_device(void **state)
{
	struct fixture *f = *state;

	f->plan.device.chrome_device = true;
	ut_opt_list_add(&f->plan.device.ranks, "1,12");
	ut_opt_list_add(&f->plan.device.ranks, "3");
	assert_int_equal(want(f), UT_WANT_WORK); /* no rank at all */
	f->control.rank = 12;
	assert_int_equal(want(f), UT_WANT_WORK);
	f->control.rank = 3;
	assert_int_equal(want(f), UT_WANT_WORK);
	f->control.rank = 2;
	assert_int_equal(want(f), 0);
}

/* The list as one text with | after each name. */
static const char *names(const char *list)
{
	static char text[UT_FILTER_BYTES];
	size_t len = 0;

	for (; *list; list += strlen(list) + 1)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s|", list);
	text[len] = '\0';
	return text;
}

static void lists_are_split_at_commas_outside_quotes(void **state)
{
	static const struct {
		const char *given, *expected;
	} cases[] = {
		{ "a", "a|" },
		{ "a,b", "a|b|" },
		{ " a , b c ,", "a|b c|" },
		{ ",,", "" },
		{ "\"f(int, int)\",g", "f(int, int)|g|" },
		{ "x\" , \"y", "x , y|" },
		{ "\" a \"", " a |" },
		{ "\"never closed,", "never closed,|" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(f->control.include_kernels, 0, sizeof(f->control.include_kernels));
		f->plan.device.include = cases[i].given;
		assert_int_equal(ut_session_plan_apply_device(&f->plan, &f->control, NULL, &f->err),
				 0);
		assert_string_equal(names(f->control.include_kernels), cases[i].expected);
	}
	assert_string_equal(names(f->control.exclude_kernels), "");
}

static void a_file_is_split_at_lines_too(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/ut_kernels_XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one, two\r\n\n\"three,\n", 19), 19);
	close(fd);
	f->plan.device.exclude = "zero";
	f->plan.device.exclude_file = path;
	assert_int_equal(ut_session_plan_apply_device(&f->plan, &f->control, NULL, &f->err), 0);
	assert_string_equal(names(f->control.exclude_kernels), "zero|one|two|three,\n|");
	unlink(path);
}

static void too_many_names_are_an_error(void **state)
{
	struct fixture *f = *state;
	static char list[10001];

	for (size_t i = 0; i < 10000; i++)
		list[i] = i % 2 ? ',' : 'a';
	f->plan.device.include = list;
	assert_int_equal(ut_session_plan_apply_device(&f->plan, &f->control, NULL, &f->err),
			 -EINVAL);
	assert_non_null(strstr(f->err.text, "kernel names"));
}

static void one_row_per_device_is_sent_to_the_collector(void **state)
{
	struct fixture *f = *state;

	f->plan.device.no_engine = true;
	assert_int_equal(ut_session_plan_apply_device(&f->plan, &f->control, NULL, &f->err), 0);
	assert_int_equal(f->control.flags, UT_CONTROL_ONE_QUEUE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, release)

UT_TESTS(plan_device)
{
	const struct CMUnitTest tests[] = {
		CASE(each_option_asks_for_what_it_needs),
		CASE(ranks_that_are_not_listed_record_no_device),
		CASE(lists_are_split_at_commas_outside_quotes),
		CASE(a_file_is_split_at_lines_too),
		CASE(too_many_names_are_an_error),
		CASE(one_row_per_device_is_sent_to_the_collector),
	};

	return cmocka_run_group_tests_name("cmd/record_device", tests, NULL, NULL);
}
