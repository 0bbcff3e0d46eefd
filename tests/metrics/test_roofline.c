/* test_roofline.c - tests src/analysis/metrics/roofline.h, _columns.h and _device.h with numbers
 * that were worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/logger.h"
#include "metrics/kernel_roof.h"
#include "metrics/roofline.h"
#include "metrics/roofline_columns.h"
#include "metrics/roofline_device.h"
#include "support/unit.h"

#define DRAM (UT_ROOF_UNITS + UT_ROOF_DRAM)
#define L2   (UT_ROOF_UNITS + UT_ROOF_L2)
#define L3   (UT_ROOF_UNITS + UT_ROOF_L3)

static const char gpu[] = "# remark\n"
			  "PlatformName,\"Test GPU\"\n"
			  "\n"
			  "FP32_GFLOPS, 1000\n"
			  "FP64_GFLOPS,500\r\n"
			  "FP16_XMX_GFLOPS,8e3\n"
			  "GPU_MEMORY_BW_in_GB_per_sec,100\n"
			  "L3_BW_in_GB_per_sec,400";

static void set_device(struct ut_roof *r)
{
	struct ut_err err = { 0 };

	if (ut_roof_device_read(&r->device, &r->arena, "gpu.csv", ut_str_of(gpu), NULL, &err))
		fail_msg("%s", err.text);
}

static void near_to(double got, double want)
{
	if (!(got > want * (1 - 1e-12) && got < want * (1 + 1e-12)) && got != want)
		fail_msg("%.17g instead of %.17g", got, want);
}

/* ---- devices -------------------------------------------------------------------------------- */

static void a_device_file_says_peaks(void **state)
{
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	assert_string_equal(r.device.name.ptr, "Test GPU");
	near_to(r.device.peak[UT_ROOF_FP32], 1e12);
	near_to(r.device.peak[UT_ROOF_FP64], 5e11);
	near_to(r.device.peak[UT_ROOF_FP16_TENSOR], 8e12);
	near_to(r.device.peak[DRAM], 1e11);
	near_to(r.device.peak[L3], 4e11);
	near_to(r.device.peak[L2], 0);
	assert_string_equal(ut_roof_title(&r.device, UT_ROOF_FP16_TENSOR), "FP16_XMX");
	assert_string_equal(ut_roof_title(&r.device, DRAM), "DRAM");
	ut_roof_release(&r);
}

static unsigned int reported;

static void count(void *ctx, enum ut_log_level level, const char *room, const char *text)
{
	(void)ctx;
	(void)level;
	(void)room;
	(void)text;
	reported++;
}

static void odd_device_files_are_reported_or_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "no peak" },
		{ "PlatformName,x\n", "no peak" },
		{ "\n\nFP32_GFLOPS\n", ":3: a line is KEY,VALUE" },
		{ "FP32_GFLOPS,fast\n", ":1: FP32_GFLOPS is no number" },
		{ "FP32_GFLOPS,-5\n", "no number above 0" },
		{ "FP32_GFLOPS,0\n", "no number above 0" },
		{ "FP32_GFLOPS,inf\n", "no number above 0" },
		{ "FP32_GFLOPS,\n", "no number above 0" },
		{ "_GFLOPS,3\n", "no peak" },
	};
	const struct ut_logger logger = { .line = count };
	struct ut_roof_device d;
	struct ut_arena a = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };

		assert_int_not_equal(
			ut_roof_device_read(&d, &a, "f", ut_str_of(bad[i].text), NULL, &err), 0);
		assert_non_null(strstr(err.text, bad[i].says));
	}
	reported = 0;
	assert_int_equal(ut_roof_device_read(&d, &a, "f",
					     ut_str_of("FP32_GFLOPS,1\nINT3_GFLOPS,2\nX,3\n"),
					     &logger, NULL),
			 0);
	assert_int_equal(reported, 2);
	ut_arena_release(&a);
}

static void devices_that_come_with_the_program_are_whole(void **state)
{
	static const char *const names[] = { "h200", "pvc-1tile" };
	struct ut_roof_device d;
	struct ut_arena a = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ut_roof_device_open(&d, &a, names[i], NULL, &err))
			fail_msg("%s", err.text);
		assert_true(d.name.len > 0);
		assert_true(d.peak[UT_ROOF_FP64] > 0 && d.peak[UT_ROOF_FP16_TENSOR] > 0);
		assert_true(d.peak[DRAM] > 0);
		assert_non_null(strstr(ut_roof_device_names(), names[i]));
	}
	assert_int_not_equal(ut_roof_device_open(&d, &a, "h999", NULL, &err), 0);
	assert_non_null(strstr(err.text, "h200"));
	ut_arena_release(&a);
}

/* ---- columns -------------------------------------------------------------------------------- */

