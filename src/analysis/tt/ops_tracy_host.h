/*
 * ops_tracy_host.h - when the host ran each op, and what it called meanwhile: tracy_ops_times.csv.
 */
#ifndef UT_TT_OPS_TRACY_HOST_H
#define UT_TT_OPS_TRACY_HOST_H

#include <stdbool.h>

#include "base/idmap.h"
#include "tt/ops_tracy_columns.h"

struct ut_csv;

/* Calls of one name inside one op, added up. */
struct ut_tracy_child {
	uint32_t column;
	uint32_t next; /* of the same op; 0 = none */
	uint64_t ns;
};

struct ut_tracy_time {
	bool timed; /* there is a zone of the op itself */
	uint64_t start, ns;
	uint32_t child; /* the first; 0 = none */
};

/* Numbers count from 1. */
struct ut_tracy_host {
	struct ut_idmap by_op;   /* op -> times */
	struct ut_idmap by_call; /* op and column -> children */
	struct ut_tracy_time *times;
	size_t time_count, time_cap;
	struct ut_tracy_child *children;
	size_t child_count, child_cap;
};

/* csv may be NULL: no op has a time then. */
void ut_tracy_host_read(struct ut_tracy_host *h, struct ut_ops_report *r, struct ut_csv *csv);
void ut_tracy_host_release(struct ut_tracy_host *h);

/* Puts the host's columns of an op. */
/* When the op began, ns; false if no zone tells. */
bool ut_tracy_host_start(const struct ut_tracy_host *h, uint64_t op, uint64_t *start);

void ut_tracy_host_put(const struct ut_tracy_host *h, const struct ut_tracy_columns *columns,
		       struct ut_ops_report *r, uint64_t op);

#endif
