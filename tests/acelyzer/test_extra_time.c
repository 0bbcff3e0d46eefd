/*
 * test_extra_time.c - tests src/analysis/acelyzer/extra.h: where time and energy of ranks and steps
 * went, and who was late. All expectations were worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_flex.h"
#include "make_run.h"
#include "support/unit.h"

#define US       1000 /* ns */
#define N(array) (sizeof(array) / sizeof((array)[0]))

static void check_split(const struct ut_ace_split *s, const int64_t us[UT_ACE_PARTS])
{
	int64_t sum = 0;

	for (int i = 0; i < UT_ACE_PARTS; i++) {
		assert_int_equal(s->part[i], us[i] * US);
		sum += s->part[i];
	}
	assert_int_equal(s->length, sum);
}

static void parts_add_up_and_hide_each_other(void **state)
{
	static const struct flex_span spans[] = {
		{ "a_in DmaI", 0, 100, 110, NULL, NULL, 0 },
		{ "a Cmpt Prep", 0, 110, 115, NULL, NULL, 0 },
		{ "a Cmpt Exec", 0, 115, 165, NULL, NULL, 0 },
		/* 5 us of it lie behind the kernel, 15 us do not */
		{ "SenRdmaSend_1 [sync=g_s0_r1_0] DmaO", 0, 160, 180, "AllReduce_all_reduce_1", "1",
		  0 },
		{ "a_out DmaO", 0, 190, 195, NULL, NULL, 0 },
		{ "b_in DmaI", 1, 100, 130, NULL, NULL, 0 }, /* 10 us behind the kernel */
		{ "b Cmpt Exec", 1, 120, 140, NULL, NULL, 0 },
		{ "b Cmpt Exec", 1, 130, 150, NULL, NULL, 0 }, /* at the same time counts once */
	};
	static const int64_t first[] = { 50, 15, 15, 5, 10 }, second[] = { 30, 0, 20, 0, 0 };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run(&a, &x, spans, N(spans));
	assert_int_equal(x.rank_count, 2);
	check_split(&x.ranks[0].all, first);
	check_split(&x.ranks[1].all, second);
	assert_int_equal(x.ranks[0].all.whole[UT_ACE_WORK_COMM], 20 * US);
	assert_int_equal(x.ranks[1].all.whole[UT_ACE_WORK_TRANSFER], 30 * US);
	assert_int_equal(x.ranks[0].step_count, 1);
	assert_int_equal(x.ranks[0].source, UT_ACE_STEPS_RUN);
	check_split(&x.ranks[0].steps[0].split, first);
	ut_ace_extra_release(&x);
	ut_ace_release(&a);
}

/* Five iterations of four kernels and a collective: 60 us each; rank 1 computes 5 us longer. */
static size_t make_iterations(struct flex_span *spans, char names[][64])
{
	static const char *const kernels[] = { "k Cmpt Exec", "l Cmpt Exec", "m Cmpt Exec",
					       "n Cmpt Exec" };
	size_t n = 0;

	for (int step = 0; step < 5; step++) {
		for (int rank = 0; rank < 2; rank++) {
			double at = 1000 + 60 * step;

			for (int k = 0; k < 4; k++) {
				double dur = k == 3 && rank ? 15 : 10;

				spans[n++] = (struct flex_span){ kernels[k], rank, at, at + dur,
								 NULL,       NULL, 0 };
				at += dur;
			}
			snprintf(names[n], sizeof(names[n]), "SenRdmaSend_%d [sync=g_r%d] DmaO",
				 10 + rank, rank);
			spans[n] = (struct flex_span){ names[n],
						       rank,
						       at,
						       1055 + 60 * step,
						       "AllReduce_all_reduce_1",
						       rank ? "0" : "1",
						       0 };
			n++;
		}
	}
	return n;
}

