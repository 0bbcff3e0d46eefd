/*
 * chart_parts.h - a chart on its way to marks; nobody outside of this room includes it.
 */
#ifndef UT_DRAW_CHART_PARTS_H
#define UT_DRAW_CHART_PARTS_H

#include "base/arena.h"
#include "draw/chart.h"
#include "draw/ticks.h"

#define UT_CHART_SMALL  8.0 /* sizes of letters: numbers, names */
#define UT_CHART_NORMAL 9.5 /* titles of axes */
#define UT_CHART_LARGE  13.0
#define UT_CHART_COLUMN 2.0 /* points: finer is not told apart */

struct ut_scale {
	double low, high; /* values... */
	double from, to;  /* ... and their places, in points; to may be less than from */
	bool is_log;
	struct ut_ticks ticks;
};

/* NaN if there is no place for it. */
double ut_scale_place(const struct ut_scale *s, double value);

struct ut_plot {
	struct ut_scene *scene;
	const struct ut_chart *chart;
	struct ut_arena arena; /* for this drawing */
	struct ut_box area;    /* where series are */
	struct ut_scale x, y;
	bool has_panels;      /* each series has an area and a y scale of its own */
	bool hides_x_numbers; /* of panels on each other only the lowest has them */
	bool hides_stretches; /* and only the uppermost names of stretches... */
	double above_name;    /* ... which stand above the name of its series */
};

/* The numbers of an axis and their ticks, about want of them; low and high are set already. */
void ut_scale_set(struct ut_scale *s, const struct ut_axis *axis, unsigned int want, bool widen);

/* How wide the widest of its numbers is. */
double ut_scale_width(const struct ut_scale *s);

/* How many numbers there is room for. */
unsigned int ut_scale_room(double points, double each);

#define UT_CHART_X_TICK 80.0 /* between numbers, about */
#define UT_CHART_Y_TICK 40.0

/* What lies below the numbers of the x axis: its title and the note. */
double ut_chart_foot(const struct ut_chart *c);

/*
 * Lines of so many samples that each has a band, and more than three of them: drawn over each other
 * nothing could be told apart, so they stand above each other.
 */
bool ut_chart_wants_panels(const struct ut_chart *c, double width);
double ut_chart_panels_height(const struct ut_chart *c);
void ut_chart_draw_panels(struct ut_plot *p, struct ut_box box, double top);

/* Samples of the longest line for each point that it is drawn with; 1 = all are. */
double ut_chart_density(const struct ut_chart *c, double width);

/* Does it have bars, so that an axis has names? */
bool ut_chart_has_bars(const struct ut_chart *c);
/* The axis with names and the one with numbers, of a chart with bars. */
const struct ut_axis *ut_chart_names(const struct ut_chart *c);
const struct ut_axis *ut_chart_numbers(const struct ut_chart *c);

/* What the numbers of an axis go from and to, before ticks widen it. */
void ut_chart_range_x(const struct ut_chart *c, double *low, double *high);
void ut_chart_range_y(const struct ut_chart *c, double *low, double *high);

uint32_t ut_series_ink(const struct ut_chart *c, size_t series);
enum ut_dash ut_series_dash(const struct ut_chart *c, size_t series);

/* Marks of each part, into the area that has been found. */
void ut_chart_draw_lines(struct ut_plot *p);
void ut_chart_draw_points(struct ut_plot *p);
void ut_chart_draw_bars(struct ut_plot *p);
void ut_chart_draw_axes(struct ut_plot *p);
void ut_chart_draw_spans(struct ut_plot *p);

/* Rows of the legend; returns their height. NULL scene: only that. */
double ut_chart_draw_legend(struct ut_scene *scene, const struct ut_chart *c, struct ut_box box);

/* Height that names of upright bars need below the axis, and whether they stand on end. */
double ut_chart_names_height(const struct ut_chart *c, double width, bool *turned);

#endif
