/*
 * trace.h - what the events of a trace refer to: strings, processes, tracks, arguments.
 *
 * A trace is filled by an importer and read by analyses and exporters; events themselves flow
 * past (see sink.h) or are kept by whoever needs them. Owner: the caller of ut_trace_init();
 * everything inside lives in the trace's arena. Not thread-safe.
 */
#ifndef UT_MODEL_TRACE_H
#define UT_MODEL_TRACE_H

#include "base/arena.h"
#include "base/str.h"
#include "model/argument.h"
#include "model/place.h"
#include "model/stacks.h"
#include "model/strtab.h"

struct ut_arrows;

enum ut_track_type {
	UT_TRACK_THREAD,  /* id = OS thread id */
	UT_TRACK_LANE,    /* spans that belong to no thread: frames, clock domains, user tracks */
	UT_TRACK_ASYNC,   /* overlapping spans, paired by number */
	UT_TRACK_COUNTER, /* one counter; name and unit say which */
};

struct ut_process {
	uint64_t pid;
	uint32_t pid_text; /* string id: the id as JSON if it is no uint64_t ("gpu 0", -1); 0 = pid
			    */
	uint32_t name;     /* string id: what the program is called */
	uint32_t host;     /* string id */
	uint32_t cmdline;  /* string id; 0 = unknown */
	int32_t rank;      /* -1 = not part of a parallel job */
	int32_t sort_index;
	uint32_t args; /* what else was said about the process as a whole; 0 = nothing */

	/* what it stands for */
	uint8_t kind;        /* enum ut_process_kind */
	uint8_t device_type; /* enum ut_device_type */
	uint8_t guessed;     /* by classify.c from names, and can be again */
	uint8_t reserved;
	struct ut_api_id api; /* of a device: the runtime through which it was used */
	uint32_t model;       /* of a device: string id, as its maker calls it: "NVIDIA H200" */
	int32_t device;       /* its number, as the program counts them; -1 = it is none */
	int32_t sub_device;   /* -1 = all of it */
	uint32_t title;       /* of a device: string id, if people know it by another name */
};

_Static_assert(sizeof(struct ut_process) == 64, "no holes: processes are compared as bytes");

struct ut_track {
	uint32_t process; /* index into processes */
	uint32_t name;    /* string id; 0 = unnamed */
	uint32_t unit;    /* counters: string id; 0 = none */
	uint32_t args;    /* what was said about the track as a whole; 0 = nothing */
	uint32_t id_text; /* string id: the id as JSON if it is no uint64_t; 0 = id */
	uint32_t base;    /* counters: string id, see ut_trace_name_counter(); 0 = name */
	uint64_t id;      /* thread id, or a number that is unique in its process */
	int32_t sort_index;
	enum ut_track_type type;

	/* what it stands for */
	struct ut_api_id api; /* of calls: the runtime that was called */
	uint32_t thread;      /* of calls: OS id of the thread that made them */
	uint8_t role;         /* enum ut_track_role, if its type does not say enough */
	uint8_t guessed;      /* as of processes */
	uint8_t reserved[2];
};

/* What went wrong while recording or reading; each is told to the user, none is hidden. */
#define UT_LOSSES_LIST(X)                                                                          \
	X(dropped, "records that found no room: disk full, out of memory")                         \
	X(overwritten, "chunks that the flight recorder has reused")                               \
	X(torn, "records whose writer was killed before it finished them")                         \
	X(stray_ends, "ends without a begin")                                                      \
	X(implicit_ends, "spans that ended because an outer one did")                              \
	X(unfinished, "spans that never ended")                                                    \
	X(unknown, "records of a kind that this version does not know")                            \
	X(ignored, "calls of threads that asked to be ignored")                                    \
	X(unread, "pieces of another tool's file that are damaged, or refer to what is lost")      \
	X(seen_ends, "unfinished spans that last until their process ended, which was seen")

enum {
#define UT_LOSSES_ONE(name, text) +1
	UT_LOSSES = 0 UT_LOSSES_LIST(UT_LOSSES_ONE)
#undef UT_LOSSES_ONE
};

struct ut_losses {
	union {
		struct {
#define UT_LOSSES_MEMBER(name, text) uint64_t name;
			UT_LOSSES_LIST(UT_LOSSES_MEMBER)
#undef UT_LOSSES_MEMBER
		};
		uint64_t all[UT_LOSSES]; /* the same, in the order of the list */
	};
};

