/*
 * memory_books.h - what the program allocated and freed, from the records of all its threads: live
 * bytes over time, and for each site (thread, stack, task) what it allocated, what of that was
 * there when memory was highest, and what was never freed.
 *
 *	scan      ut_spool_import.memory.any: there are such records
 *	threads   ut_spool_note_allocation(): which task each allocation was made in
 *	last      ut_spool_import_memory(): walks the records of all threads by time
 * (memory_merge.c), keeps the books (memory_books.c) and hands on what comes of it (memory_send.c)
 *
 * Memory: the blocks that are live at a time, the sites, and SLICES rows for each at most; not the
 * records.
 */
#ifndef UT_IMPORT_SPOOL_MEMORY_BOOKS_H
#define UT_IMPORT_SPOOL_MEMORY_BOOKS_H

#include "base/hashtab.h"
#include "base/idmap.h"
#include "import/spool/steps.h"

/* ---- the records of all threads by time ---------------------------------------------------- */

struct ut_memory_record {
	uint64_t ticks;
	uint32_t thread;
	uint32_t task; /* string id; 0 = none was open; of allocations only */
	struct ut_spool_rec rec;
};

typedef void ut_memory_take(void *ctx, const struct ut_memory_record *r);

void ut_spool_merge_memory(struct ut_spool_import *im, ut_memory_take *take, void *ctx);

/* ---- the books ----------------------------------------------------------------------------- */

/* So many blocks and bytes, as far as can be told: what was drawn stands for more (design/037). */
struct ut_memory_sum {
	double bytes, count;
	double variance; /* of bytes; 0 = exact */
};

struct ut_memory_site {
	uint32_t thread, stack, task; /* number in the spool, of the trace's stacks, string id */
	uint32_t kind;                /* enum ut_memory_kind */
	struct ut_memory_sum live, peak;
	uint64_t epoch; /* the peak that was saved last: see memory_books.c */
	uint32_t row;   /* the latest one; index + 1 */
};

/* What a site allocated in a slice of time. */
struct ut_memory_row {
	uint64_t ts;    /* ns, of its first allocation */
	uint64_t until; /* what is allocated from then on is another row's */
	uint32_t site;
	struct ut_memory_sum sum;
	double freed, life; /* how many of them were freed; ns that those lived in all */
};

struct ut_memory_block {
	uint64_t address, ts;
	uint32_t site, row;
	uint32_t next_free; /* index + 1 */
	uint8_t halves;     /* bits: which of the two drawings have it */
	double half;        /* bytes that it stands for there */
	struct ut_memory_sum sum;
};

/* Live bytes at a moment. */
struct ut_memory_point {
	uint64_t ts;
	double bytes;
};

struct ut_memory_books {
	struct ut_spool_import *im;
	UT_VEC(struct ut_memory_site) sites;
	struct ut_hashtab site_of; /* thread, stack, task, kind -> index + 1 */
	UT_VEC(struct ut_memory_row) rows;
	size_t rows_wanted; /* more than that: slices become longer */
	UT_VEC(struct ut_memory_block) blocks;
	struct ut_idmap block_at;     /* address -> index + 1 */
	uint32_t free_block;          /* index + 1 */
	struct ut_memory_block given; /* the block that was freed last: it may be there after all */
	uint64_t given_ts;
	uint32_t given_by;     /* thread */
	uint64_t first, slice; /* ns */
	struct ut_memory_sum live, peak;
	uint64_t peak_ts, epoch;
	struct ut_memory_half {
		double live, most, other; /* bytes; other: of the other half when this had most */
	} halves[2];
	uint64_t last; /* ns, of the last record */
	/* of the row of live bytes: the highest and the last value of each step of time */
	uint64_t step, step_end;
	struct ut_memory_point highest, latest;
	bool pending;
	uint32_t track; /* + 1; 0 = not made yet */
};

/* The row of live bytes: one more value, and the end of them. */
void ut_memory_level(struct ut_memory_books *b, uint64_t ts);
void ut_memory_level_end(struct ut_memory_books *b);

/* Bytes by which what was live at the peak is overestimated: memory_books.c. */
double ut_memory_peak_excess(const struct ut_memory_books *b);

/* Samples of what was allocated, live at the peak and never freed. */
void ut_memory_send(struct ut_memory_books *b);

#endif
