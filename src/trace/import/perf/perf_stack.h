/*
 * perf_stack.h - the stacks of samples of a perf.data, with names: from chains of calls as the
 * kernel found them, or from registers and a copy of the stack.
 */
#ifndef UT_IMPORT_PERF_PERF_STACK_H
#define UT_IMPORT_PERF_PERF_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"

struct ut_pdata_maps;
struct ut_pdata_taken;
struct ut_sample_build;

struct ut_pdata_stacks {
	struct ut_sample_build *build;
	struct ut_pdata_maps *maps;
	bool same_kernel;      /* as the one that runs here */
	struct ut_idmap known; /* module and offset -> number of the frames, from 1 */
	struct ut_pdata_span {
		uint32_t first, count;
	} * spans;
	size_t span_count, span_cap;
	struct ut_place_in_code *frames;
	size_t frame_count, frame_cap;
	uint32_t kernel; /* string id of its module, which is no file */
};

void ut_pdata_stacks_init(struct ut_pdata_stacks *s, struct ut_sample_build *build,
			  struct ut_pdata_maps *maps);
void ut_pdata_stacks_release(struct ut_pdata_stacks *s);

/* Where the kernel that was recorded began: is it the one that runs here? */
void ut_pdata_stacks_kernel(struct ut_pdata_stacks *s, uint64_t text);

/* The stack of a sample in the build; 0 = it has none. */
uint32_t ut_pdata_stack(struct ut_pdata_stacks *s, const struct ut_pdata_taken *sample);

#endif
