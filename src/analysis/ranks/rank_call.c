/* rank_call.c - see rank_call.h. */
#include "ranks/rank_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/grow.h"
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"

const struct ut_rank_more ut_rank_no_more = { 0 };

static uint32_t rank_call_hash_of(const struct ut_rank_shape *shape)
{
	uint64_t words[sizeof(*shape) / sizeof(uint64_t)], h = 0;

	memcpy(words, shape, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
	return (uint32_t)(h ^ h >> 32);
}

static bool rank_call_is(const struct ut_rank *one, uint32_t number,
			 const struct ut_rank_shape *shape)
{
	return !memcmp(&one->shapes[number - 1], shape, sizeof(*shape));
}

/* The number of a shape: index + 1. */
static uint32_t rank_call_number_of(struct ut_rank *one, struct ut_rank_shaper *s,
				    const struct ut_rank_shape *shape)
{
	uint32_t hash = rank_call_hash_of(shape), at = hash, number;
	uint32_t *recent = &s->recent[hash % UT_RANK_RECENT];

	if (*recent && rank_call_is(one, *recent, shape))
		return *recent;
	while ((number = ut_hashtab_next(&s->lookup, hash, &at)) &&
	       !rank_call_is(one, number, shape))
		;
	if (!number) {
		one->shapes = ut_grow(one->shapes, one->shape_count + 1, &one->shape_cap,
				      sizeof(*one->shapes));
		one->shapes[one->shape_count++] = *shape;
		number = (uint32_t)one->shape_count;
		ut_hashtab_add(&s->lookup, hash, number);
	}
	*recent = number;
	return number;
}

static uint32_t add_more(struct ut_rank *one, uint64_t seq)
{
	one->mores = ut_ace_big_grow(one->mores, one->more_count + 1, &one->more_cap,
				     sizeof(*one->mores));
	one->mores[one->more_count++] = (struct ut_rank_more){ .seq = seq };
	return (uint32_t)one->more_count;
}

void ut_rank_put_call(struct ut_rank *one, struct ut_rank_shaper *shaper,
		      const struct ut_rank_found *found)
{
	bool is_member = found->seq && found->shape.meets != UT_RANK_OTHER;
	uint32_t shape = rank_call_number_of(one, shaper, &found->shape) - 1;

	one->calls = ut_ace_big_grow(one->calls, one->call_count + 1, &one->call_cap,
				     sizeof(*one->calls));
	one->calls[one->call_count++] =
		(struct ut_rank_call){ found->begin, found->end, shape,
				       is_member ? add_more(one, found->seq) : 0 };
}

void ut_rank_make_side(struct ut_rank *one, struct ut_rank_shaper *shaper, uint32_t call)
{
	struct ut_rank_shape shape = one->shapes[one->calls[call].shape];

	shape.side = true;
	one->calls[call].shape = rank_call_number_of(one, shaper, &shape) - 1;
}

void ut_rank_put_open(struct ut_rank *one, int32_t from, uint32_t peers)
{
	one->opens = ut_grow(one->opens, one->open_count + 1, &one->open_cap, sizeof(*one->opens));
	one->opens[one->open_count++] = (struct ut_rank_open){ .call = (uint32_t)one->call_count,
							       .from = from,
							       .peers = peers };
}

void ut_rank_shaper_release(struct ut_rank_shaper *shaper)
{
	ut_hashtab_release(&shaper->lookup);
	*shaper = (struct ut_rank_shaper){ 0 };
}

struct ut_rank_more *ut_rank_more_of(struct ut_rank *one, uint32_t call)
{
	struct ut_rank_call *c = &one->calls[call];

	if (!c->more)
		c->more = add_more(one, 0);
	return &one->mores[c->more - 1];
}

/* ---- order --------------------------------------------------------------------------------- */

static int rank_call_by_begin(const void *a, const void *b)
{
	const struct ut_rank_call *x = *(const struct ut_rank_call *const *)a;
	const struct ut_rank_call *y = *(const struct ut_rank_call *const *)b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x > y) - (x < y);
}

static int by_call(const void *a, const void *b)
{
	const struct ut_rank_end *x = a, *y = b;

	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_coll_call(const void *a, const void *b)
{
	const struct ut_rank_coll *x = a, *y = b;

	return (x->call > y->call) - (x->call < y->call);
}

static int by_open_call(const void *a, const void *b)
{
	const struct ut_rank_open *x = a, *y = b;

	return (x->call > y->call) - (x->call < y->call);
}

/* Calls of several threads come one thread after the other. */
void ut_rank_order_calls(struct ut_rank *r)
{
	const struct ut_rank_call **order =
		ut_make((r->call_count + 1) * sizeof(struct ut_rank_call *));
	uint32_t *place = ut_make((r->call_count + 1) * sizeof(*place));
	struct ut_rank_call *calls = ut_make((r->call_count + 1) * sizeof(*calls));

	for (size_t i = 0; i < r->call_count; i++)
		order[i] = &r->calls[i];
	qsort(order, r->call_count, sizeof(struct ut_rank_call *), rank_call_by_begin);
	for (size_t i = 0; i < r->call_count; i++) {
		place[order[i] - r->calls] = (uint32_t)i;
		calls[i] = *order[i];
	}
	for (size_t i = 0; i < r->end_count; i++) {
		r->ends[i].call = place[r->ends[i].call];
		if (r->ends[i].soft == UT_RANK_DONE)
			r->ends[i].partner_call = place[r->ends[i].partner_call];
	}
	for (size_t i = 0; i < r->coll_count; i++)
		r->colls[i].call = place[r->colls[i].call];
	for (size_t i = 0; i < r->open_count; i++)
		r->opens[i].call = place[r->opens[i].call];
	for (size_t i = 0; i < r->post_count; i++)
		r->posts[i].call = place[r->posts[i].call];
	if (r->open_count)
		qsort(r->opens, r->open_count, sizeof(*r->opens), by_open_call);
	if (r->coll_count)
		qsort(r->colls, r->coll_count, sizeof(*r->colls), by_coll_call);
	if (r->end_count)
		qsort(r->ends, r->end_count, sizeof(*r->ends), by_call);
	free(r->calls);
	r->calls = calls;
	r->call_cap = r->call_count + 1;
	free(place);
	free(order);
}
