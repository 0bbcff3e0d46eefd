#include "analyze/device_log.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/device_call.h"
#include "analyze/device_join.h"
#include "analyze/label.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "base/str.h"
#include "model/event.h"
#include "model/trace.h"

#define NO_DEVICE    0xffffu
#define MOST_DEVICES 60000u /* further ones count as the last */

/* What we want to know of arguments. */
enum key {
	KEY_NONE,
	KEY_CORRELATION,
	KEY_EXTERNAL,
	KEY_QUEUED,
	KEY_SUBMITTED,
	KEY_THREAD,
	KEY_TASK,
	KEY_BYTES,
	KEY_GRID,
	KEY_BLOCK,
	KEY_REGISTERS,
	KEY_STATIC_SHARED,
	KEY_DYNAMIC_SHARED,
	KEY_LOCAL,
	KEY_COUNT
};

/* What a category says about a span of it. */
enum meaning {
	MEANS_NOTHING = 1,
	MEANS_CONTROL,
	MEANS_CALL, /* + enum ut_device_api */
	MEANS_WORK = MEANS_CALL + UT_API_COUNT,
	MEANS_ANY_WORK = MEANS_WORK + UT_DEVICE_OTHER + 1, /* the name says which */
};

/* Where a track is. */
struct place {
	bool known, overhead, managed;
	uint16_t device; /* NO_DEVICE = it is none's */
	uint32_t queue, thread, process;
	int32_t rank;
};

struct ut_device_state {
	struct ut_idmap calls_of;  /* (source, name), per api -> index + 1 */
	struct ut_idmap kernel_of; /* (source, name) -> index + 1 */
	struct ut_idmap label_of;  /* (name, host) of a device -> a number for them */
	struct ut_idmap device_of; /* (that number, index) -> index into devices + 1 */
	uint32_t labels;
	struct ut_device_join join;

	/* the trace that is being read */
	struct ut_arena arena;
	struct ut_idmap meaning_of; /* category -> enum meaning */
	struct ut_idmap key_of;     /* key -> 1 + enum key */
	struct ut_idmap own_string; /* id there -> id here */
	struct place *places;       /* by track */
	size_t place_cap;
	size_t first_work;    /* the first of its works */
	bool counted, arrows; /* are they needed? See needs_arrows() */
};

const char *ut_device_api_name(enum ut_device_api api)
{
	static const char *const names[UT_API_COUNT] = { "L0",   "CL CPU",      "CL GPU", "CL",
							 "CUDA", "CUDA driver", "NULL" };

	return names[api < UT_API_COUNT ? api : UT_API_OTHER];
}

/* ---- strings and lists --------------------------------------------------------------------- */

static uint32_t own_string(struct ut_device_log *log, const struct ut_trace *t, uint32_t id)
{
	uint32_t own = ut_idmap_get(&log->state->own_string, id);
	struct ut_str s;

	if (own || !id)
		return own;
	s = ut_strtab_get(&t->strings, id);
	own = ut_strtab_intern(&log->strings, s.ptr, s.len);
	if (own)
		ut_idmap_put(&log->state->own_string, id, own);
	return own;
}

static uint32_t this_source(const struct ut_device_log *log)
{
	return (uint32_t)log->source_count;
}

static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* ---- where a track is ---------------------------------------------------------------------- */

/* "DEVICE [NAME] OpenCL GPU 0000:3a:00.0 #0" */
static enum ut_device_api api_of_device(const char *name)
{
	static const struct {
		const char *part;
		enum ut_device_api api;
	} signs[] = {
		{ "] OpenCL CPU", UT_API_CL_CPU }, { "] OpenCL GPU", UT_API_CL_GPU },
		{ "] OpenCL", UT_API_CL_OTHER },   { "] cuda:", UT_API_CUDA },
		{ "] null", UT_API_OTHER },        { "DEVICE<", UT_API_L0 },
		{ "DEVICE", UT_API_OTHER },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (strstr(name, signs[i].part))
			return signs[i].api;
	}
	return UT_API_CUDA; /* torch.profiler names the program */
}

