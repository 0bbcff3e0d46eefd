/*
 * growing.h - a trace that is added to while it is looked at.
 *
 * Rows come through the sink, one track's mostly in the order of the store. ut_growing_show() gives
 * a store of what there is by then: an ordinary one, read-only, with its pyramid, which may be
 * looked at by any number of threads and is released like any other. It shares its blocks of rows,
 * lists of arguments, strings and nodes with the next ones, so that showing costs as much as there
 * is new, and a little for every track, block and type.
 *
 * Why this works: rows, lists and complete nodes are only added, behind what was shown. A span that
 * has not ended is there from its begin on; its length is written when it is known, and until then
 * each store that is shown has copies of its own of the few blocks with such spans. A row that
 * comes too late for its place among the others has the rest of its track copied.
 *
 * Spans of a track that begin together stay in the order in which they came, whichever of them
 * turns out to be the longer one. One thread fills and shows.
 */
#ifndef UT_MODEL_GROWING_H
#define UT_MODEL_GROWING_H

#include <stdint.h>

#include "model/sink.h"
#include "model/store.h"

struct ut_growing;

struct ut_growing *ut_growing_new(void);

/* There will be no more. What has been shown stays until it is released. */
void ut_growing_end(struct ut_growing *g);

/* To be filled: its strings, tracks, clocks. Events of this trace go to the sink. */
struct ut_trace *ut_growing_trace(struct ut_growing *g);
struct ut_sink *ut_growing_sink(struct ut_growing *g);

/* A span of which only the begin is known, val is not looked at; the number it is ended by. */
uint32_t ut_growing_begin(struct ut_growing *g, const struct ut_event *event);

/* What is known about its end: the event's val and flags, and args if it has other ones now. The
 * rest of the event is not looked at. */
void ut_growing_finish(struct ut_growing *g, uint32_t number, const struct ut_event *event);

/* When it began; and what was said about it, put behind the trace's arguments. */
uint64_t ut_growing_begun(const struct ut_growing *g, uint32_t number);
void ut_growing_put_args(struct ut_growing *g, uint32_t number);

/* All there is by now; what has not ended goes on until this time, ns. */
void ut_growing_show(struct ut_growing *g, uint64_t until, struct ut_store *store);

/* What a store that was shown had of it; NULL is fine. For ut_store_release(). */
void ut_growing_return(struct ut_loan *loan);

#endif
