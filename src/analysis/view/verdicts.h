/*
 * verdicts.h - what kernels of the traces are bound by (metrics/verdict.h), as a sheet of the page.
 */
#ifndef UT_VIEW_VERDICTS_H
#define UT_VIEW_VERDICTS_H

struct ut_view;

/* Attaches the sheet, to be made when it is asked for, if a trace has work of devices. */
void ut_view_attach_verdicts(struct ut_view *v);

#endif
