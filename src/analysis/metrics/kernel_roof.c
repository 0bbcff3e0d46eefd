#include "metrics/kernel_roof.h"

#include <math.h>
#include <string.h>

void ut_kernel_roof_release(struct ut_kernel_roof *r)
{
	ut_roof_columns_release(&r->columns);
	r->count = 0;
}

void ut_kernel_roof_add(struct ut_kernel_roof *r, const uint32_t *keys, const struct ut_str *titles,
			const double *values, size_t count, struct ut_roof_work *sum)
{
	struct ut_roof_work work;

	if (!count || count > UT_KERNEL_ROOF_MOST)
		return;
	if (count != r->count || memcmp(keys, r->keys, count * sizeof(*keys)) != 0) {
		ut_roof_columns_bind(&r->columns, titles, count);
		memcpy(r->keys, keys, count * sizeof(*keys));
		r->count = count;
	}
	if (!r->columns.has_time || !r->columns.known)
		return;
	ut_roof_columns_take(&r->columns, values, &work);
	ut_roof_work_add(sum, &work);
}

/* Which fact is the use of a part; UT_KERNEL_FACTS = none. */
static enum ut_kernel_fact fact_of(unsigned int part)
{
	switch (part) {
	case UT_ROOF_FP64:
		return UT_FACT_FP64;
	case UT_ROOF_FP32:
		return UT_FACT_FMA;
	case UT_ROOF_FP16:
	case UT_ROOF_BF16:
		return UT_FACT_FP16;
	case UT_ROOF_UNITS + UT_ROOF_DRAM:
		return UT_FACT_DRAM;
	case UT_ROOF_UNITS + UT_ROOF_L2:
		return UT_FACT_L2;
	case UT_ROOF_UNITS + UT_ROOF_L1:
		return UT_FACT_L1;
	case UT_ROOF_UNITS + UT_ROOF_SHARED:
		return UT_FACT_SHARED_PATH;
	default:
		return ut_roof_is_level(part) ? UT_KERNEL_FACTS : UT_FACT_TENSOR;
	}
}

void ut_kernel_roof_facts(struct ut_kernel_facts *f, const struct ut_roof_work *work,
			  const struct ut_roof_device *device)
{
	double used[UT_KERNEL_FACTS + 1] = { 0 };
	bool known[UT_KERNEL_FACTS + 1] = { 0 };

	if (!(work->ns > 0))
		return;
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++) {
		enum ut_kernel_fact fact = fact_of(p);

		if (!(work->known & 1u << p) || !(device->peak[p] > 0))
			continue;
		used[fact] += 100 * work->done[p] / device->peak[p] / (work->ns / 1e9);
		known[fact] = true;
	}
	for (unsigned int i = 0; i < UT_KERNEL_FACTS; i++) {
		if (known[i] && isnan(f->value[i]))
			f->value[i] = used[i];
	}
	/* shared memory is a part of L1 */
	if (known[UT_FACT_SHARED_PATH] && known[UT_FACT_L1])
		f->value[UT_FACT_L1] = fmax(f->value[UT_FACT_L1], f->value[UT_FACT_SHARED_PATH]);
}
