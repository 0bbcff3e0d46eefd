/*
 * view.h - traces as a viewer asks for them: one or several, on one clock.
 *
 * Every question is a method of one name with one JSON object, every answer is JSON, but for
 * windows, which are columns: web/src/source/contract.ts and window.ts say which. Times are ns from
 * the first sign of life, an event is known by track * 2^32 + row; tracks and types of several
 * traces are numbered through.
 *
 * Owner: whoever frees it. Filled by one thread; after ut_view_ready() any number of threads may
 * ask.
 */
#ifndef UT_VIEW_VIEW_H
#define UT_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_out;
struct ut_store;
struct ut_view;

struct ut_view *ut_view_new(void);
void ut_view_free(struct ut_view *v); /* NULL is fine */

/* The store is taken over; path is what the trace is called. */
void ut_view_add(struct ut_view *v, const char *path, struct ut_store *store);

/* The same for a store that stays the caller's and outlives the view. */
void ut_view_lend(struct ut_view *v, const char *path, struct ut_store *store);

/* After the last trace: makes what drawing needs, on up to threads threads (0 = one per core). */
void ut_view_ready(struct ut_view *v, unsigned int threads);

/* Where notes are kept: a file beside the trace. Before the first question; NULL = nowhere. */
void ut_view_keep_notes(struct ut_view *v, const char *path);

enum ut_answer {
	UT_ANSWER_JSON,
	UT_ANSWER_COLUMNS, /* see web/src/source/window.ts */
};

/*
 * Answers a question into out. -EINVAL with a sentence: the question is no JSON or asks for what
 * cannot be; -ENOENT: there is no such question. After a failure out holds nothing of use.
 */
int ut_view_ask(struct ut_view *v, const char *method, struct ut_str json, struct ut_out *out,
		enum ut_answer *kind, struct ut_err *err) UT_MUST_CHECK;

/* Ends what takes long, such as SQL, soon: the server is about to stop. Any thread. */
void ut_view_interrupt(struct ut_view *v);

#endif
