/* test_read_log.c - tests src/analysis/tt/read_log.h and log_columns.h: rows, lanes, their order,
 * and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "support/unit.h"
#include "tt/log_columns.h"
#include "tt/logs.h"

#define ROWS                                                                                       \
	"0, 1, 0, NCRISC, 1, 50\n"                                                                 \
	"0, 1, 0, BRISC, 2, 90\n"                                                                  \
	"0, 0, 5, BRISC, 1, 40\n"                                                                  \
	"0, 1, 0, BRISC, 1, 60\n"                                                                  \
	"0, 1, 0, NCRISC, 9, 50\n"

static struct ut_tt_log read_good(const char *text, size_t step)
{
	struct ut_err err = { 0 };
	struct ut_tt_log log;

	assert_int_equal(ut_test_read(&log, text, step, &err), 0);
	assert_string_equal(err.text, "");
	return log;
}

static void lanes_come_core_by_core_in_order_of_appearance(void **state)
{
	struct ut_tt_log log = read_good(OLD_HEAD ROWS, SIZE_MAX);

	(void)state;
	assert_int_equal(log.chip_count, 1);
	assert_int_equal(log.core_count, 2);
	assert_int_equal(log.lane_count, 3);
	assert_int_equal(log.cores[0].x, 1);
	assert_int_equal(log.cores[1].y, 5);
	assert_true(ut_tt_is(&log, log.riscs[log.lanes[0].risc].name, "NCRISC"));
	assert_int_equal(log.mhz, 1000);
	ut_tt_log_release(&log);
}

static void every_lane_begins_with_t0_and_keeps_equal_times_as_they_came(void **state)
{
	struct ut_tt_log log = read_good(OLD_HEAD ROWS, SIZE_MAX);
	const struct ut_tt_row *r = &log.rows[log.lanes[0].first];

	(void)state;
	assert_int_equal(log.chips[0].t0, 40);
	assert_int_equal(log.lanes[0].count, 3);
	assert_int_equal(r[0].ts, 40);
	assert_int_equal(log.marks[r[0].mark].id, 0);
	assert_int_equal(log.marks[r[1].mark].id, 1);
	assert_int_equal(log.marks[r[2].mark].id, 9);
	ut_tt_log_release(&log);
}

static void a_chip_is_ordered_by_time_then_by_lane(void **state)
{
	static const uint64_t want[] = { 40, 40, 40, 40, 50, 50, 60, 90 };
	struct ut_tt_log log = read_good(OLD_HEAD ROWS, SIZE_MAX);

	(void)state;
	assert_int_equal(log.row_count, 8);
	for (uint32_t i = 0; i < 8; i++) {
		const struct ut_tt_row *row = &log.rows[log.by_chip[i]];

		assert_int_equal(row->ts, want[i]);
		if (i < 3)
			assert_int_equal(row->lane, i); /* their T0 */
	}
	ut_tt_log_release(&log);
}

static void the_size_of_reads_does_not_matter(void **state)
{
	(void)state;
	for (size_t step = 1; step < 70; step++) {
		struct ut_tt_log log = read_good(OLD_HEAD ROWS, step);

		assert_int_equal(log.row_count, 8);
		ut_tt_log_release(&log);
	}
}

static void rows_of_one_marker_share_a_mark(void **state)
{
	struct ut_tt_log log =
		read_good(ZONE_HEAD "0,1,1,BRISC,7,100,0,1024,,,A,ZONE_START,1,f.cc,\n"
				    "0,2,1,BRISC,7,110,5,1024,,,A,ZONE_START,1,f.cc,\n"
				    "0,2,1,BRISC,7,120,5,2048,3,1,A,ZONE_END,1,f.cc,{\"a\":1}\n",
			  SIZE_MAX);

	(void)state;
	assert_true(log.zones);
	assert_int_equal(log.max_cores, 64);
	assert_int_equal(log.mark_count, 2);
	assert_int_equal(log.rows[1].data, 5);
	assert_int_equal(log.marks[0].trace, -1);
	assert_int_equal(log.marks[1].trace, 3);
	assert_int_equal(log.marks[1].replay, 1);
	assert_int_equal(log.marks[1].host, 2048);
	assert_int_equal(log.marks[1].phase, UT_TT_END);
	assert_true(ut_tt_is(&log, log.marks[1].meta, "{\"a\":1}"));
	ut_tt_log_release(&log);
}

static void what_lacks_its_other_half_is_counted(void **state)
{
	struct ut_tt_log log =
		read_good(OLD_HEAD "0, 0, 0, BRISC, 1, 10\n0, 0, 0, BRISC, 3, 20\n"
				   "0, 0, 0, NCRISC, 1, 10\n0, 0, 0, NCRISC, 4, 20\n",
			  SIZE_MAX);

	(void)state;
	assert_int_equal(log.doubts.no_end, 1);
	assert_int_equal(log.doubts.no_start, 1);
	assert_int_equal(log.doubts.lanes, 1);
	assert_int_equal(log.doubts.worst, 0);
	ut_tt_log_release(&log);
}

static void errors_name_the_line(void **state)
{
	static const char *const bad[][2] = {
		{ OLD_HEAD "0, 0, 0, BRISC, 1, 1\n0, 0, 0, BRISC, 1\n", "test.csv:4: 5 fields" },
		{ OLD_HEAD "0, 0, 0, BRISC, 1, x", "test.csv:3: not a time" },
		{ OLD_HEAD "0, 0, 0, BRISC, , 1", "test.csv:3: not a timer" },
		{ "\n\nnonsense", "test.csv:3: not a device log" },
		{ "", "test.csv: empty" },
		{ OLD_HEAD, "test.csv:2: no rows" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };
		struct ut_tt_log log;

		assert_true(ut_test_read(&log, bad[i][0], SIZE_MAX, &err) < 0);
		assert_memory_equal(err.text, bad[i][1], strlen(bad[i][1]));
		ut_tt_log_release(&log);
	}
}

static void fields_are_trimmed_and_may_be_quoted(void **state)
{
	static const char line[] = " a ,\"b,c\", , d,e";
	struct ut_str f[4];

	(void)state;
	assert_int_equal(ut_tt_split(line, strlen(line), f, 4), 4);
	assert_memory_equal(f[0].ptr, "a", f[0].len);
	assert_int_equal(f[1].len, 3);
	assert_int_equal(f[2].len, 0);
	assert_int_equal(f[3].len, 3); /* the last one takes the rest */
}

UT_TESTS(read_log)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_come_core_by_core_in_order_of_appearance),
		cmocka_unit_test(every_lane_begins_with_t0_and_keeps_equal_times_as_they_came),
		cmocka_unit_test(a_chip_is_ordered_by_time_then_by_lane),
		cmocka_unit_test(the_size_of_reads_does_not_matter),
		cmocka_unit_test(rows_of_one_marker_share_a_mark),
		cmocka_unit_test(what_lacks_its_other_half_is_counted),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(fields_are_trimmed_and_may_be_quoted),
	};

	return cmocka_run_group_tests_name("tt/read_log", tests, NULL, NULL);
}
