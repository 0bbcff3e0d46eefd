/*
 * ranks_timeline.h - what is known about ranks as a timeline: for each rank its tasks, its calls
 * split into waiting and transfer, and for the job how many ranks wait, move data and compute.
 */
#ifndef UT_RANKS_RANKS_TIMELINE_H
#define UT_RANKS_RANKS_TIMELINE_H

#include "ranks/ranks.h"

struct ut_sink;
struct ut_trace;

/* The trace is new; ranks are settled. All events go to the sink, in order on each track. */
void ut_ranks_timeline(const struct ut_ranks *r, struct ut_trace *trace, struct ut_sink *sink);

#endif
