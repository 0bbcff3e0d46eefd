/*
 * contract.h - a sink that aborts when an importer breaks a promise of model/event.h, sink.h or
 * trace.h. Header only, so that fuzz targets and unit tests share it.
 *
 * Put struct contract first in your own sink and call contract_event() from its event().
 */
#ifndef TESTS_IMPORT_CONTRACT_H
#define TESTS_IMPORT_CONTRACT_H

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/trace.h"

struct contract_track {
	uint64_t last;  /* start of the latest span */
	uint64_t *ends; /* of the open spans, outermost first */
	size_t count, cap;
};

struct contract_async {
	uint64_t ts;
	uint32_t track;
	int open;
};

struct contract {
	struct ut_sink sink;
	struct contract_track *tracks;
	size_t track_cap;
	struct contract_async *asyncs; /* by number */
	size_t async_cap;
	struct ut_event before; /* the event before this one */
	uint64_t events;
};

#define CONTRACT(condition)                                                                        \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static inline void contract_string(const struct ut_trace *t, uint32_t id)
{
	CONTRACT(id <= t->strings.count);
}

static inline void contract_args(const struct ut_trace *t, uint32_t first)
{
	int more = 0;

	CONTRACT(first < t->arg_count);
	for (size_t i = first; t->args[i].type != UT_ARG_END; i++) {
		const struct ut_arg *a = &t->args[i];

		contract_string(t, a->key);
		CONTRACT(a->type <= UT_ARG_BOOL);
		if (a->type == UT_ARG_STR)
			contract_string(t, a->value.str);
		CONTRACT(!more || (a->flags & UT_ARG_ARRAY));
		more = (a->flags & UT_ARG_MORE) != 0;
		CONTRACT(i + 1 < t->arg_count);
	}
	CONTRACT(!more);
}

/* In order of their starts, each inside the one that is open or behind it. */
static inline void contract_span(struct contract *c, const struct ut_event *e)
{
	struct contract_track *track = &c->tracks[e->track];
	uint64_t end = e->ts + e->val;

	CONTRACT(end >= e->ts);
	CONTRACT(e->ts >= track->last);
	track->last = e->ts;
	while (track->count && track->ends[track->count - 1] <= e->ts)
		track->count--;
	CONTRACT(!track->count || end <= track->ends[track->count - 1]);
	track->ends = ut_grow(track->ends, track->count + 1, &track->cap, sizeof(*track->ends));
	track->ends[track->count++] = end;
}

static inline void contract_async(struct contract *c, const struct ut_event *e)
{
	struct contract_async *a;

	CONTRACT(e->val && e->val <= c->events + 1); /* numbered one by one */
	c->asyncs = ut_grow(c->asyncs, (size_t)e->val + 1, &c->async_cap, sizeof(*c->asyncs));
	a = &c->asyncs[e->val];
	if (e->kind == UT_KIND_ASYNC_BEGIN) {
		CONTRACT(!a->open && !a->ts);
		*a = (struct contract_async){ e->ts, e->track, 1 };
	} else {
		CONTRACT(a->open && a->track == e->track && a->ts <= e->ts);
		a->open = 0;
	}
}

static inline void contract_flow(const struct contract *c, const struct ut_event *e)
{
	const struct ut_event *b = &c->before;

	if (e->flags & UT_EV_GLOBAL_ID) /* a message may be of work that was not told */
		return;
	CONTRACT(c->events);
	CONTRACT(b->kind == UT_KIND_SPAN || b->kind == UT_KIND_FLOW_OUT ||
		 b->kind == UT_KIND_FLOW_IN);
	CONTRACT(b->track == e->track && b->ts == e->ts);
}

static inline void contract_event(struct contract *c, const struct ut_trace *t,
				  const struct ut_event *e)
{
	CONTRACT(e->track < t->track_count);
	CONTRACT(e->kind < UT_KIND_COUNT);
	contract_string(t, e->name);
	contract_string(t, e->cat);
	contract_args(t, e->args);
	c->tracks = ut_grow(c->tracks, e->track + 1u, &c->track_cap, sizeof(*c->tracks));
	if (e->kind == UT_KIND_SPAN)
		contract_span(c, e);
	else if (e->kind == UT_KIND_ASYNC_BEGIN || e->kind == UT_KIND_ASYNC_END)
		contract_async(c, e);
	else if (e->kind == UT_KIND_FLOW_IN || e->kind == UT_KIND_FLOW_OUT)
		contract_flow(c, e);
	c->before = *e;
	c->events++;
}

/* After the import: what belongs to no event. */
static inline void contract_trace(const struct contract *c, const struct ut_trace *t)
{
	for (size_t i = 0; i < t->track_count; i++) {
		CONTRACT(t->tracks[i].process < t->process_count);
		contract_string(t, t->tracks[i].name);
		contract_string(t, t->tracks[i].unit);
		contract_args(t, t->tracks[i].args);
	}
	for (size_t i = 0; i < t->process_count; i++) {
		contract_string(t, t->processes[i].name);
		contract_string(t, t->processes[i].host);
		contract_string(t, t->processes[i].cmdline);
	}
	contract_args(t, t->global_args);
	for (size_t i = 0; i < c->async_cap; i++)
		CONTRACT(!c->asyncs[i].open);
}

static inline void contract_release(struct contract *c)
{
	for (size_t i = 0; i < c->track_cap; i++)
		free(c->tracks[i].ends);
	free(c->tracks);
	free(c->asyncs);
	*c = (struct contract){ .sink = c->sink };
}

#endif
