#include "model/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/mapped.h"
#include "model/idmap.h"
#include "model/pages.h"
#include "model/pyramid.h"
#include "model/sink.h"

/* Blocks that lie in a file are not ours; the others begin with their ts column. */
static void release_rows(struct ut_store *s)
{
	for (size_t i = 0; s->rows && i < s->trace.track_count; i++) {
		size_t blocks = s->rows[i].blocks ? ut_rows_blocks(&s->rows[i]) : 0;

		for (size_t n = 0; !s->map && n < blocks; n++)
			ut_pages_free((void *)(uintptr_t)s->rows[i].blocks[n].ts);
		free(s->rows[i].blocks);
	}
	free(s->rows);
}

void ut_store_release(struct ut_store *s)
{
	ut_pyramid_free(s->pyramid);
	release_rows(s);
	ut_types_release(&s->types);
	ut_arglists_release(&s->args);
	ut_trace_release(&s->trace);
	if (s->map) {
		ut_mapped_remove(s->map);
		munmap(s->map, s->map_size);
	}
	*s = (struct ut_store){ 0 };
}

void ut_store_move(struct ut_store *to, struct ut_store *from)
{
	*to = *from;
	to->trace.strings.arena = &to->trace.arena;
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

static void send_block(struct ut_store *s, uint32_t track, const struct ut_block *b, int64_t shift,
		       struct ut_sink *sink)
{
	size_t mark = s->trace.arg_count;

	for (uint32_t i = 0; i < b->count; i++) {
		struct ut_event e = ut_block_event(s, track, b, i);

		e.ts += (uint64_t)shift;
		if (e.args)
			e.args = spread_args(s, e.args);
		ut_sink_event(sink, &s->trace, &e);
		if (e.args)
			ut_trace_drop_args(&s->trace, mark);
	}
}

void ut_store_send(struct ut_store *s, int64_t shift, struct ut_sink *sink)
{
	for (uint32_t track = 0; track < s->trace.track_count; track++) {
		const struct ut_rows *rows = &s->rows[track];

		for (size_t i = 0; i < ut_rows_blocks(rows); i++)
			send_block(s, track, &rows->blocks[i], shift, sink);
	}
}

/*
 * Chrome's nested async events share the number: an end closes the latest begin. While one is open
 * its end is UINT64_MAX minus the row + 1 of the begin around it.
 */
void ut_store_async_ends(const struct ut_store *s, uint32_t track, uint64_t *ends)
{
	const struct ut_rows *rows = &s->rows[track];
	struct ut_arena arena = { 0 };
	struct ut_idmap open; /* number of the instance -> row + 1 of its latest begin */
	uint64_t row = 0, outer;

	ut_idmap_init(&open, &arena);
	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++, row++) {
			uint8_t kind = ut_store_type(s, b->type[i])->kind;
			uint32_t begun;

			ends[row] = 0;
			if (kind == UT_KIND_ASYNC_BEGIN) {
				ends[row] = UINT64_MAX - ut_idmap_get(&open, b->val[i]);
				ut_idmap_put(&open, b->val[i], (uint32_t)row + 1);
			} else if (kind == UT_KIND_ASYNC_END &&
				   (begun = ut_idmap_take(&open, b->val[i]))) {
				outer = UINT64_MAX - ends[begun - 1];
				ends[begun - 1] = b->ts[i];
				if (outer)
					ut_idmap_put(&open, b->val[i], (uint32_t)outer);
			}
		}
	}
	for (row = 0; row < rows->count; row++) {
		if (ends[row] >= UINT64_MAX - UINT32_MAX)
			ends[row] = UINT64_MAX;
	}
	ut_arena_release(&arena);
}
