#include "analyze/stats_dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void ut_dist_release(struct ut_dist *d)
{
	for (uint32_t i = 0; d->powers && i < UT_DIST_POWERS; i++)
		free(d->powers[i]);
	free(d->powers);
	free(d->values);
	*d = (struct ut_dist){ 0 };
}

static inline void stats_dist_count(struct ut_dist *d, uint32_t index, uint64_t n)
{
	uint64_t **power = &d->powers[index / UT_DIST_STEPS];

	if (!*power)
		*power = ut_make(UT_DIST_STEPS * sizeof(**power));
	(*power)[index % UT_DIST_STEPS] += n;
}

void ut_dist_count(struct ut_dist *d, uint32_t index, uint64_t n)
{
	stats_dist_count(d, index, n);
}

static void count_many(struct ut_dist *d, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		stats_dist_count(d, ut_dist_index(values[i]), 1);
}

void ut_dist_spread(struct ut_dist *d)
{
	if (d->powers)
		return;
	d->powers = ut_make(UT_DIST_POWERS * sizeof(*d->powers));
	count_many(d, d->values, d->count);
	free(d->values);
	d->values = NULL;
	d->cap = 0;
}

static void keep_or_count(struct ut_dist *d, const uint64_t *values, size_t n)
{
	if (d->powers || n > UT_DIST_EXACT - d->count) {
		ut_dist_spread(d);
		count_many(d, values, n);
		return;
	}
	d->values = ut_grow(d->values, (size_t)d->count + n, &d->cap, sizeof(*d->values));
	memcpy(d->values + d->count, values, n * sizeof(*values));
}

static void add_squares(struct ut_dist *d, ut_u128 squares)
{
	if (__builtin_add_overflow(d->squares, squares, &d->squares))
		d->squares = UT_U128_MAX;
}

void ut_dist_add_many(struct ut_dist *d, const uint64_t *values, size_t n)
{
	uint64_t min = d->count ? d->min : UINT64_MAX, max = d->max;
	ut_u128 total = 0, squares = 0;
	bool overflow = false;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t v = values[i];

		min = v < min ? v : min;
		max = v > max ? v : max;
		total += v;
		overflow |= __builtin_add_overflow(squares, (ut_u128)v * v, &squares);
	}
	keep_or_count(d, values, n);
	d->min = min;
	d->max = max;
	d->total += total;
	add_squares(d, overflow ? UT_U128_MAX : squares);
	d->count += n;
}

void ut_dist_add(struct ut_dist *d, uint64_t value)
{
	ut_dist_add_many(d, &value, 1);
}

static void merge_powers(struct ut_dist *to, const struct ut_dist *from)
{
	for (uint32_t p = 0; p < UT_DIST_POWERS; p++) {
		for (uint32_t i = 0; from->powers[p] && i < UT_DIST_STEPS; i++) {
			if (from->powers[p][i])
				stats_dist_count(to, p * UT_DIST_STEPS + i, from->powers[p][i]);
		}
	}
}

void ut_dist_merge(struct ut_dist *to, const struct ut_dist *from)
{
	if (!from->count)
		return;
	if (from->powers) {
		ut_dist_spread(to);
		merge_powers(to, from);
	} else {
		keep_or_count(to, from->values, (size_t)from->count);
	}
	to->min = !to->count || from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->total += from->total;
	add_squares(to, from->squares);
	to->count += from->count;
}

static int stats_dist_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void ut_dist_finalize(struct ut_dist *d)
{
	if (d->values)
		qsort(d->values, d->count, sizeof(*d->values), stats_dist_compare);
}

bool ut_dist_next(const struct ut_dist *d, struct ut_dist_step *s)
{
	if (!d->powers) {
		if (s->at >= d->count)
			return false;
		s->low = s->high = d->values[s->at++];
		s->count = 1;
		return true;
	}
	for (; s->at < UT_DIST_POWERS * UT_DIST_STEPS; s->at++) {
		uint32_t power = s->at / UT_DIST_STEPS, step = s->at % UT_DIST_STEPS;

		if (!d->powers[power]) {
			s->at += UT_DIST_STEPS - 1;
			continue;
		}
		if (!d->powers[power][step])
			continue;
		s->low = ut_dist_low(s->at);
		s->high = ut_dist_low(++s->at) - 1;
		s->count = d->powers[power][step];
		return true;
	}
	return false;
}

uint64_t ut_dist_quantile(const struct ut_dist *d, unsigned int per_mille)
{
	uint64_t rank = (uint64_t)(((ut_u128)d->count * per_mille + 999) / 1000);
	struct ut_dist_step s = { 0 };
	uint64_t middle, seen = 0;

	if (!d->count)
		return 0;
	rank = rank ? rank : 1;
	if (!d->powers)
		return d->values[rank - 1];
	while (ut_dist_next(d, &s)) {
		seen += s.count;
		if (seen >= rank)
			break;
	}
	middle = s.low + (s.high - s.low) / 2;
	if (middle < d->min)
		return d->min;
	return middle > d->max ? d->max : middle;
}

uint64_t ut_dist_mean(const struct ut_dist *d)
{
	return d->count ? (uint64_t)(d->total / d->count) : 0;
}

/* a * b in four words, the lowest first. */
static void multiply(uint64_t out[4], ut_u128 a, ut_u128 b)
{
	const uint64_t x[2] = { (uint64_t)a, (uint64_t)(a >> 64) };
	const uint64_t y[2] = { (uint64_t)b, (uint64_t)(b >> 64) };

	memset(out, 0, 4 * sizeof(*out));
	for (int i = 0; i < 2; i++) {
		ut_u128 carry = 0;

		for (int k = 0; k < 2; k++) {
			carry += (ut_u128)x[i] * y[k] + out[i + k];
			out[i + k] = (uint64_t)carry;
			carry >>= 64;
		}
		out[i + 2] = (uint64_t)carry;
	}
}

/*
 * sqrt(count * squares - total^2) / count. The difference is taken between whole numbers: with
 * durations that are long and alike almost all digits of the two are the same.
 */
double ut_dist_stddev(const struct ut_dist *d)
{
	uint64_t a[4], b[4];
	long double sum = 0;
	uint64_t borrow = 0;

	if (!d->count || d->squares == UT_U128_MAX)
		return 0;
	multiply(a, d->squares, d->count);
	multiply(b, d->total, d->total);
	for (int i = 0; i < 4; i++) {
		uint64_t part;
		uint64_t under = __builtin_sub_overflow(a[i], b[i], &part);

		borrow = (uint64_t)__builtin_sub_overflow(part, borrow, &part) + under;
		sum += ldexpl((long double)part, 64 * i);
	}
	return borrow ? 0 : (double)(sqrtl(sum) / (long double)d->count);
}
