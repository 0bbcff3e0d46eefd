#include "view/view_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/size.h"
#include "draw/palette.h"
#include "draw/scene.h"
#include "draw/ticks.h"
#include "draw/typeset.h"
#include "model/pyramid.h"
#include "view/lane_items.h"
#include "view/view_parts.h"

#define LABELS   210.0 /* points, for the names of places */
#define MARGIN   10.0
#define HEAD     46.0
#define ROW      14.0
#define COUNTER  2u /* rows that a counter takes */
#define GAP      5.0
#define TEXT     8.5
#define NARROW   24.0 /* points: no name is written into less */
#define DEEP     16u  /* lanes of one track: deeper calls are left out */
#define PIXELS   4096u
#define WANTED   8u /* numbers on the axis */
#define SEE_THRU 40u

/* One lane that is drawn. */
struct row {
	const struct ut_view_track *track;
	uint32_t lane;
	bool is_first;  /* of its track: gets the label */
	double y, high; /* points */
};

struct paper {
	struct ut_view *view;
	struct ut_scene *scene;
	struct ut_arena arena;
	double t0, t1, left, width; /* of the area where time runs */
	struct row *rows;
	size_t count, cap;
	const struct row *row; /* that is being drawn */
	uint64_t tracks, hidden, deep;
};

/* ---- what is drawn ------------------------------------------------------------------------- */

struct seen {
	bool any;
};

static void see_item(void *ctx, const struct ut_lane_item *item)
{
	struct seen *seen = ctx;

	(void)item;
	seen->any = true;
}

static struct ut_lane_items items_of(const struct paper *p, const struct ut_view_track *t,
				     uint32_t lane)
{
	return (struct ut_lane_items){ .track = t,
				       .lane = lane,
				       .t0 = p->t0,
				       .t1 = p->t1,
				       .pixel = (p->t1 - p->t0) / p->width };
}

static uint32_t cells_of(const struct paper *p, const struct ut_view_track *t, uint32_t lane,
			 struct ut_value_cell *cells)
{
	const struct ut_picture window = {
		.t0 = ut_view_ts(t, (uint64_t)p->t0),
		.t1 = ut_view_ts(t, (uint64_t)p->t1),
		.pixels = (uint32_t)p->width < PIXELS ? (uint32_t)p->width : PIXELS,
	};

	return ut_pyramid_values(t->trace->store, t->local, lane, &window, cells);
}

static bool has_values(const struct paper *p, const struct ut_view_track *t, uint32_t lane)
{
	struct ut_value_cell *cells = ut_make(PIXELS * sizeof(*cells));
	uint32_t drawn = cells_of(p, t, lane, cells);
	bool any = false;

	for (uint32_t i = 0; i < drawn; i++)
		any |= isfinite(cells[i].last);
	free(cells);
	return any;
}

static bool has_anything(const struct paper *p, const struct ut_view_track *t, uint32_t lane)
{
	struct seen seen = { 0 };
	struct ut_lane_items lane_items = items_of(p, t, lane);

	if (t->lanes->lanes[lane].kind == UT_LANE_COUNTER)
		return has_values(p, t, lane);
	lane_items.item = see_item;
	lane_items.ctx = &seen;
	ut_lane_items_draw(&lane_items);
	return seen.any;
}

static bool is_drawn(uint8_t kind)
{
	return kind == UT_LANE_SPANS || kind == UT_LANE_OVERLAP || kind == UT_LANE_ASYNC ||
	       kind == UT_LANE_COUNTER;
}

/* The lanes of a track that have something to show. */
static void view_picture_add_track(struct paper *p, const struct ut_view_track *t, uint32_t most)
{
	size_t first = p->count;

	for (uint32_t i = 0; i < t->lanes->count; i++) {
		if (!is_drawn(t->lanes->lanes[i].kind) || !has_anything(p, t, i))
			continue;
		if (p->count - first >= DEEP) {
			p->deep++;
			continue;
		}
		p->rows = ut_grow(p->rows, p->count + 1, &p->cap, sizeof(*p->rows));
		p->rows[p->count] =
			(struct row){ .track = t, .lane = i, .is_first = p->count == first };
		p->count++;
	}
	p->tracks += p->count > first;
	if (p->count > most) {
		p->hidden++;
		p->tracks--;
		p->count = first;
	}
}

