#include "metrics/stall_code.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"

void ut_code_init(struct ut_kernel_code *c, struct ut_arena *arena)
{
	*c = (struct ut_kernel_code){ .arena = arena, .by_file = { .arena = arena } };
	c->files = ut_grow(NULL, 1, &c->file_cap, sizeof(*c->files));
	c->files[0] = (struct ut_str){ "", 0 };
	c->file_count = 1;
}

void ut_code_release(struct ut_kernel_code *c)
{
	free(c->ins);
	free(c->blocks);
	free(c->edges);
	free(c->files);
	*c = (struct ut_kernel_code){ 0 };
}

struct ut_code_ins *ut_code_add(struct ut_kernel_code *c)
{
	if (!c->block_count)
		ut_code_add_block(c);
	c->ins = ut_grow(c->ins, (size_t)c->count + 1, &c->ins_cap, sizeof(*c->ins));
	c->ins[c->count].block = c->block_count - 1;
	c->blocks[c->block_count - 1].end = c->count + 1;
	return &c->ins[c->count++];
}

uint32_t ut_code_add_block(struct ut_kernel_code *c)
{
	c->blocks =
		ut_grow(c->blocks, (size_t)c->block_count + 1, &c->block_cap, sizeof(*c->blocks));
	c->blocks[c->block_count] = (struct ut_code_block){ .first = c->count, .end = c->count };
	return c->block_count++;
}

void ut_code_edge(struct ut_kernel_code *c, uint32_t from, uint32_t to)
{
	c->edges = ut_grow(c->edges, c->edge_count + 2, &c->edge_cap, sizeof(*c->edges));
	c->edges[c->edge_count++] = from;
	c->edges[c->edge_count++] = to;
}

uint32_t ut_code_file(struct ut_kernel_code *c, struct ut_str name)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(name.ptr, name.len), at = hash, number;

	if (!name.len)
		return 0;
	while ((number = ut_hashtab_next(&c->by_file, hash, &at)) &&
	       !ut_str_eq(c->files[number], name))
		;
	if (number)
		return number;
	c->files = ut_grow(c->files, (size_t)c->file_count + 1, &c->file_cap, sizeof(*c->files));
	c->files[c->file_count] =
		(struct ut_str){ ut_arena_copy(c->arena, name.ptr, name.len), name.len };
	ut_hashtab_add(&c->by_file, hash, c->file_count);
	return c->file_count++;
}

static bool is_edge(const struct ut_kernel_code *c, size_t i)
{
	return c->edges[i] < c->block_count && c->edges[i + 1] < c->block_count;
}

void ut_code_finish(struct ut_kernel_code *c)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < c->count; i++)
		c->blocks[c->ins[i].block].tokens |= c->ins[i].sets | c->ins[i].waits;
	for (size_t i = 0; i < c->edge_count; i += 2) {
		if (is_edge(c, i))
			c->blocks[c->edges[i + 1]].pred_count++;
	}
	for (uint32_t b = 0; b < c->block_count; b++) {
		c->blocks[b].pred = sum;
		sum += c->blocks[b].pred_count;
		c->blocks[b].pred_count = 0;
	}
	c->preds = UT_NEW_N(c->arena, uint32_t, (size_t)sum + 1);
	for (size_t i = 0; i < c->edge_count; i += 2) {
		struct ut_code_block *to;

		if (!is_edge(c, i))
			continue;
		to = &c->blocks[c->edges[i + 1]];
		c->preds[to->pred + to->pred_count++] = c->edges[i];
	}
}

uint32_t ut_code_at(const struct ut_kernel_code *c, uint64_t address)
{
	uint32_t low = 0, high = c->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (c->ins[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->count && c->ins[low].address == address ? low : UT_CODE_NONE;
}

/* ---- backwards ----------------------------------------------------------------------------- */

void ut_code_walk_init(struct ut_code_walk *w, const struct ut_kernel_code *c, uint64_t steps)
{
	*w = (struct ut_code_walk){
		.seen = UT_NEW_N(c->arena, uint32_t, (size_t)c->block_count + 1),
		.queue = UT_NEW_N(c->arena, uint32_t, (size_t)c->block_count + 1),
		.left = steps,
	};
}

/* From end down to first; false if the path ended on the way. */
static bool back_through(struct ut_code_walk *w, uint32_t first, uint32_t end, ut_code_visit visit,
			 void *ctx)
{
	while (end-- > first) {
		if (!w->left)
			return false;
		w->left--;
		if (!visit(ctx, end))
			return false;
	}
	return true;
}

void ut_code_back(struct ut_code_walk *w, const struct ut_kernel_code *c, uint32_t ins,
		  uint64_t tokens, ut_code_visit visit, void *ctx)
{
	uint32_t head = 0, tail = 0, block = c->ins[ins].block;
	bool on = back_through(w, c->blocks[block].first, ins, visit, ctx);

	w->walk++;
	for (;;) {
		const struct ut_code_block *b = &c->blocks[block];

		for (uint32_t i = 0; on && i < b->pred_count && w->left; i++) {
			uint32_t pred = c->preds[b->pred + i];

			w->left--;
			if (w->seen[pred] == w->walk)
				continue;
			w->seen[pred] = w->walk;
			w->queue[tail++] = pred;
		}
		if (head == tail || !w->left)
			return;
		block = w->queue[head++];
		b = &c->blocks[block];
		on = (tokens && !(b->tokens & tokens)) ||
		     back_through(w, b->first, b->end, visit, ctx);
	}
}
