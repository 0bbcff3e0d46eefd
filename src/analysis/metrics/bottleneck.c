/*
 * bottleneck.c - the rules, as a table: each looks at a few facts and speaks or does not. The order
 * is that of the table; rules about something that costs little (minor) come behind all others.
 */
#include "metrics/bottleneck.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "metrics/bottleneck_units.h"
#include "model/classify.h"
#include "text/cells.h"

/* Thresholds; docs/guides/kernels.md says why. Percent, unless the name says otherwise. */
#define USED           40.0 /* it may be: below, waste there costs little */
#define BUSY           20.0 /* instructions are issued at a rate that matters */
#define FEW_LANES      0.67 /* of those that a warp of such a block has */
#define CONFLICTS      30.0 /* of shared memory's cycles */
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
#define MOST_NAMED     5u     /* units that were not measured */

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
	struct ut_kernel_bottleneck *v;
	bool minor; /* true, but not what costs most */
};

static void bottleneck_say(struct speech *s, const char *fmt, ...) UT_PRINTF(2, 3);

static void bottleneck_say(struct speech *s, const char *fmt, ...)
{
	size_t len = strlen(s->v->sentence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->v->sentence + len, sizeof(s->v->sentence) - len, fmt, ap);
	va_end(ap);
}

static void bottleneck_show(struct speech *s, enum ut_kernel_fact fact)
{
	for (size_t i = 0; i < s->v->evidence_count; i++) {
		if (s->v->evidence[i] == fact)
			return;
	}
	if (!isnan(s->f->value[fact]) && s->v->evidence_count < UT_BOTTLENECK_EVIDENCE)
		s->v->evidence[s->v->evidence_count++] = fact;
}

static double value(const struct speech *s, enum ut_kernel_fact fact)
{
	return s->f->value[fact];
}

/* ---- units ---------------------------------------------------------------------------------- */

/* The use of a unit, whichever, that is used most; NAN = nothing is known. */
static double most_used(const struct speech *s)
{
	double most = NAN;

	for (size_t i = 0; i < UT_UNITS; i++)
		most = fmax(most, value(s, ut_units[i].fact));
	return most;
}

/* "FP64 pipe, L2 and atomics": what could be the limit for all we know; "most units". */
static void say_unknown(struct speech *s)
{
	const char *names[UT_UNITS + 1];
	size_t count = 0;

	for (size_t i = 0; i < UT_UNITS; i++) {
		if (ut_unit_is_known(s->f, &ut_units[i]) || ut_units[i].rule == UT_BOUND_SHARED)
			continue;
		names[count++] =
			ut_units[i].title + (strncmp(ut_units[i].title, "the ", 4) ? 0 : 4);
	}
	if (isnan(value(s, UT_FACT_LANES)) && !isnan(value(s, UT_FACT_ISSUE)))
		names[count++] = "divergent branches";
	bottleneck_say(s, "not measured: ");
	if (count > MOST_NAMED) {
		bottleneck_say(s, "most units");
		return;
	}
	for (size_t i = 0; i < count; i++)
		bottleneck_say(s, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", names[i]);
}

/* ---- rules ------------------------------------------------------------------------------ */

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
	bottleneck_say(s, "runs %s", time_text(a, mean));
	if (known)
		bottleneck_say(s, " and takes %s to launch", time_text(b, launch));
	else
		bottleneck_say(s, ", which a launch takes as well");
	if (value(s, UT_FACT_FILL) < 100)
		bottleneck_say(s, ", on %.3g %% of the multiprocessors", value(s, UT_FACT_FILL));
	s->v->loss = known ? 1 - mean / launch : NAN;
	bottleneck_show(s, UT_FACT_MEAN);
	bottleneck_show(s, UT_FACT_LAUNCH);
	bottleneck_show(s, UT_FACT_FILL);
	return true;
}

/* Memory that all multiprocessors share is the limit, however many of them work. */
static bool device_is_full(const struct speech *s)
{
	return fmax(value(s, UT_FACT_DRAM), value(s, UT_FACT_L2)) >= UT_BOTTLENECK_CERTAIN;
}

