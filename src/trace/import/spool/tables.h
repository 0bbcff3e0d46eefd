/*
 * tables.h - what a spool defines: names, threads, counters, clocks; numbered by the
 * collector, looked up here by that number. A number that was never defined gives an empty
 * entry, never an error: the definition may have been lost with the disk.
 */
#ifndef UT_IMPORT_SPOOL_TABLES_H
#define UT_IMPORT_SPOOL_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "import/spool/records.h"
#include "model/trace.h"
#include "wire/clock.h"

/* One of the things that programs make and name; which fields count depends on what it is. */
struct ut_spool_object {
	enum ut_rec type;      /* UT_REC_NONE = not defined */
	uint32_t name, domain; /* string ids of the trace */
	uint32_t kind;  /* counter: type of the value; histogram: types; track: group number */
	uint32_t track; /* trace track + 1; 0 = not made yet */
	uint32_t api;   /* device: string id of its runtime's name; 0 = not said */
	bool side;      /* queue: a row beside the others */
	uint64_t freq, base, ticks; /* clock domains */
	int64_t total;              /* heap functions: bytes alive */
};

struct ut_spool_thread {
	uint32_t tid;
	uint32_t name;  /* string id given by the program; 0 = none */
	uint32_t comm;  /* string id given by the kernel */
	uint64_t start; /* the function that it was started with; 0 = unknown */
	uint32_t track; /* trace track + 1; 0 = not made yet */
};

/* A mapped file, to name the functions in it. */
struct ut_spool_mapping {
	uint64_t start, end, offset;
	const char *path;
};

/* A function that threads were started with. */
struct ut_spool_start {
	uint64_t address;
	const char *role; /* NULL = unknown */
};

#define UT_SPOOL_STARTS 64u /* symbols are slow, and a process has few of these functions */

/* Something said about a track as a whole. */
struct ut_spool_fact {
	uint32_t track;
	struct ut_arg arg;
};

/* A name that is a place in a source file. */
struct ut_spool_source {
	uint32_t file; /* string id; 0 = unknown: a function that is not written in the language */
	uint32_t line;
	bool known; /* else the number is no place */
};

/* A metric of a set. */
struct ut_spool_metric {
	uint32_t set, index;
	uint32_t key, title, unit; /* string ids */
	uint32_t type;             /* enum ut_value_type of unitrace/backend.h */
	uint32_t track;            /* trace track + 1; 0 = not made yet */
	uint32_t column;           /* string id "KEY[UNIT]"; 0 = not made yet */
};

/* A place in code or a stack, until all that it refers to is known. */
struct ut_spool_code {
	uint32_t id;
	struct ut_spool_rec rec;
};

struct ut_spool_tables {
	struct ut_trace *trace; /* not owned; strings go there */
	uint32_t process;       /* its process */
	uint32_t *strings;      /* spool number -> trace string + 1; 0 = not defined */
	uint32_t lost;          /* what is shown for a name that found no room */
	size_t string_cap;
	struct ut_spool_source *sources; /* spool number of a string -> its place */
	size_t source_cap;
	uint32_t *domains; /* spool number -> trace string */
	size_t domain_cap;
	struct ut_spool_thread *threads;
	size_t thread_cap;
	struct ut_spool_object *objects;
	size_t object_cap;
	struct ut_spool_mapping *mappings;
	size_t mapping_count, mapping_cap;
	struct ut_spool_fact *facts;
	size_t fact_count, fact_cap;
	struct ut_spool_metric *metrics; /* by set and index once all are known */
	size_t metric_count, metric_cap;
	struct ut_spool_code *code;
	size_t code_count, code_cap;
	struct ut_spool_start starts[UT_SPOOL_STARTS]; /* those that were looked at */
	size_t start_count;
	uint32_t main_comm;                  /* the kernel's name of the first thread */
	struct ut_spool_thread spare_thread; /* given for numbers that are out of range */
	struct ut_spool_object spare_object;
	struct ut_clock_map clock;
	uint64_t most; /* a larger number is damage: each was defined in the file */
};

void ut_spool_tables_init(struct ut_spool_tables *t, struct ut_trace *trace, uint32_t process,
			  const struct ut_spool_map *map);
void ut_spool_tables_release(struct ut_spool_tables *t);

/* Takes in a record of a META chunk. False if it is none of ours. */
bool ut_spool_tables_define(struct ut_spool_tables *t, const struct ut_spool_rec *r);

/* After the last definition: hands what was said about tracks to the trace. */
void ut_spool_tables_finalize(struct ut_spool_tables *t);

uint32_t ut_spool_string(const struct ut_spool_tables *t, uint32_t number);
uint32_t ut_spool_domain(const struct ut_spool_tables *t, uint32_t number);

/* The place behind the number of a string; NULL for one that is only a text. */
static inline const struct ut_spool_source *ut_spool_source(const struct ut_spool_tables *t,
							    uint32_t number)
{
	return number < t->source_cap && t->sources[number].known ? &t->sources[number] : NULL;
}

struct ut_spool_thread *ut_spool_thread(struct ut_spool_tables *t, uint32_t number);
struct ut_spool_object *ut_spool_object(struct ut_spool_tables *t, uint32_t number);

/* The thread's track, made at first need. */
uint32_t ut_spool_thread_track(struct ut_spool_tables *t, uint32_t number);

/* A track of this process that is not a thread's. */
uint32_t ut_spool_add_lane(struct ut_spool_tables *t, enum ut_track_type type, uint32_t name);

/* The track of a counter or a heap function. */
uint32_t ut_spool_counter_track(struct ut_spool_tables *t, struct ut_spool_object *o);

/* "group: track" of a track that the program made; 0 for none. */
uint32_t ut_spool_track_name(struct ut_spool_tables *t, uint32_t number);

static inline uint64_t ut_spool_ns(const struct ut_spool_tables *t, uint64_t ticks)
{
	return ut_clock_map_ns(&t->clock, ticks);
}

/* A time on a clock of the program's own; number 0 is our clock in ticks. */
uint64_t ut_spool_clock_ns(struct ut_spool_tables *t, uint32_t number, uint64_t time);

/* The name of the function at an address: from its file's symbols, else its address in hex. */
uint32_t ut_spool_function(struct ut_spool_tables *t, uint64_t address);

#endif
