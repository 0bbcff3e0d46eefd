/*
 * id.c - the numbers that pair flows, async events and objects.
 *
 * In the format an id is a number or a text, and two events belong together when their category
 * and id are equal, the names of flows, and their scope and process where these are given. In the
 * model it is one
 * number. A plain number stays what it is; anything else is hashed to a number with the highest
 * bit set, and what it was is kept in arguments of the event (id_text, id_scope, id2), so that it
 * can be written again. The hash goes into files: it must stay what it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_quoted.h"
#include "import/chrome/part.h"
#include "import/json_id.h"

#define HASHED (UINT64_C(1) << 63)

/* Plain ids below this are told apart by category in the bits above. */
#define PLAIN_BITS 48
#define PLAIN_CATS 256u /* more categories than that are hashed, too */

static uint64_t hash_bytes(uint64_t hash, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)p[i]) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3); /* where one part ends matters */
}

static uint64_t hash_end(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (hash ^ hash >> 29) | HASHED;
}

/* What an id2 holds. */
struct id2 {
	struct ut_str id; /* raw value; empty = none */
	bool local;       /* known in its process only */
	bool alone;       /* there is nothing else in it */
};

/* The one member that counts of {"local": ID} or {"global": ID}. */
static struct id2 inside_id2(struct ut_chrome *c, struct ut_str id2)
{
	struct ut_json *j = &c->json;
	struct ut_str key, value;
	struct id2 found = { .alone = true };
	const char *at = j->at;
	bool fresh = j->fresh;

	if (*id2.ptr != '{')
		return found;
	j->at = id2.ptr; /* it has been read before: nothing can go wrong */
	ut_json_enter(j);
	while (ut_json_member(j, &key) && ut_json_skip(j, &value)) {
		bool is_local = ut_str_is(key, "local");

		found.alone &= is_local && !found.id.len;
		if (is_local || ut_str_is(key, "global")) {
			found.local = is_local;
			found.id = value;
		}
	}
	j->at = at;
	j->fresh = fresh;
	return found;
}

static void id_keep(struct ut_chrome *c, enum ut_chrome_word key, enum ut_arg_type type,
		    uint32_t string)
{
	ut_chrome_add(&c->extra, (struct ut_arg){ .key = c->words[key],
						  .type = (uint8_t)type,
						  .value.str = string });
}

/* A value as text: a string without its quotes, equal numbers alike, anything else as it stands. */
static uint32_t id_text_of(struct ut_chrome *c, struct ut_str value)
{
	char room[UT_ID_ROOM];
	size_t len;

	if (*value.ptr == '"')
		return ut_chrome_string(c, c->values,
					(struct ut_str){ value.ptr + 1, value.len - 2 });
	len = ut_id_spell(value, room);
	if (len)
		value = (struct ut_str){ room, len };
	return ut_chrome_json(c, value, len);
}

/*
 * {"local":"0x1f"}, Chrome's usual way and ours, is kept as that number: all of them differ, and as
 * strings they would cost ten times more.
 */
static void keep_id2(struct ut_chrome *c, const struct id2 *id2)
{
	struct ut_str id = id2->id;
	uint64_t number;

	if (id2->alone && *id.ptr == '"' &&
	    ut_json_quoted_hex(id.ptr + 1, id.ptr + id.len, &number))
		ut_chrome_add(&c->extra, (struct ut_arg){ .key = c->words[UT_WORD_ID2],
							  .type = UT_ARG_PTR,
							  .value.u64 = number });
	else
		id_keep(c, UT_WORD_ID2, UT_ARG_JSON, ut_chrome_json(c, c->event.id2, false));
}

static uint64_t hash_string(struct ut_chrome *c, uint64_t hash, uint32_t string)
{
	struct ut_str s = ut_strtab_get(&c->build.store.trace.strings, string);

	return hash_bytes(hash, s.ptr, s.len);
}

bool ut_chrome_number(struct ut_chrome *c, struct ut_str id, uint64_t *number)
{
	const struct ut_chrome_event *e = &c->event;
	struct id2 id2 = { 0 };
	bool plain;
	uint32_t text, scope = 0;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (e->id2.len && !id.len) {
		id2 = inside_id2(c, e->id2);
		id = id2.id;
	}
	if (!id.len)
		return false;
	plain = ut_id_number(id, number);
	if (plain && !id2.local && !e->scope.len)
		return true;
	text = id_text_of(c, id);
	if (id2.local || (id2.id.len && !plain))
		keep_id2(c, &id2);
	else
		id_keep(c, UT_WORD_ID_TEXT, UT_ARG_STR, text);
	hash = hash_string(c, hash, e->cat);
	if (strchr("stf", e->phase))
		hash = hash_string(c, hash, e->name);
	if (e->scope.len) {
		scope = id_text_of(c, e->scope);
		id_keep(c, UT_WORD_ID_SCOPE, UT_ARG_STR, scope);
	}
	hash = hash_string(c, hash, scope);
	if (id2.local)
		hash = e->pid.text ? hash_string(c, hash, e->pid.text)
				   : hash_bytes(hash, (const char *)&e->pid.number, 8);
	*number = hash_end(hash_string(c, hash, text));
	return true;
}

/* ---- plain ids of several categories ------------------------------------------------------- */

