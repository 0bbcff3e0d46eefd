/* test_bottleneck.c - tests src/analysis/metrics/bottleneck.h: what each rule says, and which one
 * wins.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "metrics/bottleneck.h"
#include "metrics/kernel_facts.h"
#include "support/unit.h"

#define UNKNOWN NAN

static const struct ut_str h200 = { "NVIDIA H200", 11 };

/* What Nsight Compute measured of our own kernels on an H200 (2026-11-17), and what they are. */
static const struct {
	const char *name;
	double mean, blocks, threads, registers, shared;
	double dram, l2, l1, compute, achieved, fma, issue, load_bytes, tensor;
	enum ut_kernel_rule rule;
} measured[] = {
	{ "chase", 1149568, 132, 32, 22, 0, 6, 13.4, 3.79, 0.12, 1.56, 0.03, 0.27, 4, 0,
	  UT_BOUND_LATENCY },
	{ "copy", 132320, 1056, 512, 16, 0, 80.91, 88.64, 38.06, 8.03, 93.4, 1.16, 7.27, 32, 0,
	  UT_BOUND_DRAM },
	{ "strided", 1186080, 262144, 256, 20, 0, 79.97, 96.51, 19, 16.3, 81.67, 5.15, 16.33, 4,
	  0.45, UT_BOUND_ACCESS },
	{ "fma_loop", 384672, 2112, 256, 16, 0, 0.01, 0.51, 0.09, 96.74, 80.04, 91.44, 97.27,
	  UNKNOWN, 2.86, UT_BOUND_FMA },
	{ "tile_product", 2417248, 4096, 1024, 32, 8192, 0.17, 8.03, 94.65, 77.19, 98.37, 15.38,
	  38.63, 32, 0.01, UT_BOUND_L1 },
	{ "branchy", 153568, 1056, 256, 16, 0, 0.15, 0.44, 0.14, 83.39, 65.14, 31.78, 69.14, 32,
	  0.01, UT_BOUND_COMPUTE },
	{ "dfma", 28448, 1056, 256, 16, 0, 0, 2.48, 1.34, 77.17, 61.19, 8.02, 56.06, UNKNOWN, 0,
	  UT_BOUND_COMPUTE },
	{ "fat", 120000, 1000, 256, 103, 0, 0.25, 4.45, 3.62, 55.11, 23.17, 56.54, 59.36, 32, 0.02,
	  UT_BOUND_OCCUPANCY },
	{ "lonely", 62208, 1, 256, 16, 0, 0, 0.06, 1.16, 0.39, 12.5, 43.93, 52.13, 32, 0,
	  UT_BOUND_GRID },
	{ "tiny", 2112, 1, 32, 16, 0, 0.03, 0.41, UNKNOWN, 0, 1.56, 0.06, 1.25, 32, 0,
	  UT_BOUND_LAUNCH },
	{ "fma_loop", 217312, 1076, 256, 16, 0, 0, 0.9, 0.09, 87.3, 61.06, 91.17, 96.99, UNKNOWN,
	  2.85, UT_BOUND_TAIL },
};

static void kernels_of_known_bounds_are_recognised(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++) {
		struct ut_device_limits limits = ut_device_limits(h200);
		struct ut_kernel_bottleneck v[UT_BOTTLENECKS_MAX];
		struct ut_kernel_facts f;
		size_t count;

		ut_kernel_facts_init(&f);
		f.name = ut_str_of(measured[i].name);
		f.value[UT_FACT_MEAN] = measured[i].mean;
		f.value[UT_FACT_BLOCKS] = measured[i].blocks;
		f.value[UT_FACT_THREADS] = measured[i].threads;
		f.value[UT_FACT_REGISTERS] = measured[i].registers;
		f.value[UT_FACT_SHARED] = measured[i].shared;
		f.value[UT_FACT_DRAM] = measured[i].dram;
		f.value[UT_FACT_L2] = measured[i].l2;
		f.value[UT_FACT_L1] = measured[i].l1;
		f.value[UT_FACT_COMPUTE] = measured[i].compute;
		f.value[UT_FACT_ACHIEVED] = measured[i].achieved;
		f.value[UT_FACT_FMA] = measured[i].fma;
		f.value[UT_FACT_ISSUE] = measured[i].issue;
		f.value[UT_FACT_LOAD_BYTES] = measured[i].load_bytes;
		f.value[UT_FACT_TENSOR] = measured[i].tensor;
		f.value[UT_FACT_ATOMICS] = 0;
		ut_kernel_facts_fit(&f, &limits);
		count = ut_kernel_bottlenecks(&f, v);
		assert_true(count >= 1);
		if (v[0].rule != measured[i].rule)
			fail_msg("%s: %s (%s)", measured[i].name, ut_kernel_rule_key(v[0].rule),
				 v[0].sentence);
	}
}

