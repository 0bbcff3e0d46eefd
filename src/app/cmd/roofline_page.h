/*
 * roofline_page.h - a roofline as a page of the viewer: charts, tables, findings.
 */
#ifndef UT_CMD_ROOFLINE_PAGE_H
#define UT_CMD_ROOFLINE_PAGE_H

struct ut_out;
struct ut_roof;

/* Errors stick to out. */
void ut_roofline_page_write(const struct ut_roof *r, struct ut_out *out);

#endif