static uint16_t device_of(struct ut_device_log *log, const struct ut_trace *t, uint32_t process)
{
	const struct ut_process *p = &t->processes[process];
	uint32_t name = own_string(log, t, p->name), host = own_string(log, t, p->host);
	const char *text = ut_strtab_get(&log->strings, name).ptr, *number = strrchr(text, '#');
	/* torch.profiler calls all devices like the program; their process is the number */
	uint32_t index = number ? (uint32_t)strtoul(number + 1, NULL, 10) : (uint32_t)p->pid;
	struct ut_device_state *st = log->state;
	uint32_t label = ut_idmap_get(&st->label_of, pair(name, host)), known;

	if (!label) {
		label = ++st->labels;
		ut_idmap_put(&st->label_of, pair(name, host), label);
	}
	known = ut_idmap_get(&st->device_of, pair(label, index));
	if (known)
		return (uint16_t)(known - 1);
	if (log->device_count == MOST_DEVICES)
		return MOST_DEVICES - 1;
	log->devices = ut_grow(log->devices, log->device_count + 1, &log->device_cap,
			       sizeof(*log->devices));
	log->devices[log->device_count] = (struct ut_device_info){
		.name = name, .host = host, .index = index, .api = api_of_device(text)
	};
	ut_idmap_put(&st->device_of, pair(label, index), (uint32_t)++log->device_count);
	return (uint16_t)(log->device_count - 1);
}

/* "CUDA calls of thread 123 (2)": a row of its own, which Chrome's JSON takes for a thread. */
static uint32_t thread_of(const struct ut_trace *t, const struct ut_track *track)
{
	static const char sign[] = "calls of thread ";
	const char *at = strstr(ut_strtab_get(&t->strings, track->name).ptr, sign);

	if (!at)
		return (uint32_t)track->id;
	return (uint32_t)strtoul(at + strlen(sign), NULL, 10);
}

/* Rows of a device's on which it does not work: the CUDA backend's. */
static bool is_beside_work(const char *row)
{
	return ut_str_starts(row, "Overhead") || ut_str_starts(row, "Waits of the host");
}

static struct place *place_of(struct ut_device_log *log, const struct ut_trace *t, uint32_t number)
{
	struct ut_device_state *st = log->state;
	const struct ut_track *track = &t->tracks[number];
	const char *row;
	struct place *p;

	st->places = ut_grow(st->places, (size_t)number + 1, &st->place_cap, sizeof(*p));
	p = &st->places[number];
	if (p->known)
		return p;
	p->known = true;
	p->queue = number;
	p->thread = thread_of(t, track);
	p->process = track->process;
	p->rank = t->processes[track->process].rank;
	p->device = NO_DEVICE;
	if (ut_label_is_device(t, track->process)) {
		p->device = device_of(log, t, track->process);
		row = ut_strtab_get(&t->strings, track->name).ptr;
		p->overhead = is_beside_work(row);
		p->managed = ut_str_starts(row, "Unified memory");
	}
	return p;
}

/* ---- what an event is ---------------------------------------------------------------------- */