static bool small_grid(struct speech *s)
{
	double fill = value(s, UT_FACT_FILL);

	if (!(fill < FULL_GRID))
		return false;
	bottleneck_say(s, "its %.0f block%s fill%s %.3g %% of %.0f multiprocessors",
		       value(s, UT_FACT_BLOCKS), value(s, UT_FACT_BLOCKS) < 2 ? "" : "s",
		       value(s, UT_FACT_BLOCKS) < 2 ? "s" : "", fill, value(s, UT_FACT_PROCESSORS));
	s->v->loss = 1 - fill / 100;
	s->minor = device_is_full(s);
	bottleneck_show(s, UT_FACT_BLOCKS);
	bottleneck_show(s, UT_FACT_PROCESSORS);
	bottleneck_show(s, UT_FACT_FILL);
	return true;
}

static bool tail(struct speech *s)
{
	double waves = value(s, UT_FACT_WAVES), loss = 1 - waves / ceil(waves);

	if (!(waves > 1) || !(loss >= LEAST_TAIL) ||
	    value(s, UT_FACT_ACTIVE) > 100 * (1 - loss / 2))
		return false;
	s->minor = device_is_full(s) || isnan(most_used(s));
	bottleneck_say(
		s, "the last of %.3g waves is nearly empty: up to %.0f %% of its time goes there",
		waves, 100 * loss);
	s->v->loss = loss;
	bottleneck_show(s, UT_FACT_WAVES);
	bottleneck_show(s, UT_FACT_BLOCKS);
	bottleneck_show(s, UT_FACT_FIT);
	bottleneck_show(s, UT_FACT_PROCESSORS);
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
		bottleneck_say(s, "uncoalesced loads: %.3g of 32 bytes of each sector are used",
			       bytes);
		s->v->loss = 1 - bytes / 32;
	} else if (loads > WIDE_SECTORS || stores > WIDE_SECTORS) {
		bool load = loads > stores || isnan(stores);
		double most = load ? loads : stores;

		bottleneck_say(s, "uncoalesced %s: %.3g sectors for each request of a warp",
			       load ? "loads" : "stores", most);
		s->v->loss = 1 - WIDE_SECTORS / most;
	} else {
		return false;
	}
	if (value(s, UT_FACT_DRAM) >= UT_BOTTLENECK_BOUND)
		bottleneck_say(s, ", and DRAM is at %.0f %% of its peak", value(s, UT_FACT_DRAM));
	s->minor = memory_is_idle(s);
	bottleneck_show(s, UT_FACT_LOAD_BYTES);
	bottleneck_show(s, UT_FACT_LOAD_SECTORS);
	bottleneck_show(s, UT_FACT_STORE_SECTORS);
	bottleneck_show(s, UT_FACT_DRAM);
	return true;
}

/* A unit is used so much that nothing else can limit. */
static bool bound_by(struct speech *s, enum ut_kernel_fact fact)
{
	const struct ut_unit *u = NULL, *most = ut_unit_busiest(s->f);
	double use = value(s, fact);

	for (size_t i = 0; i < UT_UNITS; i++) {
		if (ut_units[i].fact == fact)
			u = &ut_units[i];
	}
	if (!u || isnan(use) || !(ut_unit_weight(s->f, u) >= UT_BOTTLENECK_BOUND) ||
	    ut_units_have_few_samples(s->f) ||
	    (use < UT_BOTTLENECK_CERTAIN && !ut_units_are_known(s->f)))
		return false;
	if (fact == UT_FACT_L2 && isnan(value(s, UT_FACT_DRAM)))
		return false; /* it is as busy when DRAM is the limit */
	if (fact == UT_FACT_ATOMICS)
		bottleneck_say(
			s, "bound by atomics: L2's busiest unit for them is at %.0f %% of its peak",
			use);
	else
		bottleneck_say(s, "bound by %s at %.0f %% of its peak", ut_unit_title(s->f, u),
			       use);
	if (u->is_pipe && fact != UT_FACT_TENSOR && fact != UT_FACT_COMPUTE &&
	    isnan(value(s, UT_FACT_LANES)) && isnan(value(s, UT_FACT_COMPUTE)))
		bottleneck_say(s, "; divergent branches were not measured");
	if (fact != UT_FACT_ATOMICS) /* nobody knows where that one is full */
		s->v->loss = use < 100 ? 1 - use / 100 : 0;
	s->minor = u != most;
	bottleneck_show(s, fact);
	if (fact == UT_FACT_ATOMICS)
		bottleneck_show(s, UT_FACT_ATOMIC_SHARE);
	bottleneck_show(s, UT_FACT_ACHIEVED);
	return true;
}

