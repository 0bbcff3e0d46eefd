/*
 * memory_owner.h - whose block it is: the frame of a stack that a reader wants to see.
 *
 * The innermost frames of nearly every stack are there to allocate: operator new, containers of the
 * standard library, wrappers around malloc() in libraries, the interpreter that runs a Python
 * function, and what that calls in libraries such as NumPy. They are passed over while there is
 * another function around them. The program's own functions never are, whatever their names.
 */
#ifndef UT_SAMPLE_MEMORY_OWNER_H
#define UT_SAMPLE_MEMORY_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct ut_trace;

/* The stack up to the owner: its own number or that of one of its callers. 0 only for 0. */
uint32_t ut_memory_owner(const struct ut_trace *t, uint32_t stack);

/* The same for whoever called the owner: another function. 0 = nobody has. */
uint32_t ut_memory_caller(const struct ut_trace *t, uint32_t owner);

/* The nearest of the owner and its callers of which the line is known; the owner if none is. */
uint32_t ut_memory_line_owner(const struct ut_trace *t, uint32_t owner);

/* Is this place only on the way, and nobody's own work? */
bool ut_memory_on_the_way(const struct ut_trace *t, uint32_t place);

#endif
