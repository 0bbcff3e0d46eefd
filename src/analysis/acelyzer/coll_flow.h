/*
 * coll_flow.h - --flow: between finding the steps of collective operations and joining them.
 *
 * A step is an event with "[sync=...]" in its name. Steps of one CollGroup form a group; a group
 * is complete when every sync string has as many receives as it has receivers.
 */
#ifndef UT_ACELYZER_COLL_FLOW_H
#define UT_ACELYZER_COLL_FLOW_H

#include "acelyzer/analysis.h"

enum ut_ace_flow_type {
	UT_ACE_STEP_NONE,
	UT_ACE_STEP_BCLIST,
	UT_ACE_STEP_SEND,
	UT_ACE_STEP_MCAST,
	UT_ACE_STEP_DONE,
};

/* What a step has beside the event that it was made from. */
struct ut_ace_coll_step {
	uint32_t sync;  /* string id */
	uint32_t group; /* string id: CollGroup */
	uint32_t peers; /* index of the first one in peers of the flows */
	uint32_t peer_count;
	uint8_t type; /* enum ut_ace_flow_type */
	int8_t step;  /* 0 prep, 1 exec, 5 done; -1 = none */
	int8_t io;    /* 0 out, 1 in; -1 = none */
	bool shown;   /* a flow still shows them (release 1.0) */
};

struct ut_ace_flows {
	struct ut_ace_coll_step *steps; /* by link of an event with UT_ACE_FLOW */
	size_t count, cap;
	int64_t *peers;
	size_t peer_count, peer_cap;
};

/* One step of a group. */
struct ut_ace_member {
	uint32_t event; /* a copy of the original's row */
	uint32_t step;
};

struct ut_ace_flow_group {
	struct ut_ace_member *members;
	size_t count, cap;
	int64_t *peers; /* of all steps, sorted, each once */
	size_t peer_count, peer_cap;
};

/* Kernels of a rank that a collective operation may have waited for, in order. */
struct ut_ace_kernels {
	uint32_t *events;
	size_t count, cap, next;
};

struct ut_ace_colls {
	struct ut_ace_kernels *ranks; /* by id of the process */
	size_t rank_cap;
	bool off;   /* the algorithm is not one that is understood */
	bool chain; /* it is */
};

/* -R: one event per rank for a complete group; they are appended to seq. */
void ut_ace_coll_events(struct ut_ace_analysis *a, struct ut_ace_colls *c,
			const struct ut_ace_flow_group *g, uint32_t group);

/* A number into a sorted list that has each once. */
void ut_ace_set_add(int64_t **items, size_t *count, size_t *cap, int64_t value);

#endif
