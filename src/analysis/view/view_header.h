/*
 * view_header.h - what a view is about, as JSON: for the server's answers and for pages that hold
 * their trace.
 */
#ifndef UT_VIEW_VIEW_HEADER_H
#define UT_VIEW_VIEW_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "view/view_parts.h"

struct ut_out;

struct ut_view_header {
	const char *left; /* what a page lacks, in a sentence; NULL = nothing */
	uint64_t slices, samples;
	uint32_t types;
	bool sql, notes;
};

#define UT_FAILED_RUN                                                                              \
	"What it recorded until then is here. Times and shares are those of a run that did not "   \
	"complete."

/* "solver (4711) failed: exit status 3.", the first few of many; false if no program failed, as far
 * as was seen. */
bool ut_view_header_failures(const struct ut_view *v, struct ut_buf *b);

void ut_view_header_info(const struct ut_view *v, const struct ut_view_header *header,
			 struct ut_out *out);

/* One place. lanes: NULL = without lanes, which the page makes itself. */
void ut_view_header_place(const struct ut_view *v, uint32_t place, uint32_t track,
			  const struct ut_lanes *lanes, struct ut_out *out);

#endif
