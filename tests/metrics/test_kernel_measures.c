/* test_kernel_measures.c - tests src/analysis/metrics/kernel_measures.h: metrics that a trace holds
 */
#include "metrics/kernel_measures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/device_log.h"
#include "metrics/kernel_facts.h"
#include "model/build.h"
#include "model/event.h"
#include "support/unit.h"

#define BYTES      "dram__bytes_read.sum[bytes]"
#define FFMA       "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum[instructions]"
#define PIPE(what) "sm__inst_executed_pipe_" what ".avg.pct_of_peak_sustained_active[%]"
#define BUSY       "sm__cycles_active.avg.pct_of_peak_sustained_elapsed[%]"

/* A device with a queue, a counter and a row of samples. */
struct made {
	struct ut_build build;
	uint32_t queue, counter, stalls;
	struct ut_store store;
	struct ut_device_log log;
	struct ut_kernel_set set;
	struct ut_kernel_measures m;
};

static uint32_t text(struct made *k, const char *s)
{
	return ut_strtab_intern(&k->build.store.trace.strings, s, strlen(s));
}

static uint32_t type_of(struct made *k, const char *name, const char *cat, uint8_t kind)
{
	return ut_types_intern(
		&k->build.store.types,
		&(struct ut_type){ .name = text(k, name), .cat = text(k, cat), .kind = kind });
}

static void begin(struct made *k, const char *model)
{
	struct ut_trace *t = &k->build.store.trace;
	uint32_t device;

	memset(k, 0, sizeof(*k));
	ut_build_init(&k->build);
	device = ut_trace_add_process(t, 9);
	t->processes[device].kind = UT_PROCESS_DEVICE;
	t->processes[device].model = text(k, model);
	k->queue = ut_trace_add_track(t, device, UT_TRACK_THREAD);
	t->tracks[k->queue].role = UT_ROLE_QUEUE;
	k->counter = ut_trace_add_track(t, device, UT_TRACK_COUNTER);
	t->tracks[k->counter].name = text(k, "gpc__clock");
	t->tracks[k->counter].unit = text(k, "Hz");
	k->stalls = ut_trace_add_track(t, device, UT_TRACK_THREAD);
	t->tracks[k->stalls].role = UT_ROLE_SIDE;
}

static void kernel(struct made *k, uint64_t ts, uint64_t dur, uint64_t bytes, double busy)
{
	struct ut_arg args[] = {
		{ .key = text(k, "grid"), .type = UT_ARG_STR, .value.str = text(k, "64x1x1") },
		{ .key = text(k, "block"), .type = UT_ARG_STR, .value.str = text(k, "256x1x1") },
		{ .key = text(k, BYTES), .type = UT_ARG_U64, .value.u64 = bytes },
		{ .key = text(k, FFMA), .type = UT_ARG_U64, .value.u64 = 500000 },
		{ .key = text(k, BUSY), .type = UT_ARG_F64, .value.f64 = busy },
	};

	ut_build_add(&k->build, k->queue, ts, dur, type_of(k, "copy", "kernel", UT_KIND_SPAN),
		     ut_arglists_add(&k->build.store.args, args, sizeof(args) / sizeof(args[0])));
}

static void sample(struct made *k, uint64_t address, const char *reason, uint32_t weight)
{
	struct ut_trace *t = &k->build.store.trace;
	const struct ut_place_in_code place = { .address = address,
						.function = text(k, "copy"),
						.file = text(k, "/src/copy.cu"),
						.line = 7 };
	uint32_t number = ut_stacks_place(&t->stacks, &t->arena, &place);
	uint32_t stack = ut_stacks_site(&t->stacks, &t->arena, 0, number);

	ut_build_add(&k->build, k->stalls, 5000, ut_sample_val(stack, weight),
		     type_of(k, "issued", reason, UT_KIND_SAMPLE), 0);
}

static void finish(struct made *k)
{
	ut_build_finish(&k->build, &k->store);
	ut_device_log_init(&k->log, false);
	ut_device_log_store(&k->log, &k->store);
	ut_device_log_finish(&k->log);
	ut_kernel_set_make(&k->set, &k->store, &k->log);
	ut_kernel_measures_make(&k->m, &k->store, &k->log, &k->set);
}

