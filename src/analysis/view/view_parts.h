/*
 * view_parts.h - what the answers share: traces, tracks and types numbered through, and their
 * places. Nobody outside of this room and of the exporter of pages includes it.
 *
 * Times here are ns from the view's beginning, unless they are called ts: those are a store's own.
 */
#ifndef UT_VIEW_VIEW_PARTS_H
#define UT_VIEW_VIEW_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/nesting.h"
#include "model/pyramid.h"
#include "model/store.h"
#include "view/attached.h"
#include "view/view.h"

struct ut_query;
struct ut_view_arrows;

#define UT_VIEW_ROWS (UINT64_C(1) << 32) /* of a track that can be told from each other */

/* What rows of a type are to tables. */
enum ut_view_class {
	UT_CLASS_NONE,     /* ends, flows, samples: no slice of their own */
	UT_CLASS_WORK,     /* spans: they nest, and have a time of their own */
	UT_CLASS_ASIDE,    /* spans that are nobody's work: frames */
	UT_CLASS_ASYNC,    /* async spans: nobody's work, too */
	UT_CLASS_MARK,     /* without length */
	UT_CLASS_SAMPLE,   /* of a profiler: drawn and found, but in no table */
	UT_CLASS_NOT_WORK, /* about the recording: drawn and found, but in no table */
};

/* What the category of a type says of its slices, see model/classify.h. */
enum ut_view_trait {
	UT_TRAIT_QUIET = 1,  /* on a queue: no work of the device, which may be idle meanwhile */
	UT_TRAIT_ITSELF = 2, /* what a tool says about itself */
};

struct ut_view_trace {
	const char *path;
	struct ut_store *store;
	struct ut_view_store *shared; /* that the store is part of; NULL = lent */
	int64_t origin;               /* ts of the view's time 0 */
	uint32_t first_track, first_type;
	const char **groups;             /* per track, NULL = it is in none; NULL = all are */
	struct ut_view_kernels *kernels; /* view_kernels.h; NULL = not asked for */
};

struct ut_view_track {
	const struct ut_view_trace *trace;
	uint32_t local; /* number in its trace */
	const struct ut_rows *rows;
	const struct ut_lanes *lanes;
	uint32_t place;                      /* that shows it */
	_Atomic(struct ut_async_end *) ends; /* of async spans; NULL until ut_view_ends() */
};

enum ut_place_kind {
	UT_PLACE_RANK,
	UT_PLACE_PROCESS,
	UT_PLACE_DEVICE,
	UT_PLACE_THREAD,
	UT_PLACE_QUEUE,
	UT_PLACE_LANE,
	UT_PLACE_ASYNC,
	UT_PLACE_COUNTER,
	UT_PLACE_GROUP,
	UT_PLACE_KINDS
};

#define UT_NO_TRACK UINT32_MAX
#define UT_NO_PLACE UINT32_MAX

/* One node of the tree of places, parents before children. */
struct ut_view_place {
	uint32_t parent, track;
	enum ut_place_kind kind;
	int32_t rank;        /* -1 = none */
	uint64_t tid, calls; /* of a thread; of a row of calls: who made them; 0 = it is none */
	double cpu;          /* of a thread: the share of a CPU that it used; below 0: not told */
	struct ut_str name, sub, unit;
};

struct ut_view_name {
	uint64_t hash;
	uint32_t number, type; /* number: plus 1; 0 = the slot is free */
};

