#include "metrics/roofline_chart.h"

#include <math.h>

#include "metrics/roofline_words.h"

#define LEAST_SHARE 1e-5 /* of the time: less is not drawn */
#define LEAST_RATE  1e-6 /* of the tallest roof: less would push everything else together */
#define NAMED_SHARE 0.01 /* less has no name in the picture */
#define BARS        12   /* kernels */
#define NOTE_NAME   200  /* columns of a name that is told on hover */

static struct ut_str roofline_chart_text_of(struct ut_arena *a, struct ut_buf *b)
{
	size_t len = b->len;

	return (struct ut_str){ ut_buf_take(b, a), len };
}

/* ---- what is drawn --------------------------------------------------------------------------- */

/* What a picture has to show, and how far it reaches. */
struct picture {
	const struct ut_roof *roof;
	struct ut_arena *arena;
	uint32_t levels, units; /* that have a roof; units: that kernels use */
	double tallest, steepest;
	double low_x, high_x, low_y;
	size_t drawn, without; /* kernels; those that hardly compute */
};

static bool is_drawn(const struct picture *p, const struct ut_roof_kernel *k)
{
	return k->share > LEAST_SHARE && k->rate / 1e9 > LEAST_RATE * p->tallest;
}

static void stretch(struct picture *p, double x, double y)
{
	p->low_x = fmin(p->low_x, x);
	p->high_x = fmax(p->high_x, x);
	p->low_y = fmin(p->low_y, y);
}

static void look_at_kernels(struct picture *p)
{
	const struct ut_roof *r = p->roof;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_roof_kernel *k = &r->kernels[i];

		if (!is_drawn(p, k)) {
			p->without += k->share > LEAST_SHARE;
			continue;
		}
		p->drawn++;
		for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
			if (k->intensity[l] > 0 && r->device.peak[UT_ROOF_UNITS + l] > 0) {
				p->levels |= 1u << l;
				stretch(p, k->intensity[l], k->rate / 1e9);
			}
		}
	}
}

/* Of the units that kernels use, or of all if they use none that has a peak. */
static void find_tallest(struct picture *p)
{
	const struct ut_roof *r = p->roof;
	const double *peak = r->device.peak;

	for (size_t i = 0; i < r->count; i++) {
		if (r->kernels[i].unit < UT_ROOF_UNITS && peak[r->kernels[i].unit] > 0)
			p->units |= 1u << r->kernels[i].unit;
	}
	for (unsigned int u = 0; u < UT_ROOF_UNITS; u++) {
		if (!p->units || p->units & 1u << u)
			p->tallest = fmax(p->tallest, peak[u] / 1e9);
	}
	for (unsigned int u = 0; u < UT_ROOF_UNITS && !p->units; u++)
		p->units |= peak[u] / 1e9 >= p->tallest ? 1u << u : 0;
}

/* All levels of the device if no kernel has shown any. */
static void look_at_roofs(struct picture *p)
{
	const double *peak = p->roof->device.peak;

	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		double slope = peak[UT_ROOF_UNITS + l] / 1e9;

		if (slope > 0 && (p->levels & 1u << l || !p->drawn)) {
			p->levels |= 1u << l;
			p->steepest = fmax(p->steepest, slope);
			stretch(p, p->tallest / slope, p->tallest);
		}
	}
}

/* ---- roofs ----------------------------------------------------------------------------------- */

/* A straight line on two logarithmic axes. */
static struct ut_series line(struct picture *p, const double from[2], const double to[2])
{
	double *xy = UT_NEW_N(p->arena, double, 4);

	xy[0] = from[0];
	xy[1] = to[0];
	xy[2] = from[1];
	xy[3] = to[1];
	return (struct ut_series){
		.kind = UT_SERIES_LINE, .x = xy, .y = xy + 2, .count = 2, .has_label = true
	};
}

static struct ut_str roof_name(struct picture *p, unsigned int part)
{
	struct ut_buf b = { 0 };
	double peak = p->roof->device.peak[part] / 1e9;

	ut_buf_fmt(&b, "%s, %.4g %s", ut_roof_title(&p->roof->device, part),
		   peak >= 1000 ? peak / 1000 : peak,
		   ut_roof_is_level(part) ? (peak >= 1000 ? "TB/s" : "GB/s")
					  : (peak >= 1000 ? "TFLOP/s" : "GFLOP/s"));
	return roofline_chart_text_of(p->arena, &b);
}

