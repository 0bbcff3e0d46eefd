/*
 * roofline_device.h - device files of the roofline: what a device can do at most, a line each.
 *
 *     # a remark
 *     PlatformName,"NVIDIA H200"
 *     FP32_GFLOPS,60000
 *     GPU_MEMORY_BW_in_GB_per_sec,4300
 *
 * docs/formats/roofline.md has all keys. Files of Intel's unitrace are such files; their XMX is
 * what we call TENSOR.
 */
#ifndef UT_METRICS_ROOFLINE_DEVICE_H
#define UT_METRICS_ROOFLINE_DEVICE_H

#include "base/err.h"
#include "metrics/roofline.h"

struct ut_logger;

/*
 * Reads the text of a file; name is for messages. The device's name is copied into the arena. Keys
 * that nobody knows are told. -EINVAL: a line is no key and number, or there is no peak at all.
 */
int ut_roof_device_read(struct ut_roof_device *d, struct ut_arena *a, const char *name,
			struct ut_str text, const struct ut_logger *logger,
			struct ut_err *err) UT_MUST_CHECK;

/* The same from a file, or from one that comes with the program: "h200", "pvc-1tile". */
int ut_roof_device_open(struct ut_roof_device *d, struct ut_arena *a, const char *word,
			const struct ut_logger *logger, struct ut_err *err) UT_MUST_CHECK;

/* The one that comes with it for this model ("NVIDIA H200"); -ENODEV: there is none. */
int ut_roof_device_for(struct ut_roof_device *d, struct ut_arena *a,
		       struct ut_str model) UT_MUST_CHECK;

/* Those that come with it, in words. */
const char *ut_roof_device_names(void);

/* The program in CUDA that measures a device and prints such a file. */
struct ut_str ut_roof_device_program(void);

#endif
