/*
 * memory_merge.c - the records about memory of all threads, by their time.
 *
 * A thread's own are in order. So there is a cursor for each thread, and the one whose next record
 * is the earliest is on top of a heap. A block may be freed by another thread than the one that got
 * it: both look at the clock on the right side of the allocator, so the order of times is the order
 * of events.
 */
#include <stdlib.h>

#include "import/spool/memory_books.h"

struct cursor {
	const struct ut_spool_part *part, *end;
	struct ut_spool_walk walk;
	struct ut_memory_record next;
	size_t run;    /* of im->memory.runs: the task of its next allocation */
	uint64_t used; /* of that run */
};

struct merge {
	struct ut_spool_import *im;
	UT_VEC(struct cursor) cursors;
	UT_VEC(uint32_t) heap; /* numbers of cursors, the earliest first */
	size_t next_run;
};

static uint32_t next_task(struct merge *m, struct cursor *c)
{
	const struct ut_spool_memory *all = &m->im->memory;

	while (c->run < all->runs.count && all->runs.items[c->run].thread == c->next.thread &&
	       c->used >= all->runs.items[c->run].count) {
		c->run++;
		c->used = 0;
	}
	if (c->run >= all->runs.count || all->runs.items[c->run].thread != c->next.thread)
		return 0;
	c->used++;
	return all->runs.items[c->run].task;
}

static bool memory_merge_is_wanted(const struct ut_spool_rec *r)
{
	return r->kind == UT_WORD_LONG && (r->type == UT_REC_ALLOCATED || r->type == UT_REC_FREED);
}

/* False: there is no further one. */
static bool memory_merge_go_on(struct merge *m, struct cursor *c)
{
	while (c->part < c->end) {
		while (ut_spool_walk_next(&c->walk, &c->next.rec)) {
			if (!memory_merge_is_wanted(&c->next.rec))
				continue;
			/* as in thread.c: what was recorded later did not happen earlier */
			if (c->walk.ticks > c->next.ticks)
				c->next.ticks = c->walk.ticks;
			c->next.task = c->next.rec.type == UT_REC_ALLOCATED ? next_task(m, c) : 0;
			return true;
		}
		ut_spool_forget(c->part->begin, c->part->end);
		if (++c->part < c->end)
			c->walk = (struct ut_spool_walk){ .pos = c->part->begin,
							  .end = c->part->end,
							  .ticks = c->part->ticks };
	}
	return false;
}

/* ---- the heap ------------------------------------------------------------------------------ */

static bool is_before(const struct merge *m, uint32_t a, uint32_t b)
{
	const struct cursor *x = &m->cursors.items[a], *y = &m->cursors.items[b];

	return x->next.ticks != y->next.ticks ? x->next.ticks < y->next.ticks : a < b;
}

static void sink(struct merge *m, size_t at)
{
	uint32_t *heap = m->heap.items, moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < m->heap.count; at = child) {
		if (child + 1 < m->heap.count && is_before(m, heap[child + 1], heap[child]))
			child++;
		if (!is_before(m, heap[child], moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

/* Runs are in the order of threads, and threads come in that order. */
static size_t first_run(struct merge *m, uint32_t thread)
{
	const struct ut_spool_memory *all = &m->im->memory;

	while (m->next_run < all->runs.count && all->runs.items[m->next_run].thread < thread)
		m->next_run++;
	return m->next_run;
}

static void add_cursor(struct merge *m, const struct ut_spool_part *parts, size_t count)
{
	struct cursor *c = UT_VEC_PUSH(&m->cursors);

	*c = (struct cursor){
		.part = parts,
		.end = parts + count,
		.walk = { .pos = parts->begin, .end = parts->end, .ticks = parts->ticks },
		.next.thread = parts->thread,
		.run = first_run(m, parts->thread)
	};
	if (memory_merge_go_on(m, c))
		*UT_VEC_PUSH(&m->heap) = (uint32_t)(m->cursors.count - 1);
	else
		m->cursors.count--;
}

void ut_spool_merge_memory(struct ut_spool_import *im, ut_memory_take *take, void *ctx)
{
	struct merge m = { .im = im };

	for (size_t i = 0, n; i < im->parts.count; i += n) {
		n = 1;
		while (i + n < im->parts.count &&
		       im->parts.items[i + n].thread == im->parts.items[i].thread)
			n++;
		add_cursor(&m, &im->parts.items[i], n);
	}
	for (size_t i = m.heap.count / 2; i-- > 0;)
		sink(&m, i);
	while (m.heap.count) {
		struct cursor *c = &m.cursors.items[m.heap.items[0]];

		take(ctx, &c->next);
		if (!memory_merge_go_on(&m, c))
			m.heap.items[0] = m.heap.items[--m.heap.count];
		if (m.heap.count)
			sink(&m, 0);
	}
	free(m.cursors.items);
	free(m.heap.items);
}
