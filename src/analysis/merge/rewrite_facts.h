/*
 * rewrite_facts.h - what has to be known about a Chrome trace before it can be merged with others:
 * its processes, the numbers that pair its events, its clock, and what it says about itself.
 *
 * Small, whatever the size of the file: a trace has few processes. Owner: whoever releases it.
 */
#ifndef UT_MERGE_REWRITE_FACTS_H
#define UT_MERGE_REWRITE_FACTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hashtab.h"
#include "base/json.h"
#include "base/str.h"

/* A piece of ut_facts.text; len 0 = none. */
struct ut_facts_text {
	uint32_t at, len;
};

struct ut_facts_process {
	struct ut_facts_text pid;   /* see ut_facts_pid() */
	struct ut_facts_text name;  /* of its process_name: JSON text without quotes */
	struct ut_facts_text host;  /* JSON text without quotes */
	int32_t rank;               /* -1 = unknown */
	bool named, sorted, placed; /* name, sort_index, realtime are known */
	int64_t sort_index;
	int64_t realtime; /* ns to add to its times for the time since the epoch */
};

/* A member of the object around the events: its raw key, its value as JSON without blanks. */
struct ut_facts_member {
	struct ut_facts_text key, value; /* no value: it was too large */
};

struct ut_facts {
	struct ut_buf text;
	struct ut_facts_process *processes; /* in the order of their first events */
	uint32_t process_count;
	size_t process_cap;
	struct ut_hashtab by_pid; /* index + 1 */
	struct ut_facts_member *members;
	uint32_t member_count;
	size_t member_cap;
	uint64_t events;
	uint64_t bytes;             /* of text */
	uint64_t size, mtime;       /* of the file: is it still the same when it is copied? */
	int64_t first, last;        /* times in ns; first > last: there are none */
	uint64_t id_first, id_last; /* numbers that pair events; first > last: there are none */
	bool id_texts;              /* some ids are none that ut_rewrite_id() takes */
	bool samples;               /* there are some, which cannot be merged as text */
	bool placed;                /* base is known */
	bool clean;                 /* strict JSON: may be copied without a second look */
	int64_t base;               /* baseTimeNanoseconds */
	int32_t rank;               /* of the file as a whole; -1 = unknown */
};

/* Where repairs are told: "offset N: what". */
struct ut_facts_opts {
	void (*warn)(void *ctx, const char *path, const char *text);
	void *ctx;
	_Atomic uint64_t *progress; /* bytes of the file are added; may be NULL */
};

/* Reads the whole file once. On failure there is nothing to release. */
int ut_facts_read(struct ut_facts *f, const char *path, const struct ut_facts_opts *opts,
		  struct ut_err *err) UT_MUST_CHECK;
void ut_facts_release(struct ut_facts *f);

struct ut_facts_recent;
struct ut_rewrite_walk;

/*
 * The same in steps, for who walks over the file anyway: start, each item of the walk that is no
 * end, finish at the end.
 */
void ut_facts_start(struct ut_facts *f);
void ut_facts_note(struct ut_facts *f, struct ut_facts_recent *recent,
		   const struct ut_rewrite_walk *w, bool event);
void ut_facts_finish(struct ut_facts *f, const struct ut_rewrite_walk *w);

/*
 * How a pid is known: 17 and "17" are the same, text keeps its quotes, none is 0. Points into the
 * event or to constant text; eight bytes can be read there.
 */
struct ut_str ut_facts_pid(struct ut_str value);

/* The processes of the last few events, which are likely to be those of the next. Zeroed: none. */
struct ut_facts_recent {
	struct {
		uint64_t pid;     /* its bytes */
		uint32_t process; /* index + 1; 0 = not known yet */
	} slots[16];
};

/* Where the process of this pid is remembered; NULL: pids as long as this are not. */
static inline uint32_t *ut_facts_recall(struct ut_facts_recent *r, struct ut_str pid)
{
	uint64_t bytes;
	size_t i;

	if (pid.len - 1 >= sizeof(bytes))
		return NULL;
	memcpy(&bytes, pid.ptr, sizeof(bytes));
	bytes &= UINT64_MAX >> (64 - 8 * pid.len);
	i = bytes * UINT64_C(0x9e3779b97f4a7c15) >> 60;
	if (r->slots[i].pid != bytes) {
		r->slots[i].pid = bytes;
		r->slots[i].process = 0;
	}
	return &r->slots[i].process;
}

/* The process of this pid, NULL if it has no event. */
struct ut_facts_process *ut_facts_find(const struct ut_facts *f, struct ut_str pid);

/* The value of a member, {NULL, 0} if there is none. */
struct ut_str ut_facts_member(const struct ut_facts *f, const char *key);

/* The value of a member of an object in JSON text, {NULL, 0} if there is none. */
struct ut_str ut_facts_inside(struct ut_str object, const char *key);

static inline struct ut_str ut_facts_span(const struct ut_facts *f, struct ut_facts_text t)
{
	return (struct ut_str){ t.len ? f->text.data + t.at : "", t.len };
}

/* To bytes and back, for other ranks. The bytes are our own: only their length is checked. */
void ut_facts_pack(const struct ut_facts *f, struct ut_buf *out);
int ut_facts_unpack(struct ut_facts *f, const char **at, const char *end) UT_MUST_CHECK;

/* Kinds of events whose "id" pairs them across processes: flows, asynchronous ones, memory dumps.
 */
bool ut_facts_pairs(struct ut_str ph);

#endif
