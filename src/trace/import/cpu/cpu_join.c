/*
 * cpu_join.c - which task each sample fell into.
 *
 * The spans of a thread come in order of their start, outer ones first: so its samples are walked
 * along with them, with the spans that are open on a stack. Nothing is kept of spans that are over.
 */
#include "import/cpu/cpu_read.h"

#include "base/grow.h"
#include "model/event.h"
#include "model/trace.h"

/* The thread of a track; NULL if it has no samples. */
static struct ut_cpu_life *thread_of(struct ut_cpu *c, uint32_t track)
{
	const struct ut_track *t = &c->trace->tracks[track];
	uint32_t at;

	if (t->type != UT_TRACK_THREAD || t->id > UINT32_MAX)
		return NULL;
	at = ut_idmap_get(&c->life_of_tid, t->id);
	return at ? &c->lives[at - 1] : NULL;
}

/* Samples before this time get the innermost task that was open. */
static void pass(struct ut_cpu *c, struct ut_cpu_life *life, uint64_t until)
{
	while (life->next_sample < life->last_sample) {
		struct ut_cpu_timestamp *m = &c->samples[life->next_sample];

		if (m->time >= until)
			return;
		while (life->open_count && life->open[life->open_count - 1].end <= m->time)
			life->open_count--;
		if (life->open_count)
			m->task = life->open[life->open_count - 1].name;
		life->next_sample++;
	}
}

static void on_span(struct ut_cpu *c, struct ut_cpu_life *life, const struct ut_event *e)
{
	pass(c, life, e->ts);
	while (life->open_count && life->open[life->open_count - 1].end <= e->ts)
		life->open_count--;
	life->open =
		ut_grow(life->open, life->open_count + 1, &life->open_cap, sizeof(*life->open));
	life->open[life->open_count].end = e->ts + e->val;
	life->open[life->open_count++].name = e->name;
}

static void join_event(struct ut_sink *sink, const struct ut_trace *trace, const struct ut_event *e)
{
	struct ut_cpu *c = (struct ut_cpu *)sink;

	if (e->kind == UT_KIND_SPAN && !(e->flags & UT_EV_NOT_WORK)) {
		struct ut_cpu_life *life = thread_of(c, e->track);

		if (life)
			on_span(c, life, e);
	}
	ut_sink_event(c->to, trace, e);
}

struct ut_sink *ut_cpu_sink(struct ut_cpu *c, struct ut_sink *to)
{
	c->sink = (struct ut_sink){ .event = join_event, .wants_arrows = to->wants_arrows };
	c->to = to;
	return &c->sink;
}

void ut_cpu_join_end(struct ut_cpu *c)
{
	for (size_t i = 0; i < c->life_count; i++)
		pass(c, &c->lives[i], UINT64_MAX);
}