static struct ut_kernel_facts known(size_t count, ...)
{
	struct ut_kernel_facts f;
	va_list ap;

	ut_kernel_facts_init(&f);
	va_start(ap, count);
	for (size_t i = 0; i < count; i++) {
		int fact = va_arg(ap, int);

		f.value[fact] = va_arg(ap, double);
	}
	va_end(ap);
	return f;
}

/* All units measured and at 1 %, but this one. */
static struct ut_kernel_facts idle_but(enum ut_kernel_fact fact, double use)
{
	static const enum ut_kernel_fact units[] = {
		UT_FACT_DRAM,   UT_FACT_L2,   UT_FACT_L1,      UT_FACT_SHARED_PATH, UT_FACT_ATOMICS,
		UT_FACT_TENSOR, UT_FACT_FMA,  UT_FACT_ALU,     UT_FACT_FP64,        UT_FACT_SPECIAL,
		UT_FACT_ISSUE,  UT_FACT_FP16, UT_FACT_MULTIPLY
	};
	struct ut_kernel_facts f;

	ut_kernel_facts_init(&f);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		f.value[units[i]] = 1;
	f.value[UT_FACT_FP16] = 0;
	f.value[UT_FACT_LANES] = 32;
	f.value[fact] = use;
	return f;
}

/*
 * What the default group of -q measured of tests/device/limited.cu on an H200 (2026-11-18): each
 * kernel has one limit, which is its name.
 */
static const enum ut_kernel_fact limited_facts[] = {
	UT_FACT_DRAM,      UT_FACT_L2,      UT_FACT_L1,           UT_FACT_SHARED_PATH,
	UT_FACT_CONFLICTS, UT_FACT_ATOMICS, UT_FACT_ATOMIC_SHARE, UT_FACT_TENSOR,
	UT_FACT_FMA,       UT_FACT_FP16,    UT_FACT_ALU,          UT_FACT_FP64,
	UT_FACT_SPECIAL,   UT_FACT_ISSUE,   UT_FACT_LANES,        UT_FACT_ACHIEVED,
	UT_FACT_OCCUPANCY,
};

#define LIMITED_FACTS (sizeof(limited_facts) / sizeof(limited_facts[0]))

