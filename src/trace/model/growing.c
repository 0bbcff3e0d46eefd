#include "model/growing.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/deferred_free.h"
#include "model/pages.h"
#include "model/pyramid_deal.h"

#define FIRST_ROWS 64u
#define ROW_BYTES  24u

/* A row on its way into a block. */
struct row {
	uint64_t ts, val;
	uint32_t type, args;
	uint32_t open;  /* number of the span that it begins; 0 = none */
	uint32_t order; /* of arrival */
	bool span;
};

/* What is known of a track beside its rows. */
struct growing_track {
	struct row last;   /* that was put behind the others */
	uint32_t cap;      /* rows that the last block has room for */
	struct row *loose; /* have to go between those that are there */
	size_t loose_count, loose_cap;
	size_t block_cap;
	bool is_stale;  /* rows have moved: its lanes have to be made anew */
	bool has_async; /* so do those of a track with async spans, whenever it grows */
	struct ut_dealer dealer;
};

/* A span that has not ended. */
struct open_span {
	uint32_t track;
	uint32_t loose; /* its place in loose, + 1; 0 = it is in row */
	uint64_t row;
	uint32_t next_free; /* number of the next one that is not in use */
	bool is_used;
};

struct ut_growing {
	struct ut_sink sink; /* first */
	struct ut_store store;
	struct growing_track *tracks;
	size_t track_cap, row_cap; /* of tracks and of store.rows */
	struct ut_type last_type;
	uint32_t last_number;
	struct open_span *open; /* [0] is not used */
	size_t open_count, open_cap;
	uint32_t free_open;
	uint8_t *kinds; /* of lanes, by type */
	size_t kind_cap;
	uint32_t kind_count;
	struct ut_deferred_free deferred;
	atomic_uint owners; /* the filler, and each store that was shown */
};

/* What one store has of it. */
struct ut_loan {
	struct ut_growing *from;
	uint64_t ticket;
	void **own; /* columns */
	size_t own_count, own_cap;
};

static void growing_take_event(struct ut_sink *sink, const struct ut_trace *trace,
			       const struct ut_event *e);

struct ut_growing *ut_growing_new(void)
{
	struct ut_growing *g = ut_make(sizeof(*g));

	g->sink.event = growing_take_event;
	ut_trace_init(&g->store.trace);
	ut_types_init(&g->store.types);
	ut_arglists_init(&g->store.args);
	ut_deferred_free_init(&g->deferred);
	g->open_count = 1;
	g->owners = 1;
	return g;
}

struct ut_trace *ut_growing_trace(struct ut_growing *g)
{
	return &g->store.trace;
}

struct ut_sink *ut_growing_sink(struct ut_growing *g)
{
	return &g->sink;
}

static void growing_drop(struct ut_growing *g)
{
	if (atomic_fetch_sub(&g->owners, 1) > 1)
		return;
	for (size_t i = 0; i < g->track_cap; i++) {
		ut_deal_clear(&g->tracks[i].dealer);
		free(g->tracks[i].loose);
	}
	/* blocks of tracks that nobody has declared go with their rows, too */
	g->store.trace.track_count = g->row_cap;
	ut_store_release(&g->store);
	ut_deferred_free_release(&g->deferred);
	free(g->tracks);
	free(g->open);
	free(g->kinds);
	free(g);
}

void ut_growing_end(struct ut_growing *g)
{
	if (g)
		growing_drop(g);
}

