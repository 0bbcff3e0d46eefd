/*
 * verdict.c - the rules, as a table: each looks at a few facts and speaks or does not. The order is
 * that of the table; rules about something that costs little (minor) come behind all others.
 */
#include "metrics/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/classify.h"
#include "text/cells.h"

/* Thresholds; docs/guides/kernels.md says why. Percent, unless the name says otherwise. */
#define BOUND          60.0 /* a unit is what limits, from here on */
#define USED           40.0 /* it may be: below, waste there costs little */
#define READ_STALLS    "see the report of stalls: unitrace metrics -s"
#define LEAST_STALL    30.0 /* of samples, to be told */
#define LEAST_TAIL     0.2  /* of the time, to be told */
#define FULL_GRID      75.0 /* of multiprocessors */
#define LOW_OCCUPANCY  50.0
#define UNEVEN         0.6 /* of the warps that could be in flight */
#define LONG_LAUNCH_NS 20000.0
#define TINY_NS        3000.0 /* where nobody knows what a launch takes */
#define WIDE_SECTORS   16.0   /* the widest load of a warp, coalesced: 32 x 16 bytes */
#define HALF_SECTOR    16.0   /* bytes */

const struct ut_kernel_fact_info ut_kernel_fact_info[UT_KERNEL_FACTS] = {
#define FACT_INFO(name, key, unit, about) { key, unit, about },
	UT_KERNEL_FACT_LIST(FACT_INFO)
#undef FACT_INFO
};

static const struct {
	const char *key, *title;
} words[UT_KERNEL_RULES] = {
#define RULE_WORDS(name, key, title) { key, title },
	UT_KERNEL_RULE_LIST(RULE_WORDS)
#undef RULE_WORDS
};

const char *ut_kernel_rule_key(enum ut_kernel_rule rule)
{
	return words[rule].key;
}

const char *ut_kernel_rule_title(enum ut_kernel_rule rule)
{
	return words[rule].title;
}

void ut_kernel_facts_init(struct ut_kernel_facts *f)
{
	*f = (struct ut_kernel_facts){ .name = { "", 0 }, .reason = { "", 0 }, .place = { "", 0 } };
	for (size_t i = 0; i < UT_KERNEL_FACTS; i++)
		f->value[i] = NAN;
}

/* ---- what rules say ------------------------------------------------------------------------ */

/* While a rule speaks. */
struct speech {
	const struct ut_kernel_facts *f;
	struct ut_kernel_verdict *v;
	bool minor; /* true, but not what costs most */
};

static void say(struct speech *s, const char *fmt, ...) UT_PRINTF(2, 3);

static void say(struct speech *s, const char *fmt, ...)
{
	size_t len = strlen(s->v->sentence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->v->sentence + len, sizeof(s->v->sentence) - len, fmt, ap);
	va_end(ap);
}

static void show(struct speech *s, enum ut_kernel_fact fact)
{
	if (!isnan(s->f->value[fact]) && s->v->evidence_count < UT_VERDICT_EVIDENCE)
		s->v->evidence[s->v->evidence_count++] = fact;
}

static double value(const struct speech *s, enum ut_kernel_fact fact)
{
	return s->f->value[fact];
}

static const char *time_text(char buf[UT_CELL_TIME], double ns)
{
	return ut_cell_time(buf, ns > 0 ? (uint64_t)(ns + 0.5) : 0);
}

static bool launch_bound(struct speech *s)
{
	double mean = value(s, UT_FACT_MEAN), launch = value(s, UT_FACT_LAUNCH);
	char a[UT_CELL_TIME], b[UT_CELL_TIME];
	bool known = launch > 0;

	if (!(mean < (known ? launch : TINY_NS)) || mean > LONG_LAUNCH_NS)
		return false;
	say(s, "runs %s", time_text(a, mean));
	if (known)
		say(s, " and takes %s to launch", time_text(b, launch));
	else
		say(s, ", which a launch takes as well");
	if (value(s, UT_FACT_FILL) < 100)
		say(s, ", on %.3g %% of the multiprocessors", value(s, UT_FACT_FILL));
	s->v->loss = known ? 1 - mean / launch : NAN;
	show(s, UT_FACT_MEAN);
	show(s, UT_FACT_LAUNCH);
	show(s, UT_FACT_FILL);
	return true;
}