extern const char *const ut_losses_names[UT_LOSSES];

/* a += b */
void ut_losses_add(struct ut_losses *a, const struct ut_losses *b);

/* The count of that name; NULL if there is none. */
uint64_t *ut_losses_called(struct ut_losses *l, const char *name, size_t len);

struct ut_trace {
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_stacks stacks; /* of samples */
	struct ut_process *processes;
	size_t process_count, process_cap;
	struct ut_track *tracks;
	size_t track_count, track_cap;
	struct ut_arg *args; /* args[0] is an empty list */
	size_t arg_count, arg_cap;
	uint32_t global_args;    /* what was said about the trace as a whole */
	uint32_t file_args;      /* what a foreign file says about itself, key by key, as JSON */
	int64_t realtime_offset; /* add to ts for ns since the epoch; 0 = unknown */
	int64_t boottime_offset; /* add to ts for CLOCK_BOOTTIME */
	uint64_t clock_error;    /* bound of the clock's own error, ns; 0 = unknown */
	uint64_t first, last;    /* ns; the first and last sign of life */
	struct ut_losses losses;
	unsigned int percent; /* of a recording that has been handed on, for those who wait */
	uint32_t *notes;      /* string ids: what whoever recorded has to say to the user */
	const struct ut_arrows *arrows; /* of the rows of a store that is sent, if asked for */
	size_t note_count, note_cap;
	uint32_t *calls; /* string ids: categories of calls, see ut_classify_add_calls() */
	size_t call_count;
	uint32_t *unwanted; /* string ids: domains that a filter kept out of the recording */
	size_t unwanted_count, unwanted_cap;
};

void ut_trace_init(struct ut_trace *t);
void ut_trace_release(struct ut_trace *t);

/* The index of a new process or track; fields other than those given are zero, rank, device and
 * sub_device are -1. */
uint32_t ut_trace_add_process(struct ut_trace *t, uint64_t pid);
uint32_t ut_trace_add_track(struct ut_trace *t, uint32_t process, enum ut_track_type type);

/* What a recording says about the program that it is of. */
struct ut_trace_program {
	uint64_t pid;
	int32_t rank; /* -1: none */
	struct ut_str name, host, cmdline;
};

uint32_t ut_trace_add_program(struct ut_trace *t, const struct ut_trace_program *of);

/* Facts about a process: arguments of its own, each a JSON object. An empty text: there is none. */
void ut_process_add_fact(struct ut_trace *t, uint32_t process, const char *key, struct ut_str json);
struct ut_str ut_process_fact(const struct ut_trace *t, const struct ut_process *p,
			      const char *key);

/* The fact about how a process ended, if that was seen and it failed, or is a rank of a job. */
#define UT_PROCESS_ENDED "ended"         /* {"exit":3} or {"signal":11} */
#define UT_PROCESS_AFTER "after_last_ns" /* in it, if known: how long after its last record */

/* "exit status 3", "signal 11 (Segmentation fault)"; false if nothing is known, or it succeeded. */
/* What waitpid() says of a process, unless that is known; after: as ut_process_after() gives it. */
void ut_process_add_end(struct ut_trace *t, uint32_t process, int status, uint64_t after);
bool ut_process_failure(const struct ut_trace *t, const struct ut_process *p, struct ut_buf *b);
bool ut_process_succeeded(const struct ut_trace *t, const struct ut_process *p);
/* How long such a process lived after its last record, in ns; 0: that is not known. */
uint64_t ut_process_after(const struct ut_trace *t, const struct ut_process *p);

/*
 * A counter of several series, or one of several that differ by their id, is told from its like by
 * its name alone, whoever shows it: "BASE id: ID SERIES", with the track's id_text and its unit.
 * base keeps the name without these, for formats that have places for each. What has no name at all
 * gets none.
 */
void ut_trace_name_counter(struct ut_trace *t, uint32_t track, uint32_t base);

void ut_trace_add_note(struct ut_trace *t, uint32_t text);
void ut_trace_add_unwanted(struct ut_trace *t, uint32_t domain);

/*
 * Arguments are appended one by one and closed: index = arg_count before the first add. Indices
 * stay valid until ut_trace_drop_args() cuts the array back to mark.
 */
struct ut_arg *ut_trace_add_arg(struct ut_trace *t, uint32_t key, enum ut_arg_type type);
void ut_trace_close_args(struct ut_trace *t);
void ut_trace_drop_args(struct ut_trace *t, size_t mark);

#endif
