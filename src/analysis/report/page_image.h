/*
 * page_image.h - a view as the bytes that a page of its own holds: docs/formats/html.md.
 */
#ifndef UT_REPORT_PAGE_IMAGE_H
#define UT_REPORT_PAGE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct ut_view;

/* Takes bytes; last: there are no more. 0 or a negative errno, which ends everything. */
typedef int (*ut_page_put)(void *ctx, const void *data, size_t len, int last);

/* At most so many slices and marks. Returns what put() said last. */
int ut_page_image(struct ut_view *v, uint64_t slices, ut_page_put put, void *ctx);

/* How many it has, if that is more, so that some are left out; else 0. The view is ready. */
uint64_t ut_page_too_many(const struct ut_view *v, uint64_t slices);

#endif
