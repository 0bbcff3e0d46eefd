/* table_device.c - device_work: what devices did, typed; one row for each slice that is such. */
#include "model/classify.h"
#include "model/device_records.h"
#include "query/field.h"
#include "query/list.h"

enum what {
	ID = UT_SQL_LIST_MORE,
	TS,
	DUR,
	NAME,
	KIND,
	API,
	DEVICE,
	TRACK,
	CORRELATION,
	EXTERNAL,
	QUEUED,
	SUBMITTED,
	TID,
	TASK,
	BYTES,
	GRID_X,
	GRID_Y,
	GRID_Z,
	BLOCK_X,
	BLOCK_Y,
	BLOCK_Z,
	REGISTERS,
	STATIC_SHARED,
	DYNAMIC_SHARED,
	LOCAL,
	SPILL,
	LANES,
	ARGUMENTS,
	COMPILED,
	TRACE,
};

static const struct ut_sql_column columns[] = {
	UT_SQL_INT("id", ID, "its slice: slice.id"),
	UT_SQL_INT("ts", TS, "begin, in ns on the clock of the trace"),
	UT_SQL_INT("dur", DUR, "length in ns"),
	UT_SQL_TEXT("name", NAME, "name of the kernel, or of what was done"),
	UT_SQL_TEXT("kind", KIND, "kernel, copy, fill, sync or other"),
	UT_SQL_TEXT("api", API, "the runtime: cuda, opencl, ...; NULL = unknown"),
	UT_SQL_INT("device", DEVICE, "number of the device; NULL = unknown"),
	UT_SQL_INT("track_id", TRACK, "its queue: track.id"),
	UT_SQL_INT("correlation", CORRELATION,
		   "number of the call that submitted it, unique in its process; NULL = none"),
	UT_SQL_INT("external_id", EXTERNAL,
		   "torch.profiler: number of the operator that launched it; NULL = none"),
	UT_SQL_INT("queued", QUEUED, "when the program queued it, in ns; NULL = unknown"),
	UT_SQL_INT("submitted", SUBMITTED, "when it went to the device, in ns; NULL = unknown"),
	UT_SQL_INT("tid", TID, "system's number of the thread that submitted it; NULL = unknown"),
	UT_SQL_TEXT("task", TASK, "the task in which it was submitted; NULL = none"),
	UT_SQL_INT("bytes", BYTES, "moved or filled; NULL = unknown"),
	UT_SQL_INT("grid_x", GRID_X, "blocks of a kernel (OpenCL: global size); NULL = unknown"),
	UT_SQL_INT("grid_y", GRID_Y, "the same in y"),
	UT_SQL_INT("grid_z", GRID_Z, "the same in z"),
	UT_SQL_INT("block_x", BLOCK_X, "threads of a block (OpenCL: local size); NULL = unknown"),
	UT_SQL_INT("block_y", BLOCK_Y, "the same in y"),
	UT_SQL_INT("block_z", BLOCK_Z, "the same in z"),
	UT_SQL_INT("registers", REGISTERS, "of a thread; NULL = unknown"),
	UT_SQL_INT("static_shared", STATIC_SHARED, "bytes of a block; NULL = none or unknown"),
	UT_SQL_INT("dynamic_shared", DYNAMIC_SHARED, "bytes of a block; NULL = none or unknown"),
	UT_SQL_INT("local", LOCAL, "bytes of a thread; NULL = none or unknown"),
	UT_SQL_INT("spill", SPILL, "bytes of a thread; NULL = none or unknown"),
	UT_SQL_INT("lanes", LANES, "threads in step, if the kernel tells; NULL = unknown"),
	UT_SQL_INT("arguments", ARGUMENTS, "of the kernel; NULL = unknown"),
	UT_SQL_TEXT("compiled", COMPILED, "JIT or AOT; NULL = unknown"),
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	{ 0 },
};

static uint64_t count_records(const struct ut_traces *t)
{
	uint64_t count = 0;

	for (size_t i = 0; i < t->count; i++)
		count += ut_store_devices(t->traces[i].store)->count;
	return count;
}

