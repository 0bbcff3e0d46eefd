/* test_device_summary.c - tests src/analyze/device_summary.h with figures worked out by hand */
#include "analyze/device_summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/make_device.h"

#define GPU "DEVICE [Fake] cuda:0 #0"

struct fixture {
	struct device_maker maker;
	struct ut_device_summary summary;
	uint32_t queue, other;
};

static int make(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	make_device_start(&f.maker);
	f.queue = make_queue(&f.maker, GPU, "Stream 7");
	f.other = make_queue(&f.maker, GPU, "Stream 8");
	*state = &f;
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;

	ut_device_summary_release(&f->summary);
	make_device_release(&f->maker);
	return 0;
}

/* The only device's figures. */
static const struct ut_device_use *use_of(struct fixture *f)
{
	make_device_finish(&f->maker);
	ut_device_summary_make(&f->summary, &f->maker.log);
	assert_int_equal(f->summary.use_count, 1);
	return &f->summary.uses[0];
}

static void work(struct fixture *f, uint32_t queue, const char *cat, uint64_t start, uint64_t end)
{
	make_work(&f->maker, queue,
		  &(struct made_work){ .name = "k", .cat = cat, .start = start, .end = end });
}

/*
 * Stream 7   kernel 1000-1400         kernel 1600-2000
 * Stream 8        copy 1300-1500             copy 1900-2100
 * busy 500 + 500 of 1100; kernels 800, copies 400, both 100 + 100.
 */
static void overlapping_work_is_busy_once(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	work(f, f->queue, "kernel", 1000, 1400);
	work(f, f->queue, "kernel", 1600, 2000);
	work(f, f->other, "copy", 1300, 1500);
	work(f, f->other, "copy", 1900, 2100);
	u = use_of(f);
	assert_int_equal(u->last - u->first, 1100);
	assert_int_equal(u->busy, 1000);
	assert_int_equal(u->computing, 800);
	assert_int_equal(u->copying, 400);
	assert_int_equal(u->both, 200);
	assert_int_equal(u->kernels, 2);
	assert_int_equal(u->copies, 2);
	assert_int_equal(u->timed, 0);
	assert_int_equal(u->verdict, UT_VERDICT_DEVICE); /* 91 % */
}

static void markers_are_no_work(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	work(f, f->queue, "kernel", 1000, 1100);
	work(f, f->queue, "sync", 1100, 5000);
	work(f, f->queue, "fill", 1100, 1200);
	u = use_of(f);
	assert_int_equal(u->works, 2);
	assert_int_equal(u->last - u->first, 200);
	assert_int_equal(u->busy, 200);
}

static void launched(struct fixture *f, uint64_t number, uint64_t call, uint64_t start,
		     uint64_t end)
{
	make_call(&f->maker, "CUDA",
		  &(struct made_work){ .name = "cudaLaunchKernel",
				       .start = call,
				       .end = call + 5,
				       .correlation = number });
	make_work(&f->maker, f->queue,
		  &(struct made_work){
			  .name = "k", .start = start, .end = end, .correlation = number });
}

/* Gaps 1100-1500 (submitted at 1490: 390 starved) and 1600-2000 (at 1990: 390 starved). */
static void a_device_that_waits_for_submissions_is_host_bound(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	launched(f, 1, 990, 1000, 1100);
	launched(f, 2, 1490, 1500, 1600);
	launched(f, 3, 1990, 2000, 2100);
	u = use_of(f);
	assert_int_equal(u->busy, 300);
	assert_int_equal(u->starved, 780);
	assert_int_equal(u->verdict, UT_VERDICT_HOST);
	assert_int_equal(u->timed, 3);
	assert_int_equal(u->latency_p50, 10);
	assert_int_equal(u->latency_p99, 10);
	assert_int_equal(u->depth_max, 1);
}

/* All three were submitted before 1000, and the device took its time: 400 + 400 idle. */
static void a_device_that_has_work_and_does_not_start_it_is_latency_bound(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	launched(f, 1, 900, 1000, 1100);
	launched(f, 2, 910, 1500, 1600);
	launched(f, 3, 920, 2000, 2100);
	u = use_of(f);
	assert_int_equal(u->starved, 0);
	assert_int_equal(u->verdict, UT_VERDICT_WAITS);
	assert_int_equal(u->latency_p50, 590);
	assert_int_equal(u->latency_max, 1080);
	/* Two wait from 1000 to 1500, one to 2000: (2 * 500 + 500) / 1100. */
	assert_true(u->depth_mean > 1.363 && u->depth_mean < 1.365);
	assert_int_equal(u->depth_max, 3);
}