static void bind(struct ut_roof_columns *c, const char *const *titles, size_t n)
{
	struct ut_str all[32];

	for (size_t i = 0; i < n; i++)
		all[i] = ut_str_of(titles[i]);
	ut_roof_columns_bind(c, all, n);
}

static void intels_columns_become_operations_and_bytes(void **state)
{
	static const char *const compute[] = { "Kernel",
					       "GpuTime[ns]",
					       "XVE_INST_EXECUTED_FP16[events]",
					       "XVE_INST_EXECUTED_FP32[events]",
					       " XVE_INST_EXECUTED_FP64[events] ",
					       "XVE_INST_EXECUTED_XMX_FP16[events]",
					       "XVE_INST_EXECUTED_XMX_BF16[events]",
					       "XVE_INST_EXECUTED_FP32_UTILIZATION[%]" };
	static const char *const memory[] = { "Kernel", "GpuTime[ns]",
					      "GPU_MEMORY_BYTE_READ[bytes]",
					      "GPU_MEMORY_BYTE_WRITE[bytes]",
					      "L3_BYTE_READ[bytes]" };
	struct ut_roof_columns c = { 0 };
	struct ut_roof_work w;

	(void)state;
	bind(&c, compute, 8);
	assert_true(c.has_time && c.counts_work && c.is_intel);
	ut_roof_columns_take(&c, (double[]){ 0, 100, 1, 2, 3, 4, 5, 99 }, &w);
	near_to(w.ns, 100);
	near_to(w.done[UT_ROOF_FP16], 64);
	near_to(w.done[UT_ROOF_FP32], 64);
	near_to(w.done[UT_ROOF_FP64], 96);
	near_to(w.done[UT_ROOF_FP16_TENSOR], 2048);
	near_to(w.done[UT_ROOF_BF16_TENSOR], 2560);
	bind(&c, memory, 5);
	assert_true(c.has_time && !c.counts_work);
	ut_roof_columns_take(&c, (double[]){ 0, 100, 7, 8, 20 }, &w);
	near_to(w.done[DRAM], 15);
	near_to(w.read[UT_ROOF_DRAM], 7);
	near_to(w.written[UT_ROOF_DRAM], 8);
	near_to(w.done[L3], 20);
	assert_true(w.known == (1u << DRAM | 1u << L3));
	ut_roof_columns_release(&c);
}

static void what_two_columns_hold_counts_once(void **state)
{
	static const char *const both[] = { "gpu__time_duration.sum[ns]", "GpuTime[ns]",
					    "dram__bytes.sum[bytes]", "dram__bytes_read.sum[bytes]",
					    "dram__bytes_write.sum[bytes]" };
	static const char *const half[] = { "GpuTime[ns]", "dram__bytes.sum",
					    "dram__bytes_read.sum" };
	static const char *const l2[] = { "lts__t_bytes.sum", "lts__t_sectors_srcunit_tex.sum",
					  "lts__t_sectors_srcunit_tex_op_read.sum",
					  "lts__t_sectors_srcunit_tex_op_write.sum" };
	static const char *const shared[] = { "smsp__sass_data_bytes_mem_shared.sum",
					      "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum" };
	struct ut_roof_columns c = { 0 };
	struct ut_roof_work w;

	(void)state;
	bind(&c, both, 5);
	ut_roof_columns_take(&c, (double[]){ 10, 12, 300, 100, 200 }, &w);
	near_to(w.ns, 10);
	near_to(w.done[DRAM], 300);
	near_to(w.written[UT_ROOF_DRAM], 200);
	bind(&c, half, 3);
	ut_roof_columns_take(&c, (double[]){ 10, 300, 100 }, &w);
	near_to(w.done[DRAM], 300);
	near_to(w.read[UT_ROOF_DRAM], 100);
	bind(&c, l2, 4);
	ut_roof_columns_take(&c, (double[]){ 9000, 100, 60, 30 }, &w); /* ten are atomics */
	near_to(w.done[L2], 3200);
	near_to(w.read[UT_ROOF_L2], 1920);
	near_to(w.written[UT_ROOF_L2], 960);
	bind(&c, shared, 2);
	assert_false(c.has_time);
	ut_roof_columns_take(&c, (double[]){ 999, 3 }, &w);
	near_to(w.done[UT_ROOF_UNITS + UT_ROOF_SHARED], 384);
	ut_roof_columns_release(&c);
}

