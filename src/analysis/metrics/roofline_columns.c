#include "metrics/roofline_columns.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"

#define LEVEL(name) (UT_ROOF_UNITS + UT_ROOF_##name)

static const struct known {
	const char *name;
	struct ut_roof_column column;
} all[] = {
	{ "GpuTime", { UT_ROOF_ABOUT_TIME, 0, 1, false, false } },
	{ "gpu__time_duration.sum", { UT_ROOF_ABOUT_TIME, 0, 1, false, false } },
	/* Intel: 16 lanes (FP16: 32) that multiply and add; of a matrix, 8 rounds of 32 numbers */
	{ "XVE_INST_EXECUTED_FP64", { UT_ROOF_ABOUT_DONE, UT_ROOF_FP64, 32, false, false } },
	{ "XVE_INST_EXECUTED_FP32", { UT_ROOF_ABOUT_DONE, UT_ROOF_FP32, 32, false, false } },
	{ "XVE_INST_EXECUTED_FP16", { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16, 64, false, false } },
	{ "XVE_INST_EXECUTED_XMX_FP16",
	  { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16_TENSOR, 512, false, false } },
	{ "XVE_INST_EXECUTED_XMX_BF16",
	  { UT_ROOF_ABOUT_DONE, UT_ROOF_BF16_TENSOR, 512, false, false } },
	{ "XVE_INST_EXECUTED_XMX_FP16_UTILIZATION", { UT_ROOF_ABOUT_BUSY, 0, 1, false, false } },
	{ "GPU_MEMORY_BYTE_READ", { UT_ROOF_ABOUT_READ, LEVEL(DRAM), 1, false, false } },
	{ "GPU_MEMORY_BYTE_WRITE", { UT_ROOF_ABOUT_WRITTEN, LEVEL(DRAM), 1, false, false } },
	{ "L3_BYTE_READ", { UT_ROOF_ABOUT_READ, LEVEL(L3), 1, false, false } },
	{ "L3_BYTE_WRITE", { UT_ROOF_ABOUT_WRITTEN, LEVEL(L3), 1, false, false } },
	{ "LOAD_STORE_CACHE_BYTE_READ", { UT_ROOF_ABOUT_READ, LEVEL(L1), 1, false, false } },
	{ "LOAD_STORE_CACHE_BYTE_WRITE", { UT_ROOF_ABOUT_WRITTEN, LEVEL(L1), 1, false, false } },
	{ "SLM_BYTE_READ", { UT_ROOF_ABOUT_READ, LEVEL(SHARED), 1, false, false } },
	{ "SLM_BYTE_WRITE", { UT_ROOF_ABOUT_WRITTEN, LEVEL(SHARED), 1, false, false } },
/* NVIDIA: operations of threads; those of tensor units are counted as such */
#define SASS(op) "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum"
	{ SASS("dadd"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP64, 1, false, false } },
	{ SASS("dmul"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP64, 1, false, false } },
	{ SASS("dfma"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP64, 2, false, false } },
	{ SASS("fadd"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP32, 1, false, false } },
	{ SASS("fmul"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP32, 1, false, false } },
	{ SASS("ffma"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP32, 2, false, false } },
	{ SASS("hadd"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16, 2, false, false } },
	{ SASS("hmul"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16, 2, false, false } },
	{ SASS("hfma"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16, 4, false, false } },
#undef SASS
#define TENSOR(what) "sm__ops_path_tensor_src_" what ".sum"
	{ TENSOR("fp64"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP64_TENSOR, 1, false, false } },
	{ TENSOR("tf32_dst_fp32"), { UT_ROOF_ABOUT_DONE, UT_ROOF_TF32_TENSOR, 1, false, false } },
	{ TENSOR("fp16"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16_TENSOR, 1, false, false } },
	{ TENSOR("fp16_dst_fp16"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16_TENSOR, 1, false, false } },
	{ TENSOR("fp16_dst_fp32"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP16_TENSOR, 1, false, false } },
	{ TENSOR("bf16_dst_fp32"), { UT_ROOF_ABOUT_DONE, UT_ROOF_BF16_TENSOR, 1, false, false } },
	{ TENSOR("fp8"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP8_TENSOR, 1, false, false } },
	{ TENSOR("fp8_dst_fp16"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP8_TENSOR, 1, false, false } },
	{ TENSOR("fp8_dst_fp32"), { UT_ROOF_ABOUT_DONE, UT_ROOF_FP8_TENSOR, 1, false, false } },
#undef TENSOR
	{ "dram__bytes.sum", { UT_ROOF_ABOUT_DONE, LEVEL(DRAM), 1, true, false } },
	{ "dram__bytes_read.sum", { UT_ROOF_ABOUT_READ, LEVEL(DRAM), 1, false, false } },
	{ "dram__bytes_write.sum", { UT_ROOF_ABOUT_WRITTEN, LEVEL(DRAM), 1, false, false } },
	{ "dram__bytes_op_read.sum", { UT_ROOF_ABOUT_READ, LEVEL(DRAM), 1, false, false } },
	{ "dram__bytes_op_write.sum", { UT_ROOF_ABOUT_WRITTEN, LEVEL(DRAM), 1, false, false } },
	{ "lts__t_sectors_srcunit_tex.sum", { UT_ROOF_ABOUT_DONE, LEVEL(L2), 32, false, false } },
	{ "lts__t_sectors_srcunit_tex_op_read.sum",
	  { UT_ROOF_ABOUT_READ, LEVEL(L2), 32, false, false } },
	{ "lts__t_sectors_srcunit_tex_op_write.sum",
	  { UT_ROOF_ABOUT_WRITTEN, LEVEL(L2), 32, false, false } },
	{ "lts__t_bytes.sum", { UT_ROOF_ABOUT_DONE, LEVEL(L2), 1, true, false } },
	{ "l1tex__t_bytes.sum", { UT_ROOF_ABOUT_DONE, LEVEL(L1), 1, false, false } },
	{ "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
	  { UT_ROOF_ABOUT_DONE, LEVEL(SHARED), 128, false, false } },
	{ "smsp__sass_data_bytes_mem_shared.sum",
	  { UT_ROOF_ABOUT_DONE, LEVEL(SHARED), 1, true, false } },
	{ "lts__t_sector_hit_rate.pct", { UT_ROOF_ABOUT_HITS, LEVEL(L2), 1, false, false } },
	{ "l1tex__t_sector_hit_rate.pct", { UT_ROOF_ABOUT_HITS, LEVEL(L1), 1, false, false } },
};

