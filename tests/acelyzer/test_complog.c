/* test_complog.c - tests src/analysis/acelyzer/complog.h with logs made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/complog.h"
#include "support/unit.h"

struct fixture {
	struct ut_ace_table t;
	struct ut_ace_messages m;
	struct ut_ace_complog log;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ 0 };
	ut_ace_table_init(&f.t);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ut_ace_complog_release(&f->log);
	ut_ace_messages_release(&f->m);
	ut_ace_table_release(&f->t);
	return 0;
}

static void parse(struct fixture *f, const char *text, enum ut_ace_release release)
{
	struct ut_ace_complog_reader r = {
		.table = &f->t, .messages = &f->m, .core = 800, .release = release
	};

	ut_ace_complog_release(&f->log);
	ut_ace_complog_text(&r, &f->log, text, strlen(text));
}

static double cycles(struct fixture *f, size_t table, const char *kernel)
{
	const struct ut_ace_ideal *t = &f->log.tables[table];
	uint32_t at = ut_idmap_get(&t->place, ut_strtab_intern_z(&f->t.strings, kernel));

	return at ? t->cycles[at - 1] : -1;
}

static const char *category(struct fixture *f, const struct ut_ace_catmap *m, const char *kernel)
{
	return ut_ace_str(&f->t, ut_idmap_get(&m->map, ut_strtab_intern_z(&f->t.strings, kernel)))
		.ptr;
}

static const char one[] = "noise 5\n"
			  "~~~~ Ideal/Total Cycles ~~~~\n"
			  "-----\n"
			  "Name            Ideal Cy.\n"
			  "mul_1-opCatBroadcast   0   \n"
			  "addmm-BMM_1-opCatBmm_fp16   27648\n"
			  "view-NA  17\n"
			  "x-LxPreload-opCatFoo  9\n"
			  "add_Precompute-opCatFoo  9\n"
			  "tab-opCatFoo\t9\n"
			  "two words 9\n"
			  "Total   27665\n"
			  "====== Perf Summary End ======\n"
			  "late-opCatFoo  3\n";

static void rows_give_kernel_category_and_cycles(void **state)
{
	struct fixture *f = *state;

	parse(f, one, UT_ACE_1_0);
	assert_int_equal(f->log.table_count, 1);
	assert_true(f->log.single);
	assert_int_equal(f->log.tables[0].kernel_count, 3);
	assert_true(cycles(f, 0, "addmm-BMM_1 Cmpt Exec") == 27648);
	assert_true(cycles(f, 0, "view Cmpt Exec") == 17);
	assert_true(cycles(f, 0, "mul_1 Cmpt Exec") == -1); /* 0 is remembered for its category */
	assert_string_equal(category(f, &f->log.cats, "mul_1 Cmpt Exec"), "Broadcast");
	assert_string_equal(category(f, &f->log.cats, "view Cmpt Exec"), "NotAvailable");
	assert_string_equal(category(f, &f->log.cats, "late Cmpt Exec"), "");
	assert_true(cycles(f, 0, "Total Cmpt Exec") == -1);
}

static void release_1_2_counts_the_total_and_knows_phases(void **state)
{
	struct fixture *f = *state;

	parse(f,
	      "  PREFILL  \n~~ Ideal/Total Cycles ~~\na-opCatX 100\nTotal 100\n"
	      "====== Perf Summary End ======\n DECODING \n"
	      "~~ Ideal/Total Cycles ~~\na-opCatX 50\n====== Perf Summary End ======\n",
	      UT_ACE_1_2);
	assert_int_equal(f->log.table_count, 2);
	assert_string_equal(f->log.tables[0].phase, "TTFT");
	assert_string_equal(f->log.tables[1].phase, "ITL");
	assert_true(cycles(f, 0, "Total Cmpt Exec") == 100);
	assert_true(f->log.tables[0].time == 200 / 800.0);
	assert_string_equal(category(f, f->log.tables[0].cats, "Total Cmpt Exec"), "Total");
}

static void a_table_without_an_end_does_not_count(void **state)
{
	struct fixture *f = *state;

	parse(f, "~~ Ideal/Total Cycles ~~\na-opCatX 100\n", UT_ACE_1_0);
	assert_int_equal(f->log.table_count, 0);
	assert_false(f->log.single);
}

static void the_same_table_twice_is_one(void **state)
{
	struct fixture *f = *state;

	parse(f,
	      "~~ Ideal/Total Cycles ~~\na-opCatX 1\n====== Perf Summary End ======\n"
	      "~~ Ideal/Total Cycles ~~\na-opCatX 1\n====== Perf Summary End ======\n",
	      UT_ACE_1_2);
	assert_int_equal(f->log.table_count, 1);
	assert_int_equal(f->log.started, 2);
}

static void contradictions_are_reported_and_the_first_one_counts(void **state)
{
	struct fixture *f = *state;

	parse(f,
	      "~~ Ideal/Total Cycles ~~\na-opCatX 1\na-opCatY 2\n====== Perf Summary End ======\n",
	      UT_ACE_1_0);
	assert_true(cycles(f, 0, "a Cmpt Exec") == 1);
	assert_string_equal(category(f, &f->log.cats, "a Cmpt Exec"), "X");
	assert_int_equal(f->m.count, 3); /* both contradictions, and the table */
}

static void autopilot_ends_the_log_of_release_1_0(void **state)
{
	struct fixture *f = *state;
	const char *text = "DSM-AutoPilot BEGIN\n~~ Ideal/Total Cycles ~~\nTotal 7\n"
			   "====== Perf Summary End ======\n";

	parse(f, text, UT_ACE_1_0);
	assert_true(f->log.autopilot);
	assert_int_equal(f->log.table_count, 0);
	parse(f, text, UT_ACE_1_2);
	assert_true(f->log.autopilot);
	assert_int_equal(f->log.table_count, 1);
}

static void a_category_may_hold_the_separator_itself(void **state)
{
	struct fixture *f = *state;

	parse(f,
	      "~~ Ideal/Total Cycles ~~\na-opCatX-opCatY 1\nb-opCat 2\n"
	      "====== Perf Summary End ======\n",
	      UT_ACE_1_0);
	assert_string_equal(category(f, &f->log.cats, "a Cmpt Exec"), "Y");
	assert_string_equal(category(f, &f->log.cats, "b Cmpt Exec"), "NotAvailable");
}

UT_TESTS(complog)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(rows_give_kernel_category_and_cycles),
		TEST(release_1_2_counts_the_total_and_knows_phases),
		TEST(a_table_without_an_end_does_not_count),
		TEST(the_same_table_twice_is_one),
		TEST(contradictions_are_reported_and_the_first_one_counts),
		TEST(autopilot_ends_the_log_of_release_1_0),
		TEST(a_category_may_hold_the_separator_itself),
	};

	return cmocka_run_group_tests_name("acelyzer/complog", tests, NULL, NULL);
}
