/*
 * chrome_write.h - inside the Chrome exporter: what chrome.c (the events) and chrome_about.c
 * (everything that is said about processes, tracks and the file) share.
 */
#ifndef UT_EXPORT_CHROME_WRITE_H
#define UT_EXPORT_CHROME_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "model/pairs.h"
#include "model/sink.h"
#include "model/trace.h"

struct ut_out;

/* Text that is written again and again. UT_CW_SHORT bytes may be read behind it. */
struct ut_cw_fragment {
	char *text; /* NULL = not made yet */
	size_t len;
};

struct ut_cw_fragments {
	struct ut_cw_fragment *items;
	size_t cap;
};

#define UT_CW_SHORT 32 /* bytes that are always copied, needed or not: no call, no branch */

struct ut_cw_process {
	bool known;
	bool as_text; /* the file has the process's pid_text */
	uint64_t pid; /* in the file, otherwise */
};

struct ut_cw {
	struct ut_sink sink;
	struct ut_out *out;
	struct ut_out *other;            /* the processes of otherData, until the end of the file */
	struct ut_out *top;              /* further members of the file, until its end */
	struct ut_out *scratch;          /* where fragments are made */
	struct ut_out *samples, *frames; /* until the end of the file */
	uint64_t stack_base;             /* numbers of stacks that earlier traces have */
	struct ut_arena file_arena;
	struct ut_idmap pids, keys; /* that the file has: pids, members */
	size_t pid_count;
	bool any_event, any_other, any_sample, any_frame;
	bool own_clock;        /* a trace on our own clock is among them */
	struct ut_pairs pairs; /* also how many traces were ended */
	char *unit, *dialect, *input;

	/* the trace that is being written */
	struct ut_arena arena;
	struct ut_cw_fragments names, cats, tracks;
	struct ut_cw_process *processes;
	size_t process_cap;
	uint32_t *order; /* of processes, as they were met */
	size_t order_count, order_cap;
	bool looked;  /* the next is known */
	bool foreign; /* it was imported from a Chrome file, perhaps one of ours */
	bool local;   /* its async spans belong to one process each */
};

/* The members of a JSON object that is opened by the first of them. */
struct ut_cw_members {
	struct ut_out *out;
	const char *open; /* comes before the first; a comma before the others */
	bool any;
	const struct ut_arg *const *but; /* arguments to leave out, closed by NULL; may be NULL */
};

void ut_cw_member(struct ut_cw_members *m);
void ut_cw_end_members(struct ut_cw_members *m);
void ut_cw_args(struct ut_cw_members *m, const struct ut_trace *t, uint32_t index);

/* The file's pid of a process and tid of a track, as JSON. */
void ut_cw_pid(struct ut_cw *c, struct ut_out *o, const struct ut_trace *t, uint32_t process);
void ut_cw_tid(struct ut_cw *c, struct ut_out *o, const struct ut_trace *t, uint32_t track);
const struct ut_cw_process *ut_cw_process(struct ut_cw *c, const struct ut_trace *t,
					  uint32_t process);

/* The argument of a list with this key and type; NULL if there is none. */
const struct ut_arg *ut_cw_find(const struct ut_trace *t, uint32_t list, const char *key,
				enum ut_arg_type type);

/* A trace that was recorded or made by us, or read from such a file. */
bool ut_cw_is_ours(const struct ut_cw *c, const struct ut_trace *t);

/* chrome_samples.c: a sample, after the last of a trace, and what the file gets of all. */
void ut_cw_sample(struct ut_cw *c, const struct ut_trace *t, const struct ut_event *e);
void ut_cw_end_samples(struct ut_cw *c, const struct ut_trace *t);
void ut_cw_put_samples(struct ut_cw *c);

/* chrome_about.c: after the last event of a trace, and at the end of the file. */
void ut_cw_about_trace(struct ut_cw *c, const struct ut_trace *t);
void ut_cw_about_file(struct ut_cw *c);

#endif
