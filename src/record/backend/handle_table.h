/*
 * handle_table.h - what a backend knows about an object of its runtime, found by the handle.
 *
 * Handles are addresses or small numbers, and a runtime gives that of a released object to the next
 * one. So there is one item per handle for ever: who makes an object finds the item of an earlier
 * one with the same handle and writes over it. The number of items is bounded by the objects that
 * were alive at once.
 *
 * Any thread; no lock, no malloc; items are never freed or moved.
 */
#ifndef UT_BACKEND_HANDLE_TABLE_H
#define UT_BACKEND_HANDLE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>

/* The first member of whatever is kept. */
struct ut_handle_item {
	struct ut_handle_item *next; /* in its bucket */
	struct ut_handle_item *all;  /* the item added before it */
	const void *handle;
};

#define UT_HANDLE_BUCKETS 8192u

/* Only size needs to be set: of the items, the struct ut_handle_item in front included. */
struct ut_handle_table {
	size_t size;
	_Atomic(struct ut_handle_item *) buckets[UT_HANDLE_BUCKETS];
	_Atomic(struct ut_handle_item *) last; /* all items: follow .all */
};

/* NULL if nothing is known about handle. */
void *ut_handle_find(const struct ut_handle_table *t, const void *handle);

/* The item of handle, made with zeros if there was none. NULL when there is no memory. */
void *ut_handle_item_of(struct ut_handle_table *t, const void *handle);

/* Zeroed memory that is never freed; NULL when there is none. */
void *ut_guest_alloc(size_t size);

#endif
