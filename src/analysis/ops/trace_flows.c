#include "ops/trace_flows.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "model/store.h"

static uint64_t trace_flows_place(uint32_t track, uint64_t ts)
{
	const uint64_t both[] = { track, ts };

	return ut_hash_bytes(both, sizeof(both));
}

/* A number that is used again starts again; the first start is taken. */
static void add_start(struct ut_ops_flows *f, const struct ut_event *e)
{
	if (ut_idmap_get(&f->starts, e->val))
		return;
	f->items = ut_grow_raw(f->items, ++f->count, &f->cap, sizeof(*f->items));
	f->items[f->count - 1] = (struct ut_ops_flow_end){ e->track, e->ts };
	ut_idmap_put(&f->starts, e->val, (uint32_t)f->count);
}

static void trace_flows_add_end(struct ut_ops_flows *f, const struct ut_event *e)
{
	uint32_t start = ut_idmap_get(&f->starts, e->val);

	if (start)
		ut_idmap_put(&f->ends, trace_flows_place(e->track, e->ts), start);
}

/* Starts and ends may lie on any tracks, so all starts are read before the first end. */
static void trace_flows_read_events(struct ut_ops_flows *f, const struct ut_store *store,
				    bool starts)
{
	for (uint32_t track = 0; track < store->trace.track_count; track++) {
		const struct ut_rows *rows = &store->rows[track];

		for (size_t k = 0; k < ut_rows_blocks(rows); k++) {
			const struct ut_block *b = &rows->blocks[k];

			for (uint32_t i = 0; i < b->count; i++) {
				struct ut_event e = ut_block_event(store, track, b, i);

				if (e.kind == UT_KIND_FLOW_OUT && starts)
					add_start(f, &e);
				else if ((e.kind == UT_KIND_FLOW_IN ||
					  e.kind == UT_KIND_FLOW_STEP) &&
					 !starts)
					trace_flows_add_end(f, &e);
			}
		}
	}
}

void ut_ops_flows_make(struct ut_ops_flows *f, const struct ut_store *store)
{
	f->made = true;
	ut_idmap_init(&f->starts, &f->arena);
	ut_idmap_init(&f->ends, &f->arena);
	trace_flows_read_events(f, store, true);
	trace_flows_read_events(f, store, false);
}

void ut_ops_flows_release(struct ut_ops_flows *f)
{
	free(f->items);
	ut_arena_release(&f->arena);
}

const struct ut_ops_flow_end *ut_ops_flows_to(const struct ut_ops_flows *f, uint32_t track,
					      uint64_t ts)
{
	uint32_t n = ut_idmap_get(&f->ends, trace_flows_place(track, ts));

	return n ? &f->items[n - 1] : NULL;
}
