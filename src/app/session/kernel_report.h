/*
 * kernel_report.h - what kernels are bound by, behind the other tables of a run that measured them
 * (-q, -k, --stall-sampling): `unitrace kernels` without a second command.
 *
 * A sink that keeps what devices did and the calls that asked for it, up to a limit, and judges it
 * process by process. init, feed and end each process, print, release. One owner, one thread.
 */
#ifndef UT_SESSION_KERNEL_REPORT_H
#define UT_SESSION_KERNEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/build.h"
#include "model/sink.h"
#include "ops/kernel_groups.h"

struct ut_buf;
struct ut_report_opts;
struct ut_trace;

struct ut_kernel_report {
	struct ut_sink sink; /* first */
	struct ut_kernel_groups groups;
	struct ut_build build; /* of the process that is being fed */
	uint8_t *places;       /* by process: 1 + is it a device; 0 = not yet asked */
	size_t place_cap;
	uint8_t *categories; /* by string: 1 + are its spans calls or work */
	size_t category_cap;
	uint64_t rows, most; /* kept, and at most of one process */
	bool begun;          /* groups are there */
	bool left;           /* a process had more: it is not evaluated */
};

void ut_kernel_report_init(struct ut_kernel_report *r);
void ut_kernel_report_release(struct ut_kernel_report *r);

/* After the last event of a process. */
void ut_kernel_report_end(struct ut_kernel_report *r, const struct ut_trace *trace);

/* Adds the table, if there is anything to say. Nothing is fed afterwards. */
void ut_kernel_report_print(struct ut_kernel_report *r, const struct ut_report_opts *opts,
			    struct ut_buf *to);

#endif
