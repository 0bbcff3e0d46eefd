/*
 * sample_stacks.h - samples of CPUs (and of memory) for the page: the tab Hotspots.
 *
 * The question "stacks" is answered with the samples of an area as a tree: who called whom, and
 * what was spent there (sample/prof.h), what to look at first, and what threads, tasks and
 * processes took. web/src/tools/profile.ts makes every table and flame graph of it.
 *
 * A one-file page answers it itself, too, but cannot read files of code: its sheet "code" of the
 * tool "hotspots" holds the functions that took most with the time of each of their lines.
 */
#ifndef UT_VIEW_SAMPLE_STACKS_H
#define UT_VIEW_SAMPLE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct ut_ask;
struct ut_out;
struct ut_prof;
struct ut_prof_opts;
struct ut_sample_seen;
struct ut_str;
struct ut_view;
struct ut_view_trace;

/* Attaches the sheets, to be made when they are asked for, if a trace has samples. */
void ut_view_attach_stacks(struct ut_view *v);

/* ---- of this room --------------------------------------------------------------------------- */

/* Which samples of a view; what is NULL narrows nothing. */
struct ut_stacks_scope {
	const struct ut_view *view;
	const struct ut_ask *ask;          /* ranges and tracks of its scope */
	const struct ut_view_trace *trace; /* that is being counted */
	bool *tracks;                      /* by number in the view; NULL = all */
};

/* The samples of all traces that lie in the scope; opts are those of the profile. Settled. */
void ut_view_profile(struct ut_prof *p, struct ut_prof_opts *opts, struct ut_stacks_scope *scope);

/* {"event":..., ...: what it is made of; the brace stays open. */
void ut_put_stacks(struct ut_out *out, const struct ut_view *v, const struct ut_prof *p);

#endif
