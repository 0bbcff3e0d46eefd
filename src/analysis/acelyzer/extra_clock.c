/*
 * extra_clock.c - do the host's clock and the device's cycles tell the same story?
 *
 * Looked at after wraps were undone and before the host's times are replaced: a straight line
 * through the ends of all spans (cycles against microseconds) gives the speed of each rank's
 * counter and what it is off by. A second line without what lies far from the first keeps a few
 * wild spans from bending it.
 */
#include <math.h>
#include <stdlib.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

#define LENGTH_US    1.0   /* lengths may differ by this and ... */
#define LENGTH_SHARE 0.05  /* ... by this part */
#define OUTLIER_US   100.0 /* at least so far from the line ... */
#define OUTLIER_RMS  10.0  /* ... and so many times farther than usual */
#define FINE_US      1.0   /* a line that is as good as this needs no second try */
#define SPEED_SHARE  0.01  /* another speed than the one that was given */
#define SHORTEST_US  100.0 /* of less than this no speed can be told */

struct point {
	double cycles, us; /* since the first one */
	uint32_t event;
};

struct points {
	struct point *items;
	size_t count, cap;
	double cycles, us; /* of the first one */
};

struct line {
	double cycles, us, slope; /* a point on it; us per cycle */
};

static double distance(const struct line *l, const struct point *p)
{
	return p->us - l->us - l->slope * (p->cycles - l->cycles);
}

/* Through the points that are not farther than most from old. */
static struct line fit(const struct points *v, const struct line *old, double most)
{
	struct line l = { 0 };
	double xx = 0, xy = 0;
	size_t n = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct point *p = &v->items[i];

		if (old && fabs(distance(old, p)) > most)
			continue;
		n++;
		l.cycles += (p->cycles - l.cycles) / (double)n;
		l.us += (p->us - l.us) / (double)n;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct point *p = &v->items[i];

		if (old && fabs(distance(old, p)) > most)
			continue;
		xx += (p->cycles - l.cycles) * (p->cycles - l.cycles);
		xy += (p->cycles - l.cycles) * (p->us - l.us);
	}
	l.slope = xx > 0 ? xy / xx : 0;
	return l;
}

static double rms_of(const struct points *v, const struct line *l, double most)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < v->count; i++) {
		double d = distance(l, &v->items[i]);

		if (fabs(d) > most)
			continue;
		sum += d * d;
		n++;
	}
	return n ? sqrt(sum / (double)n) : 0;
}

static void fit_rank(struct ut_ace_extra *x, struct ut_ace_analysis *a, const struct points *v,
		     struct ut_ace_clock_fit *f)
{
	struct line l = fit(v, NULL, 0);
	double rms = rms_of(v, &l, INFINITY), limit = 3 * rms + 1e-3;

	f->points = v->count;
	if (v->count < 3 || !(l.slope > 0))
		return;
	if (rms > FINE_US) { /* something is far away, or all is: without the former, then */
		l = fit(v, &l, limit);
		rms = rms_of(v, &l, limit);
		limit = fmax(OUTLIER_US, OUTLIER_RMS * rms);
		rms = rms_of(v, &l, limit);
	} else {
		limit = OUTLIER_US;
	}
	f->rms = rms;
	for (size_t i = 0; i < v->count; i++) {
		double d = fabs(distance(&l, &v->items[i]));

		if (d <= limit) {
			f->most = d > f->most ? d : f->most;
			continue;
		}
		f->outliers++;
		x->marks[v->items[i].event] |= UT_ACE_MARK_DOUBT;
	}
	a->issues[UT_ACE_ISSUE_CLOCK_OUTLIER] += f->outliers;
	if (!(l.slope > 0) || v->items[v->count - 1].us < SHORTEST_US)
		return;
	f->mhz = 1 / l.slope;
	a->issues[UT_ACE_ISSUE_FREQUENCY] += fabs(f->mhz / a->opts.soc - 1) > SPEED_SHARE;
}

static void add_point(struct points *v, double cycles, double us, uint32_t event)
{
	if (!v->count) {
		v->cycles = cycles;
		v->us = us;
	}
	v->items = ut_grow(v->items, v->count + 1, &v->cap, sizeof(*v->items));
	v->items[v->count++] = (struct point){ cycles - v->cycles, us - v->us, event };
}

/* Marks the span; does its length differ between the clocks? */
static void extra_clock_look_at(struct ut_ace_extra *x, struct ut_ace_analysis *a, uint32_t event,
				struct points *v)
{
	const struct ut_ace_event *e = &a->table.events[event];
	const struct ut_ace_dev *d = ut_ace_dev_of(a, e);
	int part = ut_ace_name_part(ut_ace_flags_of(a, e));
	int from = part < 0 ? 0 : part, to = part < 0 ? UT_ACE_STAMPS - 1 : part + 1;
	double us = (double)(d->ts[to] - d->ts[from]) / a->opts.soc;

	x->marks[event] = UT_ACE_MARK_DEVICE;
	if (!(fabs(us - e->dur) <= LENGTH_US + LENGTH_SHARE * fmax(us, e->dur))) {
		x->marks[event] |= UT_ACE_MARK_DOUBT;
		a->issues[UT_ACE_ISSUE_LENGTH_DOUBT]++;
	}
	a->issues[UT_ACE_ISSUE_WRAP] += d->wrapped || d->ovc > 0;
	add_point(v, (double)d->ts[to], ut_ace_end(e), event);
	x->trust.spans++;
}

void ut_ace_extra_clocks(struct ut_ace_extra *x, struct ut_ace_analysis *a)
{
	struct ut_ace_table *t = &a->table;
	struct points *v = ut_make((t->id_count + 1) * sizeof(*v));

	free(x->marks);
	x->mark_count = t->event_count;
	x->marks = ut_make(x->mark_count + 1);
	for (size_t i = 0; i < t->seq_count; i++) {
		const struct ut_ace_event *e = ut_ace_at(t, i);

		if (ut_ace_has_stamps(e))
			extra_clock_look_at(x, a, t->seq[i], &v[e->pid]);
	}
	for (uint32_t id = 0; id < t->id_count; id++) {
		uint32_t rank;

		if (!v[id].count)
			continue;
		rank = ut_ace_extra_rank(x, ut_ace_num(t, id));
		if (!x->ranks[rank].fit.points)
			fit_rank(x, a, &v[id], &x->ranks[rank].fit);
		free(v[id].items);
	}
	free(v);
}
