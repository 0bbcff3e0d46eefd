/* table_who.c - trace, process, thread, track, metadata: who the events belong to. */
#include <string.h>

#include "query/arg.h"
#include "query/field.h"
#include "query/list.h"

enum what {
	TRACE = UT_SQL_LIST_MORE,
	NAME,
	TYPE,
	UTID,
	ID, /* of the system: tid or pid */
	UNIT,
	RANK,
	HOST,
	CMDLINE,
	IS_MAIN,
	START,
	END,
	DUR,
	EVENTS,
	SORT_INDEX,
	ARG_SET,
	PATH,
	PROCESSES,
	TRACKS,
	TO_REALTIME,
	CLOCK_ERROR,
	VALUE,
	DIALECT,
	KIND,
	API,
	DEVICE,
	SUB_DEVICE,
	DEVICE_TYPE,
	MODEL,
	ROLE,
	OF_THREAD,
	LOSSES, /* the first member of struct ut_losses, then the others in their order */
};

#define KEY(name, doc)                                                                             \
	{                                                                                          \
		name, "INTEGER", doc, UT_SQL_LIST_KEY, false                                       \
	}
#define UPID(name, doc)                                                                            \
	{                                                                                          \
		name, "INTEGER", doc, UT_SQL_LIST_UPID, false                                      \
	}

static const struct ut_strtab *strings_of(const struct ut_traces *t, uint32_t trace)
{
	return &t->traces[trace].store->trace.strings;
}

static void result_id(sqlite3_context *ctx, const struct ut_traces *t, uint32_t trace,
		      uint32_t string)
{
	ut_sql_result_str(ctx, ut_strtab_get(strings_of(t, trace), string));
}

static void result_set(sqlite3_context *ctx, uint32_t trace, uint32_t list)
{
	if (list)
		sqlite3_result_int64(ctx, ut_arg_set(trace, true, list));
}

/* ---- what processes and tracks stand for --------------------------------------------------- */

static void result_api(sqlite3_context *ctx, const struct ut_traces *t, uint32_t trace,
		       struct ut_api_id api)
{
	if (api.api != UT_API_NONE)
		ut_sql_result_str(ctx, ut_api_name(strings_of(t, trace), api));
}

static void kind_column(sqlite3_context *ctx, const struct ut_traces *t,
			const struct ut_qprocess *p, int what)
{
	const struct ut_process *process = p->process;

	if (what == KIND)
		sqlite3_result_text(ctx, ut_process_kind_name(process->kind), -1, SQLITE_STATIC);
	else if (what == API)
		result_api(ctx, t, p->trace, process->api);
	else if (what == DEVICE && process->device >= 0)
		sqlite3_result_int(ctx, process->device);
	else if (what == SUB_DEVICE && process->sub_device >= 0)
		sqlite3_result_int(ctx, process->sub_device);
	else if (what == DEVICE_TYPE && process->device_type != UT_DEVICE_TYPE_UNKNOWN)
		sqlite3_result_text(ctx, ut_device_type_name(process->device_type), -1,
				    SQLITE_STATIC);
	else if (what == MODEL)
		result_id(ctx, t, p->trace, process->model);
}

/* Of a track that has no api or device of its own, that of its process. */
static void role_column(sqlite3_context *ctx, const struct ut_traces *t, const struct ut_qtrack *k,
			int what)
{
	const struct ut_qprocess *p = &t->processes[k->process];

	if (what == ROLE)
		sqlite3_result_text(ctx, ut_role_name((uint8_t)ut_track_role(k->track)), -1,
				    SQLITE_STATIC);
	else if (what == OF_THREAD && k->track->role == UT_ROLE_CALLS)
		sqlite3_result_int64(ctx, k->track->thread);
	else if (what == API && k->track->api.api != UT_API_NONE)
		result_api(ctx, t, k->trace, k->track->api);
	else if (what == API || what == DEVICE)
		kind_column(ctx, t, p, what);
}

#define KINDS_DOC "what it is: program, device (what one did for a program) or other"
#define ROLES_DOC                                                                                  \
	"what it is for: thread, queue, side, calls, counter, lane, async, frames, control"

/* ---- track and thread ---------------------------------------------------------------------- */

static const char *const type_names[] = {
	[UT_TRACK_THREAD] = "thread",
	[UT_TRACK_LANE] = "lane",
	[UT_TRACK_ASYNC] = "async",
	[UT_TRACK_COUNTER] = "counter",
};

static uint64_t count_tracks(const struct ut_traces *t)
{
	return t->track_count;
}

static bool is_thread(const struct ut_traces *t, uint64_t row)
{
	return t->tracks[row].track->type == UT_TRACK_THREAD;
}

/* Linux gives a process the number of its first thread. */
static bool is_main(const struct ut_traces *t, const struct ut_qtrack *k)
{
	return !ut_datum_compare(&k->tid, &t->processes[k->process].pid);
}

