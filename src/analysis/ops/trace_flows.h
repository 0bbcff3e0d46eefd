/*
 * trace_flows.h - arrows of a trace that end where work of a device begins: where they come from.
 *
 * For traces whose calls and work have no number in common (Intel's tool). One thread.
 */
#ifndef UT_OPS_TRACE_FLOWS_H
#define UT_OPS_TRACE_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"

struct ut_store;

struct ut_ops_flow_end {
	uint32_t track; /* of the store */
	uint64_t ts;
};

/* {0} is none, and not made. */
struct ut_ops_flows {
	bool made;
	struct ut_arena arena;
	struct ut_idmap starts; /* number of the flow -> its start, plus 1 */
	struct ut_idmap ends;   /* track and time -> the start of what ends there, plus 1 */
	struct ut_ops_flow_end *items;
	size_t count, cap;
};

void ut_ops_flows_make(struct ut_ops_flows *f, const struct ut_store *store);
void ut_ops_flows_release(struct ut_ops_flows *f);

/* The start of the arrow that ends there; NULL if there is none. */
const struct ut_ops_flow_end *ut_ops_flows_to(const struct ut_ops_flows *f, uint32_t track,
					      uint64_t ts);

#endif
