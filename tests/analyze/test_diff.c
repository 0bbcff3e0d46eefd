/* test_diff.c - tests src/analysis/analyze/diff.h, diff_rule.h and diff_test.h. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/diff.h"
#include "analyze/diff_rule.h"
#include "analyze/diff_test.h"
#include "analyze/make_store.h"
#include "support/unit.h"

#define BY_NAME (1u << UT_BY_NAME)

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 + 1e-4 * fabs(b);
}

/* ---- tests of statistics ------------------------------------------------------------------- */

static void student_agrees_with_tables(void **state)
{
	(void)state;
	assert_true(near(ut_test_student(12.706, 1), 0.05));
	assert_true(near(ut_test_student(2.776, 4), 0.0500228));
	assert_true(near(ut_test_student(-8.610, 4), 0.001));
	assert_true(near(ut_test_student(1.96, 1e7), 0.049996));
	assert_true(ut_test_student(0, 5) == 1);
}

static void welch_finds_what_is_there(void **state)
{
	const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6 };
	const double b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2 };
	const double same[] = { 5, 5, 5 };

	(void)state;
	assert_true(near(ut_test_welch(a, 10, b, 10), 0.0592537)); /* t = -2.036, df = 15.5 */
	assert_true(ut_test_welch(a, 10, a, 10) == 1);
	assert_true(ut_test_welch(same, 3, same, 2) == 1);
	assert_true(ut_test_welch(same, 3, b, 1) == 0);
	assert_true(ut_test_welch(a, 1, b, 1) == 1);
}

static void add_all(struct ut_dist *d, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ut_dist_add(d, values[i]);
	ut_dist_finalize(d);
}

static void ranks_agree_with_counting_by_hand(void **state)
{
	const uint64_t x[] = { 19, 22, 16, 29, 24 }, y[] = { 20, 11, 17, 12 };
	struct ut_dist a = { 0 }, b = { 0 };
	double above, p;

	(void)state;
	add_all(&a, x, 5);
	add_all(&b, y, 4);
	p = ut_test_ranks(&a, &b, &above);
	assert_true(near(above, 3.0 / 20)); /* 20 > 19, 16; 17 > 16 */
	assert_true(near(p, 0.1113469));    /* z = (7 - 0.5) / 4.0825 */
	assert_true(ut_test_ranks(&a, &a, &above) == 1);
	assert_true(above == 0.5);
	ut_dist_release(&a);
	ut_dist_release(&b);
}

static void ranks_do_not_care_how_values_are_kept(void **state)
{
	struct ut_dist few = { 0 }, many = { 0 };
	double above, p;
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 4000; i++)
		ut_dist_add(&few, 1000 + make_random(&seed) % 1000);
	for (int i = 0; i < 9000; i++)
		ut_dist_add(&many, 1000 + make_random(&seed) % 1000);
	ut_dist_finalize(&few);
	p = ut_test_ranks(&few, &many, &above);
	assert_true(p > 0.01 && fabs(above - 0.5) < 0.02);
	ut_dist_release(&many);
	for (int i = 0; i < 9000; i++)
		ut_dist_add(&many, 1100 + make_random(&seed) % 1000);
	p = ut_test_ranks(&few, &many, &above);
	assert_true(p < 1e-10 && above > 0.55);
	p = ut_test_ranks(&many, &few, &above);
	assert_true(p < 1e-10 && above < 0.45);
	ut_dist_release(&few);
	ut_dist_release(&many);
}

static void many_tests_are_adjusted(void **state)
{
	double p[] = { 0.01, 0.04, -1, 0.03, 0.8 };

	(void)state;
	ut_test_adjust(p, 5);
	assert_true(near(p[0], 0.04));
	assert_true(near(p[1], 0.16 / 3));
	assert_true(near(p[3], 0.16 / 3));
	assert_true(p[2] == -1 && near(p[4], 0.8));
}

/* ---- differences --------------------------------------------------------------------------- */

