/*
 * bottleneck_units.c - the units of a device that can be what limits, and the reasons to wait that
 * samples of instructions have.
 */
#include "metrics/bottleneck_units.h"

#include <math.h>
#include <string.h>

/* What can be busy, and what speaks of it. */
const struct ut_unit ut_units[UT_UNITS] = {
	{ UT_FACT_DRAM, UT_BOUND_DRAM, "DRAM", false },
	{ UT_FACT_L2, UT_BOUND_L2, "L2", false },
	{ UT_FACT_L1, UT_BOUND_L1, "L1 and shared memory", false },
	{ UT_FACT_SHARED_PATH, UT_BOUND_SHARED, "shared memory", false },
	{ UT_FACT_ATOMICS, UT_BOUND_ATOMICS, "atomics", false },
	{ UT_FACT_TENSOR, UT_BOUND_TENSOR, "the tensor pipe", true },
	{ UT_FACT_FP64, UT_BOUND_FP64, "the FP64 pipe", true },
	{ UT_FACT_FP16, UT_BOUND_FP16, "FP16 arithmetic", true },
	{ UT_FACT_FMA, UT_BOUND_FMA, "the FP32 pipe", true },
	{ UT_FACT_ALU, UT_BOUND_ALU, "the integer pipe", true },
	{ UT_FACT_MULTIPLY, UT_BOUND_ALU, "integer multiplication", true },
	{ UT_FACT_SPECIAL, UT_BOUND_SPECIAL, "special functions", true },
	{ UT_FACT_ISSUE, UT_BOUND_ISSUE, "instruction issue", true },
	{ UT_FACT_COMPUTE, UT_BOUND_COMPUTE, "the multiprocessors", true },
};

/*
 * Without a counter of its own FP16 arithmetic shows in those of two pipes: the tensor pipe is as
 * busy as that of FP32, or twice as busy (Hopper). Then nothing tells it from products of matrices.
 */
static bool may_be_fp16(const struct ut_kernel_facts *f)
{
	double tensor = f->value[UT_FACT_TENSOR], fma = f->value[UT_FACT_FMA];

	return isnan(f->value[UT_FACT_FP16]) && tensor >= UT_BOTTLENECK_BOUND &&
	       (fabs(tensor - fma) < 1 || fabs(tensor - 2 * fma) < 1);
}

/* Known by itself, or as a part of something that is. */
bool ut_unit_is_known(const struct ut_kernel_facts *f, const struct ut_unit *u)
{
	if (u->fact == UT_FACT_COMPUTE || !isnan(f->value[u->fact]))
		return true;
	if (u->is_pipe && !isnan(f->value[UT_FACT_COMPUTE]))
		return true;
	if (u->fact == UT_FACT_MULTIPLY) /* twice as much of one half as of the whole pipe */
		return f->value[UT_FACT_FMA] < UT_BOTTLENECK_BOUND / 2;
	if (u->fact == UT_FACT_FP16)
		return !isnan(f->value[UT_FACT_FMA]) && !may_be_fp16(f); /* it shows in there */
	return u->fact == UT_FACT_SHARED_PATH && !isnan(f->value[UT_FACT_L1]);
}

bool ut_units_are_known(const struct ut_kernel_facts *f)
{
	for (size_t i = 0; i < UT_UNITS; i++) {
		if (!ut_unit_is_known(f, &ut_units[i]))
			return false;
	}
	return true;
}

/*
 * FP16 arithmetic shares its cycles with other pipes: on Hopper with both the FP32 and the tensor
 * pipe, whose counters have them too. What it explains is not theirs.
 */
static bool is_fp16_work(const struct ut_kernel_facts *f, const struct ut_unit *u)
{
	double use = f->value[u->fact], fp16 = f->value[UT_FACT_FP16];

	if (u->rule != UT_BOUND_FMA && u->rule != UT_BOUND_TENSOR)
		return false;
	if (!isnan(fp16))
		return fp16 > use / 2;
	return u->rule == UT_BOUND_TENSOR && may_be_fp16(f);
}

/*
 * How much speaks for it. Caches are as busy as DRAM when that is the limit; shared memory is a
 * part of L1; what issues instructions, and all of a multiprocessor, are named only if no pipe is.
 */
