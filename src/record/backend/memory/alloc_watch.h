/*
 * alloc_watch.h - what the parts of the memory backend share: a guest in front of the program's
 * allocator.
 *
 * The program's malloc() and its like are ours (hooks.c), and call the ones that it would have
 * called (next.c). Nearly all calls pass with a look at two words. What is to be recorded takes the
 * slow way (alloc_watch.c): the stack is walked (backend/own_stack.h), Python's functions are put
 * into it (python_stack.c), and the collector is told.
 *
 * Rules: nothing here allocates through the program's allocator, waits, or lets an error of ours
 * reach the program. Calls come before constructors, after exit, in signal handlers, in forked
 * children and from the loader with its lock held.
 */
#ifndef UT_BACKEND_MEMORY_ALLOC_WATCH_H
#define UT_BACKEND_MEMORY_ALLOC_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "unitrace/backend.h"

#define UT_EXPORT __attribute__((visibility("default")))

#define UT_MEMORY_DEEPEST 256u /* frames of a stack */

enum ut_memory_mode {
	UT_MEMORY_EARLY, /* before our constructor: nobody has told what is wanted */
	UT_MEMORY_OFF,
	UT_MEMORY_SAMPLED,
	UT_MEMORY_EACH,
};

/* What a thread needs; zeroed = it has not allocated anything yet. */
struct ut_memory_thread {
	uint64_t left;   /* bytes that it may allocate before one is looked at */
	uint64_t random; /* state of the random numbers; 0 = not drawn yet */
	uint32_t taken;  /* how many were recorded */
	uint8_t bits;    /* with which left was drawn: rate.h */
	uint8_t busy;    /* in our own code: what comes back here passes */
};

extern _Thread_local struct ut_memory_thread ut_memory_me;

/* Does an allocation of this size pass without being recorded? It is counted then. */
static inline bool ut_memory_passes(size_t size)
{
	if (UT_UNLIKELY(size >= ut_memory_me.left))
		return false;
	ut_memory_me.left -= size;
	return true;
}

/* Some allocators make a function out of another, which is ours as well: has that counted? */
struct ut_memory_mark {
	uint64_t left;
	uint32_t taken;
};

static inline struct ut_memory_mark ut_memory_mark(void)
{
	return (struct ut_memory_mark){ ut_memory_me.left, ut_memory_me.taken };
}

static inline bool ut_memory_counted(struct ut_memory_mark since)
{
	return ut_memory_me.left != since.left || ut_memory_me.taken != since.taken;
}

/* The others: the block is there. errno is kept. */
void ut_memory_took(void *block, size_t size, enum ut_memory_kind kind);

/* The program is about to free a block that may be recorded. True: it was. errno is kept. */
bool ut_memory_gives(const void *block);

/* It could not be given: the block is still there. */
void ut_memory_kept(const void *block);

/* ---- the allocator below (next.c) ---------------------------------------------------------- */

/* name, what it returns, its parameters */
#define UT_MEMORY_NEXT_LIST(X)                                                                     \
	X(malloc, void *, (size_t size))                                                           \
	X(free, void, (void *block))                                                               \
	X(calloc, void *, (size_t count, size_t size))                                             \
	X(realloc, void *, (void *block, size_t size))                                             \
	X(memalign, void *, (size_t alignment, size_t size))                                       \
	X(aligned_alloc, void *, (size_t alignment, size_t size))                                  \
	X(posix_memalign, int, (void **block, size_t alignment, size_t size))                      \
	X(valloc, void *, (size_t size))                                                           \
	X(pvalloc, void *, (size_t size))                                                          \
	X(dlclose, int, (void *library))

struct ut_memory_next {
#define UT_MEMORY_NEXT_MEMBER(name, type, parameters) type(*name) parameters;
	UT_MEMORY_NEXT_LIST(UT_MEMORY_NEXT_MEMBER)
#undef UT_MEMORY_NEXT_MEMBER
};

/* Until they are found, functions that find them. */
extern struct ut_memory_next ut_memory_next;

/* The program's allocator checks what is done to memory and must be alone with it. */
bool ut_memory_is_sanitized(void);

/* The malloc() below us, whatever stands between. */
void *(*ut_memory_below(void))(size_t);

/* The operators below ours: hooks_cxx.c. */
void ut_memory_find_cxx(void);

/* They have been found. */
void ut_memory_wake(bool sanitized);

/* ---- before our constructor (early.c) ------------------------------------------------------ */

/* An allocation or, with size SIZE_MAX, the end of one is remembered until we know what to do. */
void ut_early_note(const void *block, size_t size, enum ut_memory_kind kind, const uint64_t *frames,
		   size_t count);

/* Hands over what was noted, in its order. Returns how many found no room. */
uint64_t ut_early_send(void (*allocated)(uintptr_t block, size_t size, enum ut_memory_kind kind,
					 const uint64_t *frames, size_t count),
		       void (*freed)(uintptr_t block));

#endif
