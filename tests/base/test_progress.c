/* test_progress.c - tests src/base/progress.h. */
#include "base/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

#define SECOND UINT64_C(1000000000)

static void the_line_gives_share_rate_and_rest(void **state)
{
	struct ut_progress p = { .label = "merge", .total = 4u << 20 };
	char line[128];

	(void)state;
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 1u << 20, 2 * SECOND),
			    "unitrace: merge: 25 %, 1.00 MiB of 4.00 MiB, 512 KiB/s, 6.00 s left");
}

static void nothing_is_said_about_the_rest_when_there_is_hardly_any(void **state)
{
	struct ut_progress p = { .label = "merge", .total = 4u << 20 };
	char line[128];

	(void)state;
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 4u << 20, 2 * SECOND),
			    "unitrace: merge: 100 %, 4.00 MiB of 4.00 MiB, 2.00 MiB/s");
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 0, 2 * SECOND),
			    "unitrace: merge: 0 %, 0 B of 4.00 MiB, 0 B/s");
}

static void the_last_percent_is_for_the_end(void **state)
{
	struct ut_progress p = { .label = "merge", .total = 1000000 };
	char line[128];

	(void)state;
	assert_null(strstr(ut_progress_text(line, sizeof(line), &p, 999999, SECOND), "100 %"));
}

static void what_has_no_known_end_has_no_share(void **state)
{
	struct ut_progress p = { .label = "stats" };
	char line[128];

	(void)state;
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 3u << 20, SECOND),
			    "unitrace: stats: 3.00 MiB, 3.00 MiB/s");
	p.total = 1; /* the file has grown */
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 3u << 20, SECOND),
			    "unitrace: stats: 3.00 MiB, 3.00 MiB/s");
	ut_progress_text(line, sizeof(line), &p, 0, 0);
}

static void without_a_terminal_nothing_runs(void **state)
{
	struct ut_progress p;

	(void)state;
	ut_progress_start(&p, NULL, "x", 5);
	ut_progress_add(&p, 3);
	ut_progress_add(&p, 4);
	assert_int_equal(p.done, 7);
	ut_progress_done(&p);
	ut_progress_done(&p);
}

UT_TESTS(progress)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_gives_share_rate_and_rest),
		cmocka_unit_test(nothing_is_said_about_the_rest_when_there_is_hardly_any),
		cmocka_unit_test(the_last_percent_is_for_the_end),
		cmocka_unit_test(what_has_no_known_end_has_no_share),
		cmocka_unit_test(without_a_terminal_nothing_runs),
	};

	return cmocka_run_group_tests_name("base/progress", tests, NULL, NULL);
}
