/*
 * area.h - what the tables of an area say by themselves, for those who make sentences of it.
 */
#ifndef UT_VIEW_AREA_H
#define UT_VIEW_AREA_H

#include <stdint.h>

#include "base/err.h"

struct ut_ask;
struct ut_ask_scope;
struct ut_out;
struct ut_sheet;
struct ut_view;
struct ut_search_query;

struct ut_area_facts {
	uint64_t span;
	/* the name with the most self time; count 0: there is nothing */
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

/* A cell with the path of a place: "rank 0 / train.py / main". */
void ut_area_put_path(struct ut_sheet *s, const struct ut_view *v, uint32_t place);

/* ,"counters":TABLE */
void ut_area_counters(struct ut_view *v, const struct ut_ask_scope *scope,
		      const struct ut_search_query *w, struct ut_out *out);

int ut_area_facts(struct ut_view *v, const struct ut_ask *ask, struct ut_area_facts *f,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