static const struct {
	const char *name;
	enum ut_kernel_rule rule;
	double value[LIMITED_FACTS];
} limited[] = {
	{ "dram_copy",
	  UT_BOUND_DRAM,
	  { 83, 53.4, 14.2, 0.0128, 0, 0, 0, 0, 0.811, 0, 6.35, 0, 0, 5.21, 32, 96.6, 100 } },
	{ "latency_chase",
	  UT_BOUND_LATENCY,
	  { 9.14, 5.46, 0.976, 0, 0, 0, 0, 0, 0.0222, 0, 0.00569, 0, 0, 0.0501, 32, 1.56, 50 } },
	{ "fp32_chains",
	  UT_BOUND_FMA,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 91.4, 0, 11.5, 0, 0, 100, 32, 81.3, 100 } },
	{ "fp64_chains",
	  UT_BOUND_FP64,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 1.56, 0, 3.13, 99.9, 0.0488, 54.6, 32, 78.4, 100 } },
	{ "fp16_chains",
	  UT_BOUND_FP16,
	  { 0, 0, 0, 0, 0, 0, 0, 85.7, 42.9, 85.7, 10.7, 0, 0.0471, 93.8, 32, 81.3, 100 } },
	{ "integer_chains",
	  UT_BOUND_ALU,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0.391, 0, 99.9, 0, 0, 50.8, 32, 78, 100 } },
	{ "special_functions",
	  UT_BOUND_SPECIAL,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 0.199, 0, 0.4, 0, 100, 13.1, 32, 77.9, 100 } },
	{ "tensor_products",
	  UT_BOUND_TENSOR,
	  { 0, 0, 0, 0, 0, 0, 0, 98.7, 1.04, 0, 1.58, 0, 0, 18.8, 32, 79.4, 100 } },
	{ "shared_reads",
	  UT_BOUND_SHARED,
	  { 0, 0, 99.8, 99.8, 0, 0, 0, 0, 24.9, 0, 0.834, 0, 0, 50.5, 32, 79.2, 100 } },
	{ "shared_conflicts",
	  UT_BOUND_CONFLICTS,
	  { 0, 0, 100, 100, 96.9, 0, 0, 0, 0.781, 0, 0.0785, 0, 0, 1.63, 32, 79.1, 100 } },
	{ "atomics_spread",
	  UT_BOUND_ATOMICS,
	  { 0, 27.4, 7.73, 0, 0, 60.3, 100, 0, 3.62, 0, 10.8, 0, 0, 11.3, 32, 82.1, 100 } },
	{ "atomics_one",
	  UT_BOUND_ATOMICS,
	  { 0, 0.426, 1.1, 0, 0, 79.9, 99.7, 0, 0, 0, 0.00524, 0, 0, 0.0111, 32, 12.4, 100 } },
	{ "divergent_lanes",
	  UT_BOUND_DIVERGENCE,
	  { 0, 0, 0, 0, 0, 0, 0, 0, 21.5, 0, 71.5, 0, 0, 87.8, 5.62, 82.5, 100 } },
	{ "l2_reads",
	  UT_BOUND_L2,
	  { 0.0925, 88.1, 31.7, 0, 0, 0, 0, 0, 9.92, 0, 8.45, 0, 0, 16.3, 32, 69.9, 100 } },
	{ "l1_reads",
	  UT_BOUND_L1,
	  { 0, 0, 96.7, 0, 0, 0, 0, 0, 27.6, 0, 46.1, 0, 0, 57.1, 32, 82.9, 100 } },
	{ "low_occupancy",
	  UT_BOUND_OCCUPANCY,
	  { 0, 0, 10.8, 10.8, 0, 0, 0, 0, 8.1, 0, 9.45, 0, 0, 16.9, 32, 3.12, 3.12 } },
};

static struct ut_kernel_facts limited_kernel(size_t at)
{
	struct ut_kernel_facts f;

	ut_kernel_facts_init(&f);
	f.name = ut_str_of(limited[at].name);
	for (size_t i = 0; i < LIMITED_FACTS; i++)
		f.value[limited_facts[i]] = limited[at].value[i];
	return f;
}

static void kernels_with_one_limit_are_named_by_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++) {
		struct ut_kernel_bottleneck v[UT_BOTTLENECKS_MAX];
		struct ut_kernel_facts f = limited_kernel(i);

		assert_true(ut_kernel_bottlenecks(&f, v) >= 1);
		if (v[0].rule != limited[i].rule)
			fail_msg("%s: %s (%s)", limited[i].name, ut_kernel_rule_key(v[0].rule),
				 v[0].sentence);
	}
}

/* With one unit less no other one is named in its place. */
static void without_its_unit_no_other_is_named(void **state)
{
	static const enum ut_kernel_fact units[] = {
		UT_FACT_DRAM,   UT_FACT_L1,   UT_FACT_ATOMICS, UT_FACT_ALU,
		UT_FACT_TENSOR, UT_FACT_FP64, UT_FACT_SPECIAL,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++) {
		for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
			struct ut_kernel_bottleneck v[UT_BOTTLENECKS_MAX];
			struct ut_kernel_facts f = limited_kernel(i);

			f.value[units[k]] = NAN;
			assert_true(ut_kernel_bottlenecks(&f, v) >= 1);
			if (v[0].rule != limited[i].rule && v[0].rule != UT_BOUND_UNKNOWN)
				fail_msg("%s without %s: %s", limited[i].name,
					 ut_kernel_fact_info[units[k]].key, v[0].sentence);
		}
	}
}

static struct ut_kernel_bottleneck bottleneck(const struct ut_kernel_facts *f)
{
	struct ut_kernel_bottleneck v[UT_BOTTLENECKS_MAX];

	assert_true(ut_kernel_bottlenecks(f, v) >= 1);
	return v[0];
}

static void says(const struct ut_kernel_facts *f, enum ut_kernel_rule rule, const char *sentence)
{
	struct ut_kernel_bottleneck v = bottleneck(f);

	assert_string_equal(v.sentence, sentence);
	assert_int_equal(v.rule, rule);
	assert_non_null(v.advice);
}

