/*
 * pyramid_draw.c - a window of a lane, from left to right.
 *
 * The cursor stands on one pixel and collects what touches it; it only moves forward. A node that
 * lies inside a pixel is taken as a whole; one across a border is opened, down to its entries,
 * unless it is narrower than a pixel. Then it is divided between the two in proportion to its time
 * on either side. If b of its w ns are busy and x of them lie left of the border, then between
 * max(0, b - (w - x)) and min(x, b) of the busy ones are left, and we say x * b / w: wrong by at
 * most w / 4. What crosses an end of the window is always opened.
 */
#include <math.h>
#include <stdatomic.h>

#include "base/thread_pool.h"
#include "model/counter.h"
#include "model/pyramid_lane.h"

static inline uint64_t pyramid_draw_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Entries below node i of a level. */
static inline uint64_t entries_of(const struct ut_lane *lane, unsigned int level, uint64_t i)
{
	uint64_t full = (uint64_t)UT_LANE_LEAF << 3 * level;

	_Static_assert(UT_LANE_FAN == 1u << 3, "a node has 8 times the entries of one below it");
	return pyramid_draw_least(lane->count - i * full, full);
}

/* ---- the cursor ---------------------------------------------------------------------------- */

struct cursor {
	uint64_t t0, t1;
	uint64_t width, rest; /* (t1 - t0) / pixels, and what is left over */
	uint64_t carry;       /* rest * at % pixels: says when a pixel is 1 ns wider */
	uint64_t lo, hi;      /* borders of the pixel that it stands on */
	double scale;         /* pixels per ns */
	uint32_t pixels, at;
};

static void stand_on(struct cursor *c, uint32_t pixel)
{
	uint64_t left_over = c->rest * pixel; /* both have 32 bits */

	c->at = pixel;
	c->lo = c->t0 + c->width * pixel + left_over / c->pixels;
	c->carry = left_over % c->pixels;
	c->hi = c->lo + c->width + (c->carry + c->rest >= c->pixels);
}

/* On the first pixel; false if there is none. */
static bool pyramid_draw_start(struct cursor *c, const struct ut_picture *w)
{
	uint64_t length = w->t1 > w->t0 ? w->t1 - w->t0 : 0;

	*c = (struct cursor){ .t0 = w->t0, .t1 = w->t1 };
	c->pixels = (uint32_t)pyramid_draw_least(length, w->pixels);
	if (!c->pixels)
		return false;
	c->width = length / c->pixels;
	c->rest = length % c->pixels;
	c->scale = (double)c->pixels / (double)length;
	stand_on(c, 0);
	return true;
}

static inline void pyramid_draw_step(struct cursor *c)
{
	c->at++;
	c->lo = c->hi;
	c->carry += c->rest;
	c->carry -= c->carry >= c->pixels ? c->pixels : 0;
	c->hi = c->lo + c->width + (c->carry + c->rest >= c->pixels);
}

/* To the pixel of t, which lies behind this one and inside the window. */
static inline void go_to(struct cursor *c, uint64_t t)
{
	double guess;

	if (t - c->hi < c->width) {
		pyramid_draw_step(c);
		return;
	}
	/* Wrong by one at most. */
	guess = (double)(t - c->t0) * c->scale;
	stand_on(c, guess < c->pixels ? (uint32_t)guess : c->pixels - 1);
	if (t < c->lo)
		stand_on(c, c->at - 1);
	else if (t >= c->hi)
		pyramid_draw_step(c);
}

/* ---- spans and marks ----------------------------------------------------------------------- */

/* What a pixel gets of an entry or a node. */
struct part {
	uint64_t busy, count;
	uint64_t most; /* length of its longest entry and the type of that, comparable: most_of() */
	uint32_t touched;
};

struct drawing {
	struct cursor c;
	const struct ut_rows *rows;
	const struct ut_lane *lane;
	struct ut_levels levels;
	struct ut_cell *cells;
	struct part sum; /* for the pixel that the cursor stands on */
	uint64_t row;    /* the last entry in it */
	bool past;       /* what comes now begins behind the window */
};

/* Lengths are not negative, so their bits are in the same order as they are. */
static inline uint64_t most_of(float length, uint32_t type)
{
	uint32_t bits;

	memcpy(&bits, &length, sizeof(bits));
	return (uint64_t)bits << 32 | type;
}

