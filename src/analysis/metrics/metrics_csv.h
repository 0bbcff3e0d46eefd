/*
 * metrics_csv.h - reads files of hardware metrics (docs/formats/metrics.md) row by row: what -q, -k
 * and --stall-sampling leave, of ours and of Intel's unitrace, with or without banners, and the
 * older form in which every kernel has its own header behind the tables of a run.
 *
 * A row costs the search for its end and a look at its name; the other fields are split when one of
 * them is asked for, and become numbers one by one. Memory is one piece of the file, the longest
 * line and the names of kernels. Files may be compressed. One owner, one thread.
 */
#ifndef UT_METRICS_METRICS_CSV_H
#define UT_METRICS_METRICS_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_metrics_file;
struct ut_logger;

enum ut_metrics_layout {
	UT_METRICS_QUERY, /* a row for each instance of a kernel, and each tile */
	UT_METRICS_TIME,  /* a row for each sample */
	UT_METRICS_STALL, /* a row for each instruction */
	UT_METRICS_OLD,   /* as QUERY: no numbers of instances, a device in each row */
};

#define UT_METRICS_NONE       SIZE_MAX
#define UT_METRICS_TIME_TITLE "GpuTime[ns]" /* what a row is about has taken */

/* What one header says: the rows behind it have these columns. */
struct ut_metrics_section {
	enum ut_metrics_layout layout;
	uint32_t number;              /* of the section in the file, from 0 */
	uint64_t device;              /* OLD: see the row */
	uint64_t line;                /* of the header */
	const struct ut_str *columns; /* all titles; the first one is Kernel */
	size_t count;
	size_t first; /* the first column that is a metric; before it: name, ids or address */
};

/* Which column has this title; UT_METRICS_NONE: none. */
size_t ut_metrics_column(const struct ut_metrics_section *s, struct ut_str title);

/* The unit of a title, "ns" of "GpuTime[ns]"; empty = it has none. */
struct ut_str ut_metrics_unit(struct ut_str title);

struct ut_metrics_row {
	const struct ut_metrics_section *section; /* as long as the file is open */
	uint64_t line;
	uint64_t device;
	uint32_t kernel;     /* of its name, from 1: ut_metrics_kernel() */
	uint64_t instance;   /* GlobalInstanceId; 0 = the layout has none, or no kernel ran */
	uint64_t sub_device; /* 0 where there are none */
	uint64_t address;    /* STALL */
	uint64_t group;      /* rows of one instance have one, counted in the file from 1 */
	bool is_repeated;    /* OLD: the same line was there before; its group is not to be used */
};

/*
 * Opens the file and finds the first header: -ENOENT and others if it cannot be opened, -ENODATA if
 * it is empty, -EINVAL if it has no metrics. A last line that was cut off is told and left out.
 */
int ut_metrics_open(struct ut_metrics_file **f, const char *path, const struct ut_logger *logger,
		    struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_close(struct ut_metrics_file *f); /* NULL is fine */

/* The next row: 1, or 0 at the end; -EINVAL with the number of the line. */
int ut_metrics_next(struct ut_metrics_file *f, struct ut_metrics_row *row,
		    struct ut_err *err) UT_MUST_CHECK;

/* Sections whose headers have been read, by number, also those without rows; NULL: no more. */
const struct ut_metrics_section *ut_metrics_section(const struct ut_metrics_file *f, size_t number);

/* A name, without its quotes; it stays until the file is closed. */
struct ut_str ut_metrics_kernel(const struct ut_metrics_file *f, uint32_t kernel);
uint32_t ut_metrics_kernels(const struct ut_metrics_file *f); /* so many names so far */

/* A field of the last row; NaN where nothing was measured. -EINVAL: it is no number. */
int ut_metrics_value(struct ut_metrics_file *f, size_t column, double *value,
		     struct ut_err *err) UT_MUST_CHECK;

/* The same as the file has it, without blanks around it, until the next row is read. */
int ut_metrics_field(struct ut_metrics_file *f, size_t column, struct ut_str *field,
		     struct ut_err *err) UT_MUST_CHECK;

#endif
