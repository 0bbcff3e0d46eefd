/*
 * mapped.h - files that are read through a mapping, and what happens when one becomes shorter
 * meanwhile: the kernel sends SIGBUS, which would end us without a word.
 *
 * Any thread; up to UT_MAPPED_MOST at a time, the rest is not known by name.
 */
#ifndef UT_BASE_MAPPED_H
#define UT_BASE_MAPPED_H

#include <stddef.h>

#define UT_MAPPED_MOST 256

/* The text is copied, as much as fits a message. */
void ut_mapped_add(const void *map, size_t size, const char *path);
void ut_mapped_remove(const void *map); /* before it is unmapped; unknown ones are fine */

/*
 * From now on a store or load behind the end of a mapped file says which file it was and ends the
 * process with this status. Other causes of SIGBUS end it as before.
 */
void ut_mapped_guard(int status);

/* Ends the process in its own way instead, after the message; called in the signal's handler. */
void ut_mapped_end_with(void (*end)(void));

#endif