static bool small_grid(struct speech *s)
{
	double fill = value(s, UT_FACT_FILL);

	if (!(fill < FULL_GRID))
		return false;
	say(s, "its %.0f block%s fill%s %.3g %% of %.0f multiprocessors", value(s, UT_FACT_BLOCKS),
	    value(s, UT_FACT_BLOCKS) < 2 ? "" : "s", value(s, UT_FACT_BLOCKS) < 2 ? "s" : "", fill,
	    value(s, UT_FACT_PROCESSORS));
	s->v->loss = 1 - fill / 100;
	show(s, UT_FACT_BLOCKS);
	show(s, UT_FACT_PROCESSORS);
	show(s, UT_FACT_FILL);
	return true;
}

static bool tail(struct speech *s)
{
	double waves = value(s, UT_FACT_WAVES), loss = 1 - waves / ceil(waves);

	if (!(waves > 1) || !(loss >= LEAST_TAIL))
		return false;
	say(s, "the last of %.3g waves is nearly empty: up to %.0f %% of its time goes there",
	    waves, 100 * loss);
	s->v->loss = loss;
	show(s, UT_FACT_WAVES);
	show(s, UT_FACT_BLOCKS);
	show(s, UT_FACT_FIT);
	show(s, UT_FACT_PROCESSORS);
	return true;
}

/* Is memory known, and hardly used? */
static bool memory_is_idle(const struct speech *s)
{
	double most = fmax(value(s, UT_FACT_DRAM),
			   fmax(value(s, UT_FACT_L2), value(s, UT_FACT_L1))); /* NAN loses */

	return most < USED;
}

static bool uncoalesced(struct speech *s)
{
	double bytes = value(s, UT_FACT_LOAD_BYTES), loads = value(s, UT_FACT_LOAD_SECTORS);
	double stores = value(s, UT_FACT_STORE_SECTORS);

	if (bytes > 0 && bytes < HALF_SECTOR) {
		say(s, "uncoalesced loads: %.3g of 32 bytes of each sector are used", bytes);
		s->v->loss = 1 - bytes / 32;
	} else if (loads > WIDE_SECTORS || stores > WIDE_SECTORS) {
		bool load = loads > stores || isnan(stores);
		double most = load ? loads : stores;

		say(s, "uncoalesced %s: %.3g sectors for each request of a warp",
		    load ? "loads" : "stores", most);
		s->v->loss = 1 - WIDE_SECTORS / most;
	} else {
		return false;
	}
	if (value(s, UT_FACT_DRAM) >= BOUND)
		say(s, ", and DRAM is at %.0f %% of its peak", value(s, UT_FACT_DRAM));
	s->minor = memory_is_idle(s);
	show(s, UT_FACT_LOAD_BYTES);
	show(s, UT_FACT_LOAD_SECTORS);
	show(s, UT_FACT_STORE_SECTORS);
	show(s, UT_FACT_DRAM);
	return true;
}

/* A unit is used so much that nothing else can limit. */
static bool bound_by(struct speech *s, enum ut_kernel_fact fact, const char *unit)
{
	double use = value(s, fact);

	if (!(use >= BOUND))
		return false;
	say(s, "bound by %s at %.0f %% of its peak", unit, use);
	s->v->loss = use < 100 ? 1 - use / 100 : 0;
	show(s, fact);
	show(s, UT_FACT_ACHIEVED);
	return true;
}

static bool by_dram(struct speech *s)
{
	return bound_by(s, UT_FACT_DRAM, "DRAM");
}

static bool by_tensor(struct speech *s)
{
	return bound_by(s, UT_FACT_TENSOR, "the tensor pipe");
}

static bool by_fp64(struct speech *s)
{
	return bound_by(s, UT_FACT_FP64, "the FP64 pipe");
}

static bool by_fma(struct speech *s)
{
	return bound_by(s, UT_FACT_FMA, "the FP32 pipe");
}

