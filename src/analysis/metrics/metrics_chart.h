/*
 * metrics_chart.h - charts of hardware metrics: sets of metrics over the samples of kernels,
 * throughputs, stalls by instruction.
 */
#ifndef UT_METRICS_METRICS_CHART_H
#define UT_METRICS_METRICS_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "draw/chart.h"

struct ut_metrics_data;
struct ut_stall_samples;
struct ut_logger;

/* One chart: metrics that share an axis. */
struct ut_metrics_set {
	size_t first, count; /* of the wanted titles */
	const char *label;   /* of the y axis; NULL = made of the units */
	bool is_throughput;  /* each divided by the time of its sample */
};

struct ut_metrics_plan {
	const char *title, *x_label; /* NULL = our own */
	const struct ut_str *titles; /* wanted of ut_metrics_data_read(), in its order */
	size_t title_count;
	size_t time; /* which of them is GpuTime[ns]; used for throughput */
	const struct ut_metrics_set *sets;
	size_t set_count;
};

struct ut_metrics_section;

/* Everything that was measured, for whoever has not said what: a set for each unit. Lives in the
 * arena, as do copies of the titles; title and x_label stay. */
void ut_metrics_plan_all(struct ut_metrics_plan *plan, struct ut_arena *a,
			 const struct ut_metrics_section *section);

/* Charts and what they point to. {0} is empty; they do not outlive the data they were made of. */
struct ut_metrics_charts {
	struct ut_arena arena;
	struct ut_chart *charts;
	size_t count, cap;
};

/* An empty one more, to be filled before the next. */
struct ut_chart *ut_metrics_charts_new(struct ut_metrics_charts *c);

/*
 * A chart for each set that has data. What a set asks for and the file does not have is told; sets
 * of nothing else have no chart.
 */
void ut_metrics_charts_add(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
			   const struct ut_metrics_data *data, const struct ut_logger *logger);

/* The same with charts of its own for each kernel, in the order in which they first ran. */
void ut_metrics_charts_add_kernels(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
				   const struct ut_metrics_data *d, const struct ut_logger *logger);

/* Stalls of one kernel by instruction: those that have any, 100 to a chart. */
void ut_metrics_charts_add_stalls(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
				  const struct ut_stall_samples *samples);

void ut_metrics_charts_release(struct ut_metrics_charts *c);

#endif
