/*
 * nesting.h - which async end closes which begin; decided here and nowhere else.
 *
 * Begins and ends with the same number belong together and nest: an end closes the innermost open
 * begin that may have its name. What was begun inside that one and is still open ends with it. An
 * end that fits nothing closes nothing. This is what Perfetto's importer does with Chrome's b and
 * e. Rows of a track are taken in their order; O(1) each.
 */
#ifndef UT_MODEL_NESTING_H
#define UT_MODEL_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"

struct ut_store;
struct ut_rows;

/* How far an end looks outwards for its begin: hostile files must not make it slow. */
#define UT_NESTING_MOST 512u

/* May an end of one name close a begin of another? Those without a name fit all. */
static inline bool ut_nesting_fits(uint32_t begin, uint32_t end)
{
	return begin == end || !begin || !end;
}

/* A begin that is open. */
struct ut_begun {
	uint64_t ts;
	uint64_t what; /* the caller's: a row, a group */
	uint32_t name;
	uint32_t outer; /* index of the one around it, or of the next free one; 0 = none */
	bool is_open;
};

/* What is open. {0} is empty; whoever made it releases it. One thread. */
struct ut_nesting {
	struct ut_arena arena;
	struct ut_idmap innermost; /* number -> index into open */
	struct ut_begun *open;     /* [0] is not used */
	size_t count, cap;
	uint32_t free;
};

void ut_nesting_release(struct ut_nesting *p);

/* ts, what and name of the begin come back when it is closed. */
void ut_nesting_begin(struct ut_nesting *p, uint64_t number, struct ut_begun begin);

/* How many begins the end closes: its own and those inside it. 0 = it has none. */
uint32_t ut_nesting_end(const struct ut_nesting *p, uint64_t number, uint32_t name);

/* The innermost open begin of the number, which is closed by this. There must be one. */
struct ut_begun ut_nesting_take(struct ut_nesting *p, uint64_t number);

/* The innermost open begin of the number; NULL = there is none. */
const struct ut_begun *ut_nesting_look(const struct ut_nesting *p, uint64_t number);

/* Is a begin with this what open, of the same number? */
bool ut_nesting_has(const struct ut_nesting *p, uint64_t number, uint64_t what);

/* Goes through all that are open, in no order: the first for NULL, NULL after the last one. */
const struct ut_begun *ut_nesting_next(const struct ut_nesting *p, const struct ut_begun *last);

/* Where an async begin ends. */
struct ut_async_end {
	uint64_t ts;  /* UINT64_MAX = never; 0 if the row is no async begin */
	uint64_t row; /* the end's, plus one; 0 = none of its own: it ended with the one around it,
		       * or never */
};

/* ends[row] for all rows of one track. */
void ut_nesting_of_track(const struct ut_store *s, uint32_t track, struct ut_async_end *ends);

/*
 * Where the span goes on to: one that never ended to the last sign of life on its track. Fills
 * until[row] for all rows of a track; other rows get 0.
 */
void ut_nesting_until(const struct ut_store *s, uint32_t track, uint64_t *until);
uint64_t ut_async_until(const struct ut_rows *rows, uint64_t begin, uint64_t end);

#endif