static void nvidias_columns_become_operations(void **state)
{
	static const char *const titles[] = {
		"GpuTime[ns]",
		"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum[inst]",
		"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
		"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
		"sm__ops_path_tensor_src_fp16.sum",
		"sm__ops_path_tensor_src_fp8.sum",
		"lts__t_sector_hit_rate.pct[%]",
	};
	struct ut_roof_columns c = { 0 };
	struct ut_roof_work w;
	const double nothing = __builtin_nan("");

	(void)state;
	bind(&c, titles, 7);
	ut_roof_columns_take(&c, (double[]){ 50, 10, 3, 5, 4096, nothing, 80 }, &w);
	near_to(w.done[UT_ROOF_FP32], 23);
	near_to(w.done[UT_ROOF_FP16], 20);
	near_to(w.done[UT_ROOF_FP16_TENSOR], 4096);
	near_to(w.done[UT_ROOF_FP8_TENSOR], 0);
	near_to(w.hits[UT_ROOF_L2], 4000);
	assert_true(w.known_hits == 1u << UT_ROOF_L2);
	ut_roof_columns_take(&c, (double[]){ 50, -10, 3, 5, 4096, 1, 80 }, &w);
	near_to(w.done[UT_ROOF_FP32], 3);
	ut_roof_columns_release(&c);
}

/* ---- places --------------------------------------------------------------------------------- */

static void add(struct ut_roof *r, unsigned int run, const char *name, double ns, unsigned int part,
		double done)
{
	struct ut_roof_work w = { .count = 1, .ns = ns, .known = 1u << part };

	w.done[part] = done;
	ut_roof_add(r, run, ut_str_of(name), &w);
}

static void two_runs_make_one_kernel(void **state)
{
	struct ut_roof r = { 0 };
	const struct ut_roof_kernel *k;

	(void)state;
	set_device(&r);
	add(&r, 0, "gemm", 6e6, DRAM, 2e8); /* 2 instances: 10 ms, 5e8 bytes */
	add(&r, 0, "gemm", 4e6, DRAM, 3e8);
	add(&r, 1, "gemm", 5e6, UT_ROOF_FP16_TENSOR, 3e10);
	add(&r, 1, "gemm", 5e6, UT_ROOF_FP16_TENSOR, 3e10);
	add(&r, 0, "copy", 30e6, DRAM, 2.7e9); /* 90 GB/s */
	add(&r, 1, "copy", 30e6, UT_ROOF_FP16_TENSOR, 0);
	ut_roof_place(&r);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.lost.kernels, 0);
	near_to(r.ns, 40e6);
	k = &r.kernels[0];
	assert_string_equal(k->name.ptr, "copy");
	near_to(k->share, 0.75);
	assert_int_equal(k->bound, DRAM);
	near_to(ut_roof_reached(k), 0.9);
	assert_int_equal(k->unit, UT_ROOF_NONE);
	near_to(k->rate, 0);
	near_to(k->intensity[UT_ROOF_DRAM], 0);
	k = &r.kernels[1];
	assert_int_equal(k->bound, UT_ROOF_FP16_TENSOR);
	near_to(k->rate, 6e12);
	near_to(ut_roof_reached(k), 0.75);
	near_to(k->used[DRAM], 0.5);
	near_to(k->intensity[UT_ROOF_DRAM], 120);
	near_to(ut_roof_bound_share(&r, DRAM), 0.75);
	near_to(ut_roof_bound_share(&r, UT_ROOF_FP16_TENSOR), 0.25);
	ut_roof_release(&r);
}

static void a_kernel_that_ran_more_often_in_one_run_is_scaled(void **state)
{
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	add(&r, 0, "k", 1e6, DRAM, 1e6);
	add(&r, 0, "k", 1e6, DRAM, 1e6);
	add(&r, 0, "k", 1e6, DRAM, 1e6);
	add(&r, 1, "k", 1e6, UT_ROOF_FP32, 1e8);
	ut_roof_place(&r);
	assert_int_equal(r.lost.uneven, 1);
	near_to(r.kernels[0].work.done[UT_ROOF_FP32], 3e8);
	near_to(r.kernels[0].rate, 1e11);
	ut_roof_release(&r);
}

static void kernels_of_one_run_only_have_no_place(void **state)
{
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	add(&r, 0, "both", 3e6, DRAM, 1e6);
	add(&r, 1, "both", 3e6, UT_ROOF_FP32, 1e6);
	add(&r, 0, "first", 1e6, DRAM, 1e6);
	add(&r, 1, "second", 9e6, UT_ROOF_FP32, 1e6);
	ut_roof_place(&r);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.lost.kernels, 2);
	near_to(r.lost.ns, 1e6);
	near_to(r.kernels[0].share, 0.75);
	ut_roof_release(&r);
}

static void a_part_without_a_peak_binds_nothing(void **state)
{
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	add(&r, 0, "odd", 1e6, UT_ROOF_FP8_TENSOR, 1e9); /* the device does not say */
	add(&r, 0, "odd", 0, UT_ROOF_FP32, 1e6);
	add(&r, 0, "idle", 5e5, DRAM, 0);
	ut_roof_place(&r);
	assert_int_equal(r.kernels[0].unit, UT_ROOF_FP32);
	near_to(r.kernels[0].used[UT_ROOF_FP32], 1e-3);
	assert_int_equal(r.kernels[1].bound, UT_ROOF_NONE);
	near_to(ut_roof_reached(&r.kernels[1]), 0);
	ut_roof_release(&r);
}

