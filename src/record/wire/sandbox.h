/*
 * sandbox.h - has the program put itself under a seccomp filter since recording began?
 *
 * Such a filter may kill the program for calls that only we make (openat, fallocate, madvise). So
 * the filters in force are read from /proc through a descriptor that was opened before: read is the
 * one call that no filter forbids. Filters that were there from the start, as in most containers,
 * do not count.
 *
 * Not seen: a filter of a single thread other than the first, one that forbids pread64, and strict
 * mode, which takes even the clock away (docs/security.md).
 */
#ifndef UT_WIRE_SANDBOX_H
#define UT_WIRE_SANDBOX_H

#include <stdbool.h>

/*
 * Remembers which filters there are now. Again in a forked child, best right behind fork(): it may
 * lock itself in before it records anything.
 */
void ut_sandbox_look(void);

/* True from the first time that a new filter is found on. A look takes some 6 us. errno is kept. */
bool ut_sandbox_closed(void);

#endif