void ut_growing_return(struct ut_loan *loan)
{
	if (!loan)
		return;
	for (size_t i = 0; i < loan->own_count; i++)
		free(loan->own[i]);
	free(loan->own);
	ut_deferred_free_leave(&loan->from->deferred, loan->ticket);
	growing_drop(loan->from);
	free(loan);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Columns of a block that only we see as such. */
static uint64_t *own64(const uint64_t *column)
{
	return (uint64_t *)(uintptr_t)column;
}

static uint32_t *own32(const uint32_t *column)
{
	return (uint32_t *)(uintptr_t)column;
}

static struct ut_block make_block(uint32_t cap)
{
	uint64_t *ts = ut_pages_alloc((size_t)cap * ROW_BYTES);
	uint64_t *val = ts + cap;
	uint32_t *type = (uint32_t *)(val + cap);

	return (struct ut_block){ .ts = ts, .val = val, .type = type, .args = type + cap };
}

static void growing_put_row(struct ut_block *b, uint32_t i, const struct row *r)
{
	own64(b->ts)[i] = r->ts;
	own64(b->val)[i] = r->val;
	own32(b->type)[i] = r->type;
	own32(b->args)[i] = r->args;
}

static struct growing_track *growing_track_of(struct ut_growing *g, uint32_t track)
{
	if (track >= g->track_cap) {
		size_t before = g->track_cap;

		g->tracks =
			ut_grow(g->tracks, (size_t)track + 1, &g->track_cap, sizeof(*g->tracks));
		for (size_t i = before; i < g->track_cap; i++)
			g->tracks[i].dealer = (struct ut_dealer){ .store = &g->store,
								  .track = (uint32_t)i,
								  .deferred = &g->deferred };
		g->store.rows = ut_grow(g->store.rows, (size_t)track + 1, &g->row_cap,
					sizeof(*g->store.rows));
	}
	return &g->tracks[track];
}

/* The last block, with room for a row. */
static struct ut_block *growing_room(struct ut_growing *g, struct growing_track *t,
				     struct ut_rows *r)
{
	size_t blocks = ut_rows_blocks(r);
	struct ut_block *last = blocks ? &r->blocks[blocks - 1] : NULL, wide;

	if (last && last->count < t->cap)
		return last;
	if (last && t->cap < UT_BLOCK_ROWS) {
		t->cap *= 4;
		wide = make_block(t->cap);
		wide.count = last->count;
		memcpy(own64(wide.ts), last->ts, last->count * sizeof(*wide.ts));
		memcpy(own64(wide.val), last->val, last->count * sizeof(*wide.val));
		memcpy(own32(wide.type), last->type, last->count * sizeof(*wide.type));
		memcpy(own32(wide.args), last->args, last->count * sizeof(*wide.args));
		ut_deferred_free_add(&g->deferred, own64(last->ts));
		*last = wide;
		return last;
	}
	r->blocks = ut_grow(r->blocks, blocks + 1, &t->block_cap, sizeof(*r->blocks));
	t->cap = blocks ? UT_BLOCK_ROWS : FIRST_ROWS;
	r->blocks[blocks] = make_block(t->cap);
	return &r->blocks[blocks];
}

/* Does a, which came later, stand before b? */
static bool goes_before(const struct row *a, const struct row *b)
{
	if (a->ts != b->ts)
		return a->ts < b->ts;
	return a->span && (!b->span || a->val > b->val);
}

/* The last sign of life on a track. */
static void end_at(struct ut_rows *r, const struct row *row)
{
	uint64_t end = row->span && row->val != UT_UNENDED ? ut_add_ns(row->ts, row->val) : row->ts;

	r->last = end > r->last ? end : r->last;
}

static void growing_add_row(struct ut_growing *g, uint32_t track, struct row row)
{
	struct growing_track *t = growing_track_of(g, track);
	struct ut_rows *r = &g->store.rows[track];

	end_at(r, &row);
	if (r->count && goes_before(&row, &t->last)) {
		row.order = (uint32_t)t->loose_count;
		t->loose = ut_grow(t->loose, t->loose_count + 1, &t->loose_cap, sizeof(*t->loose));
		t->loose[t->loose_count++] = row;
		if (row.open)
			g->open[row.open].loose = (uint32_t)t->loose_count;
		return;
	}
	growing_put_row(growing_room(g, t, r), (uint32_t)(r->count % UT_BLOCK_ROWS), &row);
	r->blocks[r->count / UT_BLOCK_ROWS].count++;
	if (row.open)
		g->open[row.open].row = r->count;
	r->count++;
	t->last = row;
}

/* ---- as a sink ------------------------------------------------------------------------------ */

static uint32_t growing_type_of(struct ut_growing *g, const struct ut_event *e)
{
	const struct ut_type type = {
		.name = e->name, .cat = e->cat, .kind = e->kind, .flags = e->flags
	};

	if (memcmp(&type, &g->last_type, sizeof(type)) != 0) {
		g->last_type = type;
		g->last_number = ut_types_intern(&g->store.types, &type);
	}
	return g->last_number;
}

static uint32_t args_of(struct ut_growing *g, uint32_t list)
{
	const struct ut_arg *args = g->store.trace.args + list;
	size_t count = 0;

	while (list && args[count].type != UT_ARG_END)
		count++;
	return ut_arglists_add(&g->store.args, args, count);
}

static void growing_take_event(struct ut_sink *sink, const struct ut_trace *trace,
			       const struct ut_event *e)
{
	struct ut_growing *g = (struct ut_growing *)sink;
	uint8_t kind = ut_deal_kind(e->kind);

	(void)trace; /* it is ours */
	growing_add_row(g, e->track,
			(struct row){ .ts = e->ts,
				      .val = e->val,
				      .type = growing_type_of(g, e),
				      .args = e->args ? args_of(g, e->args) : 0,
				      .span = e->kind == UT_KIND_SPAN });
	g->tracks[e->track].has_async |= kind == UT_LANE_ASYNC;
}

/* ---- spans that have not ended -------------------------------------------------------------- */

static uint32_t new_open(struct ut_growing *g, uint32_t track)
{
	uint32_t number = g->free_open;

	if (number) {
		g->free_open = g->open[number].next_free;
	} else {
		g->open = ut_grow(g->open, g->open_count + 1, &g->open_cap, sizeof(*g->open));
		number = (uint32_t)g->open_count++;
	}
	g->open[number] = (struct open_span){ .track = track, .is_used = true };
	return number;
}

uint32_t ut_growing_begin(struct ut_growing *g, const struct ut_event *e)
{
	uint32_t number = new_open(g, e->track);

	growing_add_row(g, e->track,
			(struct row){ .ts = e->ts,
				      .val = UT_UNENDED,
				      .type = growing_type_of(g, e),
				      .args = e->args ? args_of(g, e->args) : 0,
				      .open = number,
				      .span = true });
	return number;
}

/* Where the row of an open span is, in columns that nobody looks at. */
static struct row *loose_row(const struct ut_growing *g, const struct open_span *o)
{
	return o->loose ? &g->tracks[o->track].loose[o->loose - 1] : NULL;
}

static struct ut_block *block_of(const struct ut_growing *g, const struct open_span *o, uint32_t *i)
{
	*i = (uint32_t)(o->row % UT_BLOCK_ROWS);
	return &g->store.rows[o->track].blocks[o->row / UT_BLOCK_ROWS];
}

uint64_t ut_growing_begun(const struct ut_growing *g, uint32_t number)
{
	const struct open_span *o = &g->open[number];
	uint32_t i;

	return o->loose ? loose_row(g, o)->ts : block_of(g, o, &i)->ts[o->row % UT_BLOCK_ROWS];
}

void ut_growing_put_args(struct ut_growing *g, uint32_t number)
{
	const struct open_span *o = &g->open[number];
	struct ut_trace *t = &g->store.trace;
	uint32_t i, list = o->loose ? loose_row(g, o)->args
				    : block_of(g, o, &i)->args[o->row % UT_BLOCK_ROWS];
	size_t mark = t->arg_count, count = ut_arglists_get(&g->store.args, list, NULL, 0);

	for (size_t n = 0; n < count; n++)
		ut_trace_add_arg(t, 0, UT_ARG_END);
	if (count)
		ut_arglists_get(&g->store.args, list, t->args + mark, count);
}

/* The same type with flags more. */
static uint32_t flagged(struct ut_growing *g, uint32_t number, uint8_t flags)
{
	struct ut_type type = *ut_types_get(&g->store.types, number);

	type.flags |= flags;
	return flags ? ut_types_intern(&g->store.types, &type) : number;
}

void ut_growing_finish(struct ut_growing *g, uint32_t number, const struct ut_event *e)
{
	struct open_span *o = &g->open[number];
	struct growing_track *t = &g->tracks[o->track];
	uint32_t args = e->args ? args_of(g, e->args) : 0;
	struct row *loose = loose_row(g, o), row = { .span = true, .val = e->val };
	struct ut_block *b;
	uint32_t i;

	if (row.val == UT_UNENDED)
		row.val--;
	if (loose) {
		loose->val = row.val;
		loose->type = flagged(g, loose->type, e->flags);
		loose->args = args ? args : loose->args;
		loose->open = 0;
		end_at(&g->store.rows[o->track], loose);
	} else {
		b = block_of(g, o, &i);
		row.ts = b->ts[i];
		own64(b->val)[i] = row.val;
		own32(b->type)[i] = flagged(g, b->type[i], e->flags);
		if (args)
			own32(b->args)[i] = args;
		end_at(&g->store.rows[o->track], &row);
		if (o->row + 1 == g->store.rows[o->track].count)
			t->last.val = row.val;
		t->is_stale |= !ut_deal_end(&t->dealer, o->row, row.ts, ut_add_ns(row.ts, row.val),
					    b->type[i]);
	}
	o->is_used = false;
	o->next_free = g->free_open;
	g->free_open = number;
}

/* ---- rows that came too late ---------------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (goes_before(x, y))
		return -1;
	if (goes_before(y, x))
		return 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct row row_at(const struct ut_growing *g, const struct ut_rows *r, uint64_t at)
{
	const struct ut_block *b = &r->blocks[at / UT_BLOCK_ROWS];
	uint32_t i = (uint32_t)(at % UT_BLOCK_ROWS);

	return (struct row){
		.ts = b->ts[i],
		.val = b->val[i],
		.type = b->type[i],
		.args = b->args[i],
		.span = ut_store_type(&g->store, b->type[i])->kind == UT_KIND_SPAN,
	};
}

/* The first row that a loose one stands before. */
static uint64_t growing_place_of(const struct ut_growing *g, const struct ut_rows *r,
				 const struct row *row)
{
	uint64_t at = ut_rows_find(r, row->ts);

	while (at < r->count) {
		struct row other = row_at(g, r, at);

		if (goes_before(row, &other))
			break;
		at++;
	}
	return at;
}

/* Spans that are open have moved on by the rows that were put before them. */
static void move_open(struct ut_growing *g, uint32_t track, const uint64_t *places, size_t count)
{
	for (size_t i = 1; i < g->open_count; i++) {
		struct open_span *o = &g->open[i];
		size_t low = 0, high = count;

		if (!o->is_used || o->track != track || o->loose)
			continue;
		while (low < high) {
			size_t mid = low + (high - low) / 2;

			if (places[mid] <= o->row)
				low = mid + 1;
			else
				high = mid;
		}
		o->row += low;
	}
}

/* New blocks from the first one that changes on. */
static void weave(struct ut_growing *g, uint32_t track, const uint64_t *places)
{
	struct growing_track *t = &g->tracks[track];
	struct ut_rows *r = &g->store.rows[track], old = *r;
	size_t first = (size_t)(places[0] / UT_BLOCK_ROWS), blocks = ut_rows_blocks(r), next = 0;
	uint64_t at = first * (uint64_t)UT_BLOCK_ROWS;

	old.blocks = ut_make((blocks + 1) * sizeof(*old.blocks));
	memcpy(old.blocks, r->blocks, blocks * sizeof(*old.blocks));
	r->count = at;
	t->cap = UT_BLOCK_ROWS;
	while (at < old.count || next < t->loose_count) {
		bool is_loose = next < t->loose_count && places[next] <= at;
		struct row row = is_loose ? t->loose[next] : row_at(g, &old, at);
		size_t n = ut_rows_blocks(r);

		if (r->count % UT_BLOCK_ROWS == 0) {
			r->blocks = ut_grow(r->blocks, n + 1, &t->block_cap, sizeof(*r->blocks));
			r->blocks[n] = make_block(UT_BLOCK_ROWS);
		}
		growing_put_row(&r->blocks[r->count / UT_BLOCK_ROWS],
				(uint32_t)(r->count % UT_BLOCK_ROWS), &row);
		r->blocks[r->count / UT_BLOCK_ROWS].count++;
		if (is_loose && row.open) {
			g->open[row.open].loose = 0;
			g->open[row.open].row = r->count;
		}
		t->last = row;
		r->count++;
		next += is_loose;
		at += !is_loose;
	}
	for (size_t i = first; i < blocks; i++)
		ut_deferred_free_add(&g->deferred, own64(old.blocks[i].ts));
	free(old.blocks);
}

static void growing_finalize(struct ut_growing *g, uint32_t track)
{
	struct growing_track *t = &g->tracks[track];
	uint64_t *places;

	if (!t->loose_count)
		return;
	qsort(t->loose, t->loose_count, sizeof(*t->loose), by_order);
	places = ut_make(t->loose_count * sizeof(*places));
	for (size_t i = 0; i < t->loose_count; i++)
		places[i] = growing_place_of(g, &g->store.rows[track], &t->loose[i]);
	/* sorting has moved the loose ones: their spans are found when they are woven in */
	move_open(g, track, places, t->loose_count);
	weave(g, track, places);
	t->loose_count = 0;
	t->is_stale |= places[0] < t->dealer.dealt;
	free(places);
}

/* ---- showing -------------------------------------------------------------------------------- */

static void *growing_copied(struct ut_arena *arena, const void *items, size_t count, size_t size)
{
	void *copy = ut_arena_alloc(arena, count + 1, size);

	if (count)
		memcpy(copy, items, count * size);
	return copy;
}

static void show_trace(const struct ut_trace *from, struct ut_trace *to)
{
	*to = *from;
	to->arena = (struct ut_arena){ 0 };
	ut_strtab_share(&to->strings, &from->strings, &to->arena);
	to->stacks = (struct ut_stacks){ 0 };
	(void)ut_stacks_take(&to->stacks, &to->arena, &from->stacks);
	to->processes = growing_copied(&to->arena, from->processes, from->process_count,
				       sizeof(*to->processes));
	to->process_cap = from->process_count;
	to->tracks =
		growing_copied(&to->arena, from->tracks, from->track_count, sizeof(*to->tracks));
	to->track_cap = from->track_count;
	to->args = growing_copied(&to->arena, from->args, from->arg_count, sizeof(*to->args));
	to->arg_cap = from->arg_count;
	to->notes = growing_copied(&to->arena, from->notes, from->note_count, sizeof(*to->notes));
	to->note_cap = from->note_count;
	to->calls = growing_copied(&to->arena, from->calls, from->call_count, sizeof(*to->calls));
	to->unwanted = growing_copied(&to->arena, from->unwanted, from->unwanted_count,
				      sizeof(*to->unwanted));
	to->unwanted_cap = from->unwanted_count;
}

/* Without room to grow, and so not its own. */
static void show_lists(const struct ut_store *from, struct ut_store *to)
{
	struct ut_arena *arena = &to->trace.arena;
	const struct ut_arglists *l = &from->args;

	to->types = (struct ut_types){ .items = growing_copied(arena, from->types.items,
							       from->types.count,
							       sizeof(*to->types.items)),
				       .count = from->types.count };
	to->args = *l;
	to->args.lookup = (struct ut_hashtab){ 0 };
	to->args.chunks = ut_make((l->chunk_count + 1) * sizeof(*l->chunks));
	if (l->chunk_count)
		memcpy(to->args.chunks, l->chunks, l->chunk_count * sizeof(*l->chunks));
	to->args.chunk_cap = to->args.shape_cap = to->args.shape_arg_cap = 0;
	to->args.most = l->used;
	to->args.shapes = growing_copied(arena, l->shapes, l->shape_count, sizeof(*l->shapes));
	to->args.shape_args =
		growing_copied(arena, l->shape_args, l->shape_arg_count, sizeof(*l->shape_args));
}

static void show_rows(const struct ut_rows *from, struct ut_rows *to)
{
	size_t blocks = ut_rows_blocks(from);

	*to = (struct ut_rows){ .count = from->count, .last = from->last };
	if (!from->count)
		return;
	to->blocks = ut_make(blocks * sizeof(*to->blocks));
	memcpy(to->blocks, from->blocks, blocks * sizeof(*to->blocks));
	to->first = to->blocks[0].ts[0];
}

/* Columns of its own for a block, unless it has them. */
static void growing_part(struct ut_loan *loan, const struct ut_block *shared, struct ut_block *b)
{
	uint64_t *val;
	uint32_t *type;

	if (b->val != shared->val)
		return;
	val = ut_make((size_t)b->count * (ROW_BYTES - sizeof(*b->ts)));
	type = (uint32_t *)(val + b->count);
	memcpy(val, b->val, b->count * sizeof(*val));
	memcpy(type, b->type, b->count * sizeof(*type));
	memcpy(type + b->count, b->args, b->count * sizeof(*type));
	b->val = val;
	b->type = type;
	b->args = type + b->count;
	loan->own = ut_grow(loan->own, loan->own_count + 1, &loan->own_cap, sizeof(*loan->own));
	loan->own[loan->own_count++] = val;
}

/* What has not ended goes on until now, and says so. */
static void show_open(struct ut_growing *g, uint64_t until, struct ut_store *s)
{
	for (size_t n = 1; n < g->open_count; n++) {
		const struct open_span *o = &g->open[n];
		struct ut_rows *rows;
		struct ut_block *b;
		uint32_t i;

		if (!o->is_used || o->track >= s->trace.track_count)
			continue;
		rows = &s->rows[o->track];
		b = &rows->blocks[o->row / UT_BLOCK_ROWS];
		growing_part(s->loan, block_of(g, o, &i), b);
		own64(b->val)[i] = until > b->ts[i] ? until - b->ts[i] : 0;
		own32(b->type)[i] = flagged(g, b->type[i], UT_EV_UNFINISHED);
		rows->last = until > rows->last ? until : rows->last;
	}
}

/* Types that the copies of show_open() have must be among those that are shown. */
static void know_unfinished(struct ut_growing *g)
{
	for (size_t n = 1; n < g->open_count; n++) {
		const struct open_span *o = &g->open[n];
		uint32_t i;

		if (o->is_used)
			(void)flagged(g, block_of(g, o, &i)->type[o->row % UT_BLOCK_ROWS],
				      UT_EV_UNFINISHED);
	}
}

static void show_lanes(struct ut_growing *g, uint64_t until, struct ut_store *s)
{
	struct ut_pyramid *p = ut_make(sizeof(*p));

	p->track_count = s->trace.track_count;
	p->tracks = ut_make((p->track_count + 1) * sizeof(*p->tracks));
	p->mapped = true; /* nodes and rows of lanes are not its own */
	for (uint32_t i = 0; i < p->track_count && i < g->track_cap; i++) {
		struct growing_track *t = &g->tracks[i];
		bool is_new = t->dealer.dealt < g->store.rows[i].count;

		t->dealer.kinds = g->kinds;
		if (t->is_stale || (t->has_async && is_new))
			ut_deal_clear(&t->dealer);
		t->is_stale = false;
		ut_deal_rows(&t->dealer);
		ut_deal_show(&t->dealer, &s->rows[i], until, &s->trace.arena, &p->tracks[i]);
	}
	s->pyramid = p;
}

static void know_kinds(struct ut_growing *g)
{
	g->kinds = ut_grow(g->kinds, (size_t)g->store.types.count + 1, &g->kind_cap, 1);
	for (; g->kind_count < g->store.types.count; g->kind_count++)
		g->kinds[g->kind_count] = ut_deal_kind(g->store.types.items[g->kind_count].kind);
}

static void show_all_rows(struct ut_growing *g, struct ut_store *s)
{
	s->rows = ut_make((s->trace.track_count + 1) * sizeof(*s->rows));
	for (uint32_t i = 0; i < s->trace.track_count && i < g->track_cap; i++) {
		show_rows(&g->store.rows[i], &s->rows[i]);
		s->row_count += s->rows[i].count;
	}
	ut_store_span(s);
}

void ut_growing_show(struct ut_growing *g, uint64_t until, struct ut_store *store)
{
	struct ut_store s = { 0 };

	for (uint32_t i = 0; i < g->track_cap; i++)
		growing_finalize(g, i);
	know_unfinished(g);
	know_kinds(g);
	s.loan = ut_make(sizeof(*s.loan));
	s.loan->from = g;
	atomic_fetch_add(&g->owners, 1);
	show_trace(&g->store.trace, &s.trace);
	show_lists(&g->store, &s);
	show_all_rows(g, &s);
	show_open(g, until, &s);
	show_lanes(g, until, &s);
	s.loan->ticket =
		ut_deferred_free_enter(&g->deferred); /* from now on nothing of it may go */
	ut_store_move(store, &s);
}
