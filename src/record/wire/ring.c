/*
 * ring.c - see ring.h.
 *
 * Chunks that nobody writes to wait in a queue, in the order in which they were left: so the
 * oldest is the first. Any thread puts and takes; a place of the queue says by its turn whether
 * it is free (even) or taken (odd) in this round, and nobody waits for anybody: who meets a place
 * that another thread is busy with does without.
 */
#include "wire/ring.h"

#include <stdatomic.h>
#include <string.h>

#include "wire/control.h"
#include "wire/spool.h"

#define MOST_CHUNKS  65536u
#define MOST_PLACES  (2 * MOST_CHUNKS)
#define LEAST_PLACES 4096u                /* so many that a round is long */
#define MOST_BYTES   (16 * UT_CHUNK_UNIT) /* of a chunk: emptying it takes its time */

struct place {
	_Atomic uint64_t turn; /* 2 * round: free; 2 * round + 1: taken */
	_Atomic uint64_t left; /* ticks at which the thread left the chunk */
	_Atomic(struct ut_chunk *) chunk;
};

static struct place places[MOST_PLACES];
/* Those in use: what a small ring never touches takes no memory. */
static uint32_t place_count = LEAST_PLACES;
static _Atomic uint64_t head, tail; /* the next place to take from, to put into */
static _Atomic uint32_t count;      /* chunks of the ring, in use or waiting */
static uint32_t most;               /* chunks that keep_bytes allows; 0 = off */
static uint32_t chunk_bytes;
static uint64_t keep_ticks;

static void forget_all(void)
{
	uint64_t used = atomic_load(&tail);

	used = used < place_count ? used : place_count;

	for (uint64_t i = 0; i < used; i++)
		atomic_store(&places[i].turn, 0);
	atomic_store(&head, 0);
	atomic_store(&tail, 0);
	atomic_store(&count, 0);
	most = 0;
}

void ut_ring_open(const struct ut_control *control, const struct ut_clock_pair *now)
{
	uint64_t bytes = control->keep_bytes;
	double rate = 1.0; /* ticks per ns */

	forget_all();
	if (!bytes && !control->keep_ns)
		return;
	if (!bytes)
		bytes = 4ull << 30; /* by time: as much as it takes, within reason */
	if (now->mono > control->start.mono && now->ticks > control->start.ticks)
		rate = (double)(now->ticks - control->start.ticks) /
		       (double)(now->mono - control->start.mono);
	keep_ticks = (uint64_t)((double)control->keep_ns * rate);
	for (chunk_bytes = UT_CHUNK_UNIT;
	     chunk_bytes < MOST_BYTES && bytes / chunk_bytes > MOST_CHUNKS;)
		chunk_bytes *= 2;
	bytes /= chunk_bytes;
	most = bytes > MOST_CHUNKS ? MOST_CHUNKS : bytes < 4 ? 4 : (uint32_t)bytes;
	place_count = 2 * most > LEAST_PLACES ? 2 * most : LEAST_PLACES;
}

bool ut_ring_on(void)
{
	return most != 0;
}

uint32_t ut_ring_chunk_bytes(void)
{
	return chunk_bytes;
}

void ut_ring_add(void)
{
	atomic_fetch_add(&count, 1);
}

void ut_ring_leave(struct ut_chunk *chunk, uint64_t ticks)
{
	uint64_t at = atomic_load(&tail);

	while (chunk) {
		struct place *p = &places[at % place_count];
		uint64_t turn = 2 * (at / place_count);

		/* Still being emptied after a whole round: this chunk is kept for ever. */
		if (atomic_load(&p->turn) < turn)
			return;
		if (atomic_load(&p->turn) == turn &&
		    atomic_compare_exchange_strong(&tail, &at, at + 1)) {
			atomic_store(&p->left, ticks);
			atomic_store(&p->chunk, chunk);
			atomic_store(&p->turn, turn + 1);
			return;
		}
		at = atomic_load(&tail);
	}
}

static bool may_grow(uint64_t left, uint64_t ticks)
{
	if (atomic_load(&count) >= most)
		return false;
	/* Another thread may have left it after this one has looked at the clock. */
	return !keep_ticks || left > ticks || ticks - left < keep_ticks;
}

static struct ut_chunk *emptied(struct ut_chunk *chunk)
{
	chunk->turn++;
	memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
	return chunk;
}

struct ut_chunk *ut_ring_reuse(uint64_t ticks)
{
	uint64_t at = atomic_load(&head);

	for (;;) {
		struct place *p = &places[at % place_count];
		uint64_t turn = 2 * (at / place_count) + 1, now = atomic_load(&p->turn);

		if (now < turn)
			return NULL; /* all are in use */
		if (now == turn) {
			struct ut_chunk *chunk = atomic_load(&p->chunk);

			if (may_grow(atomic_load(&p->left), ticks))
				return NULL;
			if (atomic_compare_exchange_strong(&head, &at, at + 1)) {
				atomic_store(&p->turn, turn + 1);
				return emptied(chunk);
			}
		}
		at = atomic_load(&head);
	}
}
