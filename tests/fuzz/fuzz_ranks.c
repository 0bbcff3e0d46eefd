/*
 * fuzz_ranks.c - libFuzzer target: any bytes as Chrome traces of the ranks of a job, separated by a
 * line "\n---\n", and all that is said about them: tables, collective operations, a timeline, and
 * the bytes that processes of ours send each other.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/sink.h"
#include "ranks/ranks_pack.h"
#include "ranks/ranks_table.h"
#include "ranks/ranks_timeline.h"
#include "text/out.h"
#include "trace.h"

#define MOST_FILES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct counting {
	struct ut_sink sink; /* first */
	uint64_t last[4096];
};

/* On each row spans come in order of time. */
static void take(struct ut_sink *sink, const struct ut_trace *trace, const struct ut_event *event)
{
	struct counting *c = (struct counting *)sink;

	need(event->track < trace->track_count, "an event is on a row that exists");
	if (event->kind != UT_KIND_SPAN || event->track >= 4096)
		return;
	need(event->ts >= c->last[event->track], "spans of a row are in order");
	c->last[event->track] = event->ts;
}

static void look(struct ut_ranks *r)
{
	struct ut_out *out = ut_out_open_memory();
	struct ut_rank_view v = { 0 };
	struct counting counting = { .sink.event = take };
	struct ut_trace trace;

	ut_rank_view_make(&v, r, ut_str_of(""));
	for (size_t i = 0; i < v.colls.count; i++) {
		const struct ut_rank_by_coll *c = &v.colls.rows[i];

		need(c->count > 0, "a row has operations");
		need(c->exposed <= c->spent, "no more is exposed than was spent");
	}
	ut_rank_json(out, &v);
	ut_trace_init(&trace);
	ut_ranks_timeline(r, &trace, &counting.sink);
	ut_trace_release(&trace);
	ut_rank_view_release(&v);
	ut_out_abandon(out);
}

static void add(struct ut_ranks *r, const uint8_t *data, size_t size)
{
	struct ut_store store;
	struct ut_err err = { 0 };

	if (load_trace(data, size, &store))
		return;
	need(!ut_ranks_add(r, &store, &err), "what a store has can be added");
	ut_store_release(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char line[] = "\n---\n";
	struct ut_buf packed = { 0 };
	struct ut_err err = { 0 };
	struct ut_ranks r, again;

	ut_ranks_init(&r);
	ut_ranks_init(&again);
	for (int i = 0; i < MOST_FILES && size; i++) {
		const uint8_t *end = memmem(data, size, line, sizeof(line) - 1);
		size_t len = end ? (size_t)(end - data) : size;

		add(&r, data, len);
		len += end ? sizeof(line) - 1 : 0;
		data += len;
		size -= len;
	}
	ut_ranks_pack(&r, &packed);
	need(!ut_ranks_unpack(&again, packed.data, packed.len, &err),
	     "what is packed is understood");
	need(again.count == r.count, "all ranks arrive");
	if (!ut_ranks_finalize(&again, 1, &err))
		look(&again);
	ut_buf_release(&packed);
	ut_ranks_release(&r);
	ut_ranks_release(&again);
	return 0;
}