static inline void pyramid_draw_leave(struct drawing *d)
{
	uint32_t length = (uint32_t)(d->sum.most >> 32);
	struct ut_cell *cell = &d->cells[d->c.at];

	*cell = (struct ut_cell){ .busy = d->sum.busy,
				  .row = d->row,
				  .touched = d->sum.touched,
				  .count = (uint32_t)pyramid_draw_least(d->sum.count, UINT32_MAX),
				  .type = (uint32_t)d->sum.most };
	memcpy(&cell->most, &length, sizeof(length));
	d->sum = (struct part){ 0 };
}

/* Every cell is written once: when the cursor leaves its pixel or jumps over it. */
static inline void go_on_to(struct drawing *d, uint64_t t)
{
	uint32_t from = d->c.at + 1;

	pyramid_draw_leave(d);
	go_to(&d->c, t);
	for (uint32_t i = from; i < d->c.at; i++)
		d->cells[i] = (struct ut_cell){ 0 };
}

static inline void pyramid_draw_add(struct drawing *d, struct part p)
{
	d->sum.busy += p.busy;
	d->sum.count += p.count;
	d->sum.most = d->sum.most > p.most ? d->sum.most : p.most;
	d->sum.touched += p.touched;
}

static void draw_entry(struct drawing *d, uint64_t i)
{
	struct cursor *c = &d->c;
	struct ut_entry e;
	uint64_t visible, count;

	if (!ut_entry_get(d->rows, d->lane, i, &e))
		return;
	visible = ut_visible_end(e.ts, e.end);
	if (visible <= c->lo)
		return;
	if (e.ts >= c->t1) {
		d->past = true;
		return;
	}
	if (e.ts >= c->hi)
		go_on_to(d, e.ts);
	count = e.ts >= c->t0;
	for (uint64_t begin = e.ts;; begin = c->lo) {
		uint64_t end = pyramid_draw_least(e.end, c->hi), busy;

		begin = begin > c->lo ? begin : c->lo;
		busy = end > begin ? end - begin : 0;
		d->row = e.row;
		pyramid_draw_add(d, (struct part){ busy, count, most_of((float)busy, e.type), 1 });
		if (visible <= c->hi || c->at + 1 == c->pixels)
			break;
		count = 0;
		pyramid_draw_leave(d);
		pyramid_draw_step(c);
	}
}

/* A node that is narrower than a pixel, across the border to the next one. */
static inline void divide(struct drawing *d, const struct ut_node *n, uint64_t count)
{
	/* Signed, because that is what processors convert. */
	int64_t width = (int64_t)(n->end - n->first), left = (int64_t)(d->c.hi - n->first);
	int64_t right = width - left, all = (int64_t)n->busy;
	int64_t busy = (int64_t)((double)all * ((double)left / (double)width));
	float longest = n->longest, l = (float)left, r = (float)right;

	busy = busy < left ? busy : left;
	busy = all - busy > right ? all - right : busy;
	pyramid_draw_add(d, (struct part){ (uint64_t)busy, count,
					   most_of(longest < l ? longest : l, n->type), 2 });
	pyramid_draw_leave(d);
	pyramid_draw_step(&d->c);
	pyramid_draw_add(d, (struct part){ (uint64_t)(all - busy), 0,
					   most_of(longest < r ? longest : r, n->type), 2 });
}

/*
 * Narrower than a pixel, inside the window, and across the border? What ends at a border may have
 * something without length on it, so it is opened. A damaged node may hold anything.
 */
static inline bool can_divide(const struct drawing *d, const struct ut_node *n)
{
	uint64_t width = n->end - n->first;

	return width < d->c.width && width <= INT64_MAX && n->busy <= width &&
	       n->first >= d->c.lo && n->end > d->c.hi && n->end <= d->c.t1;
}

static inline bool pyramid_draw_is_inside(const struct ut_node *n, uint64_t lo, uint64_t hi)
{
	return n->end < hi && n->first >= lo;
}

static inline void add_node(struct part *sum, const struct ut_node *n)
{
	uint64_t most = most_of(n->longest, n->type);

	sum->busy += n->busy;
	sum->most = sum->most > most ? sum->most : most;
}

/* Adds nodes up to end while they are inside the pixel; the first that is not. */
static inline uint64_t add_inside(struct drawing *d, unsigned int level, uint64_t i, uint64_t end)
{
	const struct ut_node *nodes = d->levels.nodes[level]; /* NULL where the last is all */
	uint64_t lo = d->c.lo, hi = d->c.hi, from = i;
	uint64_t inner = pyramid_draw_least(end, d->levels.count[level] - 1);
	struct part sum = d->sum;

	for (; i < inner && pyramid_draw_is_inside(&nodes[i], lo, hi); i++)
		add_node(&sum, &nodes[i]);
	if (i == inner && i < end && pyramid_draw_is_inside(d->levels.last[level], lo, hi)) {
		add_node(&sum, d->levels.last[level]);
		i++;
	}
	if (i != from) {
		sum.count += (i - from - 1) * entries_of(d->lane, level, from) +
			     entries_of(d->lane, level, i - 1);
		sum.touched = 2;
		d->sum = sum;
	}
	return i;
}

