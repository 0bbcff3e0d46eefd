#include "metrics/roofline.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

static const struct part {
	const char *key, *title;
} parts[] = {
#define UNIT(unit, key, title, file)   { key, title },
#define LEVEL(level, key, title, file) { key, title },
	UT_ROOF_UNIT_LIST(UNIT) UT_ROOF_LEVEL_LIST(LEVEL)
#undef UNIT
#undef LEVEL
};

const char *ut_roof_key(unsigned int part)
{
	return part < UT_ROOF_PARTS ? parts[part].key : "";
}

const char *ut_roof_title(const struct ut_roof_device *d, unsigned int part)
{
	if (d->says_xmx && part == UT_ROOF_FP16_TENSOR)
		return "FP16_XMX";
	if (d->says_xmx && part == UT_ROOF_BF16_TENSOR)
		return "BF16_XMX";
	return part < UT_ROOF_PARTS ? parts[part].title : "-";
}

void ut_roof_release(struct ut_roof *r)
{
	free(r->kernels);
	ut_hashtab_release(&r->names);
	ut_arena_release(&r->arena);
	*r = (struct ut_roof){ 0 };
}

/* ---- gathering ------------------------------------------------------------------------------ */

static struct ut_roof_kernel *metrics_roofline_kernel_of(struct ut_roof *r, struct ut_str name)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(name.ptr, name.len), at = hash, number;

	while ((number = ut_hashtab_next(&r->names, hash, &at)) &&
	       !ut_str_eq(r->kernels[number - 1].name, name))
		;
	if (!number) {
		r->kernels = ut_grow(r->kernels, r->count + 1, &r->cap, sizeof(*r->kernels));
		number = (uint32_t)++r->count;
		r->kernels[number - 1].name =
			(struct ut_str){ ut_arena_copy(&r->arena, name.ptr, name.len), name.len };
		ut_hashtab_add(&r->names, hash, number);
	}
	return &r->kernels[number - 1];
}

void ut_roof_work_add(struct ut_roof_work *sum, const struct ut_roof_work *work)
{
	sum->count += work->count;
	sum->ns += work->ns;
	sum->busy += work->busy;
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++)
		sum->done[p] += work->done[p];
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		sum->read[l] += work->read[l];
		sum->written[l] += work->written[l];
		sum->hits[l] += work->hits[l];
	}
	sum->known |= work->known;
	sum->known_hits |= work->known_hits;
}

void ut_roof_add(struct ut_roof *r, unsigned int run, struct ut_str name,
		 const struct ut_roof_work *work)
{
	ut_roof_work_add(&metrics_roofline_kernel_of(r, name)->runs[run], work);
}

/* ---- joining two runs ----------------------------------------------------------------------- */

/* What only the other run has measured, as if it had run the kernel as often as the first. */
static void take_from_other(struct ut_roof_work *work, const struct ut_roof_work *other)
{
	double scale = (double)work->count / (double)other->count;

	work->busy += other->busy * scale;
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++) {
		if (!(work->known & 1u << p) && other->known & 1u << p) {
			work->done[p] = other->done[p] * scale;
			work->known |= 1u << p;
		}
	}
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		if (work->read[l] + work->written[l] <= 0) {
			work->read[l] = other->read[l] * scale;
			work->written[l] = other->written[l] * scale;
		}
		if (!(work->known_hits & 1u << l) && other->known_hits & 1u << l) {
			work->hits[l] = other->ns > 0 ? other->hits[l] / other->ns * work->ns : 0;
			work->known_hits |= 1u << l;
		}
	}
}

/* Is it in both runs, if there are two? */
static bool metrics_roofline_join(struct ut_roof *r, struct ut_roof_kernel *k, bool two)
{
	k->work = k->runs[0];
	if (!two)
		return k->work.count > 0;
	if (!k->runs[0].count || !k->runs[1].count) {
		r->lost.kernels++;
		r->lost.ns += k->runs[0].ns;
		return false;
	}
	if (k->runs[0].count != k->runs[1].count)
		r->lost.uneven++;
	take_from_other(&k->work, &k->runs[1]);
	return true;
}

/* ---- placing -------------------------------------------------------------------------------- */

/* The part of [from, to) that is used most. Units without a peak are never compared by it: the one
 * with the most operations is the busiest if none of them has one. */
static unsigned int busiest(const struct ut_roof_kernel *k, unsigned int from, unsigned int to)
{
	unsigned int best = UT_ROOF_NONE, most = UT_ROOF_NONE;

	for (unsigned int p = from; p < to; p++) {
		if (k->used[p] > 0 && (best == UT_ROOF_NONE || k->used[p] > k->used[best]))
			best = p;
		if (k->work.done[p] > 0 &&
		    (most == UT_ROOF_NONE || k->work.done[p] > k->work.done[most]))
			most = p;
	}
	return best != UT_ROOF_NONE ? best : most;
}

