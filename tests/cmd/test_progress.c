/* test_progress.c - tests src/cmd/progress.h. */
#include "cmd/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void the_line_tells_share_rate_and_rest(void **state)
{
	struct ut_progress p = { .label = "merge", .total = 4u << 20 };
	char line[128];

	(void)state;
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 1u << 20, 2 * SECOND),
			    "merge: 25 %  1.00 MiB of 4.00 MiB, 512 KiB/s, 6.00 s left");
}

static void what_has_no_known_end_has_no_share(void **state)
{
	struct ut_progress p = { .label = "stats" };
	char line[128];

	(void)state;
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 3u << 20, SECOND),
			    "stats: 3.00 MiB, 3.00 MiB/s");
	p.total = 1; /* the file has grown */
	assert_string_equal(ut_progress_text(line, sizeof(line), &p, 3u << 20, SECOND),
			    "stats: 3.00 MiB, 3.00 MiB/s");
	ut_progress_text(line, sizeof(line), &p, 0, 0);
}

static void without_a_terminal_nothing_runs(void **state)
{
	struct ut_progress p;

	(void)state;
	ut_progress_start(&p, "x", 5);
	ut_progress_add(&p, 3);
	ut_progress_add(&p, 4);
	assert_int_equal(p.done, 7);
	ut_progress_done(&p);
	ut_progress_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_tells_share_rate_and_rest),
		cmocka_unit_test(what_has_no_known_end_has_no_share),
		cmocka_unit_test(without_a_terminal_nothing_runs),
	};

	return cmocka_run_group_tests_name("cmd/progress", tests, NULL, NULL);
}
