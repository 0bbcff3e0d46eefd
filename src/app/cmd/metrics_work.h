/*
 * metrics_work.h - what `unitrace metrics` makes of a file: charts and reports of stalls. The
 * command writes them, the browser's server shows them.
 */
#ifndef UT_CMD_METRICS_WORK_H
#define UT_CMD_METRICS_WORK_H

#include <stdbool.h>

#include "base/err.h"
#include "metrics/metrics_chart.h"
#include "metrics/metrics_data.h"
#include "metrics/metrics_stalls.h"

struct ut_metrics_opts;
struct ut_out;
struct ut_report;
struct ut_view;

/* {0} is empty. */
struct ut_metrics_work {
	const struct ut_metrics_opts *opts;
	bool is_stall;
	struct ut_metrics_data data;     /* if it is none */
	struct ut_metrics_stalls stalls; /* if it is one */
	struct ut_metrics_charts charts;
	struct ut_out *text, *json; /* reports of stalls; NULL = none was asked for */
	struct ut_report *listing;  /* one table of all kernels, for programs */
	size_t reported;            /* kernels in them */
	struct ut_err trouble;      /* the first kernel that has none; code 0 = all have */
};

/* Reads what is wanted and makes it. -errno as those who read; -ENODATA: there is no chart. */
int ut_metrics_work_do(struct ut_metrics_work *w, const struct ut_metrics_opts *o,
		       const struct ut_metrics_want *want, struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_work_release(struct ut_metrics_work *w);

/* Attaches reports of stalls to a page. */
void ut_metrics_work_attach(const struct ut_metrics_work *w, struct ut_view *view);

#endif
