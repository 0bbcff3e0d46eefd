/*
 * area.h - what the tables of an area say by themselves, for those who make sentences of it.
 */
#ifndef UT_VIEW_AREA_H
#define UT_VIEW_AREA_H

#include <stdint.h>

#include "base/err.h"

struct ut_ask;
struct ut_view;

struct ut_area_facts {
	uint64_t span;
	/* the name with the most time of its own; count 0: there is nothing */
	uint64_t count, self, mean, max, longest;
	uint32_t type;
	/* the device that was busy least; UT_NO_PLACE = there is none */
	uint32_t device;
	uint64_t busy, gap;
	/* ranks, and the one whose busiest thread is busier than those of the others */
	uint32_t ranks;
	int32_t rank;
	uint64_t rank_busy, rank_mean;
};

int ut_area_facts(struct ut_view *v, const struct ut_ask *ask, struct ut_area_facts *f,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
