#include "ops/from_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/store.h"
#include "ops/report.h"
#include "ops/trace_rows.h"
#include "text/out.h"

/* Groups of columns, in order. */
enum {
	FIXED,
	INPUTS,
	DEPTH,
	CALLS,
};

/* The first columns, in order; the last is the one of DEPTH. */
enum {
	OP_CODE,
	OP_TYPE,
	CALL,
	PROCESS,
	THREAD,
	DEVICE,
	ARCH,
	ATTRIBUTES,
	HOST_START,
	HOST_END,
	HOST_TIME,
	HOST_SELF,
	DEVICE_START,
	DEVICE_END,
	GAP,
	LATENCY,
	DEVICE_TIME,
	KERNEL_TIME,
	KERNELS,
	KERNEL_NAMES,
	COPY_TIME,
	COPIES,
	COPY_BYTES,
	CALL_DEPTH,
};

static const char *const fixed[] = {
	"OP CODE",
	"OP TYPE",
	"GLOBAL CALL COUNT",
	"PROCESS ID",
	"THREAD ID",
	"DEVICE ID",
	"DEVICE ARCH",
	"ATTRIBUTES",
	"HOST START TS",
	"HOST END TS",
	"HOST DURATION [ns]",
	"HOST SELF DURATION [ns]",
	"DEVICE START TS",
	"DEVICE END TS",
	"OP TO OP LATENCY [ns]",
	"LAUNCH LATENCY [ns]",
	"DEVICE DURATION [ns]",
	"DEVICE KERNEL DURATION [ns]",
	"DEVICE KERNEL COUNT",
	"DEVICE KERNELS",
	"DEVICE COPY DURATION [ns]",
	"DEVICE COPY COUNT",
	"DEVICE COPY BYTES",
	NULL,
};

static const char *const depth[] = { "CALL DEPTH", NULL };

_Static_assert(sizeof(fixed) / sizeof(fixed[0]) == CALL_DEPTH + 1, "a name each");

/* One trace on its way into the report. */
struct adding {
	struct ut_ops_trace *t;
	const struct ut_store *store;
	const struct ut_ops_jobs *j;
	uint64_t call; /* rows so far */
};

void ut_ops_trace_init(struct ut_ops_trace *t, struct ut_ops_report *r, bool nested)
{
	*t = (struct ut_ops_trace){ .r = r, .nested = nested };
	ut_strtab_init(&t->texts, &r->arena);
	ut_idmap_init(&t->calls, &r->arena);
	t->first = ut_ops_columns(r, fixed, FIXED, "-");
	ut_ops_columns(r, depth, DEPTH, "-");
	t->args = (struct ut_ops_trace_args){ .r = r,
					      .texts = &t->texts,
					      .scratch = ut_out_open_memory(),
					      .attributes = t->first + ATTRIBUTES,
					      .inputs.group = INPUTS };
}

void ut_ops_trace_release(struct ut_ops_trace *t)
{
	ut_out_abandon(t->args.scratch);
}

/* ---- cells --------------------------------------------------------------------------------- */

static void from_trace_put_u64(struct adding *a, uint32_t column, uint64_t value)
{
	ut_ops_put_u64(a->t->r, a->t->first + column, value);
}

static void from_trace_put_text(struct adding *a, uint32_t column, const char *text, size_t len)
{
	uint32_t id = ut_strtab_intern(&a->t->texts, text, len);

	ut_ops_put(a->t->r, a->t->first + column, ut_strtab_get(&a->t->texts, id));
}

static void put_z(struct adding *a, uint32_t column, const char *text)
{
	from_trace_put_text(a, column, text, strlen(text));
}

#define MOST_NAMES 256u /* each takes two columns, in every row */

/* The first of a name's two columns; UT_OPS_NO_COLUMN when there are too many names. */
static uint32_t call_column(struct ut_ops_trace *t, uint32_t name)
{
	uint32_t known = ut_idmap_get(&t->calls, name);
	const char *text = ut_strtab_get(&t->texts, name).ptr;

	if (known)
		return known - 1;
	if (t->call_names == MOST_NAMES)
		return UT_OPS_NO_COLUMN;
	t->call_names++;
	known = ut_ops_call_column(t->r, CALLS, text, 0) + 1;
	ut_ops_call_column(t->r, CALLS, text, 1);
	ut_idmap_put(&t->calls, name, known);
	return known - 1;
}

