/*
 * filter_sink.h - hands on only what a filter wants of a store, as a trace that makes sense:
 * tracks and processes of which nothing is left are gone, both ends of a flow or an async span
 * stay or go together, and counters keep the last value from before the window.
 *
 * Decides first (one bit per row), then filters what ut_store_send() sends:
 *
 *     ut_filter_sink_init(&f, &view, next);
 *     ut_store_send(&store, 0, &f.sink);
 *     exporter->end_trace(next, &f.trace);
 *     ut_filter_sink_release(&f);
 *
 * The store and the view must outlive it. One owner, one thread.
 */
#ifndef UT_ANALYZE_FILTER_SINK_H
#define UT_ANALYZE_FILTER_SINK_H

#include "analyze/filter.h"
#include "model/arrows.h"
#include "model/sink.h"

struct ut_filter_sink {
	struct ut_sink sink; /* first */
	struct ut_sink *next;
	const struct ut_filter_view *view;
	struct ut_trace trace;   /* what next sees: shares everything but processes and tracks */
	uint64_t **keep;         /* bits, by track and row */
	uint32_t *tracks;        /* number in the new trace */
	uint32_t track;          /* of the last event */
	uint64_t row;            /* its number, plus one */
	uint64_t kept;           /* how many events stay */
	struct ut_arrows arrows; /* of what stays, if next wants them */
};

void ut_filter_sink_init(struct ut_filter_sink *f, const struct ut_filter_view *view,
			 struct ut_sink *next);
void ut_filter_sink_release(struct ut_filter_sink *f);

#endif
