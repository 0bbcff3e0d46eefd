/*
 * sandbox.h - has the program locked itself in since recording began?
 *
 * A seccomp filter may kill for calls that only we make (openat, fallocate, madvise), so what the
 * kernel thinks of us is asked through a descriptor that was opened before, by a read: the one call
 * that nobody forbids. Filters that were there from the start, as in most containers, do not count.
 *
 * Not seen: a filter of a single thread other than the first, one that forbids pread64, and strict
 * mode, which takes even the clock away (docs/security.md).
 */
#ifndef UT_WIRE_SANDBOX_H
#define UT_WIRE_SANDBOX_H

#include <stdbool.h>

/* Remembers how things are now. Again in a forked child. */
void ut_sandbox_look(void);

/* True from the first time that a new filter is found; some 6 us before. errno is kept. */
bool ut_sandbox_closed(void);

#endif