static void result_time(sqlite3_context *ctx, const struct ut_rows *rows, uint64_t time)
{
	if (rows->count)
		sqlite3_result_int64(ctx, ut_datum_clamp(time));
}

static void track_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	const struct ut_qtrack *k = &t->tracks[row];

	if (what == UT_SQL_LIST_UPID)
		sqlite3_result_int64(ctx, k->process);
	else if (what == TRACE)
		sqlite3_result_int64(ctx, k->trace);
	else if (what == NAME)
		result_id(ctx, t, k->trace, k->track->name);
	else if (what == TYPE && (size_t)k->track->type < sizeof(type_names) / sizeof(*type_names))
		sqlite3_result_text(ctx, type_names[k->track->type], -1, SQLITE_STATIC);
	else if (what == UTID && is_thread(t, row))
		sqlite3_result_int64(ctx, (sqlite3_int64)row);
	else if (what == ID)
		ut_sql_result_datum(ctx, &k->tid);
	else if (what == UNIT)
		result_id(ctx, t, k->trace, k->track->unit);
	else if (what == IS_MAIN)
		sqlite3_result_int(ctx, is_main(t, k));
	else if (what == START)
		result_time(ctx, k->rows, k->rows->first);
	else if (what == END)
		result_time(ctx, k->rows, k->rows->last);
	else if (what == EVENTS)
		ut_sql_result_u64(ctx, k->rows->count);
	else if (what == SORT_INDEX)
		sqlite3_result_int(ctx, k->track->sort_index);
	else if (what == ARG_SET)
		result_set(ctx, k->trace, k->track->args);
	else
		role_column(ctx, t, k, what);
}

static const struct ut_sql_list track_list = { .count = count_tracks, .column = track_column };
static const struct ut_sql_list thread_list = { .count = count_tracks,
						.has = is_thread,
						.column = track_column };

static const struct ut_sql_column track_columns[] = {
	KEY("id", "number of the track"),
	UT_SQL_TEXT("name", NAME, "what it is called: thread, lane or counter"),
	UT_SQL_TEXT("type", TYPE,
		    "thread, lane (no thread's), async (spans may overlap) or counter"),
	UT_SQL_INT("utid", UTID, "the thread that it is, thread.utid; NULL = none"),
	UPID("upid", "the process: process.upid"),
	UT_SQL_INT("number", ID, "number in its process (of a thread: tid), or a text"),
	UT_SQL_TEXT("unit", UNIT, "what a counter counts"),
	UT_SQL_INT("start_ts", START, "its first event, in ns"),
	UT_SQL_INT("end_ts", END, "the end of its last event, in ns"),
	UT_SQL_INT("events", EVENTS, "how many events lie on it"),
	UT_SQL_INT("sort_index", SORT_INDEX, "where it is shown among its process's tracks"),
	UT_SQL_INT("arg_set_id", ARG_SET, "what is said about it: args.arg_set_id; NULL = nothing"),
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	UT_SQL_TEXT("role", ROLE, ROLES_DOC),
	UT_SQL_TEXT("api", API, "the runtime of its calls or of its process; NULL = none"),
	UT_SQL_INT("device", DEVICE, "number of the device that its process is; NULL = none"),
	UT_SQL_INT("of_thread", OF_THREAD, "role calls: tid of the thread that made them"),
	{ 0 },
};

static const struct ut_sql_column thread_columns[] = {
	KEY("utid", "number of the thread in all traces; also the id of its track"),
	UT_SQL_INT("tid", ID, "the system's number of the thread, or a text"),
	UT_SQL_TEXT("name", NAME, "name of the thread"),
	UPID("upid", "the process: process.upid"),
	UT_SQL_INT("is_main_thread", IS_MAIN, "1: the first thread of its process"),
	UT_SQL_INT("start_ts", START, "its first event, in ns"),
	UT_SQL_INT("end_ts", END, "the end of its last event, in ns"),
	UT_SQL_INT("events", EVENTS, "how many events lie on it"),
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	UT_SQL_TEXT("role", ROLE,
		    "what it is for; Chrome JSON has threads for queues and lanes, too"),
	UT_SQL_INT("of_thread", OF_THREAD, "role calls: tid of the thread that made them"),
	{ "id", "INTEGER", "the same as utid", UT_SQL_LIST_KEY, true },
	{ 0 },
};

/* ---- process ------------------------------------------------------------------------------- */

static uint64_t count_processes(const struct ut_traces *t)
{
	return t->process_count;
}

