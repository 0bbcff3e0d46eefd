#include "import/perf/perf_maps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "symbol/binary.h"

#define MOST_MAPS (1u << 20) /* of one process */
#define MOST_ALL  (8u << 20) /* of all: a child begins with those of its parent */

void ut_pdata_maps_release(struct ut_pdata_maps *m)
{
	for (size_t i = 0; i < m->module_count; i++) {
		if (m->modules[i].can_unwind)
			ut_unwind_close(&m->modules[i].unwind);
		free(m->modules[i].path);
	}
	for (size_t i = 0; i < m->space_count; i++)
		free(m->spaces[i].items);
	free(m->modules);
	free(m->spaces);
	ut_idmap_release(&m->module_by_name);
	ut_idmap_release(&m->space_of);
	*m = (struct ut_pdata_maps){ 0 };
}

/* ---- modules --------------------------------------------------------------------------------- */

uint32_t ut_pdata_module(struct ut_pdata_maps *m, uint32_t name, const char *path)
{
	uint32_t at = ut_idmap_get(&m->module_by_name, (uint64_t)name + 1);

	if (!at) {
		m->modules = ut_grow(m->modules, m->module_count + 1, &m->module_cap,
				     sizeof(*m->modules));
		m->modules[m->module_count] =
			(struct ut_pdata_module){ .path = strdup(path), .name = name };
		at = (uint32_t)++m->module_count;
		ut_idmap_put(&m->module_by_name, (uint64_t)name + 1, at);
	}
	return at - 1;
}

static void open_module(struct ut_pdata_module *m)
{
	int fd;

	m->opened = true;
	if (!m->path || m->path[0] != '/')
		return;
	m->binary = ut_binary_open(m->path, &m->id);
	fd = m->binary ? open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	m->can_unwind = fd >= 0 && ut_unwind_open(&m->unwind, fd);
	if (fd >= 0 && !m->can_unwind)
		close(fd);
}

struct ut_binary *ut_pdata_module_binary(struct ut_pdata_module *m)
{
	if (!m->opened)
		open_module(m);
	return m->binary;
}

struct ut_unwind *ut_pdata_module_unwind(struct ut_pdata_module *m)
{
	if (!m->opened)
		open_module(m);
	return m->can_unwind ? &m->unwind : NULL;
}

/* ---- spaces ---------------------------------------------------------------------------------- */

static struct ut_pdata_space *space_of(struct ut_pdata_maps *m, uint32_t pid)
{
	uint32_t at = ut_idmap_get(&m->space_of, (uint64_t)pid + 1);

	if (!at) {
		m->spaces =
			ut_grow(m->spaces, m->space_count + 1, &m->space_cap, sizeof(*m->spaces));
		m->spaces[m->space_count] = (struct ut_pdata_space){ 0 };
		at = (uint32_t)++m->space_count;
		ut_idmap_put(&m->space_of, (uint64_t)pid + 1, at);
	}
	return &m->spaces[at - 1];
}

/* The first mapping that ends behind an address. */
static size_t perf_maps_find(const struct ut_pdata_space *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->items[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Takes out [at, at + gone) and puts up to three in their place. */
static void perf_maps_replace(struct ut_pdata_space *s, size_t at, size_t gone,
			      const struct ut_pdata_map *with, size_t count)
{
	s->items = ut_grow_raw(s->items, s->count + count, &s->cap, sizeof(*s->items));
	memmove(s->items + at + count, s->items + at + gone,
		(s->count - at - gone) * sizeof(*s->items));
	memcpy(s->items + at, with, count * sizeof(*with));
	s->count = s->count - gone + count;
}

void ut_pdata_map_add(struct ut_pdata_maps *m, uint32_t pid, const struct ut_pdata_map *map)
{
	struct ut_pdata_space *s = space_of(m, pid);
	struct ut_pdata_map with[3];
	size_t first = perf_maps_find(s, map->start), last = first, count = 0;

	if (map->start >= map->end || s->count >= MOST_MAPS || m->map_count >= MOST_ALL)
		return;
	while (last < s->count && s->items[last].start < map->end)
		last++;
	if (last > first && s->items[first].start < map->start) { /* what is left before it */
		with[count] = s->items[first];
		with[count++].end = map->start;
	}
	with[count++] = *map;
	if (last > first && s->items[last - 1].end > map->end) { /* and behind it */
		with[count] = s->items[last - 1];
		with[count].offset += map->end - with[count].start;
		with[count++].start = map->end;
	}
	m->map_count += count;
	m->map_count -= last - first;
	perf_maps_replace(s, first, last - first, with, count);
}

void ut_pdata_map_fork(struct ut_pdata_maps *m, uint32_t pid, uint32_t parent)
{
	struct ut_pdata_space *to = space_of(m, pid), *from;

	if (pid == parent)
		return;
	from = space_of(m, parent);
	to = space_of(m, pid); /* the first one may have moved */
	if (m->map_count + from->count > MOST_ALL)
		return;
	m->map_count += from->count;
	m->map_count -= to->count;
	to->items = ut_grow_raw(to->items, from->count + 1, &to->cap, sizeof(*to->items));
	if (from->count)
		memcpy(to->items, from->items, from->count * sizeof(*to->items));
	to->count = from->count;
}

void ut_pdata_map_clear(struct ut_pdata_maps *m, uint32_t pid)
{
	struct ut_pdata_space *s = space_of(m, pid);

	m->map_count -= s->count;
	s->count = 0;
}

const struct ut_pdata_map *ut_pdata_map_find(const struct ut_pdata_maps *m, uint32_t pid,
					     uint64_t address)
{
	uint32_t number = ut_idmap_get(&m->space_of, (uint64_t)pid + 1);
	const struct ut_pdata_space *s = number ? &m->spaces[number - 1] : NULL;
	size_t at = s ? perf_maps_find(s, address) : 0;

	return s && at < s->count && s->items[at].start <= address ? &s->items[at] : NULL;
}