static bool by_dram(struct speech *s)
{
	return bound_by(s, UT_FACT_DRAM);
}

static bool by_tensor(struct speech *s)
{
	return bound_by(s, UT_FACT_TENSOR);
}

static bool by_fp64(struct speech *s)
{
	return bound_by(s, UT_FACT_FP64);
}

static bool by_fp16(struct speech *s)
{
	return bound_by(s, UT_FACT_FP16);
}

static bool by_fma(struct speech *s)
{
	return bound_by(s, UT_FACT_FMA);
}

static bool by_alu(struct speech *s)
{
	double alu = value(s, UT_FACT_ALU), multiply = value(s, UT_FACT_MULTIPLY);

	return bound_by(s, isnan(alu) || multiply > alu ? UT_FACT_MULTIPLY : UT_FACT_ALU);
}

static bool by_special(struct speech *s)
{
	return bound_by(s, UT_FACT_SPECIAL);
}

static bool by_shared(struct speech *s)
{
	return bound_by(s, UT_FACT_SHARED_PATH);
}

/* Of the shared memory's cycles, many repeat an access for lanes that want the same bank. */
static bool by_conflicts(struct speech *s)
{
	double share = value(s, UT_FACT_CONFLICTS), use = value(s, UT_FACT_SHARED_PATH);
	const struct ut_unit *most = ut_unit_busiest(s->f);

	if (!(share >= CONFLICTS) || !(use >= BUSY) || ut_units_have_few_samples(s->f))
		return false;
	s->minor = use < UT_BOTTLENECK_BOUND || !most || most->fact != UT_FACT_SHARED_PATH;
	bottleneck_say(s,
		       "%s: %.0f %% of shared memory's cycles repeat an access, and it is at %.0f "
		       "%% of its "
		       "peak",
		       s->minor ? "bank conflicts" : "bound by bank conflicts", share, use);
	s->v->loss = share / 100 * fmin(use / 100, 1);
	bottleneck_show(s, UT_FACT_CONFLICTS);
	bottleneck_show(s, UT_FACT_SHARED_PATH);
	return true;
}

/* The unit for atomics is full, or they are most of what little is asked of L2. */
static bool by_atomics(struct speech *s)
{
	double share = value(s, UT_FACT_ATOMIC_SHARE), use = value(s, UT_FACT_ATOMICS);
	const struct ut_unit *most = ut_unit_busiest(s->f);

	if (bound_by(s, UT_FACT_ATOMICS))
		return true;
	if (!(share >= 50) || !(use >= BUSY) || !most ||
	    ut_unit_weight(s->f, most) >= UT_BOTTLENECK_BOUND)
		return false;
	bottleneck_say(s,
		       "waits for atomics: %.0f %% of what it asks of L2, whose busiest unit for "
		       "them is at "
		       "%.0f %% of its peak",
		       share, use);
	bottleneck_show(s, UT_FACT_ATOMIC_SHARE);
	bottleneck_show(s, UT_FACT_ATOMICS);
	return true;
}

static bool by_l1(struct speech *s)
{
	return bound_by(s, UT_FACT_L1);
}

static bool by_l2(struct speech *s)
{
	return bound_by(s, UT_FACT_L2);
}

static bool by_compute(struct speech *s)
{
	return bound_by(s, UT_FACT_COMPUTE);
}

static bool by_issue(struct speech *s)
{
	return bound_by(s, UT_FACT_ISSUE);
}