static void each_rule_has_its_sentence(void **state)
{
	struct ut_kernel_facts f = known(2, UT_FACT_MEAN, 2100.0, UT_FACT_LAUNCH, 6300.0);

	(void)state;
	says(&f, UT_BOUND_LAUNCH, "runs 2.100 us and takes 6.300 us to launch");
	f = known(1, UT_FACT_MEAN, 1800.0);
	says(&f, UT_BOUND_LAUNCH, "runs 1.800 us, which a launch takes as well");
	f = known(4, UT_FACT_MEAN, 1e6, UT_FACT_BLOCKS, 1.0, UT_FACT_PROCESSORS, 132.0,
		  UT_FACT_FILL, 0.758);
	says(&f, UT_BOUND_GRID, "its 1 block fills 0.758 % of 132 multiprocessors");
	f = known(2, UT_FACT_WAVES, 1.02, UT_FACT_ACTIVE, 55.0);
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured; the last of 1.02 waves is nearly empty: up to 49 % of its time goes "
	     "there");
	f.value[UT_FACT_FMA] = 90;
	says(&f, UT_BOUND_TAIL,
	     "the last of 1.02 waves is nearly empty: up to 49 % of its time goes there");
	f = known(2, UT_FACT_LOAD_BYTES, 4.0, UT_FACT_DRAM, 80.0);
	says(&f, UT_BOUND_ACCESS,
	     "uncoalesced loads: 4 of 32 bytes of each sector are used, and "
	     "DRAM is at 80 % of its peak");
	f = known(2, UT_FACT_LOAD_SECTORS, 4.0, UT_FACT_STORE_SECTORS, 32.0);
	says(&f, UT_BOUND_ACCESS, "uncoalesced stores: 32 sectors for each request of a warp");
	f = known(1, UT_FACT_DRAM, 91.0);
	says(&f, UT_BOUND_DRAM, "bound by DRAM at 91 % of its peak");
	f = idle_but(UT_FACT_TENSOR, 72.0);
	says(&f, UT_BOUND_TENSOR, "bound by the tensor pipe at 72 % of its peak");
	f = known(1, UT_FACT_FP64, 93.0);
	says(&f, UT_BOUND_FP64,
	     "bound by the FP64 pipe at 93 % of its peak; divergent branches were not measured");
	f = idle_but(UT_FACT_ALU, 66.0);
	says(&f, UT_BOUND_ALU, "bound by the integer pipe at 66 % of its peak");
	f = idle_but(UT_FACT_MULTIPLY, 98.0);
	f.value[UT_FACT_FMA] = 49;
	says(&f, UT_BOUND_ALU, "bound by integer multiplication at 98 % of its peak");
	f.value[UT_FACT_MULTIPLY] = NAN;
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured: integer multiplication; most used of what was: the FP32 pipe at 49 % "
	     "of its peak; record with -q");
	f = idle_but(UT_FACT_L2, 66.0);
	says(&f, UT_BOUND_L2, "bound by L2 at 66 % of its peak");
	f = idle_but(UT_FACT_SPECIAL, 97.0);
	says(&f, UT_BOUND_SPECIAL, "bound by special functions at 97 % of its peak");
	f = idle_but(UT_FACT_ISSUE, 92.0);
	says(&f, UT_BOUND_ISSUE, "bound by instruction issue at 92 % of its peak");
	f = idle_but(UT_FACT_ATOMICS, 98.0);
	says(&f, UT_BOUND_ATOMICS,
	     "bound by atomics: L2's busiest unit for them is at 98 % of its peak");
	f = idle_but(UT_FACT_FMA, 91.0);
	says(&f, UT_BOUND_FMA, "bound by the FP32 pipe at 91 % of its peak");
	f.value[UT_FACT_FP16] = 90;
	says(&f, UT_BOUND_FP16, "bound by FP16 arithmetic at 90 % of its peak");
	f.value[UT_FACT_TENSOR] = 90; /* on Hopper it has the same work */
	says(&f, UT_BOUND_FP16, "bound by FP16 arithmetic at 90 % of its peak");
	f.value[UT_FACT_FP16] = 20; /* beside products of matrices */
	f.value[UT_FACT_FMA] = 22;
	says(&f, UT_BOUND_TENSOR, "bound by the tensor pipe at 90 % of its peak");
	f.value[UT_FACT_FP16] = NAN;
	f.value[UT_FACT_FMA] = 90.3; /* samples cannot tell the two apart */
	says(&f, UT_BOUND_FMA, "bound by the FMA pipe (FP32 or FP16) at 90 % of its peak");
	f.value[UT_FACT_FMA] = 45.2; /* as an H200 counts it with the group Roofline */
	f.value[UT_FACT_COMPUTE] = NAN;
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured: FP16 arithmetic; most used of what was: the FMA pipe (FP32 or FP16) at "
	     "45 % of its peak; record with -q");
	f = idle_but(UT_FACT_COMPUTE, 27.0);
	says(&f, UT_BOUND_LATENCY, "latency-bound: no unit is used more than 27 %");
	f.value[UT_FACT_ACHIEVED] = 1.56;
	says(&f, UT_BOUND_LATENCY,
	     "latency-bound: no unit is used more than 27 %, and 1.6 % of the "
	     "warps that fit are in flight");
	f = idle_but(UT_FACT_FP64, 50.0);
	says(&f, UT_BOUND_NOTHING,
	     "no single limit: the most used unit is the FP64 pipe at 50 % of its peak");
	f = known(0);
	says(&f, UT_BOUND_UNKNOWN, "not measured");
	f = known(3, UT_FACT_BLOCKS, 2.0, UT_FACT_PROCESSORS, 132.0, UT_FACT_FILL, 1.5);
	f.name = ut_str_of("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage)");
	says(&f, UT_BOUND_RANKS,
	     "moves data between ranks, and takes as long as the last of them is late");
}

