/*
 * cpu_read.h - samples of CPUs (wire/cpu_file.h) as events: on the threads of a process that has a
 * recording of its own, or of one that has none.
 *
 *     ut_cpu_open(&c, path, trace, jit, &err)  what is in the file; places and stacks get names
 *     ut_cpu_sink(&c, process, sink)           optional: the events of the recording pass through,
 *                                              so that samples know the task they fell into
 *     ut_cpu_switched(&c, ...)                 optional: when the process was switched off and on
 *     ut_cpu_send(&c, process, sink)           samples, counters, threads
 *     ut_cpu_close(&c)
 *
 * The file is hostile input: a damaged part ends it. Memory: 24 bytes a sample, 16 a switch.
 */
#ifndef UT_IMPORT_CPU_CPU_READ_H
#define UT_IMPORT_CPU_CPU_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/idmap.h"
#include "import/cpu/cpu_pauses.h"
#include "import/cpu/cpu_waits.h"
#include "model/sink.h"
#include "wire/cpu_file.h"

struct ut_jit_code;
struct ut_trace;

/* What one look at the header tells. */
struct ut_cpu_info {
	char path[4096];
	char name[256];
	uint32_t pid;
	int32_t rank;
	uint64_t start, end; /* CLOCK_MONOTONIC ns; end 0 = open */
	uint64_t bytes;
	bool alive;
};

int ut_cpu_info(const char *path, struct ut_cpu_info *info, struct ut_err *err) UT_MUST_CHECK;

/* The file that belongs to a recording in the same folder; false if there is none. */
bool ut_cpu_beside(const char *spool_path, uint32_t pid, uint64_t start, char path[4096]);

/* Does a recording in the same folder belong to this file? Then it is read with that. */
bool ut_cpu_has_spool(const char *path);

struct ut_cpu_timestamp {
	uint64_t time;
	uint32_t tid, stack; /* of the trace */
	uint32_t weight;
	uint32_t task; /* string id; 0 = none is open */
};

struct ut_cpu_turn {
	uint64_t time;
	uint32_t tid, how;
};

/* One thread, as far as it was told of. */
struct ut_cpu_life {
	uint32_t tid;
	uint32_t name;                      /* string id; 0 = none */
	uint32_t track;                     /* index + 1; 0 = not known yet */
	uint32_t next_sample;               /* of the join: the first one that has no task yet */
	uint32_t first_sample, last_sample; /* [first, last) of the samples */
	uint32_t first_turn, last_turn;
	uint32_t first_wait, last_wait;
	uint64_t born, gone;
	uint64_t named;      /* when it got its name */
	uint64_t ran, ready; /* ns, if TIMES tell it */
	/* tasks that are open at a time */
	struct ut_cpu_open {
		uint64_t end;
		uint32_t name;
	} * open;
	size_t open_count, open_cap;
};

struct ut_cpu {
	struct ut_sink sink; /* of the join; first */
	struct ut_sink *to;
	struct ut_trace *trace;
	struct ut_cpu_header header;
	uint32_t process;
	uint64_t first, last; /* ns */
	uint64_t lost;        /* samples */
	int ended;            /* status of the process; 0 = it succeeded, or nobody knows */
	struct {
		uint64_t count, ran, time;
	} rest[UT_CPU_RESTS]; /* CPU time of those that are told of together */

	uint64_t looks; /* how often it was seen where the first thread waited, or not */
	uint64_t waits_at[UT_WAITS]; /* and what for */

	struct ut_cpu_timestamp *samples; /* by thread and time once all are there */
	size_t sample_count, sample_cap;
	struct ut_cpu_timestamp *waits; /* where threads gave up their CPUs; in the same order */
	size_t wait_count, wait_cap;
	struct ut_cpu_turn *turns;
	size_t turn_count, turn_cap;
	struct ut_cpu_counter_rec *counters;
	size_t counter_count, counter_cap;
	struct ut_cpu_life *lives;
	size_t life_count, life_cap;
	struct ut_idmap life_of_tid; /* -> index + 1 */
	struct ut_idmap life_of_track;
	struct ut_cpu_switched *switches; /* cpu_pauses.h; by time once they are settled */
	size_t switch_count, switch_cap;
	struct ut_cpu_pause *pauses;
	size_t pause_count, pause_cap;
};

/* jit: names of code that no file has, or NULL; those that were kept with the file are added. */
int ut_cpu_open(struct ut_cpu *c, const char *path, struct ut_trace *trace, struct ut_jit_code *jit,
		struct ut_err *err) UT_MUST_CHECK;
struct ut_sink *ut_cpu_sink(struct ut_cpu *c, struct ut_sink *to);
void ut_cpu_send(struct ut_cpu *c, uint32_t process, struct ut_sink *to);
void ut_cpu_close(struct ut_cpu *c); /* twice is fine */

/* Samples behind the last span get their task, too. */
void ut_cpu_join_end(struct ut_cpu *c);

/* A file alone: the process as well. */
int ut_import_cpu(const char *path, struct ut_trace *trace, struct ut_sink *sink,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
