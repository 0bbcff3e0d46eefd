#include "model/renumber.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "model/store.h"

static uint32_t renumber_own_string(struct ut_store *s, const struct ut_store *like, uint32_t id)
{
	struct ut_str text = ut_strtab_get(&like->trace.strings, id);

	return id ? ut_strtab_intern(&s->trace.strings, text.ptr, text.len) : 0;
}

/* ---- types ---------------------------------------------------------------------------------- */

static void rewrite_types(struct ut_store *s, const uint32_t *map, uint32_t count)
{
	for (size_t t = 0; t < s->trace.track_count; t++) {
		for (size_t i = 0; i < ut_rows_blocks(&s->rows[t]); i++) {
			const struct ut_block *b = &s->rows[t].blocks[i];
			uint32_t *types = (uint32_t *)(uintptr_t)b->type; /* nobody reads it yet */

			for (uint32_t n = 0; n < b->count; n++)
				types[n] = map[types[n] < count ? types[n] : 0];
		}
	}
}

static void renumber_types(struct ut_store *s, const struct ut_store *like)
{
	uint32_t count = s->types.count, *map = ut_make((size_t)count * sizeof(*map));
	struct ut_types types;
	bool moved = false;

	ut_types_init(&types);
	for (uint32_t i = 0; i < like->types.count; i++) {
		struct ut_type type = like->types.items[i];

		type.name = renumber_own_string(s, like, type.name);
		type.cat = renumber_own_string(s, like, type.cat);
		ut_types_intern(&types, &type);
	}
	for (uint32_t i = 0; i < count; i++) {
		map[i] = ut_types_intern(&types, &s->types.items[i]);
		moved |= map[i] != i;
	}
	if (moved)
		rewrite_types(s, map, count);
	ut_types_release(&s->types);
	s->types = types;
	free(map);
}

/* ---- tracks --------------------------------------------------------------------------------- */

static uint64_t mix_text(uint64_t hash, struct ut_str text)
{
	return (hash ^ ut_hash_bytes(text.ptr, text.len)) * 0x9e3779b97f4a7c15u;
}

/* What a track is known by, as build.h has it, in texts. */
static uint64_t renumber_key_of(const struct ut_trace *t, const struct ut_track *k)
{
	const struct ut_process *p = &t->processes[k->process];
	bool thread = k->type == UT_TRACK_THREAD;
	uint64_t key = (p->pid + 1) * 0x9e3779b97f4a7c15u;

	key = mix_text(key, ut_strtab_get(&t->strings, p->pid_text));
	key = (key ^ k->id ^ (uint64_t)k->type << 56) * 0x9e3779b97f4a7c15u;
	key = mix_text(key, ut_strtab_get(&t->strings, k->id_text));
	key = mix_text(key, ut_strtab_get(&t->strings, thread ? 0 : k->name));
	key = mix_text(key, ut_strtab_get(&t->strings, thread ? 0 : k->unit));
	return (key ^ key >> 29) | 1;
}

/* For each track of s the number that it gets; how many there will be. */
static uint32_t plan_tracks(const struct ut_store *s, const struct ut_store *like, uint32_t *to)
{
	struct ut_arena arena = { 0 };
	struct ut_idmap known;
	uint32_t next = (uint32_t)like->trace.track_count;

	ut_idmap_init(&known, &arena);
	for (uint32_t i = 0; i < like->trace.track_count; i++)
		ut_idmap_put(&known, renumber_key_of(&like->trace, &like->trace.tracks[i]), i + 1);
	for (uint32_t i = 0; i < s->trace.track_count; i++) {
		uint32_t at =
			ut_idmap_take(&known, renumber_key_of(&s->trace, &s->trace.tracks[i]));

		to[i] = at ? at - 1 : next++;
	}
	ut_idmap_release(&known);
	ut_arena_release(&arena);
	return next;
}

static void renumber_tracks(struct ut_store *s, const struct ut_store *like)
{
	uint32_t count = (uint32_t)s->trace.track_count, *to;
	struct ut_rows *rows;
	struct ut_track *tracks;
	uint32_t all;

	if (!s->trace.process_count)
		return;
	to = ut_make(((size_t)count + 1) * sizeof(*to));
	all = plan_tracks(s, like, to);
	rows = ut_make(((size_t)all + 1) * sizeof(*rows));
	tracks = UT_NEW_N(&s->trace.arena, struct ut_track, (size_t)all + 1); /* zeroed */
	for (uint32_t i = 0; i < count; i++) {
		rows[to[i]] = s->rows[i];
		tracks[to[i]] = s->trace.tracks[i];
	}
	free(s->rows);
	s->rows = rows;
	s->trace.tracks = tracks;
	s->trace.track_count = s->trace.track_cap = all;
	free(to);
}

void ut_store_renumber(struct ut_store *s, const struct ut_store *like)
{
	if (s->map || like == s)
		return;
	renumber_types(s, like);
	renumber_tracks(s, like);
}