/* What categories there are, and what they mean on a device and elsewhere. */
static const struct {
	const char *name;
	uint32_t meaning;
	bool anywhere;
} categories[] = {
	{ "kernel", MEANS_WORK + UT_DEVICE_KERNEL, true },
	{ "copy", MEANS_WORK + UT_DEVICE_COPY, false },
	{ "fill", MEANS_WORK + UT_DEVICE_FILL, false },
	{ "sync", MEANS_WORK + UT_DEVICE_SYNC, false },
	{ "other", MEANS_WORK + UT_DEVICE_OTHER, false },
	{ "gpu_op", MEANS_ANY_WORK, false },
	{ "gpu_memcpy", MEANS_WORK + UT_DEVICE_COPY, true },
	{ "gpu_memset", MEANS_WORK + UT_DEVICE_FILL, true },
	{ "CUDA", MEANS_CALL + UT_API_CUDA, true },
	{ "cuda_runtime", MEANS_CALL + UT_API_CUDA, true },
	{ "CUDA driver", MEANS_CALL + UT_API_CUDA_DRIVER, true },
	{ "cuda_driver", MEANS_CALL + UT_API_CUDA_DRIVER, true },
	{ "xpu_runtime", MEANS_CALL + UT_API_OTHER, true },
	{ "privateuse1_runtime", MEANS_CALL + UT_API_OTHER, true },
	{ "OpenCL", MEANS_CALL + UT_API_CL_OTHER, true },
	{ "Level Zero", MEANS_CALL + UT_API_L0, true },
	{ "NULL", MEANS_CALL + UT_API_OTHER, true },
	{ "control", MEANS_CONTROL, true },
};

static uint32_t meaning_of(struct ut_device_log *log, const struct ut_trace *t, uint32_t cat,
			   bool on_device)
{
	uint64_t key = pair(on_device, cat);
	uint32_t meaning = ut_idmap_get(&log->state->meaning_of, key);
	const char *text;

	if (meaning)
		return meaning;
	meaning = MEANS_NOTHING;
	text = ut_strtab_get(&t->strings, cat).ptr;
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		if (!strcmp(text, categories[i].name) && (on_device || categories[i].anywhere))
			meaning = categories[i].meaning;
	}
	ut_idmap_put(&log->state->meaning_of, key, meaning);
	return meaning;
}

/* What Intel's tool calls gpu_op: the name tells more. */
static enum ut_device_kind kind_by_name(const char *name)
{
	static const struct {
		const char *part;
		enum ut_device_kind kind;
	} signs[] = {
		{ "MemoryFill", UT_DEVICE_FILL },       { "clEnqueueFill", UT_DEVICE_FILL },
		{ "MemoryCopy", UT_DEVICE_COPY },       { "clEnqueueRead", UT_DEVICE_COPY },
		{ "clEnqueueWrite", UT_DEVICE_COPY },   { "clEnqueueCopy", UT_DEVICE_COPY },
		{ "clEnqueueMap", UT_DEVICE_COPY },     { "clEnqueueUnmap", UT_DEVICE_COPY },
		{ "clEnqueueSVMMem", UT_DEVICE_COPY },  { "AppendBarrier", UT_DEVICE_SYNC },
		{ "clEnqueueBarrier", UT_DEVICE_SYNC }, { "clEnqueueMarker", UT_DEVICE_SYNC },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (strstr(name, signs[i].part))
			return signs[i].kind;
	}
	return UT_DEVICE_KERNEL;
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* What an event's arguments said. */
struct facts {
	uint64_t value[KEY_COUNT];
	uint32_t text[KEY_COUNT]; /* id in the log's strings */
};

static enum key key_of(struct ut_device_log *log, const struct ut_trace *t, uint32_t id)
{
	static const char *const names[KEY_COUNT] = {
		[KEY_CORRELATION] = "correlation",
		[KEY_EXTERNAL] = "External id",
		[KEY_QUEUED] = "queued",
		[KEY_SUBMITTED] = "submitted",
		[KEY_THREAD] = "thread",
		[KEY_TASK] = "task",
		[KEY_BYTES] = "bytes",
		[KEY_GRID] = "grid",
		[KEY_BLOCK] = "block",
		[KEY_REGISTERS] = "registers",
		[KEY_STATIC_SHARED] = "static shared memory",
		[KEY_DYNAMIC_SHARED] = "dynamic shared memory",
		[KEY_LOCAL] = "local memory per thread",
	};
	uint32_t known = ut_idmap_get(&log->state->key_of, id);
	const char *text;

