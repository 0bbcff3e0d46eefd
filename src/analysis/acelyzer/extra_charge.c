/*
 * extra_charge.c - power of ranks whose traces have readings of charge, but no counter.
 */
#include <stdlib.h>

#include "acelyzer/extra_work.h"
#include "base/grow.h"

#define WRAP 4294967296.0 /* the counter has 32 bits */

void ut_ace_charges_add(struct ut_ace_charges *c, struct ut_ace_charge reading)
{
	c->items = ut_grow(c->items, c->count + 1, &c->cap, sizeof(*c->items));
	c->items[c->count++] = reading;
}

static int extra_charge_by_time(const void *p, const void *q)
{
	const struct ut_ace_charge *a = p, *b = q;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->ts > b->ts) - (a->ts < b->ts);
}

/* The power between two readings holds from the first to the second. */
static void extra_charge_add_sample(struct ut_ace_extra_rank *r, struct ut_ace_analysis *a,
				    const struct ut_ace_charge *from,
				    const struct ut_ace_charge *to)
{
	double charge = to->value - from->value;
	double watts;

	if (charge < 0)
		charge += WRAP;
	watts = ut_ace_watts(a, charge, (double)(to->ts - from->ts) / 1000);
	if (watts > UT_ACE_MOST_WATTS) {
		a->issues[UT_ACE_ISSUE_BAD_POWER]++;
		watts = 0;
	}
	r->samples = ut_grow(r->samples, r->sample_count + 1, &r->sample_cap, sizeof(*r->samples));
	r->samples[r->sample_count++] = (struct ut_ace_sample){ .ts = from->ts, .watts = watts };
	r->power_end = to->ts;
}

void ut_ace_charges_finish(struct ut_ace_charges *c, struct ut_ace_extra *x,
			   struct ut_ace_analysis *a)
{
	size_t last = 0;
	bool counted = false; /* the rank has a counter already */

	if (c->count)
		qsort(c->items, c->count, sizeof(*c->items), extra_charge_by_time);
	for (size_t i = 0; i < c->count; i++) {
		const struct ut_ace_charge *r = &c->items[i];

		if (!i || c->items[i - 1].rank != r->rank) {
			counted = x->ranks[r->rank].sample_count > 0;
			last = i;
		} else if (!counted && r->ts > c->items[last].ts) {
			extra_charge_add_sample(&x->ranks[r->rank], a, &c->items[last], r);
			last = i;
		}
	}
	free(c->items);
	*c = (struct ut_ace_charges){ 0 };
}
