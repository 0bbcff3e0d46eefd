/* tables.c - see tables.h. */
#include "import/spool/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/thread_roles.h"
#include "ittnotify.h"
#include "symbol/symbol.h"
#include "unitrace/backend.h"

void ut_spool_tables_init(struct ut_spool_tables *t, struct ut_trace *trace, uint32_t process,
			  const struct ut_spool_map *map)
{
	*t = (struct ut_spool_tables){ .trace = trace, .process = process };
	t->most = map->size / sizeof(uint64_t);
	t->lost = ut_strtab_intern_z(&trace->strings, "(name lost)");
	ut_clock_map_add(&t->clock, &map->header->start);
}

void ut_spool_tables_release(struct ut_spool_tables *t)
{
	free(t->strings);
	free(t->sources);
	free(t->domains);
	free(t->threads);
	free(t->objects);
	free(t->mappings);
	free(t->facts);
	free(t->metrics);
	free(t->code);
	*t = (struct ut_spool_tables){ 0 };
}

/* ---- by number ----------------------------------------------------------------------------- */

uint32_t ut_spool_string(const struct ut_spool_tables *t, uint32_t number)
{
	uint32_t known = number < t->string_cap ? t->strings[number] : 0;

	return known ? known - 1 : number ? t->lost : 0;
}

uint32_t ut_spool_domain(const struct ut_spool_tables *t, uint32_t number)
{
	return number < t->domain_cap ? t->domains[number] : 0;
}

struct ut_spool_thread *ut_spool_thread(struct ut_spool_tables *t, uint32_t number)
{
	if (number > t->most)
		return &t->spare_thread;
	t->threads = ut_grow(t->threads, (size_t)number + 1, &t->thread_cap, sizeof(*t->threads));
	return &t->threads[number];
}

struct ut_spool_object *ut_spool_object(struct ut_spool_tables *t, uint32_t number)
{
	if (number > t->most)
		return &t->spare_object;
	t->objects = ut_grow(t->objects, (size_t)number + 1, &t->object_cap, sizeof(*t->objects));
	return &t->objects[number];
}

/* ---- definitions --------------------------------------------------------------------------- */

static void define_string(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	uint32_t number = ut_rec_low(r, 0);
	size_t len = ut_rec_high(r, 0);
	const char *bytes = ut_rec_bytes(r, 1, &len);

	if (number > t->most)
		return;
	t->strings = ut_grow(t->strings, (size_t)number + 1, &t->string_cap, sizeof(*t->strings));
	t->strings[number] = ut_strtab_intern(&t->trace->strings, bytes, len) + 1;
}

static void define_place(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	uint32_t number = ut_rec_low(r, 0), name = ut_spool_string(t, ut_rec_high(r, 0));

	if (number > t->most)
		return;
	t->strings = ut_grow(t->strings, (size_t)number + 1, &t->string_cap, sizeof(*t->strings));
	t->strings[number] = name + 1;
	t->sources = ut_grow(t->sources, (size_t)number + 1, &t->source_cap, sizeof(*t->sources));
	t->sources[number] = (struct ut_spool_source){ ut_spool_string(t, ut_rec_low(r, 1)),
						       ut_rec_high(r, 1), true };
}

static void define_domain(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	uint32_t number = ut_rec_low(r, 0);

	if (number == UT_DOMAIN_UNWANTED)
		ut_trace_add_unwanted(t->trace, ut_spool_string(t, ut_rec_high(r, 0)));
	if (number > t->most)
		return;
	t->domains = ut_grow(t->domains, (size_t)number + 1, &t->domain_cap, sizeof(*t->domains));
	t->domains[number] = ut_spool_string(t, ut_rec_high(r, 0));
}

