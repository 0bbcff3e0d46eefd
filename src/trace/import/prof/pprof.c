/*
 * pprof.c - profiles of pprof's: protobuf, mostly packed with gzip. They hold sums, not moments:
 * the samples of a thread follow each other by their weight. docs/formats/profiles.md.
 */
#include "import/importer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/path.h"
#include "import/perfetto/protobuf.h"
#include "import/prof/sample_build.h"
#include "text/file_text.h"
#include "text/source.h"

#define MOST_BYTES   ((size_t)1 << 31)
#define MOST_TYPES   16u
#define MOST_DEPTH   4096u
#define MOST_SAMPLES 2000000u /* that sums are taken apart to */

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
};

struct mapping {
	uint64_t start, offset;
	uint32_t file; /* string id */
	const char *path;
	struct ut_binary *binary;
	bool opened;
};

struct function {
	uint32_t name, file; /* string ids */
};

/* What a location is: frames, the innermost first. */
struct location {
	const unsigned char *at, *end; /* the message */
};

struct type {
	struct ut_str name, unit;
	uint32_t event;
	uint64_t factor; /* to ns */
	bool wanted;
};

struct reader {
	struct ut_sample_build b;
	struct ut_pb whole;
	struct ut_str *strings;
	size_t string_count, string_cap;
	struct function *functions;
	size_t function_count, function_cap;
	struct location *locations;
	size_t location_count, location_cap;
	struct mapping *mappings;
	size_t mapping_count, mapping_cap;
	struct ut_idmap function_at, location_at, mapping_at; /* id -> index + 1 */
	struct type types[MOST_TYPES];
	size_t type_count;
	size_t counted; /* index + 1 of the type that counts samples; 0 = none */
	uint64_t total; /* samples, if they are counted */
	uint64_t *now;  /* by track: ns so far */
	size_t now_cap;
};

static bool is_message(const struct ut_pb_field *f)
{
	return f->wire == UT_PB_BYTES;
}

static struct ut_str prof_pprof_text(const struct reader *r, uint64_t index)
{
	return index < r->string_count ? r->strings[index] : (struct ut_str){ "", 0 };
}

static uint32_t prof_pprof_string(struct reader *r, uint64_t index)
{
	return ut_sample_build_text(&r->b, prof_pprof_text(r, index));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void read_strings(struct reader *r)
{
	struct ut_pb m = r->whole;
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number != PROFILE_STRING || !is_message(&f))
			continue;
		r->strings = ut_grow_raw(r->strings, r->string_count + 1, &r->string_cap,
					 sizeof(*r->strings));
		r->strings[r->string_count++] =
			(struct ut_str){ (const char *)f.data, (size_t)f.value };
	}
}

static void read_type(struct reader *r, struct ut_pb m)
{
	struct type *t = &r->types[r->type_count];
	struct ut_pb_field f;

	if (r->type_count == MOST_TYPES)
		return;
	*t = (struct type){ .factor = 1 };
	while (ut_pb_next(&m, &f)) {
		if (f.number == 1)
			t->name = prof_pprof_text(r, f.value);
		else if (f.number == 2)
			t->unit = prof_pprof_text(r, f.value);
	}
	r->type_count++;
}

static void read_function(struct reader *r, struct ut_pb m)
{
	struct function fn = { 0 };
	struct ut_pb_field f;
	uint64_t id = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == 1)
			id = f.value;
		else if (f.number == 2 || (f.number == 3 && !fn.name))
			fn.name = ut_code_name(&r->b.names, prof_pprof_text(r, f.value).ptr,
					       prof_pprof_text(r, f.value).len);
		else if (f.number == 4)
			fn.file = prof_pprof_string(r, f.value);
	}
	r->functions = ut_grow_raw(r->functions, r->function_count + 1, &r->function_cap,
				   sizeof(*r->functions));
	r->functions[r->function_count++] = fn;
	ut_idmap_put(&r->function_at, id, (uint32_t)r->function_count);
}

static void read_mapping(struct reader *r, struct ut_pb m)
{
	struct mapping map = { 0 };
	struct ut_pb_field f;
	uint64_t id = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == 1)
			id = f.value;
		else if (f.number == 2)
			map.start = f.value;
		else if (f.number == 4)
			map.offset = f.value;
		else if (f.number == 5)
			map.file = prof_pprof_string(r, f.value);
	}
	r->mappings = ut_grow_raw(r->mappings, r->mapping_count + 1, &r->mapping_cap,
				  sizeof(*r->mappings));
	r->mappings[r->mapping_count++] = map;
	ut_idmap_put(&r->mapping_at, id, (uint32_t)r->mapping_count);
}

