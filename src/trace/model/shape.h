/*
 * shape.h - the name of a kernel with the size it was launched with, as Intel's unitrace writes it
 * into tables, files of metrics and links: gemm[SIMD32 {64; 1; 1} {256; 1; 1}].
 */
#ifndef UT_MODEL_SHAPE_H
#define UT_MODEL_SHAPE_H

#include "base/str.h"

/* grid and block: "64x1x1", "[64,1]"; NULL = unknown. lanes: threads in step, 0 = unknown. */
void ut_shape_name(struct ut_buf *to, struct ut_str name, const char *grid, const char *block,
		   unsigned int lanes);

#endif
