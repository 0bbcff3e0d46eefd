/* ze_clock.c - see ze_clock.h. */
#include "backend/levelzero/ze_clock.h"

#include <stddef.h>

#define SECOND UINT64_C(1000000000)
#define SLACK  (10 * SECOND / 1000) /* by which a kernel may seem to start too early */
/* A rate is measured when the doubt about it is below this, and believed when it differs by more
 * than the doubt: otherwise the maker's word is better. */
#define DOUBT 2e-6

static uint64_t mask_of(uint32_t bits)
{
	return bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

void ut_ze_clock_init(struct ut_ze_clock *c, uint64_t hz, uint32_t bits, uint32_t kernel_bits)
{
	*c = (struct ut_ze_clock){ .hz = hz ? hz : SECOND,
				   .mask = mask_of(bits),
				   .kernel_mask = mask_of(kernel_bits) };
	c->rate = (double)SECOND / (double)c->hz;
}

static const struct ut_ze_pair *newest(const struct ut_ze_clock *c)
{
	return &c->pairs[(c->count - 1) % UT_ZE_PAIRS];
}

uint64_t ut_ze_clock_fed(const struct ut_ze_clock *c)
{
	return c->count ? newest(c)->ns : 0;
}

/* Ticks that pass in so many ns, negative ones too. */
static int64_t ticks_in(const struct ut_ze_clock *c, int64_t ns)
{
	return (int64_t)((double)ns / c->rate);
}

/* Of all whole numbers with these low bits, the one next to a guess. */
static uint64_t ze_clock_whole(uint64_t low, uint64_t mask, uint64_t guess)
{
	uint64_t ahead = (low - guess) & mask;

	return ahead <= mask / 2 ? guess + ahead : guess - ((guess - low) & mask);
}

static void learn_rate(struct ut_ze_clock *c, const struct ut_ze_pair *p)
{
	uint64_t span = p->ns - c->first.ns;
	double doubt, measured, nominal = (double)SECOND / (double)c->hz;

	if (p->ns <= c->first.ns || p->ticks <= c->first.ticks)
		return;
	doubt = (double)(p->error + c->first.error) / (double)span;
	if (doubt > DOUBT)
		return;
	measured = (double)span / (double)(p->ticks - c->first.ticks);
	c->rate = measured > nominal * (1 + doubt) || measured < nominal * (1 - doubt) ? measured
										       : nominal;
}

void ut_ze_clock_feed(struct ut_ze_clock *c, uint64_t ticks, uint64_t before, uint64_t after)
{
	struct ut_ze_pair p = { .ns = before + (after - before) / 2,
				.error = (after - before) / 2 + 1 };
	const struct ut_ze_pair *last = c->count ? newest(c) : NULL;

	ticks &= c->mask;
	p.ticks = last ? ze_clock_whole(ticks, c->mask,
					last->ticks +
						(uint64_t)ticks_in(c, (int64_t)(p.ns - last->ns)))
		       : ticks;
	/* Far from 0, so that what was before it is not negative. */
	if (!last)
		p.ticks += c->mask == UINT64_MAX ? 0 : c->mask + 1;
	c->pairs[c->count++ % UT_ZE_PAIRS] = p;
	if (!last || (c->count < UT_ZE_PAIRS && p.error < c->first.error))
		c->first = p;
	else
		learn_rate(c, &p);
}

/* The pair by which ticks can be told best: near, and read quickly. */
static const struct ut_ze_pair *best_for(const struct ut_ze_clock *c, uint64_t ticks)
{
	uint32_t n = c->count < UT_ZE_PAIRS ? c->count : UT_ZE_PAIRS;
	const struct ut_ze_pair *best = NULL;
	double least = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ut_ze_pair *p = &c->pairs[i];
		uint64_t away = ticks > p->ticks ? ticks - p->ticks : p->ticks - ticks;
		/* Until the rate is known it may be off by 100 ppm. */
		double doubt = (double)p->error + (double)away * c->rate * 1e-4;

		if (!best || doubt < least) {
			best = p;
			least = doubt;
		}
	}
	return best;
}

uint64_t ut_ze_clock_map_one(const struct ut_ze_clock *c, uint64_t ticks)
{
	const struct ut_ze_pair *p = c->count ? best_for(c, ticks) : NULL;

	if (!p)
		return 0;
	return p->ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - p->ticks) * c->rate);
}

bool ut_ze_clock_map(const struct ut_ze_clock *c, const uint64_t ticks[2], uint64_t submitted,
		     uint64_t times[2])
{
	const struct ut_ze_pair *p;
	uint64_t least, start, took = (ticks[1] - ticks[0]) & c->kernel_mask;

	if (!c->count)
		return false;
	p = newest(c);
	/* Not before it was submitted; the clocks may disagree a little about when that was. */
	least = p->ticks + (uint64_t)ticks_in(c, (int64_t)(submitted - p->ns) - (int64_t)SLACK);
	start = least + ((ticks[0] - least) & c->kernel_mask);
	/* What lies in the future by more than that has been there one turn before. */
	if (c->kernel_mask != UINT64_MAX && start > p->ticks &&
	    start - p->ticks > c->kernel_mask / 2)
		start -= c->kernel_mask + 1;
	times[0] = ut_ze_clock_map_one(c, start);
	times[1] = times[0] + (uint64_t)((double)took * c->rate + 0.5);
	return true;
}

uint64_t ut_ze_clock_error(const struct ut_ze_clock *c)
{
	return c->count ? best_for(c, newest(c)->ticks)->error : 0;
}
