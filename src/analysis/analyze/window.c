#include "analyze/window.h"

#include "base/idmap.h"

/* Rows while they are being copied. */
struct columns {
	uint64_t *ts, *val;
	uint32_t *type, *args;
};

/* Does the row stay? Overlapping spans are known by the number in val. */
static bool window_is_whole(const struct ut_store *s, struct ut_idmap *open,
			    const struct ut_block *b, uint32_t i)
{
	uint8_t kind = ut_store_type(s, b->type[i])->kind;
	uint32_t begins;

	if (kind == UT_KIND_ASYNC_BEGIN)
		ut_idmap_put(open, b->val[i], ut_idmap_get(open, b->val[i]) + 1);
	if (kind != UT_KIND_ASYNC_END)
		return true;
	begins = ut_idmap_take(open, b->val[i]);
	if (begins > 1)
		ut_idmap_put(open, b->val[i], begins - 1);
	return begins != 0;
}

/* Blocks that lie one behind the other in four long columns. */
static void make_blocks(struct ut_arena *a, struct ut_rows *rows, const struct columns *c)
{
	rows->blocks = UT_NEW_N(a, struct ut_block, (size_t)(rows->count / UT_BLOCK_ROWS + 1));
	for (uint64_t at = 0; at < rows->count; at += UT_BLOCK_ROWS) {
		uint64_t left = rows->count - at;

		rows->blocks[at / UT_BLOCK_ROWS] = (struct ut_block){
			.ts = c->ts + at,
			.val = c->val + at,
			.type = c->type + at,
			.args = c->args + at,
			.count = left < UT_BLOCK_ROWS ? (uint32_t)left : UT_BLOCK_ROWS,
		};
	}
}

static void copy_rows(struct ut_window *w, const struct ut_rows *all, uint64_t from, uint64_t to,
		      struct ut_rows *rows)
{
	const struct columns c = {
		.ts = UT_NEW_N(&w->arena, uint64_t, (size_t)(to - from)),
		.val = UT_NEW_N(&w->arena, uint64_t, (size_t)(to - from)),
		.type = UT_NEW_N(&w->arena, uint32_t, (size_t)(to - from)),
		.args = UT_NEW_N(&w->arena, uint32_t, (size_t)(to - from)),
	};
	struct ut_idmap open;

	ut_idmap_init(&open, &w->arena);
	for (uint64_t row = from; row < to; row++) {
		const struct ut_block *b = &all->blocks[row / UT_BLOCK_ROWS];
		uint32_t i = (uint32_t)(row % UT_BLOCK_ROWS);

		if (!window_is_whole(w->store, &open, b, i))
			continue;
		c.ts[rows->count] = b->ts[i];
		c.val[rows->count] = b->val[i];
		c.type[rows->count] = b->type[i];
		c.args[rows->count] = b->args[i];
		rows->count++;
	}
	make_blocks(&w->arena, rows, &c);
	rows->first = rows->count ? c.ts[0] : 0;
	rows->last = rows->count ? all->last : 0;
}

void ut_window_open(struct ut_window *w, struct ut_store *store, uint64_t from, uint64_t to)
{
	uint32_t tracks = (uint32_t)store->trace.track_count;
	struct ut_rows *rows;

	*w = (struct ut_window){ .store = store,
				 .rows = store->rows,
				 .row_count = store->row_count };
	rows = UT_NEW_N(&w->arena, struct ut_rows, tracks + 1);
	store->row_count = 0;
	for (uint32_t i = 0; i < tracks; i++) {
		uint64_t first = ut_rows_find(&w->rows[i], from),
			 last = ut_rows_find(&w->rows[i], to);

		if (first < last)
			copy_rows(w, &w->rows[i], first, last, &rows[i]);
		store->row_count += rows[i].count;
	}
	store->rows = rows;
}

void ut_window_close(struct ut_window *w)
{
	w->store->rows = w->rows;
	w->store->row_count = w->row_count;
	ut_arena_release(&w->arena);
}
