/*
 * renumber.h - the same numbers for the same things in a store that takes the place of another.
 *
 * A trace that is still being read or recorded is loaded again, larger each time. Whoever looks at
 * it knows its tracks and types by their numbers, so these must not move.
 */
#ifndef UT_MODEL_RENUMBER_H
#define UT_MODEL_RENUMBER_H

struct ut_store;

/*
 * Tracks and types of s that like has, too, get the numbers that they have there; others come
 * behind. What like has and s has not is added, empty. s is in memory, nobody reads it yet, and it
 * has no pyramid; a store that lies in a file stays as it is. like is only read.
 */
void ut_store_renumber(struct ut_store *s, const struct ut_store *like);

#endif
