/* chart_bars.c - series as bars: one for each name, upright or sideways, beside or on each other.
 */
#include "draw/chart_parts.h"

#include <math.h>
#include <stdio.h>

#include "draw/palette.h"
#include "draw/typeset.h"

#define FILLED     0.78 /* of its place: the rest is the gap to the next */
#define VALUES     60u  /* so many bars or fewer have their number written at their end */
#define NAMES_MOST 110.0

struct slots {
	double each;  /* points along the axis of names for one name */
	double first; /* where they begin */
};

static struct slots slots_of(const struct ut_plot *p)
{
	const struct ut_axis *names = ut_chart_names(p->chart);
	double n = (double)(names->name_count ? names->name_count : 1);

	return p->chart->is_sideways ? (struct slots){ p->area.height / n, p->area.y }
				     : (struct slots){ p->area.width / n, p->area.x };
}

/* From one value to another, across [at, at + thick] of the names' axis. */
static struct ut_box box_of(const struct ut_plot *p, double at, double thick, double from,
			    double to)
{
	const struct ut_scale *s = p->chart->is_sideways ? &p->x : &p->y;
	double a = ut_scale_place(s, from), b = ut_scale_place(s, to);

	if (p->chart->is_sideways)
		return (struct ut_box){ fmin(a, b), at, fabs(b - a), thick };
	return (struct ut_box){ at, fmin(a, b), thick, fabs(b - a) };
}

static void chart_bars_report(struct ut_plot *p, const struct ut_series *s, size_t i)
{
	const struct ut_axis *names = ut_chart_names(p->chart);
	char number[UT_TICKS_LABEL];
	struct ut_str note;

	if (s->notes) {
		ut_scene_note(p->scene, s->notes[i]);
		return;
	}
	ut_number_label(s->y[i], ut_chart_numbers(p->chart)->numbers, number);
	note = ut_str_of(ut_str_fmt(&p->arena, "%.*s%s%.*s: %s", (int)names->names[i].len,
				    names->names[i].ptr, s->name.len ? ", " : "", (int)s->name.len,
				    s->name.len ? s->name.ptr : "", number));
	ut_scene_note(p->scene, note);
}

static void write_value(struct ut_plot *p, const struct ut_box *box, double value)
{
	struct ut_lettering type = { .size = UT_CHART_SMALL - 0.5, .colour = UT_INK_MUTED };
	char number[UT_TICKS_LABEL];

	ut_number_label(value, ut_chart_numbers(p->chart)->numbers, number);
	if (p->chart->is_sideways) {
		ut_scene_text(p->scene, &type,
			      (struct ut_point){ box->x + box->width + 4,
						 box->y + box->height / 2 + type.size * 0.35 },
			      ut_str_of(number));
		return;
	}
	type.anchor = UT_ANCHOR_MIDDLE;
	ut_scene_text(p->scene, &type, (struct ut_point){ box->x + box->width / 2, box->y - 3 },
		      ut_str_of(number));
}

static void draw_stacked(struct ut_plot *p, struct slots slots, size_t name)
{
	double at = slots.first + slots.each * ((double)name + (1 - FILLED) / 2);
	double up = 0, down = 0;

	for (size_t i = 0; i < p->chart->count; i++) {
		const struct ut_series *s = &p->chart->series[i];
		const struct ut_paint paint = { .fill = ut_series_ink(p->chart, i) };
		double value = name < s->count ? s->y[name] : 0, *sum = value > 0 ? &up : &down;

		if (!isfinite(value) || !(fabs(value) > 0))
			continue;
		ut_scene_rect(p->scene, &paint,
			      box_of(p, at, slots.each * FILLED, *sum, *sum + value));
		chart_bars_report(p, s, name);
		*sum += value;
	}
}

static void draw_beside(struct ut_plot *p, struct slots slots, size_t name)
{
	double thick = slots.each * FILLED / (double)p->chart->count;
	double at = slots.first + slots.each * ((double)name + (1 - FILLED) / 2);
	const struct ut_axis *numbers = ut_chart_numbers(p->chart);
	double least = numbers->is_log ? (p->chart->is_sideways ? p->x.low : p->y.low) : 0;
	bool with_values = p->chart->count * ut_chart_names(p->chart)->name_count <= VALUES;

	for (size_t i = 0; i < p->chart->count; i++, at += thick) {
		const struct ut_series *s = &p->chart->series[i];
		const struct ut_paint paint = { .fill = ut_series_ink(p->chart, i) };
		struct ut_box box;

		if (name >= s->count || !isfinite(s->y[name]))
			continue;
		box = box_of(p, at, thick, least, s->y[name]);
		ut_scene_rect(p->scene, &paint, box);
		chart_bars_report(p, s, name);
		if (with_values)
			write_value(p, &box, s->y[name]);
	}
}

void ut_chart_draw_bars(struct ut_plot *p)
{
	struct slots slots = slots_of(p);

	if (!ut_chart_has_bars(p->chart))
		return;
	for (size_t i = 0; i < ut_chart_names(p->chart)->name_count; i++) {
		if (p->chart->is_stacked)
			draw_stacked(p, slots, i);
		else
			draw_beside(p, slots, i);
	}
}

double ut_chart_names_height(const struct ut_chart *c, double width, bool *turned)
{
	const struct ut_lettering type = { .size = UT_CHART_SMALL - 1 };
	double widest = 0;

	for (size_t i = 0; i < c->x.name_count; i++)
		widest = fmax(widest, ut_text_width(&type, c->x.names[i]));
	*turned = widest + 6 > width / (double)(c->x.name_count ? c->x.name_count : 1);
	return *turned ? fmin(widest, NAMES_MOST) + 8 : type.size + 8;
}