static void metrics_roofline_place(struct ut_roof_kernel *k, const struct ut_roof_device *d,
				   double all_ns)
{
	double seconds = k->work.ns / 1e9;
	unsigned int best;

	k->share = all_ns > 0 ? k->work.ns / all_ns : 0;
	for (unsigned int p = 0; p < UT_ROOF_PARTS; p++)
		k->used[p] =
			d->peak[p] > 0 && seconds > 0 ? k->work.done[p] / d->peak[p] / seconds : 0;
	k->unit = busiest(k, 0, UT_ROOF_UNITS);
	best = busiest(k, 0, UT_ROOF_PARTS);
	k->bound = best != UT_ROOF_NONE && k->used[best] > 0 ? best : UT_ROOF_NONE;
	k->rate = k->unit != UT_ROOF_NONE && seconds > 0 ? k->work.done[k->unit] / seconds : 0;
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		double bytes = k->work.done[UT_ROOF_UNITS + l];

		k->intensity[l] =
			k->unit != UT_ROOF_NONE && bytes > 0 ? k->work.done[k->unit] / bytes : 0;
	}
}

/* ---- names for people ----------------------------------------------------------------------- */

/* Before "[SIMD32 {64; 1; 1} {32; 1; 1}]" at the end. */
static struct ut_str without_shape(struct ut_str name)
{
	for (size_t i = name.len; i-- > 1;) {
		if (name.ptr[i] == '[' && name.len - i > 5 && !memcmp(name.ptr + i, "[SIMD", 5))
			return (struct ut_str){ name.ptr, i };
	}
	return name;
}

static uint32_t metrics_roofline_hash_of(struct ut_str text)
{
	return (uint32_t)ut_hash_bytes(text.ptr, text.len);
}

/* The first kernel that is called so without its shape. */
static struct ut_roof_kernel *namesake(struct ut_roof *r, const struct ut_hashtab *t,
				       struct ut_str name)
{
	uint32_t hash = metrics_roofline_hash_of(name), at = hash, number;

	while ((number = ut_hashtab_next(t, hash, &at)) &&
	       !ut_str_eq(without_shape(r->kernels[number - 1].name), name))
		;
	return number ? &r->kernels[number - 1] : NULL;
}

static void find_names(struct ut_roof *r)
{
	struct ut_hashtab t = { 0 };

	for (size_t i = 0; i < r->count; i++) {
		struct ut_str name = without_shape(r->kernels[i].name);
		struct ut_roof_kernel *other = namesake(r, &t, name);

		r->kernels[i].shown = other ? r->kernels[i].name : name;
		if (other)
			other->shown = other->name;
		else
			ut_hashtab_add(&t, metrics_roofline_hash_of(name), (uint32_t)i + 1);
	}
	ut_hashtab_release(&t);
	for (size_t i = 0; i < r->count; i++) {
		struct ut_str *shown = &r->kernels[i].shown;

		if (shown->len < r->kernels[i].name.len) /* it ends with a NUL, too */
			shown->ptr = ut_arena_copy(&r->arena, shown->ptr, shown->len);
	}
}

static int metrics_roofline_by_time(const void *a, const void *b)
{
	const struct ut_roof_kernel *x = a, *y = b;

	if (x->work.ns != y->work.ns)
		return x->work.ns < y->work.ns ? 1 : -1;
	return ut_str_cmp(x->name, y->name);
}

void ut_roof_place(struct ut_roof *r)
{
	size_t kept = 0;
	bool two = false;

	for (size_t i = 0; i < r->count; i++) {
		r->ns += r->kernels[i].runs[0].ns;
		two = two || r->kernels[i].runs[1].count;
	}
	for (size_t i = 0; i < r->count; i++) {
		if (!metrics_roofline_join(r, &r->kernels[i], two))
			continue;
		metrics_roofline_place(&r->kernels[i], &r->device, r->ns);
		r->kernels[kept++] = r->kernels[i];
	}
	r->count = kept;
	ut_hashtab_release(&r->names);
	if (kept)
		qsort(r->kernels, kept, sizeof(*r->kernels), metrics_roofline_by_time);
	find_names(r);
}

double ut_roof_reached(const struct ut_roof_kernel *k)
{
	return k->bound == UT_ROOF_NONE ? 0 : k->used[k->bound];
}

double ut_roof_bound_share(const struct ut_roof *r, unsigned int part)
{
	double share = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_roof_kernel *k = &r->kernels[i];
		bool near = ut_roof_reached(k) >= UT_ROOF_NEAR;

		if (near ? k->bound == part : part == UT_ROOF_NONE && k->bound != part)
			share += k->share;
	}
	return share;
}
