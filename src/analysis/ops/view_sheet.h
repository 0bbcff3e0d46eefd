/*
 * view_sheet.h - the ops of the traces that a view shows, for its tab Ops: the rows of `unitrace
 * ops` on the same traces.
 */
#ifndef UT_OPS_VIEW_SHEET_H
#define UT_OPS_VIEW_SHEET_H

#include <stdint.h>

struct ut_view;

/* Slices up to which somebody who waits for the page is given the sheet: to join the ops of so many
 * with their kernels takes half a second. `unitrace ops` has no limit. */
#define UT_OPS_VIEW_SLICES 500000u

/* Attaches the sheet if the traces have ops, or tasks that made a device work, and no more slices
 * than that. The view is ready, and nobody asks it yet. */
void ut_ops_attach(struct ut_view *v, uint64_t slices);

#endif
