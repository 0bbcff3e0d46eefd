/*
 * utr_use.h - looks at everything in a store, as a curious program would: whatever a file holds,
 * this must neither crash nor read what is not there. Header only, so that the fuzz target and the
 * unit test share it.
 */
#ifndef TESTS_IMPORT_UTR_USE_H
#define TESTS_IMPORT_UTR_USE_H

#include <stdlib.h>
#include <string.h>

#include "model/device_records.h"
#include "model/nesting.h"
#include "model/pyramid.h"
#include "model/sink.h"
#include "model/store.h"

struct use_sink {
	struct ut_sink sink;
	uint64_t sum, events;
};

static inline uint64_t use_string(const struct ut_trace *t, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&t->strings, id);

	return s.len + strlen(s.ptr) + (s.len ? (unsigned char)s.ptr[s.len - 1] : 0);
}

static inline uint64_t use_args(const struct ut_trace *t, uint32_t list)
{
	uint64_t sum = 0;

	for (const struct ut_arg *a = t->args + list; a->type != UT_ARG_END; a++) {
		sum += use_string(t, a->key) + a->value.u64;
		if (a->type == UT_ARG_STR || a->type == UT_ARG_JSON)
			sum += use_string(t, a->value.str);
	}
	return sum;
}

static inline void use_event(struct ut_sink *sink, const struct ut_trace *t,
			     const struct ut_event *e)
{
	struct use_sink *u = (struct use_sink *)(void *)sink;

	if (e->kind >= UT_KIND_COUNT)
		abort();
	u->sum += e->ts + e->val + use_string(t, e->name) + use_string(t, e->cat) +
		  use_args(t, e->args) + t->processes[t->tracks[e->track].process].pid;
	u->events++;
}

static inline uint64_t use_devices(const struct ut_store *s)
{
	const struct ut_device_records *r = ut_store_devices(s);
	uint64_t sum = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rows *rows = &s->rows[r->track[i]];
		const struct ut_block *b = &rows->blocks[r->row[i] / UT_BLOCK_ROWS];
		struct ut_device_record one = ut_device_record_get(r, i);

		sum += b->ts[r->row[i] % UT_BLOCK_ROWS] + one.correlation + one.launch.grid[0] +
		       use_string(&s->trace, one.task) + use_string(&s->trace, one.launch.compiled);
	}
	return sum;
}

static inline uint64_t use_trace(const struct ut_trace *t)
{
	uint64_t sum = use_args(t, t->global_args) + use_args(t, t->file_args);

	for (uint32_t i = 0; i <= t->strings.count && i < 1000; i++)
		sum += use_string(t, i);
	for (size_t i = 0; i < t->note_count; i++)
		sum += use_string(t, t->notes[i]);
	for (size_t i = 0; i < t->process_count; i++)
		sum += use_string(t, t->processes[i].name) + use_args(t, t->processes[i].args);
	for (size_t i = 0; i < t->track_count; i++)
		sum += use_string(t, t->tracks[i].name) + use_args(t, t->tracks[i].args) +
		       t->processes[t->tracks[i].process].pid;
	return sum;
}

static inline uint64_t use_lane(const struct ut_store *s, uint32_t track, uint32_t lane)
{
	enum {
		PIXELS = 50
	};
	static struct ut_cell cells[PIXELS];
	static struct ut_value_cell values[PIXELS];
	const struct ut_rows *r = &s->rows[track];
	const struct ut_picture windows[] = {
		{ r->first, r->last, PIXELS },
		{ r->first, r->first + 100, PIXELS },
		{ 0, UINT64_MAX, PIXELS },
		{ r->last / 2, r->last / 2 + 1, 1 },
	};
	struct ut_entry e = { 0 };
	uint64_t sum = ut_lane_seek(s, track, lane, r->first + (r->last - r->first) / 2);

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		sum += ut_pyramid_window(s, track, lane, &windows[i], cells) + cells[0].busy;
		sum += ut_pyramid_values(s, track, lane, &windows[i], values) + values[0].count;
	}
	ut_lane_entry(s, track, lane, sum % 10, &e);
	return sum + e.end;
}

/* How many events there were. */
static inline uint64_t use_store(struct ut_store *s)
{
	struct use_sink u = { .sink.event = use_event };

	u.sum = use_trace(&s->trace) + use_devices(s);
	ut_store_send(s, 5, &u.sink);
	ut_pyramid_build(s, 1);
	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		uint64_t *ends = malloc((s->rows[track].count + 1) * sizeof(*ends));

		ut_nesting_until(s, track, ends);
		free(ends);
		for (uint32_t i = 0; i < ut_pyramid_lanes(s, track)->count && i < 100; i++)
			u.sum += use_lane(s, track, i);
	}
	u.sum += ut_strtab_intern_z(&s->trace.strings, "a string that is not there yet");
	__asm__ volatile("" : : "r"(u.sum));
	return u.events;
}

#endif
