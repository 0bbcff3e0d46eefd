/*
 * read_trace.h - a trace that is open: its stores, and SQL over them when somebody asks.
 *
 * Counted: the handle that unitrace_open() gave, and every stream that still reads columns.
 */
#ifndef UT_READ_READ_TRACE_H
#define UT_READ_READ_TRACE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/err.h"
#include "import/inputs.h"
#include "model/store.h"
#include "unitrace/read.h"

struct ut_query;

struct unitrace_trace {
	_Atomic size_t uses;
	struct ut_inputs inputs;
	struct ut_store *stores; /* one per input */
	unsigned int threads;
	pthread_mutex_t asking;             /* of query */
	struct ut_query *query;             /* NULL until somebody asks */
	_Atomic(struct ut_query *) running; /* what an interrupt ends */
};

void ut_read_share(struct unitrace_trace *trace);
void ut_read_drop(struct unitrace_trace *trace);

/* For the functions of read.h: *error becomes what err says. Returns rc. */
int ut_read_result(int rc, const struct ut_err *err, struct unitrace_error *error);

#endif
