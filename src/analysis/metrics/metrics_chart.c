#include "metrics/metrics_chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UT_LOG_MODULE "metrics"
#include "base/grow.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/logger.h"
#include "metrics/metrics_data.h"

#define X_TIME  "Time (in sampling intervals)"
#define X_QUERY "Instance"
#define TITLE   "Performance Metrics"
#define NAMED   400u /* stretches that are worth their names */
#define GROUPS  40u  /* instances that have bars of their own */

struct ut_chart *ut_metrics_charts_new(struct ut_metrics_charts *c)
{
	c->charts = ut_grow(c->charts, c->count + 1, &c->cap, sizeof(*c->charts));
	c->charts[c->count] = (struct ut_chart){ 0 };
	return &c->charts[c->count++];
}

void ut_metrics_charts_release(struct ut_metrics_charts *c)
{
	free(c->charts);
	ut_arena_release(&c->arena);
	*c = (struct ut_metrics_charts){ 0 };
}

static struct ut_str made(char *text)
{
	return ut_str_of(text);
}

/* ---- a plan of everything ------------------------------------------------------------------- */

/* What says how a sample was taken, and nothing about the kernel. */
static bool is_about_sample(struct ut_str title)
{
	static const char *const titles[] = { UT_METRICS_TIME_TITLE, "QueryBeginTime[ns]",
					      "ReportReason",        "ContextIdValid",
					      "ContextId",           "SourceId",
					      "StreamMarker" };

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		if (ut_str_is(title, titles[i]))
			return true;
	}
	return !title.len;
}

/* Titles with this unit, from the nth column on; marks them as taken. */
static void add_unit(struct ut_metrics_plan *plan, struct ut_str *titles, bool *taken,
		     const struct ut_metrics_section *s, size_t from)
{
	struct ut_str unit = ut_metrics_unit(s->columns[from]);

	for (size_t i = from; i < s->count; i++) {
		if (taken[i] || is_about_sample(s->columns[i]) ||
		    !ut_str_eq(ut_metrics_unit(s->columns[i]), unit))
			continue;
		taken[i] = true;
		titles[plan->title_count++] = s->columns[i];
	}
}

