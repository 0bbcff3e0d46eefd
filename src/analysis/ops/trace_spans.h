/*
 * trace_spans.h - the ops of one trace, and the tasks around and inside them.
 *
 * An op is a call of a library's operator: a span called aten::something, or NAMESPACE::NAME in the
 * marks of PyTorch. A task is any other span that somebody has marked: ITT, NVTX, the user's ranges
 * of torch.profiler. Calls of a device's runtime, functions of Python and what devices do are
 * neither. One thread.
 */
#ifndef UT_OPS_TRACE_SPANS_H
#define UT_OPS_TRACE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"

struct ut_store;
struct ut_trace;
struct ut_strtab;

struct ut_ops_span {
	uint64_t start, end;
	uint64_t self;   /* ns in which nothing inside of it went on */
	uint32_t code;   /* id in the caller's strings: the name without what PyTorch appends */
	uint32_t name;   /* string id of the trace: the whole name */
	uint32_t args;   /* list in the store's args; 0 = none */
	uint32_t track;  /* of the store */
	uint32_t parent; /* span around it, plus 1; 0 = none */
	uint32_t owner;  /* span whose row tells about it; its own number if it may have a row */
	uint32_t depth;  /* ops around it */
	bool op;
};

struct ut_ops_thread {
	size_t first, count; /* its spans */
	uint32_t next;       /* another one with the same id (of another process), plus 1 */
};

struct ut_ops_spans {
	struct ut_arena arena;
	struct ut_ops_span *items; /* thread by thread, each in order of start, outer ones first */
	size_t count, cap;
	struct ut_ops_thread *threads;
	size_t thread_count, thread_cap;
	struct ut_idmap by_thread;   /* ut_ops_thread_key() -> number in threads, plus 1 */
	struct ut_idmap by_external; /* torch.profiler's "External id" -> span, plus 1 */
	bool has_external;           /* the latter is made */
};

/*
 * Fills s; the codes go into strings. With nested every op may have a row, else only those that no
 * other op has called; what lies inside of them belongs to these.
 */
void ut_ops_spans_make(struct ut_ops_spans *s, const struct ut_store *store,
		       struct ut_strtab *strings, bool nested);
/* The functions of Python instead: ours, with file and line as arguments, or torch.profiler's. */
void ut_ops_spans_python(struct ut_ops_spans *s, const struct ut_store *store,
			 struct ut_strtab *strings);
void ut_ops_spans_release(struct ut_ops_spans *s);

/* Threads of different ranks may have the same id. */
static inline uint64_t ut_ops_thread_key(int32_t rank, uint64_t id)
{
	return (uint64_t)((int64_t)rank + 1) << 40 ^ id;
}

uint64_t ut_ops_thread_of(const struct ut_trace *t, uint32_t track);

/* The innermost span that was going on in a thread; its number plus 1, 0 = none. */
uint32_t ut_ops_spans_at(const struct ut_ops_spans *s, uint64_t thread, uint64_t ts);

/* The op of that External id; its number plus 1, 0 = none. */
uint32_t ut_ops_spans_external(struct ut_ops_spans *s, const struct ut_store *store,
			       uint64_t external);

#endif
