/*
 * ranks_coll_facts.c - what is said about a collective operation: its group, number, size and
 * kind, in the words of our recordings, of torch.profiler and of oneCCL.
 */
#include <stdio.h>

#include "ranks/coll_kind.h"
#include "ranks/ranks_coll_parts.h"

#define MOST_ARGS 64u

static uint32_t ranks_coll_facts_text(struct ut_coll_reader *rd, const struct ut_arg *a)
{
	struct ut_str s;
	char digits[24];

	if (a->type == UT_ARG_STR) {
		s = ut_strtab_get(&rd->store->trace.strings, a->value.str);
	} else if (a->type == UT_ARG_U64) {
		s.ptr = digits;
		s.len = (size_t)snprintf(digits, sizeof(digits), "%llu",
					 (unsigned long long)a->value.u64);
	} else {
		return 0;
	}
	return ut_strtab_intern(&rd->ranks->strings, s.ptr, s.len);
}

/* How many elements tensors of these dimensions have: "[[2,3],[4]]" is 10. */
static uint64_t elements(struct ut_str dims)
{
	uint64_t all = 0, one = 1, number = 0;
	bool digits = false;

	for (size_t i = 0; i < dims.len; i++) {
		char c = dims.ptr[i];

		if (c >= '0' && c <= '9') {
			number = number * 10 + (uint64_t)(c - '0');
			digits = true;
			continue;
		}
		if (digits && __builtin_mul_overflow(one, number, &one))
			return 0;
		if (c == ']' && digits) {
			all += one;
			one = 1;
		}
		if (c == '[')
			one = 1;
		digits = digits && c != ']' && c != ',';
		number = 0;
	}
	return all;
}

struct shape {
	uint64_t in, out; /* elements */
	uint32_t size;    /* of one; 0 = unknown */
	bool said;        /* in and out are */
};

static void take_size(struct ut_coll_reader *rd, struct shape *s, const struct ut_arg *a)
{
	struct ut_str said = ut_strtab_get(&rd->store->trace.strings, a->value.str);

	if (a->key == rd->keys.dtype || (a->key == rd->keys.types && !s->size))
		s->size = ut_coll_element(said);
	else if (a->key == rd->keys.dims && !s->said)
		s->in = elements(said);
}

static void ranks_coll_facts_take_number(struct ut_coll_reader *rd, struct ut_coll_found *f,
					 struct shape *s, const struct ut_arg *a)
{
	const struct ut_coll_keys *k = &rd->keys;

	if (a->key == k->in || a->key == k->out) {
		s->in = s->said ? s->in : 0;
		s->said = true;
		*(a->key == k->in ? &s->in : &s->out) = a->value.u64;
	} else if (a->key == k->group_size || a->key == k->ranks) {
		f->size = (uint32_t)a->value.u64;
	} else if (a->key == k->order || a->key == k->seq) {
		f->seq = a->value.u64 + 1;
	} else if (a->key == k->external) {
		f->external = a->value.u64;
	} else if (a->key == k->bytes || a->key == k->send_size) {
		f->in = a->value.u64;
	} else if (a->key == k->received || a->key == k->recv_size) {
		f->out = a->value.u64;
	} else if (a->key == k->root) {
		f->root = (int32_t)a->value.i64;
	}
}

void ut_coll_take_facts(struct ut_coll_reader *rd, struct ut_coll_found *f, uint32_t list)
{
	const struct ut_coll_keys *k = &rd->keys;
	struct ut_arg args[MOST_ARGS];
	size_t n = ut_arglists_get(&rd->store->args, list, args, MOST_ARGS);
	struct shape shape = { 0 };

	for (size_t i = 0; i < n && i < MOST_ARGS; i++) {
		const struct ut_arg *a = &args[i];

		if (a->key == k->group || a->key == k->comm)
			f->group = ranks_coll_facts_text(rd, a);
		else if (a->key == k->group_text)
			f->group_text = ranks_coll_facts_text(rd, a);
		else if (a->key == k->collective && a->type == UT_ARG_STR)
			f->coll = (uint8_t)ut_coll_called(
				ut_strtab_get(&rd->store->trace.strings, a->value.str));
		else if (a->type == UT_ARG_U64 || a->type == UT_ARG_I64)
			ranks_coll_facts_take_number(rd, f, &shape, a);
		else if (a->type == UT_ARG_STR || a->type == UT_ARG_JSON)
			take_size(rd, &shape, a);
	}
	if (shape.size && (shape.in || shape.out)) {
		f->in = shape.in * shape.size;
		f->out = shape.out * shape.size;
	}
}
