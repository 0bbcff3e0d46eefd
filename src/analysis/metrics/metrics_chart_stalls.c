/* metrics_chart_stalls.c - stalls by instruction, as bars of their reasons on each other. */
#include "metrics/metrics_chart.h"

#include <inttypes.h>
#include <stdlib.h>

#include "draw/palette.h"
#include "metrics/metrics_stalls.h"

#define PAGE 100u /* instructions on one */

/* What is drawn of a kernel: its rows with stalls, and the reasons that have a colour. */
struct shown {
	const struct ut_stall_samples *samples;
	size_t *rows;
	size_t row_count;
	size_t reasons[UT_PALETTE];
	size_t reason_count;
	size_t rest; /* reasons that share the last colour; 0 = none */
};

static bool is_stall(struct ut_str reason)
{
	return !ut_str_has_start(reason, "Active") && !ut_str_has_start(reason, "selected");
}

static uint64_t count_of(const struct ut_stall_samples *s, size_t row, size_t reason)
{
	return s->counts[row * s->reason_count + reason];
}

static bool has_stalls(const struct ut_stall_samples *s, size_t row)
{
	for (size_t i = 0; i < s->reason_count; i++) {
		if (is_stall(s->reasons[i]) && count_of(s, row, i))
			return true;
	}
	return false;
}

struct total {
	uint64_t count;
	size_t reason;
};

static int metrics_chart_stalls_by_count(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->reason > y->reason) - (x->reason < y->reason);
}

static int metrics_chart_stalls_by_place(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* All reasons, in the order of the file; of more than there are colours, the most frequent ones. */
static void choose_reasons(struct shown *s, struct ut_arena *a)
{
	const struct ut_stall_samples *of = s->samples;
	struct total *totals = UT_NEW_N(a, struct total, of->reason_count + 1);
	size_t count = 0;

	for (size_t i = 0; i < of->reason_count; i++) {
		if (!is_stall(of->reasons[i]))
			continue;
		totals[count].reason = i;
		for (size_t row = 0; row < of->row_count; row++)
			totals[count].count += count_of(of, row, i);
		count++;
	}
	s->reason_count = count;
	if (count > UT_PALETTE) {
		qsort(totals, count, sizeof(*totals), metrics_chart_stalls_by_count);
		s->reason_count = UT_PALETTE - 1;
		s->rest = count - s->reason_count;
	}
	for (size_t i = 0; i < s->reason_count; i++)
		s->reasons[i] = totals[i].reason;
	qsort(s->reasons, s->reason_count, sizeof(s->reasons[0]), metrics_chart_stalls_by_place);
}

/* Without the unit: "SbidStall". */
static struct ut_str short_reason(struct ut_str reason)
{
	const char *open = memchr(reason.ptr, '[', reason.len);

	return open ? (struct ut_str){ reason.ptr, (size_t)(open - reason.ptr) } : reason;
}

/* All stalls of the row but those that have a colour of their own. */
static double others(const struct shown *s, size_t row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->samples->reason_count; i++)
		sum += is_stall(s->samples->reasons[i]) ? count_of(s->samples, row, i) : 0;
	for (size_t i = 0; i < s->reason_count; i++)
		sum -= count_of(s->samples, row, s->reasons[i]);
	return (double)sum;
}

static struct ut_series *series_of(const struct shown *s, struct ut_arena *a, size_t from,
				   size_t count)
{
	struct ut_series *series = UT_NEW_N(a, struct ut_series, UT_PALETTE);

	for (size_t i = 0; i < s->reason_count + (s->rest > 0); i++) {
		bool is_rest = i == s->reason_count;
		double *values = UT_NEW_N(a, double, count);

		for (size_t k = 0; k < count; k++) {
			size_t row = s->rows[from + k];

			values[k] = is_rest ? others(s, row)
					    : (double)count_of(s->samples, row, s->reasons[i]);
		}
		series[i] =
			(struct ut_series){ .kind = UT_SERIES_BARS, .y = values, .count = count };
		series[i].name = is_rest ? ut_str_of(ut_str_fmt(a, "%zu other reasons", s->rest))
					 : short_reason(s->samples->reasons[s->reasons[i]]);
	}
	return series;
}

static void add_page(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
		     const struct shown *s, size_t from)
{
	size_t count = s->row_count - from < PAGE ? s->row_count - from : PAGE;
	struct ut_str *names = UT_NEW_N(&c->arena, struct ut_str, count);
	struct ut_str kernel = s->samples->kernel;
	struct ut_chart *chart;

	for (size_t i = 0; i < count; i++)
		names[i] = ut_str_of(ut_str_fmt(&c->arena, "0x%08" PRIX64,
						s->samples->addresses[s->rows[from + i]]));
	chart = ut_metrics_charts_new(c);
	*chart = (struct ut_chart){
		.title = ut_str_of(plan->title ? plan->title : "Stalls by Instruction"),
		.subtitle = kernel,
		.x = { .title = ut_str_of(plan->x_label ? plan->x_label : "Instruction address"),
		       .names = names,
		       .name_count = count },
		.y = { .title = ut_str_of("Stalls (samples)") },
		.series = series_of(s, &c->arena, from, count),
		.count = s->reason_count + (s->rest > 0),
		.is_stacked = true,
	};
	if (s->row_count > PAGE)
		chart->subtitle = ut_str_of(ut_str_fmt(
			&c->arena, "%.*s, instructions %zu to %zu of %zu that stall",
			(int)kernel.len, kernel.ptr, from + 1, from + count, s->row_count));
}

void ut_metrics_charts_add_stalls(struct ut_metrics_charts *c, const struct ut_metrics_plan *plan,
				  const struct ut_stall_samples *samples)
{
	struct shown s = { .samples = samples };

	s.rows = UT_NEW_N(&c->arena, size_t, samples->row_count + 1);
	for (size_t i = 0; i < samples->row_count; i++) {
		if (has_stalls(samples, i))
			s.rows[s.row_count++] = i;
	}
	choose_reasons(&s, &c->arena);
	for (size_t from = 0; from < s.row_count; from += PAGE)
		add_page(c, plan, &s, from);
}
