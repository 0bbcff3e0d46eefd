#include "analyze/device_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device_call.h"
#include "analyze/device_join.h"
#include "analyze/label.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "base/str.h"
#include "model/arrows.h"
#include "model/classify.h"
#include "model/event.h"
#include "model/store.h"
#include "model/trace.h"

#define NO_DEVICE    0xffffu
#define MOST_DEVICES 60000u /* further ones count as the last */
#define MOST_APIS    1000u  /* further ones count as having none */

/* A number in the map of meanings: enum meaning, and above it the section of a call. */
#define API_SHIFT    8
#define MEANING_MASK 0xffu

/* What a category says about a span of it. */
enum meaning {
	MEANS_NOTHING = 1,
	MEANS_CONTROL,
	MEANS_CALL, /* above it: of what */
	MEANS_WORK, /* + enum ut_device_kind */
};

/* Where a track is. */
struct place {
	bool known, side;
	uint16_t device; /* NO_DEVICE = it is none's */
	uint32_t queue, thread, process;
	int32_t rank;
};

struct ut_device_state {
	struct ut_idmap calls_of;  /* (source, name), per api -> index + 1 */
	struct ut_idmap kernel_of; /* (source, name) -> index + 1 */
	struct ut_idmap label_of;  /* (name, host or rank) of a device -> a number for them */
	struct ut_idmap device_of; /* (that number, index) -> index into devices + 1 */
	uint32_t labels;
	uint16_t no_api; /* section of what has none */
	struct ut_device_join join;

	/* the trace that is being read */
	struct ut_arena arena;
	struct ut_idmap
		meaning_of; /* category -> enum meaning, with the section of a call above it */
	struct ut_idmap field_of;   /* key of an argument -> 1 + what it tells */
	struct ut_idmap own_string; /* id there -> id here */
	struct place *places;       /* by track */
	size_t place_cap;
	size_t first_work;    /* the first of its works */
	bool counted, arrows; /* are they needed? See needs_arrows() */
};

/* ---- strings and lists --------------------------------------------------------------------- */

static uint32_t device_log_own_string(struct ut_device_log *log, const struct ut_trace *t,
				      uint32_t id)
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

static uint16_t api_add(struct ut_device_log *log, const char *title, struct ut_device_api api)
{
	api.name = ut_strtab_intern_z(&log->strings, title);
	for (size_t i = 0; i < log->api_count; i++) {
		if (log->apis[i].name == api.name)
			return (uint16_t)i;
	}
	if (log->api_count == MOST_APIS)
		return log->state->no_api;
	log->apis = ut_grow(log->apis, log->api_count + 1, &log->api_cap, sizeof(*log->apis));
	log->apis[log->api_count] = api;
	return (uint16_t)log->api_count++;
}

/* Sections of an API whose devices differ are called by their type: "CL GPU". */
static uint16_t api_add_type(struct ut_device_log *log, uint8_t api, uint8_t type)
{
	const struct ut_api_traits *traits = ut_api_traits(api);
	const char *section = traits->section ? traits->section : traits->title;
	char title[64];

	snprintf(title, sizeof(title), "%s%s", section,
		 type == UT_DEVICE_TYPE_CPU   ? " CPU"
		 : type == UT_DEVICE_TYPE_GPU ? " GPU"
					      : "");
	return api_add(log, title, (struct ut_device_api){ .api = api, .device_type = type });
}

/* Of calls below those that the program made. */
static uint16_t api_of_driver(struct ut_device_log *log, uint8_t api)
{
	const char *driver = ut_api_traits(api)->driver;

	if (!driver)
		return api_add_type(log, api, UT_DEVICE_TYPE_UNKNOWN);
	return api_add(log, driver, (struct ut_device_api){ .api = api, .driver = true });
}

/* The sections that have a place of their own, empty or not. */
static void apis_add_registered(struct ut_device_log *log)
{
	for (unsigned int order = 1; order <= UT_APIS; order++) {
		for (unsigned int i = 0; i < UT_APIS; i++) {
			const struct ut_api_traits *traits = ut_api_traits(i);
			uint8_t api = (uint8_t)i;

			if (traits->order != order)
				continue;
			if (traits->by_type) {
				api_add_type(log, api, UT_DEVICE_TYPE_CPU);
				api_add_type(log, api, UT_DEVICE_TYPE_GPU);
			}
			log->state->no_api = api_add_type(log, api, UT_DEVICE_TYPE_UNKNOWN);
			if (traits->driver)
				api_of_driver(log, api);
		}
	}
}

