/*
 * strips.c - a window of some lanes as columns of bytes: web/src/source/window.ts says which.
 *
 * Every entry of at least a pixel is one item; shorter ones that share a pixel are one item
 * together, made of as few nodes of the pyramid as there are. The same as web/src/engine/lanes.ts
 * does, item by item.
 */
#include "view/strips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/pyramid_lane.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"

#define MAGIC       0x31575455u /* "UTW1" */
#define TORN        254u
#define PIXELS_MOST 65536u
#define COLUMN_PART 4096u

/* ---- slices and marks ----------------------------------------------------------------------- */

struct lane {
	const struct ut_strip *s;
	const struct ut_view_track *track;
	const struct ut_lane *lane;
	struct ut_levels levels;
};

/* Entry i; false if a damaged lane leads nowhere. Times are the view's. */
static bool get_entry(const struct lane *l, uint64_t i, struct ut_entry *e)
{
	if (!ut_entry_get(l->track->rows, l->lane, i, e))
		return false;
	e->ts = ut_view_time(l->track, e->ts);
	e->end = ut_view_time(l->track, e->end);
	return true;
}

/*
 * The highest level at which a node begins with entry i and lies inside the pixel up to end. A leaf
 * shorter than a pixel may stand across its end: nobody can see which of two pixels it is in.
 */
static int node_at(const struct lane *l, uint64_t i, double end)
{
	uint64_t size = UT_LANE_LEAF;
	int found = -1;

	for (unsigned int level = 0; level < l->levels.used; level++, size *= UT_LANE_FAN) {
		const struct ut_node *n = &l->levels.nodes[level][i / size];
		double stop;

		if (i % size || i + size > l->lane->count || n->longest >= l->s->pixel)
			break;
		stop = (double)ut_view_time(l->track, n->end);
		if (stop > end &&
		    (level || stop - (double)ut_view_time(l->track, n->first) >= l->s->pixel))
			break;
		found = (int)level;
	}
	return found;
}

/* What shares a pixel. */
struct shared {
	double busy, most, stop;
	uint32_t type;
};

static void add_shared(struct shared *p, double busy, double longest, uint32_t type)
{
	p->busy += busy;
	if (longest > p->most) {
		p->most = longest;
		p->type = type;
	}
}

/* Adds the nodes from entry i on, if there is one, that lie in the pixel up to end. */
static uint64_t share_nodes(const struct lane *l, uint64_t i, double end, struct shared *p)
{
	int level;

	while (i % UT_LANE_LEAF == 0 && i + UT_LANE_LEAF <= l->lane->count &&
	       (double)ut_view_time(l->track, l->levels.nodes[0][i / UT_LANE_LEAF].first) < end &&
	       (level = node_at(l, i, end)) >= 0) {
		uint64_t size = (uint64_t)UT_LANE_LEAF << 3 * level;
		const struct ut_node *n = &l->levels.nodes[level][i / size];

		add_shared(p, (double)n->busy, n->longest, n->type);
		p->stop = (double)ut_view_time(l->track, n->end);
		i += size;
	}
	return i;
}

/* Is it known, without a look at entry i, that it begins behind the pixel? */
static bool starts_behind(const struct lane *l, uint64_t i, double end)
{
	return i % UT_LANE_LEAF == 0 && i < l->lane->count &&
	       (double)ut_view_time(l->track, l->levels.nodes[0][i / UT_LANE_LEAF].first) >= end;
}

/* Adds the entries from i on that share the pixel up to end; the first that does not. */
static uint64_t share_pixel(const struct lane *l, uint64_t i, double end, struct shared *p)
{
	struct ut_entry e;

	for (;;) {
		double length;

		i = share_nodes(l, i, end, p);
		if (starts_behind(l, i, end) || i >= l->lane->count || !get_entry(l, i, &e) ||
		    (double)e.ts >= end)
			return i;
		length = (double)(e.end - e.ts);
		if (length >= l->s->pixel) /* drawn by itself */
			return i;
		add_shared(p, length, length, e.type);
		p->stop = (double)e.end;
		i++;
	}
}

static void put_one(const struct lane *l, uint64_t i, const struct ut_entry *e, uint8_t fill)
{
	const struct ut_strip_item item = { .start = (double)e->ts,
					    .length = (float)(e->end - e->ts),
					    .type = ut_view_type(l->track, e->type),
					    .row = (uint32_t)e->row,
					    .fill = fill,
					    .first = i,
					    .next = i + 1 };

	l->s->item(l->s->ctx, &item);
}

/* Several entries in one pixel from entry i on, as one item; the next entry. first: entry i, or
 * NULL if a whole leaf begins with it. */