/* Instructions run for a few lanes of each warp, and multiprocessors are busy with them. */
static bool divergent(struct speech *s)
{
	double lanes = value(s, UT_FACT_LANES), threads = value(s, UT_FACT_THREADS);
	double whole = threads > 0 ? threads / ceil(threads / 32) : 32; /* the last has the rest */
	double memory =
		fmax(value(s, UT_FACT_DRAM), fmax(value(s, UT_FACT_L2), value(s, UT_FACT_TENSOR)));

	if (!(lanes <= FEW_LANES * whole))
		return false;
	bottleneck_say(s,
		       "divergent branches: an instruction runs for %.3g of %.3g threads of a warp",
		       lanes, whole);
	if (value(s, UT_FACT_ISSUE) >= 0)
		bottleneck_say(s, ", and instructions are issued at %.0f %% of the peak",
			       value(s, UT_FACT_ISSUE));
	s->minor = memory >= UT_BOTTLENECK_BOUND || !(most_used(s) >= BUSY);
	s->v->loss = 1 - lanes / whole;
	bottleneck_show(s, UT_FACT_LANES);
	bottleneck_show(s, UT_FACT_ISSUE);
	bottleneck_show(s, UT_FACT_ACHIEVED);
	return true;
}

static bool name_has(const struct speech *s, const char *const *parts)
{
	for (; *parts; parts++) {
		if (ut_str_find(s->f->name, *parts))
			return true;
	}
	return false;
}

/* A GEMM that says in its name, or by its counters, that FP32 units compute it. */
static bool no_tensor(struct speech *s)
{
	static const char *const products[] = { "gemm", "Gemm", "GEMM", "matmul", "conv", NULL };
	static const char *const plain[] = { "simt_", "_ffma_", "sgemm_", "SGEMM", NULL };
	double tensor = value(s, UT_FACT_TENSOR);

	if (!name_has(s, products) || !(tensor < 1 || (isnan(tensor) && name_has(s, plain))))
		return false;
	bottleneck_say(s, "GEMM that does not use Tensor Cores");
	if (value(s, UT_FACT_FMA) > 0)
		bottleneck_say(s, ": the FP32 pipe does it at %.0f %% of its peak",
			       value(s, UT_FACT_FMA));
	bottleneck_show(s, UT_FACT_TENSOR);
	bottleneck_show(s, UT_FACT_FMA);
	return true;
}

/* ---- stalls -------------------------------------------------------------------------------- */

/* Atomic functions are inlined from headers of CUDA: its line is in one of them. */
static bool is_at_atomics(const struct speech *s)
{
	return ut_str_find(s->f->place, "_atomic_functions.h") &&
	       (ut_str_is(s->f->reason, "lg_throttle") ||
		ut_str_is(s->f->reason, "long_scoreboard"));
}

static void say_stall(struct speech *s, const char *text)
{
	struct ut_buf place = { 0 };

	bottleneck_say(s, "%.0f %% of samples%s%s", value(s, UT_FACT_STALL),
		       text ? " wait for " : "", text ? text : "");
	if (value(s, UT_FACT_STALL_PLACE) > 0 && s->f->place.len) {
		ut_cell_name(&place, s->f->place.ptr, s->f->place.len, 80);
		bottleneck_say(s, ", %.0f %% at %s", value(s, UT_FACT_STALL_PLACE), place.data);
		ut_buf_release(&place);
	}
	bottleneck_show(s, UT_FACT_STALL);
	bottleneck_show(s, UT_FACT_STALL_PLACE);
	bottleneck_show(s, UT_FACT_SAMPLES);
	bottleneck_show(s, UT_FACT_ACHIEVED);
}

/* Every unit that could be the limit was measured, and none is. */
static bool nothing_is_busy(const struct speech *s)
{
	return ut_units_are_known(s->f) && !ut_units_have_few_samples(s->f) && most_used(s) < USED;
}

