/* ranks_walk.c - the time of a rank in pieces; rows that are known by a few numbers; keys. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ranks/ranks_parts.h"
#include "ranks/ranks_sum.h"

/* ---- pieces -------------------------------------------------------------------------------- */

/* The first call that ends behind a time: calls of the main thread do not overlap. */
static size_t first_call(const struct ut_rank *r, uint64_t from)
{
	size_t lo = 0, hi = r->call_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->calls[mid].begin < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Those that began before may reach into it; of nested ones the outer comes first. */
	while (lo && (ut_rank_shape(r, &r->calls[lo - 1])->side || r->calls[lo - 1].end > from))
		lo--;
	return lo;
}

/* The last shift at or before a time; count if there is none. */
static size_t shift_at(const struct ut_rank *r, uint64_t at)
{
	size_t lo = 0, hi = r->shift_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->shifts[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : r->shift_count;
}

struct walk {
	const struct ut_rank *rank;
	ut_rank_piece_fn *fn;
	void *ctx;
};

/* What lies between calls, task by task. */
static void outside(const struct walk *w, uint64_t from, uint64_t to)
{
	const struct ut_rank *r = w->rank;
	size_t i = shift_at(r, from);
	uint32_t task = i < r->shift_count ? r->shifts[i].task : 0;

	i = i < r->shift_count ? i + 1 : 0;
	while (from < to) {
		uint64_t end = i < r->shift_count && r->shifts[i].at < to ? r->shifts[i].at : to;

		if (end > from)
			w->fn(w->ctx, &(struct ut_rank_piece){ from, end, task, NULL });
		from = end;
		if (i < r->shift_count)
			task = r->shifts[i++].task;
	}
}

void ut_rank_walk(const struct ut_rank *r, uint64_t from, uint64_t to, ut_rank_piece_fn *fn,
		  void *ctx)
{
	const struct walk w = { r, fn, ctx };

	for (size_t i = first_call(r, from); i < r->call_count && from < to; i++) {
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

/* ---- rows ---------------------------------------------------------------------------------- */

static uint32_t hash_of(const uint32_t key[4])
{
	uint64_t h = 0;

	for (int i = 0; i < 4; i++)
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t find(const struct ut_rank_keys *k, const uint32_t key[4], uint32_t hash)
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
	hash = hash_of(key);
	number = find(k, key, hash);
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
	uint32_t number = find(k, key, hash_of(key));

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