const char *ut_device_api_name(const struct ut_device_log *log, uint16_t api)
{
	return ut_strtab_get(&log->strings,
			     log->apis[api < log->api_count ? api : log->state->no_api].name)
		.ptr;
}

const struct ut_api_traits *ut_device_api_traits(const struct ut_device_log *log, uint16_t api)
{
	return ut_api_traits(api < log->api_count ? log->apis[api].api : UT_API_NONE);
}

/* The section of a device or of a call. */
static uint16_t api_of(struct ut_device_log *log, const struct ut_trace *t, struct ut_api_id api,
		       uint8_t device_type)
{
	const struct ut_api_traits *traits = ut_api_traits(api.api);

	if (api.api == UT_API_NONE)
		return log->state->no_api;
	if (api.api == UT_API_OTHER)
		return api_add(log, ut_api_title(&t->strings, api).ptr,
			       (struct ut_device_api){ .api = UT_API_OTHER });
	if (!traits->by_type ||
	    (device_type != UT_DEVICE_TYPE_CPU && device_type != UT_DEVICE_TYPE_GPU))
		device_type = UT_DEVICE_TYPE_UNKNOWN;
	return api_add_type(log, api.api, device_type);
}

/* Torch.profiler does not tell of all devices; what it calls work is CUDA's. */
static uint16_t api_of_process(struct ut_device_log *log, const struct ut_trace *t,
			       const struct ut_process *p)
{
	const struct ut_api_id torch = { .api = UT_API_CUDA };

	return p->kind == UT_PROCESS_DEVICE ? api_of(log, t, p->api, p->device_type)
					    : api_of(log, t, torch, UT_DEVICE_TYPE_UNKNOWN);
}

/* "pid 7" if nobody has named it. */
static uint32_t device_log_name_of(struct ut_device_log *log, const struct ut_trace *t,
				   const struct ut_process *p)
{
	uint32_t shown = ut_process_shown_name(p), name;
	struct ut_buf b = { 0 };

	if (ut_strtab_get(&t->strings, shown).len)
		return device_log_own_string(log, t, shown);
	ut_buf_text(&b, "pid ");
	ut_label_id(&b, t, p->pid, p->pid_text);
	name = ut_strtab_intern(&log->strings, b.data, b.len);
	ut_buf_release(&b);
	return name;
}

static uint16_t device_log_device_of(struct ut_device_log *log, const struct ut_trace *t,
				     uint32_t process)
{
	const struct ut_process *p = &t->processes[process];
	uint32_t name = device_log_name_of(log, t, p),
		 host = device_log_own_string(log, t, p->host);
	uint32_t whose = host ? host : ~(uint32_t)p->rank; /* no rank, -1, is 0 */
	uint32_t index = p->device >= 0 ? (uint32_t)p->device : (uint32_t)p->pid;
	/* torch.profiler calls all devices like the program; their process tells them apart */
	uint32_t number = p->model ? index : (uint32_t)p->pid;
	struct ut_device_state *st = log->state;
	uint32_t label = ut_idmap_get(&st->label_of, pair(name, whose)), known;

	if (!label) {
		label = ++st->labels;
		ut_idmap_put(&st->label_of, pair(name, whose), label);
	}
	known = ut_idmap_get(&st->device_of, pair(label, number));
	if (known)
		return (uint16_t)(known - 1);
	if (log->device_count == MOST_DEVICES)
		return MOST_DEVICES - 1;
	log->devices = ut_grow(log->devices, log->device_count + 1, &log->device_cap,
			       sizeof(*log->devices));
	log->devices[log->device_count] =
		(struct ut_device_info){ .name = name,
					 .host = host,
					 .rank = host ? -1 : p->rank,
					 .index = index,
					 .model = device_log_own_string(log, t, p->model),
					 .api = api_of_process(log, t, p) };
	ut_idmap_put(&st->device_of, pair(label, number), (uint32_t)++log->device_count);
	return (uint16_t)(log->device_count - 1);
}