static bool latency(struct speech *s)
{
	bool hidden = false;
	const char *text = ut_stall_words(s->f->reason, &hidden);
	double most = most_used(s);

	if (!nothing_is_busy(s))
		return false;
	bottleneck_say(s, "latency-bound: ");
	if (text && hidden && value(s, UT_FACT_STALL) >= LEAST_STALL) {
		say_stall(s, text);
	} else {
		bottleneck_say(s, "no unit is used more than %.0f %%", most);
		if (value(s, UT_FACT_ACHIEVED) >= 0)
			bottleneck_say(s, ", and %.2g %% of the warps that fit are in flight",
				       value(s, UT_FACT_ACHIEVED));
	}
	bottleneck_show(s, UT_FACT_DRAM);
	bottleneck_show(s, UT_FACT_ISSUE);
	bottleneck_show(s, UT_FACT_COMPUTE);
	bottleneck_show(s, UT_FACT_ACHIEVED);
	bottleneck_show(s, UT_FACT_OCCUPANCY);
	s->v->loss = 1 - most / 100;
	return true;
}

/* Samples of instructions alone do not tell whether memory is slow or full. */
static bool memory_wait(struct speech *s)
{
	static const char *const memory[] = { "long_scoreboard", "Sbid", "SbidStall" };
	bool hidden, is_memory = false;
	const char *text = ut_stall_words(s->f->reason, &hidden);

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		is_memory = is_memory || ut_str_is(s->f->reason, memory[i]);
	if (!text || !is_memory || !(value(s, UT_FACT_STALL) >= LEAST_STALL) || nothing_is_busy(s))
		return false;
	bottleneck_say(s, "waits for %s: ",
		       is_at_atomics(s)                ? "atomics"
		       : strcmp(text, "global memory") ? text
						       : "memory");
	say_stall(s, NULL);
	if (isnan(value(s, UT_FACT_DRAM)))
		bottleneck_say(s, "; bandwidth or latency was not measured");
	return true;
}

