/* chart_lines.c - series as lines, and the stretches of the x axis that have names. */
#include "draw/chart_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw/bins.h"
#include "draw/palette.h"
#include "draw/typeset.h"

#define BAND_ALPHA  0x30
#define EDGE_ALPHA  0x58
#define LINE_WIDTH  1.3
#define DOTS_BELOW  40   /* so few samples are worth a dot each */
#define SPAN_LEAST  3.0  /* points: narrower ones are not told apart */
#define SPAN_NAMED  28.0 /* points: of narrower ones nothing of the name could be read */
#define LABEL_ABOVE 3.5
#define LABEL_IN    12.0 /* points from the begin of a line to its name */

/* ---- stretches ------------------------------------------------------------------------------ */

/* Places of a stretch; false if it is not to be seen. */
static bool place_span(const struct ut_plot *p, const struct ut_chart_span *span,
		       struct ut_box *box)
{
	double from = ut_scale_place(&p->x, fmax(span->from, p->x.low));
	double to = ut_scale_place(&p->x, fmin(span->to, p->x.high));

	if (!(to > from))
		return false;
	*box = (struct ut_box){ from, p->area.y, to - from, p->area.height };
	return true;
}

void ut_chart_draw_spans(struct ut_plot *p)
{
	const struct ut_paint band = { .fill = UT_INK_BAND };
	const struct ut_lettering type = { .size = UT_CHART_SMALL - 1,
					   .colour = UT_INK_MUTED,
					   .anchor = UT_ANCHOR_MIDDLE };
	double average = p->area.width / (double)(p->chart->span_count ? p->chart->span_count : 1);

	for (size_t i = 0; i < p->chart->span_count; i++) {
		const struct ut_chart_span *span = &p->chart->spans[i];
		struct ut_box box;

		if (!place_span(p, span, &box))
			continue;
		if (i % 2 == 0 && average >= SPAN_LEAST) {
			ut_scene_rect(p->scene, &band, box);
			ut_scene_note(p->scene, span->name);
		}
		if (box.width >= SPAN_NAMED && !p->hides_stretches)
			ut_scene_text(p->scene, &type,
				      (struct ut_point){ box.x + box.width / 2,
							 box.y - 4 - p->above_name },
				      ut_text_fit(&p->arena, &type, span->name, box.width - 4));
	}
}

/* Is there the end of a stretch between the two, where a line would tell of nothing? */
static bool is_broken(const struct ut_plot *p, size_t *span, double before, double after)
{
	const struct ut_chart *c = p->chart;

	if ((double)c->span_count > p->area.width / (2 * UT_CHART_COLUMN))
		return false; /* nothing but gaps */
	while (*span < c->span_count && c->spans[*span].from <= before)
		++*span;
	return *span < c->span_count && c->spans[*span].from <= after;
}

/* ---- lines ---------------------------------------------------------------------------------- */

struct run {
	struct ut_plot *plot;
	struct ut_paint paint;
	struct ut_point *points;
	size_t count;
};

static void end_run(struct run *r)
{
	struct ut_paint dot = { .fill = r->paint.stroke };

	if (r->count == 1) /* alone between holes: a line would not show it */
		ut_scene_disc(r->plot->scene, &dot, r->points[0], r->paint.width);
	else
		ut_scene_polyline(r->plot->scene, &r->paint, r->points, r->count);
	r->count = 0;
}

static double x_of(const struct ut_series *s, size_t i)
{
	return s->x ? s->x[i] : (double)i;
}

/* Every sample has its place. */
static void draw_samples(struct ut_plot *p, const struct ut_series *s, const struct ut_paint *paint)
{
	struct run r = { p, *paint, UT_NEW_N(&p->arena, struct ut_point, s->count), 0 };
	const struct ut_paint dot = { .fill = paint->stroke };
	size_t span = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct ut_point at = { ut_scale_place(&p->x, x_of(s, i)),
				       ut_scale_place(&p->y, s->y[i]) };
		bool is_hole = !isfinite(at.x) || !isfinite(at.y);

		if (is_hole || (i && is_broken(p, &span, x_of(s, i - 1), x_of(s, i))))
			end_run(&r);
		if (is_hole)
			continue;
		r.points[r.count++] = at;
		if (s->count < DOTS_BELOW && !s->has_label)
			ut_scene_disc(p->scene, &dot, at, paint->width);
	}
	end_run(&r);
}

/* What lies between the extremes of each column. */
static void draw_band(struct ut_plot *p, const struct ut_bin *bins, size_t count, uint32_t ink)
{
	const struct ut_paint paint = { .fill = ut_ink_alpha(ink, BAND_ALPHA),
					.stroke = ut_ink_alpha(ink, EDGE_ALPHA),
					.width = 0.4 };
	struct ut_point *edge = UT_NEW_N(&p->arena, struct ut_point, 2 * count);
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		edge[n++] = (struct ut_point){ ut_scale_place(&p->x, bins[i].x),
					       ut_scale_place(&p->y, bins[i].high) };
	for (size_t i = count; i-- > 0;)
		edge[n++] = (struct ut_point){ ut_scale_place(&p->x, bins[i].x),
					       ut_scale_place(&p->y, bins[i].low) };
	ut_scene_area(p->scene, &paint, edge, n);
}