struct ut_view {
	struct ut_arena arena;
	struct ut_view_trace *traces;
	size_t trace_count, trace_cap;
	bool paths_go; /* ut_view_paths_go() */
	struct ut_view_track *tracks;
	uint32_t track_count, type_count;
	uint8_t *classes, *traits; /* of types; enum ut_view_trait */
	uint32_t *name_of;         /* type -> number of its name, equal for equal names */
	uint32_t name_count;
	struct ut_view_place *places;
	uint32_t place_count, rank_count;
	size_t place_cap;
	uint64_t span; /* the view is [0, span) */
	int64_t start; /* ns since 1970; 0 = unknown */
	uint64_t slices, samples;
	unsigned int threads;
	struct ut_view *before; /* the run to compare with; NULL = none */
	pthread_mutex_t lock;   /* of what is made at need: ends, arrows */
	struct ut_view_arrows *arrows;
	pthread_mutex_t sql_lock; /* one query at a time */
	struct ut_query *query;
	_Atomic bool stopped;
	const char *notes; /* file; NULL = none */
	struct ut_view_attached attached;
	pthread_mutex_t sheet_lock;  /* of those that are made when they are asked for */
	bool roomy;                  /* numbers leave room for more */
	bool code;                   /* files of source and code that traces name may be read */
	struct ut_view_codes *codes; /* of kernels that were asked for */
	pthread_mutex_t state_lock;
	struct ut_view_state state; /* its texts are malloc'ed */
};

/* ---- types ---------------------------------------------------------------------------------- */

static inline uint32_t ut_view_type(const struct ut_view_track *t, uint32_t local)
{
	return t->trace->first_type + (local < t->trace->store->types.count ? local : 0);
}

const struct ut_view_trace *ut_view_trace_of_type(const struct ut_view *v, uint32_t type);
struct ut_str ut_view_type_name(const struct ut_view *v, uint32_t type);
struct ut_str ut_view_type_cat(const struct ut_view *v, uint32_t type);
uint8_t ut_view_type_flags(const struct ut_view *v, uint32_t type);

/* The first type of this name; UINT32_MAX = there is none. */
uint32_t ut_view_find_name(const struct ut_view *v, struct ut_str name);

/* ---- rows ----------------------------------------------------------------------------------- */

/* One row of a track. */
struct ut_view_row {
	const struct ut_view_track *track;
	uint64_t row, start, end;
	uint32_t type;
	uint32_t args; /* list in the store; 0 = none */
};

/* The row of an event's id; false if there is none, or it is no slice. */
bool ut_view_find(struct ut_view *v, uint64_t id, struct ut_view_row *out);
bool ut_view_row(struct ut_view *v, const struct ut_view_track *t, uint64_t row,
		 struct ut_view_row *out);

static inline uint64_t ut_view_id(const struct ut_view *v, const struct ut_view_track *t,
				  uint64_t row)
{
	return (uint64_t)(t - v->tracks) << 32 | (row & UINT32_MAX);
}

/* Where the async spans of a track end, by row. */
const struct ut_async_end *ut_view_ends(struct ut_view *v, const struct ut_view_track *t);

/* The lane that a row lies on; lanes->count if none. *entry is its place in it. */
uint32_t ut_view_lane(const struct ut_view_track *t, uint64_t row, uint64_t *entry);

/* A view's time as one of the track's store, and back; what does not fit is the nearest. */
static inline uint64_t ut_view_ts(const struct ut_view_track *t, uint64_t time)
{
	uint64_t by =
		t->trace->origin < 0 ? -(uint64_t)t->trace->origin : (uint64_t)t->trace->origin;

	if (t->trace->origin < 0)
		return time > by ? time - by : 0;
	return time + by < by ? UINT64_MAX : time + by;
}

static inline uint64_t ut_view_time(const struct ut_view_track *t, uint64_t ts)
{
	uint64_t by =
		t->trace->origin < 0 ? -(uint64_t)t->trace->origin : (uint64_t)t->trace->origin;

	if (t->trace->origin < 0)
		return ts + by < by ? UINT64_MAX : ts + by;
	return ts > by ? ts - by : 0;
}

/* ---- places --------------------------------------------------------------------------------- */

void ut_view_make_places(struct ut_view *v);

/* "rank 0 / train.py / main" */
void ut_view_path_name(const struct ut_view *v, uint32_t place, struct ut_buf *b);

/* The device around a place, or the place itself if it is one; UT_NO_PLACE = none. */
uint32_t ut_view_device_of(const struct ut_view *v, uint32_t place);

#endif
