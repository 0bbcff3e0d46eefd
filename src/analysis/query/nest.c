#include "query/nest.h"

#include <stdlib.h>

#include "base/grow.h"
#include "model/nesting.h"

struct open {
	uint64_t end;
	uint32_t row;
};

struct walk {
	struct open *stack;
	size_t depth, cap;
	uint64_t row;
	struct ut_nest *nest;
	struct ut_nesting async; /* what is open of each number; its what is the row */
};

static uint64_t span_end(uint64_t ts, uint64_t length)
{
	return ts + length < ts ? UINT64_MAX : ts + length;
}

/* The row lies in the lowest depth spans of the stack. */
static void note_at(struct walk *w, size_t depth)
{
	w->nest->parent[w->row] = depth ? w->stack[depth - 1].row + 1 : 0;
	w->nest->depth[w->row] = (uint32_t)depth;
}

static void nest_note(struct walk *w)
{
	note_at(w, w->depth);
}

/*
 * Ends never grow towards the top of the stack, so the time from ts on belongs to the top until it
 * ends, then to the one below, and so on. Takes [ts, end) away from them.
 */
static void take_time(struct walk *w, uint64_t ts, uint64_t end)
{
	for (size_t i = w->depth; i-- > 0 && ts < end;) {
		const struct open *owner = &w->stack[i];
		uint64_t until = owner->end < end ? owner->end : end;

		if (until <= ts)
			continue;
		w->nest->self[owner->row] -= until - ts;
		ts = until;
	}
}

static void enter_span(struct walk *w, uint64_t ts, uint64_t length, bool work)
{
	uint64_t end = span_end(ts, length);

	while (w->depth && w->stack[w->depth - 1].end <= ts)
		w->depth--;
	if (w->nest->self) {
		w->nest->self[w->row] = length;
		if (work)
			take_time(w, ts, end);
	}
	if (!work) {
		nest_note(w);
		return;
	}
	/* What it outlasts has no time left and cannot be around anything that follows. */
	while (w->depth && w->stack[w->depth - 1].end < end)
		w->depth--;
	nest_note(w);
	w->stack = ut_grow(w->stack, w->depth + 1, &w->cap, sizeof(*w->stack));
	w->stack[w->depth++] = (struct open){ .end = end, .row = (uint32_t)w->row };
}

static void pass_point(struct walk *w, uint64_t ts)
{
	while (w->depth && w->stack[w->depth - 1].end < ts)
		w->depth--;
	nest_note(w);
}

/* A slice without length: like any slice it begins outside of those that end there. */
static void pass_instant(struct walk *w, uint64_t ts)
{
	size_t depth = w->depth;

	while (depth && w->stack[depth - 1].end <= ts)
		depth--;
	note_at(w, depth);
}

/* Async spans and instants lie in those of their number that are open. */
static void note_async(struct walk *w, const struct ut_type *type, uint64_t ts, uint64_t number)
{
	const struct ut_begun *enclosing;

	if (type->kind == UT_KIND_ASYNC_END) {
		for (uint32_t n = ut_nesting_end(&w->async, number, type->name); n; n--)
			(void)ut_nesting_take(&w->async, number);
		pass_point(w, ts);
		return;
	}
	enclosing = ut_nesting_look(&w->async, number);
	w->nest->parent[w->row] = enclosing ? (uint32_t)enclosing->what + 1 : 0;
	w->nest->depth[w->row] = enclosing ? w->nest->depth[enclosing->what] + 1 : 0;
	if (w->nest->self)
		w->nest->self[w->row] = 0;
	if (type->kind == UT_KIND_ASYNC_BEGIN)
		ut_nesting_begin(&w->async, number,
				 (struct ut_begun){ .ts = ts, .what = w->row, .name = type->name });
}

static void note_row(struct walk *w, const struct ut_type *type, uint64_t ts, uint64_t val)
{
	switch (type->kind) {
	case UT_KIND_SPAN:
		enter_span(w, ts, val, !(type->flags & UT_EV_NOT_WORK));
		break;
	case UT_KIND_INSTANT:
		if (type->flags & (UT_EV_SCOPE_PROCESS | UT_EV_SCOPE_GLOBAL))
			note_at(w, 0); /* concerns more than what the thread is doing */
		else
			pass_instant(w, ts);
		break;
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_END:
	case UT_KIND_ASYNC_INSTANT:
		note_async(w, type, ts, val);
		break;
	default:
		pass_point(w, ts);
	}
}

void ut_nest_make(struct ut_nest *n, const struct ut_store *s, const struct ut_rows *rows,
		  bool self)
{
	struct walk w = { .nest = n };

	n->parent = ut_make((rows->count + 1) * sizeof(*n->parent));
	n->depth = ut_make((rows->count + 1) * sizeof(*n->depth));
	if (self)
		n->self = ut_make((rows->count + 1) * sizeof(*n->self));
	for (size_t k = 0; k < ut_rows_blocks(rows); k++) {
		const struct ut_block *b = &rows->blocks[k];

		for (uint32_t i = 0; i < b->count && w.row < UINT32_MAX - 1; i++, w.row++) {
			const struct ut_type *type = ut_store_type(s, b->type[i]);

			note_row(&w, type, b->ts[i], b->val[i]);
		}
	}
	free(w.stack);
	ut_nesting_release(&w.async);
}

void ut_nest_release(struct ut_nest *n)
{
	free(n->parent);
	free(n->depth);
	free(n->self);
	*n = (struct ut_nest){ 0 };
}