	if (known)
		return (enum key)(known - 1);
	text = ut_strtab_get(&t->strings, id).ptr;
	known = !strcmp(text, "global") ? KEY_GRID : !strcmp(text, "local") ? KEY_BLOCK : KEY_NONE;
	for (uint32_t i = 1; i < KEY_COUNT; i++) {
		if (!strcmp(text, names[i]))
			known = i;
	}
	ut_idmap_put(&log->state->key_of, id, known + 1);
	return (enum key)known;
}

static void read_args(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e,
		      struct facts *f)
{
	*f = (struct facts){ 0 };
	for (size_t i = e->args; e->args && i < t->arg_count && t->args[i].type; i++) {
		const struct ut_arg *a = &t->args[i];
		enum key key = key_of(log, t, a->key);

		if (key == KEY_NONE)
			continue;
		if (a->type == UT_ARG_STR || a->type == UT_ARG_JSON)
			f->text[key] = own_string(log, t, a->value.str);
		else if (a->type != UT_ARG_F64)
			f->value[key] = a->value.u64;
		else if (a->value.f64 >= 0 && a->value.f64 < 1e18)
			f->value[key] = (uint64_t)a->value.f64;
	}
}

static void keep_texts(struct ut_device_log *log, const struct ut_trace *t,
		       const struct ut_event *e, struct ut_device_call *c)
{
	struct ut_buf args = { 0 }, result = { 0 };

	ut_device_call_text(t, e, &args, &result);
	c->args = ut_strtab_intern(&log->strings, args.data ? args.data : "", args.len);
	c->result = ut_strtab_intern(&log->strings, result.data ? result.data : "", result.len);
	ut_buf_release(&args);
	ut_buf_release(&result);
}

/* ---- events -------------------------------------------------------------------------------- */

static void note_kernel(struct ut_device_log *log, uint32_t name, const struct facts *f)
{
	uint64_t key = pair(this_source(log), name);
	uint32_t at = ut_idmap_get(&log->state->kernel_of, key);
	uint64_t shared = f->value[KEY_STATIC_SHARED] + f->value[KEY_DYNAMIC_SHARED];
	struct ut_device_kernel *k;

	if (!at) {
		log->kernels = ut_grow(log->kernels, log->kernel_count + 1, &log->kernel_cap,
				       sizeof(*log->kernels));
		at = (uint32_t)++log->kernel_count;
		log->kernels[at - 1].source = this_source(log);
		log->kernels[at - 1].name = name;
		ut_idmap_put(&log->state->kernel_of, key, at);
	}
	k = &log->kernels[at - 1];
	k->registers = f->value[KEY_REGISTERS] ? f->value[KEY_REGISTERS] : k->registers;
	k->shared = shared > k->shared ? shared : k->shared;
	k->local = f->value[KEY_LOCAL] > k->local ? f->value[KEY_LOCAL] : k->local;
}

const struct ut_device_kernel *ut_device_log_kernel(const struct ut_device_log *log,
						    const struct ut_device_work *w)
{
	uint32_t at = w->kind == UT_DEVICE_KERNEL
			      ? ut_idmap_get(&log->state->kernel_of, pair(w->source, w->name))
			      : 0;

	return at ? &log->kernels[at - 1] : NULL;
}

/* Pages that the host or the device has missed are told on the row of managed memory. */
static bool is_work(const struct place *p, enum ut_device_kind kind, const struct facts *f)
{
	if (p->overhead || (p->managed && kind == UT_DEVICE_OTHER))
		return false;
	return p->device != NO_DEVICE || f->value[KEY_CORRELATION] || f->value[KEY_EXTERNAL];
}

static enum ut_device_kind kind_of(const struct ut_trace *t, const struct ut_event *e,
				   uint32_t meaning)
{
	if (meaning == MEANS_ANY_WORK)
		return kind_by_name(ut_strtab_get(&t->strings, e->name).ptr);
	return (enum ut_device_kind)(meaning - MEANS_WORK);
}

static void add_work(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e,
		     uint32_t meaning)
{
	const struct place *p = place_of(log, t, e->track);
	enum ut_device_kind kind = kind_of(t, e, meaning);
	struct ut_device_work *w;
	struct facts f;

	read_args(log, t, e, &f);
	if (!is_work(p, kind, &f))
		return;
	log->works = ut_grow(log->works, log->work_count + 1, &log->work_cap, sizeof(*w));
	w = &log->works[log->work_count++];
	*w = (struct ut_device_work){
		.start = e->ts,
		.end = e->val < UINT64_MAX - e->ts ? e->ts + e->val : UINT64_MAX,
		.queued = ut_device_sane(f.value[KEY_QUEUED], e->ts),
		.submitted = ut_device_sane(f.value[KEY_SUBMITTED], e->ts),
		.correlation = f.value[KEY_CORRELATION],
		.external = f.value[KEY_EXTERNAL],
		.bytes = f.value[KEY_BYTES],
		.name = own_string(log, t, e->name),
		.task = f.text[KEY_TASK],
		.grid = f.text[KEY_GRID],
		.block = f.text[KEY_BLOCK],
		.queue = p->queue,
		.kind = (uint16_t)kind,
		.thread = (uint32_t)f.value[KEY_THREAD],
		.source = this_source(log),
		.rank = p->rank,
		.program = p->process, /* until the trace ends */
	};
	w->device =
		p->device != NO_DEVICE ? p->device : device_of(log, t, t->tracks[e->track].process);
	if (w->kind == UT_DEVICE_KERNEL)
		note_kernel(log, w->name, &f);
}

static struct ut_device_calls *calls_of(struct ut_device_log *log, uint32_t name,
					enum ut_device_api api)
{
	uint64_t key = pair(this_source(log) * UT_API_COUNT + api, name);
	uint32_t at = ut_idmap_get(&log->state->calls_of, key);

