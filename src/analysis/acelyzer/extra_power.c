/*
 * extra_power.c - joules: the power counter of a rank, summed up over time.
 */
#include <stdlib.h>

#include "acelyzer/extra_work.h"

#define NS 1e-9 /* s */

/* When the power of sample i does not hold any more. */
static int64_t extra_power_end_of(const struct ut_ace_extra_rank *r, size_t i)
{
	int64_t end = i + 1 < r->sample_count ? r->samples[i + 1].ts : r->power_end;

	return end > r->samples[i].ts ? end : r->samples[i].ts;
}

double ut_ace_extra_joules(const struct ut_ace_extra_rank *r, int64_t ts, size_t *at)
{
	const struct ut_ace_sample *s = r->samples;
	size_t low = *at, high = r->sample_count, step = 1;
	int64_t end;

	if (!high || ts <= s[0].ts)
		return 0;
	if (low >= high || s[low].ts > ts)
		low = 0;
	/* near the last place in most cases: strides that double, then halves */
	while (low + step < high && s[low + step].ts <= ts) {
		low += step;
		step *= 2;
	}
	if (low + step < high)
		high = low + step;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (s[mid].ts <= ts)
			low = mid;
		else
			high = mid;
	}
	*at = low;
	end = extra_power_end_of(r, low);
	return s[low].joules + s[low].watts * (double)((ts < end ? ts : end) - s[low].ts) * NS;
}

static int extra_power_by_ts(const void *p, const void *q)
{
	const struct ut_ace_sample *a = p, *b = q;

	return (a->ts > b->ts) - (a->ts < b->ts);
}

static void sum_rank(struct ut_ace_extra_rank *r)
{
	for (size_t i = 1; i < r->sample_count; i++) {
		if (r->samples[i].ts < r->samples[i - 1].ts) {
			qsort(r->samples, r->sample_count, sizeof(*r->samples), extra_power_by_ts);
			break;
		}
	}
	for (size_t i = 0; i < r->sample_count; i++) {
		struct ut_ace_sample *s = &r->samples[i];

		s->joules = r->energy;
		r->energy += s->watts * (double)(extra_power_end_of(r, i) - s->ts) * NS;
	}
}

void ut_ace_extra_sum_power(struct ut_ace_extra *x)
{
	for (size_t i = 0; i < x->rank_count; i++) {
		sum_rank(&x->ranks[i]);
		x->has_power |= x->ranks[i].sample_count > 0;
	}
}
