/* chart_axes.c - grid, frame, numbers and names of both axes. */
#include "draw/chart_parts.h"

#include <math.h>

#include "draw/palette.h"
#include "draw/typeset.h"

#define GAP 5.0 /* between the frame and its numbers */

static const struct ut_paint grid = { .stroke = UT_INK_GRID, .width = 0.6 };
static const struct ut_paint frame = { .stroke = UT_INK_FRAME, .width = 0.8 };
static const struct ut_lettering small = { .size = UT_CHART_SMALL, .colour = UT_INK_MUTED };

static double right(const struct ut_plot *p)
{
	return p->area.x + p->area.width;
}

static double bottom(const struct ut_plot *p)
{
	return p->area.y + p->area.height;
}

static void draw_x_numbers(struct ut_plot *p)
{
	struct ut_lettering type = small;
	char label[UT_TICKS_LABEL];

	type.anchor = UT_ANCHOR_MIDDLE;
	for (size_t i = 0; i < p->x.ticks.count; i++) {
		double at = ut_scale_place(&p->x, p->x.ticks.at[i]);
		size_t len = ut_ticks_label(&p->x.ticks, p->x.ticks.at[i], label);

		ut_scene_line(p->scene, &grid, (struct ut_point){ at, p->area.y },
			      (struct ut_point){ at, bottom(p) });
		if (!p->hides_x_numbers)
			ut_scene_text(p->scene, &type,
				      (struct ut_point){ at, bottom(p) + GAP + type.size * 0.8 },
				      (struct ut_str){ label, len });
	}
}

static void draw_y_numbers(struct ut_plot *p)
{
	struct ut_lettering type = small;
	char label[UT_TICKS_LABEL];

	type.anchor = UT_ANCHOR_END;
	for (size_t i = 0; i < p->y.ticks.count; i++) {
		double at = ut_scale_place(&p->y, p->y.ticks.at[i]);
		size_t len = ut_ticks_label(&p->y.ticks, p->y.ticks.at[i], label);

		ut_scene_line(p->scene, &grid, (struct ut_point){ p->area.x, at },
			      (struct ut_point){ right(p), at });
		ut_scene_text(p->scene, &type,
			      (struct ut_point){ p->area.x - GAP, at + type.size * 0.35 },
			      (struct ut_str){ label, len });
	}
}

/* Below upright bars; every nth if they stand too close. */
static void draw_x_names(struct ut_plot *p)
{
	const struct ut_axis *axis = &p->chart->x;
	struct ut_lettering type = small;
	double slot = p->area.width / (double)(axis->name_count ? axis->name_count : 1), room;
	bool turned;
	size_t every;

	type.size = UT_CHART_SMALL - 1;
	room = ut_chart_names_height(p->chart, p->area.width, &turned) - 6;
	every = turned ? (size_t)ceil((type.size + 0.5) / slot) : 1;
	type.anchor = turned ? UT_ANCHOR_END : UT_ANCHOR_MIDDLE;
	type.turn = turned ? -90 : 0;
	for (size_t i = 0; i < axis->name_count; i += every) {
		double at = p->area.x + slot * ((double)i + 0.5);
		struct ut_point place = { at, bottom(p) + GAP + type.size * 0.8 };

		if (turned)
			place = (struct ut_point){ at + type.size * 0.35, bottom(p) + GAP };
		ut_scene_text(p->scene, &type, place,
			      turned ? ut_text_fit(&p->arena, &type, axis->names[i], room)
				     : axis->names[i]);
	}
}

/* To the left of bars that lie. */
static void draw_y_names(struct ut_plot *p, double left)
{
	const struct ut_axis *axis = &p->chart->y;
	struct ut_lettering type = small;
	double slot = p->area.height / (double)(axis->name_count ? axis->name_count : 1);

	type.anchor = UT_ANCHOR_END;
	type.colour = UT_INK_TEXT;
	for (size_t i = 0; i < axis->name_count; i++) {
		struct ut_point place = { p->area.x - GAP,
					  p->area.y + slot * ((double)i + 0.5) + type.size * 0.35 };

		ut_scene_text(p->scene, &type, place,
			      ut_text_fit(&p->arena, &type, axis->names[i], left));
		ut_scene_note(p->scene, axis->names[i]);
	}
}

void ut_chart_draw_axes(struct ut_plot *p)
{
	bool has_bars = ut_chart_has_bars(p->chart), is_sideways = p->chart->is_sideways;

	if (!has_bars || is_sideways)
		draw_x_numbers(p);
	else
		draw_x_names(p);
	if (!has_bars || !is_sideways)
		draw_y_numbers(p);
	else
		draw_y_names(p, p->area.x - GAP);
	ut_scene_line(p->scene, &frame, (struct ut_point){ p->area.x, p->area.y },
		      (struct ut_point){ p->area.x, bottom(p) });
	ut_scene_line(p->scene, &frame, (struct ut_point){ p->area.x, bottom(p) },
		      (struct ut_point){ right(p), bottom(p) });
}
