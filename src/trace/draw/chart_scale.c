/* chart_scale.c - from values to places: ranges of the data, scales, colours of series. */
#include "draw/chart_parts.h"

#include <math.h>

#include "draw/palette.h"

double ut_scale_place(const struct ut_scale *s, double value)
{
	double share;

	if (!isfinite(value) || (s->is_log && value <= 0))
		return NAN;
	share = s->is_log ? log(value / s->low) / log(s->high / s->low)
			  : (value - s->low) / (s->high - s->low);
	return s->from + share * (s->to - s->from);
}

bool ut_chart_has_bars(const struct ut_chart *c)
{
	return c->count && c->series[0].kind == UT_SERIES_BARS;
}

const struct ut_axis *ut_chart_names(const struct ut_chart *c)
{
	return c->is_sideways ? &c->y : &c->x;
}

const struct ut_axis *ut_chart_numbers(const struct ut_chart *c)
{
	return c->is_sideways ? &c->x : &c->y;
}

static bool has_points(const struct ut_chart *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->series[i].kind == UT_SERIES_POINTS)
			return true;
	}
	return false;
}

static void chart_scale_widen(double value, bool is_log, double *low, double *high)
{
	if (!isfinite(value) || (is_log && value <= 0))
		return;
	*low = fmin(*low, value);
	*high = fmax(*high, value);
}

/* Something to draw on, whatever the data are. */
static void chart_scale_finalize(const struct ut_axis *axis, bool with_zero, double *low,
				 double *high)
{
	if (axis->low < axis->high && isfinite(axis->low) && isfinite(axis->high) &&
	    (!axis->is_log || axis->low > 0)) {
		*low = axis->low;
		*high = axis->high;
		return;
	}
	if (!(*low <= *high)) { /* no data */
		*low = axis->is_log ? 1 : 0;
		*high = axis->is_log ? 10 : 1;
	}
	if (with_zero && !axis->is_log) {
		*low = fmin(*low, 0);
		*high = fmax(*high, 0);
	}
	if (*low < *high)
		return;
	if (axis->is_log) {
		*low /= 2;
		*high *= 2;
	} else {
		*high = *low + (fabs(*low) > 1e15 ? fabs(*low) : 1);
	}
}

void ut_chart_range_x(const struct ut_chart *c, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		const struct ut_series *s = &c->series[i];

		for (size_t k = 0; k < s->count; k++)
			chart_scale_widen(s->x ? s->x[k] : (double)k, c->x.is_log, low, high);
	}
	chart_scale_finalize(&c->x, has_points(c), low, high);
}

/* Bars on each other: what is below zero goes down from it. */
static void range_stacked(const struct ut_chart *c, double *low, double *high)
{
	for (size_t k = 0; k < ut_chart_names(c)->name_count; k++) {
		double up = 0, down = 0;

		for (size_t i = 0; i < c->count; i++) {
			double v = k < c->series[i].count ? c->series[i].y[k] : 0;

			if (isfinite(v))
				*(v > 0 ? &up : &down) += v;
		}
		chart_scale_widen(up, false, low, high);
		chart_scale_widen(down, false, low, high);
	}
}

void ut_chart_range_y(const struct ut_chart *c, double *low, double *high)
{
	const struct ut_axis *axis = ut_chart_has_bars(c) ? ut_chart_numbers(c) : &c->y;

	*low = INFINITY;
	*high = -INFINITY;
	if (ut_chart_has_bars(c) && c->is_stacked)
		range_stacked(c, low, high);
	for (size_t i = 0; i < c->count && !c->is_stacked; i++) {
		for (size_t k = 0; k < c->series[i].count; k++)
			chart_scale_widen(c->series[i].y[k], axis->is_log, low, high);
	}
	chart_scale_finalize(axis, true, low, high);
}

uint32_t ut_series_ink(const struct ut_chart *c, size_t series)
{
	unsigned int chosen = c->series[series].colour;

	return ut_palette(chosen ? chosen - 1 : series);
}

enum ut_dash ut_series_dash(const struct ut_chart *c, size_t series)
{
	const struct ut_series *s = &c->series[series];

	if (s->dash != UT_DASH_NONE || s->colour)
		return s->dash;
	return (enum ut_dash)(series / UT_PALETTE % UT_DASHES);
}