void ut_roof_columns_release(struct ut_roof_columns *c)
{
	free(c->items);
	*c = (struct ut_roof_columns){ 0 };
}

static struct ut_str without_unit(struct ut_str title)
{
	const char *unit;

	title = ut_str_trim(title);
	unit = title.len ? memchr(title.ptr, '[', title.len) : NULL;
	return unit ? ut_str_trim((struct ut_str){ title.ptr, (size_t)(unit - title.ptr) }) : title;
}

static struct ut_roof_column roofline_columns_column_of(struct ut_str title)
{
	struct ut_str name = without_unit(title);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (ut_str_is(name, all[i].name))
			return all[i].column;
	}
	return (struct ut_roof_column){ 0 };
}

/* Which parts have columns of a kind. */
struct heard {
	uint32_t read, written, done, rough;
};

static void hear(struct heard *h, const struct ut_roof_column *c)
{
	uint32_t part = 1u << c->part;

	h->read |= c->about == UT_ROOF_ABOUT_READ ? part : 0;
	h->written |= c->about == UT_ROOF_ABOUT_WRITTEN ? part : 0;
	h->done |= c->about == UT_ROOF_ABOUT_DONE && !c->is_rough ? part : 0;
	h->rough |= c->about == UT_ROOF_ABOUT_DONE && c->is_rough ? part : 0;
}

/* What was done is told by columns of it, else by reads and writes, if there are both, else by
 * rough ones; the time by the first. */
static void roofline_columns_drop_doubles(struct ut_roof_columns *c, const struct heard *h)
{
	uint32_t exact = h->done | (h->read & h->written);
	uint32_t reported = h->done | (h->rough & ~exact);
	bool has_time = false;

	for (size_t i = 0; i < c->count; i++) {
		struct ut_roof_column *col = &c->items[i];
		uint32_t part = 1u << col->part;

		if (col->about == UT_ROOF_ABOUT_TIME && has_time)
			col->about = UT_ROOF_ABOUT_NOTHING;
		has_time = has_time || col->about == UT_ROOF_ABOUT_TIME;
		if (col->about == UT_ROOF_ABOUT_DONE && col->is_rough && exact & part)
			col->about = UT_ROOF_ABOUT_NOTHING;
		col->only_splits = col->about != UT_ROOF_ABOUT_DONE && reported & part;
	}
	c->has_time = has_time;
	c->known = h->read | h->written | h->done | h->rough;
	c->counts_work = (c->known & ((1u << UT_ROOF_UNITS) - 1)) != 0;
}

void ut_roof_columns_bind(struct ut_roof_columns *c, const struct ut_str *titles, size_t count)
{
	struct heard h = { 0 };

	c->items = ut_grow(c->items, count, &c->cap, sizeof(*c->items));
	c->count = count;
	c->is_intel = false;
	for (size_t i = 0; i < count; i++) {
		c->items[i] = roofline_columns_column_of(titles[i]);
		c->is_intel = c->is_intel || ut_str_has_start(titles[i], "XVE_");
		hear(&h, &c->items[i]);
	}
	roofline_columns_drop_doubles(c, &h);
}

static void roofline_columns_take(const struct ut_roof_column *c, double value,
				  struct ut_roof_work *work)
{
	double *level = NULL;

	switch (c->about) {
	case UT_ROOF_ABOUT_TIME:
		work->ns += value;
		return;
	case UT_ROOF_ABOUT_BUSY:
		work->busy += value;
		return;
	case UT_ROOF_ABOUT_HITS:
		work->hits[c->part - UT_ROOF_UNITS] += value;
		work->known_hits |= 1u << (c->part - UT_ROOF_UNITS);
		return;
	case UT_ROOF_ABOUT_READ:
		level = &work->read[c->part - UT_ROOF_UNITS];
		break;
	case UT_ROOF_ABOUT_WRITTEN:
		level = &work->written[c->part - UT_ROOF_UNITS];
		break;
	case UT_ROOF_ABOUT_DONE:
		break;
	case UT_ROOF_ABOUT_NOTHING:
		return;
	}
	if (level)
		*level += value * c->factor;
	if (!c->only_splits)
		work->done[c->part] += value * c->factor;
}

void ut_roof_columns_take(const struct ut_roof_columns *c, const double *values,
			  struct ut_roof_work *work)
{
	*work = (struct ut_roof_work){ .count = 1, .known = c->known };
	for (size_t i = 0; i < c->count; i++) {
		if (isfinite(values[i]) && values[i] >= 0)
			roofline_columns_take(&c->items[i], values[i], work);
	}
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++)
		work->hits[l] *= work->ns; /* a mean is weighted by time */
}
