/*
 * chart_panels.c - many lines of many samples: a panel for each, above each other, with one x axis.
 *
 * Each has a y scale of its own, so that a small one can be read beside a large one; they all begin
 * at zero, and their numbers say how far they go.
 */
#include "draw/chart_parts.h"

#include <math.h>

#include "draw/bins.h"
#include "draw/palette.h"
#include "draw/typeset.h"

#define FEWEST 4u   /* series; up to three can be told apart in one area */
#define PANEL  66.0 /* points, with the gap above it */
#define GAP    15.0 /* has the name of the panel in it */
#define NAME   12.0
#define MARGIN 110.0

bool ut_chart_wants_panels(const struct ut_chart *c, double width)
{
	if (c->count < FEWEST || ut_chart_density(c, width) <= 1)
		return false;
	for (size_t i = 0; i < c->count; i++) {
		if (c->series[i].kind != UT_SERIES_LINE || c->series[i].has_label)
			return false;
	}
	return true;
}

double ut_chart_panels_height(const struct ut_chart *c)
{
	return MARGIN + PANEL * (double)c->count;
}

/* A chart of the one series, which keeps its colour. */
static struct ut_chart alone(const struct ut_chart *c, size_t i, struct ut_series *series)
{
	struct ut_chart one = *c;

	*series = c->series[i];
	series->dash = ut_series_dash(c, i);
	series->colour = series->colour ? series->colour : (unsigned int)(i % UT_PALETTE) + 1;
	one.series = series;
	one.count = 1;
	return one;
}

static void scale_panel(struct ut_plot *p, double height)
{
	ut_chart_range_y(p->chart, &p->y.low, &p->y.high);
	ut_scale_set(&p->y, &p->chart->y, ut_scale_room(height, UT_CHART_Y_TICK / 2), true);
}

static void draw_panel(struct ut_plot *p)
{
	const struct ut_series *s = p->chart->series;
	const struct ut_lettering type = { .size = UT_CHART_SMALL + 0.5,
					   .colour = ut_series_ink(p->chart, 0),
					   .is_bold = true };

	p->y.from = p->area.y + p->area.height;
	p->y.to = p->area.y;
	ut_chart_draw_spans(p);
	ut_chart_draw_axes(p);
	ut_scene_text(p->scene, &type, (struct ut_point){ p->area.x, p->area.y - 4 },
		      ut_text_fit(&p->arena, &type, s->name, p->area.width));
	ut_scene_note(p->scene, s->name);
	ut_scene_clip(p->scene, (struct ut_box){ p->area.x, p->area.y - 1, p->area.width + 1,
						 p->area.height + 2 });
	ut_chart_draw_lines(p);
	ut_scene_unclip(p->scene);
}

/* The numbers of all panels end at the same place. */
static double widest(struct ut_plot *p, const struct ut_chart *c, double height)
{
	struct ut_series series;
	double most = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct ut_chart one = alone(c, i, &series);

		p->chart = &one;
		scale_panel(p, height);
		most = fmax(most, ut_scale_width(&p->y));
	}
	p->chart = c;
	return most;
}

void ut_chart_draw_panels(struct ut_plot *p, struct ut_box box, double top)
{
	const struct ut_chart *c = p->chart;
	double under = UT_CHART_SMALL + 6, left;
	double end = box.y + box.height - ut_chart_foot(c) - under;
	double each = fmax((end - top) / (double)c->count, 2 * GAP);

	p->above_name = NAME;
	left = widest(p, c, each - GAP) + 8 + (c->y.title.len ? UT_CHART_NORMAL + 8 : 0);
	p->x.from = box.x + left;
	p->x.to = box.x + box.width - 8;
	ut_chart_range_x(c, &p->x.low, &p->x.high);
	ut_scale_set(&p->x, &c->x, ut_scale_room(p->x.to - p->x.from, UT_CHART_X_TICK), false);
	for (size_t i = 0; i < c->count; i++) {
		struct ut_series series;
		struct ut_chart one = alone(c, i, &series);

		p->chart = &one;
		p->area = (struct ut_box){ p->x.from, top + each * (double)i + GAP,
					   p->x.to - p->x.from, each - GAP };
		p->hides_x_numbers = i + 1 < c->count;
		p->hides_stretches = i > 0;
		scale_panel(p, p->area.height);
		draw_panel(p);
	}
	p->chart = c;
	p->area.y = top; /* all of them, for the titles */
	p->area.height = end - top;
}
