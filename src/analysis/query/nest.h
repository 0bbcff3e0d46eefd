/*
 * nest.h - who lies in whom on a track, how deep, and what is left of a span without its children.
 *
 * Found by one walk over the rows with a stack of open spans. A span lies in another if it begins
 * and ends inside it. Every moment belongs to the span that began last of those still going on, as
 * in analyze/stats.h: a span that only overlaps with an earlier one takes from its self time what
 * the two have in common, but does not lie in it. Rows that are no spans (instants, flow ends) lie
 * in the span that began last and is going on, its end included. Spans that are about the
 * recording (UT_EV_NOT_WORK) lie in others, but nothing lies in them. {0} is empty.
 */
#ifndef UT_QUERY_NEST_H
#define UT_QUERY_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "model/store.h"

struct ut_nest {
	uint32_t *parent; /* per row: the row around it, plus 1; 0 = none */
	uint32_t *depth;  /* per row: how many spans are around it */
	uint64_t *self;   /* per row: ns; 0 for what is no span. NULL = not made */
};

/* Fills an empty n. Rows beyond 2^32 - 2 of one track are taken as not nested. */
void ut_nest_make(struct ut_nest *n, const struct ut_store *s, const struct ut_rows *rows,
		  bool self);
void ut_nest_release(struct ut_nest *n);

#endif