double ut_unit_weight(const struct ut_kernel_facts *f, const struct ut_unit *u)
{
	double use = f->value[u->fact];

	if (is_fp16_work(f, u))
		return 0;
	if (u->rule == UT_BOUND_DRAM)
		return use >= UT_BOTTLENECK_BOUND ? use + 25 : use;
	if (u->rule == UT_BOUND_SHARED)
		return use >= UT_BOTTLENECK_BOUND ? use + 10 : use;
	if (u->rule == UT_BOUND_ATOMICS)
		return use >= UT_BOTTLENECK_BOUND_ATOMICS
			       ? use + UT_BOTTLENECK_BOUND - UT_BOTTLENECK_BOUND_ATOMICS
			       : use;
	if (u->rule == UT_BOUND_ISSUE)
		return use >= UT_BOTTLENECK_CERTAIN
			       ? fmax(use - UT_BOTTLENECK_ISSUE_ABOVE, UT_BOTTLENECK_BOUND)
			       : fmin(use, UT_BOTTLENECK_BOUND - 1);
	if (u->rule == UT_BOUND_COMPUTE)
		return fmin(use, UT_BOTTLENECK_BOUND + 1);
	return use;
}

/* The unit that is used most; NULL = nothing is known of any. */
const struct ut_unit *ut_unit_busiest(const struct ut_kernel_facts *f)
{
	const struct ut_unit *best = NULL;

	for (size_t i = 0; i < UT_UNITS; i++) {
		if (!isnan(f->value[ut_units[i].fact]) &&
		    (!best || ut_unit_weight(f, &ut_units[i]) > ut_unit_weight(f, best)))
			best = &ut_units[i];
	}
	return best;
}

/* Counters at intervals tell nothing of what they have hit a few times only. */
bool ut_units_have_few_samples(const struct ut_kernel_facts *f)
{
	return f->value[UT_FACT_COUNTER_SAMPLES] < UT_BOTTLENECK_LEAST_SAMPLES;
}

/* What the pipe of FP32 does, as far as it is known. */
const char *ut_unit_title(const struct ut_kernel_facts *f, const struct ut_unit *u)
{
	return u->rule == UT_BOUND_FMA && isnan(f->value[UT_FACT_FP16])
		       ? "the FMA pipe (FP32 or FP16)"
		       : u->title;
}

static const struct {
	const char *reason, *text;
	bool latency; /* more work in flight would hide it */
} stalls[] = {
	{ "long_scoreboard", "global memory", true },
	{ "short_scoreboard", "shared memory or special functions", true },
	{ "wait", "the instruction before, which takes its fixed time", true },
	{ "Sbid", "memory or another slow unit", true },
	{ "Dist", "the result of an instruction before", true },
	{ "imc_miss", "constants", true },
	{ "no_instruction", "the next instruction", true },
	{ "no_instructions", "the next instruction", true },
	{ "InstrFetch", "the next instruction", true },
	{ "branch_resolve", "the target of a branch", true },
	{ "branch_resolving", "the target of a branch", true },
	{ "Control", "the target of a branch", true },
	{ "gmma", "matrix instructions of the warp group", true },
	{ "barrier", "other warps at a barrier", false },
	{ "Sync", "other threads at a barrier", false },
	{ "membar", "a memory fence", false },
	{ "math_pipe_throttle", "the arithmetic pipe", false },
	{ "Pipe", "a pipe that is taken", false },
	{ "mio_throttle", "the queue of shared memory and special functions", false },
	{ "lg_throttle", "the queue of global memory", false },
	{ "Send", "the queue of messages to memory", false },
	{ "tex_throttle", "the queue of textures", false },
	{ "dispatch", "the dispatcher", false },
	{ "drain", "stores at its end", false },
	{ "sleeping", "its own sleep", false },
};

/* Intel's driver calls them SbidStall, its tools sbid or Sbid. */
const char *ut_stall_words(struct ut_str reason, bool *latency)
{
	if (ut_str_has_end(reason, "Stall"))
		reason.len -= strlen("Stall");
	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++) {
		if (ut_str_is(reason, stalls[i].reason)) {
			*latency = stalls[i].latency;
			return stalls[i].text;
		}
	}
	*latency = false;
	return NULL;
}