/* A kernel at the peak of a unit is bound by that one, whatever else is idle. */
static void a_full_unit_is_named(void **state)
{
	struct ut_kernel_facts f = idle_but(UT_FACT_SHARED_PATH, 100.0);

	(void)state;
	f.value[UT_FACT_L1] = 100;
	f.value[UT_FACT_CONFLICTS] = 2;
	says(&f, UT_BOUND_SHARED, "bound by shared memory at 100 % of its peak");
	f.value[UT_FACT_CONFLICTS] = 97;
	says(&f, UT_BOUND_CONFLICTS,
	     "bound by bank conflicts: 97 % of shared memory's cycles repeat "
	     "an access, and it is at 100 % of its peak");
	f.value[UT_FACT_SHARED_PATH] = 1;
	says(&f, UT_BOUND_L1, "bound by L1 and shared memory at 100 % of its peak");
	f = idle_but(UT_FACT_FP64, 96.0);
	f.value[UT_FACT_ISSUE] = 49;
	says(&f, UT_BOUND_FP64, "bound by the FP64 pipe at 96 % of its peak");
	f = idle_but(UT_FACT_DRAM, 81.0); /* what goes to DRAM goes through L2 */
	f.value[UT_FACT_L2] = 89;
	says(&f, UT_BOUND_DRAM, "bound by DRAM at 81 % of its peak");
	f = idle_but(UT_FACT_FMA, 91.0);
	f.value[UT_FACT_ISSUE] = 97;
	says(&f, UT_BOUND_FMA, "bound by the FP32 pipe at 91 % of its peak");
}

/* When all slots are taken, a pipe is the limit only if it is nearly as full. */
static void issue_slots_are_named_above_half_full_pipes(void **state)
{
	struct ut_kernel_facts f = idle_but(UT_FACT_ISSUE, 99.0);

	(void)state;
	f.value[UT_FACT_FMA] = 61.5; /* issue_slots of tests/device/limited.cu on an H200 */
	f.value[UT_FACT_ALU] = 69.2;
	f.value[UT_FACT_ISSUE] = 98;
	says(&f, UT_BOUND_ISSUE, "bound by instruction issue at 98 % of its peak");
	f.value[UT_FACT_FMA] = 85;
	says(&f, UT_BOUND_FMA, "bound by the FP32 pipe at 85 % of its peak");
	f.value[UT_FACT_ISSUE] = 82;
	f.value[UT_FACT_FMA] = 66;
	f.value[UT_FACT_ALU] = 50;
	says(&f, UT_BOUND_FMA, "bound by the FP32 pipe at 66 % of its peak");
}

