/*
 * table_stack.c - where samples were taken: stack_profile_callsite and stack_profile_frame, and the
 * views that Perfetto has beside them. Numbers go through all traces, as those of tracks do.
 */
#include "query/field.h"
#include "query/list.h"
#include "query/stack.h"

enum what {
	DEPTH = UT_SQL_LIST_MORE,
	PARENT,
	FRAME,
	NAME,
	MAPPING,
	MODULE,
	REL_PC,
	SOURCE,
	LINE,
	TRACE,
};

#define KEY(doc)                                                                                   \
	{                                                                                          \
		"id", "INTEGER", doc, UT_SQL_LIST_KEY, false                                       \
	}

static const struct ut_trace *trace_at(const struct ut_traces *t, size_t i)
{
	return &t->traces[i].store->trace;
}

static size_t items_of(const struct ut_trace *trace, bool places)
{
	return places ? trace->stacks.place_count : trace->stacks.site_count;
}

/* Numbers that earlier traces have. There are few traces. */
static uint64_t base_of(const struct ut_traces *t, size_t trace, bool places)
{
	uint64_t base = 0;

	for (size_t i = 0; i < trace; i++)
		base += items_of(trace_at(t, i), places);
	return base;
}

/* The trace of a number, and the number in it, from 1; there must be one. */
static size_t table_stack_find(const struct ut_traces *t, uint64_t row, bool places,
			       uint32_t *number)
{
	size_t i = 0;

	while (i + 1 < t->count && row >= items_of(trace_at(t, i), places))
		row -= items_of(trace_at(t, i++), places);
	*number = (uint32_t)row + 1;
	return i;
}

bool ut_stack_id(const struct ut_traces *t, const struct ut_place *p, int64_t *id)
{
	uint32_t stack = ut_sample_stack(p->block->val[p->i]);
	size_t trace = (size_t)(p->trace - t->traces);

	if (!stack || stack > trace_at(t, trace)->stacks.site_count)
		return false;
	*id = ut_datum_clamp(base_of(t, trace, false) + stack - 1);
	return true;
}

/* ---- callsites ----------------------------------------------------------------------------- */

static uint64_t count_sites(const struct ut_traces *t)
{
	return base_of(t, t->count, false);
}

static void site_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	uint32_t number;
	size_t i = table_stack_find(t, row, false, &number);
	const struct ut_stacks *s = &trace_at(t, i)->stacks;
	struct ut_callsite site = ut_stacks_get(s, number);

	if (what == DEPTH)
		sqlite3_result_int64(ctx, ut_stacks_depth(s, number) - 1);
	else if (what == PARENT && site.caller)
		ut_sql_result_u64(ctx, base_of(t, i, false) + site.caller - 1);
	else if (what == FRAME && site.place)
		ut_sql_result_u64(ctx, base_of(t, i, true) + site.place - 1);
	else if (what == TRACE)
		sqlite3_result_int64(ctx, (sqlite3_int64)i);
}

static const struct ut_sql_list site_list = { .count = count_sites, .column = site_column };

static const struct ut_sql_column site_columns[] = {
	KEY("number of the stack: its innermost call"),
	UT_SQL_INT("depth", DEPTH, "calls around it; 0 = the outermost"),
	UT_SQL_INT("parent_id", PARENT, "the stack that it was called from; NULL = none"),
	UT_SQL_INT("frame_id", FRAME, "where it is: stack_profile_frame.id"),
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	{ 0 },
};

const struct ut_sql_table ut_sql_callsite = {
	.name = "stack_profile_callsite",
	.doc = "stacks of samples, as a tree",
	.columns = site_columns,
	.module = &ut_sql_list_module,
	.list = &site_list,
};

/* ---- frames -------------------------------------------------------------------------------- */

static uint64_t count_places(const struct ut_traces *t)
{
	return base_of(t, t->count, true);
}

static void frame_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	uint32_t number;
	size_t i = table_stack_find(t, row, true, &number);
	const struct ut_trace *trace = trace_at(t, i);
	struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, number);

	if (what == NAME)
		ut_sql_result_str(ctx, ut_strtab_get(&trace->strings, p.function));
	else if (what == MAPPING && p.module) /* one for each module of each trace */
		sqlite3_result_int64(ctx, (sqlite3_int64)(i << 32 | p.module));
	else if (what == MODULE)
		ut_sql_result_str(ctx, ut_strtab_get(&trace->strings, p.module));
	else if (what == REL_PC)
		ut_sql_result_u64(ctx, p.address);
	else if (what == SOURCE)
		ut_sql_result_str(ctx, ut_strtab_get(&trace->strings, p.file));
	else if (what == LINE && p.line)
		sqlite3_result_int64(ctx, p.line);
	else if (what == TRACE)
		sqlite3_result_int64(ctx, (sqlite3_int64)i);
}

static const struct ut_sql_list frame_list = { .count = count_places, .column = frame_column };