static void define_thread(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	struct ut_spool_thread *thread = ut_spool_thread(t, ut_rec_low(r, 0));
	size_t len = 16;
	const char *comm = ut_rec_bytes(r, 2, &len);

	thread->tid = ut_rec_high(r, 0);
	thread->comm = ut_strtab_intern(&t->trace->strings, comm, strnlen(comm, len));
	thread->start = thread->start ? thread->start : ut_rec_word(r, 4);
	if (thread->tid == t->trace->processes[t->process].pid)
		t->main_comm = thread->comm;
}

static void define_mapping(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	size_t len = ut_rec_low(r, 3);
	const char *path = ut_rec_bytes(r, 4, &len);

	t->mappings =
		ut_grow(t->mappings, t->mapping_count + 1, &t->mapping_cap, sizeof(*t->mappings));
	t->mappings[t->mapping_count++] =
		(struct ut_spool_mapping){ .start = ut_rec_word(r, 0),
					   .end = ut_rec_word(r, 1),
					   .offset = ut_rec_word(r, 2),
					   .path = ut_arena_copy(&t->trace->arena, path, len) };
}

static struct ut_spool_object *new_object(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	struct ut_spool_object *o = ut_spool_object(t, ut_rec_low(r, 0));

	o->type = r->type;
	return o;
}

static void define_object(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	struct ut_spool_object *o = new_object(t, r);

	o->name = ut_spool_string(t, ut_rec_high(r, 0));
	switch ((int)r->type) {
	case UT_REC_COUNTER_DEF:
		o->domain = ut_spool_string(t, ut_rec_low(r, 1));
		o->kind = ut_rec_high(r, 1);
		break;
	case UT_REC_HISTOGRAM_DEF:
		o->domain = ut_spool_domain(t, ut_rec_low(r, 1));
		o->kind = ut_rec_high(r, 1);
		break;
	case UT_REC_HEAP_FUNCTION:
		o->domain = ut_spool_string(t, ut_rec_low(r, 1));
		break;
	case UT_REC_DEVICE:
		o->kind = ut_rec_low(r, 1);
		o->domain = ut_spool_string(t, ut_rec_high(r, 1));
		o->api = ut_rec_low(r, 2) ? ut_spool_string(t, ut_rec_low(r, 2)) : 0;
		break;
	case UT_REC_METRIC_SET:
		o->kind = ut_rec_high(r, 1);
		o->domain = ut_rec_high(r, 0); /* the device's number */
		o->name = ut_spool_string(t, ut_rec_low(r, 1));
		break;
	case UT_REC_QUEUE:
		o->domain = ut_rec_high(r, 0); /* the device's number */
		o->name = ut_spool_string(t, ut_rec_low(r, 1));
		o->side = ut_rec_word(r, 2) >= UT_SIDE_ROW;
		break;
	case UT_REC_TRACK:
		o->kind = ut_rec_high(r, 0);
		o->name = ut_spool_string(t, ut_rec_low(r, 1));
		break;
	default:
		break;
	}
}

static void define_clock(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	struct ut_spool_object *o = new_object(t, r);

	o->freq = ut_rec_word(r, 1);
	o->base = ut_rec_word(r, 2);
	o->ticks = ut_rec_word(r, 3);
}

/* Facts of one track follow each other only when the whole is put together: see below. */
static void spool_tables_add_fact(struct ut_spool_tables *t, uint32_t track, const char *key,
				  const char *text, size_t len, uint64_t number)
{
	struct ut_spool_fact *f;

	t->facts = ut_grow(t->facts, t->fact_count + 1, &t->fact_cap, sizeof(*t->facts));
	f = &t->facts[t->fact_count++];
	f->track = track;
	f->arg.key = ut_strtab_intern_z(&t->trace->strings, key);
	f->arg.type = text ? UT_ARG_STR : UT_ARG_U64;
	if (text)
		f->arg.value.str = ut_strtab_intern(&t->trace->strings, text, strnlen(text, len));
	else
		f->arg.value.u64 = number;
}

static int by_track(const void *a, const void *b)
{
	const struct ut_spool_fact *x = a, *y = b;

	return (x->track > y->track) - (x->track < y->track);
}

