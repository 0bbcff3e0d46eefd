/*
 * lane_items.c - a window of some lanes as columns of bytes: web/src/source/window.ts says which.
 *
 * Every entry of at least a pixel is one item; shorter ones that share a pixel are one item
 * together, made of as few nodes of the pyramid as there are.
 */
#include "view/lane_items.h"

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
#define ITEMS_FIRST 16384u /* of a window: room for them is made at once */
#define ITEMS_MOST  1000000u
#define TIME_MOST   9e18 /* ns: what is not beyond all clocks */

/* ---- a window in the making ----------------------------------------------------------------- */

struct value {
	float low, high, last;
};

struct items {
	double t0, t1, pixel;
	uint32_t pixels;
	size_t lanes_left;
	double *start; /* of items, and the other columns */
	float *length;
	uint32_t *type, *row;
	uint8_t *fill;
	size_t item_count, item_cap;
	struct value *values;
	size_t value_count, value_cap;
	uint32_t *first, *cells; /* by lane, and one more */
};

static void more_items(struct items *s)
{
	size_t cap = s->item_cap, n = s->item_count + 1, all = s->lanes_left * (s->pixels + 1u);

	/* as many as the lanes that are left can have, so that columns need not move */
	all = (all < ITEMS_MOST ? all : ITEMS_MOST) + s->item_count;
	n = n < ITEMS_FIRST ? ITEMS_FIRST : n;
	n = n < all ? all : n;
	s->start = ut_grow_raw(s->start, n, &cap, sizeof(*s->start));
	cap = s->item_cap;
	s->length = ut_grow_raw(s->length, n, &cap, sizeof(*s->length));
	cap = s->item_cap;
	s->type = ut_grow_raw(s->type, n, &cap, sizeof(*s->type));
	cap = s->item_cap;
	s->row = ut_grow_raw(s->row, n, &cap, sizeof(*s->row));
	s->fill = ut_grow_raw(s->fill, n, &s->item_cap, sizeof(*s->fill));
}

static inline void keep_item(struct items *s, const struct ut_lane_item *item)
{
	size_t i = s->item_count;

	if (i == s->item_cap)
		more_items(s);
	s->start[i] = item->start;
	s->length[i] = item->length;
	s->type[i] = item->type;
	s->row[i] = item->row;
	s->fill[i] = item->fill;
	s->item_count++;
}

/* ---- slices and marks ----------------------------------------------------------------------- */

/*
 * Times are those of the track until an item is made of them, so that whole numbers are compared:
 * a screen has a hundred thousand items, each of which is made of several entries or nodes.
 */
struct lane {
	const struct ut_lane_items *s;
	struct items *to; /* NULL: items are handed to whoever asked for them */
	const struct ut_view_track *track;
	const struct ut_lane *lane;
	struct ut_levels levels;
	uint64_t wide;    /* ns: what is as long is as wide as a pixel */
	uint64_t quarter; /* ns: and as a quarter of it */
	float wide_node;  /* the same for what a node calls its longest */
	uint64_t end;     /* the first ts behind the window */
	double next;      /* the pixel that is likely to be drawn next */
};

/* The border between a pixel and the next, as times of the track. */
struct border {
	uint64_t at;     /* the first ts on it or behind it */
	uint64_t behind; /* the first one behind it */
};

/* Entry i; false if a damaged lane leads nowhere. */
static inline bool get_entry(const struct lane *l, uint64_t i, struct ut_entry *e)
{
	return ut_entry_get(l->track->rows, l->lane, i, e);
}

static inline struct border border_of(const struct lane *l, double time)
{
	uint64_t whole;

	if (time <= 0)
		return (struct border){ 0, 0 };
	/* Signed, because that is what processors convert. */
	whole = time < TIME_MOST ? (uint64_t)(int64_t)time : (uint64_t)INT64_MAX;
	return (struct border){ ut_view_ts(l->track, whole + ((double)(int64_t)whole < time)),
				ut_view_ts(l->track, whole + 1) };
}

/* The first whole number of ns that is at least as long as a pixel. */
static uint64_t whole_ns(double pixel)
{
	return pixel < TIME_MOST ? (uint64_t)ceil(pixel) : (uint64_t)INT64_MAX;
}

