/*
 * writer.h - the recording side of the spool: lives in the application's process.
 *
 * One writer per process, one ut_tbuf per thread. A thread fills the chunk that it owns and takes
 * the next with one atomic add; no lock, no malloc, and a system call only when a chunk is full.
 * The file is mapped shared, so whatever has been stored survives the process.
 *
 * Threads: any. Signal handlers may record in the middle of a record of the thread they
 * interrupt: slots are taken by an instruction that cannot be interrupted half way, and while a
 * thread changes chunks its signals wait.
 *
 * Recording and defining keep errno; opening, attaching and detaching do not.
 */
#ifndef UT_WIRE_WRITER_H
#define UT_WIRE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "wire/spool.h"

struct ut_control;

/* What a thread needs to record. Zeroed = owns no chunk yet. */
struct ut_tbuf {
	uint64_t *pos;    /* next free word of the chunk */
	uint64_t *end;    /* first word behind it */
	uint64_t epoch;   /* clock >> 31 at the last full time; see spool.h (4) */
	uint64_t history; /* one bit per open task: was its begin recorded? (gate.h) */
	struct ut_chunk *chunk;
	uintptr_t fresh; /* pos | 1 when a static part was patched on this thread (itt_meta.c) */
	uint32_t ready;  /* the gate's word while this thread may record (gate.h) */
	uint32_t thread; /* its number in this process, from 1 */
	uint32_t part;   /* how many parts of chunks it has had */
	uint32_t generation; /* of the writer it is attached to */
	uint8_t ignored;     /* __itt_thread_ignore */
	uint8_t step;        /* chunks taken, up to the largest size */
	uint8_t busy;        /* inside our slow path: a call that comes back here is dropped */
};

extern enum ut_clock_source ut_writer_clock;

/*
 * Makes the spool of this process in dir and maps its start. Also after fork: the child's own
 * spool, with a new generation. Returns 0 or a negative errno; then every record is dropped.
 */
int ut_writer_open(const char *dir, const struct ut_control *control);

/* Changes with every successful ut_writer_open(). 0 = not open. */
uint32_t ut_writer_generation(void);

/* The process is this rank, whatever its launcher said. */
void ut_writer_set_rank(int32_t rank);

/* Nothing is recorded until the process is switched on. */
void ut_writer_begin_off(void);

/* Its pauses are those of the session, which anybody may end. */
void ut_writer_one_switch(void);

/* Definitions, for every thread; kept also by the flight recorder. False = no room. */
bool ut_writer_define(enum ut_rec type, const uint64_t *words, size_t count, const void *bytes,
		      size_t len);

/* Before any system call that a sandbox might kill for: is recording still on? */
bool ut_writer_may_go_on(void);

/*
 * Gives the thread a number and says who it is, and with which function it was started (0 = not
 * known); ut_writer_may_go_on() has been asked.
 */
void ut_tbuf_attach(struct ut_tbuf *t, uint64_t start);

/* The thread ends: hands the rest of its chunk to the next one. */
void ut_tbuf_detach(struct ut_tbuf *t);

/*
 * Appends a long record: count words, then len bytes. Words at the end that are 0 are left out.
 * Cut to fit when it is larger than a chunk.
 */
void ut_tbuf_record(struct ut_tbuf *t, enum ut_rec type, const uint64_t *words, size_t count,
		    const void *bytes, size_t len);

/* The same without bytes. */
static inline void ut_tbuf_words(struct ut_tbuf *t, enum ut_rec type, const uint64_t *words,
				 size_t count)
{
	ut_tbuf_record(t, type, words, count, NULL, 0);
}

/* The rare ends of ut_tbuf_word(): no chunk, chunk full, clock moved on. */
void ut_tbuf_word_slow(struct ut_tbuf *t, enum ut_word kind, uint64_t payload);

void ut_writer_count_dropped(void);
void ut_writer_count_ignored(void);
void ut_writer_count_cut(void);

/* a in the low, b in the high half. */
static inline uint64_t ut_pack(uint32_t a, uint32_t b)
{
	return a | (uint64_t)b << 32;
}

/*
 * Moves pos from one value to the next unless a signal handler has moved it meanwhile. One
 * instruction, so no lock is needed against handlers, and no other thread looks at pos.
 */
static inline bool ut_tbuf_move(uint64_t **pos, uint64_t *from, uint64_t *to)
{
#if defined(__x86_64__)
	bool moved;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(moved), "+m"(*pos), "+a"(from)
			 : "r"(to)
			 : "memory");
	return moved;
#else
	return __atomic_compare_exchange_n(pos, &from, to, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

/* The next count words of the chunk, NULL if it has not that many left. */
static inline uint64_t *ut_tbuf_take(struct ut_tbuf *t, size_t count)
{
	uint64_t *slot;

	do {
		slot = __atomic_load_n(&t->pos, __ATOMIC_RELAXED);
		if (UT_UNLIKELY((uintptr_t)slot + count * sizeof(*slot) >
				(uintptr_t)__atomic_load_n(&t->end, __ATOMIC_RELAXED)))
			return NULL;
	} while (UT_UNLIKELY(!ut_tbuf_move(&t->pos, slot, slot + count)));
	return slot;
}

/*
 * The hot path: a record of one word, stamped now, if nothing is in the way. False when there is
 * no chunk, no room in it, the clock has moved on too far or takes a call to read; then nothing
 * has happened. It calls no function, so that hooks need no stack around it.
 */
static inline bool ut_tbuf_word_fast(struct ut_tbuf *t, enum ut_word kind, uint64_t payload)
{
	uint64_t *slot, ticks;

	if (UT_UNLIKELY(!ut_clock_ticks_fast(ut_writer_clock, &ticks) || ticks >> 31 != t->epoch))
		return false;
	do { /* ut_tbuf_take(t, 1), written out: its NULL would be tested twice */
		slot = __atomic_load_n(&t->pos, __ATOMIC_RELAXED);
		if (UT_UNLIKELY((uintptr_t)slot + sizeof(*slot) >
				(uintptr_t)__atomic_load_n(&t->end, __ATOMIC_RELAXED)))
			return false;
	} while (UT_UNLIKELY(!ut_tbuf_move(&t->pos, slot, slot + 1)));
	__atomic_store_n(slot, ut_word(kind, ticks, payload), __ATOMIC_RELEASE);
	return true;
}

/* The same, whatever it takes. */
static inline void ut_tbuf_word(struct ut_tbuf *t, enum ut_word kind, uint64_t payload)
{
	if (!ut_tbuf_word_fast(t, kind, payload))
		ut_tbuf_word_slow(t, kind, payload);
}

#endif
