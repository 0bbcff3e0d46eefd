/*
 * shape.h - the name of a kernel with the size it was launched with, as Intel's unitrace writes it
 * into tables, files of metrics and links: gemm[SIMD32 {64; 1; 1} {256; 1; 1}].
 */
#ifndef UT_MODEL_SHAPE_H
#define UT_MODEL_SHAPE_H

#include "base/str.h"

struct ut_device_launch;

/* lanes: threads in step, where its API says so of every kernel; 0 = what the launch says. */
void ut_shape_name(struct ut_buf *to, struct ut_str name, const struct ut_device_launch *launch,
		   unsigned int lanes);

#endif
