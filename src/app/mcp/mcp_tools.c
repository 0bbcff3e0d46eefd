#include "mcp/mcp_tools.h"

#include <string.h>

#include "text/json_write.h"
#include "text/shell_words.h"

#define LIMIT_USUAL    50u
#define LIMIT_MOST     1000u
#define REPORTED_FILES 4u

const struct ut_mcp_tool ut_mcp_tools[] = {
	{ "list", "List files",
	  "Lists what lies in a folder that may be read: names, sizes, and what are folders. "
	  "Without arguments: the folders that may be read.",
	  UT_MCP_BIT(FOLDER), 0, ut_mcp_tool_list },
	{ "open", "Open a trace",
	  "Opens files or folders of traces (Chrome/PyTorch JSON, Perfetto, unitrace's own and "
	  "others) as one trace and gives it a short name for the other tools. Several files are "
	  "the ranks of one job. Nothing is changed on disk.",
	  UT_MCP_BIT(PATHS), UT_MCP_BIT(PATHS), ut_mcp_tool_open },
	{ "overview", "What is in a trace, and what is wrong with it",
	  "Start here: what the trace is, findings in sentences with their evidence (idle devices, "
	  "uneven ranks, who waits for whom, what kernels are bound by, what is missing), and what "
	  "has the most self time.",
	  UT_MCP_BIT(TRACE), 0, ut_mcp_tool_overview },
	{ "stats", "How often and how long",
	  "Count, total, self time and quantiles of spans, or values of counters, or counts of "
	  "instants, per name, category, thread, process or rank, as CSV. Times are ns.",
	  UT_MCP_BIT(TRACE) | UT_MCP_BIT(WHAT) | UT_MCP_BIT(BY) | UT_MCP_BIT(SORT) |
		  UT_MCP_BIT(LIMIT) | UT_MCP_EVENTS,
	  0, ut_mcp_tool_stats },
	{ "slow", "Find what is slow and odd",
	  "The spans that took much longer than others of their name usually do, and, of several "
	  "ranks, names that one rank spends much more time in than the others. CSV, times are ns.",
	  UT_MCP_BIT(TRACE) | UT_MCP_BIT(LIMIT), 0, ut_mcp_tool_slow },
	{ "schema", "Tables for SQL", "Describes the tables, columns and functions that query has.",
	  UT_MCP_BIT(TABLE), 0, ut_mcp_tool_schema },
	{ "query", "Ask in SQL",
	  "Runs SQL (SQLite) over the trace and gives the last result as CSV. Tables: slice (id, "
	  "ts, "
	  "dur, name, cat, track_id, thread_name, tid, process_name, pid, rank, parent_id, depth), "
	  "slice_stats, counter, instant, flow, args, thread, process, track and others; SQL that "
	  "was written for Perfetto runs. Nothing can be written.",
	  UT_MCP_BIT(TRACE) | UT_MCP_BIT(SQL) | UT_MCP_BIT(LIMIT), UT_MCP_BIT(SQL),
	  ut_mcp_tool_query },
	{ "diff", "Compare two traces",
	  "What has changed from one open trace to another, per name: counts, times, quantiles, "
	  "and "
	  "how far apart the durations are. The largest change first, as CSV; times are ns.",
	  UT_MCP_BIT(BEFORE) | UT_MCP_BIT(AFTER) | UT_MCP_BIT(BY) | UT_MCP_BIT(SORT) |
		  UT_MCP_BIT(LIMIT) | UT_MCP_BIT(MIN_COUNT) | UT_MCP_EVENTS,
	  UT_MCP_BIT(BEFORE) | UT_MCP_BIT(AFTER), ut_mcp_tool_diff },
	{ "picture", "A picture of a window",
	  "The timeline between two times as a PNG: a row for each thread, queue and counter, and "
	  "more for nested calls.",
	  UT_MCP_BIT(TRACE) | UT_MCP_BIT(FROM) | UT_MCP_BIT(TO) | UT_MCP_BIT(WIDTH) |
		  UT_MCP_BIT(ROWS),
	  0, ut_mcp_tool_picture },
	{ NULL, NULL, NULL, 0, 0, NULL },
};

const struct ut_mcp_tool *ut_mcp_tool_find(const char *name)
{
	for (const struct ut_mcp_tool *t = ut_mcp_tools; t->name; t++) {
		if (!strcmp(t->name, name))
			return t;
	}
	return NULL;
}

static void put_tool(struct ut_json_writer *w, const struct ut_mcp_tool *t)
{
	ut_write_open(w, NULL, '{');
	ut_write_text(w, "name", t->name);
	ut_write_text(w, "title", t->title);
	ut_write_text(w, "description", t->about);
	ut_mcp_ask_schema(w, "inputSchema", t->allowed, t->required);
	ut_write_open(w, "annotations", '{');
	ut_write_text(w, "title", t->title);
	ut_write_flag(w, "readOnlyHint", true);
	ut_write_flag(w, "openWorldHint", false);
	ut_write_close(w, '}');
	ut_write_close(w, '}');
}

void ut_mcp_tools_list(struct ut_json_writer *w)
{
	ut_write_open(w, "tools", '[');
	for (const struct ut_mcp_tool *t = ut_mcp_tools; t->name; t++)
		put_tool(w, t);
	ut_write_close(w, ']');
}

void ut_mcp_how_files(struct ut_mcp_call *c, const struct ut_mcp_trace *t)
{
	for (size_t i = 0; i < t->inputs.count && i < REPORTED_FILES; i++) {
		ut_buf_char(&c->how, ' ');
		ut_shell_quote(&c->how, t->inputs.paths[i]);
	}
	if (t->inputs.count > REPORTED_FILES)
		ut_buf_fmt(&c->how, " ... (%zu files in all)", t->inputs.count);
}

uint64_t ut_mcp_limit(const struct ut_mcp_call *c)
{
	uint64_t limit = c->ask.limit ? c->ask.limit : LIMIT_USUAL;

	return limit < LIMIT_MOST ? limit : LIMIT_MOST;
}
