/* tables.c - the list of all tables and views, and how they are described. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "query/function.h"
#include "query/query.h"
#include "query/sql.h"

#define INT(name, doc)                                                                             \
	{                                                                                          \
		name, "INTEGER", doc, 0, false                                                     \
	}
#define TEXT(name, doc)                                                                            \
	{                                                                                          \
		name, "TEXT", doc, 0, false                                                        \
	}

/* ---- views, for queries that were written for Perfetto ------------------------------------- */

static const struct ut_sql_column thread_track_columns[] = {
	INT("id", "number of the track"),
	TEXT("name", "name of the thread"),
	INT("utid", "the thread: thread.utid"),
	INT("upid", "the process: process.upid"),
	INT("trace", "the file that it comes from: trace.id"),
	{ 0 },
};

static const struct ut_sql_column process_track_columns[] = {
	INT("id", "number of the track"),
	TEXT("name", "what it is called"),
	TEXT("type", "lane or async"),
	INT("upid", "the process: process.upid"),
	INT("trace", "the file that it comes from: trace.id"),
	{ 0 },
};

static const struct ut_sql_column counter_track_columns[] = {
	INT("id", "number of the track"),
	TEXT("name", "which counter it is"),
	TEXT("unit", "what its values count"),
	INT("upid", "the process: process.upid"),
	INT("events", "how many values it has"),
	INT("trace", "the file that it comes from: trace.id"),
	{ 0 },
};

static const struct ut_sql_table thread_track = {
	.name = "thread_track",
	.doc = "the tracks of threads",
	.columns = thread_track_columns,
	.view = "SELECT id, name, utid, upid, trace FROM track WHERE type = 'thread'",
};

static const struct ut_sql_table process_track = {
	.name = "process_track",
	.doc = "tracks that belong to a process and to none of its threads",
	.columns = process_track_columns,
	.view = "SELECT id, name, type, upid, trace FROM track WHERE type IN ('lane', 'async')",
};

static const struct ut_sql_table counter_track = {
	.name = "counter_track",
	.doc = "the counters",
	.columns = counter_track_columns,
	.view = "SELECT id, name, unit, upid, events, trace FROM track WHERE type = 'counter'",
};

const struct ut_sql_table *const ut_sql_tables[] = {
	&ut_sql_slice,
	&ut_sql_slice_stats,
	&ut_sql_device_work,
	&ut_sql_instant,
	&ut_sql_counter,
	&ut_sql_sample,
	&ut_sql_callsite,
	&ut_sql_frame,
	&ut_sql_flow,
	&ut_sql_args,
	&ut_sql_thread,
	&ut_sql_process,
	&ut_sql_track,
	&ut_sql_trace,
	&ut_sql_metadata,
	&ut_sql_event,
	&thread_track,
	&process_track,
	&counter_track,
	&ut_sql_mapping,
	&ut_sql_perf_sample,
	&ut_sql_allocation,
	&ut_sql_ancestor_slice,
	&ut_sql_descendant_slice,
	&ut_sql_following_flow,
	&ut_sql_preceding_flow,
	&ut_sql_directly_connected_flow,
	NULL,
};

/* ---- in words ------------------------------------------------------------------------------ */

static void query_tables_describe(struct ut_buf *to, const struct ut_sql_table *t)
{
	int names = 0, types = 0;

	for (const struct ut_sql_column *c = t->columns; c->name; c++) {
		names = (int)strlen(c->name) > names ? (int)strlen(c->name) : names;
		types = (int)strlen(c->type) > types ? (int)strlen(c->type) : types;
	}
	ut_buf_fmt(to, "-- %s\nCREATE %s %s (\n", t->doc, t->module ? "TABLE" : "VIEW", t->name);
	for (const struct ut_sql_column *c = t->columns; c->name; c++) {
		bool last = !c[1].name;

		ut_buf_fmt(to, "  %-*s %s%s%*s -- %s%s\n", names, c->name, c->type, last ? "" : ",",
			   types - (int)strlen(c->type) + last, "", c->doc,
			   c->hidden ? " (not in *)" : "");
	}
	ut_buf_text(to, ");\n");
}

static const char more_functions[] =
	"--   percentile(VALUE, PERCENT)    an aggregate: of 50, the median\n"
	"--   last_non_null(VALUE)          an aggregate, also of a window\n"
	"--   time_to_ms(NS), time_from_ms(MS), and the same with ns, us, s, min, hours, days\n";

bool ut_query_schema(struct ut_buf *to, const char *name)
{
	bool found = false;

	for (size_t i = 0; ut_sql_tables[i]; i++) {
		if (name ? strcasecmp(name, ut_sql_tables[i]->name) != 0
			 : ut_sql_tables[i]->call != NULL)
			continue;
		if (found)
			ut_buf_char(to, '\n');
		query_tables_describe(to, ut_sql_tables[i]);
		found = true;
	}
	if (name)
		return found;
	ut_buf_text(to, "\n-- functions, besides those of SQLite\n");
	for (const struct ut_sql_function *f = ut_sql_functions; f->name; f++)
		ut_buf_fmt(to, "--   %-29s %s\n", f->usage, f->doc);
	for (size_t i = 0; ut_sql_tables[i]; i++) {
		if (ut_sql_tables[i]->call)
			ut_buf_fmt(to, "--   %-29s %s\n", ut_sql_tables[i]->call,
				   ut_sql_tables[i]->doc);
	}
	ut_buf_text(to, more_functions);
	return true;
}

const char *const *ut_query_tables(void)
{
	static const char *names[32];

	size_t count = 0;

	for (size_t i = 0; ut_sql_tables[i] && count + 1 < sizeof(names) / sizeof(*names); i++) {
		if (!ut_sql_tables[i]->call)
			names[count++] = ut_sql_tables[i]->name;
	}
	return names;
}
