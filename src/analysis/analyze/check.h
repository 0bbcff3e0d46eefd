/*
 * check.h - what is wrong with a trace, or looks like it.
 *
 * Looks at every row once, and at async spans and flows in pairs. Memory: one entry per type, per
 * flow and per open span. What importers have noticed already shows up through the trace's losses.
 */
#ifndef UT_ANALYZE_CHECK_H
#define UT_ANALYZE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_store;

enum ut_check_weight {
	UT_CHECK_ODD,  /* may be meant like that */
	UT_CHECK_LOST, /* information is missing or wrong */
};

/* finding, weight, its word, what it means */
#define UT_CHECK_LIST(X)                                                                           \
	X(EMPTY, ODD, "empty", "no events at all")                                                 \
	X(OVERLAP, LOST, "overlap",                                                                \
	  "spans that start inside another one of their track and end after it")                   \
	X(OVERLAP_SLIGHT, ODD, "overlap-slight", "such spans, by a microsecond at most: rounding") \
	X(OVERLAP_DEVICE, ODD, "overlap-device",                                                   \
	  "work of a device that overlaps on one queue: kernels that run at the same time")        \
	X(NEGATIVE, LOST, "negative", "spans whose length is negative or beyond 2^63 ns")          \
	X(ZERO, ODD, "zero-length",                                                                \
	  "spans of length 0 on tracks where most are: the clock is too coarse")                   \
	X(DUPLICATE, ODD, "duplicate", "spans that are there twice")                               \
	X(UNFINISHED, LOST, "unfinished", "spans that never ended")                                \
	X(IMPLICIT_END, LOST, "implicit-end", "spans that ended only with the one around them")    \
	X(STRAY_END, LOST, "stray-end", "ends without a begin")                                    \
	X(DROPPED, LOST, "dropped", "records that found no room while recording")                  \
	X(OVERWRITTEN, LOST, "overwritten", "chunks that the flight recorder has used again")      \
	X(TORN, LOST, "torn", "records whose writer was killed in the middle")                     \
	X(UNKNOWN, LOST, "unknown", "records of a kind that this version does not know")           \
	X(IGNORED, ODD, "ignored", "calls of threads that asked to be ignored")                    \
	X(UNREAD, LOST, "unread", "pieces of the file that are damaged or refer to what is lost")  \
	X(ASYNC_NO_END, LOST, "async-no-end", "async spans that never ended")                      \
	X(ASYNC_NO_BEGIN, LOST, "async-no-begin", "ends of async spans that never began")          \
	X(FLOW_NO_END, LOST, "flow-no-end", "flows that lead nowhere")                             \
	X(FLOW_NO_START, LOST, "flow-no-start", "flows that come from nowhere")                    \
	X(FLOW_BACKWARDS, ODD, "flow-backwards",                                                   \
	  "flows that arrive before they leave: clocks that do not agree")                         \
	X(FLOW_SECOND_START, LOST, "flow-second-start",                                            \
	  "starts of a flow that has started and not ended yet")                                   \
	X(FLOW_LONE_STEP, LOST, "flow-lone-step", "steps of flows that never start or end")        \
	X(FLOW_NO_SLICE, ODD, "flow-no-slice",                                                     \
	  "ends of flows that lie in no span: viewers draw no arrow there")                        \
	X(COUNTER_BAD, LOST, "counter-value", "values of counters that are no numbers")            \
	X(CLOCK_JUMP, ODD, "clock-jump",                                                           \
	  "tracks with a silence ten times as long as all the rest of them")                       \
	X(FAR_AWAY, ODD, "far-away", "tracks whose times are far away from those of the others")   \
	X(SAME_PID, ODD, "same-pid", "processes with different names and the same id")             \
	X(SAME_THREAD, ODD, "same-thread", "threads that are there twice in their process")

enum ut_check_id {
#define UT_CHECK_ENUM(id, weight, word, text) UT_CHECK_ID_##id,
	UT_CHECK_LIST(UT_CHECK_ENUM)
#undef UT_CHECK_ENUM
	UT_CHECK_COUNT
};

struct ut_check_kind {
	enum ut_check_weight weight;
	const char *word, *text;
};

extern const struct ut_check_kind ut_check_kinds[UT_CHECK_COUNT];

#define UT_CHECK_NOWHERE UINT32_MAX

struct ut_finding {
	uint64_t count;
	/* the first one; track and name are those of the store */
	uint32_t track; /* UT_CHECK_NOWHERE = there is no example */
	uint32_t name;
	uint64_t ts;
};

struct ut_check {
	const struct ut_store *store;
	struct ut_finding findings[UT_CHECK_COUNT];
};

/* The store must outlive what is read from the findings. */
void ut_check_store(struct ut_check *c, const struct ut_store *store);

/* One more of a kind; the first keeps its place. For the files of this module. */
void ut_check_note(struct ut_check *c, enum ut_check_id id, uint32_t track, uint64_t ts,
		   uint32_t name);

/* The parts of ut_check_store(). */
void ut_check_pairs(struct ut_check *c);
void ut_check_places(struct ut_check *c);

#endif
