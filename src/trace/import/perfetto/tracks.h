/*
 * tracks.h - the tracks of the file, and what they are in the model.
 *
 * A track may be referred to before it is described, by events or as a parent. Threads and counters
 * have a track of the model as soon as they are known; for others see lanes.c. The model
 * knows no tracks inside of tracks: a track below another is called "OUTER / INNER".
 */
#ifndef UT_IMPORT_PERFETTO_TRACKS_H
#define UT_IMPORT_PERFETTO_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "import/perfetto/protobuf.h"
#include "model/place.h"

struct ut_pf;
struct ut_pf_seq;

/* Our exporter's word for spans of a thread that overlap: they return to their thread. */
#define UT_PF_OVERLAP " (overlap)"

enum ut_pf_track_kind {
	UT_PF_UNKNOWN, /* somebody refers to it, nobody has described it */
	UT_PF_LANE,
	UT_PF_PROCESS,
	UT_PF_THREAD,
	UT_PF_COUNTER,
};

/* A track with a uuid, or a thread or lane that the file knows otherwise. */
struct ut_pf_track {
	uint64_t uuid, parent; /* 0 = none; uuid 0 is the track of the trace itself */
	uint64_t lane;         /* we say which lane it is: that of this uuid; 0 = its name does */
	uint32_t process;      /* index + 1; 0 = that of its parent */
	uint32_t name;         /* string id */
	uint32_t unit;         /* counters: string id */
	uint32_t model;        /* index of the model's track + 1; 0 = none yet */
	uint32_t counter;      /* the same for its counter values */
	uint32_t next;         /* while lanes are made: the next track of the same lane + 1 */
	uint32_t bare;         /* counters of ours: string id, base of struct ut_track */
	uint32_t id_text;      /* the same: string id */
	uint32_t args;         /* what is said about it: a list of the trace's; 0 = nothing */
	int32_t rank;
	struct ut_api_id api; /* what it stands for: see struct ut_track */
	uint32_t thread;
	uint8_t role;       /* enum ut_track_role; 0 = not said */
	uint8_t kind;       /* enum ut_pf_track_kind */
	bool incremental;   /* counter: values are differences */
	bool async;         /* we say that its spans may overlap */
	uint32_t epoch;     /* of the sequence that base belongs to */
	int64_t base;       /* incremental: the latest value */
	int64_t multiplier; /* counter: of all values */
};

struct ut_pf_tracks {
	struct ut_pf_track *items;
	size_t count, cap;
	struct ut_idmap by_uuid;   /* -> index + 1 */
	uint64_t last_uuid;        /* events of one track come in runs... */
	uint32_t last;             /* ... this one, index + 1 */
	struct ut_idmap by_pid;    /* -> process index + 1 */
	struct ut_idmap by_thread; /* process and tid -> index + 1 */
	struct ut_idmap by_tid;    /* -> index + 1: the latest thread with that id */
	struct ut_idmap by_id;     /* lanes that are known by a number of some kind -> index + 1 */
	uint32_t home;             /* the process of what belongs to none: index + 1 */
};

/* Indices, since the arrays move; what is not there yet is made. */
uint32_t ut_pf_track(struct ut_pf *p, uint64_t uuid);
uint32_t ut_pf_thread(struct ut_pf *p, uint32_t process, int64_t tid);
uint32_t ut_pf_process(struct ut_pf *p, int64_t pid);
uint32_t ut_pf_home(struct ut_pf *p);

/* A lane that has no uuid but is known by id, which is a hash of whatever tells it from others. */
uint32_t ut_pf_lane(struct ut_pf *p, uint64_t id, uint32_t process, uint32_t name);

uint32_t ut_pf_describe(struct ut_pf *p, struct ut_pb descriptor); /* its index */
uint32_t ut_pf_describe_process(struct ut_pf *p, struct ut_pb descriptor);
void ut_pf_describe_of_old(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb thread);
void ut_pf_process_tree(struct ut_pf *p, struct ut_pb tree);
void ut_pf_name_thread(struct ut_pf *p, uint32_t track, uint32_t name);

/* The index of the process that a track belongs to, by what is known now. */
uint32_t ut_pf_process_of(struct ut_pf *p, uint32_t track);

/* own, with the names of the tracks around it in front. */
uint32_t ut_pf_full_name(struct ut_pf *p, uint32_t track, uint32_t own);

void ut_pf_tracks_release(struct ut_pf_tracks *t);

#endif
