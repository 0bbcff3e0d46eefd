/*
 * sink.h - where events go: an exporter, a summary, a table in memory.
 *
 * An importer fills the trace (strings, tracks, ...) and calls event() once per event in the
 * order that event.h promises. Tracks and strings may still be added between two calls; what an
 * event refers to is always there when the event comes. The arguments of an event are valid only
 * during the call. Sinks report their own errors when they are closed, so that importers need
 * not look after every event.
 */
#ifndef UT_MODEL_SINK_H
#define UT_MODEL_SINK_H

#include <stdbool.h>

struct ut_event;
struct ut_measured;
struct ut_trace;

struct ut_sink {
	void (*event)(struct ut_sink *sink, const struct ut_trace *trace,
		      const struct ut_event *event);
	/* Hardware metrics as they were measured, behind all work of devices; NULL = not wanted. */
	void (*measured)(struct ut_sink *sink, const struct ut_trace *trace,
			 const struct ut_measured *measured);
	bool wants_arrows; /* trace->arrows shall be there while a store is sent: arrows.h */
};

static inline void ut_sink_event(struct ut_sink *sink, const struct ut_trace *trace,
				 const struct ut_event *event)
{
	sink->event(sink, trace, event);
}

#endif