static void put_calls(struct ut_ops_report *r, uint32_t column, uint64_t count, uint64_t total)
{
	ut_ops_put_u64(r, column, count);
	ut_ops_put_u64(r, column + 1, total / count);
}

static void put_children(struct adding *a, uint32_t child)
{
	static const char others[] = "(other calls)";
	struct ut_ops_report *r = a->t->r;
	uint64_t count = 0, total = 0;

	for (; child; child = a->j->children[child - 1].next) {
		const struct ut_ops_child *c = &a->j->children[child - 1];
		uint32_t column = call_column(a->t, c->name);

		if (column != UT_OPS_NO_COLUMN) {
			put_calls(r, column, c->count, c->total);
			continue;
		}
		count += c->count;
		total += c->total;
	}
	if (count) {
		uint32_t column = ut_ops_call_column(r, CALLS, others, 0);

		ut_ops_call_column(r, CALLS, others, 1);
		put_calls(r, column, count, total);
	}
}

/* ---- what the device did ------------------------------------------------------------------- */

#define MOST_KERNELS 16u /* names in one cell */

struct totals {
	uint64_t kernels, kernel_ns, copies, copy_ns, bytes;
	uint32_t names[MOST_KERNELS];
	uint64_t counts[MOST_KERNELS];
	uint64_t unnamed; /* kernels of further names */
	uint32_t name_count;
};

static void from_trace_add_kernel(struct totals *t, const struct ut_device_work *w)
{
	uint32_t i = 0;

	t->kernels++;
	t->kernel_ns += w->end - w->start;
	while (i < t->name_count && t->names[i] != w->name)
		i++;
	if (i == MOST_KERNELS) {
		t->unnamed++;
		return;
	}
	t->names[i] = w->name;
	t->counts[i] += 1;
	t->name_count += i == t->name_count;
}

static void from_trace_add_work(struct totals *t, const struct ut_device_work *w)
{
	switch ((enum ut_device_kind)w->kind) {
	case UT_DEVICE_KERNEL:
		from_trace_add_kernel(t, w);
		break;
	case UT_DEVICE_COPY:
	case UT_DEVICE_FILL:
		t->copies++;
		t->copy_ns += w->end - w->start;
		t->bytes += w->bytes;
		break;
	case UT_DEVICE_SYNC:
	case UT_DEVICE_OTHER:
		break;
	}
}

/* "gemm; 2 x relu" */
static void from_trace_put_names(struct adding *a, const struct totals *t)
{
	struct ut_buf b = { 0 };

	for (uint32_t i = 0; i < t->name_count; i++) {
		struct ut_str name = ut_strtab_get(&a->j->log.strings, t->names[i]);

		ut_buf_text(&b, i ? "; " : "");
		if (t->counts[i] > 1)
			ut_buf_fmt(&b, "%" PRIu64 " x ", t->counts[i]);
		ut_buf_add(&b, name.ptr, name.len);
	}
	if (t->unnamed)
		ut_buf_fmt(&b, "; %" PRIu64 " more", t->unnamed);
	from_trace_put_text(a, KERNEL_NAMES, b.data ? b.data : "", b.len);
	ut_buf_release(&b);
}

static void put_arch(struct adding *a, const struct ut_device_info *d)
{
	struct ut_str model = ut_strtab_get(&a->j->log.strings, d->model);

	if (model.len)
		from_trace_put_text(a, ARCH, model.ptr, model.len);
}

/* "0", or "0;1" if work went to several. */
static void from_trace_put_devices(struct adding *a, const struct ut_ops_job *job)
{
	const struct ut_device_log *log = &a->j->log;
	uint16_t last = log->works[job->work - 1].device;
	struct ut_buf b = { 0 };

	put_arch(a, &log->devices[last]);
	ut_buf_fmt(&b, "%u", log->devices[last].index);
	for (uint32_t w = job->work; w && b.len < 64; w = a->j->next_work[w - 1]) {
		uint16_t device = log->works[w - 1].device;

		if (device != last)
			ut_buf_fmt(&b, ";%u", log->devices[device].index);
		last = device;
	}
	from_trace_put_text(a, DEVICE, b.data, b.len);
	ut_buf_release(&b);
}

