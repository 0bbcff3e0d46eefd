#include "view/memory_sheet.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "metrics/kernel_facts.h"
#include "metrics/kernel_measures.h"
#include "metrics/roofline_device.h"
#include "text/out.h"

#define STALLED_BAD 25.0 /* percent of the time that engines wait although they have threads */

static void memory_sheet_put_text(struct ut_out *out, const char *key, struct ut_str s)
{
	ut_out_fmt(out, "\"%s\":", key);
	ut_out_json_str(out, s.ptr ? s.ptr : "", s.len);
}

/* Nothing is said about what is not known. between: "" before the first member. */
static void memory_sheet_put_member(struct ut_out *out, const char **between, const char *key,
				    double value)
{
	if (!isfinite(value))
		return;
	ut_out_fmt(out, "%s\"%s\":", *between, key);
	ut_out_json_double(out, value);
	*between = ",";
}

static void memory_sheet_put_number(struct ut_out *out, const char *key, double value)
{
	const char *between = ",";

	memory_sheet_put_member(out, &between, key, value);
}

/* ---- levels --------------------------------------------------------------------------------- */

static double per_launch(const struct ut_measured_levels *l, uint32_t known, unsigned int level,
			 const double *of)
{
	return l->launches && known >> level & 1 ? of[level] / (double)l->launches : NAN;
}

static void put_level(struct ut_out *out, const struct ut_measured_levels *l, unsigned int level,
		      const struct ut_roof_device *device)
{
	double peak = device->peak[UT_ROOF_UNITS + level];

	memory_sheet_put_text(out, "level", ut_str_of(ut_roof_key(UT_ROOF_UNITS + level)));
	memory_sheet_put_number(out, "bytes", per_launch(l, l->has_bytes, level, l->bytes));
	memory_sheet_put_number(out, "read", per_launch(l, l->has_read, level, l->read));
	memory_sheet_put_number(out, "written", per_launch(l, l->has_written, level, l->written));
	if (l->has_hits >> level & 1 && l->ns > 0)
		memory_sheet_put_number(out, "hits", l->hits[level] / l->ns / 100);
	memory_sheet_put_number(out, "peak", peak > 0 ? peak : NAN);
}

static void put_levels(struct ut_out *out, const struct ut_measured_levels *l,
		       const struct ut_roof_device *device)
{
	ut_out_text(out, ",\"levels\":[");
	for (unsigned int i = 0; i < UT_ROOF_LEVELS; i++) {
		ut_out_text(out, i ? ",{" : "{");
		put_level(out, l, i, device);
		ut_out_text(out, "}");
	}
	ut_out_text(out, "]");
}

/* ---- what was sampled over time ------------------------------------------------------------- */

/* Bytes of counters while the kernel ran, a second. */
static const struct link {
	const char *key, *name;
} links[] = {
	{ "dram_read", "dram__bytes_read.sum" },   { "dram_written", "dram__bytes_write.sum" },
	{ "pcie_read", "pcie__read_bytes.sum" },   { "pcie_written", "pcie__write_bytes.sum" },
	{ "nvlink_received", "nvlrx__bytes.sum" }, { "nvlink_sent", "nvltx__bytes.sum" },
};

static void put_rates(struct ut_out *out, const struct ut_kernel_measures *m, size_t variant)
{
	const char *between = "";

	ut_out_text(out, ",\"rates\":{");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		for (size_t t = 0; t < m->title_count; t++) {
			double mean = m->means[variant * m->title_count + t];

			if (m->periods[t] > 0 &&
			    ut_str_is(ut_measure_name(m->titles[t]), links[i].name))
				memory_sheet_put_member(out, &between, links[i].key,
							mean * 1e9 / m->periods[t]);
		}
	}
	ut_out_text(out, "}");
}

/* ---- multiprocessors ------------------------------------------------------------------------ */

/* What Intel's engines say of their time; NAN = nothing. */
static double engines(const struct ut_kernel_measures *m, size_t variant, const char *name)
{
	for (size_t t = 0; t < m->title_count; t++) {
		if (ut_str_is(ut_measure_name(m->titles[t]), name))
			return m->means[variant * m->title_count + t];
	}
	return NAN;
}