static void release(struct made *k)
{
	ut_kernel_measures_release(&k->m);
	ut_kernel_set_release(&k->set);
	ut_device_log_release(&k->log);
	ut_store_release(&k->store);
}

static double mean(const struct made *k, const char *title)
{
	for (size_t i = 0; i < k->m.title_count; i++) {
		if (ut_str_is(k->m.titles[i], title))
			return k->m.means[i];
	}
	return NAN;
}

static void titles_have_a_name_and_a_unit(void **state)
{
	(void)state;
	assert_true(ut_str_is(ut_measure_unit(ut_str_of(BYTES)), "bytes"));
	assert_true(ut_str_is(ut_measure_name(ut_str_of(BYTES)), "dram__bytes_read.sum"));
	assert_int_equal(ut_measure_unit(ut_str_of("grid")).len, 0);
	assert_true(ut_str_is(ut_measure_name(ut_str_of("grid")), "grid"));
	assert_int_equal(ut_measure_unit(ut_str_of("")).len, 0);
	assert_int_equal(ut_measure_unit(ut_str_of("[")).len, 0);
}

static void counts_are_means_of_launches_and_shares_of_time(void **state)
{
	struct made k;

	(void)state;
	begin(&k, "NVIDIA H200");
	kernel(&k, 1000, 999, 1000, 10);
	kernel(&k, 3000, 2999, 3000, 50);
	for (uint64_t i = 0; i < 3; i++)
		ut_build_add(&k.build, k.counter, 3000 + 1000 * i, 100 + i,
			     type_of(&k, "gpc__clock", "", UT_KIND_COUNTER), 0);
	finish(&k);
	assert_true(ut_kernel_measures_any(&k.store));
	assert_int_equal(k.set.count, 1);
	assert_int_equal(k.m.measured[0], 2);
	assert_true(fabs(mean(&k, BYTES) - 2000) < 1e-9);
	assert_true(fabs(mean(&k, BUSY) - 40) < 1e-9);
	assert_true(fabs(mean(&k, "gpc__clock[Hz]") - 101) < 1e-9);
	assert_true(isnan(mean(&k, "grid")));
	release(&k);
}

static void kernels_of_a_known_device_stand_under_its_roof(void **state)
{
	struct made k;

	(void)state;
	begin(&k, "NVIDIA H200");
	kernel(&k, 1000, 1000, 4000000, 10);
	finish(&k);
	assert_true(ut_kernel_measures_roof(&k.store));
	assert_int_equal(k.m.roof.count, 1);
	assert_int_equal(k.m.roof_of[0], 1);
	assert_true(ut_str_is(k.m.roof.kernels[0].name, "copy[SIMD32 {64; 1; 1} {256; 1; 1}]"));
	assert_int_equal(k.m.roof.kernels[0].bound, UT_ROOF_UNITS + UT_ROOF_DRAM);
	assert_true(fabs(ut_roof_reached(&k.m.roof.kernels[0]) - 4e12 / 4616e9) < 1e-3);
	release(&k);
	begin(&k, "Some other device");
	kernel(&k, 1000, 1000, 4000000, 10);
	finish(&k);
	assert_false(ut_kernel_measures_roof(&k.store));
	assert_int_equal(k.m.roof.count, 0);
	assert_int_equal(k.m.roof_of[0], 0);
	release(&k);
}

static void levels_of_memory_that_were_not_counted_are_distinguished_from_nothing(void **state)
{
	const struct ut_measured_levels *l;
	struct made k;

	(void)state;
	begin(&k, "A device that nobody knows");
	kernel(&k, 1000, 100, 3000, 50);
	kernel(&k, 2000, 300, 5000, 50);
	finish(&k);
	l = &k.m.levels[0];
	assert_int_equal(l->launches, 2);
	assert_int_equal((uint64_t)l->ns, 400);
	assert_int_equal((uint64_t)l->read[UT_ROOF_DRAM], 8000);
	assert_int_equal(l->has_read, 1u << UT_ROOF_DRAM);
	assert_int_equal(l->has_written, 0);
	assert_int_equal(l->has_hits, 0);
	assert_int_equal(l->has_bytes >> UT_ROOF_L2 & 1, 0);
	assert_int_equal((uint64_t)k.m.periods[0], 0);
	release(&k);
}

