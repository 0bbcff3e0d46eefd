/*
 * flow.h - the arrows between slices: where each starts and where it ends.
 *
 * model/arrows.h says which they are; here they are by number of event, for all traces.
 */
#ifndef UT_QUERY_FLOW_H
#define UT_QUERY_FLOW_H

#include "query/traces.h"

struct ut_qarrow {
	uint64_t out, in; /* the events, by id */
	uint64_t number;
	int64_t slice_out, slice_in; /* ids; -1 = lies in none */
};

struct ut_flows {
	struct ut_qarrow *arrows; /* sorted by slice_out */
	size_t count, cap;
	uint32_t *by_in; /* their indices, sorted by slice_in */
};

/* All arrows of all traces, made at the first call and kept. NULL if traces->stop was set. */
const struct ut_flows *ut_flows_get(struct ut_traces *t);
void ut_flows_free(struct ut_flows *f);

#endif
