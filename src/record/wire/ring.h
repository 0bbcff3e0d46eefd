/*
 * ring.h - the flight recorder: a bounded number of chunks, used again from the oldest on.
 *
 * Off unless the session asks for it. Any thread; no locks. The oldest is the one that was left
 * first. A chunk that a thread is writing to is never taken away from it, so a thread that records
 * rarely keeps its past longer.
 */
#ifndef UT_WIRE_RING_H
#define UT_WIRE_RING_H

#include <stdbool.h>
#include <stdint.h>

struct ut_chunk;
struct ut_clock_pair;
struct ut_control;

/* Reads keep_bytes and keep_ns; forgets what was in the ring before (fork). */
void ut_ring_open(const struct ut_control *control, const struct ut_clock_pair *now);

bool ut_ring_on(void);

/* The size of its chunks: small, so that many threads fit. */
uint32_t ut_ring_chunk_bytes(void);

/* One more chunk belongs to the ring; the thread that writes to it knows it. */
void ut_ring_add(void);

/* The oldest chunk that may be overwritten, emptied; NULL = take a new one. */
struct ut_chunk *ut_ring_reuse(uint64_t ticks);

/* The thread has left its chunk at this time. */
void ut_ring_leave(struct ut_chunk *chunk, uint64_t ticks);

#endif