/* A run with count spans of each name; those of "hot" last factor times as long. */
static void add_run(struct ut_diff_side *side, uint64_t seed, int count, double factor,
		    const char *extra)
{
	struct ut_store store;
	struct ut_stats run;
	struct maker m;
	uint64_t ts = 0;
	uint32_t track;

	make_start(&m);
	track = make_track(&m, UT_TRACK_THREAD, 1, "main");
	for (int i = 0; i < count; i++) {
		uint64_t length = 10000 + make_random(&seed) % 4000;

		make_span(&m, track, "hot", ts, (uint64_t)((double)length * factor));
		make_span(&m, track, "cold", ts + 50000, 9000 + make_random(&seed) % 4000);
		ts += 100000;
	}
	if (extra)
		make_span(&m, track, extra, ts, 1000);
	make_finish(&m, &store);
	ut_stats_init(&run, BY_NAME);
	ut_stats_add(&run, &store, NULL, 1);
	ut_diff_side_add(side, &run);
	ut_stats_release(&run);
	ut_store_release(&store);
}

struct fixture {
	struct ut_diff_side before, after;
	struct ut_diff d;
	struct ut_diff_rules rules;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ut_diff_side_init(&f->before, BY_NAME);
	ut_diff_side_init(&f->after, BY_NAME);
	f->rules.least = UT_SIGNIFICANCE_LIKELY;
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_diff_release(&f->d);
	ut_diff_rules_release(&f->rules);
	ut_diff_side_release(&f->before);
	ut_diff_side_release(&f->after);
	free(f);
	return 0;
}

static const struct ut_diff_row *row(struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->d.count; i++) {
		const uint32_t *key;
		const struct ut_stats *s = ut_diff_texts(&f->d, &f->d.rows[i], &key);

		if (!strcmp(ut_strtab_get(&s->strings, key[UT_BY_NAME]).ptr, name))
			return &f->d.rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static void one_run_each_shows_how_far_apart_calls_are(void **state)
{
	struct fixture *f = *state;

	add_run(&f->before, 1, 3000, 1, NULL);
	add_run(&f->after, 2, 3000, 1.2, NULL);
	ut_diff_make(&f->d, &f->before, &f->after, 1);
	assert_false(f->d.by_runs);
	assert_int_equal(f->d.count, 2);
	assert_ptr_equal(&f->d.rows[0], row(f, "hot")); /* the larger change is first */
	assert_int_equal(row(f, "hot")->significance, UT_SIGNIFICANCE_SURE);
	assert_int_equal(row(f, "cold")->significance, UT_SIGNIFICANCE_NOISE);
	assert_true(row(f, "hot")->above > 0.8);
	assert_true(near(row(f, "hot")->new[UT_DIFF_METRIC_COUNT], 3000));
}

/* However many calls there are: 1 % is not much in their spread. */
static void a_slight_shift_of_many_calls_is_alike(void **state)
{
	struct fixture *f = *state;

	add_run(&f->before, 1, 60000, 1, NULL);
	add_run(&f->after, 2, 60000, 1.01, NULL);
	ut_diff_make(&f->d, &f->before, &f->after, 1);
	assert_true(row(f, "hot")->p < 0.001);
	assert_int_equal(row(f, "hot")->significance, UT_SIGNIFICANCE_NOISE);
}

static void a_few_calls_prove_nothing(void **state)
{
	struct fixture *f = *state;

	add_run(&f->before, 1, 2, 1, NULL);
	add_run(&f->after, 2, 2, 3, NULL);
	ut_diff_make(&f->d, &f->before, &f->after, 1);
	assert_true(row(f, "hot")->above == 1);
	assert_int_equal(row(f, "hot")->significance, UT_SIGNIFICANCE_NOISE);
}

static void runs_are_averaged_and_compared(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 4; i++) {
		add_run(&f->before, i, 500, 1, NULL);
		add_run(&f->after, 100 + i, 500, 1.1, NULL);
	}
	ut_diff_make(&f->d, &f->before, &f->after, 1);
	assert_true(f->d.by_runs);
	assert_int_equal(row(f, "hot")->significance, UT_SIGNIFICANCE_SURE);
	assert_int_equal(row(f, "cold")->significance, UT_SIGNIFICANCE_NOISE);
	assert_true(near(row(f, "hot")->old[UT_DIFF_METRIC_COUNT], 500));
	assert_true(row(f, "hot")->old[UT_DIFF_METRIC_TOTAL] < 500 * 14000.0);
}