static const struct ut_sql_column frame_columns[] = {
	KEY("number of the place in code"),
	UT_SQL_TEXT("name", NAME, "the function; NULL = unknown"),
	UT_SQL_INT("mapping", MAPPING, "its module: stack_profile_mapping.id; NULL = unknown"),
	UT_SQL_TEXT("module", MODULE, "the file or kernel that the code belongs to"),
	UT_SQL_INT("rel_pc", REL_PC, "address, in its module if that is known"),
	UT_SQL_TEXT("source_file", SOURCE, "file of the source; NULL = unknown"),
	UT_SQL_INT("line_number", LINE, "line in it; NULL = unknown"),
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	{ 0 },
};

const struct ut_sql_table ut_sql_frame = {
	.name = "stack_profile_frame",
	.doc = "places in code where samples were taken",
	.columns = frame_columns,
	.module = &ut_sql_list_module,
	.list = &frame_list,
};

/* ---- views --------------------------------------------------------------------------------- */

#define COLUMN(name, type, doc)                                                                    \
	{                                                                                          \
		name, type, doc, 0, false                                                          \
	}

static const struct ut_sql_column mapping_columns[] = {
	COLUMN("id", "INTEGER", "number of the module"),
	COLUMN("build_id", "TEXT", "empty: not recorded"),
	COLUMN("start", "INTEGER", "0: addresses are those in the module"),
	COLUMN("name", "TEXT", "the file or kernel"),
	{ 0 },
};

const struct ut_sql_table ut_sql_mapping = {
	.name = "stack_profile_mapping",
	.doc = "files and kernels that sampled code belongs to",
	.columns = mapping_columns,
	.view = "SELECT DISTINCT mapping AS id, '' AS build_id, 0 AS start, module AS name"
		" FROM stack_profile_frame WHERE mapping IS NOT NULL",
};

static const struct ut_sql_column perf_sample_columns[] = {
	COLUMN("id", "INTEGER", "number of the event"),
	COLUMN("ts", "INTEGER", "when, in ns on the clock of the trace"),
	COLUMN("utid", "INTEGER", "the thread: thread.utid; NULL = a queue of a device"),
	COLUMN("cpu", "INTEGER", "NULL: not recorded"),
	COLUMN("cpu_mode", "TEXT", "NULL: not recorded"),
	COLUMN("callsite_id", "INTEGER", "its stack: stack_profile_callsite.id; NULL = none"),
	COLUMN("unwind_error", "TEXT", "NULL: not recorded"),
	COLUMN("perf_session_id", "INTEGER", "NULL: not recorded"),
	{ 0 },
};

const struct ut_sql_table ut_sql_perf_sample = {
	.name = "perf_sample",
	.doc = "samples as Perfetto lists them",
	.columns = perf_sample_columns,
	.view = "SELECT id, ts, utid, NULL AS cpu, NULL AS cpu_mode, callsite_id,"
		" NULL AS unwind_error, NULL AS perf_session_id FROM sample"
		" WHERE weight_unit <> 'bytes'",
};

static const struct ut_sql_column allocation_columns[] = {
	COLUMN("id", "INTEGER", "number of the event; NULL = what is freed"),
	COLUMN("ts", "INTEGER", "when, in ns on the clock of the trace; of frees, the end"),
	COLUMN("upid", "INTEGER", "the process: process.upid"),
	COLUMN("heap_name", "TEXT", "malloc or python"),
	COLUMN("callsite_id", "INTEGER", "its stack: stack_profile_callsite.id; NULL = none"),
	COLUMN("count", "INTEGER", "blocks; of frees, less than 0"),
	COLUMN("size", "INTEGER", "bytes; of frees, less than 0"),
	{ 0 },
};

/* What was allocated is freed, but for what never was: as one row for each stack. */
const struct ut_sql_table ut_sql_allocation = {
	.name = "heap_profile_allocation",
	.doc = "memory that was allocated and freed, as Perfetto lists it",
	.columns = allocation_columns,
	.view = "WITH m AS (SELECT s.id, s.ts, s.upid, s.cat, s.callsite_id, s.name, s.weight,"
		" coalesce(a.int_value, a.real_value, 1) AS count FROM sample s LEFT JOIN args a"
		" ON a.arg_set_id = s.arg_set_id AND a.key = 'count'"
		" WHERE s.name IN ('allocated bytes', 'never freed bytes'))"
		" SELECT id, ts, upid, cat AS heap_name, callsite_id, count, weight AS size FROM m"
		" WHERE name = 'allocated bytes' UNION ALL"
		" SELECT NULL, max(ts), upid, cat, callsite_id,"
		" sum(CASE name WHEN 'allocated bytes' THEN -count ELSE count END) AS count,"
		" sum(CASE name WHEN 'allocated bytes' THEN -weight ELSE weight END) AS size FROM m"
		" GROUP BY upid, cat, callsite_id HAVING size < 0",
};
