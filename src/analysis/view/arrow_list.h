/*
 * arrow_list.h - the arrows of a view: from which event to which, in both orders.
 *
 * Made of model/arrows.h at the first question, kept until the view is freed; read-only then.
 */
#ifndef UT_VIEW_ARROW_LIST_H
#define UT_VIEW_ARROW_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_view;

struct ut_view_arrow {
	uint64_t from, to;   /* ids of events */
	double from_t, to_t; /* where it leaves and arrives */
};

struct ut_view_arrows {
	struct ut_view_arrow *list; /* by from, to */
	uint32_t *by_to;
	size_t count, cap;
	struct ut_view_arrow_block *blocks; /* when the arrows of each piece of the list are */
};

const struct ut_view_arrows *ut_view_arrows_get(struct ut_view *v);
void ut_view_arrows_free(struct ut_view_arrows *a); /* NULL is fine */

/* The events at the other end of arrows that leave (or reach) an event; at most most of them. */
size_t ut_view_arrows_of(struct ut_view *v, uint64_t id, bool leaving, uint64_t *out, size_t most);

#endif