void ut_spool_tables_finalize(struct ut_spool_tables *t)
{
	if (t->fact_count)
		qsort(t->facts, t->fact_count, sizeof(*t->facts), by_track);
	for (size_t i = 0; i < t->fact_count; i++) {
		struct ut_track *track = &t->trace->tracks[t->facts[i].track];

		if (!track->args)
			track->args = (uint32_t)t->trace->arg_count;
		*ut_trace_add_arg(t->trace, 0, UT_ARG_END) = t->facts[i].arg;
		if (i + 1 == t->fact_count || t->facts[i + 1].track != t->facts[i].track)
			ut_trace_close_args(t->trace);
	}
}

static const char *const counter_facts[] = {
	[__itt_context_nameA] = "name",
	[__itt_context_deviceA] = "device",
	[__itt_context_unitsA] = "unit",
	[__itt_context_pci_addrA] = "pci_address",
	[__itt_context_tid] = "tid",
	[__itt_context_max_val] = "max",
	[__itt_context_bandwidth_flag] = "bandwidth",
	[__itt_context_latency_flag] = "latency",
	[__itt_context_occupancy_flag] = "occupancy",
	[__itt_context_on_thread_flag] = "on_thread",
	[__itt_context_is_abs_val_flag] = "absolute",
	[__itt_context_cpu_instructions_flag] = "cpu_instructions",
	[__itt_context_cpu_cycles_flag] = "cpu_cycles",
};

/* The unit belongs to the track; the rest becomes an argument of the track as a whole. */
static void describe_counter(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	struct ut_spool_object *o = ut_spool_object(t, ut_rec_low(r, 0));
	uint32_t type = ut_rec_high(r, 0);
	size_t len = ut_rec_low(r, 1);
	const char *bytes = ut_rec_bytes(r, 2, &len);
	uint32_t track;

	if (o->type != UT_REC_COUNTER_DEF)
		return;
	track = ut_spool_counter_track(t, o);
	if (type == __itt_context_unitsA)
		t->trace->tracks[track].unit =
			ut_strtab_intern(&t->trace->strings, bytes, strnlen(bytes, len));
	else if (type < sizeof(counter_facts) / sizeof(counter_facts[0]) && counter_facts[type])
		spool_tables_add_fact(t, track, counter_facts[type],
				      type < __itt_context_tid ? bytes : NULL, len,
				      ut_rec_word(r, 2));
}

static void spool_tables_add_pair(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	struct ut_clock_pair pair = { ut_rec_word(r, 0), ut_rec_word(r, 1), ut_rec_word(r, 2),
				      ut_rec_word(r, 3), ut_rec_word(r, 4) };

	ut_clock_map_add(&t->clock, &pair);
}

/* What a backend has to say to the user. */
static void keep_note(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	size_t len = ut_rec_low(r, 0);
	const char *text = ut_rec_bytes(r, 1, &len);

	ut_trace_add_note(t->trace, ut_strtab_intern(&t->trace->strings, text, len));
}

static void define_metric(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	t->metrics = ut_grow(t->metrics, t->metric_count + 1, &t->metric_cap, sizeof(*t->metrics));
	t->metrics[t->metric_count++] =
		(struct ut_spool_metric){ .set = ut_rec_low(r, 0),
					  .index = ut_rec_high(r, 0),
					  .key = ut_spool_string(t, ut_rec_low(r, 1)),
					  .title = ut_spool_string(t, ut_rec_high(r, 1)),
					  .unit = ut_spool_string(t, ut_rec_low(r, 2)),
					  .type = ut_rec_high(r, 2) };
}

static void define_code(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	t->code = ut_grow(t->code, t->code_count + 1, &t->code_cap, sizeof(*t->code));
	t->code[t->code_count++] = (struct ut_spool_code){ ut_rec_low(r, 0), *r };
}

