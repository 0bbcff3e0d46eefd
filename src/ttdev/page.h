/*
 * page.h - the log as a page: cores x RISCs x time, and how long things took.
 */
#ifndef UT_TTDEV_PAGE_H
#define UT_TTDEV_PAGE_H

#include "ttdev/analyze.h"
#include "ttdev/trace.h"

struct ut_out;

#define UT_TT_ALL_CHIPS UINT32_MAX

/* A page of one chip (its index) or of all. Bars travel as varints in base64: some 8 bytes each. */
void ut_tt_write_page(const struct ut_tt_analysis *a, const struct ut_tt_alignment *align,
		      uint32_t chip, struct ut_out *out);

#endif
