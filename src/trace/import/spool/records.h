/*
 * records.h - a spool file as a sequence of records, every length checked.
 *
 * The file is mapped read-only and may still be growing or have been damaged. Nothing here is
 * allocated but the mapping.
 */
#ifndef UT_IMPORT_SPOOL_RECORDS_H
#define UT_IMPORT_SPOOL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/spool.h"

struct ut_spool_map {
	const char *base;
	size_t size; /* of the mapping */
	size_t used; /* bytes that may hold chunks */
	const struct ut_spool_header *header;
};

int ut_spool_map(struct ut_spool_map *m, const char *path, struct ut_err *err) UT_MUST_CHECK;
void ut_spool_unmap(struct ut_spool_map *m);

/* These words have been read: the pages may leave our memory. They stay in the file. */
void ut_spool_forget(const uint64_t *begin, const uint64_t *end);

/* The words of one chunk. */
struct ut_chunk_view {
	const uint64_t *begin, *end;
	enum ut_chunk_kind kind;
};

/* Moves on to the next chunk at or after *offset (start with 0). False at the end. */
bool ut_spool_next_chunk(const struct ut_spool_map *m, size_t *offset, struct ut_chunk_view *view);

/* Where a reader stands; ticks is the full time of the latest record. */
struct ut_spool_walk {
	const uint64_t *pos, *end;
	uint64_t ticks;
	uint64_t torn; /* records that were never finished */
};

struct ut_spool_rec {
	enum ut_word kind; /* UT_WORD_BEGIN, UT_WORD_END or UT_WORD_LONG */
	uint32_t payload;  /* of the first two */
	enum ut_rec type;  /* of a long one; may be a number that we do not know */
	size_t count;
	const uint64_t *words; /* count words behind the first */
};

/* Word i of a long record; what was not stored is 0. */
static inline uint64_t ut_rec_word(const struct ut_spool_rec *r, size_t i)
{
	return i < r->count ? r->words[i] : 0;
}

static inline uint32_t ut_rec_low(const struct ut_spool_rec *r, size_t i)
{
	return (uint32_t)ut_rec_word(r, i);
}

static inline uint32_t ut_rec_high(const struct ut_spool_rec *r, size_t i)
{
	return (uint32_t)(ut_rec_word(r, i) >> 32);
}

/* The bytes behind the first n words: pointer, and how many of the len claimed are there. */
const char *ut_rec_bytes(const struct ut_spool_rec *r, size_t n, size_t *len);

/* A long record of any length, or one that was never finished. */
bool ut_spool_walk_long(struct ut_spool_walk *w, struct ut_spool_rec *r, uint64_t word);

/* The next finished record; false at the end of the chunk. */
static inline bool ut_spool_walk_next(struct ut_spool_walk *w, struct ut_spool_rec *r)
{
	while (w->pos < w->end) {
		uint64_t word = __atomic_load_n(w->pos, __ATOMIC_ACQUIRE);
		uint32_t kind = word & 15;

		w->pos++;
		if (kind == UT_WORD_NONE || kind == UT_WORD_SKIP)
			continue;
		if (kind == UT_WORD_BEGIN || kind == UT_WORD_END) {
			/* The nearest time with these low bits: wire/spool.h (4). */
			w->ticks += (uint64_t)(int64_t)(int32_t)((uint32_t)(word >> 4) -
								 (uint32_t)w->ticks);
			r->kind = (enum ut_word)kind;
			r->payload = (uint32_t)(word >> 36);
			return true;
		}
		if (ut_spool_walk_long(w, r, word))
			return true;
	}
	return false;
}

#endif
