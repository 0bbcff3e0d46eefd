/* chart_legend.c - which series is which: a grid of samples and names. */
#include "draw/chart_parts.h"

#include <math.h>
#include <stdio.h>

#include "draw/palette.h"
#include "draw/typeset.h"

#define SAMPLE    20.0 /* points: the piece of line, and the gap behind it */
#define GAP       16.0 /* between columns */
#define ROW       12.5
#define MOST_ROWS 12

static const struct ut_lettering type = { .size = UT_CHART_SMALL + 0.5, .colour = UT_INK_TEXT };

static bool is_listed(const struct ut_series *s)
{
	return s->name.len && !s->has_label;
}

static void draw_sample(struct ut_scene *scene, const struct ut_chart *c, size_t series,
			struct ut_point at)
{
	uint32_t ink = ut_series_ink(c, series);
	const struct ut_paint line = { .stroke = ink,
				       .width = 2,
				       .dash = ut_series_dash(c, series) };
	const struct ut_paint fill = { .fill = ink };

	switch (c->series[series].kind) {
	case UT_SERIES_LINE:
		ut_scene_line(scene, &line, (struct ut_point){ at.x, at.y - 3 },
			      (struct ut_point){ at.x + SAMPLE - 5, at.y - 3 });
		break;
	case UT_SERIES_POINTS:
		ut_scene_disc(scene, &fill, (struct ut_point){ at.x + 8, at.y - 3 }, 3.5);
		break;
	case UT_SERIES_BARS:
		ut_scene_rect(scene, &fill, (struct ut_box){ at.x + 5, at.y - 7, 9, 9 });
		break;
	}
}

struct grid {
	size_t listed, columns, rows;
	double width; /* of a column */
};

static struct grid layout(const struct ut_chart *c, double width)
{
	struct grid g = { 0, 1, 0, 0 };
	double widest = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (!is_listed(&c->series[i]))
			continue;
		g.listed++;
		widest = fmax(widest, ut_text_width(&type, c->series[i].name));
	}
	g.width = fmin(widest + SAMPLE + GAP, width);
	g.columns = g.width > 0 ? (size_t)fmax(1, floor(width / g.width)) : 1;
	g.rows = (g.listed + g.columns - 1) / g.columns;
	return g;
}

/* Where the entry with this number stands. */
static struct ut_point legend_place(const struct grid *g, struct ut_box box, size_t number)
{
	size_t row = number / g->columns + 1;

	return (struct ut_point){ box.x + (double)(number % g->columns) * g->width,
				  box.y + (double)row * ROW - 3 };
}

double ut_chart_draw_legend(struct ut_scene *scene, const struct ut_chart *c, struct ut_box box)
{
	struct grid g = layout(c, box.width);
	size_t shown = g.rows > MOST_ROWS ? g.columns * MOST_ROWS - 1 : g.listed, at = 0;
	struct ut_arena arena = { 0 };
	char more[48];

	if (g.rows > MOST_ROWS)
		g.rows = MOST_ROWS;
	if (!scene || !g.listed)
		return (double)g.rows * ROW;
	for (size_t i = 0; i < c->count && at < shown; i++) {
		struct ut_point place = legend_place(&g, box, at);

		if (!is_listed(&c->series[i]))
			continue;
		draw_sample(scene, c, i, place);
		place.x += SAMPLE;
		ut_scene_text(scene, &type, place,
			      ut_text_fit(&arena, &type, c->series[i].name, g.width - SAMPLE - 4));
		at++;
	}
	if (at < g.listed) {
		struct ut_point place = legend_place(&g, box, at);

		place.x += SAMPLE;
		snprintf(more, sizeof(more), "and %zu more", g.listed - at);
		ut_scene_text(scene, &type, place, ut_str_of(more));
	}
	ut_arena_release(&arena);
	return (double)g.rows * ROW;
}
