/*
 * state.h - the state of one import, shared by its three parts.
 *
 * 1. scan (reader.c): one look at every record. Definitions go to the tables; each stretch of
 *    records by one thread becomes a part; what has to be joined across threads is noted.
 * 2. threads (thread.c): one thread after the other, one part at a time: begins and ends are paired
 *    and handed to the sink in the order of the begins.
 * 3. cross (cross.c): what is joined by id and time, whichever thread it came from.
 */
#ifndef UT_IMPORT_SPOOL_STATE_H
#define UT_IMPORT_SPOOL_STATE_H

#include "base/idmap.h"
#include "import/spool/backend_data.h"
#include "import/spool/commands.h"
#include "import/spool/tables.h"
#include "model/event.h"
#include "model/trace.h"

struct ut_sink;

/* What one thread wrote into one chunk, from one UT_REC_THREAD to the next. */
struct ut_spool_part {
	uint32_t thread;
	uint32_t number; /* of the thread's parts; a gap was overwritten. 0 = not numbered */
	uint64_t ticks;  /* when it starts */
	const uint64_t *begin, *end;
};

/* A record that matters beyond its thread. */
struct ut_spool_note {
	uint64_t ticks;
	uint32_t thread;
	struct ut_spool_rec rec;
	bool used;
};

/* One end of a flow: bound to the task that this thread began at this time. */
struct ut_spool_flow {
	uint64_t begin; /* ticks */
	uint32_t thread;
	bool out;
	uint32_t relation;
	uint64_t number;
};

/* An instance of an id that somebody refers to, or a moment inside a task. */
struct ut_spool_place {
	uint64_t key;   /* hash of the id; call id of a stitch */
	uint64_t ticks; /* when the reference was made, or the instance began */
	uint64_t begin; /* of the task, ticks */
	uint32_t thread;
	uint32_t relation; /* of a reference from here to key */
	uint64_t head;     /* hash of the id it starts from; 0 = from this place */
};

/* What an id, or a lock, is called and belongs to from a moment on. */
struct ut_spool_group {
	uint64_t key; /* hash of the id; lock << 1 */
	uint64_t ticks;
	uint64_t parent; /* hash of an id; 0 = none */
	uint32_t name;
};

/* Places of tasks by what they belong to: keys of ids are odd. */
static inline uint64_t ut_spool_children(uint64_t key)
{
	return key & ~1ull;
}

/* A span that belongs to no thread: placed on a lane where it nests (cross). */
struct ut_spool_late {
	uint64_t begin, end; /* ns */
	uint32_t lane;       /* string id: what the lane is called */
	uint32_t name, cat;
	uint8_t flags, role; /* enum ut_track_role of the lane; 0 = any */
	uint32_t order;      /* of two with the same bounds, the higher is the outer */
	uint32_t arg_count;
	const struct ut_arg *args; /* a copy in the trace's arena */
};

/* A piece of work of a device, a call told of afterwards, or a value of a device's counter. */
struct ut_spool_work {
	uint64_t start, end; /* ns */
	uint32_t place;      /* number of the queue, or of the counter's device; tid of a call */
	uint32_t task;       /* of a call: string id of the task around it; 0 = none */
	uint32_t instance;   /* of a kernel: its number, if any was measured; 0 = none */
	struct ut_spool_rec rec;
};

/* Words of UT_REC_WORK that others need than device.c. */
#define UT_WORK_WORD_KIND        1
#define UT_WORK_WORD_CORRELATION 6

/* A call that submitted something. */
struct ut_spool_submit {
	uint64_t correlation, ticks;
	uint32_t thread;
};

/* The relation between a call and what it submitted, behind those of ITT. */
#define UT_RELATION_SUBMITS 8u

struct ut_spool_live;
struct ut_spool_cross;