/* A process lives as long as its tracks. */
static bool process_times(const struct ut_traces *t, const struct ut_qprocess *p, uint64_t *first,
			  uint64_t *last)
{
	bool any = false;

	for (uint32_t i = 0; i < p->count; i++) {
		const struct ut_rows *rows = t->tracks[t->by_process[p->first + i]].rows;

		if (!rows->count)
			continue;
		*first = any && *first < rows->first ? *first : rows->first;
		*last = any && *last > rows->last ? *last : rows->last;
		any = true;
	}
	return any;
}

static void process_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	const struct ut_qprocess *p = &t->processes[row];
	uint64_t first = 0, last = 0;

	if (what == TRACE)
		sqlite3_result_int64(ctx, p->trace);
	else if (what == ID)
		ut_sql_result_datum(ctx, &p->pid);
	else if (what == NAME)
		result_id(ctx, t, p->trace, p->process->name);
	else if (what == HOST)
		result_id(ctx, t, p->trace, p->process->host);
	else if (what == CMDLINE)
		result_id(ctx, t, p->trace, p->process->cmdline);
	else if (what == RANK && p->process->rank >= 0)
		sqlite3_result_int(ctx, p->process->rank);
	else if (what == TRACKS)
		sqlite3_result_int64(ctx, p->count);
	else if (what == SORT_INDEX)
		sqlite3_result_int(ctx, p->process->sort_index);
	else if (what == ARG_SET)
		result_set(ctx, p->trace, p->process->args);
	else if (what != START && what != END)
		kind_column(ctx, t, p, what);
	else if (process_times(t, p, &first, &last))
		sqlite3_result_int64(ctx, ut_datum_clamp(what == START ? first : last));
}

static const struct ut_sql_list process_list = { .count = count_processes,
						 .column = process_column };

static const struct ut_sql_column process_columns[] = {
	KEY("upid", "number of the process in all traces"),
	UT_SQL_INT("pid", ID, "the system's number of the process, or a text"),
	UT_SQL_TEXT("name", NAME, "what the program is called"),
	UT_SQL_TEXT("host", HOST, "the machine that it ran on"),
	UT_SQL_INT("rank", RANK, "rank in a parallel job; NULL = none"),
	UT_SQL_TEXT("cmdline", CMDLINE, "how it was started"),
	UT_SQL_INT("start_ts", START, "its first event, in ns"),
	UT_SQL_INT("end_ts", END, "the end of its last event, in ns"),
	UT_SQL_INT("tracks", TRACKS, "how many tracks it has"),
	UT_SQL_INT("sort_index", SORT_INDEX, "where it is shown among the processes"),
	UT_SQL_INT("arg_set_id", ARG_SET,
		   "what else is said about it: args.arg_set_id; NULL = nothing"),
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	UT_SQL_TEXT("kind", KIND, KINDS_DOC),
	UT_SQL_TEXT("api", API,
		    "of a device: cuda, opencl, ... or what its backend says; NULL = unknown"),
	UT_SQL_INT("device", DEVICE, "of a device: its number; NULL = none"),
	UT_SQL_INT("sub_device", SUB_DEVICE, "of a part of a device: its number; NULL = all of it"),
	UT_SQL_TEXT("device_type", DEVICE_TYPE,
		    "of a device: cpu, gpu, accelerator; NULL = unknown"),
	UT_SQL_TEXT("model", MODEL, "of a device: as its maker calls it"),
	{ "id", "INTEGER", "the same as upid", UT_SQL_LIST_KEY, true },
	{ 0 },
};

/* ---- trace --------------------------------------------------------------------------------- */

static uint64_t count_traces(const struct ut_traces *t)
{
	return t->count;
}

/* Importers note it among what the file says about itself. */
static void result_dialect(sqlite3_context *ctx, const struct ut_traces *t,
			   const struct ut_qtrace *q)
{
	const struct ut_trace *trace = &q->store->trace;

	for (size_t i = 0; i < t->meta_count; i++) {
		const struct ut_meta *m = &t->meta[i];
		const struct ut_arg *arg = &trace->args[m->at];

		if (&t->traces[m->trace] != q || m->source != UT_META_FILE ||
		    arg->type != UT_ARG_STR ||
		    strcmp(ut_strtab_get(&trace->strings, arg->key).ptr, "dialect") != 0)
			continue;
		ut_sql_result_str(ctx, ut_strtab_get(&trace->strings, arg->value.str));
		return;
	}
}

