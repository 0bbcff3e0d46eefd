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

/*
 * A store that several views show, one after the other while a trace grows: it goes with the last
 * of those who have it. new: the store is taken over. share: the view has it, too.
 */
struct ut_view_store;

struct ut_view_store *ut_view_store_new(struct ut_store *store);
const struct ut_store *ut_view_store_get(const struct ut_view_store *s);
void ut_view_store_drop(struct ut_view_store *s); /* NULL is fine */
void ut_view_share(struct ut_view *v, const char *path, struct ut_view_store *s);
/* The paths are removed soon, so no command that the page shows names them. */
void ut_view_paths_go(struct ut_view *v);

/* Before ready: other views of the same traces will follow, which have grown. Numbers of tracks and
 * types leave room, so that those of the last traces stay when the first ones get more. */
void ut_view_expect_more(struct ut_view *v);

/* After the last trace: makes what drawing needs, on up to threads threads (0 = one per core). */
void ut_view_ready(struct ut_view *v, unsigned int threads);

/*
 * Another run to compare with, ready, and freed with v from now on: info names it, and a question
 * to "before/METHOD" is one to it.
 */
void ut_view_compare(struct ut_view *v, struct ut_view *before);

/* Where notes are kept: a file beside the trace. Before the first question; NULL = nowhere. */
void ut_view_keep_notes(struct ut_view *v, const char *path);

/* What is known beside the traces: how far they have been read, whether they still grow. */
struct ut_view_state {
	uint32_t generation; /* of the view; told as it is */
	bool live;           /* the program is still running */
	double read;         /* share of the files that has been read; 1 = all */
	uint64_t bytes;      /* of a recording */
	const char *ended;   /* how a recording ended: "exit status 3"; NULL = nobody says */
	const char *trouble; /* lines: what could not be read, and why; NULL = nothing */
};

/* Any thread, also while others ask. Texts are copied. */
void ut_view_set_state(struct ut_view *v, const struct ut_view_state *state);

/* The part of "info" that the state is, as an object of its own. */
void ut_view_put_state(struct ut_view *v, struct ut_out *out);

/* ---- tools, and tabs of their own ------------------------------------------------------------ */

/*
 * What a tool has found out about the traces, for its tabs (web/src/tools): a sheet is one JSON
 * object (or a list, of findings) that the page asks for by name when it needs it. Tables in it are
 * those of contract.ts, as sheet.h writes them. Times are ns from the view's beginning, see
 * ut_view_since(); events have no number that a one-file page would share, so what is to be seen is
 * said by range, query and tab. A sheet called "findings" is a list of Finding: its first one
 * becomes the verdict of the page.
 *
 * tool, title and name are copied; json comes from ut_out_open_memory() and is taken over. A sheet
 * that is there already is replaced. After ut_view_ready(), before the first question.
 */
void ut_view_attach(struct ut_view *v, const char *tool, const char *title, const char *name,
		    struct ut_out *json);

/* Before ut_view_ready(): a track is shown inside a group of its process or device, beside the
 * tracks next to it that have the same one. Copied. */
void ut_view_group(struct ut_view *v, size_t trace, uint32_t track, const char *group);

/* What the page says of its input. Copied; NULL = as the traces say. */
struct ut_view_about {
	const char *input;    /* what was read, as people call it: the page's title */
	const char *subtitle; /* a line beside it: what it is, of when */
	const char *first;    /* id of the tab that opens first */
	const char *address;  /* of what a page of its own shows first: "v=timeline&w=0,900" */
	bool no_file;         /* the trace lies in no file that other commands could read */
};

void ut_view_describe(struct ut_view *v, const struct ut_view_about *about);

/* A file that can be had from the server that shows this view: its path there, such as "download",
 * and what it is. Copied. */
void ut_view_link(struct ut_view *v, const char *path, const char *title);

/* The page may ask for everything to be made anew; the server does it (method "again"). */
void ut_view_allow_again(struct ut_view *v);

/* The page may show the source and the machine code of functions with samples, from the files that
 * the traces name: for whoever could read those anyway. Before the first question. */
void ut_view_allow_code(struct ut_view *v);

/* The traces of a view: how many, and each as it is; all slices of them. */
size_t ut_view_traces(const struct ut_view *v);
struct ut_store *ut_view_store(struct ut_view *v, size_t trace);
uint64_t ut_view_slices(const struct ut_view *v);
uint64_t ut_view_span(const struct ut_view *v); /* ns, from its beginning to its end */

/* A store's own time (ns) as one of the view. */
uint64_t ut_view_since(const struct ut_view *v, size_t trace, uint64_t ts);

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
