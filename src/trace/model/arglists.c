#include "model/arglists.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

void ut_arglists_init(struct ut_arglists *l)
{
	*l = (struct ut_arglists){ 0 };
	l->shapes = ut_grow(NULL, 1, &l->shape_cap, sizeof(*l->shapes));
	l->shapes[0].words = 1;
	l->shape_count = 1;
}

void ut_arglists_release(struct ut_arglists *l)
{
	/* What came from a file has no room to grow and is not ours. */
	for (size_t i = 0; l->chunk_cap && i < l->chunk_count; i++)
		free(l->chunks[i]);
	free(l->chunks);
	if (l->shape_cap)
		free(l->shapes);
	if (l->shape_arg_cap)
		free(l->shape_args);
	ut_hashtab_release(&l->lookup);
	*l = (struct ut_arglists){ 0 };
}

static bool is_short(const struct ut_arg *a)
{
	switch (a->type) {
	case UT_ARG_U64:
		return a->value.u64 <= UINT32_MAX;
	case UT_ARG_I64:
		return a->value.i64 >= INT32_MIN && a->value.i64 <= INT32_MAX;
	default:
		return false;
	}
}

static uint8_t form_of(const struct ut_arg *a)
{
	return (uint8_t)(a->type | (is_short(a) ? UT_FORM_SHORT : 0));
}

static uint32_t arglists_words_of(uint8_t form)
{
	switch (form) {
	case UT_ARG_U64:
	case UT_ARG_I64:
	case UT_ARG_F64:
	case UT_ARG_PTR:
		return 2;
	default:
		return 1;
	}
}

static bool has_shape(const struct ut_arglists *l, uint32_t shape, const struct ut_arg *args,
		      size_t count)
{
	const struct ut_shape *s = &l->shapes[shape];
	const struct ut_shape_arg *sa;

	if (s->count != count)
		return false; /* and there may be no shape_args yet */
	sa = l->shape_args + s->first;
	for (size_t i = 0; i < count; i++) {
		if (sa[i].key != args[i].key || sa[i].form != form_of(&args[i]) ||
		    sa[i].flags != args[i].flags)
			return false;
	}
	return true;
}

