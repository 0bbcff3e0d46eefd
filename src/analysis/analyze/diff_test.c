#include "analyze/diff_test.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/stats_dist.h"
#include "base/grow.h"

/* ---- ranks --------------------------------------------------------------------------------- */

/* Distinct values of a distribution with their counts, in order. */
struct walk {
	const struct ut_dist *dist;
	struct ut_dist_step step;
	uint64_t value;
	double count; /* 0 at the end */
	bool more;
};

static void diff_test_advance(struct walk *w)
{
	w->value = w->step.low;
	w->count = 0;
	while (w->more && w->step.low == w->value) {
		w->count += (double)w->step.count;
		w->more = ut_dist_next(w->dist, &w->step);
	}
}

static struct walk diff_test_begin(const struct ut_dist *d)
{
	struct walk w = { .dist = d };

	w.more = ut_dist_next(d, &w.step);
	diff_test_advance(&w);
	return w;
}

/* Both in steps or both as values, so that equal values look equal. */
static double compare_ranks(const struct ut_dist *a, const struct ut_dist *b, double *above)
{
	struct walk x = diff_test_begin(a), y = diff_test_begin(b);
	double n = (double)a->count, m = (double)b->count, all = n + m;
	double below = 0, wins = 0, ties = 0, variance, z;

	while (x.count > 0 || y.count > 0) {
		uint64_t value =
			!(y.count > 0) || (x.count > 0 && x.value < y.value) ? x.value : y.value;
		double xs = x.count > 0 && x.value == value ? x.count : 0;
		double ys = y.count > 0 && y.value == value ? y.count : 0;
		double both = xs + ys;

		wins += ys * (below + xs / 2);
		below += xs;
		ties += both * (both * both - 1);
		if (xs > 0)
			diff_test_advance(&x);
		if (ys > 0)
			diff_test_advance(&y);
	}
	*above = wins / (n * m);
	variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
	if (!(variance > 0))
		return 1;
	z = (fabs(wins - n * m / 2) - 0.5) / sqrt(variance);
	return z > 0 ? erfc(z / sqrt(2)) : 1;
}

double ut_test_ranks(const struct ut_dist *a, const struct ut_dist *b, double *above)
{
	struct ut_dist steps = { 0 };
	double p;

	*above = 0.5;
	if (!a->count || !b->count || a->count + b->count < 3)
		return 1;
	if (!a->powers == !b->powers)
		return compare_ranks(a, b, above);
	ut_dist_merge(&steps, a->powers ? b : a);
	ut_dist_spread(&steps);
	p = a->powers ? compare_ranks(a, &steps, above) : compare_ranks(&steps, b, above);
	ut_dist_release(&steps);
	return p;
}

/* ---- Student ------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (Lentz's way of computing it). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int i = 1; i < 300; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));

		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;

			d = 1 + term * d;
			c = 1 + term / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			result *= c * d;
		}
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return result;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double ut_test_student(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* Sum of squared distances from the mean. */
static double spread_of(const double *x, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

double ut_test_welch(const double *a, size_t a_count, const double *b, size_t b_count)
{
	double n = (double)a_count, m = (double)b_count;
	double x, y, va, vb, error, freedom;

	if (!a_count || !b_count || a_count + b_count < 3)
		return 1;
	x = mean_of(a, a_count);
	y = mean_of(b, b_count);
	va = spread_of(a, a_count, x);
	vb = spread_of(b, b_count, y);
	if (a_count == 1 || b_count == 1) {
		freedom = n + m - 2;
		error = (va + vb) / freedom * (1 / n + 1 / m);
	} else {
		va /= (n - 1) * n;
		vb /= (m - 1) * m;
		error = va + vb;
		freedom = error * error / (va * va / (n - 1) + vb * vb / (m - 1));
	}
	if (!(error > 0)) /* all runs of a side are alike */
		return x == y ? 1 : 0;
	return ut_test_student((y - x) / sqrt(error), freedom);
}

/* ---- many tests ---------------------------------------------------------------------------- */

static int by_p(const void *a, const void *b)
{
	const double *const *x = a, *const *y = b;

	return (**x > **y) - (**x < **y);
}

void ut_test_adjust(double *p, size_t count)
{
	double **order = ut_make((count + 1) * sizeof(double *));
	double least = 1;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (p[i] >= 0)
			order[n++] = &p[i];
	}
	qsort(order, n, sizeof(double *), by_p);
	for (size_t i = n; i-- > 0;) {
		double q = *order[i] * (double)n / (double)(i + 1);

		least = q < least ? q : least;
		*order[i] = least;
	}
	free(order);
}
