/*
 * program.h - what the file of a program tells about how it can be recorded, without running it.
 *
 * Only asked when a run has left nothing, to say why. Facts are what the file shows; a program may
 * still do otherwise, by what it loads or starts.
 */
#ifndef UT_LAUNCH_PROGRAM_H
#define UT_LAUNCH_PROGRAM_H

#include <stdbool.h>

struct ut_arena;

struct ut_program {
	const char *path; /* NULL: not found */
	bool python;      /* an interpreter of Python, or a script for one */
	bool script;      /* begins with #! */
	bool elf;
	bool raised;     /* set-user-id, set-group-id or with capabilities of its own */
	bool is_static;  /* no loader: nothing can be put into it */
	bool speaks_itt; /* holds the name of the variable through which ITT finds a collector */
};

void ut_program_look(struct ut_program *p, struct ut_arena *a, const char *name);

#endif
