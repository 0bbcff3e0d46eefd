/*
 * live_state.h - what is kept of a recording that is followed, from one look at it to the next.
 */
#ifndef UT_IMPORT_SPOOL_LIVE_STATE_H
#define UT_IMPORT_SPOOL_LIVE_STATE_H

#include "import/spool/rows.h"
#include "import/spool/thread.h"
#include "model/event.h"

struct ut_growing;

/* A chunk that may still be written to. */
struct ut_live_chunk {
	struct ut_spool_walk at; /* the next record */
	uint32_t thread, number; /* of the part that it is in; 0 = of none yet */
	const uint64_t *stuck_at;
	uint32_t stuck; /* how often nothing came there */
	bool is_meta;
};

/* Claimed, and not a chunk yet; or never to be one. */
struct ut_live_gap {
	size_t from, to;
	unsigned int looks;
};

struct ut_live_thread {
	struct ut_spool_reader *reader; /* NULL = it has recorded nothing */
	uint32_t number;                /* of its latest part */
};

/* A piece of work whose call has not been met yet. */
struct ut_live_arrow {
	uint64_t correlation;
	struct ut_event to;
	unsigned int looks;
};

struct ut_spool_live {
	struct ut_spool_import im;
	struct ut_growing *growing;
	struct ut_spool_cross *cross;
	char *path;
	int fd;
	size_t reserved; /* addresses that are set aside for the file */
	size_t known;    /* bytes of the file in which chunks have been looked for */
	UT_VEC(struct ut_live_chunk) chunks;
	UT_VEC(struct ut_live_gap) gaps;
	UT_VEC(struct ut_live_thread) threads; /* by number */
	UT_VEC(struct ut_spool_rows *) rows;
	struct ut_idmap rows_of; /* see rows.c: index + 1 */
	UT_VEC(struct ut_event) calls;
	struct ut_idmap call_of; /* correlation -> index + 1 */
	UT_VEC(struct ut_live_arrow) arrows;
	uint32_t kernels;              /* so far */
	uint32_t arrow_count;          /* that have been drawn */
	struct ut_idmap place_of;      /* id -> index + 1 in im.places */
	size_t facts;                  /* about tracks that have been settled */
	struct ut_losses backend_data; /* by the header, last time */
	uint64_t words;                /* that have been read */
	bool is_clocked, is_shown;
};

/* A task with an id began. */
void ut_spool_live_place(struct ut_spool_import *im, uint64_t id, uint32_t thread, uint64_t begin);

/* A call, and a piece of work that came of it: an arrow is drawn when both are there. */
void ut_spool_live_call(struct ut_spool_import *im, uint64_t correlation, const struct ut_event *e);
void ut_spool_live_work(struct ut_spool_import *im, uint64_t correlation, const struct ut_event *e);

#endif
