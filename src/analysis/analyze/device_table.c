#include "analyze/device_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "model/shape.h"

/* ---- names --------------------------------------------------------------------------------- */

void ut_device_shaped_name(struct ut_buf *to, const struct ut_device_log *log,
			   const struct ut_device_work *w)
{
	const struct ut_device_kernel *k = ut_device_log_kernel(log, w);
	unsigned int lanes = ut_device_api_traits(log, log->devices[w->device].api)->lanes;
	struct ut_device_launch launch = log->launches.items[w->launch];

	launch.lanes = k ? k->simd : 0; /* whichever of its launches told */
	ut_shape_name(to, ut_strtab_get(&log->strings, w->name), &launch, lanes);
	if (!launch.grid[0] && w->bytes)
		ut_buf_fmt(to, "[%" PRIu64 "]", w->bytes);
}

uint64_t ut_device_submitted(const struct ut_device_work *w)
{
	return w->submitted ? w->submitted : w->start;
}

uint64_t ut_device_appended(const struct ut_device_work *w)
{
	return w->queued ? w->queued : ut_device_submitted(w);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static struct ut_device_row *new_row(struct ut_device_section *s)
{
	s->rows = ut_grow(s->rows, s->count + 1, &s->cap, sizeof(*s->rows));
	s->rows[s->count].min = UINT64_MAX;
	return &s->rows[s->count++];
}

static int device_table_by_total(const void *a, const void *b)
{
	const struct ut_device_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void device_table_finish(struct ut_device_table *t)
{
	for (size_t i = 0; i < t->section_count; i++) {
		struct ut_device_section *s = &t->sections[i];

		for (size_t r = 0; r < s->count; r++) {
			s->total += s->rows[r].total;
			s->append += s->rows[r].append;
			s->submit += s->rows[r].submit;
		}
		if (s->count)
			qsort(s->rows, s->count, sizeof(*s->rows), device_table_by_total);
	}
}

static void device_table_start(struct ut_device_table *t, const struct ut_device_log *log,
			       uint32_t source)
{
	size_t first = source == UT_DEVICE_ALL ? 0 : source;
	size_t end = source == UT_DEVICE_ALL ? log->source_count : first + 1;

	*t = (struct ut_device_table){ .section_count = log->api_count };
	t->sections = UT_NEW_N(&t->arena, struct ut_device_section, log->api_count);
	for (size_t i = first; i < end; i++) {
		const struct ut_device_source *s = &log->sources[i];

		if (s->last > s->first)
			t->execution += s->last - s->first;
	}
}

/* ---- calls --------------------------------------------------------------------------------- */

/* The row of a name in a section: of several sources, or the first. */
static struct ut_device_row *device_table_row_of(struct ut_idmap *known,
						 struct ut_device_section *s, uint64_t key)
{
	uint32_t at = ut_idmap_get(known, key);

	if (at)
		return &s->rows[at - 1];
	ut_idmap_put(known, key, (uint32_t)s->count + 1);
	return new_row(s);
}

void ut_device_table_calls(struct ut_device_table *t, const struct ut_device_log *log,
			   uint32_t source)
{
	const struct ut_device_range range = ut_device_log_calls(log, source);
	struct ut_idmap known;

	device_table_start(t, log, source);
	ut_idmap_init(&known, &t->arena);
	for (size_t i = range.first; i < range.end; i++) {
		const struct ut_device_calls *c = &log->calls[i];
		struct ut_device_row *r = device_table_row_of(&known, &t->sections[c->api],
							      (uint64_t)c->api << 32 | c->name);

		r->name = ut_strtab_get(&log->strings, c->name).ptr;
		r->calls += c->calls;
		r->total += c->total;
		r->min = c->min < r->min ? c->min : r->min;
		r->max = c->max > r->max ? c->max : r->max;
	}
	device_table_finish(t);
}

/* ---- work ---------------------------------------------------------------------------------- */

/* Names with their shapes, each once. */
struct shapes {
	struct ut_strtab names;
	struct ut_buf text;
};

static uint32_t shaped(struct shapes *s, const struct ut_device_log *log,
		       const struct ut_device_work *w)
{
	s->text.len = 0;
	ut_device_shaped_name(&s->text, log, w);
	return ut_strtab_intern(&s->names, s->text.data, s->text.len);
}

static void device_table_add_work(struct ut_device_row *r, const struct ut_device_work *w)
{
	uint64_t length = w->end - w->start;

	r->calls++;
	r->total += length;
	r->min = length < r->min ? length : r->min;
	r->max = length > r->max ? length : r->max;
	if (ut_device_submitted(w) > ut_device_appended(w))
		r->append += ut_device_submitted(w) - ut_device_appended(w);
	r->submit += w->start - ut_device_submitted(w);
}

void ut_device_table_work(struct ut_device_table *t, const struct ut_device_log *log,
			  uint32_t source, bool with_shapes)
{
	const struct ut_device_range range = ut_device_log_works(log, source);
	struct shapes shapes = { 0 };
	struct ut_idmap known;

	device_table_start(t, log, source);
	ut_idmap_init(&known, &t->arena);
	ut_strtab_init(&shapes.names, &t->arena);
	for (size_t i = range.first; i < range.end; i++) {
		const struct ut_device_work *w = &log->works[i];
		uint16_t api = log->devices[w->device].api;
		uint32_t name = with_shapes ? shaped(&shapes, log, w) : w->name;
		struct ut_device_row *r =
			device_table_row_of(&known, &t->sections[api], (uint64_t)api << 32 | name);

		if (!r->name) {
			r->name = ut_strtab_get(with_shapes ? &shapes.names : &log->strings, name)
					  .ptr;
			r->kernel = ut_device_log_kernel(log, w);
		}
		device_table_add_work(r, w);
	}
	ut_buf_release(&shapes.text);
	device_table_finish(t);
}

void ut_device_table_release(struct ut_device_table *t)
{
	for (size_t i = 0; i < t->section_count; i++)
		free(t->sections[i].rows);
	ut_arena_release(&t->arena);
	*t = (struct ut_device_table){ 0 };
}