/* Those that were not measured could be the limit. */
static void what_was_not_measured_is_not_ruled_out(void **state)
{
	struct ut_kernel_facts f =
		known(3, UT_FACT_DRAM, 1.0, UT_FACT_FMA, 0.5, UT_FACT_TENSOR, 0.0);

	(void)state;
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured: most units; most used of what was: DRAM at 1 % of its peak; record "
	     "with -q");
	assert_true(isnan(bottleneck(&f).loss));
	f = idle_but(UT_FACT_DRAM, 3.0);
	f.value[UT_FACT_ATOMICS] = NAN;
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured: atomics; most used of what was: DRAM at 3 % of its peak; record "
	     "with -q");
	f.value[UT_FACT_LANES] = NAN;
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured: atomics and divergent branches; most used of what was: DRAM at 3 % of "
	     "its peak; record with -q");
	f = idle_but(UT_FACT_L2, 87.0);
	f.value[UT_FACT_DRAM] = NAN; /* which may be what keeps it busy */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_UNKNOWN);
	f = idle_but(UT_FACT_FMA, 66.0);
	f.value[UT_FACT_L1] = f.value[UT_FACT_SHARED_PATH] = NAN;
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_UNKNOWN);
	f.value[UT_FACT_FMA] = 92; /* this is a limit whatever the rest does */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_FMA);
	f = idle_but(UT_FACT_DRAM, 92.0);
	f.value[UT_FACT_COUNTER_SAMPLES] = 2;
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured: too short for samples at these intervals (2); record with -q");
	f.value[UT_FACT_COUNTER_SAMPLES] = 20;
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_DRAM);
}

static void few_lanes_are_divergence_where_instructions_are_busy(void **state)
{
	struct ut_kernel_facts f = idle_but(UT_FACT_ISSUE, 70.0);

	(void)state;
	f.value[UT_FACT_LANES] = 4;
	says(&f, UT_BOUND_DIVERGENCE,
	     "divergent branches: an instruction runs for 4 of 32 threads of "
	     "a warp, and instructions are issued at 70 % of the peak");
	f.value[UT_FACT_ISSUE] = 0.3; /* one lane that follows pointers */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_LATENCY);
	f.value[UT_FACT_ISSUE] = 70;
	f.value[UT_FACT_THREADS] = 4; /* all that there are */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_NOTHING);
	f.value[UT_FACT_THREADS] = 256;
	f.value[UT_FACT_LANES] = 16.6; /* every other one */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_DIVERGENCE);
	f.value[UT_FACT_THREADS] = 40; /* eight in the second warp */
	f.value[UT_FACT_LANES] = 20;
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_NOTHING);
	f.value[UT_FACT_THREADS] = 256;
	f.value[UT_FACT_LANES] = 4;
	f.value[UT_FACT_DRAM] = 92;
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_DRAM);
}

static void samples_show_what_is_waited_for_and_where(void **state)
{
	struct ut_kernel_facts f =
		known(3, UT_FACT_STALL, 63.0, UT_FACT_STALL_PLACE, 41.0, UT_FACT_SAMPLES, 1000.0);

	(void)state;
	f.reason = ut_str_of("long_scoreboard");
	f.place = ut_str_of("chase.cu:12");
	says(&f, UT_BOUND_MEMORY_WAIT,
	     "waits for memory: 63 % of samples, 41 % at chase.cu:12; bandwidth or latency was not "
	     "measured");
	f.reason = ut_str_of("barrier");
	f.place = ut_str_of("evil\x1b[2J.cu:1");
	says(&f, UT_BOUND_STALL,
	     "63 % of samples wait for other warps at a barrier, 41 % at "
	     "evil?[2J.cu:1");
	f.reason = ut_str_of("lg_throttle");
	f.place = ut_str_of("device_atomic_functions.hpp:112");
	says(&f, UT_BOUND_STALL,
	     "63 % of samples wait for atomics in global memory, 41 % at "
	     "device_atomic_functions.hpp:112");
	f.place = ut_str_of("evil\x1b[2J.cu:1");
	f.reason = ut_str_of("long_scoreboard");
	f.value[UT_FACT_STALL] = 20;
	says(&f, UT_BOUND_UNKNOWN,
	     "unit not measured, and no single reason to wait: at most 20 % of samples wait for "
	     "global memory, 41 % at evil?[2J.cu:1");
	f.value[UT_FACT_READY] = 96; /* as of arithmetic in FP32 */
	f.value[UT_FACT_NOT_SELECTED] = 85;
	says(&f, UT_BOUND_UNKNOWN,
	     "unit not measured: in 96 % of samples a warp could issue, and in 85 % another one "
	     "did: it waits for issue slots or a pipe, not for memory");
	f.value[UT_FACT_READY] = f.value[UT_FACT_NOT_SELECTED] = 3;
	f.reason = ut_str_of("SbidStall"); /* as Intel's driver has it */
	f.place = ut_str_of("");
	f.value[UT_FACT_STALL] = 63;
	says(&f, UT_BOUND_MEMORY_WAIT,
	     "waits for memory or another slow unit: 63 % of samples; bandwidth or latency was not "
	     "measured");
	f.value[UT_FACT_DRAM] = 88; /* waiting is what one does when memory is full */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_DRAM);
	f = idle_but(UT_FACT_DRAM, 9.0);
	f.reason = ut_str_of("long_scoreboard");
	f.place = ut_str_of("chase.cu:12");
	f.value[UT_FACT_STALL] = 90;
	f.value[UT_FACT_STALL_PLACE] = 80;
	says(&f, UT_BOUND_LATENCY,
	     "latency-bound: 90 % of samples wait for global memory, 80 % at chase.cu:12");
}

