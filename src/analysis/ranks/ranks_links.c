/* ranks_links.c - see ranks_links.h. */
#include "ranks/ranks_links.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/big.h"
#include "base/hash.h"
#include "model/store.h"
#include "ranks/ranks_parts.h"

/* Which token it is, of those between two ranks in one window or group. */
enum token {
	TOKEN_OPENED,
	TOKEN_COMPLETED,
	TOKEN_NEIGHBOUR,
};

struct linking {
	struct ut_rank_links *links;
	const struct ut_ranks *ranks;
	struct ut_rank *one;
	uint32_t group;
	uint64_t seq; /* 0: tokens are counted */
	bool again;   /* the same as the last ones */
};

static void ranks_links_add_end(struct ut_rank *one, uint64_t id, bool received,
				enum ut_rank_soft soft)
{
	one->ends =
		ut_ace_big_grow(one->ends, one->end_count + 1, &one->end_cap, sizeof(*one->ends));
	one->ends[one->end_count++] = (struct ut_rank_end){ .id = id,
							    .call = (uint32_t)one->call_count - 1,
							    .received = received,
							    .soft = (uint8_t)soft };
}

/* ---- facts --------------------------------------------------------------------------------- */

void ut_rank_links_keys(struct ut_rank_links *l, const struct ut_strtab *strings)
{
	static const char *const texts[] = {
#define TEXT(key) #key,
		UT_RANK_LINK_KEY_LIST(TEXT)
#undef TEXT
	};

	ut_rank_find_keys(strings, texts, (uint32_t *)&l->keys, sizeof(texts) / sizeof(*texts));
}

/* Readers of JSON take a list of one rank for a number. */
static uint32_t list_of(struct ut_ranks *r, const struct ut_store *store, const struct ut_arg *a)
{
	struct ut_str s;
	char one[24];

	if (a->type == UT_ARG_STR) {
		s = ut_strtab_get(&store->trace.strings, a->value.str);
		return ut_strtab_intern(&r->strings, s.ptr, s.len);
	}
	snprintf(one, sizeof(one), "%" PRIu64, a->value.u64);
	return ut_strtab_intern(&r->strings, one, strlen(one));
}

bool ut_rank_links_fact(const struct ut_rank_links *l, struct ut_ranks *r,
			const struct ut_store *store, const struct ut_arg *a,
			struct ut_rank_found *c)
{
	const struct ut_rank_link_keys *k = &l->keys;
	bool whole = a->type == UT_ARG_U64 || a->type == UT_ARG_I64;

	if (!whole && a->type != UT_ARG_STR)
		return false;
	if (a->key == k->ranks)
		c->ranks = list_of(r, store, a);
	else if (a->key == k->sources)
		c->sources = list_of(r, store, a);
	else if (a->key == k->destinations)
		c->destinations = list_of(r, store, a);
	else if (a->key == k->lock && !whole)
		c->shape.root =
			ut_str_is(ut_strtab_get(&store->trace.strings, a->value.str), "exclusive");
	else if (a->key == k->message && whole)
		c->message = a->value.u64;
	else if (a->key == k->request && whole)
		c->request = a->value.u64;
	else if (a->key == k->last_request && whole)
		c->last_request = a->value.u64;
	else
		return false;
	return true;
}

/* ---- tokens -------------------------------------------------------------------------------- */

static uint64_t ranks_links_mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 31;
}

static void add_token(const struct linking *l, enum token token, int32_t other, bool received)
{
	struct ut_str group = ut_strtab_get(&l->ranks->strings, l->group);
	int32_t from = received ? other : l->links->me, to = received ? l->links->me : other;
	uint64_t id = ranks_links_mix(ut_hash_bytes(group.ptr, group.len), token);
	uint64_t number = l->seq;

	id = ranks_links_mix(id, (uint64_t)(uint32_t)from << 32 | (uint32_t)to);
	if (!number) {
		uint64_t key = id * 2 + received;

		number = (uint64_t)ut_idmap_get(&l->links->counts, key) + !l->again;
		ut_idmap_put(&l->links->counts, key, (uint32_t)number);
	}
	/* numbers of messages lie below 2^62, and so do these */
	ranks_links_add_end(l->one, ranks_links_mix(id, number) >> 2, received, UT_RANK_TOKEN);
}

/* One for each of "0,2,5"; of ourselves nobody waits. */
static void add_tokens(const struct linking *l, enum token token, uint32_t list, bool received)
{
	struct ut_str s = ut_strtab_get(&l->ranks->strings, list);
	int32_t rank = 0;

	for (size_t i = 0; list && i <= s.len; i++) {
		char c = i < s.len ? s.ptr[i] : ',';

		if (c == ',') {
			if (rank != l->links->me)
				add_token(l, token, rank, received);
			rank = 0;
		} else if (c < '0' || c > '9' || rank > (int32_t)UT_RANK_MOST / 10) {
			return;
		} else {
			rank = 10 * rank + (c - '0');
		}
	}
}

