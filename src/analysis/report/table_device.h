/*
 * table_device.h - device logs (analyze/device_log.h, finished) as reports: rows of calls and of
 * work, how devices were used. compat_device.h has the tables of -h, -d, -s, -t and -c.
 *
 * source is a number of the log's, or UT_DEVICE_ALL.
 */
#ifndef UT_REPORT_TABLE_DEVICE_H
#define UT_REPORT_TABLE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_out;
struct ut_device_log;
struct ut_device_summary;
struct ut_report_opts;

/* What of it a program may want to read: rows of calls (host) and of work (device). */
struct ut_device_rows_view {
	uint32_t source;
	bool host, device, shapes;
};

void ut_device_rows(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_rows_view *v, const struct ut_report_opts *opts);

/* The same as CSV. */
void ut_device_rows_csv(struct ut_out *o, const struct ut_device_log *log,
			const struct ut_device_rows_view *v);

/* -t for programs */
void ut_device_timeline_csv(struct ut_out *o, const struct ut_device_log *log, uint32_t source);

/* How devices were used: for people, at most limit kernels (0 = all), or for programs. */
void ut_device_summary_text(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_summary *s, size_t limit);
void ut_device_summary_csv(struct ut_out *o, const struct ut_device_log *log,
			   const struct ut_device_summary *s);

void ut_device_summary_people(struct ut_out *o, const struct ut_device_log *log,
			      const struct ut_device_summary *s, const struct ut_report_opts *opts);

/* Does what the format shows have the column that --sort names? */
int ut_device_check_sort(const struct ut_report_opts *opts, struct ut_err *err) UT_MUST_CHECK;

/* The summary and the kernels; programs get all rows, too. Of all sources. */
void ut_device_print(struct ut_out *o, const struct ut_device_log *log,
		     const struct ut_device_summary *s, const struct ut_report_opts *opts);

/* The tables of devices and of kernels by themselves. */
void ut_device_uses(struct ut_out *o, const struct ut_device_log *log,
		    const struct ut_device_summary *s, const struct ut_report_opts *opts);
void ut_device_kernels(struct ut_out *o, const struct ut_device_log *log,
		       const struct ut_device_summary *s, const struct ut_report_opts *opts);

#endif
