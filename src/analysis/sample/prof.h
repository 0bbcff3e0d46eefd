/*
 * prof.h - samples of stores, reduced to a tree: who called whom, and how much was spent there.
 *
 * A sample has a weight, in ns of CPU time or in whatever it counts. Self of a node is the weight
 * of samples that ended there, total that of samples that passed through it as well. A node is a
 * frame (a function, and the line where it is) below the node that called it; everything else is
 * made from this tree: tables (hotspots.h), trees (call_tree.h), pictures.
 *
 * Stores may come and go, one after the other: strings are copied. Samples of devices are somebody
 * else's (metrics/stall.h). Owner: the caller. One thread.
 */
#ifndef UT_SAMPLE_PROF_H
#define UT_SAMPLE_PROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hashtab.h"
#include "model/strtab.h"

struct ut_filter;
struct ut_sample_seen;
struct ut_store;

/* Texts are ids in the strings of the profile; 0 = unknown. */
struct ut_prof_frame {
	uint32_t function, module, file;
	uint32_t line;
	uint64_t address; /* offset in the module; 0 unless the profile has addresses */
};

struct ut_prof_node {
	uint32_t parent; /* number; 0 = it was called by nobody */
	uint32_t frame;  /* index */
	uint64_t self, total;
	uint64_t samples; /* that ended here */
};

/* What samples are told apart by beside their stacks. */
enum ut_prof_group_kind {
	UT_GROUP_THREAD,
	UT_GROUP_TASK,
	UT_GROUP_PROCESS,
	UT_GROUPS,
};

struct ut_prof_group {
	uint32_t name;    /* 0 = outside any task */
	uint32_t process; /* its name; 0 = none */
	uint64_t id;      /* of a thread or process */
	uint64_t weight, samples;
	uint64_t total; /* after settle; of a task: with the tasks inside it */
};

struct ut_prof_groups {
	struct ut_prof_group *items;
	size_t count, cap;
	struct ut_hashtab by_key;
};

/* A task inside another one: what was open at a sample is a path from the outside inwards. */
struct ut_prof_path {
	uint32_t parent; /* number; 0 = outside any task */
	uint32_t group;  /* index in the groups of tasks */
	uint64_t weight; /* of samples that had this one innermost */
};

/* Which samples; zeroed: all of the event that counts CPU time, or else of the most frequent. */
struct ut_prof_opts {
	const struct ut_filter *filter; /* threads, processes, time; NULL = all */
	const char *event;              /* the name of what was sampled */
	const char *task;               /* pattern: only samples inside tasks of this name, however
					   deep */
	const char *function;           /* pattern: only samples with it on their stack */
	bool addresses;                 /* tell frames of one line apart by their address */
	/* only samples that it wants; NULL = all. Strings and track are the store's. */
	bool (*wanted)(void *ctx, const struct ut_sample_seen *s);
	void *ctx;
};

#define UT_PROF_WAITS 16u

/* What all threads did, where the recording tells and nothing is filtered; ns. */
struct ut_prof_did {
	bool known;
	uint64_t ran, waited, ready;
	uint32_t mostly; /* what a first thread was seen to wait for most of the time; 0 = not known
			  */
	struct {
		uint32_t name;
		uint64_t ns;
	} waits[UT_PROF_WAITS]; /* what for; ns 0 = not known of any more */
};

struct ut_prof {
	struct ut_prof_opts opts;
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_prof_frame *frames;
	size_t frame_count, frame_cap;
	struct ut_hashtab frame_by_key;
	struct ut_prof_node *nodes; /* node 0 is around all; callers before what they call */
	size_t node_count, node_cap;
	struct ut_hashtab node_by_key;
	struct ut_prof_groups groups[UT_GROUPS];
	struct ut_prof_path *paths; /* of tasks; path 0 is outside any */
	size_t path_count, path_cap;
	struct ut_hashtab path_by_key;
	uint32_t event;   /* what was sampled */
	uint64_t weight;  /* of all samples */
	uint64_t samples; /* how many */
	uint64_t other;   /* samples of other events */
	uint64_t span;    /* ns from the first sample to the last, the longest of all stores */
	uint64_t elapsed; /* ns that the longest of all traces lasts */
	struct ut_prof_did did;
	uint64_t none;      /* CPU time without a sample: part of the weight */
	uint32_t none_path; /* of tasks: what it counts to; 0 = there is none */
	/* functions, wherever in them */
	uint32_t *function_of;           /* by frame: index of a function */
	struct ut_prof_frame *functions; /* without file and line */
	size_t function_count, function_cap;
	uint32_t *first_child, *next_child; /* by node; 0 = none: for walks */
	uint8_t *name_parts;                /* by string, of functions: enum ut_name_part */
};

void ut_prof_init(struct ut_prof *p, const struct ut_prof_opts *opts);
void ut_prof_release(struct ut_prof *p);

/* The samples of one more store; totals and functions are there after ut_prof_finalize(). */
void ut_prof_add(struct ut_prof *p, const struct ut_store *store);
void ut_prof_finalize(struct ut_prof *p);

/* What weights are: "ns", "bytes", or "" for a plain number of events. */
const char *ut_prof_unit(const struct ut_prof *p);

static inline struct ut_str ut_prof_text(const struct ut_prof *p, uint32_t string)
{
	return ut_strtab_get(&p->strings, string);
}

/* Does a name fit a pattern: as a whole, without the parameters that C++ shows, or without template
 * arguments as well? */
bool ut_prof_matches(const struct ut_prof *p, uint32_t name, const char *pattern);

/* Is the frame a line of a script, not of something compiled? */
bool ut_prof_is_script(const struct ut_prof *p, const struct ut_prof_frame *f);

/* Is it no function, but CPU time without a sample? */
bool ut_prof_is_none(const struct ut_prof *p, const struct ut_prof_frame *f);

/* Every node below node 0 once, callers before and after what they call. After settle. */
void ut_prof_walk(const struct ut_prof *p, void (*enter)(void *ctx, uint32_t node),
		  void (*leave)(void *ctx, uint32_t node), void *ctx);

static inline uint32_t ut_prof_function(const struct ut_prof *p, uint32_t node)
{
	return p->function_of[p->nodes[node].frame];
}

static inline const struct ut_prof_frame *ut_prof_frame_of(const struct ut_prof *p, uint32_t node)
{
	return &p->frames[p->nodes[node].frame];
}

#endif
