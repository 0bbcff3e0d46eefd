/*
 * extra_late.c - which rank holds the others up, step after step?
 *
 * Ranks that wait for another do so in a collective, so what counts is the time a rank spends
 * otherwise: its step without the communication that nothing hides. A rank is a straggler if it
 * is slow in most steps and by more than the usual scatter: medians, so that one odd step does
 * not make anybody one.
 */
#include <stdlib.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

#define LEAST_STEPS 3      /* to speak of a habit */
#define LEAST_SHARE 0.01   /* of the usual time */
#define TO_SIGMA    1.4826 /* from the median of distances to a standard deviation */
#define SIGMAS      3

struct race {
	struct ut_ace_extra *x;
	uint32_t *ranks; /* places of those that take part */
	size_t rank_count, step_count;
	int64_t *room, *excess; /* excess[rank][step] against the median of the step */
	int64_t *usual;         /* medians of the steps */
};

static int64_t own_time(const struct ut_ace_extra_rank *r, size_t step)
{
	const struct ut_ace_split *s = &r->steps[step].split;

	return s->length - s->part[UT_ACE_WORK_COMM];
}

static void run_step(struct race *c, size_t step)
{
	size_t slowest = 0, n = 0;
	int64_t most, late;
	struct ut_ace_late *l;

	for (size_t i = 0; i < c->rank_count; i++) {
		c->excess[i * c->step_count + step] = c->room[i] =
			own_time(&c->x->ranks[c->ranks[i]], step);
		c->x->ranks[c->ranks[i]].step.seen++;
		if (c->room[i] > c->room[slowest])
			slowest = i;
	}
	most = c->room[slowest];
	c->usual[step] = ut_ace_median(c->room, c->rank_count);
	for (size_t i = 0; i < c->rank_count; i++) {
		int64_t *e = &c->excess[i * c->step_count + step];

		if (i != slowest)
			c->room[n++] = *e;
		*e -= c->usual[step];
	}
	late = most - ut_ace_median(c->room, n);
	l = &c->x->ranks[c->ranks[slowest]].step;
	l->last += late > 0;
	l->total += (double)late;
	l->most = late > l->most ? late : l->most;
}

/* The scatter of all ranks around what is usual for each of them. */
static double scatter(struct race *c)
{
	size_t n = c->rank_count * c->step_count;
	int64_t *v = ut_make((n + 1) * sizeof(*v));
	int64_t middle;

	for (size_t i = 0; i < n; i++) {
		int64_t d = c->excess[i] - c->x->ranks[c->ranks[i / c->step_count]].step_excess;

		v[i] = d < 0 ? -d : d;
	}
	middle = ut_ace_median(v, n);
	free(v);
	return (double)middle * TO_SIGMA;
}

static void extra_late_evaluate(struct race *c)
{
	int64_t *v = ut_make((c->step_count + 1) * sizeof(*v));
	double limit, usual;

	for (size_t i = 0; i < c->rank_count; i++) {
		for (size_t s = 0; s < c->step_count; s++)
			v[s] = c->excess[i * c->step_count + s];
		c->x->ranks[c->ranks[i]].step_excess = ut_ace_median(v, c->step_count);
	}
	limit = SIGMAS * scatter(c);
	usual = LEAST_SHARE * (double)ut_ace_median(c->usual, c->step_count);
	limit = limit > usual ? limit : usual;
	for (size_t i = 0; i < c->rank_count; i++) {
		struct ut_ace_extra_rank *r = &c->x->ranks[c->ranks[i]];

		r->straggler = c->step_count >= LEAST_STEPS && r->step.last * 2 > r->step.seen &&
			       (double)r->step_excess > limit;
	}
	free(v);
}

void ut_ace_extra_stragglers(struct ut_ace_extra *x)
{
	struct race c = { .x = x, .step_count = SIZE_MAX };

	c.ranks = ut_make((x->rank_count + 1) * sizeof(*c.ranks));
	for (size_t i = 0; i < x->rank_count; i++) {
		if (!x->ranks[i].step_count)
			continue;
		c.ranks[c.rank_count++] = (uint32_t)i;
		if (x->ranks[i].step_count < c.step_count)
			c.step_count = x->ranks[i].step_count;
	}
	if (c.rank_count > 1) {
		c.room = ut_make((c.rank_count + 1) * sizeof(*c.room));
		c.usual = ut_make((c.step_count + 1) * sizeof(*c.usual));
		c.excess = ut_make((c.rank_count * c.step_count + 1) * sizeof(*c.excess));
		for (size_t s = 0; s < c.step_count; s++)
			run_step(&c, s);
		extra_late_evaluate(&c);
	}
	free(c.ranks);
	free(c.room);
	free(c.usual);
	free(c.excess);
}
