/*
 * device_report.h - the tables that -h, -d, -s, -t and -c ask for, and the summary of devices.
 *
 * init, feed the log's sink and end each process, finish, print, release. One owner, one thread.
 */
#ifndef UT_SESSION_DEVICE_REPORT_H
#define UT_SESSION_DEVICE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/device_log.h"
#include "session/output_names.h"

struct ut_buf;

/* In the order in which they are printed. */
enum ut_device_table_kind {
	UT_TABLE_CALL_LOG,
	UT_TABLE_TIMELINE,
	UT_TABLE_HOST,
	UT_TABLE_DEVICE,
	UT_TABLE_SUBMISSION,
	UT_TABLE_KINDS
};

struct ut_device_report {
	struct ut_device_log log;
	bool active; /* false: there will be no device, do not even look */
	bool wanted[UT_TABLE_KINDS];
	size_t name_columns;        /* longer names lose their middle; 0 = whole */
	size_t screen;              /* columns of the terminal; 0 = it is none */
	bool colour;                /* on it */
	bool shapes;                /* kernels of different sizes are different rows */
	bool pid, tid;              /* in the lines of calls */
	struct ut_output_who *whos; /* one per source of the log */
	size_t who_count, who_cap;
};

void ut_device_report_init(struct ut_device_report *r);
void ut_device_report_release(struct ut_device_report *r);

/* Before anything is fed: what to print. */
void ut_device_report_want(struct ut_device_report *r, enum ut_device_table_kind kind);

/* Is anything to be printed? Otherwise do not even look at events. */
bool ut_device_report_wanted(const struct ut_device_report *r);

/* After the last event of a process. who->app must stay until release. */
void ut_device_report_end(struct ut_device_report *r, const struct ut_trace *trace,
			  const struct ut_output_who *who);

/* What the file of a table is called below --result-dir, without suffix. */
const char *ut_device_report_file(enum ut_device_table_kind kind);

/* Adds one table of one process; nothing if it is not wanted or empty. csv: for programs. */
void ut_device_report_print(const struct ut_device_report *r, enum ut_device_table_kind kind,
			    uint32_t source, bool csv, struct ut_buf *to);

/* How devices were used, over all processes; nothing without work. rows 0 = all kernels. */
void ut_device_report_summary(const struct ut_device_report *r, uint64_t rows, bool csv,
			      struct ut_buf *to);

#endif
