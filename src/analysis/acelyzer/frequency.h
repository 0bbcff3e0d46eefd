/*
 * frequency.h - how fast the device's counter really ran, from three sides: files of a rank
 * against its first one, the length of kernels, the distance between kernels.
 */
#ifndef UT_ACELYZER_FREQUENCY_H
#define UT_ACELYZER_FREQUENCY_H

#include "acelyzer/analysis.h"

/* Cycles per us. */
struct ut_ace_speed {
	double min, max, mean;
	uint64_t count;
};

/* Kernels of one rank; the one before is where the next interval starts. */
struct ut_ace_rank_speed {
	uint32_t pid;
	struct ut_ace_speed duration, interval;
	double ts;
	int64_t cycle;
};

struct ut_ace_frequency {
	double given; /* MHz */
	struct ut_ace_speed jobs;
	double drift; /* us, the largest */
	struct ut_ace_rank_speed *ranks;
	size_t rank_count, rank_cap;
	uint64_t zero_gaps;
};

void ut_ace_frequency_init(struct ut_ace_frequency *f, double given);
void ut_ace_frequency_release(struct ut_ace_frequency *f);

/* A kernel, in the order of the input. */
void ut_ace_frequency_add(struct ut_ace_frequency *f, struct ut_ace_analysis *a,
			  const struct ut_ace_event *e);

/* The first event of a file: its speed since the rank's first event (0 = it is that one). */
void ut_ace_frequency_job(struct ut_ace_frequency *f, double mhz, double drift);

/* Recommendation and report. */
void ut_ace_frequency_say(const struct ut_ace_frequency *f, struct ut_ace_analysis *a);

#endif