	if (!at) {
		log->calls = ut_grow(log->calls, log->calls_count + 1, &log->calls_cap,
				     sizeof(*log->calls));
		at = (uint32_t)++log->calls_count;
		log->calls[at - 1] = (struct ut_device_calls){
			.source = this_source(log), .name = name, .api = api, .min = UINT64_MAX
		};
		ut_idmap_put(&log->state->calls_of, key, at);
	}
	return &log->calls[at - 1];
}

static void keep_call(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e,
		      uint32_t name)
{
	struct ut_device_call *c;

	log->each_call = ut_grow(log->each_call, log->each_count + 1, &log->each_cap, sizeof(*c));
	c = &log->each_call[log->each_count++];
	*c = (struct ut_device_call){ .start = e->ts,
				      .end = e->ts + e->val,
				      .source = this_source(log),
				      .thread = place_of(log, t, e->track)->thread,
				      .rank = place_of(log, t, e->track)->rank,
				      .name = name };
	keep_texts(log, t, e, c);
}

static void add_call(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e,
		     enum ut_device_api api)
{
	uint32_t name = own_string(log, t, e->name);
	struct ut_device_calls *c = calls_of(log, name, api);
	const struct place *p = place_of(log, t, e->track);
	struct facts f;

	c->calls++;
	c->total += e->val;
	c->min = e->val < c->min ? e->val : c->min;
	c->max = e->val > c->max ? e->val : c->max;
	if (log->keep_calls)
		keep_call(log, t, e, name);
	read_args(log, t, e, &f);
	if (f.value[KEY_CORRELATION])
		ut_device_join_call(
			&log->state->join,
			&(struct ut_device_submit){ .correlation = f.value[KEY_CORRELATION],
						    .start = e->ts,
						    .end = e->ts + e->val,
						    .source = this_source(log),
						    .process = p->process,
						    .thread = p->thread });
}

/* The collector's own row says when nothing was recorded. */
static void add_pause(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_device_pause *p;

	if (strcmp(ut_strtab_get(&t->strings, e->name).ptr, "paused") != 0 ||
	    strcmp(ut_strtab_get(&t->strings, t->tracks[e->track].name).ptr, "Control") != 0)
		return;
	log->pauses =
		ut_grow(log->pauses, log->pause_count + 1, &log->pause_cap, sizeof(*log->pauses));
	p = &log->pauses[log->pause_count++];
	*p = (struct ut_device_pause){
		.start = e->ts,
		.end = e->val < UINT64_MAX - e->ts ? e->ts + e->val : UINT64_MAX,
		.source = this_source(log),
	};
}

/* Several programs, or devices as Intel's tool names them: its work has no numbers. */
static bool needs_arrows(const struct ut_trace *t)
{
	size_t programs = 0;

	for (uint32_t i = 0; i < t->process_count; i++) {
		const char *name = ut_strtab_get(&t->strings, t->processes[i].name).ptr;

		if (strstr(name, "DEVICE<"))
			return true;
		programs += !ut_str_starts(name, "DEVICE");
	}
	return programs > 1;
}

static void add_arrow(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_device_state *st = log->state;
	const struct place *p = place_of(log, t, e->track);

	if (!st->counted)
		st->arrows = needs_arrows(t);
	st->counted = true;
	if (!st->arrows)
		return;
	if (e->kind != UT_KIND_FLOW_OUT)
		ut_device_join_arrives(&st->join, p->process,
				       &(struct ut_device_arrival){
					       .time = e->ts, .arrow = e->val, .track = e->track });
	else if (p->device == NO_DEVICE)
		ut_device_join_leaves(
			&st->join, e->val,
			&(struct ut_device_leave){ .time = e->ts, .process = p->process });
}

static void log_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct ut_device_log *log = (struct ut_device_log *)sink;
	uint32_t meaning;

