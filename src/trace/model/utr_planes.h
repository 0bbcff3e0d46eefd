/*
 * utr_planes.h - the rows of a .utr image in an order that packs well, and back.
 *
 * Times and argument lists of a block become differences from one row to the next, and the bytes of
 * each column are sorted by their place in the number: all lowest bytes, then all second ones. A
 * trace deflates to little more than half of what its rows as they are do. The size of the image
 * stays the same; its checksums are those of the rows in order.
 */
#ifndef UT_MODEL_UTR_PLANES_H
#define UT_MODEL_UTR_PLANES_H

#include <stdbool.h>
#include <stddef.h>

/* In place. False, and nothing has changed, if this is no image of a .utr file. */
bool ut_utr_split_rows(void *image, size_t size);
bool ut_utr_join_rows(void *image, size_t size);

#endif
