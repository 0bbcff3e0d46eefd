/*
 * memory_sheet.h - what a kernel asks of each level of memory, for the diagram of the tab Metrics:
 * bytes of a launch, how often caches have them, how much the level could move; what the
 * multiprocessors do meanwhile; and what of it is bad, with the reason.
 */
#ifndef UT_VIEW_MEMORY_SHEET_H
#define UT_VIEW_MEMORY_SHEET_H

#include <stddef.h>

#include "base/str.h"

struct ut_kernel_measures;
struct ut_kernel_variant;
struct ut_out;

/* One object. device: as its maker calls it. */
void ut_memory_sheet_put(struct ut_out *out, const struct ut_kernel_measures *m, size_t variant,
			 const struct ut_kernel_variant *k, struct ut_str device);

#endif
