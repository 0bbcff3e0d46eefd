#include "tt/log_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "text/out.h"
#include "text/table_report.h"

static const struct ut_tt_stats none[UT_TT_MAX_RULES];

struct numbered {
	int32_t id;
	const struct ut_tt_stats *before, *after;
};

static int log_compare_by_id(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (b->before != none) - (a->before != none);
}

static size_t add_chips(struct numbered *list, size_t n, const struct ut_tt_analysis *a, bool after)
{
	for (size_t i = 0; i < a->log->chip_count; i++) {
		list[n].id = a->log->chips[i].id;
		list[n].before = after ? none : a->chips[i].summary;
		list[n].after = after ? a->chips[i].summary : none;
		n++;
	}
	return n;
}

/* Chips of both by number; a chip of both becomes one. Returns how many are left. */
static size_t join_chips(struct numbered *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof(*list), log_compare_by_id);
	for (size_t i = 0; i < n; i++) {
		if (kept && list[kept - 1].id == list[i].id && list[kept - 1].after == none)
			list[kept - 1].after = list[i].after;
		else
			list[kept++] = list[i];
	}
	return kept;
}

#define PEOPLE .readers = UT_FOR_PEOPLE
#define PERCENT(k, t)                                                                              \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "%", .type = UT_REPORT_SHARE, PEOPLE             \
	}
#define ONE .type = UT_REPORT_NUMBER, .digits = UT_DIGITS_FIXED + 1

static const struct ut_report_column columns[] = {
	{ .key = "chip", .title = "chip", .type = UT_REPORT_COUNT },
	{ .key = "duration", .title = "duration [cycles]", .type = UT_REPORT_TEXT },
	{ .key = "count", .title = "count", .group = "before", .type = UT_REPORT_COUNT, PEOPLE },
	{ .key = "count", .title = "then", .group = "after", .type = UT_REPORT_COUNT, PEOPLE },
	{ .key = "average", .title = "average", .group = "before", ONE, PEOPLE },
	{ .key = "average", .title = "then", .group = "after", ONE, PEOPLE },
	PERCENT("average", "average"),
	PERCENT("median", "median"),
	PERCENT("max", "max"),
	{ .key = "count", .group = "before", .type = UT_REPORT_COUNT, .readers = UT_FOR_PROGRAMS },
	{ .key = "average",
	  .group = "before",
	  .unit = "cycles",
	  .type = UT_REPORT_NUMBER,
	  .readers = UT_FOR_PROGRAMS },
	{ .key = "median",
	  .group = "before",
	  .unit = "cycles",
	  .type = UT_REPORT_NUMBER,
	  .readers = UT_FOR_PROGRAMS },
	{ .key = "max",
	  .group = "before",
	  .unit = "cycles",
	  .type = UT_REPORT_COUNT,
	  .readers = UT_FOR_PROGRAMS },
	{ .key = "count", .group = "after", .type = UT_REPORT_COUNT, .readers = UT_FOR_PROGRAMS },
	{ .key = "average",
	  .group = "after",
	  .unit = "cycles",
	  .type = UT_REPORT_NUMBER,
	  .readers = UT_FOR_PROGRAMS },
	{ .key = "median",
	  .group = "after",
	  .unit = "cycles",
	  .type = UT_REPORT_NUMBER,
	  .readers = UT_FOR_PROGRAMS },
	{ .key = "max",
	  .group = "after",
	  .unit = "cycles",
	  .type = UT_REPORT_COUNT,
	  .readers = UT_FOR_PROGRAMS },
};

static const struct ut_report_table table = { .columns = columns,
					      .count = sizeof(columns) / sizeof(columns[0]) };

static struct ut_report_cell average_cell(const struct ut_tt_stats *st)
{
	return st->count ? ut_report_real(st->average) : ut_report_said(ut_report_none(), "-");
}

static struct ut_report_cell change_cell(char text[32], double before, double after, bool both)
{
	if (!both || before == 0)
		return ut_report_said(ut_report_none(), "-");
	snprintf(text, 32, "%+.1f %%", 100 * (after - before) / before);
	return ut_report_said(ut_report_real(100 * (after - before) / before), text);
}

/* A side without such a duration has none of its figures. */
static size_t side_cells(struct ut_report_cell *to, const struct ut_tt_stats *st)
{
	const bool any = st->count;

	to[0] = any ? ut_report_u64(st->count) : ut_report_none();
	to[1] = any ? ut_report_real(st->average) : ut_report_none();
	to[2] = any ? ut_report_real(st->median) : ut_report_none();
	to[3] = any ? ut_report_u64(st->max) : ut_report_none();
	return 4;
}

static void log_compare_add_row(struct ut_report *r, int32_t chip, const char *name,
				const struct ut_tt_stats *a, const struct ut_tt_stats *b)
{
	bool both = a->count && b->count;
	struct ut_report_cell cells[sizeof(columns) / sizeof(columns[0])];
	char texts[3][32];
	size_t n = 0;

	cells[n++] = ut_report_i64(chip);
	cells[n++] = ut_report_text(name);
	cells[n++] = ut_report_u64(a->count);
	cells[n++] = ut_report_u64(b->count);
	cells[n++] = average_cell(a);
	cells[n++] = average_cell(b);
	cells[n++] = change_cell(texts[0], a->average, b->average, both);
	cells[n++] = change_cell(texts[1], a->median, b->median, both);
	cells[n++] = change_cell(texts[2], (double)a->max, (double)b->max, both);
	n += side_cells(cells + n, a);
	side_cells(cells + n, b);
	ut_report_add(r, cells);
}

int ut_tt_compare_check_sort(const char *sort, struct ut_err *err)
{
	return ut_report_check_sort(&table, sort, err);
}

void ut_tt_compare(const struct ut_tt_analysis *before, const struct ut_tt_analysis *after,
		   struct ut_out *out, const struct ut_report_opts *opts)
{
	size_t n = before->log->chip_count + after->log->chip_count;
	struct numbered *chips = ut_make((n + 1) * sizeof(*chips));
	struct ut_report *report = ut_report_start(out, opts, &table);

	n = add_chips(chips, 0, before, false);
	n = add_chips(chips, n, after, true);
	n = join_chips(chips, n);
	for (size_t i = 0; i < n; i++) {
		for (size_t r = 0; r < before->setup.count; r++) {
			const struct ut_tt_stats *a = &chips[i].before[r], *b = &chips[i].after[r];

			if (a->count || b->count)
				log_compare_add_row(report, chips[i].id,
						    before->setup.rules[r]->name, a, b);
		}
	}
	ut_report_end(report);
	if (before->log->mhz != after->log->mhz && ut_report_for_people(report))
		ut_out_fmt(out, "The clocks differ: %" PRIu64 " and %" PRIu64 " MHz.\n",
			   before->log->mhz, after->log->mhz);
	ut_report_close(report);
	free(chips);
}
