/*
 * page_view.h - the page of a report: the viewer with the ops as a trace, and with a tab of its own
 * (web/src/tools/ops.tsx).
 */
#ifndef UT_OPS_PAGE_VIEW_H
#define UT_OPS_PAGE_VIEW_H

#include <stdbool.h>

#include "base/err.h"

struct ut_ops_report;
struct ut_logger;
struct ut_view;

struct ut_ops_about {
	const char *input; /* path of what was read: the page's title */
	const char *kind;  /* what it is: "logs of 2026" */
};

/* A view of the report, which is in order; it needs the report no longer. Whoever calls frees it.
 */
struct ut_view *ut_ops_page_view(const struct ut_ops_report *r, const struct ut_ops_about *about);

/*
 * The view as a page in one file. A build that has no page writes none, and tells why: *written is
 * then false.
 */
int ut_ops_page_write(struct ut_view *v, const char *path, const struct ut_logger *logger,
		      bool *written, struct ut_err *err) UT_MUST_CHECK;

#endif
