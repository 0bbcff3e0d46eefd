/*
 * pairs.h - numbers that pair events (flows, async spans, objects), kept apart when several traces
 * go into one file: each trace has numbers of its own, and two files may use the same.
 *
 * Small ones are sequences: those of a later trace go on behind the earlier ones. Those from
 * UT_PAIRS_LARGE on are random, or hashes of what the file had (import/chrome/id.c): each trace
 * adds a distance of its own to them and marks them as no hash any more, because an exporter may
 * write the text behind a hash in place of the number.
 */
#ifndef UT_MODEL_PAIRS_H
#define UT_MODEL_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "model/sink.h"

#define UT_PAIRS_LARGE (UINT64_C(1) << 48)

/* Zeroed: nothing was written yet. One owner. */
struct ut_pairs {
	uint64_t base, next; /* of the trace being written; past the highest one seen */
	uint64_t traces;     /* that were ended */
};

/* Is its val such a number? */
static inline bool ut_pairs_has(const struct ut_event *e)
{
	return e->kind != UT_KIND_SPAN && e->kind != UT_KIND_INSTANT &&
	       e->kind != UT_KIND_COUNTER && e->kind != UT_KIND_SAMPLE;
}

/* Of a message between processes: all files have the same number for it. */
static inline bool ut_pairs_global(const struct ut_event *e)
{
	return e->flags & UT_EV_GLOBAL_ID &&
	       (e->kind == UT_KIND_FLOW_OUT || e->kind == UT_KIND_FLOW_IN ||
		e->kind == UT_KIND_FLOW_STEP);
}

/* What a number of the trace that is being written is in the file. Those of the first trace stay.
 */
static inline uint64_t ut_pairs_number(struct ut_pairs *p, uint64_t number)
{
	uint64_t id = p->base + number;

	if (number >= UT_PAIRS_LARGE) {
		uint64_t far = number + p->traces * UINT64_C(0x632be59bd9b4e019);

		return p->traces ? (far & ~(UINT64_C(1) << 63)) | UINT64_C(1) << 62 : number;
	}
	if (id >= p->next)
		p->next = id + 1;
	return id;
}

/* What the number of an event is in the file. */
static inline uint64_t ut_pairs_of(struct ut_pairs *p, const struct ut_event *e)
{
	return ut_pairs_global(e) ? e->val : ut_pairs_number(p, e->val);
}

/* The event with its number in the file. */
static inline void ut_pairs_send(struct ut_pairs *p, struct ut_sink *to, const struct ut_trace *t,
				 const struct ut_event *e)
{
	struct ut_event moved = *e;

	if (ut_pairs_has(e))
		moved.val = ut_pairs_of(p, e);
	ut_sink_event(to, t, &moved);
}

static inline void ut_pairs_end_trace(struct ut_pairs *p)
{
	p->base = p->next;
	p->traces++;
}

#endif