static void iterations_are_steps_and_the_slow_rank_is_found(void **state)
{
	static const int64_t quick[] = { 40, 15, 0, 0, 5 }, slow[] = { 45, 10, 0, 0, 5 };
	struct flex_span spans[64];
	char names[64][64];
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run(&a, &x, spans, make_iterations(spans, names));
	assert_int_equal(x.rank_count, 2);
	for (int rank = 0; rank < 2; rank++) {
		const struct ut_ace_extra_rank *r = &x.ranks[rank];

		assert_int_equal(r->source, UT_ACE_STEPS_ITERATIONS);
		assert_int_equal(r->step_count, 5);
		for (int i = 0; i < 4; i++)
			check_split(&r->steps[i].split, rank ? slow : quick);
		assert_int_equal(r->steps[4].split.length, 55 * US); /* ends with the work */
		assert_int_equal(r->step.seen, 5);
	}
	/* without communication 45 against 50 us, so 2.5 us on both sides of the median */
	assert_int_equal(x.ranks[0].step_excess, -2500);
	assert_int_equal(x.ranks[1].step_excess, 2500);
	assert_int_equal(x.ranks[1].step.last, 5);
	assert_int_equal(x.ranks[1].step.most, 5 * US);
	assert_false(x.ranks[0].straggler);
	assert_true(x.ranks[1].straggler);

	/* five collectives of the same name, the slow rank last to each by 5 us */
	assert_int_equal(x.coll_count, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(x.colls[i].ranks, 2);
		assert_int_equal(x.colls[i].last_rank, 1);
		assert_int_equal(x.colls[i].late, 5 * US);
	}
	assert_int_equal(x.ranks[1].coll.last, 5);
	assert_int_equal(x.ranks[0].coll.last, 0);
	assert_int_equal(a.issues[UT_ACE_ISSUE_COLL_LACKS], 0);
	assert_int_equal(a.issues[UT_ACE_ISSUE_MISSING_RANK], 0);
	ut_ace_extra_release(&x);
	ut_ace_release(&a);
}

/* A receive that waits while the kernel is still at work: the rank comes when that has ended. */
static void posted_receives_are_no_arrival(void **state)
{
	static const struct flex_span spans[] = {
		{ "k Cmpt Exec", 0, 100, 120, NULL, NULL, 0 },
		{ "SenRdmaSend_1 [sync=g] DmaO", 0, 120, 150, "AllReduce_all_reduce_1", "1", 0 },
		{ "SenRdmaReceive_2 [sync=g] DmaI", 1, 100, 150, "AllReduce_all_reduce_1", "0", 0 },
		{ "k Cmpt Exec", 1, 101, 130, NULL, NULL, 0 },
		{ "SenRdmaReceive_3 [sync=g] DmaI", 2, 110, 150, "AllReduce_all_reduce_1", "0", 0 },
		{ "k Cmpt Exec", 2, 90, 100, NULL, NULL, 0 },
	};
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run(&a, &x, spans, N(spans));
	assert_int_equal(x.coll_count, 1);
	assert_int_equal(x.colls[0].ranks, 3);
	assert_int_equal(x.colls[0].last_rank, 1); /* at 130, the others at 120 and 110 */
	assert_int_equal(x.colls[0].late, 15 * US);
	assert_int_equal(x.colls[0].last - x.colls[0].first, 20 * US);
	ut_ace_extra_release(&x);
	ut_ace_release(&a);
}

static const struct ut_ace_kernel *kernel(const struct ut_ace_analysis *a,
					  const struct ut_ace_extra *x, const char *name)
{
	for (size_t i = 0; i < x->kernel_count; i++) {
		if (!strcmp(ut_ace_str(&a->table, x->kernels[i].name).ptr, name))
			return &x->kernels[i];
	}
	return NULL;
}

