/*
 * roofline_words.h - what a roofline says, in sentences: for the terminal, the page and the foot of
 * a chart.
 */
#ifndef UT_METRICS_ROOFLINE_WORDS_H
#define UT_METRICS_ROOFLINE_WORDS_H

#include "metrics/roofline.h"

/* "Of 9.8 ms in kernels 94.2 % are bound by FP16 tensor and 5.8 % by DRAM on NVIDIA H200." */
void ut_roof_say_all(const struct ut_roof *r, struct ut_buf *to);

/* "copy (94.2 % of the time) is memory bound (DRAM): 4,210 of 4,627 GB/s, 91.0 % of its roof." The
 * name takes at most so many columns. */
void ut_roof_say_kernel(const struct ut_roof *r, const struct ut_roof_kernel *k, size_t columns,
			struct ut_buf *to);

/* "4,210 of 4,627 GB/s": what a kernel has of a part. */
void ut_roof_say_rate(const struct ut_roof *r, const struct ut_roof_kernel *k, unsigned int part,
		      struct ut_buf *to);

#endif