static bool by_alu(struct speech *s)
{
	return bound_by(s, UT_FACT_ALU, "the integer pipe");
}

static bool by_l1(struct speech *s)
{
	return bound_by(s, UT_FACT_L1, "L1 and shared memory");
}

static bool by_l2(struct speech *s)
{
	return bound_by(s, UT_FACT_L2, "L2");
}

static bool by_compute(struct speech *s)
{
	return bound_by(s, UT_FACT_COMPUTE, "the multiprocessors");
}

static bool name_has(const struct speech *s, const char *const *parts)
{
	for (; *parts; parts++) {
		if (ut_str_find(s->f->name, *parts))
			return true;
	}
	return false;
}

/* A product of matrices that says in its name, or by its counters, that FP32 units compute it. */
static bool no_tensor(struct speech *s)
{
	static const char *const products[] = { "gemm", "Gemm", "GEMM", "matmul", "conv", NULL };
	static const char *const plain[] = { "simt_", "_ffma_", "sgemm_", "SGEMM", NULL };
	double tensor = value(s, UT_FACT_TENSOR);

	if (!name_has(s, products) || !(tensor < 1 || (isnan(tensor) && name_has(s, plain))))
		return false;
	say(s, "a product of matrices without the tensor pipe");
	if (value(s, UT_FACT_FMA) > 0)
		say(s, ": the FP32 pipe does it at %.0f %% of its peak", value(s, UT_FACT_FMA));
	show(s, UT_FACT_TENSOR);
	show(s, UT_FACT_FMA);
	return true;
}

/* ---- stalls -------------------------------------------------------------------------------- */

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
static const char *stall_words(struct ut_str reason, bool *latency)
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

static void say_stall(struct speech *s, const char *text)
{
	struct ut_buf place = { 0 };

	say(s, "%.0f %% of samples wait for %s", value(s, UT_FACT_STALL), text);
	if (value(s, UT_FACT_STALL_PLACE) > 0 && s->f->place.len) {
		ut_cell_name(&place, s->f->place.ptr, s->f->place.len, 80);
		say(s, ", %.0f %% at %s", value(s, UT_FACT_STALL_PLACE), place.data);
		ut_buf_release(&place);
	}
	show(s, UT_FACT_STALL);
	show(s, UT_FACT_STALL_PLACE);
	show(s, UT_FACT_SAMPLES);
	show(s, UT_FACT_ACHIEVED);
}

/* The most used of what is known of its units; NAN = nothing is. */
static double most_used(const struct speech *s)
{
	static const enum ut_kernel_fact units[] = { UT_FACT_DRAM,   UT_FACT_L2,     UT_FACT_L1,
						     UT_FACT_FMA,    UT_FACT_FP64,   UT_FACT_ALU,
						     UT_FACT_TENSOR, UT_FACT_COMPUTE };
	double most = NAN;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		most = fmax(most, value(s, units[i]));
	return most;
}

/* Memory and arithmetic: what none of them is busy with is lost. */
static bool is_measured(const struct speech *s)
{
	return !isnan(value(s, UT_FACT_DRAM)) &&
	       (!isnan(value(s, UT_FACT_FMA)) || !isnan(value(s, UT_FACT_COMPUTE)));
}

static bool latency(struct speech *s)
{
	bool hidden = false;
	const char *text = stall_words(s->f->reason, &hidden);
	double most = most_used(s);

	if (text && hidden && value(s, UT_FACT_STALL) >= LEAST_STALL) {
		say(s, "latency-bound: ");
		say_stall(s, text);
	} else if (is_measured(s) && most < USED && isnan(value(s, UT_FACT_STALL))) {
		say(s, "latency-bound: no unit is used more than %.0f %%", most);
		show(s, UT_FACT_DRAM);
		show(s, UT_FACT_FMA);
		show(s, UT_FACT_COMPUTE);
		show(s, UT_FACT_ACHIEVED);
		show(s, UT_FACT_OCCUPANCY);
	} else {
		return false;
	}
	s->v->loss = isnan(most) || most > 100 ? NAN : 1 - most / 100;
	return true;
}

