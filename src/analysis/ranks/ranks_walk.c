/* ranks_walk.c - the time of a rank in pieces; rows that are known by a few numbers; keys. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ranks/ranks_parts.h"
#include "ranks/ranks_sum.h"

/* ---- pieces -------------------------------------------------------------------------------- */

/*
 * How many of some items, whose first member is a time by which they are in order, come before a
 * time. It is looked for from a guess on: whoever walks a run asks for places near the last one.
 */
static size_t count_before(const void *items, size_t stride, size_t count, uint64_t time,
			   size_t guess)
{
#define TIME_OF(i) (*(const uint64_t *)((const char *)items + (i)*stride))
	size_t lo = 0, hi = guess < count ? guess : count, step = 1;

	if (hi < count && TIME_OF(hi) < time) {
		lo = hi + 1;
		for (; lo + step < count && TIME_OF(lo + step) < time; step *= 2)
			lo += step + 1;
		hi = lo + step < count ? lo + step : count;
	} else {
		for (; step < hi && TIME_OF(hi - step) >= time; step *= 2)
			hi -= step;
		lo = step < hi ? hi - step : 0;
	}
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (TIME_OF(mid) < time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
#undef TIME_OF
}

_Static_assert(!offsetof(struct ut_rank_call, begin) && !offsetof(struct ut_rank_shift, at),
	       "count_before() looks there");

void ut_rank_seek(const struct ut_rank *r, uint64_t time, struct ut_rank_place *near)
{
	near->call = count_before(r->calls, sizeof(*r->calls), r->call_count, time, near->call);
	near->shift =
		count_before(r->shifts, sizeof(*r->shifts), r->shift_count, time, near->shift);
}

struct walk {
	const struct ut_rank *rank;
	ut_rank_piece_fn *fn;
	void *ctx;
	size_t next; /* shift: the first behind the time that was reached */
};

/* What lies between calls, task by task. */
static void outside(struct walk *w, uint64_t from, uint64_t to)
{
	const struct ut_rank *r = w->rank;

	while (w->next < r->shift_count && r->shifts[w->next].at <= from)
		w->next++;
	while (from < to) {
		bool more = w->next < r->shift_count && r->shifts[w->next].at < to;
		uint64_t end = more ? r->shifts[w->next].at : to;
		uint32_t task = w->next ? r->shifts[w->next - 1].task : 0;

		if (end > from)
			w->fn(w->ctx, &(struct ut_rank_piece){ from, end, task, NULL });
		from = end;
		w->next += more;
	}
}

void ut_rank_walk_near(const struct ut_rank *r, struct ut_rank_place place, uint64_t from,
		       uint64_t to, ut_rank_piece_fn *fn, void *ctx)
{
	struct walk w = { r, fn, ctx, 0 };
	size_t i;

	ut_rank_seek(r, from, &place);
	w.next = place.shift;
	/* Those that began before may reach into it; of nested ones the outer comes first. */
	for (i = place.call; i; i--) {
		if (!ut_rank_shape(r, &r->calls[i - 1])->side && r->calls[i - 1].end <= from)
			break;
	}
	for (; i < r->call_count && from < to; i++) {
		const struct ut_rank_call *c = &r->calls[i];
		const struct ut_rank_shape *is = ut_rank_shape(r, c);
		uint64_t end = c->end < to ? c->end : to;

		if (c->begin >= to)
			break;
		if (is->side || end <= from)
			continue;
		if (c->begin > from) {
			outside(&w, from, c->begin);
			from = c->begin;
		}
		fn(ctx, &(struct ut_rank_piece){ from, end, is->task, c });
		from = end;
	}
	if (from < to)
		outside(&w, from, to);
}

void ut_rank_walk(const struct ut_rank *r, uint64_t from, uint64_t to, ut_rank_piece_fn *fn,
		  void *ctx)
{
	const struct ut_rank_place middle = { r->call_count / 2, r->shift_count / 2 };

	ut_rank_walk_near(r, middle, from, to, fn, ctx);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint32_t ranks_walk_hash_of(const uint32_t key[4])
{
	uint64_t h = 0;

	for (int i = 0; i < 4; i++)
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t ranks_walk_find(const struct ut_rank_keys *k, const uint32_t key[4], uint32_t hash)
{
	uint32_t at = hash, number;

	while ((number = ut_hashtab_next(&k->lookup, hash, &at)) &&
	       memcmp(k->items[number - 1], key, sizeof(k->items[0])) != 0)
		;
	return number;
}

size_t ut_rank_keys_row(struct ut_rank_keys *k, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t key[4] = { a, b, c, d };
	uint32_t *recent = &k->recent[(a ^ b ^ c ^ d) % UT_RANK_KEYS_RECENT], hash, number;

	/* Calls repeat: the same few names, tasks and partners. */
	if (*recent && !memcmp(k->items[*recent - 1], key, sizeof(key)))
		return *recent - 1;
	hash = ranks_walk_hash_of(key);
	number = ranks_walk_find(k, key, hash);
	*recent = number ? number : (uint32_t)k->count + 1;
	if (number)
		return number - 1;
	k->items = ut_grow(k->items, k->count + 1, &k->cap, sizeof(*k->items));
	memcpy(k->items[k->count++], key, sizeof(key));
	ut_hashtab_add(&k->lookup, hash, (uint32_t)k->count);
	return k->count - 1;
}

size_t ut_rank_keys_find(const struct ut_rank_keys *k, uint32_t a, uint32_t b, uint32_t c,
			 uint32_t d)
{
	const uint32_t key[4] = { a, b, c, d };
	uint32_t number = ranks_walk_find(k, key, ranks_walk_hash_of(key));

	return number ? number - 1 : SIZE_MAX;
}

void ut_rank_keys_release(struct ut_rank_keys *k)
{
	ut_hashtab_release(&k->lookup);
	free(k->items);
	*k = (struct ut_rank_keys){ 0 };
}

/* ---- keys ---------------------------------------------------------------------------------- */

void ut_rank_find_keys(const struct ut_strtab *strings, const char *const *texts, uint32_t *numbers,
		       size_t count)
{
	size_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(texts[i]);

		numbers[i] = UINT32_MAX;
		longest = len > longest ? len : longest;
	}
	for (uint32_t at = 1; at < strings->count; at++) {
		struct ut_str s = ut_strtab_get(strings, at);

		for (size_t i = 0; s.len && s.len <= longest && i < count; i++) {
			if (s.ptr[0] == texts[i][0] && ut_str_is(s, texts[i]))
				numbers[i] = at;
		}
	}
}
