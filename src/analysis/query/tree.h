/*
 * tree.h - the slices inside a slice and around it.
 *
 * Rows of a track come parents first, so what lies inside a slice follows it without a gap. Async
 * slices lie inside those of their number; others may stand between them.
 */
#ifndef UT_QUERY_TREE_H
#define UT_QUERY_TREE_H

#include "query/traces.h"

/* Is it a slice, as the table slice has them? */
bool ut_tree_is_slice(const struct ut_place *p);

/* The row behind the last one inside the slice at p; p->row + 1 if there is none. */
uint64_t ut_tree_end(const struct ut_traces *t, const struct ut_place *p);

/* Can the row lie inside another slice of a thread? */
bool ut_tree_nests(const struct ut_place *p);

/* Does descendant lie inside ancestor, at any depth, or is it the same? */
bool ut_tree_inside(const struct ut_traces *t, uint64_t ancestor, uint64_t descendant);

/* The slice directly around p; false if there is none. */
bool ut_tree_parent(const struct ut_traces *t, const struct ut_place *p, struct ut_place *parent);

#endif