static bool stalled(struct speech *s)
{
	bool hidden = false;
	const char *text = ut_stall_words(s->f->reason, &hidden);

	if (!text || !(value(s, UT_FACT_STALL) >= LEAST_STALL) ||
	    ut_str_is(s->f->reason, "long_scoreboard") || (hidden && nothing_is_busy(s)))
		return false;
	say_stall(s, !is_at_atomics(s) ? text : "atomics in global memory");
	return true;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* The figure behind the limit of occupancy. */
static void say_limit(struct speech *s)
{
	if (!s->f->limit)
		return;
	bottleneck_say(s, " by %s", s->f->limit);
	if (!strcmp(s->f->limit, "registers"))
		bottleneck_say(s, " (%.0f a thread)", value(s, UT_FACT_REGISTERS));
	else if (!strcmp(s->f->limit, "shared memory"))
		bottleneck_say(s, " (%.3g KiB a block)", value(s, UT_FACT_SHARED) / 1024);
	else
		bottleneck_say(s, " (%.0f threads)", value(s, UT_FACT_THREADS));
}

static bool low_occupancy(struct speech *s)
{
	double most = most_used(s);

	if (!(value(s, UT_FACT_OCCUPANCY) < LOW_OCCUPANCY))
		return false;
	bottleneck_say(s, "occupancy limited to %.0f %%", value(s, UT_FACT_OCCUPANCY));
	say_limit(s);
	/* What runs near a roof does so with the warps it has; unmeasured, nobody knows. */
	s->minor = !ut_units_are_known(s->f) || ut_units_have_few_samples(s->f) ||
		   !(most < UT_BOTTLENECK_BOUND);
	if (!s->minor)
		bottleneck_say(s, ", and no unit is used more than %.0f %%", most);
	bottleneck_show(s, UT_FACT_OCCUPANCY);
	bottleneck_show(s, UT_FACT_FIT);
	bottleneck_show(s, UT_FACT_REGISTERS);
	bottleneck_show(s, UT_FACT_SHARED);
	bottleneck_show(s, UT_FACT_THREADS);
	return true;
}

static bool spilled(struct speech *s)
{
	if (!(value(s, UT_FACT_LOCAL) > 0))
		return false;
	bottleneck_say(s, "%.0f bytes of local memory a thread: spilled registers or arrays",
		       value(s, UT_FACT_LOCAL));
	s->minor = true;
	bottleneck_show(s, UT_FACT_LOCAL);
	bottleneck_show(s, UT_FACT_REGISTERS);
	return true;
}

static bool uneven(struct speech *s)
{
	double could = value(s, UT_FACT_OCCUPANCY), was = value(s, UT_FACT_ACHIEVED);

	if (!(was < UNEVEN * could))
		return false;
	bottleneck_say(
		s,
		"%.0f %% of the warps that fit were in flight, %.0f %% could be: blocks end at "
		"different times, or there are too few",
		was, could);
	s->minor = true;
	bottleneck_show(s, UT_FACT_ACHIEVED);
	bottleneck_show(s, UT_FACT_OCCUPANCY);
	bottleneck_show(s, UT_FACT_WAVES);
	return true;
}

/* Samples without units, and none of their reasons is most of them. */
static bool many_reasons(struct speech *s)
{
	bool hidden;
	const char *text = ut_stall_words(s->f->reason, &hidden);
	double ready = value(s, UT_FACT_READY);

	if (ready >= UT_BOTTLENECK_BOUND) {
		bottleneck_say(
			s,
			"unit not measured: in %.0f %% of samples a warp could issue, and in %.0f "
			"%% "
			"another one did: it waits for issue slots or a pipe, not for memory",
			ready, value(s, UT_FACT_NOT_SELECTED));
		bottleneck_show(s, UT_FACT_READY);
		bottleneck_show(s, UT_FACT_NOT_SELECTED);
	} else if (text && !isnan(value(s, UT_FACT_STALL))) {
		bottleneck_say(s, "unit not measured, and no single reason to wait: at most ");
		say_stall(s, text);
	} else {
		return false;
	}
	bottleneck_show(s, UT_FACT_SAMPLES);
	s->v->advice = READ_STALLS;
	return true;
}

static void show_units(struct speech *s)
{
	const struct ut_unit *most = ut_unit_busiest(s->f);

	if (most)
		bottleneck_show(s, most->fact);
	bottleneck_show(s, UT_FACT_DRAM);
	bottleneck_show(s, UT_FACT_ISSUE);
	bottleneck_show(s, UT_FACT_COMPUTE);
	bottleneck_show(s, UT_FACT_OCCUPANCY);
}

static bool nothing(struct speech *s)
{
	const struct ut_unit *most = ut_unit_busiest(s->f);

	if (!most || !ut_units_are_known(s->f) || ut_units_have_few_samples(s->f))
		return false;
	bottleneck_say(s, "no single limit: the most used unit is %s at %.0f %% of its peak",
		       most->title, value(s, most->fact));
	show_units(s);
	s->v->loss = most_used(s) < 100 ? 1 - most_used(s) / 100 : 0;
	return true;
}

static bool bottleneck_unknown(struct speech *s)
{
	const struct ut_unit *most = ut_unit_busiest(s->f);

	if (!most && many_reasons(s))
		return true;
	if (ut_units_have_few_samples(s->f)) {
		bottleneck_say(s,
			       "not measured: too short for samples at these intervals (%.0f); "
			       "record with -q",
			       value(s, UT_FACT_COUNTER_SAMPLES));
	} else if (most) {
		say_unknown(s);
		bottleneck_say(s, "; most used of what was: %s at %.0f %% of its peak",
			       ut_unit_title(s->f, most), value(s, most->fact));
		if (isnan(value(s, UT_FACT_COMPUTE)))
			bottleneck_say(s, "; record with -q");
	} else {
		bottleneck_say(s, "not measured");
	}
	show_units(s);
	bottleneck_show(s, UT_FACT_WAVES);
	return true;
}

/* How long such a kernel takes is decided elsewhere: nothing else is said about it. */
static bool collective(struct speech *s)
{
	if (!ut_is_nccl_kernel(s->f->name))
		return false;
	bottleneck_say(s,
		       "moves data between ranks, and takes as long as the last of them is late");
	bottleneck_show(s, UT_FACT_MEAN);
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
	[UT_BOUND_DIVERGENCE] = { divergent, "let the threads of a warp take the same branch: sort "
					     "the work, or move the condition out of the loop" },
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
	[UT_BOUND_FP16] = { by_fp16, "use the tensor pipe, or need fewer operations" },
	[UT_BOUND_SPECIAL] = { by_special, "fewer divisions, roots, sines, exponentials and "
					   "conversions; polynomials on the FP32 pipe" },
	[UT_BOUND_CONFLICTS] = { by_conflicts, "pad rows by one element, or swizzle addresses, so "
					       "that lanes of a warp use different banks" },
	[UT_BOUND_SHARED] = { by_shared, "wider accesses, fewer of them; keep operands in "
					 "registers" },
	[UT_BOUND_ATOMICS] = { by_atomics, "add up in registers, warps and shared memory first; "
					   "one atomic for a block; spread them over addresses" },
	[UT_BOUND_ISSUE] = { by_issue, "need fewer instructions: wider loads, fused operations, "
				       "indices outside of loops" },
	[UT_BOUND_L1] = { by_l1, "wider accesses, fewer of them, no conflicts of banks; keep "
				 "operands in registers" },
	[UT_BOUND_L2] = { by_l2, "more reuse in L1, shared memory and registers" },
	[UT_BOUND_COMPUTE] = { by_compute, "need fewer instructions; -q with another group tells "
					   "which pipe it is" },
	[UT_BOUND_LATENCY] = { latency, "more in flight: independent loads before the first use, "
					"more warps, unrolled loops" },
	[UT_BOUND_MEMORY_WAIT] = { memory_wait,
				   "record with -q to know whether its bandwidth is used up "
				   "or its latency is not hidden" },
	[UT_BOUND_STALL] = { stalled, READ_STALLS },
	[UT_BOUND_OCCUPANCY] = { low_occupancy, "fewer registers (__launch_bounds__), less shared "
						"memory, or another size of blocks" },
	[UT_BOUND_SPILL] = { spilled, "fewer live values, or more registers for a thread" },
	[UT_BOUND_BALANCE] = { uneven, "give all blocks the same work, and many more blocks than "
				       "fit at once" },
	[UT_BOUND_NOTHING] = { nothing, "what waits for what is told by --stall-sampling" },
	[UT_BOUND_UNKNOWN] = { bottleneck_unknown, "record with -q, which measures every unit" },
	[UT_BOUND_RANKS] = { collective, "unitrace ranks tells who comes last, and why" },
};

/* What is only said if nothing else can be. */
static bool is_last_word(size_t rule)
{
	return rule == UT_BOUND_NOTHING || rule == UT_BOUND_UNKNOWN;
}

size_t ut_kernel_bottlenecks(const struct ut_kernel_facts *f,
			     struct ut_kernel_bottleneck bottlenecks[UT_BOTTLENECKS_MAX])
{
	struct ut_kernel_bottleneck minor[UT_KERNEL_RULES] = { 0 };
	size_t count = 0, minors = 0;

	for (size_t i = ut_is_nccl_kernel(f->name) ? UT_BOUND_RANKS : 0; i < UT_KERNEL_RULES; i++) {
		struct ut_kernel_bottleneck v = { .rule = (enum ut_kernel_rule)i,
						  .advice = rules[i].advice,
						  .loss = NAN };
		struct speech s = { f, &v, false };

		if ((is_last_word(i) && count) || !rules[i].speaks(&s))
			continue;
		if (s.minor)
			minor[minors++] = v;
		else if (count < UT_BOTTLENECKS_MAX)
			bottlenecks[count++] = v;
	}
	/* What a launch alone tells is a note beside what was not measured. */
	if (count == 1 && bottlenecks[0].rule == UT_BOUND_UNKNOWN && minors &&
	    !ut_unit_busiest(f)) {
		size_t len = strlen(bottlenecks[0].sentence);

		snprintf(bottlenecks[0].sentence + len, sizeof(bottlenecks[0].sentence) - len,
			 "; %s", minor[0].sentence);
	}
	for (size_t i = 0; i < minors && count < UT_BOTTLENECKS_MAX; i++)
		bottlenecks[count++] = minor[i];
	return count;
}