enum family {
	NONE,
	FLOW,
	ASYNC,
	OBJECT,
};

static enum family family_of(uint8_t kind)
{
	switch (kind) {
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_STEP:
	case UT_KIND_FLOW_IN:
		return FLOW;
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_INSTANT:
	case UT_KIND_ASYNC_END:
		return ASYNC;
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
		return OBJECT;
	default:
		return NONE;
	}
}

struct cat {
	struct ut_str text, name; /* name: of flows of other tools, which are told apart by it */
	uint32_t type;            /* one that has it */
};

static int by_text(const void *a, const void *b)
{
	const struct cat *x = a, *y = b;
	int order = ut_str_cmp(x->text, y->text);

	return order ? order : ut_str_cmp(x->name, y->name);
}

/* The types of a family, those with the same category side by side. */
static size_t list_cats(const struct ut_build *b, enum family family, struct cat *cats)
{
	const struct ut_strtab *strings = &b->store.trace.strings;
	size_t n = 0;

	for (uint32_t i = 0; i < b->store.types.count; i++) {
		const struct ut_type *type = &b->store.types.items[i];

		if (family_of(type->kind) != family)
			continue;
		cats[n] = (struct cat){ .text = ut_strtab_get(strings, type->cat),
					.name = ut_strtab_get(strings, 0),
					.type = i };
		if (family == FLOW && type->cat) /* our own have none, and names that may differ */
			cats[n].name = ut_strtab_get(strings, type->name);
		n++;
	}
	qsort(cats, n, sizeof(*cats), by_text);
	return n;
}

static uint64_t hash_cat(const struct cat *cat)
{
	uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), cat->text.ptr, cat->text.len);

	return cat->name.len ? hash_bytes(hash, cat->name.ptr, cat->name.len) : hash;
}

/* add[type]: what parts its numbers from those of other categories; 0 = nothing. */
static bool part_family(const struct ut_build *b, enum family family, uint64_t *add)
{
	struct cat *cats = ut_make(b->store.types.count * sizeof(*cats));
	size_t n = list_cats(b, family, cats), rank = 0;

	for (size_t i = 0; i < n; i++) {
		rank += i && by_text(&cats[i - 1], &cats[i]) != 0;
		add[cats[i].type] = (uint64_t)rank << PLAIN_BITS;
	}
	for (size_t i = 0; rank >= PLAIN_CATS && i < n; i++)
		add[cats[i].type] = hash_end(hash_cat(&cats[i]));
	free(cats);
	return rank > 0;
}

static uint64_t parted(uint64_t number, uint64_t add)
{
	if (number >> PLAIN_BITS)
		return number; /* large, hashed, or written by ourselves: taken for unique */
	return add & HASHED ? hash_end(hash_bytes(add, (const char *)&number, 8)) : number + add;
}

/*
 * The same plain number may stand for different things in two categories. The first category (by
 * its text, so that the order in the file does not matter) keeps its numbers.
 */
void ut_chrome_part_ids(struct ut_build *b)
{
	uint64_t *add = ut_make(b->store.types.count * sizeof(*add));
	bool any = false;

	for (enum family family = FLOW; family <= OBJECT; family++)
		any |= part_family(b, family, add);
	for (size_t t = 0; any && t < b->row_cap; t++) {
		for (size_t n = 0; n < b->rows[t].block_count; n++) {
			struct ut_build_block *block = &b->rows[t].blocks[n];

			for (uint32_t i = 0; i < block->count; i++) {
				uint64_t a = add[block->type[i]];

				if (a)
					block->val[i] = parted(block->val[i], a);
			}
		}
	}
	free(add);
}

/* ---- ids of our own files ------------------------------------------------------------------ */

/* The list without the id2 that keep_id2() has added, and its number; false if it has none. */
static bool take_id2(struct ut_arglists *lists, uint32_t key, uint32_t *list, uint64_t *number)
{
	struct ut_arg few[16], *args = few;
	size_t count = ut_arglists_get(lists, *list, few, 16), n = 0;

	if (count > 16) {
		args = ut_make(count * sizeof(*args));
		ut_arglists_get(lists, *list, args, count);
	}
	for (size_t i = 0; i < count; i++) {
		if (args[i].key == key && args[i].type == UT_ARG_PTR && !args[i].flags)
			*number = args[i].value.u64;
		else
			args[n++] = args[i];
	}
	if (n < count)
		*list = ut_arglists_add(lists, args, n);
	if (args != few)
		free(args);
	return n < count;
}

/*
 * Our exporter gives async events local ids, so that viewers show them with their process. The
 * numbers are unique in the file all the same: they are what they were.
 */
void ut_chrome_take_local_ids(struct ut_chrome *c)
{
	struct ut_build *b = &c->build;

	for (size_t t = 0; t < b->row_cap && t < b->store.trace.track_count; t++) {
		if (b->store.trace.tracks[t].type != UT_TRACK_ASYNC)
			continue;
		for (size_t n = 0; n < b->rows[t].block_count; n++) {
			struct ut_build_block *block = &b->rows[t].blocks[n];

			for (uint32_t i = 0; i < block->count; i++) {
				if (block->val[i] & HASHED && block->args[i])
					(void)take_id2(&b->store.args, c->words[UT_WORD_ID2],
						       &block->args[i], &block->val[i]);
			}
		}
	}
}
