/*
 * check_pairs.c - events that need a partner: async spans on their track, flows anywhere. Who
 * belongs to whom is for model/nesting.h and model/arrows.h to say.
 */
#include "analyze/check.h"

#include "model/arrows.h"
#include "model/nesting.h"
#include "model/store.h"

/* ---- async spans --------------------------------------------------------------------------- */

static void check_pairs_end_async(struct ut_check *c, struct ut_nesting *p,
				  const struct ut_event *e)
{
	uint32_t left = ut_nesting_end(p, e->val, e->name);

	if (!left)
		ut_check_note(c, UT_CHECK_ID_ASYNC_NO_BEGIN, e->track, e->ts, e->name);
	for (; left; left--) {
		struct ut_begun b = ut_nesting_take(p, e->val);

		if (left > 1)
			ut_check_note(c, UT_CHECK_ID_IMPLICIT_END, e->track, b.ts, b.name);
	}
}

static void check_track(struct ut_check *c, uint32_t track)
{
	const struct ut_rows *rows = &c->store->rows[track];
	struct ut_nesting p = { 0 };

	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		for (uint32_t i = 0; i < rows->blocks[n].count; i++) {
			struct ut_event e = ut_block_event(c->store, track, &rows->blocks[n], i);

			if (e.kind == UT_KIND_ASYNC_BEGIN)
				ut_nesting_begin(&p, e.val,
						 (struct ut_begun){ .ts = e.ts, .name = e.name });
			else if (e.kind == UT_KIND_ASYNC_END)
				check_pairs_end_async(c, &p, &e);
		}
	}
	for (const struct ut_begun *b = NULL; (b = ut_nesting_next(&p, b));)
		ut_check_note(c, UT_CHECK_ID_ASYNC_NO_END, track, b->ts, b->name);
	ut_nesting_release(&p);
}

static bool has_async(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		uint8_t kind = s->types.items[i].kind;

		if (kind == UT_KIND_ASYNC_BEGIN || kind == UT_KIND_ASYNC_END)
			return true;
	}
	return false;
}

/* ---- flows --------------------------------------------------------------------------------- */

static void check_pairs_note(struct ut_check *c, enum ut_check_id id, const struct ut_arrow_end *e)
{
	ut_check_note(c, id, e->track, e->ts, e->name);
}

/* The ends of one number, in order of time. */
static void check_flow(struct ut_check *c, const struct ut_arrow_end *e, size_t count)
{
	const struct ut_arrow_end *out = NULL, *in = NULL;

	for (size_t i = 0; i < count; i++) {
		if (e[i].kind == UT_KIND_FLOW_OUT && !out)
			out = &e[i];
		if (e[i].kind == UT_KIND_FLOW_IN && !in)
			in = &e[i];
		if (e[i].repeated)
			check_pairs_note(c, UT_CHECK_ID_FLOW_SECOND_START, &e[i]);
		if (e[i].slice == UT_NO_SLICE)
			check_pairs_note(c, UT_CHECK_ID_FLOW_NO_SLICE, &e[i]);
	}
	if (e->global && (!out || !in))
		return; /* the other end may be in another file */
	if (!out && !in)
		check_pairs_note(c, UT_CHECK_ID_FLOW_LONE_STEP, e);
	else if (!out)
		check_pairs_note(c, UT_CHECK_ID_FLOW_NO_START, in);
	else if (!in)
		check_pairs_note(c, UT_CHECK_ID_FLOW_NO_END, out);
	else if (in->ts < out->ts)
		check_pairs_note(c, UT_CHECK_ID_FLOW_BACKWARDS, in);
}

static void check_flows(struct ut_check *c)
{
	struct ut_arrows a;
	size_t n;

	ut_arrows_make(&a, c->store, NULL);
	for (size_t i = 0; i < a.end_count; i += n) {
		for (n = 1; i + n < a.end_count && a.ends[i + n].number == a.ends[i].number;)
			n++;
		check_flow(c, a.ends + i, n);
	}
	ut_arrows_release(&a);
}

void ut_check_pairs(struct ut_check *c)
{
	for (uint32_t i = 0; has_async(c->store) && i < c->store->trace.track_count; i++)
		check_track(c, i);
	check_flows(c);
}