static struct place *device_log_place_of(struct ut_device_log *log, const struct ut_trace *t,
					 uint32_t number)
{
	struct ut_device_state *st = log->state;
	const struct ut_track *track = &t->tracks[number];
	struct place *p;

	st->places = ut_grow(st->places, (size_t)number + 1, &st->place_cap, sizeof(*p));
	p = &st->places[number];
	if (p->known)
		return p;
	p->known = true;
	p->queue = number;
	p->thread = track->role == UT_ROLE_CALLS ? track->thread : (uint32_t)track->id;
	p->process = track->process;
	p->rank = t->processes[track->process].rank;
	p->side = track->role == UT_ROLE_SIDE;
	p->device = ut_is_device(t, track->process) ? device_log_device_of(log, t, track->process)
						    : NO_DEVICE;
	return p;
}

/* ---- what an event is ---------------------------------------------------------------------- */

static uint32_t find_meaning(struct ut_device_log *log, const struct ut_trace *t, uint32_t cat,
			     bool on_device)
{
	struct ut_category c = ut_classify_category(t, cat);

	if (c.use == UT_CATEGORY_CONTROL)
		return MEANS_CONTROL;
	if (c.use == UT_CATEGORY_CALL && c.driver)
		return MEANS_CALL | (uint32_t)api_of_driver(log, c.api.api) << API_SHIFT;
	if (c.use == UT_CATEGORY_CALL)
		return MEANS_CALL | (uint32_t)api_of(log, t, c.api, UT_DEVICE_TYPE_UNKNOWN)
					    << API_SHIFT;
	if (c.use == UT_CATEGORY_WORK && (on_device || c.anywhere))
		return MEANS_WORK + c.work;
	return MEANS_NOTHING;
}

