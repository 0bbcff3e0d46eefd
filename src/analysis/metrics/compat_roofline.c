/*
 * compat_roofline.c - the table of Intel's roofline.py, which people have scripts for: with its
 * units, whatever its titles say (Gops and TFlop are operations, the last line is 10^9 a second),
 * and intensities of FP16_XMX only.
 */
#include "metrics/roofline_table.h"

#include "text/out.h"
#include "text/shortest.h"

#define DRAM (UT_ROOF_UNITS + UT_ROOF_DRAM)
#define L3   (UT_ROOF_UNITS + UT_ROOF_L3)
#define L2   (UT_ROOF_UNITS + UT_ROOF_L2)
#define TINY 1e-7 /* the original keeps its divisions from zero with it */
#define GIB  (1024.0 * 1024 * 1024)

/* What the original calls L3 is the cache before memory. */
static unsigned int cache_of(const struct ut_roof_kernel *k)
{
	return k->work.known & 1u << L3 ? L3 : L2;
}

static unsigned int most_of(const struct ut_roof_work *w)
{
	unsigned int most = UT_ROOF_FP16;

	for (unsigned int p = 0; p < UT_ROOF_UNITS; p++) {
		if (w->done[p] > w->done[most])
			most = p;
	}
	return most;
}

static double one_by(double peak)
{
	return peak > 0 ? 1e9 / peak : 0;
}

/* A roof without its corner, over what the kernel reaches: how much room is above it. */
static double headroom(const struct ut_roof *r, const struct ut_roof_kernel *k, unsigned int level)
{
	unsigned int unit = most_of(&k->work);
	double gflop = k->work.done[unit] / 1e9 + TINY;
	double intensity = gflop / (k->work.done[level] / GIB + TINY);
	double roof = intensity / (intensity * one_by(r->device.peak[unit]) +
				   one_by(r->device.peak[level]) + 1e-30);

	return roof / (gflop / (k->work.ns / 1e9) + TINY);
}

static const char *bound_by(const struct ut_roof *r, const struct ut_roof_kernel *k)
{
	unsigned int cache = cache_of(k), level = DRAM;
	double bytes, gflop = k->work.done[most_of(&k->work)] / 1e9 + TINY;

	if (r->device.peak[cache] > 0 && headroom(r, k, cache) <= headroom(r, k, DRAM))
		level = cache;
	bytes = k->work.done[level];
	if (bytes <= 0 || r->device.peak[level] <= 0 ||
	    gflop / (bytes / GIB) >= r->device.peak[UT_ROOF_FP32] / r->device.peak[level])
		return "compute";
	return level == DRAM ? "gpu_memory" : "L3";
}

static void compat_roofline_put(struct ut_out *out, double value)
{
	char text[UT_SHORTEST_ROOM];

	ut_out_fmt(out, " , %s", ut_shortest(text, value));
}

/* Letters only: no comma, no quote, nothing that a reader would stumble over. */
static void compat_roofline_put_name(struct ut_out *out, struct ut_str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = (char)(name.ptr[i] | 0x20);

		if (c >= 'a' && c <= 'z')
			ut_out_write(out, name.ptr + i, 1);
	}
}

static void compat_roofline_put_kernel(struct ut_out *out, const struct ut_roof *r,
				       const struct ut_roof_kernel *k)
{
	const struct ut_roof_work *w = &k->work;
	double ns = w->ns > 0 ? w->ns : 1, matrix = w->done[UT_ROOF_FP16_TENSOR];
	double bytes = w->done[DRAM], cached = w->done[cache_of(k)];

	compat_roofline_put_name(out, k->name);
	compat_roofline_put(out, w->ns / 1e9);
	compat_roofline_put(out, 100 * k->share);
	ut_out_fmt(out, " %% , %s", bound_by(r, k));
	compat_roofline_put(out, w->done[UT_ROOF_FP16] / ns);
	compat_roofline_put(out, w->done[UT_ROOF_FP32] / ns);
	compat_roofline_put(out, w->done[UT_ROOF_FP64] / ns);
	compat_roofline_put(out, w->done[UT_ROOF_BF16_TENSOR] / ns);
	compat_roofline_put(out, matrix);
	compat_roofline_put(out, matrix / ns);
	compat_roofline_put(out, w->count ? w->busy / (double)w->count : 0);
	compat_roofline_put(out, bytes > 0 ? matrix / bytes : 0);
	compat_roofline_put(out, cached > 0 ? matrix / cached : 0);
	compat_roofline_put(out, bytes / ns);
	compat_roofline_put(out, cached / ns);
	ut_out_text(out, "\n");
}

static void put_total(struct ut_out *out, const char *title, double value)
{
	char text[UT_SHORTEST_ROOM];

	ut_out_fmt(out, "%s %s\n", title, ut_shortest(text, value));
}

/* Operations are whole numbers there. */
static void compat_roofline_put_count(struct ut_out *out, const char *title, double value)
{
	ut_out_fmt(out, "%s %.0f\n", title, value);
}

void ut_roof_compat(struct ut_out *out, const struct ut_roof *r)
{
	struct ut_roof_work all = { 0 };
	double flop = 0;

	ut_out_text(out, "Kernel_name ,time_elapsed (s) ,% of Total time,  Bounded_by , "
			 "FP16 (GFLOPS), FP32 (GFLOPS), FP64 (GFLOPS) , BF16_XMX (GFLOPS),"
			 "FP16_XMX(Gops), FP16_XMX (GFLOPS),fp16_xmx_utilization [%], "
			 "AI (gpu_memory), AI (L3) ,gpu_memory (GB/s), L3 (GB/s)\n");
	for (size_t i = 0; i < r->count; i++) {
		compat_roofline_put_kernel(out, r, &r->kernels[i]);
		ut_roof_work_add(&all, &r->kernels[i].work);
	}
	for (unsigned int p = 0; p < UT_ROOF_UNITS; p++)
		flop += all.done[p];
	compat_roofline_put_count(out, "FP16_total TFlop :", all.done[UT_ROOF_FP16]);
	compat_roofline_put_count(out, "FP16_XMX_total TFlop :", all.done[UT_ROOF_FP16_TENSOR]);
	compat_roofline_put_count(out, "BF16_XMX_total TFlop :", all.done[UT_ROOF_BF16_TENSOR]);
	compat_roofline_put_count(out, "FP32_total Tflop :", all.done[UT_ROOF_FP32]);
	compat_roofline_put_count(out, "FP64_total Tflop :", all.done[UT_ROOF_FP64]);
	put_total(out, "Total_time", all.ns / 1e9);
	put_total(out, "Total achieved Flops", all.ns > 0 ? flop / all.ns : 0);
}
