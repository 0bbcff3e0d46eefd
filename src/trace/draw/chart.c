#include "draw/chart.h"

#include <math.h>

#include "draw/bins.h"
#include "draw/chart_parts.h"
#include "draw/palette.h"
#include "draw/typeset.h"

#define EDGE      18.0  /* points: around everything */
#define BAR_LEAST 11.0  /* of a bar that lies */
#define ROOM      190.0 /* of a page with bars that lie, besides them */
#define TALLEST   5000.0
#define NAMES     0.42 /* of the width: names of bars that lie take no more */
#define VALUE_END 52.0 /* room for the number behind the longest bar that lies */

/* ---- around the area ------------------------------------------------------------------------ */

/* Title, subtitle and legend; returns where the rest begins. */
static double draw_head(struct ut_plot *p, struct ut_box box)
{
	const struct ut_lettering large = { .size = UT_CHART_LARGE,
					    .colour = UT_INK_TEXT,
					    .is_bold = true };
	const struct ut_lettering normal = { .size = UT_CHART_NORMAL, .colour = UT_INK_MUTED };
	const struct ut_chart *c = p->chart;
	double y = box.y;

	if (c->title.len) {
		y += UT_CHART_LARGE;
		ut_scene_text(p->scene, &large, (struct ut_point){ box.x, y },
			      ut_text_fit(&p->arena, &large, c->title, box.width));
		y += 4;
	}
	if (c->subtitle.len) {
		y += UT_CHART_NORMAL;
		ut_scene_text(p->scene, &normal, (struct ut_point){ box.x, y },
			      ut_text_fit(&p->arena, &normal, c->subtitle, box.width));
		ut_scene_note(p->scene, c->subtitle);
		y += 4;
	}
	y += 3;
	if (!p->has_panels)
		y += ut_chart_draw_legend(p->scene, c, (struct ut_box){ box.x, y, box.width, 0 });
	return y + (c->span_count ? 16 : 8);
}

/* The title of the x axis, and the note. */
static void draw_foot(struct ut_plot *p, struct ut_box box)
{
	const struct ut_lettering normal = { .size = UT_CHART_NORMAL,
					     .colour = UT_INK_TEXT,
					     .anchor = UT_ANCHOR_MIDDLE };
	const struct ut_lettering small = { .size = UT_CHART_SMALL - 1, .colour = UT_INK_MUTED };
	double y = box.y + box.height;

	if (p->chart->note.len) {
		ut_scene_text(p->scene, &small, (struct ut_point){ box.x, y - 1 },
			      ut_text_fit(&p->arena, &small, p->chart->note, box.width));
		y -= small.size + 5;
	}
	if (p->chart->x.title.len) {
		ut_scene_text(p->scene, &normal,
			      (struct ut_point){ p->area.x + p->area.width / 2, y - 3 },
			      ut_text_fit(&p->arena, &normal, p->chart->x.title, box.width));
	}
}

static void draw_y_title(struct ut_plot *p, double x)
{
	const struct ut_lettering normal = { .size = UT_CHART_NORMAL,
					     .colour = UT_INK_TEXT,
					     .anchor = UT_ANCHOR_MIDDLE,
					     .turn = -90 };

	ut_scene_text(p->scene, &normal,
		      (struct ut_point){ x + normal.size * 0.85, p->area.y + p->area.height / 2 },
		      ut_text_fit(&p->arena, &normal, p->chart->y.title, p->area.height));
}

/* ---- scales --------------------------------------------------------------------------------- */

unsigned int ut_scale_room(double points, double each)
{
	return points > 2 * each ? (unsigned int)(points / each) : 2;
}

static bool is_given(const struct ut_axis *axis)
{
	return axis->low < axis->high;
}

void ut_scale_set(struct ut_scale *s, const struct ut_axis *axis, unsigned int want, bool widen)
{
	s->is_log = axis->is_log;
	s->ticks = (struct ut_ticks){ .numbers = axis->numbers, .is_log = axis->is_log };
	ut_ticks_find(&s->ticks, &s->low, &s->high, want, widen && !is_given(axis));
}

/* Scales need the height or width of the area only for how many numbers they have. */
static void make_scales(struct ut_plot *p, double width, double height)
{
	const struct ut_chart *c = p->chart;
	bool has_points = false;

	for (size_t i = 0; i < c->count; i++)
		has_points |= c->series[i].kind == UT_SERIES_POINTS;
	if (ut_chart_has_bars(c)) {
		struct ut_scale *s = c->is_sideways ? &p->x : &p->y;

		ut_chart_range_y(c, &s->low, &s->high);
		ut_scale_set(s, ut_chart_numbers(c),
			     c->is_sideways ? ut_scale_room(width, UT_CHART_X_TICK)
					    : ut_scale_room(height, UT_CHART_Y_TICK),
			     true);
		return;
	}
	ut_chart_range_x(c, &p->x.low, &p->x.high);
	ut_chart_range_y(c, &p->y.low, &p->y.high);
	ut_scale_set(&p->x, &c->x, ut_scale_room(width, UT_CHART_X_TICK), has_points);
	ut_scale_set(&p->y, &c->y, ut_scale_room(height, UT_CHART_Y_TICK), true);
}

