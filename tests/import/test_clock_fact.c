/* test_clock_fact.c - what launchers measured about a host's clock becomes a fact of its processes.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "import/spool/state.h"
#include "support/unit.h"
#include "wire/host_clock.h"

static char folder[] = "/tmp/ut_clock_XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/" UT_HOST_CLOCK_FILE, folder);
	unlink(path);
	return rmdir(folder);
}

/* The fact that comes of a file with this text; NULL if there is none. */
static const char *fact_of(const char *text)
{
	static char fact[65536];
	const char *found = NULL;
	struct ut_trace trace;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/" UT_HOST_CLOCK_FILE, folder);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(write(fd, text, strlen(text)) >= 0);
	close(fd);
	ut_trace_init(&trace);
	ut_trace_add_process(&trace, 1);
	snprintf(path, sizeof(path), "%s/1.spool", folder);
	ut_spool_clock_fact(&trace, 0, path);
	for (struct ut_arg *a = &trace.args[trace.processes[0].args]; a->type != UT_ARG_END; a++) {
		assert_string_equal(ut_strtab_get(&trace.strings, a->key).ptr, "host_clock");
		snprintf(fact, sizeof(fact), "%s", ut_strtab_get(&trace.strings, a->value.str).ptr);
		found = fact;
	}
	ut_trace_release(&trace);
	return found;
}

#define HEAD "unitrace-host-clock 1 0123456789abcdef "

static void samples_are_reported_as_they_were_measured(void **state)
{
	(void)state;
	assert_string_equal(fact_of(HEAD "fedcba9876543210\n100 -5 3\n200 -6 2\n"),
			    "{\"id\":\"0123456789abcdef\",\"reference\":\"fedcba9876543210\","
			    "\"samples\":[[100,-5,3],[200,-6,2]]}");
	assert_string_equal(fact_of(HEAD "-\n"), "{\"id\":\"0123456789abcdef\"}");
}

static void what_is_broken_is_passed_over(void **state)
{
	(void)state;
	assert_string_equal(
		fact_of(HEAD "fedcba9876543210\n\n1\n1 2\n1 2 -3\nx\n7 8 9\n1 2 3 4\n99999999999"
			     "99999999999 1 1\n10 20 3"),
		"{\"id\":\"0123456789abcdef\",\"reference\":\"fedcba9876543210\","
		"\"samples\":[[7,8,9]]}");
	assert_null(fact_of(""));
	assert_null(fact_of("something else\n"));
	assert_null(fact_of("unitrace-host-clock 1 \"}evil{\" -\n"));
	assert_null(fact_of("unitrace-host-clock 1 0123456789abcdefg -\n"));
	assert_null(fact_of("unitrace-host-clock 1 "));
}

static void of_many_the_best_are_reported_and_the_ends(void **state)
{
	struct ut_buf text = { 0 };
	const char *fact;
	size_t count = 1;

	(void)state;
	ut_buf_text(&text, HEAD "fedcba9876543210\n");
	for (int i = 0; i < 10000; i++)
		ut_buf_fmt(&text, "%d %d %d\n", i, i, i % 50 == 25 ? 1 : 1000);
	fact = fact_of(text.data);
	for (const char *p = fact; (p = strstr(p, "],[")); p++)
		count++;
	assert_int_equal(count, 256);
	assert_non_null(strstr(fact, "[[0,0,1000],"));
	assert_non_null(strstr(fact, ",[9999,9999,1000]]"));
	assert_non_null(strstr(fact, ",[75,75,1],"));
	ut_buf_release(&text);
}

UT_TESTS(clock_fact)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_reported_as_they_were_measured),
		cmocka_unit_test(what_is_broken_is_passed_over),
		cmocka_unit_test(of_many_the_best_are_reported_and_the_ends),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
