/* test_durations.c - tests src/analysis/tt/durations.h, ops.h and bars.h: which durations are
 * found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "support/unit.h"
#include "tt/bars.h"
#include "tt/durations.h"
#include "tt/logs.h"

struct world {
	struct ut_tt_log log;
	struct ut_tt_analysis a;
};

static void build(struct world *w, const char *text, const char *setup_name)
{
	struct ut_tt_setup setup;
	struct ut_err err = { 0 };

	assert_int_equal(ut_test_read(&w->log, text, SIZE_MAX, &err), 0);
	assert_true(ut_tt_setup_find(&setup, w->log.zones, setup_name));
	ut_tt_analyze(&w->a, &w->log, &setup);
}

static void drop(struct world *w)
{
	ut_tt_analysis_release(&w->a);
	ut_tt_log_release(&w->log);
}

/* The summary of a rule on the first chip. */
static struct ut_tt_stats stats(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->a.setup.count; i++) {
		if (!strcmp(w->a.setup.rules[i]->name, name))
			return w->a.chips[0].summary[i];
	}
	fail_msg("no rule %s", name);
	return (struct ut_tt_stats){ 0 };
}

#define B(id, ts) "0, 0, 0, BRISC, " #id ", " #ts "\n"
#define N(id, ts) "0, 0, 0, NCRISC, " #id ", " #ts "\n"

static void the_last_start_and_the_first_end_make_a_pair(void **state)
{
	struct world w;

	(void)state;
	build(&w, OLD_HEAD B(1, 1) B(2, 10) B(2, 20) B(3, 25) B(3, 90) B(2, 100) B(3, 107), NULL);
	assert_int_equal(stats(&w, "BRISC kernel start -> BRISC kernel end").count, 2);
	assert_int_equal(stats(&w, "BRISC kernel start -> BRISC kernel end").min, 5);
	assert_int_equal(stats(&w, "BRISC kernel start -> BRISC kernel end").max, 7);
	drop(&w);
}

static void where_start_is_end_every_second_one_ends(void **state)
{
	struct world w;

	(void)state;
	build(&w, OLD_HEAD B(5, 10) B(5, 13) B(5, 20) B(5, 27) B(5, 30), "test_full_buffer");
	assert_int_equal(stats(&w, "Marker Repeat").count, 2);
	assert_int_equal(stats(&w, "Marker Repeat").sum, 3 + 7);
	drop(&w);
}

static void a_launch_begins_with_the_firmware_of_brisc(void **state)
{
	struct world w;

	(void)state;
	build(&w, OLD_HEAD N(1, 5) N(4, 9) B(1, 10) N(1, 12) B(4, 30) N(4, 40) B(1, 100) B(4, 110),
	      NULL);
	assert_int_equal(stats(&w, "ANY RISC FW start -> ANY RISC FW end").count, 2);
	assert_int_equal(stats(&w, "ANY RISC FW start -> ANY RISC FW end").max, 30);
	assert_int_equal(stats(&w, "BRISC FW start -> ANY RISC FW end").max, 105);
	assert_int_equal(stats(&w, "T0 -> ANY RISC FW end").max, 105);
	drop(&w);
}

static void the_median_of_a_chip_is_that_of_the_medians(void **state)
{
	struct world w;

	(void)state;
	build(&w,
	      OLD_HEAD B(2, 0) B(3, 1) B(2, 10) B(3, 13) B(2, 20)
		      B(3, 30) "0, 1, 0, BRISC, 2, 0\n0, 1, 0, BRISC, 3, 100\n",
	      NULL);
	assert_float_equal(stats(&w, "BRISC kernel start -> BRISC kernel end").median, 51.5, 0);
	assert_float_equal(stats(&w, "BRISC kernel start -> BRISC kernel end").average, 28.5, 0);
	drop(&w);
}

#define Z(x, ts, op, zone, phase)                                                                  \
	"0," #x ",1,BRISC,7," #ts ",0," #op ",,," zone ",ZONE_" phase ",1,f.cc,\n"
#define OP(x, from, to, op)                                                                        \
	Z(x, from, op, "BRISC-FW", "START")                                                        \
	Z(x, from, op, "BRISC-KERNEL", "START")                                                    \
	Z(x, to, op, "BRISC-KERNEL", "END") Z(x, to, op, "BRISC-FW", "END")

