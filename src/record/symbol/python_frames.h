/*
 * python_frames.h - the frames of a thread that runs Python, one after the other, as they lie in
 * the memory of its process. The interpreter is not asked.
 *
 * Nothing here allocates: it works in somebody else's process, too.
 */
#ifndef UT_SYMBOL_PYTHON_FRAMES_H
#define UT_SYMBOL_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/python_layout.h"

struct ut_python_seen {
	uint64_t code; /* address of its code object; 0 = no function, but what entered the loop */
	uint64_t at;   /* bytes from its first instruction; UINT64_MAX = it has not begun */
	uint64_t previous; /* the frame that it was called from; 0 = none */
	bool first;        /* it says that the interpreter was entered for it */
};

/* The innermost frame of a thread, by the address of its state; 0 = none. */
uint64_t ut_python_innermost(const struct ut_python_layout *l, const struct ut_python_memory *m,
			     uint64_t thread);

/*
 * A number by which a code object is known again: of what it points to, and its first line. False:
 * it cannot be read.
 */
bool ut_python_fingerprint(const struct ut_python_layout *l, const struct ut_python_memory *m,
			   uint64_t code, uint64_t *check);

/* False: it cannot be read. */
bool ut_python_see(const struct ut_python_layout *l, const struct ut_python_memory *m,
		   uint64_t frame, struct ut_python_seen *seen);

#endif
