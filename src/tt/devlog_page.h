/*
 * devlog_page.h - the log as a page: cores x RISCs x time, and how long things took.
 */
#ifndef UT_TT_DEVLOG_PAGE_H
#define UT_TT_DEVLOG_PAGE_H

#include "tt/durations.h"
#include "tt/log_trace.h"

struct ut_out;

#define UT_TT_ALL_CHIPS UINT32_MAX

/* What a page can show without delay. */
#define UT_TT_PAGE_BARS 1000000

/*
 * A page of one chip (its index) or of all. Bars travel as varints in base64: some 8 bytes each. It
 * has about `most` of them at most: in lanes with more than their share, short ones that lie close
 * together are drawn as one.
 */
void ut_tt_write_page(const struct ut_tt_analysis *a, const struct ut_tt_alignment *align,
		      uint32_t chip, size_t most, struct ut_out *out);

#endif
