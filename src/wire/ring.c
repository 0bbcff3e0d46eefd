/* ring.c - see ring.h. */
#include "wire/ring.h"

#include <stdatomic.h>
#include <string.h>

#include "wire/control.h"
#include "wire/spool.h"

#define ENTRIES 65536u

struct entry {
	_Atomic(struct ut_chunk *) chunk;
	_Atomic uint64_t left; /* ticks; 0 = a thread is writing to it */
};

static struct entry entries[ENTRIES];
static _Atomic uint32_t count;  /* entries in use */
static _Atomic uint32_t cursor; /* the entry to look at next */
static uint32_t most;           /* entries that keep_bytes allows; 0 = off */
static uint32_t chunk_bytes;
static uint64_t keep_ticks;

void ut_ring_open(const struct ut_control *control, const struct ut_clock_pair *now)
{
	uint32_t used = atomic_load(&count) < ENTRIES ? atomic_load(&count) : ENTRIES;
	uint64_t bytes = control->keep_bytes;
	double rate = 1.0; /* ticks per ns */

	most = 0;
	atomic_store(&count, 0);
	atomic_store(&cursor, 0);
	for (uint32_t i = 0; i < used; i++) {
		atomic_store(&entries[i].chunk, NULL);
		atomic_store(&entries[i].left, 0);
	}
	if (!bytes && !control->keep_ns)
		return;
	if (!bytes)
		bytes = 4ull << 30; /* by time: as much as it takes, within reason */
	if (now->mono > control->start.mono && now->ticks > control->start.ticks)
		rate = (double)(now->ticks - control->start.ticks) /
		       (double)(now->mono - control->start.mono);
	keep_ticks = (uint64_t)((double)control->keep_ns * rate);
	for (chunk_bytes = UT_CHUNK_UNIT;
	     chunk_bytes < UT_CHUNK_MAX && bytes / chunk_bytes > ENTRIES;)
		chunk_bytes *= 2;
	bytes /= chunk_bytes;
	most = bytes > ENTRIES ? ENTRIES : bytes < 4 ? 4 : (uint32_t)bytes;
}

bool ut_ring_on(void)
{
	return most != 0;
}

uint32_t ut_ring_chunk_bytes(void)
{
	return chunk_bytes;
}

void ut_ring_add(struct ut_chunk *chunk)
{
	uint32_t i = atomic_fetch_add(&count, 1);

	/* More threads at once than the ring has room for: the chunk is kept for ever. */
	if (i < ENTRIES)
		atomic_store_explicit(&entries[i].chunk, chunk, memory_order_release);
}

static bool may_grow(uint32_t used, uint64_t left, uint64_t ticks)
{
	if (used >= most)
		return false;
	/* Another thread may have left it after this one has looked at the clock. */
	return !keep_ticks || left > ticks || ticks - left < keep_ticks;
}

static void empty(struct ut_chunk *chunk)
{
	chunk->turn++;
	memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
}

struct ut_chunk *ut_ring_reuse(uint64_t ticks)
{
	uint32_t used = atomic_load(&count);

	if (used > ENTRIES)
		used = ENTRIES;
	if (used < most && !keep_ticks)
		return NULL;
	for (uint32_t tries = 0; tries < used; tries++) {
		uint32_t at = atomic_load(&cursor);
		struct entry *e = &entries[at % used];
		struct ut_chunk *chunk = atomic_load(&e->chunk);
		uint64_t left = atomic_load(&e->left);

		if (left && may_grow(used, left, ticks))
			return NULL;
		atomic_compare_exchange_strong(&cursor, &at, at + 1);
		if (chunk && left && atomic_compare_exchange_strong(&e->left, &left, 0)) {
			empty(chunk);
			return chunk;
		}
	}
	return NULL;
}

void ut_ring_leave(struct ut_chunk *chunk, uint64_t ticks)
{
	uint32_t used = atomic_load(&count);

	/* The turn of a chunk is not its place in the ring; places are few, leaving is rare. */
	for (uint32_t i = 0; chunk && i < used && i < ENTRIES; i++)
		if (atomic_load_explicit(&entries[i].chunk, memory_order_relaxed) == chunk) {
			atomic_store(&entries[i].left, ticks ? ticks : 1);
			return;
		}
}