	if (e->kind == UT_KIND_FLOW_OUT || e->kind == UT_KIND_FLOW_IN ||
	    e->kind == UT_KIND_FLOW_STEP)
		add_arrow(log, t, e);
	if (e->kind != UT_KIND_SPAN || !e->cat)
		return;
	meaning = meaning_of(log, t, e->cat, place_of(log, t, e->track)->device != NO_DEVICE);
	if (meaning == MEANS_CONTROL)
		add_pause(log, t, e);
	else if (e->flags & UT_EV_NOT_WORK)
		return;
	else if (meaning >= MEANS_WORK)
		add_work(log, t, e, meaning);
	else if (meaning >= MEANS_CALL)
		add_call(log, t, e, (enum ut_device_api)(meaning - MEANS_CALL));
}

/* ---- life ---------------------------------------------------------------------------------- */

static void start_trace(struct ut_device_log *log)
{
	struct ut_device_state *st = log->state;

	ut_arena_release(&st->arena);
	ut_idmap_init(&st->meaning_of, &st->arena);
	ut_idmap_init(&st->key_of, &st->arena);
	ut_idmap_init(&st->own_string, &st->arena);
	free(st->places);
	st->places = NULL;
	st->place_cap = 0;
	st->first_work = log->work_count;
	st->counted = st->arrows = false;
}

void ut_device_log_init(struct ut_device_log *log, bool keep_calls)
{
	*log = (struct ut_device_log){ .sink.event = log_event, .keep_calls = keep_calls };
	ut_strtab_init(&log->strings, &log->arena);
	log->state = UT_NEW(&log->arena, struct ut_device_state);
	ut_idmap_init(&log->state->calls_of, &log->arena);
	ut_idmap_init(&log->state->kernel_of, &log->arena);
	ut_idmap_init(&log->state->label_of, &log->arena);
	ut_idmap_init(&log->state->device_of, &log->arena);
	ut_device_join_init(&log->state->join);
	start_trace(log);
}

void ut_device_log_release(struct ut_device_log *log)
{
	if (log->state) {
		free(log->state->places);
		ut_device_join_release(&log->state->join);
		ut_arena_release(&log->state->arena);
	}
	free(log->works);
	free(log->devices);
	free(log->calls);
	free(log->each_call);
	free(log->kernels);
	free(log->sources);
	free(log->pauses);
	ut_arena_release(&log->arena);
	*log = (struct ut_device_log){ 0 };
}