static void choose_rows(struct paper *p, uint32_t most)
{
	for (uint32_t i = 0; i < p->view->place_count; i++) {
		uint32_t track = p->view->places[i].track;

		if (track != UT_NO_TRACK && p->view->tracks[track].lanes)
			view_picture_add_track(p, &p->view->tracks[track], most);
	}
}

/* Returns the height of the page. */
static double place_rows(struct paper *p)
{
	double y = HEAD;

	for (size_t i = 0; i < p->count; i++) {
		struct row *r = &p->rows[i];
		bool counter = r->track->lanes->lanes[r->lane].kind == UT_LANE_COUNTER;

		y += r->is_first && i ? GAP : 0;
		r->y = y;
		r->high = counter ? COUNTER * ROW : ROW;
		y += r->high;
	}
	return y + MARGIN;
}

/* ---- marks ---------------------------------------------------------------------------------- */

static double x_of(const struct paper *p, double t)
{
	double x = p->left + (t - p->t0) / (p->t1 - p->t0) * p->width;

	return fmin(fmax(x, p->left), p->left + p->width);
}

static void view_picture_put_name(struct paper *p, struct ut_str name, struct ut_box box)
{
	const struct ut_lettering type = { .size = TEXT, .colour = 0xffffffff };
	const struct ut_point at = { box.x + 2, box.y + box.height - 4 };

	if (box.width >= NARROW && name.len)
		ut_scene_text(p->scene, &type, at,
			      ut_text_fit(&p->arena, &type, name, box.width - 4));
}

static void put_item(void *ctx, const struct ut_lane_item *item)
{
	struct paper *p = ctx;
	double x = x_of(p, item->start), end = x_of(p, item->start + (double)item->length);
	const struct ut_box box = { x, p->row->y + 0.5, fmax(end - x, 0.6), p->row->high - 1 };
	uint32_t colour = ut_palette(p->view->name_of[item->type]);
	unsigned int solid = SEE_THRU + (255 - SEE_THRU) * item->fill / 255;
	const struct ut_paint paint = { .fill = item->row == UT_LANE_ITEM_MANY
							? ut_ink_alpha(colour, solid)
							: colour };

	ut_scene_rect(p->scene, &paint, box);
	if (item->row != UT_LANE_ITEM_MANY)
		view_picture_put_name(p, ut_view_type_name(p->view, item->type), box);
}

static void view_picture_put_cells(struct paper *p, const struct ut_value_cell *cells,
				   uint32_t drawn, double low, double high)
{
	const struct ut_paint paint = { .fill = ut_ink_alpha(ut_palette(0), 160) };
	double step = p->width / drawn, room = p->row->high - 2;

	for (uint32_t i = 0; i < drawn; i++) {
		double top = (cells[i].max - low) / (high - low) * room;

		if (isfinite(top))
			ut_scene_rect(p->scene, &paint,
				      (struct ut_box){ p->left + i * step,
						       p->row->y + p->row->high - 1 - top, step,
						       fmax(top, 0.6) });
	}
}

/* From the least to the greatest value, and 0: what they are is said beside it. */
static void view_picture_put_counter(struct paper *p)
{
	const struct ut_lettering type = { .size = TEXT - 1.5, .colour = UT_INK_MUTED };
	struct ut_value_cell *cells = ut_make(PIXELS * sizeof(*cells));
	uint32_t drawn = cells_of(p, p->row->track, p->row->lane, cells);
	double low = 0, high = 0;
	char text[UT_TICKS_LABEL];

	for (uint32_t i = 0; i < drawn; i++) {
		low = isfinite(cells[i].min) ? fmin(low, cells[i].min) : low;
		high = isfinite(cells[i].max) ? fmax(high, cells[i].max) : high;
	}
	view_picture_put_cells(p, cells, drawn, low, high > low ? high : low + 1);
	ut_scene_text(p->scene, &type, (struct ut_point){ p->left + 2, p->row->y + TEXT },
		      (struct ut_str){ text, ut_number_label(high, UT_NUMBERS_SHORT, text) });
	free(cells);
}

static void put_label(struct paper *p)
{
	const struct ut_lettering type = { .size = TEXT, .colour = UT_INK_TEXT };
	struct ut_buf name = { 0 };

	ut_view_path_name(p->view, p->row->track->place, &name);
	ut_scene_text(p->scene, &type, (struct ut_point){ MARGIN, p->row->y + ROW - 4 },
		      ut_text_fit(&p->arena, &type, (struct ut_str){ name.data, name.len },
				  LABELS - MARGIN - 6));
	ut_buf_release(&name);
}