static void trace_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	const struct ut_store *s = t->traces[row].store;
	const struct ut_trace *trace = &s->trace;

	if (what == PATH)
		sqlite3_result_text(ctx, t->traces[row].path, -1, SQLITE_STATIC);
	else if (what == START)
		sqlite3_result_int64(ctx, ut_datum_clamp(trace->first));
	else if (what == END)
		sqlite3_result_int64(ctx, ut_datum_clamp(trace->last));
	else if (what == DUR)
		sqlite3_result_int64(ctx, ut_datum_clamp(trace->last - trace->first));
	else if (what == EVENTS)
		ut_sql_result_u64(ctx, s->row_count);
	else if (what == PROCESSES)
		sqlite3_result_int64(ctx, (sqlite3_int64)trace->process_count);
	else if (what == TRACKS)
		sqlite3_result_int64(ctx, (sqlite3_int64)trace->track_count);
	else if (what == TO_REALTIME && trace->realtime_offset)
		sqlite3_result_int64(ctx, trace->realtime_offset);
	else if (what == CLOCK_ERROR && trace->clock_error)
		ut_sql_result_u64(ctx, trace->clock_error);
	else if (what == DIALECT)
		result_dialect(ctx, t, &t->traces[row]);
	else if (what >= LOSSES && what < LOSSES + UT_LOSSES)
		ut_sql_result_u64(ctx, trace->losses.all[what - LOSSES]);
}

static const struct ut_sql_list trace_list = { .count = count_traces, .column = trace_column };

static const struct ut_sql_column trace_columns[] = {
	KEY("id", "number of the trace, in the order of the command line"),
	UT_SQL_TEXT("path", PATH, "the file"),
	UT_SQL_TEXT("dialect", DIALECT, "the tool that wrote it, if that is known"),
	UT_SQL_INT("first", START, "the first sign of life, in ns on the clock of the trace"),
	UT_SQL_INT("last", END, "the last one"),
	UT_SQL_INT("dur", DUR, "last - first"),
	UT_SQL_INT("events", EVENTS, "how many events of all kinds it has"),
	UT_SQL_INT("processes", PROCESSES, "how many processes"),
	UT_SQL_INT("tracks", TRACKS, "how many tracks"),
	UT_SQL_INT("to_realtime", TO_REALTIME, "add to ts for ns since 1970; NULL = unknown"),
	UT_SQL_INT("clock_error", CLOCK_ERROR, "bound of the clock's error in ns; NULL = unknown"),
#define LOSS_COLUMN(name, text)                                                                    \
	UT_SQL_INT(#name, LOSSES + offsetof(struct ut_losses, name) / sizeof(uint64_t), text),
	UT_LOSSES_LIST(LOSS_COLUMN)
#undef LOSS_COLUMN
		{ 0 },
};

/* ---- metadata ------------------------------------------------------------------------------ */

static uint64_t count_meta(const struct ut_traces *t)
{
	return t->meta_count;
}

static void meta_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	static const char *const sources[] = { "file", "recording", "note" };
	const struct ut_meta *m = &t->meta[row];
	const struct ut_trace *trace = &t->traces[m->trace].store->trace;
	bool note = m->source == UT_META_NOTE;

	if (what == TRACE)
		sqlite3_result_int64(ctx, m->trace);
	else if (what == TYPE)
		sqlite3_result_text(ctx, sources[m->source], -1, SQLITE_STATIC);
	else if (what == NAME && !note)
		result_id(ctx, t, m->trace, trace->args[m->at].key);
	else if (what == VALUE && note)
		result_id(ctx, t, m->trace, trace->notes[m->at]);
	else if (what == VALUE)
		ut_sql_result_arg(ctx, &trace->strings, &trace->args[m->at], m->count);
}

static const struct ut_sql_list meta_list = { .count = count_meta, .column = meta_column };

static const struct ut_sql_column meta_columns[] = {
	UT_SQL_INT("trace", TRACE, "the trace that says so: trace.id"),
	UT_SQL_TEXT("source", TYPE,
		    "file: a foreign file about itself; recording: about the run; note: to you"),
	UT_SQL_TEXT("name", NAME, "the key; NULL for a note"),
	{ "value", "", "text or number; objects and arrays as JSON", VALUE, false },
	{ 0 },
};

/* ---- the tables ---------------------------------------------------------------------------- */

const struct ut_sql_table ut_sql_track = {
	.name = "track",
	.doc = "the rows of the timeline: threads, lanes, overlapping spans, counters",
	.columns = track_columns,
	.module = &ut_sql_list_module,
	.list = &track_list,
};

const struct ut_sql_table ut_sql_thread = {
	.name = "thread",
	.doc = "the threads",
	.columns = thread_columns,
	.module = &ut_sql_list_module,
	.list = &thread_list,
};

const struct ut_sql_table ut_sql_process = {
	.name = "process",
	.doc = "the processes",
	.columns = process_columns,
	.module = &ut_sql_list_module,
	.list = &process_list,
};

const struct ut_sql_table ut_sql_trace = {
	.name = "trace",
	.doc = "the files that were opened",
	.columns = trace_columns,
	.module = &ut_sql_list_module,
	.list = &trace_list,
};

const struct ut_sql_table ut_sql_metadata = {
	.name = "metadata",
	.doc = "what a trace says about itself as a whole",
	.columns = meta_columns,
	.module = &ut_sql_list_module,
	.list = &meta_list,
};
