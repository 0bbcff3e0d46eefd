/*
 * mcp_traces.h - the traces that a client has opened, by the short names that it got for them.
 *
 * A few at a time: who opens another one closes the one that was not used for longest. What was
 * opened stays as it was read, also if its files change. One thread.
 */
#ifndef UT_MCP_MCP_TRACES_H
#define UT_MCP_MCP_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "import/inputs.h"

struct ut_mcp_folders;
struct ut_query;
struct ut_view;

#define UT_MCP_TRACES 6u

struct ut_mcp_trace {
	char name[24];
	struct ut_inputs inputs;
	struct ut_view *view;
	struct ut_query *query; /* NULL until somebody asks */
	uint64_t used;          /* when, by a clock that counts questions */
	struct ut_buf odd;      /* lines: what was odd about the files */
};

struct ut_mcp_traces {
	struct ut_mcp_trace *items[UT_MCP_TRACES]; /* NULL = free */
	uint64_t clock, opened;
	unsigned int threads;
};

void ut_mcp_traces_release(struct ut_mcp_traces *t);

/* Opens files and folders, which were found by mcp_folders.h, as one trace. */
int ut_mcp_traces_open(struct ut_mcp_traces *t, const struct ut_mcp_folders *folders,
		       const char *const *paths, size_t count, struct ut_mcp_trace **trace,
		       struct ut_err *err) UT_MUST_CHECK;

/* By its name; NULL or "": the one that was used last. -ENOENT with a sentence. */
int ut_mcp_traces_get(struct ut_mcp_traces *t, const char *name, struct ut_mcp_trace **trace,
		      struct ut_err *err) UT_MUST_CHECK;

/* The database around a trace, made when it is first needed. */
int ut_mcp_trace_query(struct ut_mcp_trace *trace, unsigned int threads,
		       struct ut_err *err) UT_MUST_CHECK;

#endif
