/*
 * sample.h - traces made by hand, and what a query answers about them.
 */
#ifndef TESTS_QUERY_SAMPLE_H
#define TESTS_QUERY_SAMPLE_H

#include <stdint.h>

#include "base/str.h"
#include "model/build.h"
#include "query/query.h"

#define SAMPLE_TRACES 8

struct sample {
	struct ut_build build; /* of the trace that is being made */
	struct ut_store stores[SAMPLE_TRACES];
	size_t count;
	struct ut_query *query;
	struct ut_buf answer;
	struct ut_err err;
};

void sample_init(struct sample *s);
void sample_release(struct sample *s);

uint32_t sample_str(struct sample *s, const char *text);
uint32_t sample_process(struct sample *s, uint64_t pid, const char *name, int32_t rank);
uint32_t sample_track(struct sample *s, uint32_t process, enum ut_track_type type, uint64_t id,
		      const char *name);
void sample_event(struct sample *s, uint32_t track, enum ut_kind kind, const char *name,
		  uint64_t ts, uint64_t val);

/* One event with one argument. */
void sample_event_arg(struct sample *s, uint32_t track, const char *name, uint64_t ts, uint64_t val,
		      struct ut_arg arg);
struct ut_arg sample_arg(struct sample *s, const char *key, enum ut_arg_type type, uint64_t value);

/* The trace is complete; the next one begins. */
void sample_next(struct sample *s, const char *path);

/* Rows as "a|b\nc|d\n"; on failure the error. Valid until the next call. */
const char *sample_ask(struct sample *s, const char *sql);

#endif
