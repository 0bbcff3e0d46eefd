/*
 * own_stack.h - the stack of the calling thread, walked from inside, by the tables that every file
 * carries (.eh_frame, symbol/unwind.h) or, where there are none, by frame pointers.
 *
 * For hooks in somebody else's process: no malloc, no lock, any thread, any signal handler. What an
 * address needs is worked out once and kept, so a step is a look into a table. Only memory is read
 * that is known to be there: the thread's own stack, or a page that the kernel was asked about.
 * x86-64 has tables; elsewhere there are frame pointers only.
 */
#ifndef UT_BACKEND_OWN_STACK_H
#define UT_BACKEND_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame of the function that was marked: the interpreter's loop of a language. */
#define UT_OWN_STACK_MARKED (UINT64_C(1) << 63)

/* Finds what it needs of the loader; before anything else, not in a signal handler. */
void ut_own_stack_init(void);

/* Asked before each system call from then on: whoever is locked in makes none. */
void ut_own_stack_ask(int (*locked_in)(void));

/*
 * Calls fn(ctx) where there is room: here on the stack that the thread was started with, elsewhere
 * (coroutines, alternate stacks of signal handlers) on a stack of its own, with signals blocked.
 * ut_own_stack() in it walks the caller's stack. Where that takes a system call and the program is
 * locked in, fn is not called.
 */
void ut_own_stack_roomy(void (*fn)(void *), void *ctx);

/* Frames of the function that starts here are marked. */
void ut_own_stack_mark(const void *function);

/*
 * Addresses, innermost first, those of callers inside the call; frames of this library at the
 * inside are left out. *cut: there are more than most.
 */
size_t ut_own_stack(uint64_t *frames, size_t most, bool *cut);

/* Is it code of this library? */
bool ut_own_stack_is_own(uint64_t address);

/* The file that the code at an address comes from, and where in it. */
struct ut_own_code {
	const char *path; /* as the loader calls it: of the program itself it is empty */
	uint64_t offset;
};

/* False: the loader does not know it. The path stays as long as the library. */
bool ut_own_stack_code(uint64_t address, struct ut_own_code *code);

/* In a forked child. */
void ut_own_stack_forked(void);

/* A library has gone: what is known about its addresses may be wrong. */
void ut_own_stack_forget(void);

/* Changes with each ut_own_stack_forget(). */
uint32_t ut_own_stack_generation(void);

#endif
