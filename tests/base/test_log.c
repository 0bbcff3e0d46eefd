/* test_log.c - tests src/base/log.h. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

#define WIPE "\r\033[K"

/* What was written to stderr between listen_now() and caught(). */
static int saved, ends[2];

static void listen_now(void)
{
	assert_int_equal(pipe(ends), 0);
	saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
}

static const char *caught(void)
{
	static char text[8192];
	ssize_t n, len = 0;

	dup2(saved, STDERR_FILENO);
	close(saved);
	while ((n = read(ends[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += n;
	close(ends[0]);
	text[len] = '\0';
	return text;
}

static void every_line_has_the_same_start(void **state)
{
	(void)state;
	listen_now();
	ut_log(UT_ERR, "no %s", "luck");
	ut_log(UT_WARN, "odd");
	ut_log(UT_INFO, "fine");
	ut_log(UT_DEBUG, "not shown");
	assert_string_equal(caught(), "unitrace: no luck\nunitrace: warning: odd\n"
				      "unitrace: fine\n");
}

static void lines_that_scripts_look_for_are_kept(void **state)
{
	(void)state;
	listen_now();
	ut_log_classic(UT_INFO, "Timeline is stored in %s", "a.json");
	ut_log_classic(UT_WARN, "odd");
	assert_string_equal(caught(), "[INFO] Timeline is stored in a.json\n[WARNING] odd\n");
}

static void quiet_is_for_both_kinds_of_lines(void **state)
{
	(void)state;
	ut_log_set_level(UT_WARN);
	listen_now();
	ut_log(UT_INFO, "fine");
	ut_log_classic(UT_INFO, "fine");
	ut_log_classic(UT_WARN, "odd");
	ut_log_set_level(UT_INFO);
	assert_string_equal(caught(), "[WARNING] odd\n");
}

static void what_is_logged_takes_the_place_of_the_state(void **state)
{
	(void)state;
	listen_now();
	ut_log_state("half way");
	ut_log(UT_WARN, "odd");
	ut_log(UT_INFO, "fine");
	ut_log_state("nearly there");
	ut_log_classic(UT_INFO, "stored");
	ut_log_state("there");
	ut_log_state(NULL);
	ut_log_state(NULL);
	assert_string_equal(caught(), WIPE "half way" WIPE "unitrace: warning: odd\n"
					   "unitrace: fine\n" WIPE "nearly there" WIPE
					   "[INFO] stored\n" WIPE "there" WIPE);
}

static void the_state_never_needs_a_second_row(void **state)
{
	char text[300];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	listen_now();
	ut_log_state(text);
	ut_log_state(NULL);
	/* A pipe does not tell its width: 80 columns, the last one free. */
	assert_int_equal(strlen(caught()), strlen(WIPE) + 79 + strlen(WIPE));
}

static void a_line_without_end_is_cut(void **state)
{
	static char text[5000];
	const char *got;

	(void)state;
	memset(text, 'y', sizeof(text) - 1);
	listen_now();
	ut_log(UT_INFO, "%s", text);
	got = caught();
	assert_true(strlen(got) < 2100);
	assert_int_equal(got[strlen(got) - 1], '\n');
}

UT_TESTS(log)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_has_the_same_start),
		cmocka_unit_test(lines_that_scripts_look_for_are_kept),
		cmocka_unit_test(quiet_is_for_both_kinds_of_lines),
		cmocka_unit_test(what_is_logged_takes_the_place_of_the_state),
		cmocka_unit_test(the_state_never_needs_a_second_row),
		cmocka_unit_test(a_line_without_end_is_cut),
	};

	return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