/* Which of OpenCL's devices the calls of a process are meant for: nobody says so of each call. */
static enum ut_device_api opencl_of(struct ut_device_log *log, const struct ut_trace *t)
{
	enum ut_device_api found = UT_API_CL_OTHER;

	for (uint32_t i = 0; i < t->process_count; i++) {
		const char *name = ut_strtab_get(&t->strings, t->processes[i].name).ptr;
		enum ut_device_api api;
		uint16_t device;

		if (!ut_str_starts(name, "DEVICE"))
			continue;
		device = device_of(log, t, i);
		api = log->devices[device].api;
		if (api == UT_API_CL_GPU || (api == UT_API_CL_CPU && found == UT_API_CL_OTHER))
			found = api;
	}
	return found;
}

void ut_device_log_end_trace(struct ut_device_log *log, const struct ut_trace *t)
{
	enum ut_device_api opencl = opencl_of(log, t);
	struct ut_device_source *s;

	for (size_t i = log->calls_count; i && log->calls[i - 1].source == this_source(log); i--) {
		if (log->calls[i - 1].api == UT_API_CL_OTHER)
			log->calls[i - 1].api = opencl;
	}
	log->sources = ut_grow(log->sources, log->source_count + 1, &log->source_cap, sizeof(*s));
	s = &log->sources[log->source_count++];
	*s = (struct ut_device_source){ .rank = -1, .first = t->first, .last = t->last };
	if (t->process_count) {
		s->pid = t->processes[0].pid;
		s->rank = t->processes[0].rank;
	}
	ut_device_join_end_trace(&log->state->join, t, log->works, log->state->first_work,
				 log->work_count);
	start_trace(log);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b)
{
	const struct ut_device_work *x = a, *y = b;
	int order = compare(x->source, y->source);

	order = order ? order : compare(x->start, y->start);
	order = order ? order : compare(x->end, y->end);
	return order ? order : compare(x->correlation, y->correlation);
}

static int by_call_start(const void *a, const void *b)
{
	const struct ut_device_call *x = a, *y = b;
	int order = compare(x->source, y->source);

	order = order ? order : compare(x->start, y->start);
	return order ? order : compare(y->end, x->end);
}

void ut_device_log_finish(struct ut_device_log *log)
{
	ut_device_join_finish(&log->state->join, log->works, log->work_count);
	ut_sort(log->works, log->work_count, sizeof(*log->works), by_start);
	ut_sort(log->each_call, log->each_count, sizeof(*log->each_call), by_call_start);
}

/* ---- of one source ------------------------------------------------------------------------- */

/* Items that are sorted by source; how to find that in one. */
struct list {
	const char *items;
	size_t count, size, offset;
};

static size_t first_of(const struct list *l, uint64_t source)
{
	size_t lo = 0, hi = l->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		uint32_t found;

		memcpy(&found, l->items + mid * l->size + l->offset, sizeof(found));
		if (found < source)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct ut_device_range range_of(const struct list *l, uint32_t source)
{
	if (source == UT_DEVICE_ALL)
		return (struct ut_device_range){ 0, l->count };
	return (struct ut_device_range){ first_of(l, source), first_of(l, (uint64_t)source + 1) };
}

struct ut_device_range ut_device_log_works(const struct ut_device_log *log, uint32_t source)
{
	const struct list l = { (const char *)log->works, log->work_count, sizeof(*log->works),
				offsetof(struct ut_device_work, source) };

	return range_of(&l, source);
}

struct ut_device_range ut_device_log_calls(const struct ut_device_log *log, uint32_t source)
{
	const struct list l = { (const char *)log->calls, log->calls_count, sizeof(*log->calls),
				offsetof(struct ut_device_calls, source) };

	return range_of(&l, source);
}

struct ut_device_range ut_device_log_each_call(const struct ut_device_log *log, uint32_t source)
{
	const struct list l = { (const char *)log->each_call, log->each_count,
				sizeof(*log->each_call), offsetof(struct ut_device_call, source) };

	return range_of(&l, source);
}