static uint64_t draw_pixel(const struct lane *l, uint64_t i, const struct ut_entry *first,
			   double at)
{
	double pixel = l->s->pixel, fill;
	struct shared p = { .most = -1 };
	struct ut_strip_item item = { .start = at, .row = UT_STRIP_MANY, .first = i };
	uint64_t next = share_pixel(l, i, at + pixel, &p);

	if (first && next <= i + 1) { /* the next one only looked as if it shared the pixel */
		put_one(l, i, first, 255);
		return i + 1;
	}
	fill = floor(p.busy / pixel * 255 + 0.5);
	item.length = (float)fmax(pixel, p.stop - at);
	item.type = ut_view_type(l->track, p.type);
	item.fill = (uint8_t)(fill < 1 ? 1 : fill > 255 ? 255 : fill);
	item.next = next;
	l->s->item(l->s->ctx, &item);
	return next;
}

static bool is_torn(const struct lane *l, uint32_t type)
{
	return (ut_store_type(l->track->trace->store, type)->flags & UT_EV_UNFINISHED) != 0;
}

/* The first entry that reaches into the window; what has no length lies in its own ns. */
static uint64_t seek_first(const struct lane *l)
{
	const struct ut_strip *s = l->s;
	uint64_t from = s->t0 > 0 ? (uint64_t)s->t0 : 0;
	uint64_t i = ut_lane_seek(l->track->trace->store, l->track->local, s->lane,
				  ut_view_ts(l->track, from));
	struct ut_entry e;

	while (i < l->lane->count && get_entry(l, i, &e) && (double)e.end <= s->t0 &&
	       (double)e.ts < s->t0)
		i++;
	return i;
}

static double pixel_of(const struct ut_strip *s, double start)
{
	return s->t0 + fmax(0, floor((start - s->t0) / s->pixel)) * s->pixel;
}

/*
 * Does a leaf of short entries begin with entry i, with more than one of them in the pixel that it
 * begins in? Then most entries need not be looked at, each of which costs several misses of the
 * cache. *at is that pixel.
 */
static bool is_inside(const struct lane *l, uint64_t i, double *at)
{
	const struct ut_node *leaf = &l->levels.nodes[0][i / UT_LANE_LEAF];
	struct ut_entry next;
	double start;

	if (i % UT_LANE_LEAF || i + UT_LANE_LEAF > l->lane->count || leaf->longest >= l->s->pixel)
		return false;
	start = (double)ut_view_time(l->track, leaf->first);
	*at = pixel_of(l->s, start);
	if (start >= l->s->t1)
		return false;
	return (double)ut_view_time(l->track, leaf->end) < *at + l->s->pixel ||
	       (get_entry(l, i + 1, &next) && (double)next.ts < *at + l->s->pixel);
}

/* Draws entry i, and those that share its pixel. The next one; the lane's count behind the window.
 */
static uint64_t draw_entry(const struct lane *l, uint64_t i)
{
	const struct ut_strip *s = l->s;
	struct ut_entry e, next;
	double at;

	if (!get_entry(l, i, &e) || (double)e.ts >= s->t1)
		return l->lane->count;
	at = pixel_of(s, (double)e.ts);
	if ((double)(e.end - e.ts) < s->pixel && i + 1 < l->lane->count &&
	    get_entry(l, i + 1, &next) && (double)next.ts < at + s->pixel)
		return draw_pixel(l, i, &e, at);
	put_one(l, i, &e, is_torn(l, e.type) ? TORN : 255);
	return i + 1;
}

void ut_strip_draw(const struct ut_strip *s)
{
	struct lane l = { .s = s, .track = s->track, .lane = &s->track->lanes->lanes[s->lane] };
	double at;

	if (!l.lane->count)
		return;
	ut_lane_levels(l.lane, &l.levels);
	for (uint64_t i = seek_first(&l); i < l.lane->count;)
		i = is_inside(&l, i, &at) ? draw_pixel(&l, i, NULL, at) : draw_entry(&l, i);
}

/* ---- a window in the making ----------------------------------------------------------------- */

struct value {
	float low, high, last;
};

struct strips {
	double t0, t1, pixel;
	uint32_t pixels;
	struct ut_strip_item *items;
	size_t item_count, item_cap;
	struct value *values;
	size_t value_count, value_cap;
	uint32_t *first, *cells; /* by lane, and one more */
};

static void keep_item(void *ctx, const struct ut_strip_item *item)
{
	struct strips *s = ctx;

	s->items = ut_grow(s->items, s->item_count + 1, &s->item_cap, sizeof(*s->items));
	s->items[s->item_count++] = *item;
}

/* ---- counters ------------------------------------------------------------------------------- */

