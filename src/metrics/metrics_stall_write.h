/*
 * metrics_stall_write.h - counts samples of stalls by instruction and reason, and writes them: the
 * section of a metrics file, and stalls.json beside the code (docs/formats/metrics.md).
 *
 * A part of metrics_csv_write.h, which owns it. One thread.
 */
#ifndef UT_METRICS_METRICS_STALL_WRITE_H
#define UT_METRICS_METRICS_STALL_WRITE_H

#include <stddef.h>
#include <stdint.h>

struct ut_event;
struct ut_metrics_write;
struct ut_out;
struct ut_stall_table;
struct ut_trace;

/* The name of a sample in which the scheduler issued nothing, of any warp. */
#define UT_STALL_NOT_ISSUED "not issued"

struct ut_stall_table *ut_stall_table_new(void);
void ut_stall_table_free(struct ut_stall_table *t); /* NULL is fine */

/* A sample of a device, UT_KIND_SAMPLE; one without a place in code is left out. */
void ut_stall_table_add(struct ut_stall_table *t, const struct ut_trace *trace,
			const struct ut_event *e);

/* Instructions so far. */
size_t ut_stall_table_count(const struct ut_stall_table *t);

/* A section for each device. */
void ut_stall_table_write(struct ut_stall_table *t, struct ut_metrics_write *w,
			  const struct ut_trace *trace);

/*
 * stalls.json. module() is asked for each file of code that was sampled, and says how many bytes it
 * has; negative = it is not there.
 */
void ut_stall_table_json(struct ut_stall_table *t, const struct ut_trace *trace, struct ut_out *out,
			 int64_t (*module)(void *ctx, const char *file), void *ctx);

#endif
