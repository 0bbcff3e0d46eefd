/*
 * memory_samples.h - memory of programs as samples: what stands for what, and the arguments that
 * say more. Sums of them are what reports are made of.
 *
 * A sample of each kind has the site as its stack, the bytes as its weight (stacks.h: its name says
 * so) and whose memory it is as its category: "malloc", "python". What was allocated lies where it
 * was, several allocations of a site together; what was live when memory was highest, and what
 * never was freed, lie at those moments, once for each site. Beside them there is a counter of live
 * bytes.
 */
#ifndef UT_MODEL_MEMORY_SAMPLES_H
#define UT_MODEL_MEMORY_SAMPLES_H

/* which, the name of its samples */
#define UT_MEMORY_SAMPLE_LIST(X)                                                                   \
	X(ALLOCATED, "allocated bytes")                                                            \
	X(AT_PEAK, "peak bytes")                                                                   \
	X(NEVER_FREED, "never freed bytes")

enum ut_memory_sample {
#define UT_MEMORY_SAMPLE_ENUM(which, name) UT_MEMORY_##which,
	UT_MEMORY_SAMPLE_LIST(UT_MEMORY_SAMPLE_ENUM)
#undef UT_MEMORY_SAMPLE_ENUM
	UT_MEMORY_SAMPLES
};

extern const char *const ut_memory_sample_names[UT_MEMORY_SAMPLES];

/* The counter. */
#define UT_MEMORY_LIVE "live memory"

/* Arguments. */
#define UT_MEMORY_COUNT    "count"    /* blocks */
#define UT_MEMORY_VARIANCE "variance" /* of the bytes, where they are estimated */
#define UT_MEMORY_FREED    "freed"    /* of the blocks allocated */
#define UT_MEMORY_LIFE     "life_ns"  /* that these lived in all */

#endif