static void draw_bins(struct ut_plot *p, const struct ut_series *s, const struct ut_paint *paint,
		      size_t columns)
{
	struct ut_bin *bins = UT_NEW_N(&p->arena, struct ut_bin, columns);
	struct run r = { p, *paint, UT_NEW_N(&p->arena, struct ut_point, columns), 0 };
	const struct ut_bins_of of = { s->x, s->y, s->count, p->x.low, p->x.high };
	size_t count = ut_bins_fill(bins, columns, &of);
	size_t span = 0, from = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && is_broken(p, &span, bins[i - 1].x, bins[i].x)) {
			draw_band(p, bins + from, i - from, paint->stroke);
			end_run(&r);
			from = i;
		}
		r.points[r.count++] = (struct ut_point){ ut_scale_place(&p->x, bins[i].x),
							 ut_scale_place(&p->y, bins[i].mean) };
	}
	draw_band(p, bins + from, count - from, paint->stroke);
	end_run(&r);
}

/* The part of a piece of line that lies in the area; false if there is none. */
static bool chart_lines_cut(const struct ut_box *area, struct ut_point *a, struct ut_point *b)
{
	const double dx = b->x - a->x, dy = b->y - a->y;
	const double p[] = { -dx, dx, -dy, dy };
	const double q[] = { a->x - area->x, area->x + area->width - a->x, a->y - area->y,
			     area->y + area->height - a->y };
	double from = 0, to = 1;

	for (int i = 0; i < 4; i++) {
		if (!(fabs(p[i]) > 0)) {
			if (q[i] < 0)
				return false;
		} else if (p[i] < 0) {
			from = fmax(from, q[i] / p[i]);
		} else {
			to = fmin(to, q[i] / p[i]);
		}
	}
	if (!(from < to))
		return false;
	*b = (struct ut_point){ a->x + to * dx, a->y + to * dy };
	*a = (struct ut_point){ a->x + from * dx, a->y + from * dy };
	return true;
}

/* The longest piece that is to be seen; its length, or 0. */
static double longest_piece(const struct ut_plot *p, const struct ut_series *s,
			    struct ut_point *from, struct ut_point *to)
{
	double longest = 0;

	for (size_t i = 1; i < s->count; i++) {
		struct ut_point a = { ut_scale_place(&p->x, x_of(s, i - 1)),
				      ut_scale_place(&p->y, s->y[i - 1]) };
		struct ut_point b = { ut_scale_place(&p->x, x_of(s, i)),
				      ut_scale_place(&p->y, s->y[i]) };
		double length = chart_lines_cut(&p->area, &a, &b) ? hypot(b.x - a.x, b.y - a.y) : 0;

		if (length > longest) {
			longest = length;
			*from = a;
			*to = b;
		}
	}
	return longest;
}

/* The name along it: of a level one at its right end, of others at their begin, which lines that
 * meet each other leave free. */
static void draw_label(struct ut_plot *p, const struct ut_series *s, uint32_t ink)
{
	struct ut_lettering type = { .size = UT_CHART_SMALL, .colour = ink };
	struct ut_point from = { 0, 0 }, to = { 0, 0 }, at;
	double longest = longest_piece(p, s, &from, &to), turn;

	if (!(longest > 0))
		return;
	turn = atan2(to.y - from.y, to.x - from.x);
	type.turn = turn * 180 / M_PI;
	at = (struct ut_point){ from.x + LABEL_IN * cos(turn), from.y + LABEL_IN * sin(turn) };
	if (fabs(type.turn) < 1) {
		type.anchor = UT_ANCHOR_END;
		at = (struct ut_point){ to.x - 4, to.y };
	}
	at.x += LABEL_ABOVE * sin(turn);
	at.y -= LABEL_ABOVE * cos(turn);
	ut_scene_text(p->scene, &type, at,
		      ut_text_fit(&p->arena, &type, s->name, longest - LABEL_IN));
}

void ut_chart_draw_lines(struct ut_plot *p)
{
	size_t columns = (size_t)fmax(2, p->area.width / UT_CHART_COLUMN);

	for (size_t i = 0; i < p->chart->count; i++) {
		const struct ut_series *s = &p->chart->series[i];
		uint32_t ink = ut_series_ink(p->chart, i);
		const struct ut_paint paint = { .stroke = ink,
						.width = LINE_WIDTH,
						.dash = ut_series_dash(p->chart, i) };

		if (s->kind != UT_SERIES_LINE)
			continue;
		if (s->count > UT_BINS_DENSE * columns)
			draw_bins(p, s, &paint, columns);
		else
			draw_samples(p, s, &paint);
		if (s->has_label)
			draw_label(p, s, ink);
	}
}
