/*
 * cubin.h - which functions a cubin has: an ELF file of code for NVIDIA's devices. Anybody may have
 * written it: every offset is checked against the bytes that are there.
 */
#ifndef UT_METRICS_CUBIN_H
#define UT_METRICS_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Is it an ELF file of NVIDIA's? */
bool ut_cubin_is(struct ut_str bytes);

struct ut_cubin_function {
	struct ut_str name; /* as the linker calls it; points into the bytes */
	uint32_t symbol;    /* its number in the table, which nvdisasm takes */
	uint64_t size;
};

/* The next function from *at on, which begins with 0; false = no more. Parts of kernels that are
 * called only by them are left out. */
bool ut_cubin_next(struct ut_str bytes, uint32_t *at, struct ut_cubin_function *f);

#endif
