#include "model/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mapped.h"
#include "model/arrows.h"
#include "model/device_records.h"
#include "model/growing.h"
#include "model/pages.h"
#include "model/pyramid.h"
#include "model/sink.h"

/* Blocks that lie in a file are not ours; the others begin with their ts column. */
static void release_rows(struct ut_store *s)
{
	for (size_t i = 0; s->rows && i < s->trace.track_count; i++) {
		size_t blocks = s->rows[i].blocks ? ut_rows_blocks(&s->rows[i]) : 0;

		for (size_t n = 0; !s->map && !s->loan && n < blocks; n++)
			ut_pages_free((void *)(uintptr_t)s->rows[i].blocks[n].ts);
		free(s->rows[i].blocks);
	}
	free(s->rows);
}

void ut_store_release(struct ut_store *s)
{
	ut_pyramid_free(s->pyramid);
	ut_device_records_free(s->devices);
	ut_device_records_free(s->saved_devices);
	release_rows(s);
	ut_types_release(&s->types);
	ut_arglists_release(&s->args);
	ut_trace_release(&s->trace);
	if (s->map) {
		ut_mapped_remove(s->map);
		munmap(s->map, s->map_size);
	}
	ut_growing_return(s->loan);
	*s = (struct ut_store){ 0 };
}

void ut_store_move(struct ut_store *to, struct ut_store *from)
{
	*to = *from;
	ut_strtab_set_arena(&to->trace.strings, &to->trace.arena);
	*from = (struct ut_store){ 0 };
}

/* The list in the trace's own array, where sinks look for it. */
static uint32_t spread_args(struct ut_store *s, uint32_t list)
{
	struct ut_trace *t = &s->trace;
	size_t mark = t->arg_count, count = ut_arglists_get(&s->args, list, NULL, 0);

	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++)
		ut_trace_add_arg(t, 0, UT_ARG_END);
	ut_arglists_get(&s->args, list, t->args + mark, count);
	ut_trace_close_args(t);
	return (uint32_t)mark;
}

static void send_block(struct ut_store *s, uint32_t track, size_t n, int64_t shift,
		       struct ut_sink *sink)
{
	const struct ut_block *b = &s->rows[track].blocks[n];
	size_t mark = s->trace.arg_count;

	for (uint32_t i = 0; i < b->count; i++) {
		struct ut_event e = ut_block_event(s, track, b, i);

		e.ts += (uint64_t)shift;
		e.row = (uint32_t)(n * UT_BLOCK_ROWS + i);
		if (e.args)
			e.args = spread_args(s, e.args);
		ut_sink_event(sink, &s->trace, &e);
		if (e.args)
			ut_trace_drop_args(&s->trace, mark);
	}
}

void ut_store_send(struct ut_store *s, int64_t shift, struct ut_sink *sink)
{
	struct ut_arrows arrows = { 0 };

	if (sink->wants_arrows) {
		ut_arrows_make(&arrows, s, NULL);
		ut_arrows_attach(&arrows);
		s->trace.arrows = &arrows;
	}
	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		const struct ut_rows *rows = &s->rows[track];

		for (size_t i = 0; i < ut_rows_blocks(rows); i++)
			send_block(s, track, i, shift, sink);
	}
	s->trace.arrows = NULL;
	ut_arrows_release(&arrows);
}

void ut_store_span(struct ut_store *s)
{
	bool any = s->trace.last != 0;

	for (size_t i = 0; i < s->trace.track_count; i++) {
		const struct ut_rows *r = &s->rows[i];

		if (!r->count)
			continue;
		if (!any || r->first < s->trace.first)
			s->trace.first = r->first;
		if (!any || r->last > s->trace.last)
			s->trace.last = r->last;
		any = true;
	}
}

uint64_t ut_rows_find(const struct ut_rows *r, uint64_t ts)
{
	uint64_t low = 0, high = r->count;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (r->blocks[mid / UT_BLOCK_ROWS].ts[mid % UT_BLOCK_ROWS] < ts)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
