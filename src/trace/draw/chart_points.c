/* chart_points.c - series as discs, with what they are beside them where there is room. */
#include "draw/chart_parts.h"

#include <math.h>
#include <stdio.h>

#include "draw/palette.h"
#include "draw/typeset.h"

#define LARGEST   15.0 /* points: radius of the heaviest */
#define LEAST     2.2
#define ALIKE     3.2
#define MANY      200 /* from so many on they are smaller */
#define NAMES     60  /* written at most: a picture full of names tells nothing */
#define NAME_MOST 170.0
#define OBSTACLES 2000 /* discs that names keep off; of more, nothing would be left */

/* Where no more names go: on discs, and on other names. */
struct labels {
	struct ut_box *boxes;
	size_t count, written;
};

static bool overlaps(const struct ut_box *a, const struct ut_box *b)
{
	return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
	       b->y < a->y + a->height;
}

static bool is_free(const struct ut_plot *p, const struct labels *l, const struct ut_box *box)
{
	const struct ut_box *area = &p->area;

	if (box->x < area->x || box->y < area->y || box->x + box->width > area->x + area->width ||
	    box->y + box->height > area->y + area->height)
		return false;
	for (size_t i = 0; i < l->count; i++) {
		if (overlaps(&l->boxes[i], box))
			return false;
	}
	return true;
}

/* To the right of the disc, to the left, above, below: the first place that is free. */
static void write_name(struct ut_plot *p, struct labels *l, struct ut_point at, double radius,
		       struct ut_str name)
{
	struct ut_lettering type = { .size = UT_CHART_SMALL - 1, .colour = UT_INK_TEXT };
	struct ut_str text = ut_text_fit(&p->arena, &type, name, NAME_MOST);
	double width = ut_text_width(&type, text), high = type.size + 1;
	const struct ut_point places[] = {
		{ at.x + radius + 2, at.y - high / 2 },
		{ at.x - radius - 2 - width, at.y - high / 2 },
		{ at.x - width / 2, at.y - radius - 1 - high },
		{ at.x - width / 2, at.y + radius + 1 },
	};

	for (size_t i = 0; i < 4 && l->written < NAMES; i++) {
		struct ut_box box = { places[i].x, places[i].y, width, high };

		if (!is_free(p, l, &box))
			continue;
		l->boxes[l->count++] = box;
		l->written++;
		ut_scene_text(p->scene, &type, (struct ut_point){ box.x, box.y + type.size * 0.85 },
			      text);
		return;
	}
}

/* Of all series: areas can be compared. */
static double heaviest(const struct ut_chart *c)
{
	double most = 0;

	for (size_t k = 0; k < c->count; k++) {
		const struct ut_series *s = &c->series[k];

		for (size_t i = 0; i < s->count && s->weight; i++)
			most = isfinite(s->weight[i]) ? fmax(most, s->weight[i]) : most;
	}
	return most;
}

static double radius_of(const struct ut_series *s, size_t i, double most)
{
	if (!s->weight || !(most > 0))
		return s->count > MANY ? LEAST : ALIKE;
	return fmax(LEAST, LARGEST * sqrt(fmax(0, s->weight[i]) / most));
}

static void chart_points_report(struct ut_plot *p, const struct ut_series *s, size_t i)
{
	char x[UT_TICKS_LABEL], y[UT_TICKS_LABEL], note[160];

	if (s->notes) {
		ut_scene_note(p->scene, s->notes[i]);
		return;
	}
	ut_number_label(s->x ? s->x[i] : (double)i, p->chart->x.numbers, x);
	ut_number_label(s->y[i], p->chart->y.numbers, y);
	snprintf(note, sizeof(note), "%s, %s", x, y);
	ut_scene_note(p->scene, ut_str_of(note));
}

/* No number is. */
static bool chart_points_is_inside(const struct ut_box *area, struct ut_point at)
{
	return at.x >= area->x && at.x <= area->x + area->width && at.y >= area->y &&
	       at.y <= area->y + area->height;
}

static struct ut_str chart_points_name_of(const struct ut_series *s, size_t i)
{
	if (s->labels)
		return s->labels[i];
	return s->names_points && s->notes ? s->notes[i] : (struct ut_str){ 0 };
}

static struct ut_point chart_points_place_of(const struct ut_plot *p, const struct ut_series *s,
					     size_t i)
{
	return (struct ut_point){ ut_scale_place(&p->x, s->x ? s->x[i] : (double)i),
				  ut_scale_place(&p->y, s->y[i]) };
}

/* Names keep off the inner part of a disc. */
static struct ut_box core_of(struct ut_point at, double radius)
{
	double half = radius * 0.75;

	return (struct ut_box){ at.x - half, at.y - half, 2 * half, 2 * half };
}

static void draw_discs(struct ut_plot *p, size_t series, double most, struct labels *l)
{
	const struct ut_series *s = &p->chart->series[series];
	uint32_t ink = ut_series_ink(p->chart, series);
	const struct ut_paint paint = { .fill = ut_ink_alpha(ink, 0xb0),
					.stroke = 0xffffffff,
					.width = 0.6 };

	for (size_t i = 0; i < s->count; i++) {
		struct ut_point at = chart_points_place_of(p, s, i);
		double radius = radius_of(s, i, most);

		if (!chart_points_is_inside(&p->area, at))
			continue;
		ut_scene_disc(p->scene, &paint, at, radius);
		chart_points_report(p, s, i);
		if (l->boxes && l->count < OBSTACLES)
			l->boxes[l->count++] = core_of(at, radius);
	}
}

static void write_names(struct ut_plot *p, const struct ut_series *s, double most, struct labels *l)
{
	for (size_t i = 0; i < s->count && l->written < NAMES; i++) {
		struct ut_point at = chart_points_place_of(p, s, i);

		if (chart_points_name_of(s, i).len && chart_points_is_inside(&p->area, at))
			write_name(p, l, at, radius_of(s, i, most), chart_points_name_of(s, i));
	}
}

void ut_chart_draw_points(struct ut_plot *p)
{
	const struct ut_chart *c = p->chart;
	struct labels l = { 0 };
	double most = heaviest(c);
	bool has_names = false;

	for (size_t i = 0; i < c->count; i++) {
		const struct ut_series *s = &c->series[i];

		has_names = has_names || s->labels || (s->names_points && s->notes);
	}
	if (has_names)
		l.boxes = UT_NEW_N(&p->arena, struct ut_box, OBSTACLES + NAMES);
	for (size_t i = 0; i < c->count; i++) {
		if (c->series[i].kind == UT_SERIES_POINTS)
			draw_discs(p, i, most, &l);
	}
	for (size_t i = 0; i < c->count && has_names; i++) {
		if (c->series[i].kind == UT_SERIES_POINTS)
			write_names(p, &c->series[i], most, &l);
	}
}
