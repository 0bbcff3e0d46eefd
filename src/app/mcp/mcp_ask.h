/*
 * mcp_ask.h - what a client asks of a tool: a JSON object, read by the table of the command line,
 * so that values mean the same and mistakes are told in the same words.
 *
 * Properties are described once, here; schemas and checks follow from it. Texts and lists of texts,
 * numbers and flags are taken for each other where that can only mean one thing: 3 for "3", "x" for
 * ["x"], and for a time a bare number of seconds.
 */
#ifndef UT_MCP_MCP_ASK_H
#define UT_MCP_MCP_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/filter.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ut_doc;
struct ut_json_writer;

/* property, name in JSON, type, what it is */
#define UT_MCP_PROPERTY_LIST(X)                                                                    \
	X(PATHS, "paths", LIST,                                                                    \
	  "files or folders of traces, of any format; several are read as one, as ranks are")      \
	X(FOLDER, "folder", TEXT, "the folder to list; without it those that may be read")         \
	X(TRACE, "trace", TEXT, "name that open has given; without it the trace used last")        \
	X(BEFORE, "before", TEXT, "name of the trace to compare with")                             \
	X(AFTER, "after", TEXT, "name of the trace that may have changed")                         \
	X(SQL, "sql", TEXT, "SQL of SQLite; times are nanoseconds; schema tells the tables")       \
	X(TABLE, "table", TEXT, "a table or view; without it all of them")                         \
	X(WHAT, "what", TEXT, "spans (usual), counters or instants")                               \
	X(BY, "by", TEXT,                                                                          \
	  "a row for each name, category, thread, process, rank, or several: name,rank")           \
	X(SORT, "sort", TEXT, "column to order by, the largest first; column:asc turns it round")  \
	X(LIMIT, "limit", COUNT, "rows at most")                                                   \
	X(MIN_COUNT, "min_count", COUNT, "leave out what happens less often")                      \
	X(NAME, "name", LIST, "only events of these names; * and ? as in file names")              \
	X(NOT_NAME, "not_name", LIST, "no events of these names")                                  \
	X(CAT, "cat", LIST, "only events of these categories; patterns")                           \
	X(THREAD, "thread", LIST, "only threads, streams, counters of this name or number")        \
	X(PID, "pid", TEXT, "only these processes: 3 or 0,2,8-15")                                 \
	X(RANK, "rank", TEXT, "only these ranks: 3 or 0,2,8-15")                                   \
	X(MIN_DUR, "min_dur", TIME, "no spans shorter than this: 20us")                            \
	X(MAX_DUR, "max_dur", TIME, "no spans longer than this")                                   \
	X(FROM, "from", TIME, "from this time after the first event on: 1.5s, 20ms")               \
	X(TO, "to", TIME, "up to this time after the first event")                                 \
	X(WIDTH, "width", COUNT, "of the picture, in points: 300 to 4000")                         \
	X(ROWS, "rows", COUNT, "rows of spans in the picture at most")

enum ut_mcp_property {
#define UT_MCP_PROPERTY_ENUM(property, name, type, about) UT_MCP_##property,
	UT_MCP_PROPERTY_LIST(UT_MCP_PROPERTY_ENUM)
#undef UT_MCP_PROPERTY_ENUM
	UT_MCP_PROPERTIES
};

#define UT_MCP_BIT(property) (UINT64_C(1) << UT_MCP_##property)

/* Those that choose events. */
#define UT_MCP_EVENTS                                                                              \
	(UT_MCP_BIT(NAME) | UT_MCP_BIT(NOT_NAME) | UT_MCP_BIT(CAT) | UT_MCP_BIT(THREAD) |          \
	 UT_MCP_BIT(PID) | UT_MCP_BIT(RANK) | UT_MCP_BIT(MIN_DUR) | UT_MCP_BIT(MAX_DUR) |          \
	 UT_MCP_BIT(FROM) | UT_MCP_BIT(TO))

struct ut_mcp_ask {
	struct ut_arena arena;
	struct ut_opt_list paths;
	const char *folder, *trace, *before, *after, *sql, *table, *what, *by, *sort;
	uint64_t limit, min_count, width, rows;
	struct ut_filter_opts events;
	struct ut_filter filter;
	struct ut_buf words; /* the same as options of the command line, each behind a blank */
};

/* arguments may be NULL. Whatever is not among the allowed ones is an error that lists them, and so
 * is a required one that is missing, null or empty. */
int ut_mcp_ask_read(struct ut_mcp_ask *a, const struct ut_doc *arguments, uint64_t allowed,
		    uint64_t required, struct ut_err *err) UT_MUST_CHECK;
void ut_mcp_ask_release(struct ut_mcp_ask *a);

/* The JSON schema of arguments. */
void ut_mcp_ask_schema(struct ut_json_writer *w, const char *key, uint64_t allowed,
		       uint64_t required);

#endif
