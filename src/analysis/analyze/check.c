#include "analyze/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/counter.h"
#include "model/place.h"
#include "model/store.h"

#define SLIGHT      1000u /* ns: many tools write whole microseconds */
#define MANY_ZEROS  100u
#define MIN_SILENCE UINT64_C(600000000000) /* ten minutes */
#define MOST_ARGS   64u                    /* longer lists are taken to differ */

const struct ut_check_kind ut_check_kinds[UT_CHECK_COUNT] = {
#define CHECK_KIND(id, weight, word, text) { UT_CHECK_##weight, word, text },
	UT_CHECK_LIST(CHECK_KIND)
#undef CHECK_KIND
};

void ut_check_note(struct ut_check *c, enum ut_check_id id, uint32_t track, uint64_t ts,
		   uint32_t name)
{
	struct ut_finding *f = &c->findings[id];

	if (!f->count++) {
		f->track = track;
		f->ts = ts;
		f->name = name;
	}
}

/* ---- the rows of a track ------------------------------------------------------------------- */

struct frame {
	uint64_t end;
};

/* The last span of a type, to find its double. */
struct last {
	uint32_t track; /* plus one */
	uint32_t args;
	uint64_t ts, val;
};

struct walk {
	struct ut_check *check;
	const struct ut_store *store;
	uint32_t track;
	struct frame *frames;
	size_t depth, cap;
	struct last *last;         /* by type */
	uint64_t spans, zeros;     /* of this track */
	uint64_t zero_ts, end;     /* the first zero; where everything so far has ended */
	uint64_t silence, resumed; /* the longest, and when it was over */
	uint32_t zero_name;
	struct ut_event first_end; /* of a counter's value */
	uint64_t ends;
	bool has_value; /* a counter */
	bool any;
	bool device; /* the track is that of a device: its work may run at the same time */
};

static bool same_args(const struct ut_store *s, uint32_t a, uint32_t b)
{
	struct ut_arg x[MOST_ARGS], y[MOST_ARGS];
	size_t n = ut_arglists_get(&s->args, a, x, MOST_ARGS);

	if (a == b)
		return true;
	if (n > MOST_ARGS || n != ut_arglists_get(&s->args, b, y, MOST_ARGS))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (x[i].key != y[i].key || x[i].type != y[i].type ||
		    x[i].value.u64 != y[i].value.u64)
			return false;
	}
	return true;
}

static void check_double(struct walk *w, const struct ut_event *e, uint32_t type)
{
	struct last *l = &w->last[type < w->store->types.count ? type : 0];

	if (e->val && l->track == w->track + 1 && l->ts == e->ts && l->val == e->val &&
	    same_args(w->store, l->args, e->args))
		ut_check_note(w->check, UT_CHECK_ID_DUPLICATE, w->track, e->ts, e->name);
	*l = (struct last){ w->track + 1, e->args, e->ts, e->val };
}

/*
 * Ends grow smaller towards the top: those that a longer one covers cannot be crossed again. How
 * far two cross is what has to be cut off so that they do not: of a child what hangs over, of two
 * siblings what they have in common.
 */
static void check_nesting(struct walk *w, const struct ut_event *e)
{
	uint64_t end = ut_event_end(e), most = 0;

	while (w->depth && w->frames[w->depth - 1].end <= e->ts)
		w->depth--;
	while (w->depth && w->frames[w->depth - 1].end <= end) {
		uint64_t before = w->frames[--w->depth].end, over = end - before;

		over = before - e->ts < over ? before - e->ts : over;
		most = over > most ? over : most;
	}
	w->frames = ut_grow(w->frames, w->depth + 1, &w->cap, sizeof(*w->frames));
	w->frames[w->depth++].end = end;
	if (most)
		ut_check_note(w->check,
			      most <= SLIGHT ? UT_CHECK_ID_OVERLAP_SLIGHT
			      : w->device    ? UT_CHECK_ID_OVERLAP_DEVICE
					     : UT_CHECK_ID_OVERLAP,
			      w->track, e->ts, e->name);
}

static void check_span(struct walk *w, const struct ut_event *e, uint32_t type)
{
	w->spans++;
	if (!e->val && !w->zeros++) {
		w->zero_ts = e->ts;
		w->zero_name = e->name;
	}
	if (e->val > INT64_MAX)
		ut_check_note(w->check, UT_CHECK_ID_NEGATIVE, w->track, e->ts, e->name);
	if (e->flags & UT_EV_UNFINISHED)
		ut_check_note(w->check, UT_CHECK_ID_UNFINISHED, w->track, e->ts, e->name);
	if (e->flags & UT_EV_IMPLICIT_END)
		ut_check_note(w->check, UT_CHECK_ID_IMPLICIT_END, w->track, e->ts, e->name);
	if (e->flags & UT_EV_NOT_WORK)
		return;
	check_nesting(w, e);
	check_double(w, e, type);
}

