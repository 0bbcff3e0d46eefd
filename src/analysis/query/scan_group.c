/*
 * scan_group.c - rows in groups: all of one name, of one name on one thread, ...
 *
 * Tracks are sorted by their own fields; tracks that are equal there make a bunch. The rows of a
 * bunch are sorted by the number of their type's key: count, add up, fill in. That is two looks at
 * every row, where SQLite would sort all rows by text. When the fields of types come first, all
 * tracks are one bunch, and the rows of a key come in the order of the tracks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "query/scan_parts.h"

#define AHEAD 24u /* rows; their columns are fetched while SQLite is busy with this one */

/* A distinct value of the fields of types, and one type that has it. */
struct key {
	uint32_t trace, type;
	uint32_t number; /* in the order of values */
};

struct ut_scan_groups {
	struct ut_scan_order of_tracks[UT_FIELD_COUNT], of_types[UT_FIELD_COUNT];
	size_t track_fields, type_fields;
	bool types_first; /* sorted by the fields of types, then by those of tracks */
	bool distinct, started;

	uint32_t *tracks; /* that are visited, bunch after bunch */
	size_t track_count, track_cap;
	size_t next_bunch; /* where it begins in tracks */

	struct key *keys;
	size_t key_count, key_cap;
	struct ut_hashtab lookup; /* index into keys + 1 */
	uint32_t **key_of;        /* per trace, per type: the number of its key */

	uint32_t *ids; /* the rows of this bunch, key after key */
	uint64_t id_count, at;
	size_t id_cap;
	uint64_t *starts; /* per key, and the end behind the last */
	size_t key_at;    /* that ids[at] belongs to */
};

void ut_scan_end_groups(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;

	if (!g)
		return;
	for (size_t i = 0; g->key_of && i < s->traces->count; i++)
		free(g->key_of[i]);
	free(g->key_of);
	free(g->tracks);
	free(g->keys);
	ut_hashtab_release(&g->lookup);
	free(g->ids);
	free(g->starts);
	free(g);
	s->groups = NULL;
}

void ut_scan_grouped(struct ut_scan *s, const struct ut_scan_order *fields, size_t count,
		     bool distinct)
{
	struct ut_scan_groups *g;

	ut_scan_start(s);
	g = s->groups = ut_make(sizeof(*g));
	g->distinct = distinct;
	g->types_first = count && ut_field_level(fields[0].field) == UT_LEVEL_TYPE;
	for (size_t i = 0; i < count; i++) {
		if (ut_field_level(fields[i].field) == UT_LEVEL_TRACK)
			g->of_tracks[g->track_fields++] = fields[i];
		else
			g->of_types[g->type_fields++] = fields[i];
	}
}

/* ---- tracks -------------------------------------------------------------------------------- */

static int compare_tracks(const struct ut_scan *s, uint32_t a, uint32_t b)
{
	const struct ut_scan_groups *g = s->groups;
	int order = 0;

	for (size_t i = 0; i < g->track_fields && !order; i++) {
		enum ut_field f = g->of_tracks[i].field;
		struct ut_datum x = ut_field_of_track(s->traces, &s->traces->tracks[a], f);
		struct ut_datum y = ut_field_of_track(s->traces, &s->traces->tracks[b], f);

		order = ut_datum_compare(&x, &y);
		order = g->of_tracks[i].desc ? -order : order;
	}
	return order;
}

static int by_fields(const void *a, const void *b, void *ctx)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_tracks(ctx, x, y);

	return order ? order : (x > y) - (x < y);
}

static void list_tracks(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;
	uint64_t low, high;
	uint32_t track;

	while (ut_scan_next_track(s, &track, &low, &high)) {
		g->tracks =
			ut_grow(g->tracks, g->track_count + 1, &g->track_cap, sizeof(*g->tracks));
		g->tracks[g->track_count++] = track;
	}
	if (g->track_count)
		qsort_r(g->tracks, g->track_count, sizeof(*g->tracks), by_fields, s);
}