/* A sample belongs to its own pixel, and holds until the next one. */
static void draw_samples(struct strips *s, const struct ut_view_track *t, uint32_t number)
{
	struct ut_value_cell *cells = ut_make((size_t)s->pixels * sizeof(*cells));
	const struct ut_picture window = {
		.t0 = ut_view_ts(t, s->t0 > 0 ? (uint64_t)s->t0 : 0),
		.t1 = ut_view_ts(t, s->t1 > 0 ? (uint64_t)ceil(s->t1) : 0),
		.pixels = s->pixels,
	};
	uint32_t drawn = ut_pyramid_values(t->trace->store, t->local, number, &window, cells);

	s->values =
		ut_grow(s->values, s->value_count + s->pixels, &s->value_cap, sizeof(*s->values));
	for (uint32_t i = 0; i < s->pixels; i++) {
		struct value *to = &s->values[s->value_count++];
		/* no pixel of the pyramid is narrower than 1 ns */
		const struct ut_value_cell *c = &cells[(uint64_t)i * drawn / s->pixels];

		*to = (struct value){ NAN, NAN, NAN };
		if (drawn)
			*to = (struct value){ (float)c->min, (float)c->max, (float)c->last };
	}
	free(cells);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void put_u32(struct ut_out *out, uint32_t value)
{
	ut_out_write(out, &value, sizeof(value));
}

static void put_head(const struct strips *s, size_t lanes, struct ut_out *out)
{
	put_u32(out, MAGIC);
	put_u32(out, (uint32_t)lanes);
	put_u32(out, (uint32_t)s->item_count);
	put_u32(out, (uint32_t)s->value_count);
	ut_out_write(out, &s->t0, sizeof(s->t0));
	ut_out_write(out, &s->t1, sizeof(s->t1));
	put_u32(out, s->pixels);
	put_u32(out, 0);
}

/* One member of each of count structs that are stride bytes apart. */
static void put_column(struct ut_out *out, const void *first, size_t stride, size_t size,
		       size_t count)
{
	const char *from = first;

	while (count) {
		size_t some = count < COLUMN_PART ? count : COLUMN_PART;
		char *to = ut_out_reserve(out, some * size);

		for (size_t i = 0; i < some; i++, from += stride, to += size)
			memcpy(to, from, size);
		ut_out_advance(out, to);
		count -= some;
	}
}

#define PUT_COLUMN(out, items, count, member)                                                      \
	do {                                                                                       \
		if (count)                                                                         \
			put_column((out), &(items)->member, sizeof(*(items)),                      \
				   sizeof((items)->member), (count));                              \
	} while (0)

static void put_columns(const struct strips *s, size_t lanes, struct ut_out *out)
{
	PUT_COLUMN(out, s->items, s->item_count, start);
	PUT_COLUMN(out, s->items, s->item_count, length);
	PUT_COLUMN(out, s->items, s->item_count, type);
	PUT_COLUMN(out, s->items, s->item_count, row);
	ut_out_write(out, s->first, (lanes + 1) * sizeof(*s->first));
	ut_out_write(out, s->cells, (lanes + 1) * sizeof(*s->cells));
	PUT_COLUMN(out, s->values, s->value_count, low);
	PUT_COLUMN(out, s->values, s->value_count, high);
	PUT_COLUMN(out, s->values, s->value_count, last);
	PUT_COLUMN(out, s->items, s->item_count, fill);
}

int ut_answer_window(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	struct strips s = { .t0 = a->t0, .t1 = a->t1 };

	(void)err;
	s.pixels = a->pixels < 1 ? 1 : a->pixels > PIXELS_MOST ? PIXELS_MOST : (uint32_t)a->pixels;
	s.pixel = (a->t1 - a->t0) / s.pixels;
	s.first = ut_make((a->lane_count + 1) * sizeof(*s.first));
	s.cells = ut_make((a->lane_count + 1) * sizeof(*s.cells));
	for (size_t i = 0; i < a->lane_count; i++) {
		const struct ut_view_track *t =
			a->lanes[i].track < v->track_count ? &v->tracks[a->lanes[i].track] : NULL;
		uint32_t lane = a->lanes[i].lane;

		if (t && lane < t->lanes->count && s.pixel > 0) {
			if (t->lanes->lanes[lane].kind == UT_LANE_COUNTER)
				draw_samples(&s, t, lane);
			else
				ut_strip_draw(&(struct ut_strip){ t, lane, s.t0, s.t1, s.pixel,
								  keep_item, &s });
		}
		s.first[i + 1] = (uint32_t)s.item_count;
		s.cells[i + 1] = (uint32_t)s.value_count;
	}
	put_head(&s, a->lane_count, out);
	put_columns(&s, a->lane_count, out);
	free(s.items);
	free(s.values);
	free(s.first);
	free(s.cells);
	return 0;
}
