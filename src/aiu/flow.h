/*
 * flow.h - --flow: between finding the steps of collective operations and joining them.
 *
 * A step is an event with "[sync=...]" in its name. Steps of one CollGroup form a group; a group
 * is complete when every sync string has as many receives as it has receivers.
 */
#ifndef UT_AIU_FLOW_H
#define UT_AIU_FLOW_H

#include "aiu/run.h"

enum ut_aiu_flow_type {
	UT_AIU_STEP_NONE,
	UT_AIU_STEP_BCLIST,
	UT_AIU_STEP_SEND,
	UT_AIU_STEP_MCAST,
	UT_AIU_STEP_DONE,
};

/* What a step has beside the event that it was made from. */
struct ut_aiu_step {
	uint32_t sync;  /* string id */
	uint32_t group; /* string id: CollGroup */
	uint32_t peers; /* index of the first one in peers of the flows */
	uint32_t peer_count;
	uint8_t type; /* enum ut_aiu_flow_type */
	int8_t step;  /* 0 prep, 1 exec, 5 done; -1 = none */
	int8_t io;    /* 0 out, 1 in; -1 = none */
	bool shown;   /* a flow still shows them (release 1.0) */
};

struct ut_aiu_flows {
	struct ut_aiu_step *steps; /* by link of an event with UT_AIU_FLOW */
	size_t count, cap;
	int64_t *peers;
	size_t peer_count, peer_cap;
};

/* One step of a group. */
struct ut_aiu_member {
	uint32_t event; /* a copy of the original's row */
	uint32_t step;
};

struct ut_aiu_flow_group {
	struct ut_aiu_member *members;
	size_t count, cap;
	int64_t *peers; /* of all steps, sorted, each once */
	size_t peer_count, peer_cap;
};

/* Kernels of a rank that a collective operation may have waited for, in order. */
struct ut_aiu_kernels {
	uint32_t *events;
	size_t count, cap, next;
};

struct ut_aiu_colls {
	struct ut_aiu_kernels *ranks; /* by id of the process */
	size_t rank_cap;
	bool off;   /* the algorithm is not one that is understood */
	bool chain; /* it is */
};

/* -R: one event per rank for a complete group; they are appended to seq. */
void ut_aiu_coll_events(struct ut_aiu *a, struct ut_aiu_colls *c, const struct ut_aiu_flow_group *g,
			uint32_t group);

/* A number into a sorted list that has each once. */
void ut_aiu_set_add(int64_t **items, size_t *count, size_t *cap, int64_t value);

#endif
