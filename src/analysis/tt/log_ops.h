/*
 * log_ops.h - which rows belong to which op: logs of zones only.
 *
 * The host numbers its ops and the device writes the number beside each marker. An op that runs
 * several times (a replayed trace) keeps its number; each time ends when every core that takes
 * part has ended its firmware.
 */
#ifndef UT_TT_LOG_OPS_H
#define UT_TT_LOG_OPS_H

#include "tt/devlog.h"

/* Op i has rows[first[i]] up to rows[first[i + 1]], in order of time. {0} is none. */
struct ut_tt_ops {
	uint32_t *rows;
	uint32_t *first; /* count + 1 of them; NULL when there is none */
	size_t count, cap;
	size_t row_count;
};

void ut_tt_ops_release(struct ut_tt_ops *ops);

/*
 * The ops among n rows in order of time: of a chip, or of one core. What cannot be (firmware that
 * starts twice) is counted in log->doubts where the rows are a chip's.
 */
void ut_tt_ops_find(struct ut_tt_log *log, const uint32_t *order, size_t n, bool one_core,
		    struct ut_tt_ops *ops);

/* Finds the cores that dispatch: core->dispatch. */
void ut_tt_ops_find_dispatch(struct ut_tt_log *log);

/*
 * The ops of a core that dispatches. Its zones have no names of their own; what the markers inside
 * say becomes their name, in the log itself. Call it once per core.
 */
void ut_tt_ops_of_dispatch(struct ut_tt_log *log, const struct ut_tt_core *core,
			   struct ut_tt_ops *ops);

#endif
