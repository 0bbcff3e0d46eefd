/*
 * roofline.h - where kernels stand under the roof of their device: operations and bytes of a
 * kernel, what the device can do at most, and what of that the kernel has used.
 *
 * A device has units that compute (a precision, with or without the tensor unit) and levels of
 * memory. Each of them needs a least time for what a kernel asks of it; the largest of these is the
 * least time the kernel could take. What needs it is what the kernel is bound by, and the share of
 * it in the real time is how near the kernel is to its roof. In the picture of the model that is
 * the height of the point below the lower of both roofs above it; said in times it also holds for
 * kernels without any operation, which no picture of operations can show.
 *
 * Counts are doubles: hardware counters of long runs pass 2^53 without harm. Nothing here reads or
 * writes files. One owner, one thread.
 */
#ifndef UT_METRICS_ROOFLINE_H
#define UT_METRICS_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hashtab.h"
#include "base/str.h"

/* unit, key for programs, what people call it, what device files call its peak (x_GFLOPS) */
#define UT_ROOF_UNIT_LIST(X)                                                                       \
	X(FP64, "fp64", "FP64", "FP64")                                                            \
	X(FP32, "fp32", "FP32", "FP32")                                                            \
	X(FP16, "fp16", "FP16", "FP16")                                                            \
	X(BF16, "bf16", "BF16", "BF16")                                                            \
	X(FP64_TENSOR, "fp64_tensor", "FP64 tensor", "FP64_TENSOR")                                \
	X(TF32_TENSOR, "tf32_tensor", "TF32 tensor", "TF32_TENSOR")                                \
	X(FP16_TENSOR, "fp16_tensor", "FP16 tensor", "FP16_TENSOR")                                \
	X(BF16_TENSOR, "bf16_tensor", "BF16 tensor", "BF16_TENSOR")                                \
	X(FP8_TENSOR, "fp8_tensor", "FP8 tensor", "FP8_TENSOR")

enum ut_roof_unit {
#define UT_ROOF_UNIT(unit, key, title, file) UT_ROOF_##unit,
	UT_ROOF_UNIT_LIST(UT_ROOF_UNIT)
#undef UT_ROOF_UNIT
	UT_ROOF_UNITS
};

/* level, key, what people call it, what device files call its bandwidth (x_BW_in_GB_per_sec) */
#define UT_ROOF_LEVEL_LIST(X)                                                                      \
	X(DRAM, "dram", "DRAM", "GPU_MEMORY")                                                      \
	X(L3, "l3", "L3", "L3")                                                                    \
	X(L2, "l2", "L2", "L2")                                                                    \
	X(L1, "l1", "L1", "L1")                                                                    \
	X(SHARED, "shared", "shared memory", "SHARED")

enum ut_roof_level {
#define UT_ROOF_LEVEL(level, key, title, file) UT_ROOF_##level,
	UT_ROOF_LEVEL_LIST(UT_ROOF_LEVEL)
#undef UT_ROOF_LEVEL
	UT_ROOF_LEVELS
};

#define UT_ROOF_PARTS (UT_ROOF_UNITS + UT_ROOF_LEVELS)
#define UT_ROOF_NONE  UT_ROOF_PARTS

/* A part of a device is a unit (its number) or a level (UT_ROOF_UNITS + its number). */
static inline bool ut_roof_is_level(unsigned int part)
{
	return part >= UT_ROOF_UNITS && part < UT_ROOF_PARTS;
}

const char *ut_roof_key(unsigned int part);

/* ---- the device ---------------------------------------------------------------------------- */

struct ut_roof_device {
	struct ut_str name;
	double peak[UT_ROOF_PARTS]; /* operations or bytes a second; 0 = nobody knows */
	bool says_xmx;              /* its tensor units are called XMX */
};

/* What people call a part of this device: "FP16_XMX", "DRAM". */
const char *ut_roof_title(const struct ut_roof_device *d, unsigned int part);

/* ---- kernels ------------------------------------------------------------------------------- */

/* Work of a kernel, all of its instances together. */
struct ut_roof_work {
	uint64_t count;              /* instances */
	double ns;                   /* their time */
	double done[UT_ROOF_PARTS];  /* operations or bytes */
	double read[UT_ROOF_LEVELS]; /* of the bytes, where reads and writes are counted apart */
	double written[UT_ROOF_LEVELS];
	double hits[UT_ROOF_LEVELS]; /* percent x ns: divided by ns, a mean */
	double busy;                 /* percent x count, of Intel's FP16 tensor units */
	uint32_t known;              /* bit of each part that was measured at all */
	uint32_t known_hits;         /* and of levels with a rate of hits */
};

/* Adds one to the other. */
void ut_roof_work_add(struct ut_roof_work *sum, const struct ut_roof_work *work);

struct ut_roof_kernel {
	struct ut_str name;          /* with its shape, as the file has it */
	struct ut_roof_work runs[2]; /* what each run has counted */
	/* Results: */
	struct ut_str shown; /* for people: without the shape, if no other kernel is called so */
	struct ut_roof_work work;   /* both together */
	double share;               /* of the time of all kernels, 0 to 1 */
	double used[UT_ROOF_PARTS]; /* of what the part could do in the time, 0 to 1 and a bit */
	unsigned int bound;         /* the part that is used most; UT_ROOF_NONE = none is */
	unsigned int unit;          /* the busiest that computes; UT_ROOF_NONE = none does */
	double rate;                /* operations of that unit a second */
	double intensity[UT_ROOF_LEVELS]; /* its operations per byte; 0 = no bytes or operations */
};

/* How much of its roof a kernel has: used[bound], 0 if it has none. */
double ut_roof_reached(const struct ut_roof_kernel *k);

/* {0} is empty. */
struct ut_roof {
	struct ut_arena arena; /* names */
	struct ut_roof_device device;
	struct ut_roof_kernel *kernels; /* once placed, the longest first */
	size_t count, cap;
	struct ut_hashtab names;
	double ns;      /* time of all kernels of the first run */
	bool only_simd; /* before anything is added: leave out what has no such shape, as the
			 * original does */
	struct ut_roof_losses {
		size_t kernels;  /* of one of two runs only: they have no place */
		double ns;       /* of the time */
		size_t uneven;   /* placed, but seen more often in one run than in the other */
		size_t repeated; /* rows that older files have more than once: they count once */
	} lost;
};

void ut_roof_release(struct ut_roof *r);

/*
 * One instance of a kernel, or several, from one run of the program: 0 or 1, which measured
 * something else. What both have counts as in run 0, whose time is the kernel's.
 */
void ut_roof_add(struct ut_roof *r, unsigned int run, struct ut_str name,
		 const struct ut_roof_work *work);

/* After the last: joins the runs, places all kernels, sorts them. */
void ut_roof_place(struct ut_roof *r);

/* Below this share of the nearest roof it is something else; as for verdicts on kernels. */
#define UT_ROOF_NEAR 0.6

/*
 * Time of placed kernels that are near the roof of this part, of the time of all; 0 to 1.
 * UT_ROOF_NONE: of those that are far from the nearest.
 */
double ut_roof_bound_share(const struct ut_roof *r, unsigned int part);

#endif