struct ut_spool_import {
	const char *path;
	struct ut_spool_live *live; /* the recording is followed while it grows; NULL = it is not */
	struct ut_spool_map map;
	struct ut_spool_tables tables;
	struct ut_trace *trace;
	struct ut_sink *sink;
	uint64_t last;        /* ticks of the last record of all, or of the end of the process */
	uint64_t lived_after; /* ticks of it that lie behind the last record */
	bool end_seen, detached, joined; /* joined: tasks are referred to by id or stitched */
	UT_VEC(struct ut_spool_part) parts;
	UT_VEC(struct ut_spool_note) notes; /* frames, overlapped, regions, heap, control, marks */
	UT_VEC(struct ut_spool_note) metas; /* arguments for an id that is no open task */
	UT_VEC(struct ut_spool_late) late;
	UT_VEC(struct ut_spool_place) places;     /* where tasks with an id in wanted began */
	UT_VEC(struct ut_spool_place) references; /* relations and stitches */
	UT_VEC(struct ut_spool_flow) flows;       /* sorted by thread, begin */
	UT_VEC(struct ut_spool_work) works;
	UT_VEC(struct ut_spool_submit) submits;
	uint32_t apis_seen[8]; /* numbers of names of the latest runtimes called */
	struct ut_spool_backend_data backend_data;
	struct ut_spool_memory memory;
	uint64_t device_flows;         /* arrows from calls to work */
	struct ut_idmap flow_of_call;  /* correlation -> number of its next flow */
	struct ut_idmap works_of_call; /* correlation -> pieces of work, until arrows are sent */
	struct ut_idmap readable;      /* string id of a kernel -> that of its name demangled */
	struct ut_idmap task_of_call;  /* correlation -> string id of the task around it */
	struct ut_idmap zone_of_call;  /* correlation -> place of the function around it */
	struct ut_spool_commands sycl;
	uint64_t instances;             /* numbers given to overlapping spans */
	struct ut_idmap overlap_tracks; /* track -> its track for overlapping spans, each + 1 */
	struct ut_idmap wanted;         /* hashes of ids that relations name */
	UT_VEC(struct ut_spool_group) groups; /* after the scan sorted by key, ticks */
	uint32_t object_name;                 /* string id */
	struct ut_idmap last_group;           /* scan: key -> latest in groups, index + 1 */
};

/* Hash of the id whose first part is word i, its parts step words apart. 0 = no id. */
uint64_t ut_spool_id(const struct ut_spool_rec *r, size_t i, size_t step);

/* Appends the arguments that a record holds to the list that is being made. */
void ut_spool_args_id(struct ut_spool_import *im, const char *key, const struct ut_spool_rec *r,
		      size_t i, size_t step);
void ut_spool_args_parent(struct ut_spool_import *im, const struct ut_spool_rec *r, size_t i,
			  size_t step, uint64_t ticks);
void ut_spool_args_meta(struct ut_spool_import *im, const struct ut_spool_rec *r);
void ut_spool_args_text(struct ut_spool_import *im, const char *key, uint32_t string);
void ut_spool_args_source(struct ut_spool_import *im, uint32_t place); /* file, line */
void ut_spool_args_pointer(struct ut_spool_import *im, const char *key, uint64_t address);

/* Moves the list that began at mark into the arena, for a span that is handed on later. */
void ut_spool_keep_args(struct ut_spool_import *im, struct ut_spool_late *late, size_t mark);

/* OpenMP: the lane that its frames share, or 0 for other domains; its metadata in words. */
uint32_t ut_spool_omp_lane(struct ut_spool_import *im, uint32_t domain);
bool ut_spool_omp_meta(struct ut_spool_import *im, const struct ut_spool_rec *r);

/* Names of ids: ut_spool_add_group while scanning, the rest after ut_spool_sort_groups. */
void ut_spool_add_group(struct ut_spool_import *im, const struct ut_spool_group *g);
void ut_spool_amend_group(struct ut_spool_import *im, const struct ut_spool_group *g);
void ut_spool_sort_groups(struct ut_spool_import *im);
const struct ut_spool_group *ut_spool_group(const struct ut_spool_import *im, uint64_t key,
					    uint64_t ticks);
/* Of items of this size that begin with key and ticks, and are sorted by them: the key's latest by
 * then, else its first to come, else NULL. */
const void *ut_spool_by_then(const void *items, size_t count, size_t size, uint64_t key,
			     uint64_t ticks);
uint32_t ut_spool_group_name(const struct ut_spool_import *im, uint64_t key, uint64_t ticks);
uint64_t ut_spool_group_parent(const struct ut_spool_import *im, uint64_t key, uint64_t ticks);

/* Closes the list that began at mark and hangs it on the event. */
void ut_spool_close_args(struct ut_spool_import *im, struct ut_event *e, size_t mark);

/* The same, sends the event, forgets the list. */
void ut_spool_send(struct ut_spool_import *im, struct ut_event *e, size_t mark);

/* A counter value, a marker, a histogram, a module: one event that needs nothing else. */
void ut_spool_send_single_event(struct ut_spool_import *im, uint32_t track, uint64_t ticks,
				const struct ut_spool_rec *r);

/* Where spans of this track go that overlap each other, and the number of the next of them. */
uint32_t ut_spool_overlap_track(struct ut_spool_import *im, uint32_t track);
uint64_t ut_spool_next_instance(struct ut_spool_import *im);

/* What was measured about the clock of the host, if there is something beside the recording. */
void ut_spool_clock_fact(struct ut_trace *trace, uint32_t process, const char *spool);

/* Devices: what the scan notes, and what is said about a call or a piece of work. */
void ut_spool_add_work(struct ut_spool_import *im, const struct ut_spool_rec *r);
void ut_spool_add_submit(struct ut_spool_import *im, uint32_t thread, uint64_t ticks,
			 const struct ut_spool_rec *r);
void ut_spool_args_facts(struct ut_spool_import *im, const struct ut_spool_rec *r, size_t first);

#endif