/* Recordings of counts say the same of a kernel as the roofline does. */
static void counts_and_peaks_give_the_use_of_units(void **state)
{
	static const uint32_t keys[] = { 1, 2, 3, 4, 5 };
	struct ut_str titles[] = {
		ut_str_of("GpuTime[ns]"),
		ut_str_of("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum[instructions]"),
		ut_str_of("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum[instructions]"),
		ut_str_of("dram__bytes_read.sum[bytes]"),
		ut_str_of("dram__bytes_write.sum[bytes]"),
	};
	double values[] = { 1e6, 2.3e8, 5e7, 3e6, 1e6 }; /* of 1 ms: 460 GFLOP/s of 500 */
	struct ut_kernel_roof kernels = { 0 };
	struct ut_roof_work work = { 0 };
	struct ut_kernel_bottleneck v[UT_BOTTLENECKS_MAX];
	struct ut_kernel_facts f;
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	ut_kernel_roof_add(&kernels, keys, titles, values, 5, &work);
	ut_kernel_roof_add(&kernels, keys, titles, values, 5, &work);
	assert_int_equal(work.count, 2);
	ut_kernel_facts_init(&f);
	f.value[UT_FACT_DRAM] = 7; /* what was recorded stays */
	ut_kernel_roof_facts(&f, &work, &r.device);
	near_to(f.value[UT_FACT_FP64], 92);
	near_to(f.value[UT_FACT_FMA], 10);
	near_to(f.value[UT_FACT_DRAM], 7);
	assert_true(f.value[UT_FACT_ALU] != f.value[UT_FACT_ALU]);
	ut_kernel_bottlenecks(&f, v);
	assert_int_equal(v[0].rule, UT_BOUND_FP64);
	ut_kernel_roof_release(&kernels);
	ut_roof_release(&r);
}

static void people_see_shapes_where_they_distinguish_kernels(void **state)
{
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	add(&r, 0, "a[0][SIMD16 {1; 1; 1} {2; 1; 1}]", 5e6, DRAM, 1);
	add(&r, 0, "b[SIMD16 {1; 1; 1} {2; 1; 1}]", 4e6, DRAM, 1);
	add(&r, 0, "b[SIMD32 {1; 1; 1} {2; 1; 1}]", 3e6, DRAM, 1);
	add(&r, 0, "[SIMD16 {1}]", 2e6, DRAM, 1);
	add(&r, 0, "", 1e6, DRAM, 1);
	ut_roof_place(&r);
	assert_string_equal(r.kernels[0].shown.ptr, "a[0]");
	assert_string_equal(r.kernels[1].shown.ptr, r.kernels[1].name.ptr);
	assert_string_equal(r.kernels[2].shown.ptr, r.kernels[2].name.ptr);
	assert_string_equal(r.kernels[3].shown.ptr, "[SIMD16 {1}]");
	assert_string_equal(r.kernels[4].shown.ptr, "");
	ut_roof_release(&r);
}

static void nothing_and_no_time_have_no_places(void **state)
{
	struct ut_roof r = { 0 };

	(void)state;
	set_device(&r);
	ut_roof_place(&r);
	assert_int_equal(r.count, 0);
	add(&r, 0, "never", 0, UT_ROOF_FP32, 1e6);
	ut_roof_place(&r);
	assert_int_equal(r.count, 1);
	near_to(r.kernels[0].rate, 0);
	near_to(r.kernels[0].share, 0);
	ut_roof_release(&r);
}

UT_TESTS(roofline)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_file_says_peaks),
		cmocka_unit_test(odd_device_files_are_reported_or_refused),
		cmocka_unit_test(devices_that_come_with_the_program_are_whole),
		cmocka_unit_test(intels_columns_become_operations_and_bytes),
		cmocka_unit_test(what_two_columns_hold_counts_once),
		cmocka_unit_test(nvidias_columns_become_operations),
		cmocka_unit_test(two_runs_make_one_kernel),
		cmocka_unit_test(a_kernel_that_ran_more_often_in_one_run_is_scaled),
		cmocka_unit_test(kernels_of_one_run_only_have_no_place),
		cmocka_unit_test(a_part_without_a_peak_binds_nothing),
		cmocka_unit_test(counts_and_peaks_give_the_use_of_units),
		cmocka_unit_test(people_see_shapes_where_they_distinguish_kernels),
		cmocka_unit_test(nothing_and_no_time_have_no_places),
	};

	return cmocka_run_group_tests_name("metrics/roofline", tests, NULL, NULL);
}
