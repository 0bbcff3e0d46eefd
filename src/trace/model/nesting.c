#include "model/nesting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/grow.h"
#include "model/store.h"

void ut_nesting_release(struct ut_nesting *p)
{
	ut_arena_release(&p->arena);
	free(p->open);
	*p = (struct ut_nesting){ 0 };
}

static uint32_t new_open(struct ut_nesting *p)
{
	uint32_t i = p->free;

	if (i) {
		p->free = p->open[i].outer;
		return i;
	}
	p->open = ut_grow(p->open, p->count + 2, &p->cap, sizeof(*p->open));
	return (uint32_t)++p->count;
}

static uint32_t innermost(const struct ut_nesting *p, uint64_t number)
{
	return p->innermost.arena ? ut_idmap_get(&p->innermost, number) : 0;
}

void ut_nesting_begin(struct ut_nesting *p, uint64_t number, struct ut_begun begin)
{
	uint32_t i = new_open(p);

	if (!p->innermost.arena)
		ut_idmap_init(&p->innermost, &p->arena);
	begin.outer = innermost(p, number);
	begin.is_open = true;
	p->open[i] = begin;
	ut_idmap_put(&p->innermost, number, i);
}

uint32_t ut_nesting_end(const struct ut_nesting *p, uint64_t number, uint32_t name)
{
	uint32_t i = innermost(p, number);

	for (uint32_t n = 1; i && n <= UT_NESTING_MOST; n++, i = p->open[i].outer) {
		if (ut_nesting_fits(p->open[i].name, name))
			return n;
	}
	return 0;
}

struct ut_begun ut_nesting_take(struct ut_nesting *p, uint64_t number)
{
	uint32_t i = ut_idmap_take(&p->innermost, number);
	struct ut_begun *o = &p->open[i];

	assert(i);
	if (o->outer)
		ut_idmap_put(&p->innermost, number, o->outer);
	o->is_open = false;
	o->outer = p->free;
	p->free = i;
	return *o;
}

const struct ut_begun *ut_nesting_look(const struct ut_nesting *p, uint64_t number)
{
	uint32_t i = innermost(p, number);

	return i ? &p->open[i] : NULL;
}

bool ut_nesting_has(const struct ut_nesting *p, uint64_t number, uint64_t what)
{
	uint32_t i = innermost(p, number);

	for (uint32_t n = 1; i && n <= UT_NESTING_MOST; n++, i = p->open[i].outer) {
		if (p->open[i].what == what)
			return true;
	}
	return false;
}

const struct ut_begun *ut_nesting_next(const struct ut_nesting *p, const struct ut_begun *last)
{
	size_t i = last ? (size_t)(last - p->open) + 1 : 1;

	while (i <= p->count && !p->open[i].is_open)
		i++;
	return i <= p->count ? &p->open[i] : NULL;
}

/* ---- a track ------------------------------------------------------------------------------- */

static void pair_row(struct ut_nesting *p, const struct ut_event *e, uint64_t row,
		     struct ut_async_end *ends)
{
	ends[row] = (struct ut_async_end){ 0 };
	if (e->kind == UT_KIND_ASYNC_BEGIN) {
		ends[row].ts = UINT64_MAX;
		ut_nesting_begin(p, e->val,
				 (struct ut_begun){ .ts = e->ts, .what = row, .name = e->name });
	} else if (e->kind == UT_KIND_ASYNC_END) {
		for (uint32_t left = ut_nesting_end(p, e->val, e->name); left; left--) {
			uint64_t begun = ut_nesting_take(p, e->val).what;

			ends[begun] = (struct ut_async_end){ e->ts, left == 1 ? row + 1 : 0 };
		}
	}
}

void ut_nesting_of_track(const struct ut_store *s, uint32_t track, struct ut_async_end *ends)
{
	const struct ut_rows *rows = &s->rows[track];
	struct ut_nesting p = { 0 };
	uint64_t row = 0;

	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++, row++) {
			struct ut_event e = ut_block_event(s, track, b, i);

			pair_row(&p, &e, row, ends);
		}
	}
	ut_nesting_release(&p);
}

uint64_t ut_async_until(const struct ut_rows *rows, uint64_t begin, uint64_t end)
{
	if (end == UINT64_MAX)
		end = rows->last;
	return end < begin ? begin : end;
}

void ut_nesting_until(const struct ut_store *s, uint32_t track, uint64_t *until)
{
	const struct ut_rows *rows = &s->rows[track];
	struct ut_async_end *ends = ut_make((rows->count + 1) * sizeof(*ends));

	ut_nesting_of_track(s, track, ends);
	for (uint64_t row = 0; row < rows->count; row++)
		until[row] = ends[row].ts ? ut_async_until(rows, 0, ends[row].ts) : 0;
	free(ends);
}