bool ut_spool_tables_define(struct ut_spool_tables *t, const struct ut_spool_rec *r)
{
	switch ((int)r->type) {
	case UT_REC_STRING:
		define_string(t, r);
		return true;
	case UT_REC_DOMAIN:
		define_domain(t, r);
		return true;
	case UT_REC_PLACE:
		define_place(t, r);
		return true;
	case UT_REC_THREAD_INFO:
		define_thread(t, r);
		return true;
	case UT_REC_THREAD_NAME:
		ut_spool_thread(t, ut_rec_low(r, 0))->name = ut_spool_string(t, ut_rec_high(r, 0));
		return true;
	case UT_REC_CLOCK_PAIR:
		spool_tables_add_pair(t, r);
		return true;
	case UT_REC_COUNTER_DEF:
	case UT_REC_HISTOGRAM_DEF:
	case UT_REC_HEAP_FUNCTION:
	case UT_REC_TRACK_GROUP:
	case UT_REC_TRACK:
	case UT_REC_DEVICE:
	case UT_REC_QUEUE:
	case UT_REC_METRIC_SET:
		define_object(t, r);
		return true;
	case UT_REC_METRIC:
		define_metric(t, r);
		return true;
	case UT_REC_FRAME:
	case UT_REC_STACK:
		define_code(t, r);
		return true;
	case UT_REC_NOTE:
		keep_note(t, r);
		return true;
	case UT_REC_COUNTER_META:
		describe_counter(t, r);
		return true;
	case UT_REC_CLOCK_DOMAIN:
		define_clock(t, r);
		return true;
	case UT_REC_PROCESS_MAP:
		define_mapping(t, r);
		return true;
	default:
		return false;
	}
}

/* ---- tracks -------------------------------------------------------------------------------- */

uint32_t ut_spool_add_lane(struct ut_spool_tables *t, enum ut_track_type type, uint32_t name)
{
	uint32_t track = ut_trace_add_track(t->trace, t->process, type);

	t->trace->tracks[track].name = name;
	t->trace->tracks[track].id = track;
	t->trace->tracks[track].sort_index = (int32_t)(1000 + track);
	return track;
}

static uint32_t joined(struct ut_spool_tables *t, uint32_t a, const char *between, uint32_t b)
{
	struct ut_str x = ut_strtab_get(&t->trace->strings, a);
	struct ut_str y = ut_strtab_get(&t->trace->strings, b);
	size_t len = x.len + strlen(between) + y.len;
	char *s;

	if (!x.len)
		return b;
	s = ut_arena_alloc(&t->trace->arena, 1, len + 1);
	memcpy(s, x.ptr, x.len);
	memcpy(s + x.len, between, strlen(between));
	memcpy(s + len - y.len, y.ptr, y.len);
	return ut_strtab_intern(&t->trace->strings, s, len);
}

static const struct ut_spool_mapping *mapping_of(const struct ut_spool_tables *t, uint64_t address)
{
	for (size_t i = 0; i < t->mapping_count; i++) {
		if (address >= t->mappings[i].start && address < t->mappings[i].end)
			return &t->mappings[i];
	}
	return NULL;
}

static const char *role_of_start(struct ut_spool_tables *t, uint64_t address)
{
	const struct ut_spool_mapping *m = mapping_of(t, address);
	const char *role = NULL;
	char text[512];

	for (size_t i = 0; i < t->start_count; i++) {
		if (t->starts[i].address == address)
			return t->starts[i].role;
	}
	if (!m || t->start_count == UT_SPOOL_STARTS)
		return NULL;
	role = ut_thread_role(m->path, ut_str_of(""));
	if (!role && ut_symbol_name(m->path, address - m->start + m->offset, text, sizeof(text)))
		role = ut_thread_role(m->path, ut_str_of(text));
	t->starts[t->start_count++] = (struct ut_spool_start){ address, role };
	return role;
}

