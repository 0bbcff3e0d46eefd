/*
 * device_table.h - time by function and by kernel: the rows of Intel's tables, from a device log.
 *
 * The log is finished. Rows are sorted as there: total time descending, then calls, then name.
 */
#ifndef UT_ANALYZE_DEVICE_TABLE_H
#define UT_ANALYZE_DEVICE_TABLE_H

#include <stdbool.h>

#include "analyze/device_log.h"
#include "base/str.h"

struct ut_device_row {
	const char *name; /* lives in the table's arena */
	const struct ut_device_kernel
		*kernel; /* what else is known of a kernel; NULL = no kernel */
	uint64_t calls, total, min, max;
	uint64_t append, submit; /* waited in its queue, waited for the device; work only */
};

/* One section of a table: see struct ut_device_api. */
struct ut_device_section {
	struct ut_device_row *rows;
	size_t count, cap;
	uint64_t total, append, submit; /* of all rows */
};

struct ut_device_table {
	struct ut_arena arena;
	struct ut_device_section *sections; /* one for each of the log's apis */
	size_t section_count;
	uint64_t execution; /* ns, from the first to the last sign of life */
};

/* Calls of one source, or of all (UT_DEVICE_ALL). */
void ut_device_table_calls(struct ut_device_table *t, const struct ut_device_log *log,
			   uint32_t source);

/* Work; with shapes, kernels of different sizes are different rows. */
void ut_device_table_work(struct ut_device_table *t, const struct ut_device_log *log,
			  uint32_t source, bool shapes);

void ut_device_table_release(struct ut_device_table *t);

/* What is not known happened at once, as the tables have it. */
uint64_t ut_device_submitted(const struct ut_device_work *w);
uint64_t ut_device_appended(const struct ut_device_work *w);

/* "gemm[SIMD32 {64; 1; 1} {256; 1; 1}]", "Memcpy HtoD[4096]" */
void ut_device_shaped_name(struct ut_buf *to, const struct ut_device_log *log,
			   const struct ut_device_work *w);

#endif