/* From the left edge up to the tallest roof. */
static struct ut_series level_roof(struct picture *p, unsigned int level)
{
	double slope = p->roof->device.peak[UT_ROOF_UNITS + level] / 1e9;
	double begin = fmax(p->low_x, p->low_y / slope);
	struct ut_series s = line(p, (double[]){ begin, begin * slope },
				  (double[]){ p->tallest / slope, p->tallest });

	s.name = roof_name(p, UT_ROOF_UNITS + level);
	s.colour = level + 1;
	return s;
}

/* On many devices shared memory is a part of L1: two lines would lie on each other. */
static bool is_same_roof(const struct picture *p, unsigned int level)
{
	const double *peak = p->roof->device.peak + UT_ROOF_UNITS;

	return level == UT_ROOF_SHARED && p->levels & 1u << UT_ROOF_L1 &&
	       fabs(peak[UT_ROOF_SHARED] / peak[UT_ROOF_L1] - 1) < 0.1;
}

/* From the steepest level to the right edge. */
static struct ut_series unit_roof(struct picture *p, unsigned int unit)
{
	double peak = p->roof->device.peak[unit] / 1e9;
	double begin = p->steepest > 0 ? peak / p->steepest : p->low_x;
	struct ut_series s = line(p, (double[]){ begin, peak }, (double[]){ p->high_x, peak });

	s.name = roof_name(p, unit);
	s.colour = UT_ROOF_LEVELS + 1;
	s.dash = peak < p->tallest ? UT_DASH_LONG : UT_DASH_NONE;
	return s;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static struct ut_str note_of(struct picture *p, const struct ut_roof_kernel *k, unsigned int level)
{
	struct ut_buf b = { 0 };

	ut_roof_say_kernel(p->roof, k, NOTE_NAME, &b);
	ut_buf_fmt(&b, " %.4g flop per byte of %s.", k->intensity[level],
		   ut_roof_title(&p->roof->device, UT_ROOF_UNITS + level));
	return roofline_chart_text_of(p->arena, &b);
}

/* Names stand at the first level only: the others are above or below each other. */
static struct ut_series points(struct picture *p, unsigned int level, bool named, size_t *rows)
{
	const struct ut_roof *r = p->roof;
	double *x = UT_NEW_N(p->arena, double, r->count);
	double *y = UT_NEW_N(p->arena, double, r->count);
	double *weight = UT_NEW_N(p->arena, double, r->count);
	struct ut_str *notes = UT_NEW_N(p->arena, struct ut_str, r->count);
	struct ut_str *labels = UT_NEW_N(p->arena, struct ut_str, r->count);
	struct ut_series s = { .kind = UT_SERIES_POINTS,
			       .name = ut_str_of(ut_roof_title(&r->device, UT_ROOF_UNITS + level)),
			       .x = x,
			       .y = y,
			       .weight = weight,
			       .notes = notes,
			       .labels = labels,
			       .colour = level + 1 };

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_roof_kernel *k = &r->kernels[i];

		if (!is_drawn(p, k) || k->intensity[level] <= 0)
			continue;
		x[s.count] = k->intensity[level];
		y[s.count] = k->rate / 1e9;
		weight[s.count] = k->share;
		rows[s.count] = i;
		notes[s.count] = note_of(p, k, level);
		if (named && k->share >= NAMED_SHARE)
			labels[s.count] = k->shown;
		s.count++;
	}
	return s;
}

/* ---- places ---------------------------------------------------------------------------------- */

static struct ut_str foot(const struct picture *p)
{
	struct ut_buf b = { 0 };

	ut_buf_text(
		&b,
		"Discs are kernels: their area is their time, their colour the level of memory.");
	if (p->without)
		ut_buf_fmt(&b, " %zu kernel%s with no or hardly any floating point %s not here.",
			   p->without, p->without == 1 ? "" : "s", p->without == 1 ? "is" : "are");
	return roofline_chart_text_of(p->arena, &b);
}

static void head(const struct picture *p, struct ut_chart *c)
{
	struct ut_buf title = { 0 }, all = { 0 };

	ut_buf_text(&title, "Roofline");
	if (p->roof->device.name.len) {
		ut_buf_text(&title, ": ");
		ut_buf_add(&title, p->roof->device.name.ptr, p->roof->device.name.len);
	}
	ut_roof_say_all(p->roof, &all);
	c->title = roofline_chart_text_of(p->arena, &title);
	c->subtitle = roofline_chart_text_of(p->arena, &all);
}

