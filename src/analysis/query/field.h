/*
 * field.h - what can be asked about an event: the columns of slice, instant, counter, sample
 * and event.
 *
 * A field is known for a whole track (thread, process, trace), for a whole type of events (name,
 * category), or for each row. The first two are looked at once per track and type, however many
 * rows there are.
 */
#ifndef UT_QUERY_FIELD_H
#define UT_QUERY_FIELD_H

#include "query/traces.h"

enum ut_field {
	/* row */
	UT_FIELD_ID,
	UT_FIELD_TS,
	UT_FIELD_DUR,
	UT_FIELD_SELF,
	UT_FIELD_END,
	UT_FIELD_DEPTH,
	UT_FIELD_PARENT,
	UT_FIELD_UNFINISHED,
	UT_FIELD_VALUE,
	UT_FIELD_CALLSITE,
	UT_FIELD_WEIGHT,
	UT_FIELD_ARG_SET,
	UT_FIELD_ARGS,
	/* type */
	UT_FIELD_NAME,
	UT_FIELD_CAT,
	UT_FIELD_NAME_ID,
	UT_FIELD_CAT_ID,
	UT_FIELD_KIND,
	UT_FIELD_ASYNC,
	UT_FIELD_NOT_WORK,
	UT_FIELD_SCOPE,
	UT_FIELD_INSTANT,
	UT_FIELD_WEIGHT_UNIT,
	/* track */
	UT_FIELD_TRACE,
	UT_FIELD_TRACK,
	UT_FIELD_UTID,
	UT_FIELD_TID,
	UT_FIELD_UPID,
	UT_FIELD_PID,
	UT_FIELD_TRACK_NAME,
	UT_FIELD_THREAD_NAME,
	UT_FIELD_PROCESS_NAME,
	UT_FIELD_RANK,
	UT_FIELD_UNIT,
	UT_FIELD_COUNT
};

enum ut_level {
	UT_LEVEL_ROW,
	UT_LEVEL_TYPE,
	UT_LEVEL_TRACK,
};

static inline enum ut_level ut_field_level(enum ut_field f)
{
	return f < UT_FIELD_NAME    ? UT_LEVEL_ROW
	       : f < UT_FIELD_TRACE ? UT_LEVEL_TYPE
				    : UT_LEVEL_TRACK;
}

/* Is the column declared TEXT? */
bool ut_field_is_text(enum ut_field f);

/* Of a field of level type. */
struct ut_datum ut_field_of_type(const struct ut_qtrace *trace, uint32_t type, enum ut_field f);

/* Of a field of level track. */
struct ut_datum ut_field_of_track(const struct ut_traces *t, const struct ut_qtrack *track,
				  enum ut_field f);

/* Of ID, TS, DUR, SELF, END, DEPTH, PARENT (-1 = lies in no span); others give 0. */
int64_t ut_field_of_row(const struct ut_traces *t, const struct ut_place *p, enum ut_field f);

/* Has the slice no end of its own, so that it is shown up to the last event? */
bool ut_field_unfinished(const struct ut_traces *t, const struct ut_place *p);

/* "span", "instant", ... */
struct ut_str ut_field_kind_name(uint8_t kind);

#endif