static void products_should_use_the_tensor_pipe(void **state)
{
	struct ut_kernel_facts f = known(2, UT_FACT_TENSOR, 0.0, UT_FACT_FMA, 88.0);

	(void)state;
	f.name = ut_str_of("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_ffma_aligna4");
	says(&f, UT_BOUND_NO_TENSOR,
	     "GEMM that does not use Tensor Cores: the FP32 pipe "
	     "does it at 88 % of its peak");
	f = known(0);
	f.name = ut_str_of("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256>(Params)");
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_NO_TENSOR);
	f.name = ut_str_of("nvjet_hsh_gemm_128x256"); /* nothing says that it does not */
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_UNKNOWN);
	f = known(1, UT_FACT_FMA, 88.0);
	f.name = ut_str_of("fused_adam");
	assert_int_equal(bottleneck(&f).rule, UT_BOUND_FMA);
}

static void what_limits_occupancy_is_named(void **state)
{
	struct ut_device_limits limits = ut_device_limits(h200);
	struct ut_kernel_facts f =
		known(3, UT_FACT_THREADS, 256.0, UT_FACT_REGISTERS, 103.0, UT_FACT_BLOCKS, 10000.0);

	(void)state;
	ut_kernel_facts_fit(&f, &limits);
	assert_true(f.value[UT_FACT_FIT] == 2 && f.value[UT_FACT_OCCUPANCY] == 25);
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured; occupancy limited to 25 % by registers (103 a thread)");
	f = known(3, UT_FACT_THREADS, 128.0, UT_FACT_REGISTERS, 32.0, UT_FACT_SHARED, 98304.0);
	ut_kernel_facts_fit(&f, &limits);
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured; occupancy limited to 12 % by shared memory (96 KiB a block)");
	f = known(2, UT_FACT_THREADS, 32.0, UT_FACT_REGISTERS, 16.0);
	f.value[UT_FACT_OCCUPANCY] = 25;
	ut_kernel_facts_fit(&f, &limits);
	says(&f, UT_BOUND_UNKNOWN,
	     "not measured; occupancy limited to 25 % by the size of its blocks (32 threads)");
	f = idle_but(UT_FACT_FMA, 30.0);
	f.value[UT_FACT_THREADS] = 256;
	f.value[UT_FACT_REGISTERS] = 168;
	ut_kernel_facts_fit(&f, &limits);
	says(&f, UT_BOUND_OCCUPANCY,
	     "occupancy limited to 12 % by registers (168 a thread), and no "
	     "unit is used more than 30 %");
	f.value[UT_FACT_TENSOR] = 75; /* near the roof with the warps it has */
	says(&f, UT_BOUND_TENSOR, "bound by the tensor pipe at 75 % of its peak");
}

static void minor_findings_stand_behind(void **state)
{
	struct ut_kernel_facts f = known(4, UT_FACT_DRAM, 85.0, UT_FACT_LOCAL, 64.0,
					 UT_FACT_OCCUPANCY, 100.0, UT_FACT_ACHIEVED, 50.0);
	struct ut_kernel_bottleneck v[UT_BOTTLENECKS_MAX];

	(void)state;
	assert_int_equal(ut_kernel_bottlenecks(&f, v), 3);
	assert_int_equal(v[0].rule, UT_BOUND_DRAM);
	assert_int_equal(v[1].rule, UT_BOUND_SPILL);
	assert_int_equal(v[2].rule, UT_BOUND_BALANCE);
	assert_true(v[0].loss > 0.14 && v[0].loss < 0.16);
	assert_int_equal(v[0].evidence[0], UT_FACT_DRAM);
}

