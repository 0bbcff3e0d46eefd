/*
 * handle_table.h - what we know about an object of OpenCL's, found by its handle.
 *
 * Handles are addresses, and a runtime gives the address of a released object to the next one. So
 * there is one item per address for ever: who makes an object finds the item of an earlier one with
 * the same handle and writes over it. The number of items is bounded by the objects that were alive
 * at once.
 *
 * Any thread; no lock, no malloc; items are never freed or moved.
 */
#ifndef UT_BACKEND_OPENCL_HANDLE_TABLE_H
#define UT_BACKEND_OPENCL_HANDLE_TABLE_H

#include <stdatomic.h>
#include <stddef.h>

/* The first member of whatever is kept. */
struct ut_cl_item {
	struct ut_cl_item *next; /* in its bucket */
	struct ut_cl_item *all;  /* the item added before it */
	const void *handle;
};

#define UT_CL_BUCKETS 8192u

/* Only size needs to be set: of the items, the struct ut_cl_item in front included. */
struct ut_cl_table {
	size_t size;
	_Atomic(struct ut_cl_item *) buckets[UT_CL_BUCKETS];
	_Atomic(struct ut_cl_item *) last; /* all items: follow .all */
};

/* NULL if nothing is known about handle. */
void *ut_cl_table_find(const struct ut_cl_table *t, const void *handle);

/* The item of handle, made with zeros if there was none. NULL when there is no memory. */
void *ut_cl_table_item(struct ut_cl_table *t, const void *handle);

/* Zeroed memory that is never freed; NULL when there is none. */
void *ut_cl_alloc(size_t size);

#endif
