/* test_logger.c - tests src/base/logger.h. */
#include "base/logger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

/* A client that is no terminal. */
struct heard {
	char line[4096], state[64], room[16];
	enum ut_log_level level;
	size_t lines, states, ends;
};

static void take_line(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	struct heard *h = ctx;

	snprintf(h->line, sizeof(h->line), "%s", text);
	snprintf(h->room, sizeof(h->room), "%s", room);
	h->level = level;
	h->lines++;
	errno = EIO;
}

static void take_state(void *ctx, const char *text)
{
	struct heard *h = ctx;

	snprintf(h->state, sizeof(h->state), "%s", text ? text : "");
	h->states += text != NULL;
	h->ends += text == NULL;
}

static void a_line_reaches_the_client(void **state)
{
	struct heard h = { 0 };
	const struct ut_logger t = { .line = take_line, .ctx = &h };

	(void)state;
	errno = ENOENT;
	ut_logger_line(&t, UT_WARN, "launch", "%s: %d", "x", 7);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(h.line, "x: 7");
	assert_string_equal(h.room, "launch");
	assert_int_equal(h.level, UT_WARN);
	assert_int_equal(h.lines, 1);
}

static void nobody_needs_to_listen(void **state)
{
	const struct ut_logger deaf = { 0 };

	(void)state;
	ut_logger_log(NULL, UT_ERR, "nobody hears this");
	ut_logger_log(&deaf, UT_ERR, "nor this");
	ut_logger_state(NULL, "half");
	ut_logger_state(&deaf, "half");
	assert_false(ut_logger_wants_state(NULL));
	assert_false(ut_logger_wants_state(&deaf));
}

static void long_lines_are_cut(void **state)
{
	struct heard h = { 0 };
	const struct ut_logger t = { .line = take_line, .ctx = &h };
	char text[4000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ut_logger_log(&t, UT_INFO, "%s", text);
	assert_int_equal(strlen(h.line), 2047);
}

static void a_state_comes_and_goes(void **state)
{
	struct heard h = { 0 };
	const struct ut_logger t = { .line = take_line, .state = take_state, .ctx = &h };

	(void)state;
	assert_true(ut_logger_wants_state(&t));
	ut_logger_state(&t, "50 %");
	assert_string_equal(h.state, "50 %");
	ut_logger_state(&t, NULL);
	assert_int_equal(h.states, 1);
	assert_int_equal(h.ends, 1);
	assert_int_equal(h.lines, 0);
}

UT_TESTS(logger)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_reaches_the_client),
		cmocka_unit_test(nobody_needs_to_listen),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(a_state_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
