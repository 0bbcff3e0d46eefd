/*
 * one_page.h - the viewer and its trace as one file: opens by a double click, asks no network.
 *
 * The trace lies in it as a .utr file, deflated (docs/formats/html.md), beside the answers of
 * view/view.h as a WebAssembly module (web/wasm). A trace of more slices than fit keeps all of its
 * time at the resolution that does: of the slices of a lane that share a piece of time, the
 * longest, and the tables of the whole trace as they were. The page says so.
 */
#ifndef UT_REPORT_ONE_PAGE_H
#define UT_REPORT_ONE_PAGE_H

#include <stdint.h>

struct ut_out;
struct ut_view;

#define UT_PAGE_SLICES 1000000u

/*
 * Why this build can write no such page, in a sentence; NULL = it can. Tools whose page is one of
 * several results leave it out, and say this.
 */
const char *ut_one_page_missing(void);

/* The view is ready. At most this many slices and marks; what tools have attached comes along, each
 * sheet compressed for itself. Errors stick to out. */
void ut_one_page_write(struct ut_view *v, uint64_t slices, struct ut_out *out);

#endif