static void from_trace_put_device(struct adding *a, const struct ut_ops_job *job)
{
	const struct ut_device_work *first = &a->j->log.works[job->work - 1];
	struct totals t = { 0 };

	for (uint32_t w = job->work; w; w = a->j->next_work[w - 1])
		from_trace_add_work(&t, &a->j->log.works[w - 1]);
	from_trace_put_devices(a, job);
	from_trace_put_u64(a, DEVICE_START, job->from);
	from_trace_put_u64(a, DEVICE_END, job->to);
	from_trace_put_u64(a, DEVICE_TIME, job->to - job->from);
	if (job->has_gap)
		from_trace_put_u64(a, GAP, job->gap);
	if (ut_ops_submitted(first))
		from_trace_put_u64(a, LATENCY, first->start - ut_ops_submitted(first));
	if (t.kernels) {
		from_trace_put_u64(a, KERNEL_TIME, t.kernel_ns);
		from_trace_put_u64(a, KERNELS, t.kernels);
		from_trace_put_names(a, &t);
	}
	if (t.copies) {
		from_trace_put_u64(a, COPY_TIME, t.copy_ns);
		from_trace_put_u64(a, COPIES, t.copies);
		from_trace_put_u64(a, COPY_BYTES, t.bytes);
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void put_span(struct adding *a, const struct ut_ops_job *job)
{
	const struct ut_ops_span *span = &a->j->spans.items[job->span - 1];
	const struct ut_trace *trace = &a->store->trace;
	const struct ut_track *track = &trace->tracks[span->track];

	ut_ops_put(a->t->r, a->t->first + OP_CODE, ut_strtab_get(&a->t->texts, span->code));
	put_z(a, OP_TYPE, !span->op ? "task" : job->work ? "torch_device" : "torch_cpu");
	from_trace_put_u64(a, PROCESS, trace->processes[track->process].pid);
	from_trace_put_u64(a, THREAD, track->id);
	from_trace_put_u64(a, HOST_START, span->start);
	from_trace_put_u64(a, HOST_END, span->end);
	from_trace_put_u64(a, HOST_TIME, span->end - span->start);
	from_trace_put_u64(a, HOST_SELF, span->self);
	from_trace_put_u64(a, CALL_DEPTH, span->depth + 1);
	if (span->args || span->op)
		ut_ops_trace_args_put(&a->t->args, a->store, span);
	put_children(a, job->child);
}

/* Nothing is wrong with work of a program that marks no ops and tasks at all. */
static void put_orphan(struct adding *a, const struct ut_device_work *w)
{
	struct ut_str name = ut_strtab_get(&a->j->log.strings, w->name);
	struct ut_str task = ut_strtab_get(&a->j->log.strings, w->task);
	char why[256];

	from_trace_put_text(a, OP_CODE, name.ptr, name.len);
	put_z(a, OP_TYPE, ut_device_kind_name((uint8_t)w->kind));
	if (w->thread)
		from_trace_put_u64(a, THREAD, w->thread);
	if (ut_ops_submitted(w))
		from_trace_put_u64(a, HOST_START, ut_ops_submitted(w));
	if (!a->j->spans.count)
		return;
	if (task.len)
		snprintf(why, sizeof(why),
			 "the trace has no call that submitted it; its task was %.150s", task.ptr);
	else if (!ut_ops_submitted(w))
		snprintf(why, sizeof(why), "the trace has no call that submitted it");
	else
		snprintf(why, sizeof(why), "no op was going on in thread %u when it was submitted",
			 w->thread);
	ut_ops_put_problem(a->t->r, why);
}

static void from_trace_add_row(struct adding *a, const struct ut_ops_job *job)
{
	struct ut_ops_report *r = a->t->r;
	size_t first = r->cell_count;
	struct ut_ops_row *row;

	from_trace_put_u64(a, CALL, ++a->call);
	if (job->span)
		put_span(a, job);
	else
		put_orphan(a, &a->j->log.works[job->work - 1]);
	if (job->work)
		from_trace_put_device(a, job);
	row = ut_ops_row_add(r);
	row->when = (int64_t)r->row_count;
	row->parts[0] = ut_ops_since(r, first);
}

void ut_ops_trace_add(struct ut_ops_trace *t, struct ut_store *store)
{
	struct ut_ops_jobs jobs;
	struct adding a = { .t = t, .store = store, .j = &jobs };

	ut_ops_jobs_make(&jobs, store, &t->texts, t->nested);
	for (size_t i = 0; i < jobs.count; i++)
		from_trace_add_row(&a, &jobs.items[i]);
	ut_ops_jobs_release(&jobs);
}