/* A runtime's call and the driver's call in it share a number: the outer one counts. */
static void latency_counts_from_the_outermost_call(void **state)
{
	struct fixture *f = *state;

	make_call(&f->maker, "CUDA driver",
		  &(struct made_work){
			  .name = "cuLaunchKernel", .start = 120, .end = 130, .correlation = 1 });
	launched(f, 1, 100, 200, 300);
	assert_int_equal(use_of(f)->latency_p50, 100);
	assert_int_equal(f->maker.log.works[0].thread, 7);
}

static void nearest_rank_percentiles(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	for (uint64_t i = 1; i <= 200; i++)
		launched(f, i, 1000 * i, 1000 * i + i, 1000 * i + 500);
	u = use_of(f);
	assert_int_equal(u->latency_p50, 100);
	assert_int_equal(u->latency_p99, 198);
	assert_int_equal(u->latency_max, 200);
}

static void kernels_are_ranked_with_the_task_that_launched_most_of_them(void **state)
{
	static const struct made_work all[] = {
		{ .name = "small", .start = 1000, .end = 1010, .task = "a" },
		{ .name = "big", .start = 1100, .end = 1300, .task = "b" },
		{ .name = "big", .start = 1400, .end = 1700, .task = "c" },
		{ .name = "big", .start = 1800, .end = 1850, .task = "b" },
		{ .name = "copied", .cat = "copy", .start = 2000, .end = 9000 },
	};
	struct fixture *f = *state;
	const struct ut_device_top *t;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		make_work(&f->maker, f->queue, &all[i]);
	(void)use_of(f);
	t = f->summary.tops;
	assert_int_equal(f->summary.top_count, 2);
	assert_string_equal(ut_strtab_get(&f->maker.log.strings, t[0].name).ptr, "big");
	assert_string_equal(ut_strtab_get(&f->maker.log.strings, t[0].task).ptr, "c");
	assert_int_equal(t[0].calls, 3);
	assert_int_equal(t[0].total, 550);
	assert_int_equal(t[0].task_total, 300);
	assert_int_equal(f->summary.kernel_total, 560);
}

/* Another clock's times, as converted traces have them, are not believed. */
static void times_of_another_clock_are_unknown(void **state)
{
	struct fixture *f = *state;

	make_work(&f->maker, f->queue,
		  &(struct made_work){ .name = "k",
				       .start = UINT64_C(1800000000000000000),
				       .end = UINT64_C(1800000000000000100),
				       .queued = 5000,
				       .submitted = 6000 });
	assert_int_equal(use_of(f)->timed, 0);
	assert_int_equal(f->maker.log.works[0].queued, 0);
}

static void two_devices_are_two_and_overhead_is_none(void **state)
{
	struct fixture *f = *state;
	uint32_t second = make_queue(&f->maker, "DEVICE [Fake] cuda:1 #1", "Stream 7");
	uint32_t overhead = make_queue(&f->maker, GPU, "Overhead");

	work(f, f->queue, "kernel", 1000, 1100);
	work(f, second, "kernel", 1000, 1100);
	work(f, overhead, "other", 1000, 9000);
	make_device_finish(&f->maker);
	ut_device_summary_make(&f->summary, &f->maker.log);
	assert_int_equal(f->summary.use_count, 2);
	assert_int_equal(f->summary.uses[0].busy, 100);
	assert_int_equal(f->summary.uses[1].busy, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(overlapping_work_is_busy_once, make, release),
		cmocka_unit_test_setup_teardown(markers_are_no_work, make, release),
		cmocka_unit_test_setup_teardown(a_device_that_waits_for_submissions_is_host_bound,
						make, release),
		cmocka_unit_test_setup_teardown(
			a_device_that_has_work_and_does_not_start_it_is_latency_bound, make,
			release),
		cmocka_unit_test_setup_teardown(latency_counts_from_the_outermost_call, make,
						release),
		cmocka_unit_test_setup_teardown(nearest_rank_percentiles, make, release),
		cmocka_unit_test_setup_teardown(
			kernels_are_ranked_with_the_task_that_launched_most_of_them, make, release),
		cmocka_unit_test_setup_teardown(times_of_another_clock_are_unknown, make, release),
		cmocka_unit_test_setup_teardown(two_devices_are_two_and_overhead_is_none, make,
						release),
	};

	return cmocka_run_group_tests_name("analyze/device_summary", tests, NULL, NULL);
}