static bool stalled(struct speech *s)
{
	bool hidden = false;
	const char *text = stall_words(s->f->reason, &hidden);

	if (!text || hidden || !(value(s, UT_FACT_STALL) >= LEAST_STALL))
		return false;
	say_stall(s, text);
	return true;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* The figure behind the limit of occupancy. */
static void say_limit(struct speech *s)
{
	if (!s->f->limit)
		return;
	say(s, " by %s", s->f->limit);
	if (!strcmp(s->f->limit, "registers"))
		say(s, " (%.0f a thread)", value(s, UT_FACT_REGISTERS));
	else if (!strcmp(s->f->limit, "shared memory"))
		say(s, " (%.3g KiB a block)", value(s, UT_FACT_SHARED) / 1024);
	else
		say(s, " (%.0f threads)", value(s, UT_FACT_THREADS));
}

static bool low_occupancy(struct speech *s)
{
	if (!(value(s, UT_FACT_OCCUPANCY) < LOW_OCCUPANCY))
		return false;
	say(s, "occupancy limited to %.0f %%", value(s, UT_FACT_OCCUPANCY));
	say_limit(s);
	show(s, UT_FACT_OCCUPANCY);
	show(s, UT_FACT_FIT);
	show(s, UT_FACT_REGISTERS);
	show(s, UT_FACT_SHARED);
	show(s, UT_FACT_THREADS);
	return true;
}

static bool spilled(struct speech *s)
{
	if (!(value(s, UT_FACT_LOCAL) > 0))
		return false;
	say(s, "%.0f bytes of local memory a thread: spilled registers or arrays",
	    value(s, UT_FACT_LOCAL));
	s->minor = true;
	show(s, UT_FACT_LOCAL);
	show(s, UT_FACT_REGISTERS);
	return true;
}

static bool uneven(struct speech *s)
{
	double could = value(s, UT_FACT_OCCUPANCY), was = value(s, UT_FACT_ACHIEVED);

	if (!(was < UNEVEN * could))
		return false;
	say(s,
	    "%.0f %% of the warps that fit were in flight, %.0f %% could be: blocks end at "
	    "different times, or there are too few",
	    was, could);
	s->minor = true;
	show(s, UT_FACT_ACHIEVED);
	show(s, UT_FACT_OCCUPANCY);
	show(s, UT_FACT_WAVES);
	return true;
}

/* Samples without units: many small reasons are an answer, too. */
static bool many_reasons(struct speech *s)
{
	bool hidden;
	const char *text = stall_words(s->f->reason, &hidden);

	if (!text || isnan(value(s, UT_FACT_STALL)))
		return false;
	say(s, "no single reason to wait: at most ");
	say_stall(s, text);
	s->v->advice = READ_STALLS;
	return true;
}

static bool nothing(struct speech *s)
{
	double most = most_used(s);

	if (isnan(most))
		return many_reasons(s);
	if (is_measured(s)) {
		say(s, "no single limit: the most used unit is at %.0f %% of its peak", most);
		s->v->loss = most < 100 ? 1 - most / 100 : 0;
	} else {
		say(s,
		    "not bound by what was measured: the most used unit is at %.0f %% of its peak",
		    most);
		s->v->advice = "record with -q -g ComputeExtended, or with --stall-sampling";
	}
	show(s, UT_FACT_DRAM);
	show(s, UT_FACT_FMA);
	show(s, UT_FACT_TENSOR);
	show(s, UT_FACT_COMPUTE);
	show(s, UT_FACT_OCCUPANCY);
	return true;
}

static bool unknown(struct speech *s)
{
	say(s, "not measured");
	show(s, UT_FACT_OCCUPANCY);
	show(s, UT_FACT_WAVES);
	return true;
}

/* How long such a kernel takes is decided elsewhere: nothing else is said about it. */
static bool collective(struct speech *s)
{
	if (!ut_is_nccl_kernel(s->f->name))
		return false;
	say(s, "moves data between ranks, and takes as long as the last of them is late");
	show(s, UT_FACT_MEAN);
	return true;
}

static const struct {
	bool (*speaks)(struct speech *s);
	const char *advice;
} rules[UT_KERNEL_RULES] = {
	[UT_BOUND_LAUNCH] = { launch_bound,
			      "do more in one launch: larger batches, fused operators "
			      "(torch.compile), CUDA graphs" },
	[UT_BOUND_GRID] = { small_grid, "split the work into more blocks, or run other kernels "
					"beside it on another stream" },
	[UT_BOUND_TAIL] = { tail, "choose grid or block so that the waves come out even, or let "
				  "blocks take the next piece of work when they are ready" },
	[UT_BOUND_ACCESS] = { uncoalesced, "let neighbouring threads use neighbouring addresses: "
					   "change the layout, or load through shared memory" },
	[UT_BOUND_DRAM] = { by_dram, "move fewer bytes: fuse it with its neighbours, use smaller "
				     "types, reuse what is in caches" },
	[UT_BOUND_TENSOR] = { by_tensor, "this is what the device is for; smaller types (FP8) are "
					 "faster still" },
	[UT_BOUND_NO_TENSOR] = { no_tensor, "allow TF32 (torch.set_float32_matmul_precision), or "
					    "compute in BF16 or FP16" },
	[UT_BOUND_FP64] = { by_fp64, "use FP32 where that is enough" },
	[UT_BOUND_FMA] = { by_fma, "need fewer operations, or use the tensor pipe" },
	[UT_BOUND_ALU] = { by_alu,
			   "compute indices less often, with 32 bits and outside of loops" },
	[UT_BOUND_L1] = { by_l1, "wider accesses, fewer of them, no conflicts of banks; keep "
				 "operands in registers" },
	[UT_BOUND_L2] = { by_l2, "more reuse in L1, shared memory and registers" },
	[UT_BOUND_COMPUTE] = { by_compute, "need fewer instructions; -q with another group tells "
					   "which pipe it is" },
	[UT_BOUND_LATENCY] = { latency, "more in flight: independent loads before the first use, "
					"more warps, unrolled loops" },
	[UT_BOUND_STALL] = { stalled, READ_STALLS },
	[UT_BOUND_OCCUPANCY] = { low_occupancy, "fewer registers (__launch_bounds__), less shared "
						"memory, or another size of blocks" },
	[UT_BOUND_SPILL] = { spilled, "fewer live values, or more registers for a thread" },
	[UT_BOUND_BALANCE] = { uneven, "give all blocks the same work, and many more blocks than "
				       "fit at once" },
	[UT_BOUND_NOTHING] = { nothing, "what waits for what is told by --stall-sampling" },
	[UT_BOUND_UNKNOWN] = { unknown, "record with -q, or with --stall-sampling" },
	[UT_BOUND_RANKS] = { collective, "unitrace ranks tells who comes last, and why" },
};

/* What is only said if nothing else can be. */
static bool is_last_word(size_t rule)
{
	return rule == UT_BOUND_NOTHING || rule == UT_BOUND_UNKNOWN;
}

size_t ut_kernel_verdicts(const struct ut_kernel_facts *f,
			  struct ut_kernel_verdict verdicts[UT_VERDICTS_MOST])
{
	struct ut_kernel_verdict minor[UT_KERNEL_RULES] = { 0 };
	size_t count = 0, minors = 0;

	for (size_t i = ut_is_nccl_kernel(f->name) ? UT_BOUND_RANKS : 0; i < UT_KERNEL_RULES; i++) {
		struct ut_kernel_verdict v = { .rule = (enum ut_kernel_rule)i,
					       .advice = rules[i].advice,
					       .loss = NAN };
		struct speech s = { f, &v, false };

		if ((is_last_word(i) && count) || !rules[i].speaks(&s))
			continue;
		if (s.minor)
			minor[minors++] = v;
		else if (count < UT_VERDICTS_MOST)
			verdicts[count++] = v;
	}
	for (size_t i = 0; i < minors && count < UT_VERDICTS_MOST; i++)
		verdicts[count++] = minor[i];
	return count;
}
