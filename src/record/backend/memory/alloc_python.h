/*
 * alloc_python.h - programs that run Python: their objects, and the Python functions that allocate.
 *
 * Only an interpreter that is there when the program starts is found (python itself, or a program
 * that is linked with it); one that is loaded later is native code like any other.
 */
#ifndef UT_BACKEND_MEMORY_ALLOC_PYTHON_H
#define UT_BACKEND_MEMORY_ALLOC_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_host;

/* Looks for it and, if it is there, steps in front of its allocators. From our constructor. */
void ut_python_begin(const struct ut_host *host);

/* Is it still us that Python calls? False when something has taken our place: PYTHONMALLOC. */
bool ut_python_is_seen(void);

/*
 * The frames of a stack (own_stack.h), with the Python functions that each call of the
 * interpreter's loop runs in the place of that call. most: room for frames; *cut becomes true where
 * it is too small, and outer frames are missing. How many there are then.
 */
size_t ut_python_weave(uint64_t *frames, size_t count, size_t most, bool *cut);

#endif