static void draw_nodes(struct drawing *d, unsigned int level, uint64_t i, uint64_t end);

/* Adds entries up to end while they are inside the pixel, as most are; the first that is not. */
static inline uint64_t add_entries(struct drawing *d, uint64_t i, uint64_t end)
{
	const uint64_t lo = d->c.lo, hi = d->c.hi;
	struct part sum = d->sum;
	struct ut_entry e;

	for (; i < end && ut_entry_get(d->rows, d->lane, i, &e); i++) {
		uint64_t busy = e.end - e.ts, most = most_of((float)busy, e.type);

		if (e.ts < lo || ut_visible_end(e.ts, e.end) > hi)
			break;
		d->row = e.row;
		sum.busy += busy;
		sum.count++;
		sum.touched++;
		sum.most = sum.most > most ? sum.most : most;
	}
	d->sum = sum;
	return i;
}

static void open_node(struct drawing *d, unsigned int level, uint64_t i)
{
	uint64_t n, end;

	if (level) {
		draw_nodes(d, level - 1, i * UT_LANE_FAN,
			   pyramid_draw_least((i + 1) * UT_LANE_FAN, d->levels.count[level - 1]));
		return;
	}
	n = i * UT_LANE_LEAF;
	end = n + entries_of(d->lane, 0, i);
	while ((n = add_entries(d, n, end)) < end)
		draw_entry(d, n++);
}

static void draw_nodes(struct drawing *d, unsigned int level, uint64_t i, uint64_t end)
{
	/* The last node of a level may have fewer entries, for which (4) promises more. */
	uint64_t whole = end - (entries_of(d->lane, level, end - 1) < UT_LANE_LEAF);

	while ((i = add_inside(d, level, i, whole)) < end && !d->past) {
		const struct ut_node *n = ut_level_node(&d->levels, level, i);

		if (n->first >= d->c.t1) {
			d->past = true;
		} else if (n->first >= d->c.hi) {
			go_on_to(d, n->first);
		} else if (n->end < d->c.t0) {
			i++;
		} else if (i < whole && can_divide(d, n)) {
			divide(d, n, entries_of(d->lane, level, i++));
		} else {
			open_node(d, level, i++);
		}
	}
}

uint32_t ut_pyramid_window(const struct ut_store *s, uint32_t track, uint32_t lane,
			   const struct ut_picture *window, struct ut_cell *cells)
{
	const struct ut_lanes *lanes = ut_pyramid_lanes(s, track);
	struct drawing d = { .cells = cells };

	if (!pyramid_draw_start(&d.c, window))
		return 0;
	if (lane < lanes->count && lanes->lanes[lane].kind != UT_LANE_COUNTER) {
		d.rows = &s->rows[track];
		d.lane = &lanes->lanes[lane];
		ut_lane_levels(d.lane, &d.levels);
		if (d.levels.used)
			draw_nodes(&d, d.levels.used - 1, 0, 1);
	}
	pyramid_draw_leave(&d);
	memset(cells + d.c.at + 1, 0, (d.c.pixels - d.c.at - 1) * sizeof(*cells));
	return d.c.pixels;
}

/* ---- samples ------------------------------------------------------------------------------- */

/*
 * A sample counts until the next one, so a node reaches to where the next one begins. One that is
 * narrower than a pixel belongs to the pixel of its first sample as a whole.
 */
struct plot {
	struct cursor c;
	const struct ut_store *store;
	const struct ut_rows *rows;
	const struct ut_lane *lane;
	struct ut_levels levels;
	struct ut_value_cell *cells;
	struct ut_value_cell sum; /* for the pixel that the cursor stands on */
	double before;            /* the last value so far */
	bool past;
};

/* Up to, but not including, pixel next; those without a sample keep the value. */
static void leave_values(struct plot *p, uint32_t from, uint32_t next)
{
	const struct ut_value_cell held = { p->before, p->before, p->before, 0 };

	p->cells[from] = p->sum.count ? p->sum : held;
	for (uint32_t i = from + 1; i < next; i++)
		p->cells[i] = held;
	p->sum = (struct ut_value_cell){ 0 };
}