static void read_location(struct reader *r, struct ut_pb m)
{
	struct ut_pb copy = m;
	struct ut_pb_field f;
	uint64_t id = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == 1)
			id = f.value;
	}
	r->locations = ut_grow_raw(r->locations, r->location_count + 1, &r->location_cap,
				   sizeof(*r->locations));
	r->locations[r->location_count++] = (struct location){ copy.at, copy.end };
	ut_idmap_put(&r->location_at, id, (uint32_t)r->location_count);
}

static void read_tables(struct reader *r)
{
	struct ut_pb m = r->whole;
	struct ut_pb_field f;

	read_strings(r);
	while (ut_pb_next(&m, &f)) {
		if (!is_message(&f))
			continue;
		if (f.number == PROFILE_SAMPLE_TYPE)
			read_type(r, ut_pb_inside(&f));
		else if (f.number == PROFILE_FUNCTION)
			read_function(r, ut_pb_inside(&f));
		else if (f.number == PROFILE_MAPPING)
			read_mapping(r, ut_pb_inside(&f));
		else if (f.number == PROFILE_LOCATION)
			read_location(r, ut_pb_inside(&f));
	}
}

/* ---- types ----------------------------------------------------------------------------------- */

static uint64_t time_factor(struct ut_str unit)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = { { "nanoseconds", 1 },        { "ns", 1 },
		      { "microseconds", 1000 },    { "us", 1000 },
		      { "milliseconds", 1000000 }, { "ms", 1000000 },
		      { "seconds", 1000000000 },   { "s", 1000000000 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (ut_str_is(unit, units[i].word))
			return units[i].ns;
	}
	return 0;
}