/* NaN ends a value; a counter that has nothing else was to have values. */
static void check_counter(struct walk *w, const struct ut_event *e)
{
	if (ut_counter_ends(e->val, e->flags)) {
		if (!w->ends++)
			w->first_end = *e;
		return;
	}
	w->has_value = true;
	if (!isfinite(ut_counter_value(e->val, e->flags)))
		ut_check_note(w->check, UT_CHECK_ID_COUNTER_BAD, w->track, e->ts, e->name);
}

static void check_silence(struct walk *w, const struct ut_event *e)
{
	uint64_t end = ut_event_end(e);

	if (w->any && e->ts > w->end && e->ts - w->end > w->silence) {
		w->silence = e->ts - w->end;
		w->resumed = e->ts;
	}
	w->end = !w->any || end > w->end ? end : w->end;
	w->any = true;
}

static void check_row(struct walk *w, const struct ut_event *e, uint32_t type)
{
	check_silence(w, e);
	if (e->kind == UT_KIND_SPAN)
		check_span(w, e, type);
	else if (e->kind == UT_KIND_COUNTER)
		check_counter(w, e);
}

/* What only the whole track tells. */
static void end_track(struct walk *w)
{
	const struct ut_rows *rows = &w->store->rows[w->track];
	struct ut_finding *zero = &w->check->findings[UT_CHECK_ID_ZERO];
	struct ut_finding *bad = &w->check->findings[UT_CHECK_ID_COUNTER_BAD];
	uint64_t extent = w->end - rows->first;

	if (w->zeros >= MANY_ZEROS && w->zeros > w->spans / 2) {
		ut_check_note(w->check, UT_CHECK_ID_ZERO, w->track, w->zero_ts, w->zero_name);
		zero->count += w->zeros - 1;
	}
	if (w->ends && !w->has_value) {
		ut_check_note(w->check, UT_CHECK_ID_COUNTER_BAD, w->track, w->first_end.ts,
			      w->first_end.name);
		bad->count += w->ends - 1;
	}
	if (w->silence > MIN_SILENCE && w->silence / 10 > extent - w->silence)
		ut_check_note(w->check, UT_CHECK_ID_CLOCK_JUMP, w->track, w->resumed, 0);
}

static void check_track(struct walk *w, uint32_t track)
{
	const struct ut_rows *rows = &w->store->rows[track];

	w->track = track;
	w->depth = 0;
	w->spans = w->zeros = w->end = w->silence = 0;
	w->any = w->has_value = false;
	w->ends = 0;
	w->device = ut_is_device(&w->store->trace, w->store->trace.tracks[track].process);
	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++) {
			struct ut_event e = ut_block_event(w->store, track, b, i);

			check_row(w, &e, b->type[i]);
		}
	}
	if (rows->count)
		end_track(w);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* Counts that come without examples; rows may have been noted above already. */
static void at_least(struct ut_check *c, enum ut_check_id id, uint64_t count)
{
	if (count > c->findings[id].count)
		c->findings[id].count = count;
}

static void check_losses(struct ut_check *c, const struct ut_losses *l)
{
	at_least(c, UT_CHECK_ID_UNFINISHED, l->unfinished);
	at_least(c, UT_CHECK_ID_IMPLICIT_END, l->implicit_ends);
	at_least(c, UT_CHECK_ID_STRAY_END, l->stray_ends);
	at_least(c, UT_CHECK_ID_DROPPED, l->dropped);
	at_least(c, UT_CHECK_ID_OVERWRITTEN, l->overwritten);
	at_least(c, UT_CHECK_ID_TORN, l->torn);
	at_least(c, UT_CHECK_ID_UNKNOWN, l->unknown);
	at_least(c, UT_CHECK_ID_IGNORED, l->ignored);
	at_least(c, UT_CHECK_ID_UNREAD, l->unread);
}

void ut_check_store(struct ut_check *c, const struct ut_store *store)
{
	struct walk w = { .check = c, .store = store };

	*c = (struct ut_check){ .store = store };
	for (size_t i = 0; i < UT_CHECK_COUNT; i++)
		c->findings[i].track = UT_CHECK_NOWHERE;
	w.last = ut_make(((size_t)store->types.count + 1) * sizeof(*w.last));
	for (uint32_t i = 0; i < store->trace.track_count; i++)
		check_track(&w, i);
	if (!store->row_count)
		ut_check_note(c, UT_CHECK_ID_EMPTY, UT_CHECK_NOWHERE, 0, 0);
	ut_check_pairs(c);
	ut_check_places(c);
	check_losses(c, &store->trace.losses);
	free(w.frames);
	free(w.last);
}
