#include "launch/cpu/file_maps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The first item that ends behind the address. */
static size_t find_place(const struct ut_maps *m, uint64_t address)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->items[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void file_maps_remember(struct ut_maps *m, const struct ut_map *gone, uint64_t died)
{
	m->old = ut_grow(m->old, m->old_count + 1, &m->old_cap, sizeof(*m->old));
	m->old[m->old_count] = *gone;
	m->old[m->old_count++].died = died ? died : 1;
}

static void insert(struct ut_maps *m, size_t at, const struct ut_map *map)
{
	m->items = ut_grow(m->items, m->count + 1, &m->cap, sizeof(*m->items));
	memmove(&m->items[at + 1], &m->items[at], (m->count - at) * sizeof(*m->items));
	m->items[at] = *map;
	m->count++;
}

/* Makes room: what lies there is cut, or gone. */
static void file_maps_cut(struct ut_maps *m, const struct ut_map *map)
{
	size_t at = find_place(m, map->start);

	while (at < m->count && m->items[at].start < map->end) {
		struct ut_map old = m->items[at];
		struct ut_map left = old, right = old;

		file_maps_remember(m, &old, map->born);
		memmove(&m->items[at], &m->items[at + 1], (m->count - at - 1) * sizeof(*m->items));
		m->count--;
		left.end = map->start;
		right.start = map->end;
		right.offset += map->end - old.start;
		if (left.start < left.end)
			insert(m, at++, &left);
		if (right.start < right.end)
			insert(m, at++, &right);
	}
}

/* Whoever looks into /proc again finds what is known. */
static bool is_there(const struct ut_maps *m, const struct ut_map *map)
{
	size_t at = find_place(m, map->start);
	const struct ut_map *found = at < m->count ? &m->items[at] : NULL;

	return found && found->start == map->start && found->end == map->end &&
	       found->offset == map->offset && found->module == map->module &&
	       found->born <= map->born;
}

void ut_maps_add(struct ut_maps *m, const struct ut_map *map)
{
	if (map->start >= map->end || is_there(m, map))
		return;
	m->changes++;
	file_maps_cut(m, map);
	insert(m, find_place(m, map->start), map);
}

static const struct ut_map *find_old(const struct ut_maps *m, uint64_t address, uint64_t time)
{
	for (size_t i = m->old_count; i-- > 0;) {
		const struct ut_map *o = &m->old[i];

		if (address >= o->start && address < o->end && time >= o->born && time < o->died)
			return o;
	}
	return NULL;
}

const struct ut_map *ut_maps_find(const struct ut_maps *m, uint64_t address, uint64_t time)
{
	size_t at = find_place(m, address);
	const struct ut_map *found =
		at < m->count && m->items[at].start <= address ? &m->items[at] : NULL;
	const struct ut_map *old = NULL;

	if ((!found || found->born > time) && m->old_count)
		old = find_old(m, address, time);
	return old ? old : found;
}

void ut_maps_forget(struct ut_maps *m, uint64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->old_count; i++) {
		if (m->old[i].died >= before)
			m->old[kept++] = m->old[i];
	}
	m->old_count = kept;
}

void ut_maps_copy(struct ut_maps *to, const struct ut_maps *from)
{
	*to = (struct ut_maps){ 0 };
	if (!from->count)
		return;
	to->items = ut_grow_raw(NULL, from->count, &to->cap, sizeof(*to->items));
	memcpy(to->items, from->items, from->count * sizeof(*to->items));
	to->count = from->count;
}

void ut_maps_release(struct ut_maps *m)
{
	free(m->items);
	free(m->old);
	*m = (struct ut_maps){ 0 };
}
