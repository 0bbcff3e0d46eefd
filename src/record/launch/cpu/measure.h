/*
 * measure.h - what /proc says about a process now and then: its memory, its page faults.
 */
#ifndef UT_LAUNCH_CPU_MEASURE_H
#define UT_LAUNCH_CPU_MEASURE_H

#include <stdint.h>

struct ut_image;

void ut_measure(struct ut_image *image, uint64_t time);

#endif
