/* test_device_summary.c - tests src/analysis/analyze/device_summary.h with figures worked out by
 * hand */
#include "analyze/device_summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/make_device.h"
#include "support/unit.h"

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
	assert_int_equal(u->window, 1100);
	assert_int_equal(u->busy, 1000);
	assert_int_equal(u->computing, 800);
	assert_int_equal(u->copying, 400);
	assert_int_equal(u->both, 200);
	assert_int_equal(u->kernels, 2);
	assert_int_equal(u->copies, 2);
	assert_int_equal(u->timed, 0);
	assert_int_equal(u->limiter, UT_LIMITER_DEVICE); /* 91 % */
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
	assert_int_equal(u->window, 200);
	assert_int_equal(u->busy, 200);
}

/* A host that fills managed memory misses pages long before the device has anything to do. */
static void missed_pages_are_no_work(void **state)
{
	struct fixture *f = *state;
	uint32_t pages = make_queue(&f->maker, GPU, "Unified memory");
	const struct ut_device_use *u;

	work(f, pages, "other", 10, 10);
	work(f, pages, "copy", 1000, 1100);
	work(f, f->queue, "kernel", 1100, 1200);
	u = use_of(f);
	assert_int_equal(u->works, 2);
	assert_int_equal(u->window, 200);
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

/* Gaps 1100-1500 (handed over at 1495: 395 starved) and 1600-2000 (at 1995: 395 starved). */
static void a_device_that_waits_for_submissions_is_host_bound(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	launched(f, 1, 990, 1000, 1100);
	launched(f, 2, 1490, 1500, 1600);
	launched(f, 3, 1990, 2000, 2100);
	u = use_of(f);
	assert_int_equal(u->busy, 300);
	assert_int_equal(u->starved, 790);
	assert_int_equal(u->limiter, UT_LIMITER_HOST);
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
	assert_int_equal(u->limiter, UT_LIMITER_WAITS);
	assert_int_equal(u->latency_p50, 590);
	assert_int_equal(u->latency_max, 1080);
	/* Two wait from 1000 to 1500, one to 2000: (2 * 500 + 500) / 1100. */
	assert_true(u->depth_mean > 1.363 && u->depth_mean < 1.365);
	assert_int_equal(u->depth_max, 3);
}

/*
 * Short kernels, launched one after the other as fast as the host can: each call takes 50, and the
 * kernel begins 5 after its end, when the next call is already under way. The host is the limit.
 */
static void launches_that_take_long_are_the_hosts(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	for (uint64_t i = 1; i <= 10; i++) {
		make_call(&f->maker, "CUDA",
			  &(struct made_work){ .name = "cudaLaunchKernel",
					       .start = 1000 + 50 * i,
					       .end = 1050 + 50 * i,
					       .correlation = i });
		make_work(&f->maker, f->queue,
			  &(struct made_work){ .name = "k",
					       .start = 1055 + 50 * i,
					       .end = 1065 + 50 * i,
					       .correlation = i });
	}
	u = use_of(f);
	assert_int_equal(u->starved, 9 * 35);
	assert_int_equal(u->delayed, 9 * 5);
	assert_int_equal(u->limiter, UT_LIMITER_HOST);
	assert_int_equal(u->latency_p50, 55);
}

/* OpenCL: queued while the first one ran, but flushed at 1500 only. */
static void a_queue_that_nobody_flushes_is_the_hosts(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	work(f, f->queue, "kernel", 1000, 1200);
	make_work(&f->maker, f->queue,
		  &(struct made_work){ .name = "k",
				       .start = 1520,
				       .end = 1600,
				       .queued = 1100,
				       .submitted = 1500 });
	u = use_of(f);
	assert_int_equal(u->starved, 300);
	assert_int_equal(u->delayed, 20);
	assert_int_equal(u->latency_max, 420);
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

/* Gaps of 400: that up to 1500 was handed over at 1105, of the other nobody knows. */
static void a_gap_before_work_of_unknown_submission_is_nobodys(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	launched(f, 1, 900, 1000, 1100);
	launched(f, 2, 1100, 1500, 1600);
	work(f, f->queue, "kernel", 2000, 2100);
	u = use_of(f);
	assert_int_equal(u->timed, 2);
	assert_int_equal(u->starved, 5);
	assert_int_equal(u->delayed, 395);
	assert_int_equal(u->limiter, UT_LIMITER_WAITS);
}

static void without_knowledge_of_most_of_it_idle_is_just_idle(void **state)
{
	struct fixture *f = *state;

	launched(f, 1, 1000, 1000, 1100);
	launched(f, 2, 1150, 1200, 1300);
	work(f, f->queue, "kernel", 9000, 9100);
	assert_int_equal(use_of(f)->limiter, UT_LIMITER_IDLE);
}

/*
 * Paused 1050-1900: the window of 1000-2100 is 800 shorter, because 50 of that was busy. The last
 * kernel was handed over at 1955: 55 starved, 45 delayed.
 */
static void what_was_not_recorded_is_not_idle(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;

	launched(f, 1, 990, 1000, 1100);
	launched(f, 2, 1950, 2000, 2100);
	make_pause(&f->maker, 1050, 1700);
	make_pause(&f->maker, 1600, 1900);
	u = use_of(f);
	assert_int_equal(u->paused, 800);
	assert_int_equal(u->window, 300);
	assert_int_equal(u->busy, 200);
	assert_int_equal(u->starved, 55);
	assert_int_equal(u->delayed, 45);
}

/* Both count their calls from 1, and the device is one: the arrows tell. */
static void programs_of_one_trace_do_not_answer_for_each_other(void **state)
{
	struct fixture *f = *state;
	const struct ut_device_use *u;
	uint32_t queue = f->queue, calls = f->maker.calls;

	launched(f, 1, 990, 1000, 1100);
	make_program(&f->maker, 200);
	f->queue = make_queue(&f->maker, GPU, "Stream 7");
	launched(f, 1, 5000, 5020, 5100);
	make_arrow(&f->maker, f->queue, 2);
	f->maker.calls = calls;
	make_arrow(&f->maker, queue, 1);
	u = use_of(f);
	assert_int_equal(u->timed, 2);
	assert_int_equal(u->latency_p50, 10);
	assert_int_equal(u->latency_max, 20);
}

static void without_arrows_nobody_is_made_responsible(void **state)
{
	struct fixture *f = *state;

	launched(f, 1, 990, 1000, 1100);
	make_program(&f->maker, 200);
	f->queue = make_queue(&f->maker, GPU, "Stream 7");
	launched(f, 1, 5000, 5020, 5100);
	assert_int_equal(use_of(f)->timed, 0);
}

/* ---- against a count of each nanosecond ---------------------------------------------------- */

enum {
	TIMESTAMPS = 400,
	PIECES = 12
};

struct counted {
	uint64_t busy, computing, copying, both, window;
};

static bool runs(const struct made_work *all, uint64_t now, const char *cat)
{
	bool found = false;

	for (size_t i = 0; i < PIECES; i++)
		found |= all[i].start <= now && now < all[i].end &&
			 (!cat || !strcmp(all[i].cat, cat));
	return found;
}

static struct counted count_timestamps(const struct made_work *all)
{
	struct counted c = { 0 };
	uint64_t first = TIMESTAMPS, last = 0;

	for (size_t i = 0; i < PIECES; i++) {
		first = all[i].start < first ? all[i].start : first;
		last = all[i].end > last ? all[i].end : last;
	}
	c.window = last - first;
	for (uint64_t now = first; now < last; now++) {
		bool kernel = runs(all, now, "kernel"), copy = runs(all, now, "copy");

		c.busy += runs(all, now, NULL);
		c.computing += kernel;
		c.copying += copy;
		c.both += kernel && copy;
	}
	return c;
}

static void any_overlap_is_what_counting_each_moment_gives(void **state)
{
	static const char *const cats[] = { "kernel", "copy", "other" };
	uint32_t dice = 1;

	for (int round = 0; round < 200; round++) {
		struct made_work all[PIECES] = { 0 };
		struct fixture *f = *state;
		const struct ut_device_use *u;
		struct counted c;

		for (size_t i = 0; i < PIECES; i++) {
			dice = dice * 1664525 + 1013904223;
			all[i].name = "k";
			all[i].cat = cats[dice >> 28 & 1 ? 0 : 1 + (dice >> 29 & 1)];
			all[i].start = 1 + (dice >> 8) % (TIMESTAMPS - 60);
			all[i].end = all[i].start + (dice >> 20) % 50; /* 0 is a length, too */
			make_work(&f->maker, i % 2 ? f->queue : f->other, &all[i]);
		}
		c = count_timestamps(all);
		u = use_of(f);
		assert_int_equal(u->window, c.window);
		assert_int_equal(u->busy, c.busy);
		assert_int_equal(u->computing, c.computing);
		assert_int_equal(u->copying, c.copying);
		assert_int_equal(u->both, c.both);
		release(state);
		make(state);
	}
}

UT_TESTS(device_summary)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(overlapping_work_is_busy_once, make, release),
		cmocka_unit_test_setup_teardown(markers_are_no_work, make, release),
		cmocka_unit_test_setup_teardown(missed_pages_are_no_work, make, release),
		cmocka_unit_test_setup_teardown(a_device_that_waits_for_submissions_is_host_bound,
						make, release),
		cmocka_unit_test_setup_teardown(
			a_device_that_has_work_and_does_not_start_it_is_latency_bound, make,
			release),
		cmocka_unit_test_setup_teardown(launches_that_take_long_are_the_hosts, make,
						release),
		cmocka_unit_test_setup_teardown(a_queue_that_nobody_flushes_is_the_hosts, make,
						release),
		cmocka_unit_test_setup_teardown(latency_counts_from_the_outermost_call, make,
						release),
		cmocka_unit_test_setup_teardown(nearest_rank_percentiles, make, release),
		cmocka_unit_test_setup_teardown(
			kernels_are_ranked_with_the_task_that_launched_most_of_them, make, release),
		cmocka_unit_test_setup_teardown(times_of_another_clock_are_unknown, make, release),
		cmocka_unit_test_setup_teardown(two_devices_are_two_and_overhead_is_none, make,
						release),
		cmocka_unit_test_setup_teardown(a_gap_before_work_of_unknown_submission_is_nobodys,
						make, release),
		cmocka_unit_test_setup_teardown(without_knowledge_of_most_of_it_idle_is_just_idle,
						make, release),
		cmocka_unit_test_setup_teardown(what_was_not_recorded_is_not_idle, make, release),
		cmocka_unit_test_setup_teardown(programs_of_one_trace_do_not_answer_for_each_other,
						make, release),
		cmocka_unit_test_setup_teardown(without_arrows_nobody_is_made_responsible, make,
						release),
		cmocka_unit_test_setup_teardown(any_overlap_is_what_counting_each_moment_gives,
						make, release),
	};

	return cmocka_run_group_tests_name("analyze/device_summary", tests, NULL, NULL);
}