/* The event's name tells its unit: see ut_sample_unit(). */
static void name_type(struct reader *r, struct type *t)
{
	uint64_t factor = time_factor(t->unit);
	const char *known = ut_sample_unit(t->name);
	const char *unit = factor ? "ns" : ut_str_is(t->unit, "bytes") ? "bytes" : "";
	struct ut_buf b = { 0 };

	t->factor = factor ? factor : 1;
	ut_buf_add(&b, t->name.ptr, t->name.len);
	if (!b.len)
		ut_buf_text(&b, factor ? "time" : "samples");
	else if (strcmp(known, unit) != 0)
		ut_buf_text(&b, factor ? " time" : unit[0] ? " bytes" : UT_SAMPLE_EVENTS);
	t->event = ut_sample_build_text(&r->b, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

/* How many samples there were is no event of its own if there is another. */
static void finalize_types(struct reader *r)
{
	for (size_t i = 0; i < r->type_count; i++) {
		struct type *t = &r->types[i];

		name_type(r, t);
		t->wanted = true;
		if (r->type_count > 1 && ut_str_is(t->unit, "count") &&
		    ut_str_is(t->name, "samples")) {
			t->wanted = false;
			r->counted = i + 1;
		}
	}
}

/* ---- stacks ---------------------------------------------------------------------------------- */

struct place_frames {
	struct ut_place_in_code items[UT_BINARY_FRAMES];
	size_t count;
};

static void prof_pprof_read_line(struct reader *r, struct ut_pb m, struct place_frames *to,
				 uint64_t address, uint32_t module)
{
	struct ut_place_in_code place = { .address = address, .module = module };
	struct ut_pb_field f;
	uint32_t at;

	while (ut_pb_next(&m, &f)) {
		if (f.number == 1 && (at = ut_idmap_get(&r->function_at, f.value))) {
			place.function = r->functions[at - 1].name;
			place.file = r->functions[at - 1].file;
		} else if (f.number == 2 && f.value < UINT32_MAX) {
			place.line = (uint32_t)f.value;
		}
	}
	if (to->count < UT_BINARY_FRAMES)
		to->items[to->count++] = place;
}

/* A profile without names: the files may tell, if they are here. */
static void find_names(struct reader *r, struct mapping *m, uint64_t address,
		       struct place_frames *to)
{
	const char *path = m ? ut_strtab_get(&r->b.build.store.trace.strings, m->file).ptr : "";

	if (m && !m->opened) {
		m->opened = true;
		m->binary = ut_binary_open(path, NULL);
	}
	to->count = ut_code_names_find(&r->b.names, m ? m->binary : NULL, path, m ? m->file : 0,
				       address, to->items);
}

static void prof_pprof_read_place(struct reader *r, const struct location *l,
				  struct place_frames *to)
{
	struct ut_pb m = { l->at, l->end, false };
	struct mapping *map = NULL;
	struct ut_pb_field f;
	uint64_t address = 0;
	uint32_t at;

	to->count = 0;
	while (ut_pb_next(&m, &f)) {
		if (f.number == 2 && (at = ut_idmap_get(&r->mapping_at, f.value)))
			map = &r->mappings[at - 1];
		else if (f.number == 3)
			address = f.value;
	}
	if (map && address >= map->start)
		address = address - map->start + map->offset;
	m = (struct ut_pb){ l->at, l->end, false };
	while (ut_pb_next(&m, &f)) {
		if (f.number == 4 && is_message(&f))
			prof_pprof_read_line(r, ut_pb_inside(&f), to, address, map ? map->file : 0);
	}
	if (!to->count)
		find_names(r, map, address, to);
}

static uint32_t add_location(struct reader *r, uint32_t stack, uint64_t id)
{
	uint32_t at = ut_idmap_get(&r->location_at, id);
	struct place_frames frames;

	if (!at) {
		r->b.build.store.trace.losses.unread++;
		return stack;
	}
	prof_pprof_read_place(r, &r->locations[at - 1], &frames);
	for (size_t i = frames.count; i; i--)
		stack = ut_sample_build_frame(&r->b, stack, &frames.items[i - 1]);
	return stack;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct sample {
	uint64_t locations[MOST_DEPTH];
	size_t depth;
	uint64_t values[MOST_TYPES];
	size_t value_count;
	uint64_t pid, tid;
	uint32_t thread, process, task; /* string ids */
};

/* Numbers, packed or one by one. */
static void take_numbers(const struct ut_pb_field *f, uint64_t *to, size_t *count, size_t most)
{
	struct ut_pb m = ut_pb_inside(f);
	uint64_t value;

	if (f->wire == UT_PB_VARINT && *count < most)
		to[(*count)++] = f->value;
	while (m.at < m.end && *count < most && ut_pb_varint(&m.at, m.end, &value))
		to[(*count)++] = value;
}

static void read_label(struct reader *r, struct ut_pb m, struct sample *s)
{
	struct ut_str key = { "", 0 };
	struct ut_pb_field f;
	uint32_t str = 0;
	uint64_t num = 0;

	while (ut_pb_next(&m, &f)) {
		if (f.number == 1)
			key = prof_pprof_text(r, f.value);
		else if (f.number == 2)
			str = prof_pprof_string(r, f.value);
		else if (f.number == 3)
			num = f.value;
	}
	if (ut_str_is(key, "thread") || ut_str_is(key, "thread_name"))
		s->thread = str;
	else if (ut_str_is(key, "process"))
		s->process = str;
	else if (ut_str_is(key, "task"))
		s->task = str;
	else if (ut_str_is(key, "pid"))
		s->pid = num & UINT32_MAX;
	else if (ut_str_is(key, "thread_id") || ut_str_is(key, "tid"))
		s->tid = num & UINT32_MAX;
}

static void prof_pprof_read_sample(struct reader *r, struct ut_pb m, struct sample *s)
{
	struct ut_pb_field f;

	s->depth = s->value_count = 0;
	s->pid = s->tid = s->thread = s->process = s->task = 0;
	while (ut_pb_next(&m, &f)) {
		if (f.number == 1)
			take_numbers(&f, s->locations, &s->depth, MOST_DEPTH);
		else if (f.number == 2)
			take_numbers(&f, s->values, &s->value_count, MOST_TYPES);
		else if (f.number == 3 && is_message(&f))
			read_label(r, ut_pb_inside(&f), s);
	}
}

/* A sum of so many samples becomes as many, each with its share. */
static void prof_pprof_add_value(struct reader *r, struct ut_sample_added *a, uint64_t value,
				 uint64_t count)
{
	uint64_t *now;

	r->now = ut_grow(r->now, a->track + 1, &r->now_cap, sizeof(*r->now));
	now = &r->now[a->track];
	if (!count || count > value || r->total > MOST_SAMPLES / r->type_count)
		count = 1;
	for (uint64_t i = 0; i < count; i++) {
		a->weight = value / count + (i < value % count);
		*now += a->weight < UINT64_MAX / 4 - *now ? a->weight : 0;
		a->ts = *now;
		ut_sample_build_add(&r->b, a);
	}
}

static uint64_t count_of(const struct reader *r, const struct sample *s)
{
	return r->counted && r->counted <= s->value_count ? s->values[r->counted - 1] : 1;
}

static void prof_pprof_add_sample(struct reader *r, const struct sample *s)
{
	struct ut_trace *t = &r->b.build.store.trace;
	uint64_t pid = s->pid ? s->pid : 1, tid = s->tid ? s->tid : pid;
	struct ut_sample_added a = { .track = ut_sample_build_thread(&r->b, pid, tid),
				     .task = s->task };

	if (s->thread)
		t->tracks[a.track].name = s->thread;
	if (s->process)
		t->processes[t->tracks[a.track].process].name = s->process;
	for (size_t i = s->depth; i; i--)
		a.stack = add_location(r, a.stack, s->locations[i - 1]);
	for (size_t i = 0; i < r->type_count && i < s->value_count; i++) {
		const struct type *type = &r->types[i];
		uint64_t value = s->values[i];

		if (!type->wanted || !value || value > UINT64_MAX / 2 / type->factor)
			continue; /* negative: a difference of two profiles */
		a.event = type->event;
		prof_pprof_add_value(r, &a, value * type->factor, count_of(r, s));
	}
}

static void each_sample(struct reader *r, void (*each)(struct reader *r, const struct sample *s))
{
	struct sample *s = ut_make(sizeof(*s));
	struct ut_pb m = r->whole;
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number != PROFILE_SAMPLE || !is_message(&f))
			continue;
		prof_pprof_read_sample(r, ut_pb_inside(&f), s);
		each(r, s);
	}
	if (m.bad)
		r->b.build.store.trace.losses.unread++;
	free(s);
}

static void count_sample(struct reader *r, const struct sample *s)
{
	uint64_t count = count_of(r, s);

	r->total = count < MOST_SAMPLES ? r->total + count : r->total + MOST_SAMPLES + 1;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A type of samples: two small numbers. Perfetto's packets begin alike, and have none there. */
static bool probe_pprof(const char *head, size_t len)
{
	struct ut_pb m = { (const unsigned char *)head, (const unsigned char *)head + len, false };
	struct ut_pb_field f, inner;
	struct ut_pb in;

	if (!len || head[0] != 0x0a || !ut_pb_next(&m, &f) || !is_message(&f) || f.value < 2 ||
	    f.value > 12)
		return false;
	in = ut_pb_inside(&f);
	while (ut_pb_next(&in, &inner)) {
		if (inner.wire != UT_PB_VARINT || (inner.number != 1 && inner.number != 2))
			return false;
	}
	return !in.bad;
}

static void prof_pprof_release(struct reader *r)
{
	free(r->strings);
	free(r->functions);
	free(r->locations);
	free(r->mappings);
	free(r->now);
	ut_idmap_release(&r->function_at);
	ut_idmap_release(&r->location_at);
	ut_idmap_release(&r->mapping_at);
}

static int load_pprof(struct ut_source *source, const struct ut_import_opts *opts,
		      struct ut_store *store, struct ut_err *err)
{
	struct reader r = { .type_count = 0 };
	struct ut_buf bytes = { 0 };
	int rc = ut_file_rest(source, MOST_BYTES, &bytes, err);
	const unsigned char *start;

	if (rc) {
		ut_buf_release(&bytes);
		return rc;
	}
	start = (const unsigned char *)(bytes.data ? bytes.data : ""); /* of an empty file */
	r.whole = (struct ut_pb){ start, start + bytes.len, false };
	ut_sample_build_init(&r.b);
	read_tables(&r);
	finalize_types(&r);
	each_sample(&r, count_sample);
	each_sample(&r, prof_pprof_add_sample);
	ut_sample_build_finish(&r.b, store);
	prof_pprof_release(&r);
	ut_buf_release(&bytes);
	if (opts->progress)
		atomic_fetch_add(opts->progress, source->size);
	return 0;
}

const struct ut_importer ut_import_pprof = { "pprof", probe_pprof, load_pprof };
