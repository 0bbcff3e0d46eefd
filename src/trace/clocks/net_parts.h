/*
 * net_parts.h - what the files that make a net of clocks share.
 */
#ifndef UT_CLOCKS_NET_PARTS_H
#define UT_CLOCKS_NET_PARTS_H

#include "base/hashtab.h"
#include "clocks/host_net.h"
#include "clocks/time_bounds.h"

/* Two clocks; bounds are of what has to be added to times of the higher one for the lower one. */
struct ut_net_edge {
	uint32_t low, high;
	struct ut_time_bounds bounds;
	/* once fitted */
	struct ut_time_map map;
	enum ut_bounds_fit fit;
	uint64_t error;
};

struct ut_host_net {
	struct ut_net_clock *clocks;
	uint64_t *evidence;
	size_t count;
	struct ut_net_edge *edges;
	size_t edge_count, edge_cap;
	struct ut_hashtab lookup;
};

/*
 * The tree has used the best evidence between neighbours; clocks that it has placed apart may still
 * contradict what is known between them. Moves all by as little as makes all evidence hold at once,
 * if that can be: net_balance.c.
 */
void ut_net_balance(const struct ut_host_net *net, struct ut_net_result *result);

#endif