static float wide_node(double pixel)
{
	float near = (float)pixel;

	return (double)near < pixel ? nextafterf(near, INFINITY) : near;
}

/* The leaf that begins with entry i; NULL if none does, or not all of its entries are there. */
static inline const struct ut_node *leaf_at(const struct lane *l, uint64_t i)
{
	return i % UT_LANE_LEAF || i + UT_LANE_LEAF > l->lane->count
		       ? NULL
		       : ut_level_node(&l->levels, 0, i / UT_LANE_LEAF);
}

/*
 * A node that begins with entry i and lies inside the pixel up to its border, the highest one; NULL
 * if there is none. One that is short may stand across it, a leaf of less than a pixel or a higher
 * node of less than a quarter: nobody can see which of two pixels it is in, and to open it costs
 * more than all that lies between the borders. *size becomes the number of its entries.
 */
static inline const struct ut_node *node_at(const struct lane *l, uint64_t i, struct border border,
					    uint64_t *size)
{
	const struct ut_node *found = NULL;
	uint64_t many = UT_LANE_LEAF, most = l->wide;

	for (unsigned int level = 0; level < l->levels.used; level++, many *= UT_LANE_FAN) {
		const struct ut_node *n = ut_level_node(&l->levels, level, i / many);

		if (i % many || i + many > l->lane->count || n->longest >= l->wide_node ||
		    (n->end >= border.behind && n->end - n->first >= most))
			break;
		found = n;
		*size = many;
		most = l->quarter;
	}
	return found;
}

/* What shares a pixel. */
struct shared {
	uint64_t busy, stop;
	uint64_t most; /* the bits of the longest one's length, in the order of the lengths */
	const uint32_t *type; /* its type is looked at when it is known to be the longest of all */
};

/* Without a branch: which of some is longest nobody can foresee. */
static inline void add_shared(struct shared *p, uint64_t busy, double longest, const uint32_t *type)
{
	uint64_t bits;
	bool more;

	memcpy(&bits, &longest, sizeof(bits));
	more = ++bits > p->most; /* so that 0 is more than nothing */
	p->busy += busy;
	p->type = more ? type : p->type;
	p->most = more ? bits : p->most;
}

/*
 * The same for leaves, which are most of what is taken where nothing of a higher level is: from
 * entry i on, which begins one, up to where the next higher level begins.
 */
static inline uint64_t share_leaves(const struct lane *l, uint64_t i, struct border border,
				    struct shared *p)
{
	uint64_t at = i / UT_LANE_LEAF, end = l->levels.count[0] - 1;
	const struct ut_node *n = &l->levels.nodes[0][at];

	for (; at < end && at % UT_LANE_FAN && n->first < border.at && n->longest < l->wide_node &&
	       (n->end < border.behind || n->end - n->first < l->wide);
	     at++, n++) {
		add_shared(p, n->busy, n->longest, &n->type);
		p->stop = n->end;
	}
	return at * UT_LANE_LEAF;
}

/* Adds the entries from i on that share the pixel up to its border; the first that does not. */
static inline uint64_t share_pixel(const struct lane *l, uint64_t i, struct border border,
				   struct shared *p)
{
	for (;;) {
		const struct ut_node *node = leaf_at(l, i);
		struct ut_entry e;
		const uint32_t *type;
		uint64_t size, length;

		if (i >= l->lane->count || (node && node->first >= border.at))
			return i;
		node = node ? node_at(l, i, border, &size) : NULL;
		if (node) {
			add_shared(p, node->busy, node->longest, &node->type);
			p->stop = node->end;
			i = share_leaves(l, i + size, border, p);
			continue;
		}
		type = ut_entry_times(l->track->rows, l->lane, i, &e);
		if (!type || e.ts >= border.at)
			return i;
		length = e.end - e.ts;
		if (length >= l->wide) /* drawn by itself */
			return i;
		add_shared(p, length, (double)(int64_t)length, type);
		p->stop = e.end;
		i++;
	}
}

static uint8_t fill_of(const struct lane *l, uint32_t type)
{
	return ut_store_type(l->track->trace->store, type)->flags & UT_EV_UNFINISHED ? TORN : 255;
}

