/*
 * each.h - loops over millions of events, cut into pieces that several threads do at once.
 *
 * For loops whose steps do not depend on each other: each reads what it likes and writes to its
 * own event, or to its own place of an array. Adding events, strings, ids or arguments is for one
 * thread alone. Flags of names may be asked for once ut_ace_names_reserve() has been called.
 */
#ifndef UT_ACELYZER_EACH_H
#define UT_ACELYZER_EACH_H

#include <stddef.h>

/* piece(ctx, from, to) for pieces that make up 0 to n; they may come in any order, and at the same
 * time. */
void ut_ace_each(unsigned int threads, size_t n, void (*piece)(void *ctx, size_t from, size_t to),
		 void *ctx);

#endif
