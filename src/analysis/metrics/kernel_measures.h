/*
 * kernel_measures.h - the hardware metrics that a trace holds, kernel by kernel: the values of -q,
 * the samples of -k while kernels ran, samples of instructions; and where kernels stand under the
 * roof of their device, if enough was counted for that and the device is one that we know.
 *
 * Made from a store, the log of its devices and the set of its kernels (kernel_facts.h), which must
 * live as long. O(n log n) for n launches. One owner, one thread.
 */
#ifndef UT_METRICS_KERNEL_MEASURES_H
#define UT_METRICS_KERNEL_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "metrics/roofline.h"

struct ut_device_log;
struct ut_kernel_set;
struct ut_store;

#define UT_MEASURED_REASONS 64u

/* Samples at one instruction. */
struct ut_measured_place {
	uint64_t address;     /* from the begin of the kernel */
	struct ut_str module; /* "CRC.cubin"; "" = not known */
	struct ut_str file;   /* "" = not known */
	uint32_t line;        /* 0 = not known */
	uint32_t kernel;      /* index into stalled */
	uint64_t samples;     /* of all reasons */
	uint64_t count[UT_MEASURED_REASONS];
};

/* A kernel whose instructions were sampled, however it was launched. */
struct ut_measured_code {
	struct ut_str kernel;
	uint64_t samples;
	uint32_t first, count; /* of places */
};

/* What -q has counted of a variant on each level of memory, all of these launches together. */
struct ut_measured_levels {
	uint64_t launches; /* in which any level was counted */
	double ns;         /* their time */
	double bytes[UT_ROOF_LEVELS], read[UT_ROOF_LEVELS], written[UT_ROOF_LEVELS];
	double hits[UT_ROOF_LEVELS]; /* percent x ns: divided by ns, a mean */
	/* Bits of levels: which of these are known at all. */
	uint32_t has_bytes, has_read, has_written, has_hits;
};

struct ut_kernel_measures {
	struct ut_arena arena;
	struct ut_str *titles; /* "dram__bytes_read.sum[bytes]" */
	size_t title_count;
	double *periods; /* by title: ns between samples of a counter; 0 = of launches */
	bool is_intel;   /* titles or reasons are */
	struct ut_measured_levels *levels; /* by variant */
	double *means;       /* of a launch, [variant * title_count + title]; NAN = not measured */
	uint64_t *measured;  /* by variant: launches with any of them */
	struct ut_roof roof; /* placed; its count is 0 if too little is known */
	uint32_t *roof_of;   /* by variant: 1 + its kernel in there; 0 = none */
	struct ut_str reasons[UT_MEASURED_REASONS];
	size_t reason_count;
	struct ut_measured_place *places; /* by kernel, then by address */
	size_t place_count, place_cap;
	struct ut_measured_code *stalled; /* the one with most samples first */
	size_t stalled_count, stalled_cap;
};

/* Is there anything to measure by? A look at shapes of arguments and at tracks. */
bool ut_kernel_measures_any(const struct ut_store *store);

/* Were launches measured one by one (-q)? Then counters are read in the time between them. */
bool ut_kernel_measures_counted(const struct ut_store *store);

/* Were instructions sampled? */
bool ut_kernel_measures_sampled(const struct ut_store *store);

/* Could some of it be put under a roof? */
bool ut_kernel_measures_roof(const struct ut_store *store);

void ut_kernel_measures_make(struct ut_kernel_measures *m, const struct ut_store *store,
			     const struct ut_device_log *log, const struct ut_kernel_set *set);
void ut_kernel_measures_release(struct ut_kernel_measures *m);

/* What stands in the brackets of a title, "" if there are none; and what stands before them. */
struct ut_str ut_measure_unit(struct ut_str title);
struct ut_str ut_measure_name(struct ut_str title);

#endif
