/*
 * rewrite.h - copies the events of a Chrome trace, byte for byte except for what a merge has to
 * change: times onto one clock, pids and the numbers that pair events so that files do not get in
 * each other's way, names and order of processes.
 *
 * Events come out in frames of a few thousand, each with a key that never falls: the highest time
 * seen so far in its file. Merging files by key, then by the order of files, keeps the order inside
 * each file, and does not depend on which files were merged first.
 * One owner, one thread; memory is a window over the file and the frame.
 */
#ifndef UT_MERGE_REWRITE_H
#define UT_MERGE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "clocks/time_map.h"
#include "merge/rewrite_facts.h"
#include "merge/rewrite_walk.h"

/* Bytes of events in a frame; one larger event makes a frame of its own. */
#define UT_FRAME_BYTES (64u << 10)

/* Events one after the other, each with ",\n" in front. {0} is empty. */
struct ut_frame {
	char *text;
	size_t len, cap;
	int64_t *keys;  /* never fall */
	uint64_t *ends; /* where each event ends in text */
	uint32_t count;
	size_t key_cap, end_cap;
};

void ut_frame_release(struct ut_frame *f);

/* What changes for one process; index as in the facts. */
struct ut_rewrite_process {
	const char *pid;  /* JSON text that replaces its pid; NULL = stays */
	const char *name; /* JSON text that replaces its process_name, or makes one; NULL = stays */
	bool sorted;      /* sort_index replaces its process_sort_index, or makes one */
	int64_t sort_index;
};

/* What changes in one file. Zeroed: nothing. */
struct ut_rewrite_plan {
	int64_t shift;                 /* ns, added to all times */
	const struct ut_time_map *map; /* instead, where clocks run differently; NULL = none */
	uint64_t id_add;               /* to numbers that pair events */
	const char *id_prefix; /* in front of ids that are no such numbers; NULL = they stay */
	bool id_all;           /* in front of all of them: id_add does not count */
	const char *sf_prefix; /* in front of the names of stack frames; NULL = they stay */
	struct ut_rewrite_process *processes; /* as many as in the facts; NULL = nothing changes */
};

struct ut_rewrite {
	struct ut_rewrite_walk walk;
	const struct ut_facts *facts;
	const struct ut_rewrite_plan *plan;
	int64_t key;
	bool started, ended;
	struct ut_facts_recent recent;
	/* Set by who has guessed the facts: gets those that are true, all of them at the end. */
	struct ut_facts *seen;
	struct ut_facts_recent seen_recent;
};

/* facts, plan and path must stay. On failure nothing is left open. */
int ut_rewrite_open(struct ut_rewrite *r, const char *path, const struct ut_facts *facts,
		    const struct ut_rewrite_plan *plan, struct ut_err *err) UT_MUST_CHECK;
void ut_rewrite_close(struct ut_rewrite *r);

/*
 * The next frame; 1, or 0 at the end, or a negative errno: also when the file is no longer the one
 * that the facts tell of; -EAGAIN if the facts were guessed, and wrong.
 */
int ut_rewrite_next(struct ut_rewrite *r, struct ut_frame *frame, struct ut_err *err) UT_MUST_CHECK;

#endif