static inline void put_item(const struct lane *l, const struct ut_lane_item *item)
{
	if (l->to)
		keep_item(l->to, item);
	else
		l->s->item(l->s->ctx, item);
}

static uint64_t put_one(const struct lane *l, uint64_t i, const struct ut_entry *e, uint8_t fill)
{
	uint64_t start = ut_view_time(l->track, e->ts), end = ut_view_time(l->track, e->end);
	const struct ut_lane_item item = { .start = (double)start,
					   .length = (float)(end - start),
					   .type = ut_view_type(l->track, e->type),
					   .row = (uint32_t)e->row,
					   .fill = fill,
					   .first = i,
					   .next = i + 1 };

	put_item(l, &item);
	return i + 1;
}

/* Several entries in one pixel from entry i on, as one item; the next entry. */
static uint64_t draw_pixel(const struct lane *l, uint64_t i, double at, struct border border)
{
	struct shared p = { 0 };
	struct ut_lane_item item = { .start = at, .row = UT_LANE_ITEM_MANY, .first = i };
	double pixel = l->s->pixel, length, fill;

	item.next = share_pixel(l, i, border, &p);
	if (item.next <= i) /* nodes of a damaged file say anything */
		item.next = i + 1;
	length = (double)ut_view_time(l->track, p.stop) - at;
	fill = (double)p.busy / pixel * 255 + 0.5;
	item.length = (float)(length > pixel ? length : pixel);
	item.type = ut_view_type(l->track, p.type ? *p.type : 0);
	item.fill = (uint8_t)(fill < 1 ? 1 : fill < 255 ? fill : 255);
	put_item(l, &item);
	return item.next;
}

/* The first entry that reaches into the window; what has no length lies in its own ns. */
static uint64_t seek_first(const struct lane *l)
{
	const struct ut_lane_items *s = l->s;
	const struct border from = border_of(l, s->t0);
	uint64_t i = ut_lane_seek(l->track->trace->store, l->track->local, s->lane,
				  ut_view_ts(l->track, s->t0 > 0 ? (uint64_t)s->t0 : 0));
	struct ut_entry e;

	while (i < l->lane->count && get_entry(l, i, &e) && e.end < from.behind && e.ts < from.at)
		i++;
	return i;
}

/*
 * The pixel that a ts lies in. Where much is drawn that is the one behind the last: a processor
 * that has been told so need not wait for the division.
 */
static inline double pixel_of(struct lane *l, uint64_t ts)
{
	double t0 = l->s->t0, pixel = l->s->pixel, number = l->next;
	double before = ((double)ut_view_time(l->track, ts) - t0) / pixel;

	if (before >= TIME_MOST)
		return t0 + before * pixel;
	before = before > 0 ? (double)(int64_t)before : 0;
	if (before < number || before > number)
		number = before;
	l->next = number + 1;
	return t0 + number * pixel;
}

/*
 * Draws what begins with entry i: a leaf of short entries that is shorter than a pixel, or has more
 * than one of them in the pixel that it begins in; or the entry, and those that share its pixel. Of
 * a leaf most entries need not be looked at, each of which costs several misses of the cache. The
 * next entry; the lane's count behind the window.
 */
static uint64_t draw_from(struct lane *l, uint64_t i)
{
	const struct ut_node *leaf = leaf_at(l, i);
	struct ut_entry e, next;
	struct border border;
	double at;

	if (leaf && leaf->longest < l->wide_node && leaf->first < l->end) {
		at = pixel_of(l, leaf->first);
		border = border_of(l, at + l->s->pixel);
		if (leaf->end - leaf->first < l->wide || leaf->end < border.at ||
		    (get_entry(l, i + 1, &next) && next.ts < border.at))
			return draw_pixel(l, i, at, border);
	}
	if (!get_entry(l, i, &e) || e.ts >= l->end)
		return l->lane->count;
	if (e.end - e.ts >= l->wide || i + 1 >= l->lane->count)
		return put_one(l, i, &e, fill_of(l, e.type));
	at = pixel_of(l, e.ts);
	border = border_of(l, at + l->s->pixel);
	if (!get_entry(l, i + 1, &next) || next.ts >= border.at)
		return put_one(l, i, &e, fill_of(l, e.type));
	if (next.end - next.ts >= l->wide) /* drawn by itself */
		return put_one(l, i, &e, 255);
	return draw_pixel(l, i, at, border);
}

