/*
 * host_net.h - the clocks of the hosts of a job, brought together by evidence.
 *
 * Evidence is that something on one clock happened before something on another: a message was sent
 * before it was received, everybody came before anybody left. What was measured is told as two such
 * pieces, one for each side. Two clocks with evidence in both directions have an edge with a bound
 * of its error; the tree of the best edges leads from every clock to the root.
 *
 * Owner: whoever frees it. One thread.
 */
#ifndef UT_CLOCKS_HOST_NET_H
#define UT_CLOCKS_HOST_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks/time_map.h"

struct ut_host_net;

/* What is known of a clock beforehand. */
struct ut_net_clock {
	int64_t first, last; /* its times that matter, ns */
	int64_t epoch;       /* ns since 1970 at its time 0, by its wall clock; 0 = unknown */
};

/* What came of it. */
struct ut_net_found {
	struct ut_time_map map; /* onto the clock of the root */
	bool proven;            /* by evidence in both directions, all the way to the root */
	bool contrary;          /* that contradicts itself somewhere on that way */
	uint64_t evidence;      /* pieces, with anybody */
};

struct ut_net_result {
	struct ut_net_found *clocks; /* as many as there are */
	size_t count;
	uint32_t root;
};

struct ut_host_net *ut_host_net_new(const struct ut_net_clock *clocks, size_t count);
void ut_host_net_free(struct ut_host_net *net);

/* What happened on clock a, at its time at_a, was before what happened on b, at its time at_b. */
void ut_host_net_before(struct ut_host_net *net, uint32_t a, int64_t at_a, uint32_t b,
			int64_t at_b);

/* At this time of clock a, b showed so much more, give or take error. */
void ut_host_net_measured(struct ut_host_net *net, uint32_t a, uint32_t b, int64_t at,
			  int64_t offset, uint64_t error);

/*
 * Finds the maps. The root is the clock with most evidence. Clocks that nothing leads to are placed
 * by their wall clocks; those with evidence in one direction only are moved from there as far as
 * that demands.
 */
void ut_host_net_solve(struct ut_host_net *net, struct ut_net_result *result);
void ut_net_result_release(struct ut_net_result *result);

#endif