double ut_scale_width(const struct ut_scale *s)
{
	const struct ut_lettering small = { .size = UT_CHART_SMALL };
	char label[UT_TICKS_LABEL];
	double widest = 0;

	for (size_t i = 0; i < s->ticks.count; i++) {
		size_t len = ut_ticks_label(&s->ticks, s->ticks.at[i], label);

		widest = fmax(widest, ut_text_width(&small, (struct ut_str){ label, len }));
	}
	return widest;
}

static double widest_name(const struct ut_axis *axis)
{
	const struct ut_lettering small = { .size = UT_CHART_SMALL };
	double widest = 0;

	for (size_t i = 0; i < axis->name_count; i++)
		widest = fmax(widest, ut_text_width(&small, axis->names[i]));
	return widest;
}

/* ---- all of it ------------------------------------------------------------------------------ */

double ut_chart_foot(const struct ut_chart *c)
{
	return 4 + (c->note.len ? UT_CHART_SMALL + 4 : 0) +
	       (c->x.title.len ? UT_CHART_NORMAL + 6 : 0);
}

/* The area that is left between the head, the foot and the numbers. */
static void find_area(struct ut_plot *p, struct ut_box box, double top)
{
	const struct ut_chart *c = p->chart;
	bool has_bars = ut_chart_has_bars(c), turned;
	double left, under = UT_CHART_SMALL + 6, foot = ut_chart_foot(c);

	make_scales(p, box.width * 0.85, box.height - (top - box.y) - foot - under);
	if (has_bars && c->is_sideways)
		left = fmin(widest_name(&c->y), box.width * NAMES) + 8;
	else
		left = ut_scale_width(&p->y) + 8;
	left += c->y.title.len ? UT_CHART_NORMAL + 8 : 0;
	p->area = (struct ut_box){ box.x + left, top, box.width - left - 8, 0 };
	if (has_bars && c->is_sideways && !c->is_stacked)
		p->area.width -= VALUE_END;
	if (has_bars && !c->is_sideways)
		under = ut_chart_names_height(c, p->area.width, &turned);
	p->area.height = fmax(20, box.y + box.height - foot - under - top);
	p->x.from = p->area.x;
	p->x.to = p->area.x + p->area.width;
	p->y.from = p->area.y + p->area.height;
	p->y.to = p->area.y;
}

double ut_chart_density(const struct ut_chart *c, double width)
{
	double most = 1;

	for (size_t i = 0; i < c->count; i++) {
		if (c->series[i].kind == UT_SERIES_LINE)
			most = fmax(most, (double)c->series[i].count * UT_CHART_COLUMN / width);
	}
	return most < UT_BINS_DENSE ? 1 : most;
}

static void draw_titles(struct ut_plot *p, struct ut_box box)
{
	draw_foot(p, box);
	if (p->chart->y.title.len)
		draw_y_title(p, box.x);
}

static void draw_area(struct ut_plot *p, struct ut_box box, double top)
{
	find_area(p, box, top);
	ut_chart_draw_spans(p);
	ut_chart_draw_axes(p);
	draw_titles(p, box);
	ut_scene_clip(p->scene, (struct ut_box){ p->area.x, p->area.y - 1, p->area.width + 1,
						 p->area.height + 2 });
	ut_chart_draw_lines(p);
	ut_scene_unclip(p->scene);
	ut_chart_draw_points(p);
	ut_chart_draw_bars(p);
}

void ut_chart_draw(struct ut_scene *s, const struct ut_chart *given, struct ut_box box)
{
	struct ut_chart own = *given, *chart = &own;
	struct ut_plot p = { .scene = s, .chart = chart };
	double samples = ut_chart_density(chart, box.width), top;

	if (samples > 1 && !chart->note.len)
		chart->note = ut_str_of(ut_str_fmt(&p.arena,
						   "A line goes through means of about %.0f "
						   "samples; the band around it reaches "
						   "from the least of them to the greatest.",
						   samples));
	p.has_panels = ut_chart_wants_panels(chart, box.width);
	top = draw_head(&p, box);
	if (p.has_panels) {
		ut_chart_draw_panels(&p, box, top);
		draw_titles(&p, box);
	} else {
		draw_area(&p, box, top);
	}
	ut_arena_release(&p.arena);
}

void ut_chart_page(struct ut_scene *s, const struct ut_chart *chart)
{
	double height = UT_CHART_HEIGHT;

	if (ut_chart_has_bars(chart) && chart->is_sideways) {
		double bars = (double)chart->y.name_count;

		if (!chart->is_stacked)
			bars *= (double)chart->count;
		height = fmin(fmax(bars * BAR_LEAST + ROOM, UT_CHART_HEIGHT * 0.6), TALLEST);
	}
	if (ut_chart_wants_panels(chart, UT_CHART_WIDTH - 2 * EDGE))
		height = fmin(fmax(ut_chart_panels_height(chart), height), TALLEST);
	ut_scene_page(s, UT_CHART_WIDTH, height);
	ut_chart_draw(s, chart,
		      (struct ut_box){ EDGE, EDGE, UT_CHART_WIDTH - 2 * EDGE, height - 2 * EDGE });
}
