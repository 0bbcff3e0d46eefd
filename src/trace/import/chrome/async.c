/*
 * async.c - async spans that end in another process than they began in.
 *
 * An id without "local" is the same in all processes, so the end may come from any of them. In the
 * model an end lies on the track of its begin: such ends move there. Where they came from is told
 * by an argument, ended_in_pid. An end that has a begin in its own
 * process stays there, even if the other began later: tools that count from 1 in each process mean
 * it that way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "import/chrome/part.h"
#include "model/nesting.h"

/* A begin or an end whose number occurs in several processes. */
struct half {
	uint64_t number, ts, place; /* place: in order of tracks and arrival */
	size_t block;
	uint32_t i, track, name;
	bool begins;
};

struct halves {
	struct half *items;
	size_t count, cap;
};

/* The halves that are open, as indices of the list; the innermost last. */
struct stack {
	size_t *items;
	size_t count, cap;
};

static bool is_half(const struct ut_type *type)
{
	return type->kind == UT_KIND_ASYNC_BEGIN || type->kind == UT_KIND_ASYNC_END;
}

/* Calls take() for every begin and end of an async span. */
static void each_half(const struct ut_build *b, void *ctx,
		      void (*take)(void *ctx, const struct half *half))
{
	uint64_t place = 0;

	for (uint32_t t = 0; t < b->row_cap; t++) {
		for (size_t n = 0; n < b->rows[t].block_count; n++) {
			const struct ut_build_block *block = &b->rows[t].blocks[n];

			for (uint32_t i = 0; i < block->count; i++) {
				const struct ut_type *type =
					ut_types_get(&b->store.types, block->type[i]);
				struct half half = { .number = block->val[i],
						     .ts = block->ts[i],
						     .place = place,
						     .block = n,
						     .i = i,
						     .track = t,
						     .name = type->name,
						     .begins = type->kind == UT_KIND_ASYNC_BEGIN };

				place++;
				if (is_half(type))
					take(ctx, &half);
			}
		}
	}
}

struct search {
	struct ut_idmap tracks; /* number -> track where it was first seen, plus one */
	struct ut_idmap shared; /* numbers of several tracks */
	struct halves halves;   /* of these numbers */
};

static void note_track(void *ctx, const struct half *half)
{
	struct search *s = ctx;
	uint32_t track = ut_idmap_get(&s->tracks, half->number);

	if (!track)
		ut_idmap_put(&s->tracks, half->number, half->track + 1);
	else if (track != half->track + 1)
		ut_idmap_put(&s->shared, half->number, 1);
}

static void async_gather(void *ctx, const struct half *half)
{
	struct search *s = ctx;
	struct halves *h = &s->halves;

	if (!ut_idmap_get(&s->shared, half->number))
		return;
	h->items = ut_grow(h->items, h->count + 1, &h->cap, sizeof(*h->items));
	h->items[h->count++] = *half;
}

static int by_number_and_time(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The innermost open begin that the end fits, on its own track or on any; stack->count = none. */
static size_t find_begin(const struct halves *h, const struct stack *stack, const struct half *end,
			 bool own)
{
	for (size_t n = 1; n <= stack->count && n <= UT_NESTING_MOST; n++) {
		const struct half *begin = &h->items[stack->items[stack->count - n]];

		if ((begin->track == end->track || !own) && ut_nesting_fits(begin->name, end->name))
			return stack->count - n;
	}
	return stack->count;
}

/* Closes the begin at a place, and what its track has begun inside it. */
static void close_from(const struct halves *h, struct stack *stack, size_t at)
{
	uint32_t track = h->items[stack->items[at]].track;
	size_t kept = at;

	for (size_t i = at; i < stack->count; i++) {
		if (h->items[stack->items[i]].track != track)
			stack->items[kept++] = stack->items[i];
	}
	stack->count = kept;
}

/* The end's arguments, and where it happened: an end that tells no thread is the main one's. */
static uint32_t report_process(struct ut_build *b, uint32_t args, const struct ut_process *p)
{
	static const char *const keys[] = { "ended_in_pid", "tid" };
	struct ut_arglists *l = &b->store.args;
	struct ut_arg reported[2] = { 0 };

	for (size_t i = 0; i < 2; i++) {
		reported[i].key = ut_strtab_intern_z(&b->store.trace.strings, keys[i]);
		reported[i].type = p->pid_text ? UT_ARG_JSON : UT_ARG_U64;
		if (p->pid_text)
			reported[i].value.str = p->pid_text;
		else
			reported[i].value.u64 = p->pid;
	}
	return ut_arglists_both(l, l, ut_arglists_add(l, reported, 2), args);
}

static void move_end(struct ut_build *b, const struct half *end, uint32_t track)
{
	const struct ut_type gone = { .kind = UT_RAW_GONE };
	struct ut_build_block *block = &b->rows[end->track].blocks[end->block];
	const struct ut_trace *t = &b->store.trace;
	uint32_t args = report_process(b, block->args[end->i],
				       &t->processes[t->tracks[end->track].process]);
	uint32_t type = block->type[end->i];

	block->type[end->i] = ut_types_intern(&b->store.types, &gone);
	b->rows[end->track].raw = true;
	ut_build_add(b, track, end->ts, end->number, type, args);
}

static void pair_number(struct ut_build *b, const struct halves *h, size_t i, struct stack *stack)
{
	const struct half *half = &h->items[i];
	size_t at;

	if (half->begins) {
		stack->items =
			ut_grow(stack->items, stack->count + 1, &stack->cap, sizeof(*stack->items));
		stack->items[stack->count++] = i;
		return;
	}
	at = find_begin(h, stack, half, true);
	if (at == stack->count)
		at = find_begin(h, stack, half, false);
	if (at == stack->count)
		return;
	if (h->items[stack->items[at]].track != half->track)
		move_end(b, half, h->items[stack->items[at]].track);
	close_from(h, stack, at);
}

void ut_chrome_join_async(struct ut_build *b)
{
	struct ut_arena arena = { 0 };
	struct search s = { 0 };
	struct stack stack = { 0 };
	size_t tracks = 0;

	for (size_t i = 0; i < b->store.trace.track_count; i++)
		tracks += b->store.trace.tracks[i].type == UT_TRACK_ASYNC;
	if (tracks < 2)
		return;
	ut_idmap_init(&s.tracks, &arena);
	ut_idmap_init(&s.shared, &arena);
	each_half(b, &s, note_track);
	if (s.shared.count)
		each_half(b, &s, async_gather);
	if (s.halves.count)
		qsort(s.halves.items, s.halves.count, sizeof(*s.halves.items), by_number_and_time);
	for (size_t i = 0; i < s.halves.count; i++) {
		if (i && s.halves.items[i].number != s.halves.items[i - 1].number)
			stack.count = 0;
		pair_number(b, &s.halves, i, &stack);
	}
	free(s.halves.items);
	free(stack.items);
	ut_arena_release(&arena);
}
