/*
 * weave.h - Python functions put between the native ones of a stack: see python.h.
 */
#ifndef UT_LAUNCH_CPU_WEAVE_H
#define UT_LAUNCH_CPU_WEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/cpu/remote.h"

struct ut_image;
struct ut_image_session;
struct ut_perf_sample;

#define UT_STACK_MOST 1024u

/* A place that is some Python function, of which nothing is known but who called it. */
#define UT_PLACE_SOME UINT32_MAX

/* A stack, innermost first. */
struct ut_stack {
	uint64_t frames[UT_STACK_MOST]; /* addresses */
	uint32_t places[UT_STACK_MOST]; /* numbers of places that are known already; 0 = look it up
					 */
	size_t count;
	size_t kernel; /* so many of them are the kernel's */
	bool whole;    /* none is missing at the outside */
};

struct ut_weaver {
	struct ut_remote remote;
	struct ut_python_frame *python;
	struct ut_stack woven;
};

void ut_weaver_init(struct ut_weaver *w);
void ut_weaver_release(struct ut_weaver *w);

/* Is there Python in the program? Looks at what has been mapped since the last time. */
bool ut_weaver_finds(struct ut_image *image, struct ut_image_session *session);

/* Of an image that has it. */
void ut_weave(struct ut_weaver *w, struct ut_image *image, const struct ut_image_session *session,
	      const struct ut_perf_sample *sample, struct ut_stack *stack);

#endif
