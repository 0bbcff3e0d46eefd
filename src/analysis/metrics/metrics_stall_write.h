/*
 * metrics_stall_write.h - counts samples of stalls by instruction and reason, and writes them: the
 * section of a metrics file, and stalls.json beside the code (docs/formats/metrics.md); or gives
 * them to those who ask why a kernel waits (stall_report.h).
 *
 * Of metrics_csv_write.h it is a part. One owner, one thread.
 */
#ifndef UT_METRICS_METRICS_STALL_WRITE_H
#define UT_METRICS_METRICS_STALL_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_arena;
struct ut_event;
struct ut_metrics_write;
struct ut_out;
struct ut_stall_samples;
struct ut_stall_table;
struct ut_store;
struct ut_trace;

/* The name of a sample in which the scheduler issued nothing, of any warp. */
#define UT_STALL_NOT_ISSUED "not issued"

struct ut_stall_table *ut_stall_table_new(void);
void ut_stall_table_free(struct ut_stall_table *t); /* NULL is fine */

/* A sample of a device, UT_KIND_SAMPLE; one without a place in code is left out. */
void ut_stall_table_add(struct ut_stall_table *t, const struct ut_trace *trace,
			const struct ut_event *e);

/* The same of a store, whose arguments lie elsewhere. */
void ut_stall_table_add_stored(struct ut_stall_table *t, const struct ut_store *store,
			       const struct ut_event *e);

/* Instructions so far. */
size_t ut_stall_table_count(const struct ut_stall_table *t);

/* A section for each device. */
void ut_stall_table_write(struct ut_stall_table *t, struct ut_metrics_write *w,
			  const struct ut_trace *trace);

/* A kernel or a module, and its samples. */
struct ut_stall_part {
	struct ut_str name; /* the trace's */
	uint64_t samples;
};

/* The kernels, or the modules that hold one of that name; the one with most samples first. In the
 * arena. */
struct ut_stall_part *ut_stall_table_kernels(const struct ut_stall_table *t,
					     const struct ut_trace *trace, struct ut_arena *a,
					     size_t *count);
struct ut_stall_part *ut_stall_table_modules(const struct ut_stall_table *t,
					     const struct ut_trace *trace, struct ut_str kernel,
					     struct ut_arena *a, size_t *count);

/* What was sampled of a kernel in one module, as whoever reads the section would have it. In the
 * arena, names are the trace's. */
void ut_stall_table_samples(const struct ut_stall_table *t, const struct ut_trace *trace,
			    struct ut_str kernel, struct ut_str module, struct ut_arena *a,
			    struct ut_stall_samples *s);

/*
 * stalls.json. module() is asked for each file of code that was sampled, and says how many bytes it
 * has; negative = it is not there.
 */
void ut_stall_table_json(struct ut_stall_table *t, const struct ut_trace *trace, struct ut_out *out,
			 int64_t (*module)(void *ctx, const char *file), void *ctx);

#endif
