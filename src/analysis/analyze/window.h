/*
 * window.h - the rows of a store that begin between two times, as if there were no others.
 *
 * For many small pieces of one trace: to open a window costs a search per track and a copy of the
 * rows in it, however long the trace is. While it is open the store has these rows only; close it
 * before the next. Ends of overlapping spans whose begin lies before are left out. Nothing else is
 * put right: ut_filter_sink does that.
 */
#ifndef UT_ANALYZE_WINDOW_H
#define UT_ANALYZE_WINDOW_H

#include <stdint.h>

#include "base/arena.h"
#include "model/store.h"

struct ut_window {
	struct ut_store *store;
	struct ut_rows *rows; /* the store's own, meanwhile */
	uint64_t row_count;
	struct ut_arena arena;
};

/* [from, to) */
void ut_window_open(struct ut_window *w, struct ut_store *store, uint64_t from, uint64_t to);
void ut_window_close(struct ut_window *w);

#endif