/* ---- keys ---------------------------------------------------------------------------------- */

static struct ut_datum key_cell(const struct ut_scan *s, const struct key *k, size_t field)
{
	return ut_field_of_type(&s->traces->traces[k->trace], k->type,
				s->groups->of_types[field].field);
}

static int compare_keys(const struct ut_scan *s, const struct key *a, const struct key *b)
{
	int order = 0;

	for (size_t i = 0; i < s->groups->type_fields && !order; i++) {
		struct ut_datum x = key_cell(s, a, i), y = key_cell(s, b, i);

		order = ut_datum_compare(&x, &y);
		order = s->groups->of_types[i].desc ? -order : order;
	}
	return order;
}

static uint64_t hash_key(const struct ut_scan *s, const struct key *k)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < s->groups->type_fields; i++) {
		struct ut_datum cell = key_cell(s, k, i);
		uint64_t one = cell.type == UT_DATUM_TEXT
				       ? ut_hash_bytes(cell.text.ptr, cell.text.len)
				       : (uint64_t)cell.number * 0x9e3779b97f4a7c15u;

		hash = (hash ^ one) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

/* The index of a type's key, which may be new. */
static uint32_t intern_key(struct ut_scan *s, uint32_t trace, uint32_t type)
{
	struct ut_scan_groups *g = s->groups;
	struct key k = { .trace = trace, .type = type };
	uint32_t hash = (uint32_t)hash_key(s, &k), at = hash, n;

	while ((n = ut_hashtab_next(&g->lookup, hash, &at))) {
		if (!compare_keys(s, &g->keys[n - 1], &k))
			return n - 1;
	}
	g->keys = ut_grow(g->keys, g->key_count + 1, &g->key_cap, sizeof(*g->keys));
	g->keys[g->key_count++] = k;
	ut_hashtab_add(&g->lookup, hash, (uint32_t)g->key_count);
	return (uint32_t)g->key_count - 1;
}

static int scan_group_by_value(const void *a, const void *b, void *ctx)
{
	const struct ut_scan *s = ctx;

	return compare_keys(s, &s->groups->keys[*(const uint32_t *)a],
			    &s->groups->keys[*(const uint32_t *)b]);
}

/* Numbers the keys in the order of their values. */
static void number_keys(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;
	uint32_t *order = ut_make((g->key_count + 1) * sizeof(*order));

	for (uint32_t i = 0; i < g->key_count; i++)
		order[i] = i;
	if (g->key_count)
		qsort_r(order, g->key_count, sizeof(*order), scan_group_by_value, s);
	for (uint32_t i = 0; i < g->key_count; i++)
		g->keys[order[i]].number = i;
	free(order);
}

static void list_keys(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;

	g->key_of = ut_make((s->traces->count + 1) * sizeof(*g->key_of));
	for (size_t i = 0; i < g->track_count; i++) {
		uint32_t trace = s->traces->tracks[g->tracks[i]].trace;
		uint32_t types = s->traces->traces[trace].store->types.count;
		const uint8_t *pass = ut_scan_passes(s, trace);

		if (g->key_of[trace])
			continue;
		g->key_of[trace] = ut_make((types + (size_t)1) * sizeof(**g->key_of));
		for (uint32_t k = 0; k < types; k++) {
			if (pass[k])
				g->key_of[trace][k] = intern_key(s, trace, k);
		}
	}
	number_keys(s);
	for (size_t t = 0; t < s->traces->count; t++) {
		for (uint32_t k = 0; g->key_of[t] && k < s->traces->traces[t].store->types.count;
		     k++)
			g->key_of[t][k] = g->key_count ? g->keys[g->key_of[t][k]].number : 0;
	}
	g->starts = ut_make((g->key_count + 2) * sizeof(*g->starts));
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint32_t scan_group_key_of(const struct ut_scan *s)
{
	const struct ut_place *p = &s->at;
	uint32_t type = p->block->type[p->i];

	return s->groups->key_of[p->track->trace][type < p->trace->store->types.count ? type : 0];
}

/* Counts the rows of each key into starts[key + 1]. */
static int scan_group_count_rows(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;
	int rc;

	memset(g->starts, 0, (g->key_count + 2) * sizeof(*g->starts));
	ut_scan_rewind(s);
	while ((rc = ut_scan_step(s)) > 0)
		g->starts[scan_group_key_of(s) + 1]++;
	for (size_t i = 1; i <= g->key_count; i++)
		g->starts[i] += g->starts[i - 1];
	g->id_count = g->starts[g->key_count];
	return rc;
}

static int fill_in(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;
	uint64_t *next = ut_make((g->key_count + 1) * sizeof(*next));
	int rc;

	memcpy(next, g->starts, g->key_count * sizeof(*next));
	g->ids = ut_grow(g->ids, g->id_count, &g->id_cap, sizeof(*g->ids));
	ut_scan_rewind(s);
	while ((rc = ut_scan_step(s)) > 0)
		g->ids[next[scan_group_key_of(s)]++] = (uint32_t)ut_place_id(&s->at);
	free(next);
	return rc;
}

/* The rows of the next bunch of tracks. 1, 0 if there is none, -EINTR. */
static int next_bunch(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;
	size_t first = g->next_bunch, end = first;
	int rc;

	if (first == g->track_count)
		return 0;
	if (g->types_first)
		end = g->track_count;
	while (end < g->track_count && !compare_tracks(s, g->tracks[first], g->tracks[end]))
		end++;
	g->next_bunch = end;
	s->list = g->tracks + first;
	s->track_count = (uint32_t)(end - first);
	g->at = g->key_at = 0;
	rc = scan_group_count_rows(s);
	return rc < 0 ? rc : fill_in(s) < 0 ? -EINTR : 1;
}

/* The row that comes AHEAD of this one, if it is on the same track; else this one. */
static uint64_t row_ahead(const struct ut_scan *s, uint64_t row)
{
	const struct ut_scan_groups *g = s->groups;
	uint64_t ahead;

	if (g->at + AHEAD >= g->id_count)
		return row;
	ahead = g->ids[g->at + AHEAD] - s->at.track->first_id;
	return ahead < s->at.track->rows->count ? ahead : row;
}

/*
 * Rows of one key lie far apart, each in a cache line of its own. (The prefetches are not in a
 * function of their own because gcc 12 drops calls of functions that do nothing else.)
 */
static void go_to(struct ut_scan *s, uint64_t id)
{
	struct ut_place *p = &s->at;
	const struct ut_block *later;
	uint64_t row;

	if (!p->track || id < p->track->first_id ||
	    id - p->track->first_id >= p->track->rows->count) {
		ut_traces_find(s->traces, id, p);
		return;
	}
	row = id - p->track->first_id;
	p->block = &p->track->rows->blocks[row / UT_BLOCK_ROWS];
	p->i = (uint32_t)(row % UT_BLOCK_ROWS);
	p->row = row;
	row = row_ahead(s, row);
	later = &p->track->rows->blocks[row / UT_BLOCK_ROWS];
	__builtin_prefetch(&later->ts[row % UT_BLOCK_ROWS]);
	__builtin_prefetch(&later->val[row % UT_BLOCK_ROWS]);
	__builtin_prefetch(&later->type[row % UT_BLOCK_ROWS]);
}

int ut_scan_next_grouped(struct ut_scan *s)
{
	struct ut_scan_groups *g = s->groups;

	if (!g->started) {
		g->started = true;
		list_tracks(s);
		list_keys(s);
	}
	while (g->at == g->id_count) {
		int rc = next_bunch(s);

		if (rc <= 0)
			return rc;
	}
	go_to(s, g->ids[g->at++]);
	if (g->distinct && !(g->types_first && g->track_fields)) {
		while (g->starts[g->key_at + 1] < g->at)
			g->key_at++;
		g->at = g->starts[g->key_at + 1];
	}
	return 1;
}
