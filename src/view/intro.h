/*
 * intro.h - what a view is about, as JSON: for the server's answers and for pages that hold their
 * trace.
 */
#ifndef UT_VIEW_INTRO_H
#define UT_VIEW_INTRO_H

#include <stdbool.h>
#include <stdint.h>

#include "view/view_parts.h"

struct ut_out;

struct ut_intro {
	const char *left; /* what a page lacks, in a sentence; NULL = nothing */
	uint64_t slices, samples;
	uint32_t types;
	bool sql, notes;
};

void ut_intro_info(const struct ut_view *v, const struct ut_intro *intro, struct ut_out *out);

/* One place. lanes: NULL = without lanes, which the page makes itself. */
void ut_intro_place(const struct ut_view *v, uint32_t place, uint32_t track,
		    const struct ut_lanes *lanes, struct ut_out *out);

#endif