static void memory_sheet_put_facts(struct ut_out *out, const struct ut_kernel_measures *m,
				   size_t variant, const struct ut_kernel_variant *k)
{
	const char *between = "";
	static const enum ut_kernel_fact shown[] = {
		UT_FACT_PROCESSORS, UT_FACT_FILL,      UT_FACT_ACTIVE,  UT_FACT_ISSUE,
		UT_FACT_ACHIEVED,   UT_FACT_OCCUPANCY, UT_FACT_TENSOR,  UT_FACT_FMA,
		UT_FACT_FP64,       UT_FACT_ALU,       UT_FACT_SPECIAL, UT_FACT_FP16,
		UT_FACT_LANES,      UT_FACT_REGISTERS, UT_FACT_SHARED,  UT_FACT_DRAM,
		UT_FACT_L2,         UT_FACT_L1,
	};

	ut_out_text(out, ",\"facts\":{");
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		memory_sheet_put_member(out, &between, ut_kernel_fact_info[shown[i]].key,
					k->facts.value[shown[i]]);
	if (!isfinite(k->facts.value[UT_FACT_ACTIVE]))
		memory_sheet_put_member(out, &between, "active", engines(m, variant, "XVE_ACTIVE"));
	memory_sheet_put_member(out, &between, "stalled", engines(m, variant, "XVE_STALL"));
	memory_sheet_put_member(out, &between, "idle",
				100 - engines(m, variant, "XVE_ACTIVE") -
					engines(m, variant, "XVE_STALL"));
	ut_out_text(out, "}");
}

/* ---- what is bad ---------------------------------------------------------------------------- */

/* Where in the diagram a verdict is to be seen; NULL = nowhere, or it is nothing bad. A fact has a
 * line with its value only; the sentences are all below. */
static const char *const seen_at[UT_KERNEL_RULES] = {
	[UT_BOUND_GRID] = "fill",
	[UT_BOUND_TAIL] = "fill",
	[UT_BOUND_ACCESS] = "l2",
	[UT_BOUND_DRAM] = "dram",
	[UT_BOUND_NO_TENSOR] = "tensor",
	[UT_BOUND_SHARED] = "shared",
	[UT_BOUND_CONFLICTS] = "shared",
	[UT_BOUND_ATOMICS] = "l2",
	[UT_BOUND_L1] = "l1",
	[UT_BOUND_L2] = "l2",
	[UT_BOUND_LATENCY] = "stalled",
	[UT_BOUND_MEMORY_WAIT] = "stalled",
	[UT_BOUND_STALL] = "stalled",
	[UT_BOUND_OCCUPANCY] = "achieved_occupancy",
	[UT_BOUND_SPILL] = "registers",
	[UT_BOUND_BALANCE] = "achieved_occupancy",
};

static void put_flag(struct ut_out *out, bool *any, const char *at, const char *why)
{
	ut_out_fmt(out, "%s{\"at\":\"%s\",", *any ? "," : "", at);
	memory_sheet_put_text(out, "why", ut_str_of(why));
	ut_out_text(out, "}");
	*any = true;
}

static void put_flags(struct ut_out *out, const struct ut_kernel_measures *m, size_t variant,
		      const struct ut_kernel_variant *k)
{
	double waits = engines(m, variant, "XVE_STALL");
	bool any = false;

	ut_out_text(out, ",\"flags\":[");
	for (size_t i = 0; i < k->bottleneck_count; i++) {
		if (seen_at[k->bottlenecks[i].rule])
			put_flag(out, &any, seen_at[k->bottlenecks[i].rule],
				 k->bottlenecks[i].sentence);
	}
	if (waits >= STALLED_BAD) {
		struct ut_buf why = { 0 };

		ut_buf_fmt(&why,
			   "engines have threads and wait %.1f %% of the time; --stall-sampling "
			   "tells for what",
			   waits);
		put_flag(out, &any, "stalled", why.data);
		ut_buf_release(&why);
	}
	ut_out_text(out, "]");
}

void ut_memory_sheet_put(struct ut_out *out, const struct ut_kernel_measures *m, size_t variant,
			 const struct ut_kernel_variant *k, struct ut_str device)
{
	const struct ut_measured_levels *l = &m->levels[variant];
	struct ut_roof_device limits = { 0 };
	struct ut_arena arena = { 0 };

	if (ut_roof_device_for(&limits, &arena, device))
		limits = (struct ut_roof_device){ 0 };
	ut_out_text(out, "{");
	memory_sheet_put_text(out, "device", device);
	ut_out_fmt(out, ",\"maker\":\"%s\",\"launches\":%" PRIu64,
		   m->is_intel || ut_str_find(device, "Intel") ? "intel" : "nvidia", l->launches);
	memory_sheet_put_number(out, "ns", l->launches ? l->ns / (double)l->launches : NAN);
	put_levels(out, l, &limits);
	put_rates(out, m, variant);
	memory_sheet_put_facts(out, m, variant, k);
	put_flags(out, m, variant, k);
	ut_out_text(out, "}");
	ut_arena_release(&arena);
}
