#include "model/build.h"
#include "model/classify.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "model/pages.h"

#define FIRST_ROWS 64u
#define ROW_BYTES  24u

static void build_take_event(struct ut_sink *sink, const struct ut_trace *trace,
			     const struct ut_event *event);

void ut_build_init(struct ut_build *b)
{
	*b = (struct ut_build){ .sink.event = build_take_event };
	ut_trace_init(&b->store.trace);
	ut_types_init(&b->store.types);
	ut_arglists_init(&b->store.args);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void build_lay_out(struct ut_build_block *block, char *memory, uint32_t cap)
{
	block->ts = (uint64_t *)(void *)memory;
	block->val = block->ts + cap;
	block->type = (uint32_t *)(void *)(block->val + cap);
	block->args = block->type + cap;
	block->cap = cap;
}

void ut_build_block_make(struct ut_build_block *block, uint32_t cap)
{
	*block = (struct ut_build_block){ 0 };
	build_lay_out(block, ut_pages_alloc((size_t)cap * ROW_BYTES), cap);
}

void ut_build_block_free(struct ut_build_block *block)
{
	ut_pages_free(block->ts);
	*block = (struct ut_build_block){ 0 };
}

static void build_widen(struct ut_build_block *block)
{
	struct ut_build_block wide;

	ut_build_block_make(&wide, block->cap * 4);
	memcpy(wide.ts, block->ts, block->count * sizeof(*wide.ts));
	memcpy(wide.val, block->val, block->count * sizeof(*wide.val));
	memcpy(wide.type, block->type, block->count * sizeof(*wide.type));
	memcpy(wide.args, block->args, block->count * sizeof(*wide.args));
	wide.count = block->count;
	ut_build_block_free(block);
	*block = wide;
}

static struct ut_build_block *build_room(struct ut_build_rows *r)
{
	struct ut_build_block *last = r->block_count ? &r->blocks[r->block_count - 1] : NULL;

	if (last && last->count < last->cap)
		return last;
	if (last && last->cap < UT_BLOCK_ROWS) {
		build_widen(last);
		return last;
	}
	r->blocks = ut_grow(r->blocks, r->block_count + 1, &r->block_cap, sizeof(*r->blocks));
	last = &r->blocks[r->block_count++];
	ut_build_block_make(last, r->block_count == 1 ? FIRST_ROWS : UT_BLOCK_ROWS);
	return last;
}

static struct ut_build_rows *rows_of(struct ut_build *b, uint32_t track)
{
	if (track >= b->row_cap)
		b->rows = ut_grow(b->rows, (size_t)track + 1, &b->row_cap, sizeof(*b->rows));
	return &b->rows[track];
}

void ut_build_add(struct ut_build *b, uint32_t track, uint64_t ts, uint64_t val, uint32_t type,
		  uint32_t args)
{
	struct ut_build_rows *r = rows_of(b, track);
	struct ut_build_block *block = build_room(r);
	uint8_t kind = ut_types_get(&b->store.types, type)->kind;
	bool span = kind == UT_KIND_SPAN;
	uint32_t i = block->count++;

	block->ts[i] = ts;
	block->val[i] = val;
	block->type[i] = type;
	block->args[i] = args;
	if (r->count++) {
		r->out_of_time |= ts < r->last_ts;
		r->out_of_order |=
			ts == r->last_ts && span && (!r->last_is_span || val > r->last_val);
	}
	r->raw |= kind >= UT_KIND_COUNT;
	r->last_ts = ts;
	r->last_val = val;
	r->last_is_span = span;
}

/* ---- as a sink ----------------------------------------------------------------------------- */

/* Our id of a foreign trace's string. */
static uint32_t adopt_string(struct ut_build *b, const struct ut_trace *trace, uint32_t id)
{
	struct ut_adopted *a = &b->adopted;
	struct ut_str s;

	if (!id || trace == &b->store.trace)
		return id;
	a->strings = ut_grow(a->strings, (size_t)id + 1, &a->string_cap, sizeof(*a->strings));
	if (!a->strings[id]) {
		s = ut_strtab_get(&trace->strings, id);
		a->strings[id] = ut_strtab_intern(&b->store.trace.strings, s.ptr, s.len) + 1;
	}
	return a->strings[id] - 1;
}

static uint32_t adopt_process(struct ut_build *b, const struct ut_trace *trace, uint32_t index)
{
	struct ut_adopted *a = &b->adopted;

	a->processes =
		ut_grow(a->processes, (size_t)index + 1, &a->process_cap, sizeof(*a->processes));
	if (!a->processes[index])
		a->processes[index] =
			ut_trace_add_process(&b->store.trace, trace->processes[index].pid) + 1;
	return a->processes[index] - 1;
}

static uint32_t adopt_track(struct ut_build *b, const struct ut_trace *trace, uint32_t index)
{
	struct ut_adopted *a = &b->adopted;

	if (trace == &b->store.trace)
		return index;
	a->tracks = ut_grow(a->tracks, (size_t)index + 1, &a->track_cap, sizeof(*a->tracks));
	if (!a->tracks[index]) {
		const struct ut_track *t = &trace->tracks[index];

		a->tracks[index] =
			ut_trace_add_track(&b->store.trace, adopt_process(b, trace, t->process),
					   t->type) +
			1;
	}
	return a->tracks[index] - 1;
}

static uint32_t adopt_place(struct ut_build *b, const struct ut_trace *trace, uint32_t number)
{
	struct ut_place_in_code p = ut_stacks_get_place(&trace->stacks, number);

	p.function = adopt_string(b, trace, p.function);
	p.module = adopt_string(b, trace, p.module);
	p.file = adopt_string(b, trace, p.file);
	return ut_stacks_place(&b->store.trace.stacks, &b->store.trace.arena, &p);
}

/* Callers have smaller numbers: all up to this one, the outer ones first. */
static uint32_t adopt_stack(struct ut_build *b, const struct ut_trace *trace, uint32_t number)
{
	struct ut_adopted *a = &b->adopted;
	uint32_t first = number;

	if (!number || number > trace->stacks.site_count || trace == &b->store.trace)
		return number;
	a->stacks = ut_grow(a->stacks, (size_t)number + 1, &a->stack_cap, sizeof(*a->stacks));
	while (first > 1 && !a->stacks[first - 1])
		first--;
	for (uint32_t i = first; i <= number; i++) {
		struct ut_callsite site = ut_stacks_get(&trace->stacks, i);

		if (!a->stacks[i])
			a->stacks[i] = ut_stacks_site(&b->store.trace.stacks, &b->store.trace.arena,
						      site.caller ? a->stacks[site.caller] : 0,
						      adopt_place(b, trace, site.place));
	}
	return a->stacks[number];
}

/* A sample's val with our number of its stack. */
static uint64_t adopt_sample(struct ut_build *b, const struct ut_trace *trace, uint64_t val)
{
	return (val & ~(uint64_t)UINT32_MAX) | adopt_stack(b, trace, ut_sample_stack(val));
}

static bool holds_string(const struct ut_arg *arg)
{
	return arg->type == UT_ARG_STR || arg->type == UT_ARG_JSON;
}

/* A list of the trace, with our string ids, in b->scratch; how many arguments it has. */
static size_t adopt_args(struct ut_build *b, const struct ut_trace *trace, uint32_t list)
{
	const struct ut_arg *from = trace->args + list;
	size_t count = 0;

	while (from[count].type != UT_ARG_END) {
		struct ut_arg arg = from[count];

		arg.key = adopt_string(b, trace, arg.key);
		if (holds_string(&arg))
			arg.value.str = adopt_string(b, trace, arg.value.str);
		b->scratch = ut_grow(b->scratch, count + 1, &b->scratch_cap, sizeof(*b->scratch));
		b->scratch[count++] = arg;
	}
	return count;
}

static void build_take_event(struct ut_sink *sink, const struct ut_trace *trace,
			     const struct ut_event *e)
{
	struct ut_build *b = (struct ut_build *)sink;
	const struct ut_type type = { .name = adopt_string(b, trace, e->name),
				      .cat = adopt_string(b, trace, e->cat),
				      .kind = e->kind,
				      .flags = e->flags };
	uint64_t val = e->kind == UT_KIND_SAMPLE ? adopt_sample(b, trace, e->val) : e->val;
	uint32_t args = 0;
	size_t count;

	if (memcmp(&type, &b->last_type, sizeof(type)) != 0) {
		b->last_type = type;
		b->last_number = ut_types_intern(&b->store.types, &type);
	}
	if (e->args) {
		count = adopt_args(b, trace, e->args); /* moves the scratch */
		args = ut_arglists_add(&b->store.args, b->scratch, count);
	}
	ut_build_add(b, adopt_track(b, trace, e->track), e->ts, val, b->last_number, args);
}

/* Appends a list of a foreign trace to one of ours; the index of the result. */
static uint32_t build_add_list(struct ut_build *b, uint32_t ours, const struct ut_trace *trace,
			       uint32_t list)
{
	struct ut_trace *t = &b->store.trace;
	size_t count = list ? adopt_args(b, trace, list) : 0;
	size_t mark = t->arg_count;

	if (!count)
		return ours;
	for (size_t i = ours; ours && t->args[i].type != UT_ARG_END; i++) {
		struct ut_arg arg = t->args[i];

		*ut_trace_add_arg(t, arg.key, UT_ARG_END) = arg;
	}
	for (size_t i = 0; i < count; i++)
		*ut_trace_add_arg(t, 0, UT_ARG_END) = b->scratch[i];
	ut_trace_close_args(t);
	return (uint32_t)mark;
}

static struct ut_api_id adopt_api(struct ut_build *b, const struct ut_trace *trace,
				  struct ut_api_id api)
{
	api.text = adopt_string(b, trace, api.text);
	return api;
}

/* What a process stands for: all of it goes with its kind. */
static void fill_kind(struct ut_build *b, struct ut_process *p, const struct ut_trace *trace,
		      const struct ut_process *from)
{
	if (from->kind == UT_PROCESS_UNKNOWN)
		return;
	p->kind = from->kind;
	p->guessed = from->guessed;
	p->device_type = from->device_type;
	p->api = adopt_api(b, trace, from->api);
	p->model = adopt_string(b, trace, from->model);
	p->title = adopt_string(b, trace, from->title);
	p->device = from->device;
	p->sub_device = from->sub_device;
}

static void fill_role(struct ut_build *b, struct ut_track *t, const struct ut_trace *trace,
		      const struct ut_track *from)
{
	if (from->role == UT_ROLE_UNKNOWN)
		return;
	t->role = from->role;
	t->guessed = from->guessed;
	t->thread = from->thread;
	t->api = adopt_api(b, trace, from->api);
}

static void fill_process(struct ut_build *b, struct ut_process *p, const struct ut_trace *trace,
			 const struct ut_process *from)
{
	p->pid = from->pid;
	if (from->pid_text)
		p->pid_text = adopt_string(b, trace, from->pid_text);
	if (from->name)
		p->name = adopt_string(b, trace, from->name);
	if (from->host)
		p->host = adopt_string(b, trace, from->host);
	if (from->cmdline)
		p->cmdline = adopt_string(b, trace, from->cmdline);
	if (from->rank >= 0)
		p->rank = from->rank;
	if (from->sort_index)
		p->sort_index = from->sort_index;
	fill_kind(b, p, trace, from);
}

static void fill_track(struct ut_build *b, uint32_t at, const struct ut_trace *trace,
		       const struct ut_track *from)
{
	uint32_t args = build_add_list(b, b->store.trace.tracks[at].args, trace, from->args);
	struct ut_track *t = &b->store.trace.tracks[at];

	t->id = from->id;
	t->args = args;
	if (from->id_text)
		t->id_text = adopt_string(b, trace, from->id_text);
	if (from->name)
		t->name = adopt_string(b, trace, from->name);
	if (from->unit)
		t->unit = adopt_string(b, trace, from->unit);
	if (from->base)
		t->base = adopt_string(b, trace, from->base);
	if (from->sort_index)
		t->sort_index = from->sort_index;
	fill_role(b, t, trace, from);
}

/* What a trace says about itself as a whole. */
static void fill_trace(struct ut_build *b, const struct ut_trace *trace)
{
	struct ut_trace *t = &b->store.trace;

	t->global_args = build_add_list(b, t->global_args, trace, trace->global_args);
	t->file_args = build_add_list(b, t->file_args, trace, trace->file_args);
	if (!t->realtime_offset)
		t->realtime_offset = trace->realtime_offset;
	if (!t->boottime_offset)
		t->boottime_offset = trace->boottime_offset;
	if (trace->clock_error > t->clock_error)
		t->clock_error = trace->clock_error;
	if (trace->last) {
		t->first = t->last && t->first < trace->first ? t->first : trace->first;
		t->last = t->last > trace->last ? t->last : trace->last;
	}
	for (size_t i = 0; trace != t && i < trace->note_count; i++)
		ut_trace_add_note(t, adopt_string(b, trace, trace->notes[i]));
	for (size_t i = 0; trace != t && i < trace->call_count; i++)
		ut_classify_add_calls(t, adopt_string(b, trace, trace->calls[i]));
	ut_losses_add(&t->losses, &trace->losses);
}

static void release_adopted(struct ut_adopted *a)
{
	free(a->strings);
	free(a->processes);
	free(a->tracks);
	free(a->stacks);
	*a = (struct ut_adopted){ 0 };
}

void ut_build_end_trace(struct ut_build *b, const struct ut_trace *trace)
{
	/* Processes and tracks without events are part of the trace as well. */
	for (uint32_t i = 0; i < trace->process_count; i++) {
		uint32_t at = adopt_process(b, trace, i);

		uint32_t args = build_add_list(b, b->store.trace.processes[at].args, trace,
					       trace->processes[i].args);

		fill_process(b, &b->store.trace.processes[at], trace, &trace->processes[i]);
		b->store.trace.processes[at].args = args;
	}
	for (uint32_t i = 0; i < trace->track_count; i++)
		fill_track(b, adopt_track(b, trace, i), trace, &trace->tracks[i]);
	fill_trace(b, trace);
	release_adopted(&b->adopted);
}

/* ---- joining ------------------------------------------------------------------------------- */

static uint64_t build_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static uint64_t process_key(const struct ut_process *p)
{
	return build_mix(build_mix(1, p->pid), p->pid_text) | 1;
}

/* Threads are known by their id; other tracks by their name and unit as well. */
static uint64_t track_key(const struct ut_track *t)
{
	bool thread = t->type == UT_TRACK_THREAD;
	uint64_t name = thread ? 0 : (uint64_t)t->unit << 32 | t->name;

	return build_mix(build_mix(build_mix(build_mix(t->process, t->type), t->id), t->id_text),
			 name) |
	       1;
}

static bool same_process(const struct ut_process *a, const struct ut_process *b)
{
	return a->pid == b->pid && a->pid_text == b->pid_text;
}

static bool same_track(const struct ut_track *a, const struct ut_track *b)
{
	return a->process == b->process && a->type == b->type && a->id == b->id &&
	       a->id_text == b->id_text &&
	       (a->type == UT_TRACK_THREAD || (a->name == b->name && a->unit == b->unit));
}

/* Finds for every process of from the one of ours that it is, and remembers it as adopted. */
static void match_processes(struct ut_build *b, const struct ut_trace *from)
{
	struct ut_trace *t = &b->store.trace;
	struct ut_arena arena = { 0 };
	struct ut_idmap map;

	ut_idmap_init(&map, &arena);
	for (uint32_t i = 0; i < t->process_count; i++)
		ut_idmap_put(&map, process_key(&t->processes[i]), i + 1);
	b->adopted.processes = ut_grow(b->adopted.processes, from->process_count,
				       &b->adopted.process_cap, sizeof(uint32_t));
	for (uint32_t i = 0; i < from->process_count; i++) {
		struct ut_process p = from->processes[i];
		uint32_t at;

		p.pid_text = adopt_string(b, from, p.pid_text);
		at = ut_idmap_get(&map, process_key(&p));
		if (at && same_process(&t->processes[at - 1], &p))
			b->adopted.processes[i] = at;
	}
	ut_arena_release(&arena);
}

static void match_tracks(struct ut_build *b, const struct ut_trace *from)
{
	struct ut_trace *t = &b->store.trace;
	struct ut_arena arena = { 0 };
	struct ut_idmap map;

	ut_idmap_init(&map, &arena);
	for (uint32_t i = 0; i < t->track_count; i++)
		ut_idmap_put(&map, track_key(&t->tracks[i]), i + 1);
	b->adopted.tracks = ut_grow(b->adopted.tracks, from->track_count, &b->adopted.track_cap,
				    sizeof(uint32_t));
	for (uint32_t i = 0; i < from->track_count; i++) {
		struct ut_track k = from->tracks[i];
		uint32_t at;

		k.process = adopt_process(b, from, k.process);
		k.id_text = adopt_string(b, from, k.id_text);
		k.name = adopt_string(b, from, k.name);
		k.unit = adopt_string(b, from, k.unit);
		at = ut_idmap_get(&map, track_key(&k));
		if (at && same_track(&t->tracks[at - 1], &k))
			b->adopted.tracks[i] = at;
	}
	ut_arena_release(&arena);
}

/* from's numbers of types, as ours. */
static uint32_t *join_types(struct ut_build *b, const struct ut_store *from)
{
	uint32_t *map = ut_make(from->types.count * sizeof(*map));

	for (uint32_t i = 0; i < from->types.count; i++) {
		struct ut_type type = from->types.items[i];

		type.name = adopt_string(b, &from->trace, type.name);
		type.cat = adopt_string(b, &from->trace, type.cat);
		map[i] = ut_types_intern(&b->store.types, &type);
	}
	return map;
}

/* Gives from's lists to us, with our strings; what to add to their numbers. */
static uint32_t join_args(struct ut_build *b, struct ut_store *from)
{
	uint32_t *strings = ut_make(((size_t)from->trace.strings.count + 1) * sizeof(*strings));
	uint32_t base;

	for (uint32_t i = 1; i <= from->trace.strings.count; i++)
		strings[i] = adopt_string(b, &from->trace, i);
	ut_arglists_rename(&from->args, strings);
	base = ut_arglists_join(&b->store.args, &from->args);
	free(strings);
	return base;
}

/* Samples of from get our numbers of their stacks, before their rows are taken over. */
static void join_stacks(struct ut_build *b, struct ut_build *from)
{
	const struct ut_store *s = &from->store;

	for (size_t t = 0; s->trace.stacks.site_count && t < from->row_cap; t++) {
		for (size_t i = 0; i < from->rows[t].block_count; i++) {
			struct ut_build_block *k = &from->rows[t].blocks[i];

			for (uint32_t n = 0; n < k->count; n++) {
				if (ut_types_get(&s->types, k->type[n])->kind == UT_KIND_SAMPLE)
					k->val[n] = adopt_sample(b, &s->trace, k->val[n]);
			}
		}
	}
}

static void join_rows(struct ut_build *b, uint32_t track, struct ut_build_rows *from,
		      const uint32_t *types, uint32_t base)
{
	for (size_t i = 0; i < from->block_count; i++) {
		struct ut_build_block *block = &from->blocks[i];

		for (uint32_t n = 0; n < block->count; n++)
			ut_build_add(b, track, block->ts[n], block->val[n], types[block->type[n]],
				     block->args[n] ? block->args[n] + base : 0);
		ut_build_block_free(block);
	}
}

void ut_build_join(struct ut_build *b, struct ut_build *from, bool same)
{
	struct ut_store *store = &from->store;
	uint32_t *types, base;

	if (same) {
		match_processes(b, &store->trace);
		match_tracks(b, &store->trace);
	}
	types = join_types(b, store);
	base = join_args(b, store);
	join_stacks(b, from);
	for (uint32_t i = 0; i < store->trace.track_count && i < from->row_cap; i++)
		join_rows(b, adopt_track(b, &store->trace, i), &from->rows[i], types, base);
	free(types);
	ut_build_end_trace(b, &store->trace);
	ut_build_abandon(from);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* The blocks of a track as the store shows them. */
static void hand_over(struct ut_build_rows *from, struct ut_rows *to, const struct ut_types *types)
{
	to->count = from->count;
	if (!from->count)
		return;
	to->blocks = ut_make(from->block_count * sizeof(*to->blocks));
	to->first = from->blocks[0].ts[0];
	for (size_t i = 0; i < from->block_count; i++) {
		const struct ut_build_block *block = &from->blocks[i];

		to->blocks[i] = (struct ut_block){ .ts = block->ts,
						   .val = block->val,
						   .type = block->type,
						   .args = block->args,
						   .count = block->count };
		for (uint32_t n = 0; n < block->count; n++) {
			struct ut_event e = { .ts = block->ts[n],
					      .val = block->val[n],
					      .kind = ut_types_get(types, block->type[n])->kind };

			if (ut_event_end(&e) > to->last)
				to->last = ut_event_end(&e);
		}
	}
}

void ut_build_finish(struct ut_build *b, struct ut_store *store)
{
	struct ut_store *s = &b->store;
	uint32_t tracks = (uint32_t)s->trace.track_count;

	s->rows = ut_make((tracks + 1) * sizeof(*s->rows));
	for (uint32_t i = 0; i < tracks && i < b->row_cap; i++) {
		struct ut_build_rows *r = &b->rows[i];

		ut_build_sort_track(b, i);
		hand_over(r, &s->rows[i], &s->types);
		s->row_count += r->count;
		free(r->blocks);
		*r = (struct ut_build_rows){ 0 };
	}
	ut_store_span(s);
	ut_store_move(store, s);
	ut_build_abandon(b);
}

void ut_build_abandon(struct ut_build *b)
{
	for (size_t i = 0; i < b->row_cap; i++) {
		for (size_t n = 0; n < b->rows[i].block_count; n++)
			ut_build_block_free(&b->rows[i].blocks[n]);
		free(b->rows[i].blocks);
	}
	free(b->rows);
	free(b->scratch);
	free(b->spans);
	release_adopted(&b->adopted);
	ut_store_release(&b->store);
	*b = (struct ut_build){ 0 };
}