static void samples_are_added_up_by_instruction(void **state)
{
	struct made k;

	(void)state;
	begin(&k, "NVIDIA H200");
	kernel(&k, 1000, 1000, 1, 1);
	sample(&k, 0x40, "wait", 3);
	sample(&k, 0x20, "long_scoreboard", 5);
	sample(&k, 0x40, "long_scoreboard", 4);
	sample(&k, 0x40, "wait", 1);
	finish(&k);
	assert_int_equal(k.m.stalled_count, 1);
	assert_int_equal(k.m.stalled[0].samples, 13);
	assert_int_equal(k.m.stalled[0].count, 2);
	assert_int_equal(k.m.places[0].address, 0x20);
	assert_int_equal(k.m.places[1].samples, 8);
	assert_int_equal(k.m.places[1].line, 7);
	for (size_t i = 0; i < k.m.reason_count; i++)
		assert_int_equal(k.m.places[1].count[i], 4);
	release(&k);
}

/* Integers are multiplied by one half of the FMA pipe, which the use of both does not show. */
static void integer_products_are_what_one_half_does_more(void **state)
{
	static const struct {
		const char *kernel;
		double fma, heavy, fp16, multiply;
	} cases[] = {
		{ "integers", 49, 98, 0, 98 },
		{ "fp32", 91, 91, 0, 0 },
		{ "mixed", 60, 90, 0, 60 },
		{ "fp16", 42.9, 85.8, 85.8, 0 },
		{ "whole", 40, 40, 0, 0 },
		{ "unknown", 42.9, 85.8, NAN, NAN }, /* it may be FP16 */
	};
	struct made k;

	(void)state;
	begin(&k, "NVIDIA H200");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ut_arg args[] = {
			{ .key = text(&k, PIPE("fma")),
			  .type = UT_ARG_F64,
			  .value.f64 = cases[i].fma },
			{ .key = text(&k, PIPE("fmaheavy")),
			  .type = UT_ARG_F64,
			  .value.f64 = cases[i].heavy },
			{ .key = text(&k, PIPE("fma_type_fp16")),
			  .type = UT_ARG_F64,
			  .value.f64 = cases[i].fp16 },
		};

		ut_build_add(&k.build, k.queue, 1000 + i * 1000, 900,
			     type_of(&k, cases[i].kernel, "kernel", UT_KIND_SPAN),
			     ut_arglists_add(&k.build.store.args, args, 3));
	}
	finish(&k);
	assert_int_equal(k.set.count, sizeof(cases) / sizeof(cases[0]));
	for (size_t i = 0; i < k.set.count; i++) {
		double multiply = k.set.variants[i].facts.value[UT_FACT_MULTIPLY];

		assert_int_equal(isnan(multiply), isnan(cases[i].multiply));
		assert_false(fabs(multiply - cases[i].multiply) >= 0.01);
	}
	release(&k);
}

static void a_trace_without_metrics_has_none(void **state)
{
	struct made k;

	(void)state;
	begin(&k, "NVIDIA H200");
	ut_build_add(&k.build, k.queue, 1, 2, type_of(&k, "copy", "kernel", UT_KIND_SPAN), 0);
	k.build.store.trace.tracks[k.counter].type = UT_TRACK_THREAD;
	finish(&k);
	assert_false(ut_kernel_measures_any(&k.store));
	assert_int_equal(k.m.title_count, 0);
	assert_int_equal(k.m.measured[0], 0);
	release(&k);
}

UT_TESTS(kernel_measures)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(titles_have_a_name_and_a_unit),
		cmocka_unit_test(counts_are_means_of_launches_and_shares_of_time),
		cmocka_unit_test(kernels_of_a_known_device_stand_under_its_roof),
		cmocka_unit_test(
			levels_of_memory_that_were_not_counted_are_distinguished_from_nothing),
		cmocka_unit_test(samples_are_added_up_by_instruction),
		cmocka_unit_test(integer_products_are_what_one_half_does_more),
		cmocka_unit_test(a_trace_without_metrics_has_none),
	};

	return cmocka_run_group_tests_name("metrics/kernel_measures", tests, NULL, NULL);
}
