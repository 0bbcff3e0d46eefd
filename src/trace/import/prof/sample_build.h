/*
 * sample_build.h - a store of samples under construction: what importers of other tools' profiles
 * have in common.
 *
 *     ut_sample_build_init(&b)
 *     track = ut_sample_build_thread(&b, pid, tid)        as often as a sample needs it
 *     stack = ut_sample_build_frame(&b, stack, &place)    from the outside to the inside
 *     ut_sample_build_add(&b, &sample)
 *     ut_sample_build_finish(&b, store)                   or _abandon()
 *
 * One owner, one thread.
 */
#ifndef UT_IMPORT_PROF_SAMPLE_BUILD_H
#define UT_IMPORT_PROF_SAMPLE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/str.h"
#include "import/code_names.h"
#include "model/build.h"

struct ut_sample_build {
	struct ut_build build;
	struct ut_code_names names;
	struct ut_idmap processes; /* pid -> index + 1 */
	struct ut_idmap threads;   /* tid -> index of the track + 1 */
	uint32_t task_key, weight_key;
};

struct ut_sample_added {
	uint32_t track, stack;
	uint32_t event; /* string id: what was sampled */
	uint32_t task;  /* string id; 0 = none */
	uint64_t ts, weight;
};

void ut_sample_build_init(struct ut_sample_build *b);
void ut_sample_build_finish(struct ut_sample_build *b, struct ut_store *store);
void ut_sample_build_abandon(struct ut_sample_build *b);

/* The index of a process, of the track of a thread; made if they are new. */
uint32_t ut_sample_build_process(struct ut_sample_build *b, uint64_t pid);
uint32_t ut_sample_build_thread(struct ut_sample_build *b, uint64_t pid, uint64_t tid);

uint32_t ut_sample_build_text(struct ut_sample_build *b, struct ut_str s);
uint32_t ut_sample_build_frame(struct ut_sample_build *b, uint32_t caller,
			       const struct ut_place_in_code *place);
void ut_sample_build_add(struct ut_sample_build *b, const struct ut_sample_added *s);

#endif
