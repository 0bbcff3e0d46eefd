/*
 * metrics_sheet.h - hardware metrics of the traces' kernels (metrics/kernel_measures.h) as sheets
 * of the page: "metrics" of the tool of that name, and "roofline" (roofline_sheet.h), if enough was
 * counted. web/src/tools/metrics.tsx reads the first:
 *
 *     kernels  Table: a row for each kernel, launched in one way, with its metrics
 *     roof     of each row: the kernel of the sheet "roofline", or -1
 *     said     of each row: what of its roof it has, in a sentence, or ""
 *     stalls   [{kernel, samples, instructions: Table}], the one with most samples first
 */
#ifndef UT_VIEW_METRICS_SHEET_H
#define UT_VIEW_METRICS_SHEET_H

struct ut_view;

/* Attaches them, to be made when they are asked for, if a trace has something for them. */
void ut_view_attach_metrics(struct ut_view *v);

#endif
