/*
 * cpu_pauses.c - when nothing was recorded: the session was paused (told by the file of samples),
 * or the process had switched itself off (told by its own recording, and before that by the
 * variable it began with).
 */
#include "import/cpu/cpu_pauses.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "import/cpu/cpu_read.h"
#include "import/cpu/cpu_threads.h"
#include "model/event.h"
#include "model/trace.h"

void ut_cpu_switched(struct ut_cpu *c, enum ut_cpu_switched_by by, uint64_t time, bool on)
{
	c->switches =
		ut_grow(c->switches, c->switch_count + 1, &c->switch_cap, sizeof(*c->switches));
	c->switches[c->switch_count] =
		(struct ut_cpu_switched){ time, (uint32_t)c->switch_count, (uint8_t)by, on };
	c->switch_count++;
}

static int cpu_pauses_by_time(const void *a, const void *b)
{
	const struct ut_cpu_switched *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void add_pause(struct ut_cpu *c, uint64_t start, uint64_t end, bool reported)
{
	if (start >= end)
		return;
	c->pauses = ut_grow(c->pauses, c->pause_count + 1, &c->pause_cap, sizeof(*c->pauses));
	c->pauses[c->pause_count++] = (struct ut_cpu_pause){ start, end, reported };
}

/*
 * One after the other, none overlapping. The recording of the process has shown those that the
 * process itself has ended; the others are still to be shown.
 */
void ut_cpu_finalize_pauses(struct ut_cpu *c)
{
	bool on[] = { true, !(c->header.flags & UT_CPU_BEGAN_OFF) }, reported = false;
	uint64_t off = on[UT_CPU_BY_PROCESS] ? 0 : c->first;

	ut_sort(c->switches, c->switch_count, sizeof(*c->switches), cpu_pauses_by_time);
	for (size_t i = 0; i < c->switch_count; i++) {
		const struct ut_cpu_switched *s = &c->switches[i];
		bool was = on[0] && on[1];

		reported |= !was && s->by == UT_CPU_BY_PROCESS && s->on && on[UT_CPU_BY_SESSION];
		on[s->by] = s->on;
		if (was && !(on[0] && on[1])) {
			off = s->time > c->first ? s->time : c->first;
			reported = false;
		} else if (!was && on[0] && on[1]) {
			add_pause(c, off, s->time, reported);
		}
	}
	if (!on[0] || !on[1])
		add_pause(c, off, (c->last > off ? c->last : off) + 1, false); /* the last, too */
}

/* The first pause that ends behind this time. */
static size_t cpu_pauses_find(const struct ut_cpu *c, uint64_t time)
{
	size_t low = 0, high = c->pause_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->pauses[mid].end <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool ut_cpu_is_paused(const struct ut_cpu *c, uint64_t time)
{
	size_t at = c->pause_count ? cpu_pauses_find(c, time) : 0;

	return at < c->pause_count && c->pauses[at].start <= time;
}

bool ut_cpu_next_on(const struct ut_cpu *c, uint64_t *from, uint64_t to, uint64_t *end)
{
	size_t at = c->pause_count ? cpu_pauses_find(c, *from) : 0;

	if (at < c->pause_count && c->pauses[at].start <= *from)
		*from = c->pauses[at++].end;
	*end = at < c->pause_count && c->pauses[at].start < to ? c->pauses[at].start : to;
	return *from < to;
}

uint64_t ut_cpu_on_time(const struct ut_cpu *c, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, end;

	for (; ut_cpu_next_on(c, &from, to, &end); from = end)
		sum += end - from;
	return sum;
}

void ut_cpu_send_pauses(struct ut_cpu_sender *s)
{
	struct ut_trace *t = s->trace;
	uint32_t track = UINT32_MAX;

	for (size_t i = 0; i < s->c->pause_count; i++) {
		const struct ut_cpu_pause *p = &s->c->pauses[i];
		struct ut_event e = { .ts = p->start,
				      .val = p->end - p->start,
				      .kind = UT_KIND_SPAN,
				      .flags = UT_EV_NOT_WORK };

		if (p->reported)
			continue;
		if (track == UINT32_MAX) {
			track = ut_trace_add_track(t, s->c->process, UT_TRACK_LANE);
			t->tracks[track].id = track;
			t->tracks[track].name = ut_strtab_intern_z(&t->strings, "Control: session");
			t->tracks[track].role = UT_ROLE_CONTROL;
		}
		e.track = track;
		e.name = ut_strtab_intern_z(&t->strings, "paused");
		e.cat = ut_strtab_intern_z(&t->strings, "control");
		ut_sink_event(s->to, t, &e);
	}
}