static void result_known(sqlite3_context *ctx, uint64_t number)
{
	if (number)
		ut_sql_result_u64(ctx, number);
}

static void result_string(sqlite3_context *ctx, const struct ut_qtrace *q, uint32_t id)
{
	if (id)
		ut_sql_result_str(ctx, ut_strtab_get(&q->store->trace.strings, id));
}

static void place_column(sqlite3_context *ctx, const struct ut_traces *t, const struct ut_place *p,
			 int what)
{
	const struct ut_process *process = t->processes[p->track->process].process;
	uint32_t type = p->block->type[p->i];

	if (what == ID)
		ut_sql_result_u64(ctx, ut_place_id(p));
	else if (what == TS)
		sqlite3_result_int64(ctx, ut_datum_clamp(p->block->ts[p->i]));
	else if (what == DUR)
		sqlite3_result_int64(ctx, ut_datum_clamp(p->block->val[p->i]));
	else if (what == NAME)
		ut_sql_result_str(ctx,
				  p->trace->names[type < p->trace->store->types.count ? type : 0]);
	else if (what == API && process->api.api != UT_API_NONE)
		ut_sql_result_str(ctx, ut_api_name(&p->trace->store->trace.strings, process->api));
	else if (what == DEVICE && process->device >= 0)
		sqlite3_result_int(ctx, process->device);
	else if (what == TRACK)
		sqlite3_result_int64(ctx, p->track - t->tracks);
	else if (what == TRACE)
		sqlite3_result_int64(ctx, p->track->trace);
}

static void record_column(sqlite3_context *ctx, const struct ut_qtrace *q,
			  const struct ut_device_record *r, int what)
{
	const struct ut_device_launch *l = &r->launch;
	const uint64_t numbers[] = {
		[CORRELATION] = r->correlation,
		[EXTERNAL] = r->external,
		[QUEUED] = r->queued,
		[SUBMITTED] = r->submitted,
		[TID] = r->thread,
		[BYTES] = r->bytes,
		[GRID_X] = l->grid[0],
		[GRID_Y] = l->grid[1],
		[GRID_Z] = l->grid[2],
		[BLOCK_X] = l->block[0],
		[BLOCK_Y] = l->block[1],
		[BLOCK_Z] = l->block[2],
		[REGISTERS] = l->registers,
		[STATIC_SHARED] = l->static_shared,
		[DYNAMIC_SHARED] = l->dynamic_shared,
		[LOCAL] = l->local,
		[SPILL] = l->spill,
		[LANES] = l->lanes,
		[ARGUMENTS] = l->arguments,
	};

	if (what == KIND)
		sqlite3_result_text(ctx, ut_device_kind_name(r->kind), -1, SQLITE_STATIC);
	else if (what == TASK)
		result_string(ctx, q, r->task);
	else if (what == COMPILED)
		result_string(ctx, q, l->compiled);
	else
		result_known(ctx, numbers[what]);
}

static void device_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	const struct ut_device_records *r = NULL;
	struct ut_device_record record;
	struct ut_place p;
	size_t trace = 0;

	for (; trace < t->count; trace++) {
		r = ut_store_devices(t->traces[trace].store);
		if (row < r->count)
			break;
		row -= r->count;
	}
	if (trace == t->count)
		return;
	if (what == TRACE || what < KIND || (what > KIND && what < CORRELATION)) {
		ut_traces_place(t, t->traces[trace].first_track + r->track[row], r->row[row], &p);
		place_column(ctx, t, &p, what);
		return;
	}
	record = ut_device_record_get(r, (size_t)row);
	record_column(ctx, &t->traces[trace], &record, what);
}

static const struct ut_sql_list list = { .count = count_records, .column = device_column };

const struct ut_sql_table ut_sql_device_work = {
	.name = "device_work",
	.doc = "what devices did: kernels, copies, ..., and how they were launched",
	.columns = columns,
	.module = &ut_sql_list_module,
	.list = &list,
};