static void add_samples(struct plot *p, const struct ut_node *n, uint64_t count)
{
	struct ut_value_cell *sum = &p->sum;
	uint32_t from = p->c.at;

	if (n->first >= p->c.hi) {
		go_to(&p->c, n->first);
		leave_values(p, from, p->c.at);
	}
	/* What is not a number gives way to what is. */
	if (!sum->count || n->min < sum->min || isnan(sum->min))
		sum->min = n->min;
	if (!sum->count || n->max > sum->max || isnan(sum->max))
		sum->max = n->max;
	sum->last = p->before = n->last;
	sum->count = (uint32_t)pyramid_draw_least(sum->count + count, UINT32_MAX);
}

static void plot_entry(struct plot *p, uint64_t i)
{
	const struct ut_block *b;
	struct ut_entry e;
	double value;

	if (!ut_entry_get(p->rows, p->lane, i, &e))
		return;
	b = &p->rows->blocks[e.row / UT_BLOCK_ROWS];
	value = ut_counter_value(b->val[e.row % UT_BLOCK_ROWS],
				 ut_store_type(p->store, e.type)->flags);
	if (e.ts < p->c.t0)
		p->before = value;
	else if (e.ts >= p->c.t1)
		p->past = true;
	else
		add_samples(p,
			    &(struct ut_node){
				    .first = e.ts, .min = value, .max = value, .last = value },
			    1);
}

static void plot_nodes(struct plot *p, unsigned int level, uint64_t i, uint64_t end);

static void open_plot(struct plot *p, unsigned int level, uint64_t i)
{
	if (level) {
		plot_nodes(p, level - 1, i * UT_LANE_FAN,
			   pyramid_draw_least((i + 1) * UT_LANE_FAN, p->levels.count[level - 1]));
		return;
	}
	for (uint64_t n = i * UT_LANE_LEAF, end = n + entries_of(p->lane, 0, i); n < end; n++)
		plot_entry(p, n);
}

static void plot_nodes(struct plot *p, unsigned int level, uint64_t i, uint64_t end)
{
	for (; i < end && !p->past; i++) {
		const struct ut_node *n = ut_level_node(&p->levels, level, i);
		uint64_t next = i + 1 < p->levels.count[level]
					? ut_level_node(&p->levels, level, i + 1)->first
					: UINT64_MAX;

		if (n->first >= p->c.t1)
			p->past = true;
		else if (next < p->c.t0)
			p->before = n->last;
		else if (n->first >= p->c.t0 && next <= p->c.t1 && next - n->first < p->c.width)
			add_samples(p, n, entries_of(p->lane, level, i));
		else
			open_plot(p, level, i);
	}
}

uint32_t ut_pyramid_values(const struct ut_store *s, uint32_t track, uint32_t lane,
			   const struct ut_picture *window, struct ut_value_cell *cells)
{
	const struct ut_lanes *lanes = ut_pyramid_lanes(s, track);
	struct plot p = { .store = s, .cells = cells, .before = NAN };

	if (!pyramid_draw_start(&p.c, window))
		return 0;
	if (lane < lanes->count && lanes->lanes[lane].kind == UT_LANE_COUNTER) {
		p.rows = &s->rows[track];
		p.lane = &lanes->lanes[lane];
		ut_lane_levels(p.lane, &p.levels);
		if (p.levels.used)
			plot_nodes(&p, p.levels.used - 1, 0, 1);
	}
	leave_values(&p, p.c.at, p.c.pixels);
	return p.c.pixels;
}

/* ---- many lanes ---------------------------------------------------------------------------- */

#define LANES_A_THREAD 8u /* fewer are drawn by the time that a thread has started */

struct picture {
	const struct ut_store *store;
	const struct ut_picture *window;
	const struct ut_picture_lane *lanes;
	size_t count;
	_Atomic size_t next;
};

static void draw_lanes(void *ctx)
{
	struct picture *p = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->count) {
		const struct ut_picture_lane *l = &p->lanes[i];
		const struct ut_lanes *all = ut_pyramid_lanes(p->store, l->track);

		if (l->lane < all->count && all->lanes[l->lane].kind == UT_LANE_COUNTER)
			ut_pyramid_values(p->store, l->track, l->lane, p->window, l->values);
		else
			ut_pyramid_window(p->store, l->track, l->lane, p->window, l->cells);
	}
}

uint32_t ut_pyramid_picture(const struct ut_store *s, const struct ut_picture *window,
			    const struct ut_picture_lane *lanes, size_t count, unsigned int threads)
{
	struct picture p = { .store = s, .window = window, .lanes = lanes, .count = count };
	struct cursor c;

	ut_thread_pool_run(ut_thread_pool_size(threads, count / LANES_A_THREAD), draw_lanes, &p);
	return pyramid_draw_start(&c, window) ? c.pixels : 0;
}