static uint64_t mixed(uint64_t hash, uint32_t key, uint8_t form, uint8_t flags)
{
	hash ^= (uint64_t)key << 16 | (uint64_t)form << 8 | flags;
	hash *= 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_of_args(const struct ut_arg *args, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = mixed(hash, args[i].key, form_of(&args[i]), args[i].flags);
	return hash;
}

static uint64_t hash_of_shape(const struct ut_arglists *l, uint32_t shape)
{
	const struct ut_shape *s = &l->shapes[shape];
	const struct ut_shape_arg *a = l->shape_args + s->first;
	uint64_t hash = s->count;

	for (uint32_t i = 0; i < s->count; i++)
		hash = mixed(hash, a[i].key, a[i].form, a[i].flags);
	return hash;
}

/* Shapes that came with a file are looked up only if somebody adds lists to them. */
static void index_shapes(struct ut_arglists *l)
{
	ut_hashtab_reserve(&l->lookup, l->shape_count);
	for (uint32_t n = 1; n < l->shape_count; n++)
		ut_hashtab_add(&l->lookup, (uint32_t)hash_of_shape(l, n), n);
}

static uint32_t add_shape(struct ut_arglists *l, const struct ut_arg *args, size_t count)
{
	struct ut_shape s = { .first = l->shape_arg_count, .count = (uint32_t)count, .words = 1 };

	l->shape_args = ut_grow(l->shape_args, l->shape_arg_count + count, &l->shape_arg_cap,
				sizeof(*l->shape_args));
	for (size_t i = 0; i < count; i++) {
		uint8_t form = form_of(&args[i]);

		l->shape_args[l->shape_arg_count++] = (struct ut_shape_arg){
			.key = args[i].key, .form = form, .flags = args[i].flags
		};
		s.words += arglists_words_of(form);
	}
	l->shapes =
		ut_grow(l->shapes, (size_t)l->shape_count + 1, &l->shape_cap, sizeof(*l->shapes));
	l->shapes[l->shape_count] = s;
	return l->shape_count++;
}

static uint32_t arglists_shape_of(struct ut_arglists *l, const struct ut_arg *args, size_t count)
{
	uint32_t hash, at, shape;

	if (has_shape(l, l->last, args, count))
		return l->last;
	if (!l->lookup.slots)
		index_shapes(l);
	at = hash = (uint32_t)hash_of_args(args, count);
	while ((shape = ut_hashtab_next(&l->lookup, hash, &at)) &&
	       !has_shape(l, shape, args, count))
		;
	if (!shape) {
		shape = add_shape(l, args, count);
		ut_hashtab_add(&l->lookup, hash, shape);
	}
	return l->last = shape;
}

/* Room for n words; the index of the first. */
static uint32_t arglists_take(struct ut_arglists *l, uint32_t n, uint32_t **words)
{
	uint32_t index;

	if (!l->chunk_count || l->used + n > UT_ARG_CHUNK) {
		/* An index has 32 bits: more than 16 GiB of arguments cannot be told apart. */
		if (l->chunk_count == UINT32_MAX / UT_ARG_CHUNK)
			return 0;
		l->chunks =
			ut_grow(l->chunks, l->chunk_count + 1, &l->chunk_cap, sizeof(*l->chunks));
		l->chunks[l->chunk_count++] = ut_make(UT_ARG_CHUNK * sizeof(uint32_t));
		l->used = l->chunk_count == 1; /* index 0 means none */
		l->most = UT_ARG_CHUNK;
	}
	index = (uint32_t)(l->chunk_count - 1) * UT_ARG_CHUNK + l->used;
	*words = l->chunks[l->chunk_count - 1] + l->used;
	l->used += n;
	return index;
}

static uint32_t *arglists_put_value(uint32_t *w, const struct ut_arg *a)
{
	if (arglists_words_of(form_of(a)) == 1) {
		*w = a->type == UT_ARG_BOOL ? a->value.u64 != 0 : (uint32_t)a->value.u64;
		return w + 1;
	}
	memcpy(w, &a->value, sizeof(a->value));
	return w + 2;
}

uint32_t ut_arglists_add(struct ut_arglists *l, const struct ut_arg *args, size_t count)
{
	uint32_t shape, index, *w;

	if (!count)
		return 0;
	if (count > UT_ARG_MOST)
		count = UT_ARG_MOST;
	shape = arglists_shape_of(l, args, count);
	index = arglists_take(l, l->shapes[shape].words, &w);
	if (!index)
		return 0;
	*w++ = shape;
	for (size_t i = 0; i < count; i++)
		w = arglists_put_value(w, &args[i]);
	return index;
}

/* The words of a list up to the end of its chunk; NULL if there is no such place. */
static const uint32_t *arglists_place(const struct ut_arglists *l, uint32_t list, uint32_t *left)
{
	size_t chunk = list / UT_ARG_CHUNK;
	uint32_t at = list % UT_ARG_CHUNK, words;

	if (!list || chunk >= l->chunk_count)
		return NULL;
	words = chunk + 1 == l->chunk_count ? l->most : UT_ARG_CHUNK;
	if (at >= words)
		return NULL;
	*left = words - at;
	return l->chunks[chunk] + at;
}

static struct ut_arg value_at(const struct ut_shape_arg *a, const uint32_t *w)
{
	struct ut_arg arg = { .key = a->key, .type = a->form & 0xf, .flags = a->flags };

	if (arglists_words_of(a->form) == 2)
		memcpy(&arg.value, w, sizeof(arg.value));
	else if (a->form == (UT_ARG_I64 | UT_FORM_SHORT))
		arg.value.i64 = (int32_t)*w;
	else if (a->form == UT_ARG_STR || a->form == UT_ARG_JSON)
		arg.value.str = *w;
	else
		arg.value.u64 = *w;
	return arg;
}

static const struct ut_shape *shape_at(const struct ut_arglists *l, const uint32_t *w)
{
	const struct ut_shape *s;

	if (!w || *w >= l->shape_count)
		return NULL;
	s = &l->shapes[*w];
	return s->first <= l->shape_arg_count && s->count <= l->shape_arg_count - s->first ? s
											   : NULL;
}

const struct ut_shape *ut_arglists_shape(const struct ut_arglists *l, uint32_t list)
{
	uint32_t left;

	return shape_at(l, arglists_place(l, list, &left));
}

size_t ut_arglists_get(const struct ut_arglists *l, uint32_t list, struct ut_arg *out, size_t cap)
{
	uint32_t left = 0, at = 1;
	const uint32_t *w = arglists_place(l, list, &left);
	const struct ut_shape *s = shape_at(l, w);

	if (!s)
		return 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct ut_shape_arg *a = &l->shape_args[s->first + i];
		uint32_t words = arglists_words_of(a->form);

		if (words > left - at)
			return i;
		if (i < cap)
			out[i] = value_at(a, w + at);
		at += words;
	}
	return s->count;
}

