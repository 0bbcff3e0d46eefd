/*
 * mcp_tools.h - the tools of the server, and what they are given.
 *
 * A tool writes text for whoever reads it, and how it came about: the command line that says the
 * same. What goes wrong is an error with a sentence, which the client gets as the tool's answer.
 */
#ifndef UT_MCP_MCP_TOOLS_H
#define UT_MCP_MCP_TOOLS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/str.h"
#include "mcp/mcp_ask.h"
#include "mcp/mcp_folders.h"
#include "mcp/mcp_traces.h"

struct ut_json_writer;
struct ut_out;
struct ut_query;

/* A call that may be ended from outside. */
struct ut_mcp_job {
	_Atomic(struct ut_query *) running; /* what an interrupt ends; NULL = nothing can be */
	_Atomic bool cancelled, too_late;
};

/* One call: what is asked, and the answer in the making. */
struct ut_mcp_call {
	struct ut_mcp_ask ask;
	const struct ut_mcp_folders *folders;
	struct ut_mcp_traces *traces;
	struct ut_mcp_job *job;
	uint64_t timeout; /* s, to be told */
	struct ut_out *text;
	struct ut_buf how;
	struct ut_buf image; /* PNG, as base64; empty = none */
};

struct ut_mcp_tool {
	const char *name, *title, *about;
	uint64_t allowed, required; /* UT_MCP_BIT of properties */
	int (*run)(struct ut_mcp_call *c, struct ut_err *err);
};

extern const struct ut_mcp_tool ut_mcp_tools[]; /* closed by a name of NULL */

const struct ut_mcp_tool *ut_mcp_tool_find(const char *name);

/* "tools":[...] */
void ut_mcp_tools_list(struct ut_json_writer *w);

/* ---- for tools ------------------------------------------------------------------------------ */

/* " FILE FILE ..." behind how, the first few of them. */
void ut_mcp_how_files(struct ut_mcp_call *c, const struct ut_mcp_trace *t);

/* The limit that was asked for, within what an answer may have. */
uint64_t ut_mcp_limit(const struct ut_mcp_call *c);

/* SQL as CSV into the text, at most so many rows; c->how is the caller's. */
int ut_mcp_run_sql(struct ut_mcp_call *c, struct ut_mcp_trace *t, const char *sql, uint64_t limit,
		   struct ut_err *err) UT_MUST_CHECK;

/* tool_open.c, tool_overview.c, tool_stats.c, tool_query.c, tool_picture.c */
int ut_mcp_tool_list(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_open(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_overview(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_stats(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_diff(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_schema(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_query(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_slow(struct ut_mcp_call *c, struct ut_err *err);
int ut_mcp_tool_picture(struct ut_mcp_call *c, struct ut_err *err);

#endif