static void draw_items(const struct ut_lane_items *s, struct items *to)
{
	struct lane l = { .s = s,
			  .to = to,
			  .track = s->track,
			  .lane = &s->track->lanes->lanes[s->lane],
			  .wide = whole_ns(s->pixel),
			  .quarter = whole_ns(s->pixel / 4),
			  .wide_node = wide_node(s->pixel) };

	if (!l.lane->count)
		return;
	ut_lane_levels(l.lane, &l.levels);
	l.end = border_of(&l, s->t1).at;
	for (uint64_t i = seek_first(&l); i < l.lane->count;)
		i = draw_from(&l, i);
}

void ut_lane_items_draw(const struct ut_lane_items *s)
{
	draw_items(s, NULL);
}

/* ---- counters ------------------------------------------------------------------------------- */

/* A sample belongs to its own pixel, and holds until the next one. */
static void draw_samples(struct items *s, const struct ut_view_track *t, uint32_t number)
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

static void lane_items_put_head(const struct items *s, size_t lanes, struct ut_out *out)
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
static void lane_items_put_column(struct ut_out *out, const void *first, size_t stride, size_t size,
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
			lane_items_put_column((out), &(items)->member, sizeof(*(items)),           \
					      sizeof((items)->member), (count));                   \
	} while (0)

static void put_columns(const struct items *s, size_t lanes, struct ut_out *out)
{
	size_t n = s->item_count;

	ut_out_write(out, s->start, n * sizeof(*s->start));
	ut_out_write(out, s->length, n * sizeof(*s->length));
	ut_out_write(out, s->type, n * sizeof(*s->type));
	ut_out_write(out, s->row, n * sizeof(*s->row));
	ut_out_write(out, s->first, (lanes + 1) * sizeof(*s->first));
	ut_out_write(out, s->cells, (lanes + 1) * sizeof(*s->cells));
	PUT_COLUMN(out, s->values, s->value_count, low);
	PUT_COLUMN(out, s->values, s->value_count, high);
	PUT_COLUMN(out, s->values, s->value_count, last);
	ut_out_write(out, s->fill, n * sizeof(*s->fill));
}

int ut_answer_window(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	struct items s = { .t0 = a->t0, .t1 = a->t1 };

	(void)err;
	s.pixels = a->pixels < 1 ? 1 : a->pixels > PIXELS_MOST ? PIXELS_MOST : (uint32_t)a->pixels;
	s.pixel = (a->t1 - a->t0) / s.pixels;
	s.first = ut_make((a->lane_count + 1) * sizeof(*s.first));
	s.cells = ut_make((a->lane_count + 1) * sizeof(*s.cells));
	for (size_t i = 0; i < a->lane_count; i++) {
		const struct ut_view_track *t =
			a->lanes[i].track < v->track_count ? &v->tracks[a->lanes[i].track] : NULL;
		uint32_t lane = a->lanes[i].lane;

		s.lanes_left = a->lane_count - i;
		if (t && lane < t->lanes->count && s.pixel > 0) {
			if (t->lanes->lanes[lane].kind == UT_LANE_COUNTER)
				draw_samples(&s, t, lane);
			else
				draw_items(&(struct ut_lane_items){ t, lane, s.t0, s.t1, s.pixel,
								    NULL, NULL },
					   &s);
		}
		s.first[i + 1] = (uint32_t)s.item_count;
		s.cells[i + 1] = (uint32_t)s.value_count;
	}
	ut_out_reserve(out, s.item_count * 21 + s.value_count * 12 + a->lane_count * 8 + 64);
	lane_items_put_head(&s, a->lane_count, out);
	put_columns(&s, a->lane_count, out);
	free(s.start);
	free(s.length);
	free(s.type);
	free(s.row);
	free(s.fill);
	free(s.values);
	free(s.first);
	free(s.cells);
	return 0;
}
