/*
 * build_sort.c - the rows of a track, from the order of arrival to the store's order.
 *
 * Traces are nearly sorted: tools write a span when it ends, so an outer one comes after its inner
 * ones, but the spans of one depth are in order. Rows are therefore dealt onto piles, each of which
 * is in order, and the piles are merged: as many piles as the program nests deep. What is truly
 * unordered would need too many piles and is sorted by merging instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/build.h"
#include "model/nesting.h"

#define MOST_PILES 64u

struct pile {
	uint32_t *rows; /* in order of arrival, and of time */
	size_t count, cap, next;
	uint64_t tail; /* ts of the last one */
};

static struct ut_build_block *block_of(const struct ut_build_rows *r, uint64_t row, uint32_t *at)
{
	*at = (uint32_t)(row % UT_BLOCK_ROWS);
	return &r->blocks[row / UT_BLOCK_ROWS];
}

static uint64_t ts_of(const struct ut_build_rows *r, uint64_t row)
{
	uint32_t at;
	const struct ut_build_block *block = block_of(r, row, &at);

	return block->ts[at];
}

/* ---- by time ------------------------------------------------------------------------------- */

/*
 * Deals the rows; the tails of the piles stay in descending order, so that the first pile that
 * can take a row is the one that fits best. False when there would be too many piles.
 */
static bool deal(const struct ut_build_rows *r, struct pile *piles, size_t *used)
{
	for (uint64_t row = 0; row < r->count; row++) {
		uint64_t ts = ts_of(r, row);
		size_t lo = 0, hi = *used;

		while (lo < hi) {
			size_t mid = (lo + hi) / 2;

			if (piles[mid].tail <= ts)
				hi = mid;
			else
				lo = mid + 1;
		}
		if (lo == MOST_PILES)
			return false;
		if (lo == *used)
			(*used)++;
		piles[lo].rows = ut_grow(piles[lo].rows, piles[lo].count + 1, &piles[lo].cap,
					 sizeof(*piles[lo].rows));
		piles[lo].rows[piles[lo].count++] = (uint32_t)row;
		piles[lo].tail = ts;
	}
	return true;
}

/* The pile whose next row is first in time, and of those that came first. */
static struct pile *first_pile(const struct ut_build_rows *r, struct pile *piles, size_t used)
{
	struct pile *best = NULL;

	for (size_t i = 0; i < used; i++) {
		struct pile *p = &piles[i];

		if (p->next == p->count)
			continue;
		p->tail = ts_of(r, p->rows[p->next]);
		if (!best || p->tail < best->tail ||
		    (p->tail == best->tail && p->rows[p->next] < best->rows[best->next]))
			best = p;
	}
	return best;
}

static void merge_piles(const struct ut_build_rows *r, struct pile *piles, size_t used,
			uint32_t *order)
{
	struct pile *p;
	size_t n = 0;

	while ((p = first_pile(r, piles, used))) {
		/* A pile usually goes on for a while: up to where the next best one begins. */
		uint64_t limit = UINT64_MAX;

		for (size_t i = 0; i < used; i++) {
			if (&piles[i] != p && piles[i].next < piles[i].count &&
			    piles[i].tail < limit)
				limit = piles[i].tail;
		}
		do {
			order[n++] = p->rows[p->next++];
		} while (p->next < p->count && ts_of(r, p->rows[p->next]) < limit);
	}
}

struct key {
	uint64_t ts;
	uint32_t row;
};

