/*
 * roofline_sheet.h - kernels under the roofs of their device, as a sheet of the page:
 *
 *     charts   [{kind, chart, rows}]: rows is, for each series, the kernel of each of its points
 *     kernels  Table, the longest first
 *     levels   Table; its column "row" is a row of kernels
 *
 * web/src/tools/roofline.tsx reads it.
 */
#ifndef UT_VIEW_ROOFLINE_SHEET_H
#define UT_VIEW_ROOFLINE_SHEET_H

struct ut_out;
struct ut_roof;

/* The tool and the sheet are called so. */
#define UT_ROOFLINE_TOOL "roofline"

/* Writes it; the roof is placed. */
void ut_roofline_sheet(struct ut_out *out, const struct ut_roof *r);

#endif