void ut_metrics_plan_all(struct ut_metrics_plan *plan, struct ut_arena *a,
			 const struct ut_metrics_section *s)
{
	struct ut_str *titles = UT_NEW_N(a, struct ut_str, s->count + 1);
	struct ut_metrics_set *sets = UT_NEW_N(a, struct ut_metrics_set, s->count);
	bool *taken = UT_NEW_N(a, bool, s->count);

	plan->title_count = plan->set_count = 0;
	for (size_t i = s->first; i < s->count; i++) {
		struct ut_metrics_set *set = &sets[plan->set_count];

		if (taken[i] || is_about_sample(s->columns[i]))
			continue;
		set->first = plan->title_count;
		add_unit(plan, titles, taken, s, i);
		set->count = plan->title_count - set->first;
		plan->set_count++;
	}
	plan->time = plan->title_count;
	titles[plan->title_count++] = ut_str_of(UT_METRICS_TIME_TITLE);
	for (size_t i = 0; i < plan->title_count; i++)
		titles[i].ptr = ut_arena_copy(a, titles[i].ptr, titles[i].len);
	plan->titles = titles;
	plan->sets = sets;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Which kernel and instance, or how many. */
static struct ut_str subtitle(struct ut_arena *a, const struct ut_metrics_data *d)
{
	const struct ut_metrics_run *first = &d->runs[0];
	bool is_one = true, is_nth = true;

	for (size_t i = 1; i < d->run_count; i++) {
		is_one &= ut_str_eq(d->runs[i].kernel, first->kernel);
		is_nth &= d->runs[i].nth == first->nth;
	}
	if (d->run_count == 1)
		return made(ut_str_fmt(
			a,
			first->instance && first->instance != first->nth
				? "%.*s, instance %" PRIu64 " (%" PRIu64 " of the process)"
				: "%.*s, instance %" PRIu64,
			(int)first->kernel.len, first->kernel.ptr, first->nth, first->instance));
	if (is_one)
		return made(ut_str_fmt(a, "%.*s, %zu instances", (int)first->kernel.len,
				       first->kernel.ptr, d->run_count));
	if (is_nth)
		return made(ut_str_fmt(
			a, "instance %" PRIu64 " of each of %zu kernels on device %" PRIu64,
			first->nth, d->run_count, d->device));
	return made(ut_str_fmt(a, "all kernels on device %" PRIu64 ", %zu instances", d->device,
			       d->run_count));
}

/* The unit of all metrics of the set; empty if they have none or several. */
static struct ut_str unit_of(const struct ut_metrics_data *d, const struct ut_metrics_set *set)
{
	struct ut_str unit = { NULL, 0 };

	for (size_t i = set->first; i < set->first + set->count; i++) {
		struct ut_str own;

		if (!d->columns[i])
			continue;
		own = ut_metrics_unit(d->titles[i]);
		if (unit.ptr && !ut_str_eq(unit, own))
			return ut_str_of("");
		unit = own;
	}
	return unit.ptr ? unit : ut_str_of("");
}

static struct ut_str y_label(struct ut_arena *a, const struct ut_metrics_data *d,
			     const struct ut_metrics_set *set)
{
	struct ut_str unit = unit_of(d, set);

	if (set->label)
		return ut_str_of(set->label);
	if (!set->is_throughput)
		return unit;
	/* something a ns is so many billions of it a second */
	if (!unit.len || ut_str_is(unit, "bytes"))
		return ut_str_of("Throughput (GB/s)");
	return made(ut_str_fmt(a, "Throughput (G %.*s/s)", (int)unit.len, unit.ptr));
}

/* ---- series --------------------------------------------------------------------------------- */

/* A column, or what of it was done in a ns. */
static const double *values_of(struct ut_arena *a, const struct ut_metrics_plan *plan,
			       const struct ut_metrics_data *d, const struct ut_metrics_set *set,
			       size_t column)
{
	const double *time = d->columns[plan->time];
	double *values;

	if (!set->is_throughput)
		return d->columns[column];
	values = UT_NEW_N(a, double, d->rows + 1);
	for (size_t i = 0; i < d->rows; i++)
		values[i] = time && time[i] > 0 ? d->columns[column][i] / time[i] : NAN;
	return values;
}

/* Instances as stretches of the axis, unless there is only one or too many to tell apart. */
static void add_spans(struct ut_arena *a, struct ut_chart *chart, const struct ut_metrics_data *d)
{
	struct ut_chart_span *spans;

	if (d->run_count < 2 || d->run_count > NAMED || d->run_count == d->rows)
		return;
	spans = UT_NEW_N(a, struct ut_chart_span, d->run_count);
	for (size_t i = 0; i < d->run_count; i++) {
		const struct ut_metrics_run *run = &d->runs[i];

		spans[i].from = i ? (double)run->first - 0.5 : 0;
		spans[i].to = (double)(run->first + run->count) - 0.5;
		spans[i].name =
			made(ut_str_fmt(a, "%.*s #%" PRIu64, (int)ut_metrics_shape(run->kernel),
					run->kernel.ptr, run->nth));
	}
	chart->spans = spans;
	chart->span_count = d->run_count;
}

/* One for each metric, with all rows. */
static struct ut_series *add_series(struct ut_arena *a, struct ut_chart *chart,
				    const struct ut_metrics_plan *plan,
				    const struct ut_metrics_data *d,
				    const struct ut_metrics_set *set)
{
	struct ut_series *series = UT_NEW_N(a, struct ut_series, set->count + 1);

	for (size_t i = set->first; i < set->first + set->count; i++) {
		if (!d->columns[i])
			continue;
		series[chart->count++] = (struct ut_series){ .name = d->titles[i],
							     .y = values_of(a, plan, d, set, i),
							     .count = d->rows };
	}
	chart->series = series;
	return series;
}

/* Samples, one after the other. */
static void add_lines(struct ut_arena *a, struct ut_chart *chart,
		      const struct ut_metrics_plan *plan, const struct ut_metrics_data *d,
		      const struct ut_metrics_set *set)
{
	add_series(a, chart, plan, d, set);
	chart->x.title = ut_str_of(plan->x_label                  ? plan->x_label
				   : d->layout == UT_METRICS_TIME ? X_TIME
								  : X_QUERY);
	chart->y.title = y_label(a, d, set);
	add_spans(a, chart, d);
}

/* A single sample: a bar for each metric. */
static void add_bars(struct ut_arena *a, struct ut_chart *chart, const struct ut_metrics_plan *plan,
		     const struct ut_metrics_data *d, const struct ut_metrics_set *set)
{
	struct ut_series *series = UT_NEW(a, struct ut_series);
	struct ut_str *names = UT_NEW_N(a, struct ut_str, set->count + 1);
	double *values = UT_NEW_N(a, double, set->count + 1);

	for (size_t i = set->first; i < set->first + set->count; i++) {
		if (!d->columns[i])
			continue;
		names[series->count] = d->titles[i];
		values[series->count++] = values_of(a, plan, d, set, i)[0];
	}
	series->kind = UT_SERIES_BARS;
	series->y = values;
	chart->series = series;
	chart->count = 1;
	chart->is_sideways = true;
	chart->x.title = y_label(a, d, set);
	chart->y.names = names;
	chart->y.name_count = series->count;
}

/* "gemm #2", and of which tile if an instance has a row for each. */
static struct ut_str *instance_names(struct ut_arena *a, const struct ut_metrics_data *d)
{
	struct ut_str *names = UT_NEW_N(a, struct ut_str, d->rows + 1);

	for (size_t i = 0; i < d->run_count; i++) {
		const struct ut_metrics_run *run = &d->runs[i];
		int len = (int)ut_metrics_shape(run->kernel);

		for (size_t k = 0; k < run->count; k++)
			names[run->first + k] =
				made(run->count > 1 ? ut_str_fmt(a, "%.*s #%" PRIu64 ", tile %zu",
								 len, run->kernel.ptr, run->nth, k)
						    : ut_str_fmt(a, "%.*s #%" PRIu64, len,
								 run->kernel.ptr, run->nth));
	}
	return names;
}

/* Few instances, each measured at once: nothing leads from one to the next, so no lines do. */
static bool is_for_groups(const struct ut_metrics_data *d)
{
	return d->rows <= GROUPS && (d->layout != UT_METRICS_TIME || d->rows == d->run_count);
}

static void add_groups(struct ut_arena *a, struct ut_chart *chart,
		       const struct ut_metrics_plan *plan, const struct ut_metrics_data *d,
		       const struct ut_metrics_set *set)
{
	struct ut_series *series = add_series(a, chart, plan, d, set);

	for (size_t i = 0; i < chart->count; i++)
		series[i].kind = UT_SERIES_BARS;
	chart->is_sideways = true;
	chart->x.title = y_label(a, d, set);
	chart->y.names = instance_names(a, d);
	chart->y.name_count = d->rows;
}

/* How many of the set are there; the others are told. */
static size_t count_here(const struct ut_metrics_plan *plan, const struct ut_metrics_data *d,
			 const struct ut_metrics_set *set, const struct ut_logger *logger)
{
	size_t here = 0;

	for (size_t i = set->first; i < set->first + set->count; i++) {
		struct ut_str title = plan->titles[i];

		here += d->columns[i] != NULL;
		if (!d->columns[i])
			ut_logger_log(logger, UT_WARN, "No metric data for %.*s",
				      (int)(title.len < 300 ? title.len : 300), title.ptr);
	}
	if (here && set->is_throughput && !d->columns[plan->time]) {
		ut_logger_log(logger, UT_WARN, "No throughput: the file has no GpuTime[ns]");
		return 0;
	}
	return here;
}

void ut_metrics_charts_add(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
			   const struct ut_metrics_data *d, const struct ut_logger *logger)
{
	for (size_t i = 0; i < plan->set_count; i++) {
		const struct ut_metrics_set *set = &plan->sets[i];
		struct ut_chart *chart;

		if (!count_here(plan, d, set, logger))
			continue;
		chart = ut_metrics_charts_new(c);
		chart->title = ut_str_of(plan->title ? plan->title : TITLE);
		chart->subtitle = subtitle(&c->arena, d);
		if (d->rows == 1)
			add_bars(&c->arena, chart, plan, d, set);
		else if (is_for_groups(d))
			add_groups(&c->arena, chart, plan, d, set);
		else
			add_lines(&c->arena, chart, plan, d, set);
	}
}

/* Of d, the instances of one kernel: the first that has it is run number of. */
static struct ut_metrics_data *of_kernel(struct ut_arena *a, const struct ut_metrics_data *d,
					 size_t of)
{
	struct ut_metrics_data *own = UT_NEW(a, struct ut_metrics_data);
	size_t rows = 0, runs = 0;

	for (size_t i = of; i < d->run_count; i++) {
		if (ut_str_eq(d->runs[i].kernel, d->runs[of].kernel)) {
			rows += d->runs[i].count;
			runs++;
		}
	}
	*own = *d;
	own->rows = own->run_count = 0;
	own->columns = UT_NEW_N(a, double *, d->count + 1);
	own->runs = UT_NEW_N(a, struct ut_metrics_run, runs);
	for (size_t k = 0; k < d->count; k++)
		own->columns[k] = d->columns[k] ? UT_NEW_N(a, double, rows + 1) : NULL;
	for (size_t i = of; i < d->run_count; i++) {
		const struct ut_metrics_run *run = &d->runs[i];

		if (!ut_str_eq(run->kernel, d->runs[of].kernel))
			continue;
		for (size_t k = 0; k < d->count; k++) {
			if (d->columns[k])
				memcpy(own->columns[k] + own->rows, d->columns[k] + run->first,
				       run->count * sizeof(double));
		}
		own->runs[own->run_count] = *run;
		own->runs[own->run_count++].first = own->rows;
		own->rows += run->count;
	}
	return own;
}

void ut_metrics_charts_add_kernels(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
				   const struct ut_metrics_data *d, const struct ut_logger *logger)
{
	struct ut_idmap seen;

	ut_idmap_init(&seen, &c->arena);
	for (size_t i = 0; i < d->run_count; i++) {
		uint64_t hash = ut_hash_bytes(d->runs[i].kernel.ptr, d->runs[i].kernel.len);

		if (ut_idmap_get(&seen, hash))
			continue;
		ut_idmap_put(&seen, hash, 1);
		/* what the file has not is told once */
		ut_metrics_charts_add(c, plan, of_kernel(&c->arena, d, i), i ? NULL : logger);
	}
}