static int build_sort_by_ts(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void sort_fully(const struct ut_build_rows *r, uint32_t *order)
{
	struct key *keys = ut_make(r->count * sizeof(*keys));

	for (uint32_t row = 0; row < r->count; row++)
		keys[row] = (struct key){ ts_of(r, row), row };
	qsort(keys, r->count, sizeof(*keys), build_sort_by_ts);
	for (uint32_t row = 0; row < r->count; row++)
		order[row] = keys[row].row;
	free(keys);
}

/* Rows in the given order, in new blocks; an old block is freed when its last row has gone. */
static void rearrange(struct ut_build_rows *r, const uint32_t *order)
{
	struct ut_build_block *blocks = ut_make(r->block_count * sizeof(*blocks));
	uint32_t *left = ut_make(r->block_count * sizeof(*left));

	for (size_t i = 0; i < r->block_count; i++)
		left[i] = r->blocks[i].count;
	for (uint64_t row = 0; row < r->count; row++) {
		struct ut_build_block *to = &blocks[row / UT_BLOCK_ROWS], *from;
		uint32_t at, n;

		if (!to->cap)
			ut_build_block_make(to, r->blocks[row / UT_BLOCK_ROWS].cap
							? r->blocks[row / UT_BLOCK_ROWS].cap
							: UT_BLOCK_ROWS);
		from = block_of(r, order[row], &at);
		n = to->count++;
		to->ts[n] = from->ts[at];
		to->val[n] = from->val[at];
		to->type[n] = from->type[at];
		to->args[n] = from->args[at];
		if (!--left[order[row] / UT_BLOCK_ROWS])
			ut_build_block_free(from);
	}
	free(left);
	free(r->blocks);
	r->blocks = blocks;
	r->block_cap = r->block_count;
}

static void sort_by_time(struct ut_build_rows *r)
{
	struct pile piles[MOST_PILES + 1] = { 0 };
	uint32_t *order;
	size_t used = 0;

	if (r->count > UINT32_MAX)
		return; /* 100 GB of one track: shown as it came */
	order = ut_make(r->count * sizeof(*order));
	if (deal(r, piles, &used))
		merge_piles(r, piles, used, order);
	else
		sort_fully(r, order);
	for (size_t i = 0; i < MOST_PILES; i++)
		free(piles[i].rows);
	rearrange(r, order);
	free(order);
}

/* ---- begins and ends ----------------------------------------------------------------------- */

/* A row that has begun. */
struct begun {
	uint64_t row, ts;
	uint32_t name;
};

struct joiner {
	struct ut_build *build;
	struct ut_build_rows *rows;
	struct begun *open; /* the innermost last */
	size_t open_count, open_cap;
	uint64_t written;
	uint64_t last; /* sign of life so far */
};

/* The type that a begin has as a whole span. */
static uint32_t span_type(struct joiner *j, uint32_t type, uint8_t flag)
{
	struct ut_build *b = j->build;
	size_t at = 3 * (size_t)type + flag; /* none, unfinished, implicit end */
	struct ut_type t;

	b->spans = ut_grow(b->spans, at + 1, &b->span_cap, sizeof(*b->spans));
	if (!b->spans[at]) {
		t = *ut_types_get(&b->store.types, type);
		t.kind = UT_KIND_SPAN;
		t.flags |= flag;
		b->spans[at] = ut_types_intern(&b->store.types, &t) + 1;
	}
	return b->spans[at] - 1;
}

/* Closes the innermost. flag: how it came to its end. */
static void build_sort_close_span(struct joiner *j, uint64_t end, uint32_t args, uint8_t flag)
{
	struct ut_arglists *l = &j->build->store.args;
	uint32_t at;
	struct ut_build_block *block = block_of(j->rows, j->open[--j->open_count].row, &at);

	block->type[at] = span_type(j, block->type[at], flag);
	block->val[at] = end - block->ts[at];
	block->args[at] = ut_arglists_both(l, l, block->args[at], args);
}

static void keep_row(struct joiner *j, const struct ut_build_block *from, uint32_t n)
{
	uint32_t at;
	struct ut_build_block *to = block_of(j->rows, j->written++, &at);

	to->ts[at] = from->ts[n];
	to->val[at] = from->val[n];
	to->type[at] = from->type[n];
	to->args[at] = from->args[n];
}

/*
 * How many an end of that name closes: its own and those begun inside it, as in nesting.h. The
 * innermost ones, as many as kept, stay open.
 */
static size_t closes(const struct joiner *j, uint32_t name, size_t kept)
{
	for (size_t n = 1; n <= j->open_count - kept && n <= UT_NESTING_MOST; n++) {
		if (ut_nesting_fits(j->open[j->open_count - kept - n].name, name))
			return n;
	}
	return 0;
}

/*
 * In a file of Chrome's with complete events, of begins and ends at one time the ends come first,
 * wherever they stand, as in Perfetto: an end looks among what began earlier. Only one that finds
 * nothing there closes a span of length 0 that began at the same time. Without complete events they
 * count in the order of the file.
 */
static void join_end(struct joiner *j, const struct ut_build_block *block, uint32_t n,
		     uint32_t name)
{
	struct ut_losses *losses = &j->build->store.trace.losses;
	struct begun later[UT_NESTING_MOST];
	size_t kept = 0, left = 0;

	while (j->build->ends_first && kept < j->open_count && kept < UT_NESTING_MOST &&
	       j->open[j->open_count - 1 - kept].ts == block->ts[n])
		kept++;
	if (kept)
		left = closes(j, name, kept);
	if (!left) {
		kept = 0;
		left = closes(j, name, 0);
	}
	losses->stray_ends += !left;
	if (kept)
		memcpy(later, j->open + j->open_count - kept, kept * sizeof(*later));
	j->open_count -= kept;
	for (; left > 1; left--, losses->implicit_ends++)
		build_sort_close_span(j, block->ts[n], 0, UT_EV_IMPLICIT_END);
	if (left)
		build_sort_close_span(j, block->ts[n], block->args[n], 0);
	if (kept)
		memcpy(j->open + j->open_count, later, kept * sizeof(*later));
	j->open_count += kept;
}

static void see(struct joiner *j, const struct ut_type *type, uint64_t ts, uint64_t val)
{
	struct ut_event e = { .ts = ts, .val = val, .kind = type->kind };
	uint64_t end = ut_event_end(&e);

	j->last = end > j->last ? end : j->last;
}

static void join_row(struct joiner *j, const struct ut_build_block *block, uint32_t n)
{
	struct ut_type type = *ut_types_get(&j->build->store.types, block->type[n]);

	if (type.kind == UT_RAW_GONE)
		return;
	see(j, &type, block->ts[n], block->val[n]);
	if (type.kind == UT_RAW_END) {
		join_end(j, block, n, type.name);
		return;
	}
	if (type.kind == UT_RAW_BEGIN) {
		j->open = ut_grow(j->open, j->open_count + 1, &j->open_cap, sizeof(*j->open));
		j->open[j->open_count++] = (struct begun){ j->written, block->ts[n], type.name };
	}
	keep_row(j, block, n);
}

/* Blocks shrink to the rows that are left. */
static void cut_rows(struct ut_build_rows *r, uint64_t count)
{
	size_t blocks = (size_t)((count + UT_BLOCK_ROWS - 1) / UT_BLOCK_ROWS);

	for (size_t i = 0; i < r->block_count; i++) {
		if (i >= blocks)
			ut_build_block_free(&r->blocks[i]);
		else if (i + 1 == blocks)
			r->blocks[i].count = (uint32_t)(count - i * UT_BLOCK_ROWS);
		else
			r->blocks[i].count = UT_BLOCK_ROWS;
	}
	r->block_count = blocks;
	r->count = count;
}

static void join_ends(struct ut_build *b, struct ut_build_rows *r)
{
	struct joiner j = { .build = b, .rows = r };

	for (size_t i = 0; i < r->block_count; i++) {
		const struct ut_build_block *block = &r->blocks[i];

		for (uint32_t n = 0; n < block->count; n++)
			join_row(&j, block, n);
	}
	b->store.trace.losses.unfinished += j.open_count;
	while (j.open_count)
		build_sort_close_span(&j, j.last, 0, UT_EV_UNFINISHED);
	cut_rows(r, j.written);
	free(j.open);
}

/* ---- rows of the same time ----------------------------------------------------------------- */

struct tie {
	uint64_t val;
	uint32_t type, args;
	uint32_t row; /* in order of arrival */
	bool span;
};

/* Who begins first is around the others, or has ended: such spans may have no length. */
static int by_arrival(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->span != y->span)
		return x->span ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_nesting(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->span != y->span)
		return x->span ? -1 : 1;
	if (x->span && x->val != y->val)
		return x->val > y->val ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Orders rows [first, end), which have the same ts. */
static void order_ties(const struct ut_build *b, struct ut_build_rows *r, uint64_t first,
		       uint64_t end, struct tie *ties)
{
	uint32_t at;

	for (uint64_t row = first; row < end; row++) {
		const struct ut_build_block *block = block_of(r, row, &at);

		ties[row - first] = (struct tie){
			.val = block->val[at],
			.type = block->type[at],
			.args = block->args[at],
			.row = (uint32_t)(row - first),
			.span = ut_types_get(&b->store.types, block->type[at])->kind ==
				UT_KIND_SPAN,
		};
	}
	qsort(ties, end - first, sizeof(*ties), b->begins_only ? by_arrival : by_nesting);
	for (uint64_t row = first; row < end; row++) {
		struct ut_build_block *block = block_of(r, row, &at);

		block->val[at] = ties[row - first].val;
		block->type[at] = ties[row - first].type;
		block->args[at] = ties[row - first].args;
	}
}

static void sort_ties(struct ut_build *b, struct ut_build_rows *r)
{
	struct tie *ties = NULL;
	size_t cap = 0;

	for (uint64_t first = 0, end; first < r->count; first = end) {
		uint64_t ts = ts_of(r, first);

		for (end = first + 1; end < r->count && ts_of(r, end) == ts;)
			end++;
		if (end - first < 2 || end - first > UINT32_MAX)
			continue;
		ties = ut_grow(ties, end - first, &cap, sizeof(*ties));
		order_ties(b, r, first, end, ties);
	}
	free(ties);
}

void ut_build_sort_track(struct ut_build *b, uint32_t track)
{
	struct ut_build_rows *r = &b->rows[track];
	bool moved = r->out_of_time || r->raw;

	if (!r->count)
		return;
	if (r->out_of_time)
		sort_by_time(r);
	if (r->raw)
		join_ends(b, r);
	if (moved || r->out_of_order)
		sort_ties(b, r);
}