static void an_op_ends_when_all_its_cores_have_ended(void **state)
{
	struct world w;

	(void)state;
	build(&w,
	      ZONE_HEAD OP(1, 100, 200, 1024) OP(2, 110, 230, 1024) OP(1, 300, 310, 1024)
		      OP(2, 300, 320, 1024) OP(1, 400, 450, 2048),
	      NULL);
	assert_int_equal(w.a.chips[0].ops.count, 3);
	assert_int_equal(stats(&w, "device_fw_duration").count, 3);
	assert_int_equal(stats(&w, "device_fw_duration").max, 130);
	assert_int_equal(stats(&w, "device_fw_duration").min, 20);
	assert_int_equal(stats(&w, "device_kernel_duration_per_core").count, 5);
	assert_int_equal(w.log.doubts.again, 0);
	drop(&w);
}

static void an_op_that_never_ends_is_left_out(void **state)
{
	struct world w;

	(void)state;
	build(&w, ZONE_HEAD OP(1, 100, 200, 1024) Z(1, 300, 2048, "BRISC-FW", "START"), NULL);
	assert_int_equal(w.a.chips[0].ops.count, 1);
	assert_int_equal(w.log.doubts.no_end, 1);
	drop(&w);
}

/* What is left of an op is told with the next one, as the original does. */
static void a_duration_may_be_negative(void **state)
{
	struct world w;

	(void)state;
	build(&w,
	      ZONE_HEAD Z(1, 100, 1024, "BRISC-FW", "START")
		      Z(1, 900, 1024, "BRISC-KERNEL", "START") Z(1, 150, 2048, "BRISC-FW", "START")
			      Z(1, 160, 2048, "BRISC-KERNEL", "START")
				      Z(1, 180, 2048, "BRISC-KERNEL", "END")
					      Z(1, 200, 2048, "BRISC-FW", "END"),
	      NULL);
	assert_int_equal(w.a.chips[0].ops.count, 1);
	assert_int_equal(stats(&w, "device_fw_duration").max, 100);
	assert_int_equal(stats(&w, "device_kernel_duration").max, -720);
	assert_int_equal(stats(&w, "device_kernel_duration").sum, -720);
	drop(&w);
}

static void spans_nest_and_what_is_open_reaches_to_the_end(void **state)
{
	struct ut_tt_bars bars = { 0 };
	struct world w;

	(void)state;
	build(&w,
	      ZONE_HEAD Z(1, 10, 0, "A", "START") Z(1, 20, 0, "B", "START") Z(1, 25, 0, "X", "END")
		      Z(1, 30, 0, "A", "END") Z(1, 40, 0, "C", "START") Z(1, 50, 0, "Y", "END"),
	      NULL);
	ut_tt_bars_spans(&bars, &w.log, &w.log.lanes[0]);
	assert_int_equal(bars.count, 3);
	assert_int_equal(bars.items[0].cycles, 20);
	assert_false(bars.items[0].implicit_end);
	assert_int_equal(bars.items[1].depth, 1);
	assert_int_equal(bars.items[1].cycles, 10);
	assert_true(bars.items[1].implicit_end);
	assert_int_equal(bars.items[2].cycles, 10);
	assert_int_equal(bars.items[2].end_row, UINT32_MAX);
	ut_tt_bars_release(&bars);
	drop(&w);
}

UT_TESTS(durations)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_start_and_the_first_end_make_a_pair),
		cmocka_unit_test(where_start_is_end_every_second_one_ends),
		cmocka_unit_test(a_launch_begins_with_the_firmware_of_brisc),
		cmocka_unit_test(the_median_of_a_chip_is_that_of_the_medians),
		cmocka_unit_test(an_op_ends_when_all_its_cores_have_ended),
		cmocka_unit_test(an_op_that_never_ends_is_left_out),
		cmocka_unit_test(a_duration_may_be_negative),
		cmocka_unit_test(spans_nest_and_what_is_open_reaches_to_the_end),
	};

	return cmocka_run_group_tests_name("tt/durations", tests, NULL, NULL);
}
