/*
 * event_text.h - inside the Chrome importer: an event as it stands in the text, the strings that
 * mean something there, and what can be wrong with it.
 */
#ifndef UT_IMPORT_CHROME_EVENT_TEXT_H
#define UT_IMPORT_CHROME_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "model/event.h"
#include "model/trace.h"

/* Strings that have a meaning in the format: UT_WORD_..., text */
#define UT_CHROME_WORD_LIST(X)                                                                     \
	X(NAME, "name")                                                                            \
	X(LABELS, "labels")                                                                        \
	X(SORT_INDEX, "sort_index")                                                                \
	X(PROCESS_NAME, "process_name")                                                            \
	X(PROCESS_LABELS, "process_labels")                                                        \
	X(PROCESS_SORT_INDEX, "process_sort_index")                                                \
	X(THREAD_NAME, "thread_name")                                                              \
	X(THREAD_SORT_INDEX, "thread_sort_index")                                                  \
	UT_SPAN_FLAG_LIST(X)                                                                       \
	X(VALUE, "value")                                                                          \
	X(FLOW, "flow")                                                                            \
	X(ASYNC, "async")                                                                          \
	X(BIND_ID, "bind_id")                                                                      \
	X(ID_TEXT, "id_text")                                                                      \
	X(ID_SCOPE, "id_scope")                                                                    \
	X(ID, "id")                                                                                \
	X(ID2, "id2")                                                                              \
	X(SCOPE, "scope")                                                                          \
	X(TID, "tid")                                                                              \
	X(DUR, "dur")                                                                              \
	X(REACH, "s")                                                                              \
	X(BP, "bp")                                                                                \
	X(PH, "ph")                                                                                \
	X(ARGS, "args")                                                                            \
	X(NULL, "null")

enum ut_chrome_word {
#define UT_CHROME_WORD_ENUM(word, text) UT_WORD_##word,
	UT_CHROME_WORD_LIST(UT_CHROME_WORD_ENUM)
#undef UT_CHROME_WORD_ENUM
	UT_CHROME_WORDS
};

/* What was wrong with the events, beyond what ut_json repairs: UT_ODD_..., whether something is
 * lost by it, what is told. */
#define UT_CHROME_ODD_LIST(X)                                                                      \
	X(BOM, false, "a byte order mark; ignored")                                                \
	X(NO_LIST, false, "events without a list around them; read one by one")                    \
	X(UNCLOSED, false, "the end is missing: the list of events is not closed; closed there")   \
	X(CUT, true, "the file ends inside an event, which is left out")                           \
	X(DAMAGED, true, "damage, and what it reaches to is left out")                             \
	X(NO_EVENT, true, "an element of the list that is no event; left out")                     \
	X(NO_TIME, true, "an event without a time (ts) that can be read; left out")                \
	X(NO_ID, false, "a flow, async or object event without an id; kept as an instant")         \
	X(NO_VALUE, false, "a counter event without a number; kept as an instant")                 \
	X(NO_DUR, true, "a complete event (X) without a duration; it gets 0")                      \
	X(NEGATIVE_DUR, true, "a negative duration; taken as 0")                                   \
	X(PHASE, false, "an event of an unknown phase; kept as an instant")                        \
	X(TOO_BIG, true, "a top-level value of more than 64 MiB; left out")                        \
	X(PACKED, true, "the compressed data ends too early; what it holds up to there is kept")

enum ut_chrome_odd {
#define UT_CHROME_ODD_ENUM(kind, lost, text) UT_ODD_##kind,
	UT_CHROME_ODD_LIST(UT_CHROME_ODD_ENUM)
#undef UT_CHROME_ODD_ENUM
	UT_CHROME_ODDS
};

/* Traits from which the dialect is guessed. */
enum ut_chrome_trait {
	UT_TRAIT_ATTR = 1u << 0,   /* arguments under "attr": flex */
	UT_TRAIT_HOST = 1u << 1,   /* a process "HOST<...>" or "DEVICE<...>": Intel's unitrace */
	UT_TRAIT_NSIGHT = 1u << 2, /* a process or thread called like in Nsight's exports */
	UT_TRAIT_TORCH = 1u << 3,
	UT_TRAIT_VIZTRACER = 1u << 4,
	UT_TRAIT_OURS = 1u << 5,
};

/* A pid or tid: a number, or the JSON text of something else (a string id). */
struct ut_chrome_ref {
	uint64_t number;
	uint32_t text; /* 0 = number */
	bool given;
};

/* Arguments under construction. */
struct ut_chrome_args {
	struct ut_arg *items;
	size_t count, cap;
	uint64_t seen; /* a bit per key, to find doubles */
};

/* One event as it stands in the text; a span of no length is a member that is not there. */
struct ut_chrome_event {
	const char *start;
	int64_t ts, dur; /* ns */
	struct ut_chrome_ref pid, tid;
	uint32_t name, cat;              /* string ids */
	struct ut_str id, id2;           /* raw values */
	struct ut_str scope, bind;       /* raw values */
	struct ut_str args;              /* raw value, if it is an object */
	struct ut_str long_phase;        /* raw value, if phase is '?' */
	uint8_t args_from;               /* the member that args were in: see event_text.c */
	char phase;                      /* 0 = none, '?' = longer than one letter */
	char reach;                      /* of an instant: member "s" */
	bool has_ts, has_dur, enclosing; /* enclosing: "bp" is "e" */
	bool flow_in, flow_out;
	bool unfinished, implicit_end; /* said by arguments of ours, which are not kept */
};

/* A begin (B) that may be followed by its end; see row.c. Its spans are not valid. */
struct ut_chrome_held {
	bool any;
	unsigned int flags;
	struct ut_chrome_event event;
	struct ut_chrome_args args;
};

#endif