/* A thread begins with the name of who started it, which the kernel cuts to 15 bytes. */
static bool is_inherited(const struct ut_spool_tables *t, uint32_t comm)
{
	uint32_t process = t->trace->processes[t->process].name;
	struct ut_str name = ut_strtab_get(&t->trace->strings, comm);

	return comm == process || comm == t->main_comm ||
	       (name.len == 15 &&
		ut_str_has_start(ut_strtab_get(&t->trace->strings, process), name.ptr));
}

/* The program's name, else the kernel's; one that nobody has set says nothing of OpenMP's workers.
 */
static uint32_t spool_tables_name_of(struct ut_spool_tables *t,
				     const struct ut_spool_thread *thread)
{
	const char *role;

	if (thread->name || !thread->start || !is_inherited(t, thread->comm) ||
	    thread->tid == t->trace->processes[t->process].pid)
		return thread->name ? thread->name : thread->comm;
	role = role_of_start(t, thread->start);
	if (!role || strcmp(role, UT_ROLE_OPENMP) != 0)
		return thread->comm;
	return joined(t, thread->comm, ": ", ut_strtab_intern_z(&t->trace->strings, role));
}

uint32_t ut_spool_thread_track(struct ut_spool_tables *t, uint32_t number)
{
	struct ut_spool_thread *thread = ut_spool_thread(t, number);
	struct ut_track *track;

	if (!thread->track) {
		thread->track = 1 + ut_trace_add_track(t->trace, t->process, UT_TRACK_THREAD);
		track = &t->trace->tracks[thread->track - 1];
		track->id = thread->tid;
		track->name = spool_tables_name_of(t, thread);
		track->sort_index = (int32_t)number;
		if (thread->tid == t->trace->processes[t->process].pid)
			track->sort_index = 0; /* the main thread on top */
	}
	return thread->track - 1;
}

uint32_t ut_spool_track_name(struct ut_spool_tables *t, uint32_t number)
{
	struct ut_spool_object o = *ut_spool_object(t, number); /* a copy: the table may move */

	if (!number || o.type != UT_REC_TRACK)
		return 0;
	return joined(t, ut_spool_object(t, o.kind)->name, ": ", o.name);
}

uint32_t ut_spool_counter_track(struct ut_spool_tables *t, struct ut_spool_object *o)
{
	uint32_t name = o->name;

	if (!o->track) {
		if (o->type == UT_REC_HEAP_FUNCTION)
			name = joined(t, ut_strtab_intern_z(&t->trace->strings, "heap"), ": ",
				      name);
		o->track = 1 +
			   ut_spool_add_lane(t, UT_TRACK_COUNTER, joined(t, o->domain, ": ", name));
	}
	return o->track - 1;
}

/* ---- times and addresses ------------------------------------------------------------------- */

uint64_t ut_spool_clock_ns(struct ut_spool_tables *t, uint32_t number, uint64_t time)
{
	const struct ut_spool_object *o = ut_spool_object(t, number);
	uint64_t base;
	double ns;

	if (!number || o->type != UT_REC_CLOCK_DOMAIN || !o->freq)
		return ut_spool_ns(t, time);
	base = ut_spool_ns(t, o->ticks);
	ns = (double)(int64_t)(time - o->base) * 1e9 / (double)o->freq;
	if (ns < 0)
		return -ns >= (double)base ? 0 : base - (uint64_t)-ns;
	return ns > 9e18 ? UINT64_MAX >> 1 : base + (uint64_t)ns;
}

uint32_t ut_spool_function(struct ut_spool_tables *t, uint64_t address)
{
	char text[512];

	for (size_t i = 0; i < t->mapping_count; i++) {
		const struct ut_spool_mapping *m = &t->mappings[i];

		if (address >= m->start && address < m->end &&
		    ut_symbol_name(m->path, address - m->start + m->offset, text, sizeof(text)))
			return ut_strtab_intern_z(&t->trace->strings, text);
	}
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return ut_strtab_intern_z(&t->trace->strings, text);
}
