/* chart_json.c - a chart as data for the page. */
#include "draw/chart.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "draw/bins.h"
#include "draw/chart_parts.h"
#include "text/out.h"

#define COLUMNS 1000u /* of a line: as many as a wide screen tells apart at two pixels each */

static void chart_json_put_text(struct ut_out *o, const char *key, struct ut_str text)
{
	if (!text.len)
		return;
	ut_out_fmt(o, ",\"%s\":", key);
	ut_out_json_str(o, text.ptr, text.len);
}

/* A hole is null. */
static void chart_json_put_number(struct ut_out *o, double value)
{
	if (isfinite(value))
		ut_out_json_double(o, value);
	else
		ut_out_text(o, "null");
}

static void put_numbers(struct ut_out *o, const char *key, const double *values, size_t count)
{
	if (!values)
		return;
	ut_out_fmt(o, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		ut_out_text(o, i ? "," : "");
		chart_json_put_number(o, values[i]);
	}
	ut_out_text(o, "]");
}

static void chart_json_put_names(struct ut_out *o, const char *key, const struct ut_str *names,
				 size_t count)
{
	if (!names)
		return;
	ut_out_fmt(o, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		ut_out_text(o, i ? "," : "");
		ut_out_json_str(o, names[i].ptr, names[i].len);
	}
	ut_out_text(o, "]");
}

/* Also of a line that was put together, whose ends are means. */
static void put_range(struct ut_out *o, double low, double high)
{
	ut_out_text(o, ",\"low\":");
	chart_json_put_number(o, low);
	ut_out_text(o, ",\"high\":");
	chart_json_put_number(o, high);
}

static void put_axis(struct ut_out *o, const char *key, const struct ut_axis *axis)
{
	static const char *const numbers[] = { "short", "hex", "ns" };

	ut_out_fmt(o, ",\"%s\":{\"numbers\":\"%s\",\"log\":%s", key, numbers[axis->numbers],
		   axis->is_log ? "true" : "false");
	chart_json_put_text(o, "title", axis->title);
	if (axis->low < axis->high && isfinite(axis->low) && isfinite(axis->high))
		put_range(o, axis->low, axis->high);
	chart_json_put_names(o, "names", axis->names, axis->name_count);
	ut_out_text(o, "}");
}

/* Mean, least and greatest of each column. */
static void put_bins(struct ut_out *o, const struct ut_series *s, double low, double high)
{
	struct ut_bin *bins = ut_make(COLUMNS * sizeof(*bins));
	double *column = ut_make(COLUMNS * sizeof(*column));
	const struct ut_bins_of of = { s->x, s->y, s->count, low, high };
	size_t count = ut_bins_fill(bins, COLUMNS, &of);
	static const struct {
		const char *key;
		size_t at;
	} columns[] = {
		{ "x", offsetof(struct ut_bin, x) },
		{ "y", offsetof(struct ut_bin, mean) },
		{ "low", offsetof(struct ut_bin, low) },
		{ "high", offsetof(struct ut_bin, high) },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		for (size_t k = 0; k < count; k++)
			memcpy(&column[k], (const char *)&bins[k] + columns[i].at,
			       sizeof(column[k]));
		put_numbers(o, columns[i].key, column, count);
	}
	free(column);
	free(bins);
}

static void put_series(struct ut_out *o, const struct ut_series *s, double low, double high)
{
	static const char *const kinds[] = { "line", "points", "bars" };

	ut_out_fmt(o, "{\"kind\":\"%s\",\"name\":", kinds[s->kind]);
	ut_out_json_str(o, s->name.len ? s->name.ptr : "", s->name.len);
	if (s->kind == UT_SERIES_LINE && s->count > UT_BINS_DENSE * COLUMNS) {
		put_bins(o, s, low, high);
	} else {
		put_numbers(o, "x", s->x, s->count);
		put_numbers(o, "y", s->y, s->count);
		put_numbers(o, "weight", s->weight, s->count);
		chart_json_put_names(o, "notes", s->notes, s->count);
		chart_json_put_names(o, "labels", s->labels, s->count);
	}
	if (s->colour)
		ut_out_fmt(o, ",\"colour\":%u", s->colour);
	if (s->dash)
		ut_out_text(o, ",\"dashed\":true");
	if (s->has_label)
		ut_out_text(o, ",\"label\":true");
	if (s->names_points)
		ut_out_text(o, ",\"named\":true");
	ut_out_text(o, "}");
}

static void put_spans(struct ut_out *o, const struct ut_chart *c)
{
	if (!c->span_count)
		return;
	ut_out_text(o, ",\"spans\":[");
	for (size_t i = 0; i < c->span_count; i++) {
		ut_out_text(o, i ? ",{\"from\":" : "{\"from\":");
		chart_json_put_number(o, c->spans[i].from);
		ut_out_text(o, ",\"to\":");
		chart_json_put_number(o, c->spans[i].to);
		chart_json_put_text(o, "name", c->spans[i].name);
		ut_out_text(o, "}");
	}
	ut_out_text(o, "]");
}

static bool has_lines_only(const struct ut_chart *c)
{
	bool yes = c->count > 0;

	for (size_t i = 0; i < c->count; i++)
		yes &= c->series[i].kind == UT_SERIES_LINE;
	return yes;
}

void ut_chart_json(struct ut_out *o, const struct ut_chart *c)
{
	struct ut_axis x = c->x;
	double low, high;

	ut_chart_range_x(c, &low, &high);
	if (has_lines_only(c)) {
		x.low = low;
		x.high = high;
	}
	ut_out_fmt(o, "{\"stacked\":%s,\"sideways\":%s", c->is_stacked ? "true" : "false",
		   c->is_sideways ? "true" : "false");
	chart_json_put_text(o, "title", c->title);
	chart_json_put_text(o, "subtitle", c->subtitle);
	chart_json_put_text(o, "note", c->note);
	put_axis(o, "x", &x);
	put_axis(o, "y", &c->y);
	ut_out_text(o, ",\"series\":[");
	for (size_t i = 0; i < c->count; i++) {
		ut_out_text(o, i ? "," : "");
		put_series(o, &c->series[i], low, high);
	}
	ut_out_text(o, "]");
	put_spans(o, c);
	ut_out_text(o, "}");
}