static void new_and_vanished_names_are_reported(void **state)
{
	struct fixture *f = *state;

	add_run(&f->before, 1, 10, 1, "old");
	add_run(&f->after, 1, 10, 1, "fresh");
	ut_diff_make(&f->d, &f->before, &f->after, 1);
	assert_null(row(f, "old")->after);
	assert_null(row(f, "fresh")->before);
	assert_true(row(f, "old")->p < 0);
	assert_int_equal(row(f, "hot")->significance,
			 UT_SIGNIFICANCE_NOISE); /* nothing has changed */
	ut_diff_release(&f->d);
	ut_diff_make(&f->d, &f->before, &f->after, 2);
	assert_int_equal(f->d.count, 2);
}

static size_t broken(struct fixture *f, const char *rules)
{
	size_t count;

	ut_diff_rules_release(&f->rules);
	f->rules.least = UT_SIGNIFICANCE_LIKELY;
	assert_int_equal(ut_diff_rules_add(&f->rules, rules, NULL), 0);
	free(ut_diff_rules_check(&f->rules, &f->d, &count));
	return count;
}

static void rules_are_about_the_change(void **state)
{
	struct fixture *f = *state;

	add_run(&f->before, 1, 2000, 1, "old");
	add_run(&f->after, 2, 2000, 1.2, "fresh");
	ut_diff_make(&f->d, &f->before, &f->after, 1);
	assert_int_equal(broken(f, "p50>5%"), 1);
	assert_int_equal(broken(f, "p50 > 15%, p50<25%"), 2);
	assert_int_equal(broken(f, "p50>25%"), 0);
	assert_int_equal(broken(f, "total>1ms"), 1);
	assert_int_equal(broken(f, "total>-1ns"), 2); /* hot and fresh */
	assert_int_equal(broken(f, "total<0"), 1);    /* old */
	assert_int_equal(broken(f, "count!=0"), 2);
	assert_int_equal(broken(f, "new"), 1);
	assert_int_equal(broken(f, "new,vanished"), 2);
	assert_int_equal(broken(f, "name~^h:p50>5%,name~^c:p50>5%"), 1);
	assert_int_equal(broken(f, "name~(hot|x\\,y):mean>=1us"), 1);
	assert_int_equal(broken(f, "name~cold:mean!=0"), 0); /* noise */
	f->rules.least = UT_SIGNIFICANCE_NOISE;
	assert_int_equal(ut_diff_rules_add(&f->rules, "name~cold:mean!=0%", NULL), 0);
}

static void rules_that_make_no_sense_are_refused(void **state)
{
	static const char *const bad[] = {
		"",           "p50",       "p50>",   "p50>5",      "p51>5%",      "p50>5%,",
		"p50~5%",     "count>5ms", "name~x", "name~(:new", "total>tenms", "newer",
		"p50>1e400%",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_diff_rules r = { 0 };
		struct ut_err err = { 0 };

		assert_int_equal(ut_diff_rules_add(&r, bad[i], &err), -EINVAL);
		assert_true(err.text[0]);
		ut_diff_rules_release(&r);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

UT_TESTS(diff)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student_agrees_with_tables),
		cmocka_unit_test(welch_finds_what_is_there),
		cmocka_unit_test(ranks_agree_with_counting_by_hand),
		cmocka_unit_test(ranks_do_not_care_how_values_are_kept),
		cmocka_unit_test(many_tests_are_adjusted),
		TEST(one_run_each_shows_how_far_apart_calls_are),
		TEST(a_slight_shift_of_many_calls_is_alike),
		TEST(a_few_calls_prove_nothing),
		TEST(runs_are_averaged_and_compared),
		TEST(new_and_vanished_names_are_reported),
		TEST(rules_are_about_the_change),
		cmocka_unit_test(rules_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests_name("analyze/diff", tests, NULL, NULL);
}
