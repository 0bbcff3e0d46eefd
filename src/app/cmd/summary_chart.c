#include "cmd/summary_chart.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/str.h"
#include "category/tally.h"
#include "cmd/chart_file.h"
#include "draw/chart.h"

static int summary_chart_by_time(const void *a, const void *b)
{
	const struct ut_tally_line *const *x = a, *const *y = b;
	double p = (*x)->time.real, q = (*y)->time.real;

	if (p < q || p > q)
		return p < q ? 1 : -1;
	return ut_str_cmp((*x)->category, (*y)->category);
}

/* Those of work, the longest first; what stands for the whole run is no part of it. */
static size_t summary_chart_choose(const struct ut_tally_line **to,
				   const struct ut_tally_line *lines, size_t count, double *all)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (lines[i].whole_run)
			continue;
		to[n++] = &lines[i];
		*all += lines[i].time.real;
	}
	qsort(to, n, sizeof(struct ut_tally_line *), summary_chart_by_time);
	return n;
}

int ut_summary_chart(const char *path, const char *title, const struct ut_tally_line *lines,
		     size_t count, struct ut_err *err)
{
	struct ut_arena a = { 0 };
	const struct ut_tally_line **chosen = UT_NEW_N(&a, const struct ut_tally_line *, count + 1);
	struct ut_str *names = UT_NEW_N(&a, struct ut_str, count + 1);
	struct ut_str *notes = UT_NEW_N(&a, struct ut_str, count + 1);
	double *times = UT_NEW_N(&a, double, count + 1), all = 0;
	size_t n = summary_chart_choose(chosen, lines, count, &all);
	const struct ut_series series = {
		.kind = UT_SERIES_BARS, .y = times, .notes = notes, .count = n
	};
	const struct ut_chart chart = {
		.title = ut_str_of("Device time by category"),
		.subtitle = ut_str_of(title),
		.x = { .title = ut_str_of("Time"), .numbers = UT_NUMBERS_NS },
		.y = { .names = names, .name_count = n },
		.series = &series,
		.count = 1,
		.is_sideways = true,
	};
	int rc;

	for (size_t i = 0; i < n; i++) {
		double share;

		times[i] = chosen[i]->time.real;
		share = all > 0 ? 100 * times[i] / all : 0;
		names[i] = ut_str_of(ut_str_fmt(&a, "%.*s (%.1f %%)", (int)chosen[i]->category.len,
						chosen[i]->category.ptr, share));
		notes[i] =
			ut_str_of(ut_str_fmt(&a, "%.*s: %.1f %%, %.0f calls of %zu kernels",
					     (int)chosen[i]->category.len, chosen[i]->category.ptr,
					     share, chosen[i]->calls.real, chosen[i]->names));
	}
	rc = ut_chart_file_write(&(struct ut_chart_file){ .path = path,
							  .title = "Device time by category",
							  .input = title,
							  .charts = &chart,
							  .count = 1 },
				 err);
	ut_arena_release(&a);
	return rc;
}
