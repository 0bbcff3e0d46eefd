#include "draw/ticks.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LEAST_EXP      (-3) /* prefixes, by thousands */
#define GREATEST_EXP   6
#define LEAST_RANGE    1e-290
#define GREATEST_RANGE 1e290

static const char *const prefixes[] = { " n", " \xc2\xb5", " m", "",   " k",
					" M", " G",        " T", " P", " E" };
static const char *const times[] = { "", " ns", " \xc2\xb5s", " ms", " s" };

/* 1, 2 or 5 times a power of ten: the least that is at least this. */
static double round_up(double step)
{
	double ten = pow(10, floor(log10(step)));

	for (int i = 0; i < 3; i++) {
		static const double nice[] = { 1, 2, 5 };

		if (nice[i] * ten >= step * 0.999999)
			return nice[i] * ten;
	}
	return 10 * ten;
}

static void find_linear(struct ut_ticks *t, double *low, double *high, unsigned int want,
			bool widen)
{
	double step = round_up((*high - *low) / (want ? want : 1)), first, last;

	/* no more than there is room for, and no step that gets lost in the numbers */
	while ((*high - *low) / step > UT_TICKS_MOST - 3)
		step = round_up(step * 1.5);
	first = ceil(*low / step - 1e-9);
	last = floor(*high / step + 1e-9);
	if (widen) {
		first = floor(*low / step + 1e-9);
		last = ceil(*high / step - 1e-9);
		*low = first * step;
		*high = last * step;
	}
	t->step = step;
	for (double n = first; n <= last && t->count < UT_TICKS_MOST; n++)
		t->at[t->count++] = n * step;
}

/* Powers of ten, every nth if there are too many; with 2 and 5 between them if there are few. */
static void find_log(struct ut_ticks *t, double *low, double *high, unsigned int want, bool widen)
{
	int first = (int)floor(log10(*low) + 1e-9), last = (int)ceil(log10(*high) - 1e-9);
	int every = 1 + (last - first) / (int)(want ? want : 1);
	bool is_fine = last - first <= 3 && want > 3;

	while ((last - first) / every >= (int)UT_TICKS_MOST - 1)
		every++;
	if (widen) {
		*low = pow(10, first);
		*high = pow(10, last);
	}
	for (int e = first; e <= last; e += is_fine ? 1 : every) {
		static const double between[] = { 1, 2, 5 };

		for (int i = 0; i < (is_fine ? 3 : 1); i++) {
			double at = between[i] * pow(10, e);

			if (at >= *low * 0.999999 && at <= *high * 1.000001 &&
			    t->count < UT_TICKS_MOST)
				t->at[t->count++] = at;
		}
	}
}

void ut_ticks_find(struct ut_ticks *t, double *low, double *high, unsigned int want, bool widen)
{
	t->count = 0;
	t->step = 0;
	if (!(*high - *low >= LEAST_RANGE && *high - *low <= GREATEST_RANGE)) {
		t->at[t->count++] = *low; /* powers of ten get lost in such numbers */
		t->at[t->count++] = *high;
	} else if (t->is_log)
		find_log(t, low, high, want, widen);
	else
		find_linear(t, low, high, want, widen);
	t->greatest = 0;
	for (size_t i = 0; i < t->count; i++)
		t->greatest = fmax(t->greatest, fabs(t->at[i]));
}

/* The power of a thousand by which numbers of this size are divided. */
static int exponent(double greatest, enum ut_axis_numbers numbers)
{
	int e = greatest > 0 ? (int)floor(log10(greatest * 1.0000001) / 3) : 0;

	if (numbers == UT_NUMBERS_NS)
		return e < 0 ? 0 : e > 3 ? 3 : e;
	if (greatest >= 0.001 && greatest < 10000)
		return 0; /* 0.25 and 2500 are said so */
	return e < LEAST_EXP ? LEAST_EXP : e > GREATEST_EXP ? GREATEST_EXP : e;
}

static size_t ticks_print(double value, int e, int decimals, enum ut_axis_numbers numbers,
			  char to[UT_TICKS_LABEL])
{
	const char *suffix = numbers == UT_NUMBERS_NS ? times[e + 1] : prefixes[e - LEAST_EXP];
	int len;

	if (numbers == UT_NUMBERS_HEX && value >= 0 && value < 18446744073709551616.0)
		len = snprintf(to, UT_TICKS_LABEL, "0x%jx", (uintmax_t)value);
	else if (fabs(value) >= 1e21 || (value != 0 && fabs(value) < 1e-12))
		len = snprintf(to, UT_TICKS_LABEL, "%.2e", value);
	else
		len = snprintf(to, UT_TICKS_LABEL, "%.*f%s", decimals, value / pow(1000, e),
			       suffix);
	return len < 0 ? 0 : (size_t)len < UT_TICKS_LABEL ? (size_t)len : UT_TICKS_LABEL - 1;
}

size_t ut_ticks_label(const struct ut_ticks *t, double value, char to[UT_TICKS_LABEL])
{
	int e, decimals = 0;
	double step;

	if (!(fabs(value) > 0)) { /* no prefix makes it more */
		memcpy(to, "0", 2);
		return 1;
	}
	e = exponent(t->is_log ? fabs(value) : t->greatest, t->numbers);
	step = (t->is_log ? fabs(value) : t->step) / pow(1000, e);
	if (step > 0 && step < 1)
		decimals = (int)ceil(-log10(step) - 1e-6);
	return ticks_print(value, e, decimals > 12 ? 12 : decimals, t->numbers, to);
}

size_t ut_number_label(double value, enum ut_axis_numbers numbers, char to[UT_TICKS_LABEL])
{
	int e = exponent(fabs(value), numbers);
	double size = fabs(value) / pow(1000, e);
	int decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
	size_t len;

	if (!e && rint(value) == value)
		decimals = 0;
	len = ticks_print(value, e, decimals, numbers, to);
	return len;
}
