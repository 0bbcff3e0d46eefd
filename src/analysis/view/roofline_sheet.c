#include "view/roofline_sheet.h"

#include "base/arena.h"
#include "draw/chart.h"
#include "metrics/roofline_chart.h"
#include "text/out.h"
#include "view/sheet.h"

/* ---- charts -----------------------------------------------------------------------------------
 */

static void roofline_sheet_put_rows(struct ut_out *out, const struct ut_roof_picture *p)
{
	const struct ut_chart *c = &p->chart;

	ut_out_text(out, ",\"rows\":[");
	for (size_t i = 0; i < c->count; i++) {
		ut_out_text(out, i ? ",[" : "[");
		for (size_t k = 0; p->rows[i] && k < c->series[i].count; k++)
			ut_out_fmt(out, "%s%zu", k ? "," : "", p->rows[i][k]);
		ut_out_text(out, "]");
	}
	ut_out_text(out, "]");
}

static void put_charts(struct ut_out *out, const struct ut_roof *r)
{
	static const char *const kinds[] = { "places", "used" };
	struct ut_arena arena = { 0 };
	struct ut_roof_picture p;
	bool any = false;

	ut_out_text(out, "\"charts\":[");
	for (unsigned int i = 0; i < UT_ROOF_CHARTS; i++) {
		if (!ut_roof_chart(r, (enum ut_roof_chart)i, &arena, &p))
			continue;
		ut_out_fmt(out, "%s{\"kind\":\"%s\",\"chart\":", any ? "," : "", kinds[i]);
		ut_chart_json(out, &p.chart);
		roofline_sheet_put_rows(out, &p);
		ut_out_text(out, "}");
		any = true;
	}
	ut_out_text(out, "]");
	ut_arena_release(&arena);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static void put_some(struct ut_sheet *s, bool is_known, double value)
{
	if (is_known)
		ut_sheet_double(s, value);
	else
		ut_sheet_null(s);
}

static void put_part(struct ut_sheet *s, const struct ut_roof *r, unsigned int part)
{
	if (part == UT_ROOF_NONE)
		ut_sheet_null(s);
	else
		ut_sheet_text(s, ut_str_of(ut_roof_title(&r->device, part)));
}

/* Levels that no kernel has any bytes of have no columns. */
static uint32_t levels_of(const struct ut_roof *r)
{
	uint32_t known = 0;

	for (size_t i = 0; i < r->count; i++)
		known |= r->kernels[i].work.known >> UT_ROOF_UNITS;
	return known;
}

static void roofline_sheet_put_kernels(struct ut_out *out, const struct ut_roof *r)
{
	static const struct ut_sheet_column intensity[] = {
#define INTENSITY(level, name, text, file)                                                         \
	{ .key = "intensity_" name, .title = "Flop/byte " text, .type = "number" },
		UT_ROOF_LEVEL_LIST(INTENSITY)
#undef INTENSITY
	}, bandwidth[] = {
#define BANDWIDTH(level, name, text, file)                                                         \
	{ .key = "rate_" name, .title = text, .type = "number", .unit = "GB/s" },
		UT_ROOF_LEVEL_LIST(BANDWIDTH)
#undef BANDWIDTH
	};
	struct ut_sheet_column columns[8 + 2 * UT_ROOF_LEVELS] = {
		{ .key = "kernel", .title = "Kernel", .type = "name" },
		{ .key = "time", .title = "Time", .type = "time" },
		{ .key = "share", .title = "Of all", .type = "share" },
		{ .key = "instances", .title = "Calls", .type = "count" },
		{ .key = "bound", .title = "Nearest roof", .type = "text" },
		{ .key = "reached", .title = "Of its roof", .type = "share" },
		{ .key = "unit", .title = "Computes", .type = "text" },
		{ .key = "rate", .title = "Rate", .type = "number", .unit = "GFLOP/s" },
	};
	uint32_t levels = levels_of(r);
	struct ut_sheet s;
	size_t n = 8;

	for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
		if (levels & 1u << l) {
			columns[n++] = intensity[l];
			columns[n++] = bandwidth[l];
		}
	}
	ut_sheet_init(&s, columns, n);
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_roof_kernel *k = &r->kernels[i];

		ut_sheet_text(&s, k->name);
		ut_sheet_double(&s, k->work.ns);
		ut_sheet_double(&s, k->share);
		ut_sheet_u64(&s, k->work.count);
		put_part(&s, r, k->bound);
		put_some(&s, k->bound != UT_ROOF_NONE, ut_roof_reached(k));
		put_part(&s, r, k->unit);
		put_some(&s, k->unit != UT_ROOF_NONE, k->rate / 1e9);
		for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
			if (!(levels & 1u << l))
				continue;
			put_some(&s, k->intensity[l] > 0, k->intensity[l]);
			put_some(&s, k->work.ns > 0, k->work.done[UT_ROOF_UNITS + l] / k->work.ns);
		}
	}
	ut_sheet_write(&s, 0, out);
}

static void put_level(struct ut_sheet *s, const struct ut_roof *r, size_t row, unsigned int level)
{
	const struct ut_roof_kernel *k = &r->kernels[row];
	const struct ut_roof_work *w = &k->work;
	unsigned int part = UT_ROOF_UNITS + level;
	bool split = w->read[level] + w->written[level] > 0, timed = w->ns > 0;

	ut_sheet_u64(s, row);
	put_part(s, r, part);
	ut_sheet_double(s, w->done[part]);
	put_some(s, split, w->read[level]);
	put_some(s, split, w->written[level]);
	put_some(s, timed, w->done[part] / (timed ? w->ns : 1));
	put_some(s, r->device.peak[part] > 0, r->device.peak[part] / 1e9);
	put_some(s, r->device.peak[part] > 0, k->used[part]);
	put_some(s, timed && w->known_hits & 1u << level,
		 w->hits[level] / 100 / (timed ? w->ns : 1));
	put_some(s, k->intensity[level] > 0, k->intensity[level]);
}

static void put_levels(struct ut_out *out, const struct ut_roof *r)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "row", .title = "Row", .type = "count" },
		{ .key = "level", .title = "Level", .type = "text" },
		{ .key = "bytes", .title = "Bytes", .type = "bytes" },
		{ .key = "read", .title = "Read", .type = "bytes" },
		{ .key = "written", .title = "Written", .type = "bytes" },
		{ .key = "rate", .title = "Rate", .type = "number", .unit = "GB/s" },
		{ .key = "peak", .title = "At most", .type = "number", .unit = "GB/s" },
		{ .key = "used", .title = "Of the most", .type = "share" },
		{ .key = "hits", .title = "Hits", .type = "share" },
		{ .key = "intensity", .title = "Flop/byte", .type = "number" },
	};
	struct ut_sheet s;

	ut_sheet_init(&s, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->count; i++) {
		for (unsigned int l = 0; l < UT_ROOF_LEVELS; l++) {
			if (r->kernels[i].work.known & 1u << (UT_ROOF_UNITS + l))
				put_level(&s, r, i, l);
		}
	}
	ut_sheet_write(&s, 0, out);
}

void ut_roofline_sheet(struct ut_out *out, const struct ut_roof *r)
{
	ut_out_text(out, "{");
	put_charts(out, r);
	ut_out_text(out, ",\"kernels\":");
	roofline_sheet_put_kernels(out, r);
	ut_out_text(out, ",\"levels\":");
	put_levels(out, r);
	ut_out_text(out, "}");
}
