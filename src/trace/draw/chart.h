/*
 * chart.h - what a chart shows: numbers, names, units. Where things go is found by who draws it:
 * ut_chart_page() makes marks of it for a picture, ut_chart_json() data for the page's own chart.
 *
 * Everything pointed to stays the caller's and is needed only during the call. Numbers that are not
 * finite are holes: a line is broken there. Of more samples than a page has room for, those are
 * drawn that make the same picture: of each column of it the first, least, greatest and last.
 */
#ifndef UT_DRAW_CHART_H
#define UT_DRAW_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "draw/scene.h"

struct ut_out;

enum ut_series_kind {
	UT_SERIES_LINE,
	UT_SERIES_POINTS,
	UT_SERIES_BARS, /* one for each name of an axis; all series of a chart or none */
};

struct ut_series {
	enum ut_series_kind kind;
	struct ut_str name;         /* in the legend; empty = not there */
	const double *x;            /* ascending; NULL = 0, 1, 2, ... */
	const double *y;            /* length of bars, if they lie sideways */
	const double *weight;       /* POINTS: areas of discs are proportional; NULL = alike */
	const struct ut_str *notes; /* what each is, told on hover; NULL = its numbers are */
	size_t count;
	unsigned int colour; /* the nth of the palette, from 1; 0 = as its place in the chart */
	enum ut_dash dash;   /* NONE: lines beyond the palette get dashes by themselves */
	bool has_label;      /* a LINE's name stands on it, and not in the legend */
	bool names_points;   /* POINTS: the note is written beside the disc where there is room */
	const struct ut_str *labels; /* what is written there instead; empty = nothing */
};

enum ut_axis_numbers {
	UT_NUMBERS_SHORT, /* 1.5 M */
	UT_NUMBERS_HEX,   /* 0x1b8 */
	UT_NUMBERS_NS,    /* of ns: 1.5 ms */
};

struct ut_axis {
	struct ut_str title; /* with its unit: "Memory (bytes)" */
	bool is_log;         /* what is not above 0 has no place on it */
	double low, high;    /* both 0 = what the data need, with 0 on an axis that is not log */
	enum ut_axis_numbers numbers;
	const struct ut_str *names; /* of bars: a place for each, instead of a scale */
	size_t name_count;
};

/* A stretch of the x axis that has a name: a kernel, an instance. */
struct ut_chart_span {
	double from, to;
	struct ut_str name;
};

struct ut_chart {
	struct ut_str title, subtitle; /* the subtitle may be long: a kernel's name */
	struct ut_str note;            /* small, at the foot */
	struct ut_axis x, y;
	const struct ut_series *series;
	size_t count;
	bool is_stacked;  /* bars stand on each other; otherwise beside each other */
	bool is_sideways; /* bars lie: names on the y axis, numbers on the x axis */
	const struct ut_chart_span *spans; /* ascending */
	size_t span_count;
};

#define UT_CHART_WIDTH  792.0 /* points: a page */
#define UT_CHART_HEIGHT 470.0

/* A page of the scene; taller than usual if there are many bars that lie. */
void ut_chart_page(struct ut_scene *s, const struct ut_chart *chart);

/* Into a part of the last page. */
void ut_chart_draw(struct ut_scene *s, const struct ut_chart *chart, struct ut_box box);

/* One object, as web/src/ui/chart.tsx takes it. */
void ut_chart_json(struct ut_out *out, const struct ut_chart *chart);

#endif