/* Power is charge between two readings; a reading is taken when a kernel ends. */
static void energy_is_power_over_the_kernel(void **state)
{
	static const struct flex_span spans[] = {
		{ "a Cmpt Exec", 0, 100, 120, NULL, NULL, 1000000 },
		{ "b_1 Cmpt Exec", 0, 130, 150, NULL, NULL, 5000000 },
		{ "b_2 Cmpt Exec", 0, 150, 160, NULL, NULL, 7000000 },
	};
	/* W between 120 and 150, and between 150 and 160 */
	double first = 12 * 4e6 * (5.37 / 512) / (30 * 1000);
	double second = 12 * 2e6 * (5.37 / 512) / (10 * 1000);
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run(&a, &x, spans, N(spans));
	assert_true(x.has_power);
	assert_int_equal(x.kernel_count, 2);
	assert_near(kernel(&a, &x, "a Cmpt Exec")->energy, 0, 1e-12);
	assert_near(kernel(&a, &x, "b_[N] Cmpt Exec")->energy, first * 20e-6 + second * 10e-6,
		    1e-12);
	assert_near(x.ranks[0].energy, first * 30e-6 + second * 10e-6, 1e-12);
	assert_near(x.ranks[0].active, first * 20e-6 + second * 10e-6, 1e-12);
	assert_near(x.ranks[0].steps[0].energy, x.ranks[0].energy, 1e-12);
	assert_int_equal(kernel(&a, &x, "b_[N] Cmpt Exec")->calls, 2);
	assert_near(kernel(&a, &x, "b_[N] Cmpt Exec")->total, 30, 1e-9);
	assert_near(kernel(&a, &x, "b_[N] Cmpt Exec")->median, 15, 1e-9);
	ut_ace_extra_release(&x);
	ut_ace_release(&a);
}

/* Torch: ranks from the file, steps from the profiler, collectives by name. */
static void torch_steps_are_the_profilers(void **state)
{
	static const char text[] =
		"{\"deviceProperties\":[{\"id\":0}],\"distributedInfo\":{\"rank\":3},"
		"\"traceEvents\":["
		"{\"name\":\"ProfilerStep#1\",\"cat\":\"user_annotation\",\"ph\":\"X\",\"pid\":77,"
		"\"tid\":1,\"ts\":1000,\"dur\":100,\"args\":{}},"
		"{\"name\":\"mm\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":0,\"tid\":2,\"ts\":1010,"
		"\"dur\":50,\"args\":{\"correlation\":1}},"
		"{\"name\":\"HCOLL AllReduce\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":0,\"tid\":3,"
		"\"ts\":1050,\"dur\":30,\"args\":{\"correlation\":2}},"
		"{\"name\":\"Memcpy (HtoD)\",\"cat\":\"gpu_memcpy\",\"ph\":\"X\",\"pid\":0,"
		"\"tid\":4,\"ts\":1090,\"dur\":20,\"args\":{\"correlation\":3}},"
		"{\"name\":\"ProfilerStep#2\",\"cat\":\"user_annotation\",\"ph\":\"X\",\"pid\":77,"
		"\"tid\":1,\"ts\":1100,\"dur\":20,\"args\":{}}]}";
	static const int64_t first[] = { 50, 20, 10, 0, 20 }, second[] = { 0, 0, 10, 0, 10 };
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run_text(&a, &x, &opts, text);
	assert_int_equal(x.rank_count, 1);
	assert_int_equal(x.ranks[0].rank, 3);
	assert_int_equal(x.ranks[0].source, UT_ACE_STEPS_PROFILER);
	assert_int_equal(x.ranks[0].step_count, 2);
	check_split(&x.ranks[0].steps[0].split, first);
	check_split(&x.ranks[0].steps[1].split, second);
	assert_int_equal(x.coll_count, 1);
	assert_int_equal(x.kernel_count, 2);
	assert_false(x.has_power);
	ut_ace_extra_release(&x);
	ut_ace_release(&a);
}

static void nothing_gives_nothing(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run_text(&a, &x, &opts, "[]");
	assert_int_equal(x.rank_count, 0);
	assert_int_equal(x.kernel_count, 0);
	ut_ace_extra_release(&x);
	ut_ace_release(&a);
}

UT_TESTS(extra_time)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_and_hide_each_other),
		cmocka_unit_test(iterations_are_steps_and_the_slow_rank_is_found),
		cmocka_unit_test(posted_receives_are_no_arrival),
		cmocka_unit_test(energy_is_power_over_the_kernel),
		cmocka_unit_test(torch_steps_are_the_profilers),
		cmocka_unit_test(nothing_gives_nothing),
	};

	return cmocka_run_group_tests_name("acelyzer/extra_time", tests, NULL, NULL);
}
