/*
 * bottlenecks.h - what kernels of the traces are bound by (metrics/bottleneck.h), as a sheet of the
 * page.
 */
#ifndef UT_VIEW_BOTTLENECKS_H
#define UT_VIEW_BOTTLENECKS_H

struct ut_view;

/* Attaches the sheet, to be made when it is asked for, if a trace has work of devices. */
void ut_view_attach_bottlenecks(struct ut_view *v);

#endif