/*
 * MPI may let an origin wait for a window to be opened when it starts to use it or when it is
 * done, so both wait for the same.
 */
static void take_epoch(struct linking *l, enum ut_rank_epoch epoch, uint32_t ranks)
{
	struct ut_rank_links *links = l->links;

	if (epoch == UT_RANK_EPOCH_POST) {
		ut_idmap_put(&links->opened, l->group, ranks + 1);
		add_tokens(l, TOKEN_OPENED, ranks, false);
	} else if (epoch == UT_RANK_EPOCH_START) {
		ut_idmap_put(&links->entered, l->group, ranks + 1);
		add_tokens(l, TOKEN_OPENED, ranks, true);
	} else if (epoch == UT_RANK_EPOCH_COMPLETE) {
		ranks = ut_idmap_take(&links->entered, l->group);
		l->again = true;
		add_tokens(l, TOKEN_OPENED, ranks ? ranks - 1 : 0, true);
		l->again = false;
		add_tokens(l, TOKEN_COMPLETED, ranks ? ranks - 1 : 0, false);
	} else if (epoch == UT_RANK_EPOCH_WAIT) {
		ranks = ut_idmap_take(&links->opened, l->group);
		add_tokens(l, TOKEN_COMPLETED, ranks ? ranks - 1 : 0, true);
	}
}

uint32_t ut_rank_links_peers(const struct ut_rank_links *l, const struct ut_ranks *r,
			     const struct ut_rank_found *c)
{
	enum ut_rank_epoch epoch = ut_rank_epoch_of(ut_strtab_get(&r->strings, c->shape.name));
	uint32_t ranks = 0;

	if (epoch == UT_RANK_EPOCH_START)
		return c->ranks;
	if (epoch == UT_RANK_EPOCH_COMPLETE)
		ranks = ut_idmap_get(&l->entered, c->shape.group);
	else if (epoch == UT_RANK_EPOCH_WAIT)
		ranks = ut_idmap_get(&l->opened, c->shape.group);
	return ranks ? ranks - 1 : 0;
}

/* ---- messages ------------------------------------------------------------------------------ */

static void take_message(struct ut_rank *one, const struct ut_rank_found *c)
{
	if (c->shape.use != UT_RANK_POST)
		ranks_links_add_end(one, c->message, true, UT_RANK_FOUND);
	else if (c->is_part)
		ranks_links_add_end(one, c->message, false, UT_RANK_READY);
	else
		ranks_links_add_end(one, c->message, true, UT_RANK_POSTED);
}

/* Sends are numbered in their order, so what one call completes is mostly a run of numbers. */
static void take_request(struct ut_rank_links *l, struct ut_rank *one,
			 const struct ut_rank_found *c)
{
	uint64_t last = c->last_request > c->request ? c->last_request : c->request;
	uint32_t call = (uint32_t)one->call_count - 1;

	if (c->shape.use == UT_RANK_POST) {
		l->sends[c->request % UT_RANK_SENDS] = (struct ut_rank_send){ c->request, call };
		return;
	}
	for (uint64_t i = 0; i < UT_RANK_SENDS && i <= last - c->request; i++) {
		struct ut_rank_send *s = &l->sends[(c->request + i) % UT_RANK_SENDS];
		struct ut_rank_end *e;

		if (s->request != c->request + i)
			continue;
		ranks_links_add_end(one, 0, false, UT_RANK_DONE);
		e = &one->ends[one->end_count - 1];
		e->partner = UT_RANK_NOBODY;
		e->partner_call = s->call;
		e->finalized = true;
		s->request = 0;
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

void ut_rank_links_take(struct ut_rank_links *l, const struct ut_ranks *r, struct ut_rank *one,
			const struct ut_rank_found *c)
{
	struct linking x = { .links = l, .ranks = r, .one = one, .group = c->shape.group };
	enum ut_rank_epoch epoch;

	if (c->message)
		take_message(one, c);
	if (c->request)
		take_request(l, one, c);
	if (l->me < 0 || !x.group)
		return;
	if (c->seq && (c->sources || c->destinations)) {
		x.seq = c->seq;
		add_tokens(&x, TOKEN_NEIGHBOUR, c->destinations, false);
		if (c->shape.use != UT_RANK_POST)
			add_tokens(&x, TOKEN_NEIGHBOUR, c->sources, true);
	} else if (c->shape.use == UT_RANK_ONE_SIDED) {
		epoch = ut_rank_epoch_of(ut_strtab_get(&r->strings, c->shape.name));
		take_epoch(&x, epoch, c->ranks);
	}
}

void ut_rank_links_release(struct ut_rank_links *l)
{
	ut_idmap_release(&l->counts);
	ut_idmap_release(&l->opened);
	ut_idmap_release(&l->entered);
	memset(l->sends, 0, sizeof(l->sends));
	l->me = -1;
}