void ut_arglists_rename(struct ut_arglists *l, const uint32_t *strings)
{
	for (uint32_t i = 0; i < l->shape_arg_count; i++)
		l->shape_args[i].key = strings[l->shape_args[i].key];
	for (size_t c = 0; c < l->chunk_count; c++) {
		uint32_t end = c + 1 == l->chunk_count ? l->used : UT_ARG_CHUNK;

		for (uint32_t at = c == 0; at < end;) {
			uint32_t *w = l->chunks[c] + at;
			const struct ut_shape *s = &l->shapes[*w];
			uint32_t v = 1;

			for (uint32_t i = 0; i < s->count; i++) {
				uint8_t form = l->shape_args[s->first + i].form;

				if (form == UT_ARG_STR || form == UT_ARG_JSON)
					w[v] = strings[w[v]];
				v += arglists_words_of(form);
			}
			at += s->words;
		}
	}
}

/* The numbers that from's shapes have in l. */
static uint32_t *join_shapes(struct ut_arglists *l, const struct ut_arglists *from)
{
	uint32_t *map = ut_make(from->shape_count * sizeof(*map));
	struct ut_arg *args = NULL;
	size_t cap = 0;

	for (uint32_t n = 1; n < from->shape_count; n++) {
		const struct ut_shape *s = &from->shapes[n];

		args = ut_grow(args, s->count, &cap, sizeof(*args));
		for (uint32_t i = 0; i < s->count; i++) {
			const struct ut_shape_arg *a = &from->shape_args[s->first + i];

			/* A value that makes form_of() say what the shape says. */
			args[i] = (struct ut_arg){ .key = a->key,
						   .type = a->form & 0xf,
						   .flags = a->flags };
			if (arglists_words_of(a->form) == 2)
				args[i].value.u64 = (uint64_t)INT64_MAX;
		}
		map[n] = arglists_shape_of(l, args, s->count);
	}
	free(args);
	return map;
}

uint32_t ut_arglists_join(struct ut_arglists *l, struct ut_arglists *from)
{
	uint32_t base = (uint32_t)l->chunk_count * UT_ARG_CHUNK;
	uint32_t *map = join_shapes(l, from);

	for (size_t c = 0; c < from->chunk_count; c++) {
		uint32_t end = c + 1 == from->chunk_count ? from->used : UT_ARG_CHUNK;

		for (uint32_t at = c == 0; at < end;) {
			uint32_t *w = from->chunks[c] + at;

			at += from->shapes[*w].words;
			*w = map[*w];
		}
		l->chunks =
			ut_grow(l->chunks, l->chunk_count + 1, &l->chunk_cap, sizeof(*l->chunks));
		l->chunks[l->chunk_count++] = from->chunks[c];
	}
	free(map);
	if (from->chunk_count) {
		l->used = from->used;
		l->most = from->most;
	}
	from->chunk_count = 0;
	ut_arglists_release(from);
	return base;
}

/* ---- begin and end ------------------------------------------------------------------------- */

#define DOUBLE_MOST 256u /* arguments among which doubles are looked for */

/* Of n arguments and m behind them: the first ones give way to later ones with the same key. */
static size_t arglists_drop_doubles(struct ut_arg *args, size_t n, size_t m)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = n;

		while (k < n + m && args[k].key != args[i].key)
			k++;
		if (k == n + m)
			args[kept++] = args[i];
	}
	memmove(args + kept, args + n, m * sizeof(*args));
	return kept;
}

uint32_t ut_arglists_both(struct ut_arglists *to, const struct ut_arglists *from, uint32_t first,
			  uint32_t second)
{
	size_t n, m;
	struct ut_arg *args;
	uint32_t list;

	if (to == from && (!first || !second))
		return first ? first : second;
	n = ut_arglists_get(from, first, NULL, 0);
	m = ut_arglists_get(from, second, NULL, 0);
	args = ut_make((n + m + 1) * sizeof(*args));
	ut_arglists_get(from, first, args, n);
	ut_arglists_get(from, second, args + n, m);
	if (n <= DOUBLE_MOST && m <= DOUBLE_MOST)
		n = arglists_drop_doubles(args, n, m);
	list = ut_arglists_add(to, args, n + m);
	free(args);
	return list;
}