/* Theoretical occupancy and waves as Nsight Compute has them for these launches. */
static void launches_fit_as_nsight_says(void **state)
{
	static const struct {
		double blocks, threads, registers, shared, waves, occupancy;
	} cases[] = {
		{ 132, 32, 22, 0, 0.03, 50 },    { 1056, 512, 16, 0, 2, 100 },
		{ 2112, 256, 16, 0, 2, 100 },    { 4096, 1024, 32, 8192, 15.52, 100 },
		{ 1000, 256, 103, 0, 3.79, 25 }, { 1076, 256, 16, 0, 1.02, 100 },
	};
	struct ut_device_limits limits = ut_device_limits(h200);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ut_kernel_facts f = known(
			4, UT_FACT_BLOCKS, cases[i].blocks, UT_FACT_THREADS, cases[i].threads,
			UT_FACT_REGISTERS, cases[i].registers, UT_FACT_SHARED, cases[i].shared);

		ut_kernel_facts_fit(&f, &limits);
		assert_true(fabs(f.value[UT_FACT_WAVES] - cases[i].waves) < 0.01);
		assert_true(fabs(f.value[UT_FACT_OCCUPANCY] - cases[i].occupancy) < 0.5);
	}
}

static void devices_are_known_by_whole_words(void **state)
{
	(void)state;
	assert_int_equal(ut_device_limits(ut_str_of("NVIDIA H100 80GB HBM3")).processors, 132);
	assert_int_equal(ut_device_limits(ut_str_of("NVIDIA H100 PCIe")).processors, 114);
	assert_int_equal(ut_device_limits(ut_str_of("NVIDIA A100-SXM4-80GB")).processors, 108);
	assert_int_equal(ut_device_limits(ut_str_of("NVIDIA RTX A4000")).processors, 0);
	assert_int_equal(ut_device_limits(ut_str_of("Tesla T4")).warps, 32);
	assert_int_equal(ut_device_limits(ut_str_of("")).processors, 0);
}

static void facts_have_many_names(void **state)
{
	(void)state;
	assert_int_equal(ut_kernel_fact_named(ut_str_of(
				 "dram__throughput.avg.pct_of_peak_sustained_elapsed[%]")),
			 UT_FACT_DRAM);
	assert_int_equal(ut_kernel_fact_named(ut_str_of("registers per thread")),
			 UT_FACT_REGISTERS);
	assert_int_equal(ut_kernel_fact_named(ut_str_of("XVE_THREADS_OCCUPANCY_ALL[%]")),
			 UT_FACT_ACHIEVED);
	assert_int_equal(ut_kernel_fact_named(ut_str_of("dram")), UT_KERNEL_FACTS);
	assert_int_equal(ut_kernel_fact_named(ut_str_of("")), UT_KERNEL_FACTS);
}

UT_TESTS(bottleneck)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_with_one_limit_are_named_by_it),
		cmocka_unit_test(without_its_unit_no_other_is_named),
		cmocka_unit_test(kernels_of_known_bounds_are_recognised),
		cmocka_unit_test(each_rule_has_its_sentence),
		cmocka_unit_test(a_full_unit_is_named),
		cmocka_unit_test(issue_slots_are_named_above_half_full_pipes),
		cmocka_unit_test(what_was_not_measured_is_not_ruled_out),
		cmocka_unit_test(few_lanes_are_divergence_where_instructions_are_busy),
		cmocka_unit_test(samples_show_what_is_waited_for_and_where),
		cmocka_unit_test(products_should_use_the_tensor_pipe),
		cmocka_unit_test(what_limits_occupancy_is_named),
		cmocka_unit_test(minor_findings_stand_behind),
		cmocka_unit_test(launches_fit_as_nsight_says),
		cmocka_unit_test(devices_are_known_by_whole_words),
		cmocka_unit_test(facts_have_many_names),
	};

	return cmocka_run_group_tests_name("metrics/bottleneck", tests, NULL, NULL);
}
