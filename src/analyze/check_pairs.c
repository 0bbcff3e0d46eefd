/*
 * check_pairs.c - events that need a partner: async spans on their track, flows anywhere.
 */
#include "analyze/check.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/idmap.h"
#include "model/store.h"

/* One end of a pair: where to look for it. */
struct end {
	uint64_t ts;
	uint32_t track, name;
	bool there;
};

struct flow {
	struct end out, in; /* the earliest of each */
};

struct pairs {
	struct ut_check *check;
	struct ut_arena arena;      /* of the track */
	struct ut_arena flow_arena; /* of the store */
	struct ut_idmap open;       /* async number -> index into begun, plus one */
	struct end *begun;
	size_t begun_count, begun_cap;
	struct ut_idmap numbers; /* flow number -> index into flows, plus one */
	struct flow *flows;
	size_t flow_count, flow_cap;
};

static void note(struct ut_check *c, enum ut_check_id id, const struct end *e)
{
	ut_check_note(c, id, e->track, e->ts, e->name);
}

/* A number that begins again while it is open has lost its first end. */
static void begin_async(struct pairs *p, const struct ut_event *e)
{
	uint32_t i = ut_idmap_get(&p->open, e->val);

	if (i) {
		note(p->check, UT_CHECK_ID_ASYNC_NO_END, &p->begun[i - 1]);
	} else {
		p->begun = ut_grow(p->begun, p->begun_count + 1, &p->begun_cap, sizeof(*p->begun));
		i = (uint32_t)++p->begun_count;
		ut_idmap_put(&p->open, e->val, i);
	}
	p->begun[i - 1] = (struct end){ e->ts, e->track, e->name, true };
}

static void end_async(struct pairs *p, const struct ut_event *e)
{
	uint32_t i = ut_idmap_take(&p->open, e->val);

	if (i)
		p->begun[i - 1].there = false;
	else
		ut_check_note(p->check, UT_CHECK_ID_ASYNC_NO_BEGIN, e->track, e->ts, e->name);
}

static void add_flow(struct pairs *p, const struct ut_event *e)
{
	uint32_t i = ut_idmap_get(&p->numbers, e->val);
	struct end *end;

	if (!i) {
		p->flows = ut_grow(p->flows, p->flow_count + 1, &p->flow_cap, sizeof(*p->flows));
		i = (uint32_t)++p->flow_count;
		ut_idmap_put(&p->numbers, e->val, i);
	}
	end = e->kind == UT_KIND_FLOW_OUT ? &p->flows[i - 1].out : &p->flows[i - 1].in;
	if (!end->there || e->ts < end->ts)
		*end = (struct end){ e->ts, e->track, e->name, true };
}

static void check_row(struct pairs *p, const struct ut_event *e)
{
	if (e->kind == UT_KIND_ASYNC_BEGIN)
		begin_async(p, e);
	else if (e->kind == UT_KIND_ASYNC_END)
		end_async(p, e);
	else if (e->kind == UT_KIND_FLOW_OUT || e->kind == UT_KIND_FLOW_IN)
		add_flow(p, e);
}

static void check_track(struct pairs *p, uint32_t track)
{
	const struct ut_store *s = p->check->store;
	const struct ut_rows *rows = &s->rows[track];

	ut_idmap_init(&p->open, &p->arena);
	p->begun_count = 0;
	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		for (uint32_t i = 0; i < rows->blocks[n].count; i++) {
			struct ut_event e = ut_block_event(s, track, &rows->blocks[n], i);

			check_row(p, &e);
		}
	}
	for (size_t i = 0; i < p->begun_count; i++) {
		if (p->begun[i].there)
			note(p->check, UT_CHECK_ID_ASYNC_NO_END, &p->begun[i]);
	}
	ut_arena_release(&p->arena);
}

static void check_flows(struct pairs *p)
{
	for (size_t i = 0; i < p->flow_count; i++) {
		const struct flow *f = &p->flows[i];

		if (!f->out.there)
			note(p->check, UT_CHECK_ID_FLOW_NO_START, &f->in);
		else if (!f->in.there)
			note(p->check, UT_CHECK_ID_FLOW_NO_END, &f->out);
		else if (f->in.ts < f->out.ts)
			note(p->check, UT_CHECK_ID_FLOW_BACKWARDS, &f->in);
	}
}

static bool has_pairs(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		uint8_t kind = s->types.items[i].kind;

		if (kind >= UT_KIND_ASYNC_BEGIN && kind <= UT_KIND_FLOW_IN)
			return true;
	}
	return false;
}

void ut_check_pairs(struct ut_check *c)
{
	struct pairs p = { .check = c };

	if (!has_pairs(c->store))
		return;
	ut_idmap_init(&p.numbers, &p.flow_arena);
	for (uint32_t i = 0; i < c->store->trace.track_count; i++)
		check_track(&p, i);
	check_flows(&p);
	free(p.begun);
	free(p.flows);
	ut_arena_release(&p.flow_arena);
}