static uint32_t meaning_of(struct ut_device_log *log, const struct ut_trace *t, uint32_t cat,
			   bool on_device)
{
	uint64_t key = pair(on_device, cat);
	uint32_t meaning = ut_idmap_get(&log->state->meaning_of, key);

	if (!meaning) {
		meaning = find_meaning(log, t, cat, on_device);
		ut_idmap_put(&log->state->meaning_of, key, meaning);
	}
	return meaning;
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* What the arguments of an event tell, those that end with UT_ARG_END. */
static void read_args(struct ut_device_log *log, const struct ut_trace *t, const struct ut_event *e,
		      struct ut_device_record *r)
{
	for (size_t i = e->args; e->args && i < t->arg_count && t->args[i].type; i++) {
		uint32_t key = t->args[i].key, field = ut_idmap_get(&log->state->field_of, key);

		if (!field) {
			field = 1 + ut_device_field_called(ut_strtab_get(&t->strings, key));
			ut_idmap_put(&log->state->field_of, key, field);
		}
		if (field > 1)
			ut_device_record_put(r, &t->strings, field - 1, &t->args[i]);
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

static void note_kernel(struct ut_device_log *log, const struct ut_trace *t, uint32_t name,
			const struct ut_device_launch *l)
{
	uint64_t key = pair(this_source(log), name), shared = l->static_shared + l->dynamic_shared;
	uint32_t at = ut_idmap_get(&log->state->kernel_of, key);
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
	k->registers = l->registers ? l->registers : k->registers;
	k->shared = shared > k->shared ? shared : k->shared;
	k->local = l->local > k->local ? l->local : k->local;
	k->simd = l->lanes ? l->lanes : k->simd;
	k->compiled = l->compiled ? device_log_own_string(log, t, l->compiled) : k->compiled;
	k->arguments = l->arguments ? l->arguments : k->arguments;
	k->spill = l->spill > k->spill ? l->spill : k->spill;
}

const struct ut_device_kernel *ut_device_log_kernel(const struct ut_device_log *log,
						    const struct ut_device_work *w)
{
	uint32_t at = w->kind == UT_DEVICE_KERNEL
			      ? ut_idmap_get(&log->state->kernel_of, pair(w->source, w->name))
			      : 0;

	return at ? &log->kernels[at - 1] : NULL;
}

static enum ut_device_kind device_log_kind_of(const struct ut_trace *t, const struct ut_event *e,
					      uint32_t meaning)
{
	if (meaning == MEANS_WORK + UT_DEVICE_BY_NAME)
		return ut_classify_work(ut_strtab_get(&t->strings, e->name).ptr);
	return (enum ut_device_kind)(meaning - MEANS_WORK);
}

static struct ut_device_work *device_log_add_work(struct ut_device_log *log,
						  const struct ut_trace *t,
						  const struct ut_event *e,
						  const struct ut_device_record *r)
{
	const struct place *p = device_log_place_of(log, t, e->track);
	struct ut_device_work *w;

	log->works = ut_grow_raw(log->works, log->work_count + 1, &log->work_cap, sizeof(*w));
	w = &log->works[log->work_count++];
	*w = (struct ut_device_work){
		.start = e->ts,
		.end = e->val < UINT64_MAX - e->ts ? e->ts + e->val : UINT64_MAX,
		.queued = ut_device_sane(r->queued, e->ts),
		.submitted = ut_device_sane(r->submitted, e->ts),
		.correlation = r->correlation,
		.external = r->external,
		.bytes = r->bytes,
		.name = device_log_own_string(log, t, e->name),
		.task = device_log_own_string(log, t, r->task),
		.queue = p->queue,
		.kind = r->kind,
		.thread = r->thread,
		.source = this_source(log),
		.rank = p->rank,
		.program = p->process, /* until the trace ends */
	};
	w->device = p->device != NO_DEVICE
			    ? p->device
			    : device_log_device_of(log, t, t->tracks[e->track].process);
	if (w->kind == UT_DEVICE_KERNEL)
		note_kernel(log, t, w->name, &r->launch);
	return w;
}

static void device_log_add_event(struct ut_device_log *log, const struct ut_trace *t,
				 const struct ut_event *e, uint32_t meaning)
{
	const struct place *p = device_log_place_of(log, t, e->track);
	struct ut_device_record r = { .kind = (uint8_t)device_log_kind_of(t, e, meaning) };
	struct ut_device_work *w;

	read_args(log, t, e, &r);
	if (!ut_device_record_is_work(&r, p->device != NO_DEVICE, p->side))
		return;
	w = device_log_add_work(log, t, e, &r);
	r.launch.compiled = 0; /* of the trace's strings; see kernels */
	w->launch = ut_device_launches_add(&log->launches, &r.launch);
}

static struct ut_device_calls *calls_of(struct ut_device_log *log, uint32_t name, uint16_t api)
{
	uint64_t key = pair(this_source(log) * MOST_APIS + api, name);
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

	log->each_call =
		ut_grow_raw(log->each_call, log->each_count + 1, &log->each_cap, sizeof(*c));
	c = &log->each_call[log->each_count++];
	*c = (struct ut_device_call){ .start = e->ts,
				      .end = e->ts + e->val,
				      .source = this_source(log),
				      .thread = device_log_place_of(log, t, e->track)->thread,
				      .rank = device_log_place_of(log, t, e->track)->rank,
				      .name = name };
	keep_texts(log, t, e, c);
}

static void device_log_add_call(struct ut_device_log *log, const struct ut_trace *t,
				const struct ut_event *e, uint16_t api)
{
	uint32_t name = device_log_own_string(log, t, e->name);
	struct ut_device_calls *c = calls_of(log, name, api);
	const struct place *p = device_log_place_of(log, t, e->track);
	struct ut_device_record r = { 0 };

	c->calls++;
	c->total += e->val;
	c->min = e->val < c->min ? e->val : c->min;
	c->max = e->val > c->max ? e->val : c->max;
	if (log->keep_calls)
		keep_call(log, t, e, name);
	read_args(log, t, e, &r);
	if (r.correlation)
		ut_device_join_call(&log->state->join,
				    &(struct ut_device_submit){ .correlation = r.correlation,
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
	    t->tracks[e->track].role != UT_ROLE_CONTROL)
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

/* Several programs, or work that may have no numbers, as of Level Zero in Intel's tool. */
static bool needs_arrows(const struct ut_trace *t)
{
	size_t programs = 0;

	for (uint32_t i = 0; i < t->process_count; i++) {
		const struct ut_process *p = &t->processes[i];

		if (p->kind == UT_PROCESS_DEVICE && ut_api_traits(p->api.api)->arrows)
			return true;
		programs += p->kind != UT_PROCESS_DEVICE;
	}
	return programs > 1;
}

static void device_log_add_arrow(struct ut_device_log *log, const struct ut_trace *t,
				 const struct ut_event *e)
{
	struct ut_device_state *st = log->state;
	const struct place *p = device_log_place_of(log, t, e->track);

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

	if (ut_is_flow(e->kind))
		device_log_add_arrow(log, t, e);
	if (e->kind != UT_KIND_SPAN || !e->cat)
		return;
	meaning = meaning_of(log, t, e->cat,
			     device_log_place_of(log, t, e->track)->device != NO_DEVICE);
	if (meaning == MEANS_CONTROL)
		add_pause(log, t, e);
	else if (e->flags & UT_EV_NOT_WORK)
		return;
	else if ((meaning & MEANING_MASK) == MEANS_CALL)
		device_log_add_call(log, t, e, (uint16_t)(meaning >> API_SHIFT));
	else if (meaning >= MEANS_WORK)
		device_log_add_event(log, t, e, meaning);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void device_log_start_trace(struct ut_device_log *log)
{
	struct ut_device_state *st = log->state;

	ut_arena_release(&st->arena);
	ut_idmap_init(&st->meaning_of, &st->arena);
	ut_idmap_init(&st->field_of, &st->arena);
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
	apis_add_registered(log);
	device_log_start_trace(log);
}

void ut_device_log_release(struct ut_device_log *log)
{
	if (log->state) {
		free(log->state->places);
		ut_device_join_release(&log->state->join);
		ut_arena_release(&log->state->arena);
	}
	free(log->works);
	free(log->apis);
	free(log->devices);
	free(log->calls);
	free(log->each_call);
	free(log->kernels);
	free(log->sources);
	free(log->pauses);
	ut_device_launches_release(&log->launches);
	ut_arena_release(&log->arena);
	*log = (struct ut_device_log){ 0 };
}

/*
 * Which devices the calls of a process are meant for, where sections differ by the type of device:
 * no call says so itself. GPUs come first, then CPUs.
 */
static void calls_find_type(struct ut_device_log *log, const struct ut_trace *t)
{
	uint32_t types[UT_APIS] = { 0 }; /* bits of enum ut_device_type that the trace has */

	for (uint32_t i = 0; i < t->process_count; i++) {
		const struct ut_device_api *api;
		uint16_t device;

		if (!ut_is_device(t, i))
			continue;
		device = device_log_device_of(log, t, i); /* may move the devices */
		api = &log->apis[log->devices[device].api];
		types[api->api] |= 1u << api->device_type;
	}
	for (size_t i = log->calls_count; i && log->calls[i - 1].source == this_source(log); i--) {
		struct ut_device_calls *c = &log->calls[i - 1];
		uint8_t api = log->apis[c->api].api;

		if (!ut_api_traits(api)->by_type)
			continue;
		if (types[api] & 1u << UT_DEVICE_TYPE_GPU)
			c->api = api_add_type(log, api, UT_DEVICE_TYPE_GPU);
		else if (types[api] & 1u << UT_DEVICE_TYPE_CPU)
			c->api = api_add_type(log, api, UT_DEVICE_TYPE_CPU);
	}
}

void ut_device_log_end_trace(struct ut_device_log *log, const struct ut_trace *t)
{
	struct ut_device_source *s;

	calls_find_type(log, t);
	log->sources = ut_grow(log->sources, log->source_count + 1, &log->source_cap, sizeof(*s));
	s = &log->sources[log->source_count++];
	*s = (struct ut_device_source){ .rank = -1, .first = t->first, .last = t->last };
	if (t->process_count) {
		s->pid = t->processes[0].pid;
		s->rank = t->processes[0].rank;
	}
	ut_device_join_end_trace(&log->state->join, t, log->works, log->state->first_work,
				 log->work_count);
	device_log_start_trace(log);
}

static int device_log_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int device_log_by_start(const void *a, const void *b)
{
	const struct ut_device_work *x = a, *y = b;
	int order = device_log_compare(x->source, y->source);

	order = order ? order : device_log_compare(x->start, y->start);
	order = order ? order : device_log_compare(x->end, y->end);
	return order ? order : device_log_compare(x->correlation, y->correlation);
}

static int by_call_start(const void *a, const void *b)
{
	const struct ut_device_call *x = a, *y = b;
	int order = device_log_compare(x->source, y->source);

	order = order ? order : device_log_compare(x->start, y->start);
	return order ? order : device_log_compare(y->end, x->end);
}

/* ---- a store ------------------------------------------------------------------------------- */

/* The work of a store is there, typed. */
static void store_add_works(struct ut_device_log *log, const struct ut_store *store)
{
	const struct ut_device_records *r = ut_store_devices(store);
	uint32_t *launches = ut_make(r->launch_count * sizeof(*launches));

	/* Devices are numbered as their tracks come, with or without work. */
	for (uint32_t i = 0; i < store->trace.track_count; i++) {
		if (store->rows[i].count && store->trace.tracks[i].type != UT_TRACK_COUNTER)
			device_log_place_of(log, &store->trace, i);
	}
	for (size_t i = 0; i < r->launch_count; i++) {
		struct ut_device_launch launch = r->launches[i];

		launch.compiled = 0; /* of the trace's strings; see kernels */
		launches[i] = ut_device_launches_add(&log->launches, &launch);
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_block *block =
			&store->rows[r->track[i]].blocks[r->row[i] / UT_BLOCK_ROWS];
		struct ut_event e = ut_block_event(store, r->track[i], block,
						   (uint32_t)(r->row[i] % UT_BLOCK_ROWS));
		struct ut_device_record one = ut_device_record_get(r, i);
		struct ut_device_work *w = device_log_add_work(log, &store->trace, &e, &one);

		w->record = i + 1;
		w->launch = launches[r->launch[i]];
	}
	free(launches);
}

/* Does the log look at rows of this type, besides work? */
static bool type_is_wanted(struct ut_device_log *log, const struct ut_trace *t,
			   const struct ut_type *type)
{
	uint32_t meaning;

	if (ut_is_flow(type->kind))
		return log->state->arrows;
	if (type->kind != UT_KIND_SPAN || !type->cat)
		return false;
	meaning = meaning_of(log, t, type->cat, false);
	return meaning == MEANS_CONTROL || (meaning & MEANING_MASK) == MEANS_CALL;
}

/* Calls of a store. The trace is a copy, for its arguments: others may read the store meanwhile. */
struct call_rows {
	struct ut_device_log *log;
	const struct ut_store *store;
	bool *wanted; /* by type */
	struct ut_trace trace;
	size_t cap; /* of its arguments */
};

static void call_rows_add(struct call_rows *c, uint32_t track, const struct ut_block *block)
{
	const struct ut_arglists *args = &c->store->args;

	for (uint32_t i = 0; i < block->count; i++) {
		uint32_t type = block->type[i];
		struct ut_trace *t = &c->trace;
		struct ut_event e;
		size_t count;

		if (!c->wanted[type < c->store->types.count ? type : 0])
			continue;
		e = ut_block_event(c->store, track, block, i);
		count = ut_arglists_get(args, e.args, t->args + 1, c->cap - 2);
		if (count + 2 > c->cap) {
			t->args = ut_grow(t->args, count + 2, &c->cap, sizeof(*t->args));
			ut_arglists_get(args, e.args, t->args + 1, count);
		}
		t->args[count + 1].type = UT_ARG_END;
		t->arg_count = count + 2;
		e.args = count ? 1 : 0;
		log_event(&c->log->sink, t, &e);
	}
}

static void store_add_calls(struct ut_device_log *log, const struct ut_store *store)
{
	struct call_rows c = { log, store, ut_make((size_t)store->types.count + 1), store->trace,
			       0 };
	bool any = false;

	log->state->counted = true;
	log->state->arrows = needs_arrows(&store->trace);
	for (uint32_t i = 0; i < store->types.count; i++)
		any |= c.wanted[i] = type_is_wanted(log, &store->trace, &store->types.items[i]);
	c.trace.args = ut_grow(NULL, 2, &c.cap, sizeof(*c.trace.args)); /* the first list is at 1 */
	for (uint32_t track = 0; any && track < c.trace.track_count; track++) {
		for (size_t b = 0; b < ut_rows_blocks(&store->rows[track]); b++)
			call_rows_add(&c, track, &store->rows[track].blocks[b]);
	}
	free(c.trace.args);
	free(c.wanted);
}

void ut_device_log_store(struct ut_device_log *log, const struct ut_store *store)
{
	store_add_works(log, store);
	store_add_calls(log, store);
	ut_device_log_end_trace(log, &store->trace);
}

void ut_device_log_finish(struct ut_device_log *log)
{
	ut_device_join_finish(&log->state->join, log->works, log->work_count);
	ut_sort(log->works, log->work_count, sizeof(*log->works), device_log_by_start);
	ut_sort(log->each_call, log->each_count, sizeof(*log->each_call), by_call_start);
}

/* ---- of one source ------------------------------------------------------------------------- */

/* Items that are sorted by source; how to find that in one. */
struct list {
	const char *items;
	size_t count, size, offset;
};

static size_t device_log_first_of(const struct list *l, uint64_t source)
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
	return (struct ut_device_range){ device_log_first_of(l, source),
					 device_log_first_of(l, (uint64_t)source + 1) };
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
