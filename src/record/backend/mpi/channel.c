/*
 * channel.c - see channel.h.
 *
 * Three tables, each 16 times as large as the one before, so that a program with few channels
 * touches few pages. A key stands within a few slots of its place in the first table that had
 * room for it, for ever.
 */
#include "backend/mpi/channel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define TABLES 3u
#define NEAR   8u /* slots in which a key may stand */

struct slot {
	_Atomic uint64_t key; /* 0 = free */
	_Atomic uint64_t count;
};

static const uint64_t sizes[TABLES] = { 1u << 12, 1u << 16, 1u << 20 };
static _Atomic(struct slot *) tables[TABLES];
static _Atomic uint64_t lost;

uint64_t ut_mpi_mix(uint64_t a, uint64_t b)
{
	uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) + b;

	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	h ^= h >> 31;
	return h ? h : 1;
}

uint64_t ut_mpi_channel(uint64_t comm, int32_t peer, int32_t tag, unsigned int what)
{
	return ut_mpi_mix(comm * 8 + what, (uint64_t)(uint32_t)peer << 32 | (uint32_t)tag);
}

static struct slot *table(unsigned int i)
{
	struct slot *t = atomic_load_explicit(&tables[i], memory_order_acquire), *fresh;
	size_t bytes = (sizes[i] + NEAR) * sizeof(*t);
	int saved = errno;

	if (t)
		return t;
	fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	errno = saved;
	if (fresh == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&tables[i], &t, fresh))
		return fresh;
	munmap(fresh, bytes); /* another thread was faster: t is its table */
	return t;
}

/* The slot of a key, taken if it has none; NULL = no room in this table. */
static struct slot *slot_in(struct slot *t, uint64_t size, uint64_t key)
{
	struct slot *s = t + (key & (size - 1));

	for (unsigned int i = 0; i < NEAR; i++, s++) {
		uint64_t there = atomic_load_explicit(&s->key, memory_order_relaxed);

		if (there == key)
			return s;
		if (!there && atomic_compare_exchange_strong(&s->key, &there, key))
			return s;
		if (there == key)
			return s; /* another thread has just put it there */
	}
	return NULL;
}

static struct slot *channel_slot_of(uint64_t key)
{
	struct slot *s = NULL;

	for (unsigned int i = 0; !s && i < TABLES; i++) {
		struct slot *t = table(i);

		s = t ? slot_in(t, sizes[i], key) : NULL;
	}
	return s;
}

uint64_t ut_mpi_channel_next(uint64_t key)
{
	struct slot *s = channel_slot_of(key);

	if (s)
		return atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	return UT_MPI_NO_NUMBER;
}

uint64_t ut_mpi_channel_peek(uint64_t key)
{
	struct slot *s = channel_slot_of(key);

	return s ? atomic_load_explicit(&s->count, memory_order_relaxed) : UT_MPI_NO_NUMBER;
}

void ut_mpi_channel_back(uint64_t key)
{
	struct slot *s = channel_slot_of(key);

	if (s)
		atomic_fetch_sub_explicit(&s->count, 1, memory_order_relaxed);
}

uint64_t ut_mpi_channel_lost(void)
{
	return atomic_load(&lost);
}
