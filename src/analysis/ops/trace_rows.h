/*
 * trace_rows.h - the ops of one trace, joined with what they called and what devices did for them.
 */
#ifndef UT_OPS_TRACE_ROWS_H
#define UT_OPS_TRACE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/device_log.h"
#include "ops/trace_spans.h"

/* When work was submitted, by whatever is known of it; 0 = unknown. */
static inline uint64_t ut_ops_submitted(const struct ut_device_work *w)
{
	return w->called ? w->called : w->queued;
}

/* All calls of one name inside an op. */
struct ut_ops_child {
	uint32_t name; /* id in the report's texts */
	uint32_t next; /* of the same op, plus 1 */
	uint64_t count, total;
};

struct ut_ops_job {
	uint64_t when;     /* the row's place in time */
	uint32_t span;     /* plus 1; 0 = work that nobody is known to have submitted */
	uint32_t work;     /* its first work, plus 1; 0 = none */
	uint32_t child;    /* plus 1; 0 = none */
	bool has_gap;      /* the device did nothing else in between ... */
	uint64_t gap;      /* ... since it ended what came before, ns */
	uint64_t from, to; /* on the device: first start, last end; 0 = no work */
};

struct ut_ops_jobs {
	struct ut_ops_spans spans;
	struct ut_device_log log;
	uint32_t *next_work; /* of the same row, plus 1 */
	struct ut_ops_child *children;
	size_t child_count, child_cap;
	struct ut_ops_job *items; /* the rows, in order of time */
	size_t count, cap;
};

/* Names of spans and calls go into texts. */
void ut_ops_jobs_make(struct ut_ops_jobs *j, struct ut_store *store, struct ut_strtab *texts,
		      bool nested);
void ut_ops_jobs_release(struct ut_ops_jobs *j);

#endif