static void view_picture_put_row(struct paper *p)
{
	struct ut_lane_items lane_items = items_of(p, p->row->track, p->row->lane);

	if (p->row->is_first)
		put_label(p);
	if (p->row->track->lanes->lanes[p->row->lane].kind == UT_LANE_COUNTER) {
		view_picture_put_counter(p);
		return;
	}
	lane_items.item = put_item;
	lane_items.ctx = p;
	ut_lane_items_draw(&lane_items);
}

static void put_axis(struct paper *p, double height)
{
	const struct ut_lettering type = { .size = TEXT,
					   .colour = UT_INK_MUTED,
					   .anchor = UT_ANCHOR_MIDDLE };
	const struct ut_paint grid = { .stroke = UT_INK_GRID, .width = 0.5 };
	double low = p->t0, high = p->t1;
	struct ut_ticks ticks = { .numbers = UT_NUMBERS_NS };

	ut_ticks_find(&ticks, &low, &high, WANTED, false);
	for (size_t i = 0; i < ticks.count; i++) {
		double x = x_of(p, ticks.at[i]);
		char text[UT_TICKS_LABEL];
		size_t len = ut_ticks_label(&ticks, ticks.at[i], text);

		ut_scene_line(p->scene, &grid, (struct ut_point){ x, HEAD - 8 },
			      (struct ut_point){ x, height - MARGIN });
		ut_scene_text(p->scene, &type, (struct ut_point){ x, HEAD - 12 },
			      (struct ut_str){ text, len });
	}
}

static void view_picture_put_title(struct paper *p, const struct ut_buf *about)
{
	const struct ut_lettering type = { .size = 10, .colour = UT_INK_TEXT, .is_bold = true };
	const struct ut_str text = { about->data, about->len };

	ut_scene_title(p->scene, text);
	ut_scene_text(p->scene, &type, (struct ut_point){ MARGIN, 16 },
		      ut_text_fit(&p->arena, &type, text, LABELS + p->width - MARGIN));
}

/* ---- the picture ---------------------------------------------------------------------------- */

static void view_picture_describe(const struct paper *p, struct ut_buf *about)
{
	char from[32], to[32];

	ut_buf_fmt(about, "%s to %s of the trace, %" PRIu64 " tracks",
		   ut_time_text(from, sizeof(from), (uint64_t)p->t0),
		   ut_time_text(to, sizeof(to), (uint64_t)p->t1), p->tracks);
	if (p->hidden)
		ut_buf_fmt(about, "; %" PRIu64 " more have no room", p->hidden);
	if (p->deep)
		ut_buf_fmt(about, "; %" PRIu64 " rows of deeper calls are left out", p->deep);
}

static uint32_t between(uint32_t value, uint32_t usual, uint32_t least, uint32_t most)
{
	if (!value)
		return usual;
	return value < least ? least : value > most ? most : value;
}

void ut_view_picture(struct ut_view *v, const struct ut_view_picture *o, struct ut_scene *scene,
		     struct ut_buf *about)
{
	uint32_t width = between(o->width, UT_VIEW_PICTURE_WIDTH, UT_VIEW_PICTURE_LEAST,
				 UT_VIEW_PICTURE_MOST);
	uint64_t to = o->to && o->to < v->span ? o->to : v->span;
	uint64_t from = o->from < to ? o->from : to;
	struct paper p = { .view = v,
			   .scene = scene,
			   .t0 = (double)from,
			   .t1 = (double)(to > from ? to : from + 1),
			   .left = LABELS,
			   .width = width - LABELS - 2 * MARGIN };
	double height;

	choose_rows(&p, between(o->rows, UT_VIEW_PICTURE_ROWS, 1, UT_VIEW_PICTURE_TALL));
	height = place_rows(&p);
	ut_scene_page(scene, width, height);
	view_picture_describe(&p, about);
	view_picture_put_title(&p, about);
	put_axis(&p, height);
	for (size_t i = 0; i < p.count; i++) {
		p.row = &p.rows[i];
		view_picture_put_row(&p);
	}
	free(p.rows);
	ut_arena_release(&p.arena);
}
