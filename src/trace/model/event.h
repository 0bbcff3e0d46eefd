/*
 * event.h - the one record that everything else hangs on.
 *
 * Every collector's data and every foreign trace is reduced to this; nothing downstream knows
 * which tool wrote it. Times are integer nanoseconds on the trace clock (CLOCK_MONOTONIC of the
 * recording host unless the trace says otherwise). A zeroed event is valid: a span of no length
 * without a name.
 *
 * Order: importers hand events out so that on each track spans come in order of their start, an
 * outer span before the inner ones, an async begin before its end, and a flow end of a recording
 * right after the span it is bound to. Nothing is promised between tracks.
 */
#ifndef UT_MODEL_EVENT_H
#define UT_MODEL_EVENT_H

#include <stdint.h>

/* kind, name in documents, what val holds */
#define UT_KIND_LIST(X)                                                                            \
	X(SPAN, "span", "duration in ns")                                                          \
	X(INSTANT, "instant", "nothing")                                                           \
	X(COUNTER, "counter", "the value; flags say which type")                                   \
	X(ASYNC_BEGIN, "async begin", "number of the instance, equal in its end")                  \
	X(ASYNC_END, "async end", "number of the instance")                                        \
	X(FLOW_OUT, "flow out", "number of the flow, equal at its other end")                      \
	X(FLOW_IN, "flow in", "number of the flow")                                                \
	X(FLOW_STEP, "flow step", "number of a flow that passes through here")                     \
	X(ASYNC_INSTANT, "async instant", "number of the instance that it happens in")             \
	X(OBJECT_NEW, "object new", "number of the object")                                        \
	X(OBJECT_STATE, "object state", "number of the object; args tell its state")               \
	X(OBJECT_GONE, "object gone", "number of the object")                                      \
	X(SAMPLE, "sample", "where and how much, see stacks.h; name: of what, cat: why there")

enum ut_kind {
#define UT_KIND_ENUM(kind, text, val) UT_KIND_##kind,
	UT_KIND_LIST(UT_KIND_ENUM)
#undef UT_KIND_ENUM
	UT_KIND_COUNT
};

enum ut_event_flag {
	UT_EV_UNFINISHED = 1u << 0,    /* never ended; the span reaches to the last sign of life */
	UT_EV_IMPLICIT_END = 1u << 1,  /* ended because an outer span ended */
	UT_EV_SCOPE_PROCESS = 1u << 2, /* instant: concerns the process, not only its track */
	UT_EV_BIND_NEXT = 1u << 2,     /* flow in: ends at the next span, not the enclosing one */
	UT_EV_SCOPE_GLOBAL = 1u << 3,  /* instant: concerns everything */
	UT_EV_GLOBAL_ID = 1u << 3,     /* flow: other files may have its other end, val is kept */
	UT_EV_SIGNED = 1u << 4,        /* counter: val is an int64_t */
	UT_EV_DOUBLE = 1u << 5,        /* counter: val holds the bits of a double */
	UT_EV_NOT_WORK =
		1u << 6,       /* span: about the recording, not the program; no table counts it */
	UT_EV_ASIDE = 1u << 7, /* span: listed, but nobody's work: a frame; it has no self time */
};

/* flags of spans that formats without flags tell by an argument that is true: flag, its key */
#define UT_SPAN_FLAG_LIST(X)                                                                       \
	X(UNFINISHED, "unfinished")                                                                \
	X(IMPLICIT_END, "implicit_end")                                                            \
	X(NOT_WORK, "not_work")                                                                    \
	X(ASIDE, "aside")

struct ut_event {
	uint64_t ts;    /* ns */
	uint64_t val;   /* see UT_KIND_LIST */
	uint32_t name;  /* string id */
	uint32_t cat;   /* string id: ITT domain, category; 0 = none */
	uint32_t track; /* index into the trace's tracks */
	uint32_t args;  /* index of the first argument in the trace's arguments; 0 = none */
	uint8_t kind;   /* enum ut_kind */
	uint8_t flags;  /* enum ut_event_flag */
	uint8_t reserved[2];
	uint32_t row; /* while a store is sent: its row on the track, modulo 2^32; else 0 */
};

_Static_assert(sizeof(struct ut_event) == 40, "the event is 40 bytes; see docs/formats/event.md");

#endif
