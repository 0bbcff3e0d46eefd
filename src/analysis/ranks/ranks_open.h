/*
 * ranks_open.h - calls that had not ended when the recording of their process did: who waits in
 * them for whom, and what that one does instead.
 */
#ifndef UT_RANKS_RANKS_OPEN_H
#define UT_RANKS_RANKS_OPEN_H

#include "ranks/ranks.h"

/* They wait from their begin to their end: after all other waits are known. */
void ut_ranks_wait_open(struct ut_ranks *r);

/*
 * Which rank never came, to what, and where it was instead; or how the job ended, if not as it
 * should. No newline; nothing if all calls have ended and so has the job.
 */
void ut_ranks_unfinished(const struct ut_ranks *r, struct ut_buf *out);

#endif