static bool places(struct picture *p, struct ut_roof_picture *to)
{
	struct ut_chart *c = &to->chart;
	struct ut_series *series =
		UT_NEW_N(p->arena, struct ut_series, UT_ROOF_PARTS + UT_ROOF_LEVELS);
	bool first = true;

	p->low_x = p->low_y = INFINITY;
	find_tallest(p);
	look_at_kernels(p);
	look_at_roofs(p);
	if (!p->levels || !(p->tallest > 0))
		return false;
	p->low_x /= 4;
	p->high_x *= 8;
	p->low_y = fmin(p->low_y / 3, p->tallest / 1000);
	for (unsigned int u = 0; u < UT_ROOF_UNITS; u++) {
		if (p->units & 1u << u && p->roof->device.peak[u] > 0)
			series[c->count++] = unit_roof(p, u);
	}
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		if (p->levels & 1u << l && !is_same_roof(p, l))
			series[c->count++] = level_roof(p, l);
	}
	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		if (!(p->levels & 1u << l) || !p->drawn)
			continue;
		to->rows[c->count] = UT_NEW_N(p->arena, size_t, p->roof->count);
		series[c->count] = points(p, l, first, to->rows[c->count]);
		c->count++;
		first = false;
	}
	head(p, c);
	c->note = foot(p);
	c->series = series;
	c->x = (struct ut_axis){ .title = ut_str_of("Arithmetic intensity (flop per byte)"),
				 .is_log = true,
				 .low = p->low_x,
				 .high = p->high_x };
	c->y = (struct ut_axis){ .title = ut_str_of("Performance (GFLOP/s)"),
				 .is_log = true,
				 .low = p->low_y,
				 .high = p->tallest * 2.5 };
	return true;
}

/* ---- what is used -----------------------------------------------------------------------------
 */

static bool anybody_uses(const struct ut_roof *r, unsigned int part, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (r->kernels[i].used[part] > 0.005)
			return true;
	}
	return false;
}

static bool used(struct picture *p, struct ut_roof_picture *to)
{
	struct ut_chart *c = &to->chart;
	const struct ut_roof *r = p->roof;
	size_t count = r->count < BARS ? r->count : BARS;
	struct ut_series *series = UT_NEW_N(p->arena, struct ut_series, UT_ROOF_PARTS);
	struct ut_str *names = UT_NEW_N(p->arena, struct ut_str, count ? count : 1);
	unsigned int units = 0; /* so far: their colours are behind those of levels */

	to->rows[0] = UT_NEW_N(p->arena, size_t, count ? count : 1);
	for (size_t i = 0; i < count; i++) {
		names[i] = r->kernels[i].shown;
		to->rows[0][i] = i;
	}
	for (unsigned int part = 0; part < UT_ROOF_PARTS; part++) {
		double *y;

		if (!anybody_uses(r, part, count))
			continue;
		y = UT_NEW_N(p->arena, double, count);
		for (size_t i = 0; i < count; i++)
			y[i] = round(1e4 * r->kernels[i].used[part]) / 100;
		series[c->count++] = (struct ut_series){
			.kind = UT_SERIES_BARS,
			.name = ut_str_of(ut_roof_title(&r->device, part)),
			.y = y,
			.count = count,
			.colour = ut_roof_is_level(part)
					  ? part - UT_ROOF_UNITS + 1
					  : UT_ROOF_LEVELS + 1 + units++ % UT_ROOF_LEVELS,
		};
	}
	c->title = ut_str_of("How much of the device kernels use");
	c->subtitle =
		ut_str_of("The kernels with the most time, the longest above. The longest bar "
			  "of a kernel is what binds it.");
	c->series = series;
	c->is_sideways = true;
	c->x = (struct ut_axis){ .title = ut_str_of("Of what the device can do (%)"), .high = 100 };
	c->y = (struct ut_axis){ .names = names, .name_count = count };
	return c->count > 0;
}

bool ut_roof_chart(const struct ut_roof *r, enum ut_roof_chart which, struct ut_arena *a,
		   struct ut_roof_picture *picture)
{
	struct picture p = { .roof = r, .arena = a };

	*picture = (struct ut_roof_picture){ .rows = UT_NEW_N(a, size_t *,
							      UT_ROOF_PARTS + UT_ROOF_LEVELS) };
	return which == UT_ROOF_CHART_PLACES ? places(&p, picture) : used(&p, picture);
}
