/* test_output_log.c - tests src/app/workbench/output_log.h: beginning and end are kept, places
 * stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "base/str.h"
#include "support/unit.h"
#include "workbench/folder.h"
#include "workbench/output_log.h"

#define LINE 16u

static char path[64];
static struct ut_output_log kept;

static int setup(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/ut_output_XXXXXX");
	assert_non_null(mkdtemp(path));
	return ut_output_log_open(&kept, ut_folder_open_top(path, NULL), NULL);
}

static int teardown(void **state)
{
	(void)state;
	ut_output_log_close(&kept);
	close(kept.at);
	return ut_path_remove_tree(path, NULL);
}

/* So many numbered lines. */
static void say(unsigned int from, unsigned int to)
{
	char line[LINE + 1];

	for (unsigned int i = from; i < to; i++) {
		snprintf(line, sizeof(line), "line %010u\n", i);
		ut_output_log_add(&kept, line, LINE);
	}
}

/* Every line of a piece is the one that belongs at its place. */
static uint64_t check(uint64_t from, size_t most, uint64_t *begin)
{
	struct ut_buf text = { 0 };
	uint64_t next;

	*begin = from;
	assert_int_equal(ut_output_log_read(kept.at, begin, most, &text, &next, NULL), 0);
	assert_int_equal(next - *begin, text.len);
	for (size_t i = 0; i + LINE <= text.len; i += LINE) {
		char line[LINE + 1];

		snprintf(line, sizeof(line), "line %010u\n", (unsigned int)((*begin + i) / LINE));
		assert_memory_equal(text.data + i, line, LINE);
	}
	ut_buf_release(&text);
	return next;
}

static void a_little_is_all_there(void **state)
{
	uint64_t begin;

	(void)state;
	assert_int_equal(check(0, 1000, &begin), 0);
	say(0, 100);
	assert_int_equal(check(0, 1 << 20, &begin), 100 * LINE);
	assert_int_equal(check(50 * LINE, 1 << 20, &begin), 100 * LINE);
	assert_int_equal(begin, 50 * LINE);
	assert_int_equal(check(50 * LINE, LINE, &begin), 51 * LINE);
	assert_int_equal(check(1 << 20, 1 << 20, &begin), 100 * LINE);
	assert_int_equal(begin, 100 * LINE);
}

static void of_much_beginning_and_end_are_kept(void **state)
{
	uint64_t begin, next = 0, all = 0;

	(void)state;
	for (unsigned int i = 0; i < 400000; i += 20000) {
		say(i, i + 20000);
		all = (i + 20000) * (uint64_t)LINE;
		/* a reader that follows never gets the same twice, nor goes back */
		while (next < all) {
			uint64_t before = next;

			next = check(next, 1 << 18, &begin);
			assert_true(begin >= before && next > before);
		}
	}
	assert_int_equal(check(0, UT_OUTPUT_HEAD, &begin), UT_OUTPUT_HEAD);
	assert_int_equal(begin, 0);
	assert_int_equal(check(UT_OUTPUT_HEAD, 16 << 20, &begin), all);
	assert_true(begin > UT_OUTPUT_HEAD && all - begin >= UT_OUTPUT_TAIL);
	assert_true(ut_folder_bytes(kept.at) <= UT_OUTPUT_HEAD + 4 * UT_OUTPUT_TAIL + 4096);
}

UT_TESTS(output_log)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_little_is_all_there, setup, teardown),
		cmocka_unit_test_setup_teardown(of_much_beginning_and_end_are_kept, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
