/*
 * rewrite_walk.h - the events of a Chrome trace as text, one after the other, whatever the shape
 * of the file: an array, an object, events on lines of their own, cut off anywhere.
 *
 * The walker finds where an event's members lie; the text itself is not touched. An event that is
 * not strict JSON in UTF-8 (NaN, raw control bytes, commas too many) is given as a repaired copy.
 * Memory: one window over the file, as large as the largest event. One owner, one thread.
 */
#ifndef UT_MERGE_REWRITE_WALK_H
#define UT_MERGE_REWRITE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "merge/rewrite_scan.h"
#include "text/source.h"

/* One event. Members that it does not have are {NULL, 0}; strings are given with their quotes. */
struct ut_rewrite_walk_event {
	struct ut_str text; /* from { to } */
	struct ut_str ph, ts, dur, pid, id, id2, bind_id, name, args, sf;
};

/* One that has nothing yet. By name: as a whole, compilers clear it slowly, byte by byte. */
static inline void ut_rewrite_walk_clear(struct ut_rewrite_walk_event *e)
{
	static const struct ut_str none;

	e->text = none;
	e->ph = none;
	e->ts = none;
	e->dur = none;
	e->pid = none;
	e->id = none;
	e->id2 = none;
	e->bind_id = none;
	e->name = none;
	e->args = none;
	e->sf = none;
}

/* Where a member of this name goes; NULL = nowhere. */
static inline struct ut_str *ut_rewrite_walk_member(struct ut_rewrite_walk_event *e, const char *k,
						    size_t len)
{
	switch (len) {
	case 2:
		if (k[0] == 'p' && k[1] == 'h')
			return &e->ph;
		if (k[0] == 't' && k[1] == 's')
			return &e->ts;
		if (k[0] == 'i' && k[1] == 'd')
			return &e->id;
		return k[0] == 's' && k[1] == 'f' ? &e->sf : NULL;
	case 3:
		if (!memcmp(k, "pid", 3))
			return &e->pid;
		if (!memcmp(k, "dur", 3))
			return &e->dur;
		return !memcmp(k, "id2", 3) ? &e->id2 : NULL;
	case 4:
		if (!memcmp(k, "name", 4))
			return &e->name;
		return !memcmp(k, "args", 4) ? &e->args : NULL;
	case 7:
		return !memcmp(k, "bind_id", 7) ? &e->bind_id : NULL;
	default:
		return NULL;
	}
}

enum ut_rewrite_walk_item {
	UT_ITEM_EVENT,  /* in event */
	UT_ITEM_MEMBER, /* of the object around the events: key (raw, without quotes) and value */
	UT_ITEM_END,
	UT_ITEM_ERROR, /* the text is no JSON, or it cannot be read: err says "FILE: offset N: ..."
			*/
};

/* What may be wrong with a file, beyond what json.h repairs: UT_REWRITE_..., what is told. */
#define UT_REWRITE_ODD_LIST(X)                                                                     \
	X(UNCLOSED, "the end is missing: the list of events is not closed; closed there")          \
	X(CUT, "the file ends inside an event, which is left out")                                 \
	X(DAMAGED, "an event that is no JSON; left out: ")                                         \
	X(STRANGE, "an element of the list that is no event; left out")                            \
	X(LARGE, "a value beside the events that is too large to be kept; left out")

enum ut_rewrite_walk_odd {
#define UT_REWRITE_ODD_ENUM(kind, text) UT_REWRITE_##kind,
	UT_REWRITE_ODD_LIST(UT_REWRITE_ODD_ENUM)
#undef UT_REWRITE_ODD_ENUM
	UT_REWRITE_ODDS
};

struct ut_rewrite_walk {
	struct ut_source source;
	struct ut_json json;
	struct ut_rewrite_walk_event event;
	struct ut_scan_keys keys;
	struct ut_str key, value;
	struct ut_buf clean;    /* the repaired copy of the event */
	struct ut_buf key_text; /* what key points to */
	int place;              /* where we are in the file: see rewrite_walk.c */
	bool trusted;           /* set by who knows that the file is clean: see rewrite_again.h */
	bool in_object;         /* the array of events lies in an object */
	bool strict;            /* the event was found to be strict JSON */
	uint64_t events, lists;
	uint64_t repaired; /* events that had to be repaired */
	struct ut_json_note odd[UT_REWRITE_ODDS];
	char why[80]; /* the first damaged event is none */
};

/* path must stay. Takes the first look; on failure nothing is left open. */
int ut_rewrite_walk_open(struct ut_rewrite_walk *w, const char *path,
			 struct ut_err *err) UT_MUST_CHECK;
void ut_rewrite_walk_close(struct ut_rewrite_walk *w);

/* Spans hold until the next call. */
enum ut_rewrite_walk_item ut_rewrite_walk_next(struct ut_rewrite_walk *w, struct ut_err *err);

/* After the end: was everything strict JSON? Then the next walk may be trusted. */
bool ut_rewrite_walk_was_clean(const struct ut_rewrite_walk *w);

/* Values too large to be kept are skipped: UT_ITEM_MEMBER with an empty value. */
#define UT_REWRITE_VALUE_MOST (16u << 20)

/* One line per kind of repair: "offset N: what", for the user. */
void ut_rewrite_walk_report(const struct ut_rewrite_walk *w,
			    void (*report)(void *ctx, const char *text), void *ctx);

/* Finds the members of an event in clean JSON text. False if text is no object. */
bool ut_rewrite_walk_read(struct ut_str text, struct ut_rewrite_walk_event *event);

#endif
