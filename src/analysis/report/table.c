#include "report/table.h"

#include <inttypes.h>

#include "analyze/summary.h"
#include "text/out.h"
#include "text/table_report.h"

#define NAME_COLUMNS   48
#define DOMAIN_COLUMNS 28
#define TIME_COLUMNS   9

#define TIME(k, t)                                                                                 \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "ns", .type = UT_REPORT_TIME,                    \
		.least = TIME_COLUMNS                                                              \
	}

static const struct ut_report_column columns[] = {
	{ .key = "task", .title = "Task", .type = UT_REPORT_TEXT, .most = NAME_COLUMNS },
	{ .key = "domain",
	  .title = "Domain",
	  .type = UT_REPORT_TEXT,
	  .most = DOMAIN_COLUMNS,
	  .if_any = true },
	{ .key = "calls", .title = "Calls", .type = UT_REPORT_COUNT },
	{ .key = "unfinished",
	  .title = "Unfinished",
	  .type = UT_REPORT_COUNT,
	  .readers = UT_FOR_PEOPLE,
	  .if_any = true },
	TIME("total", "Total"),
	{ .key = "self",
	  .title = "Self",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .least = TIME_COLUMNS,
	  .rest = true },
	TIME("average", "Average"),
	TIME("min", "Min"),
	TIME("max", "Max"),
	{ .key = "share", .title = "Share", .unit = "%", .type = UT_REPORT_SHARE, .least = 6 },
};

static const struct ut_report_table table = { .columns = columns,
					      .count = sizeof(columns) / sizeof(columns[0]) };

static void table_add_row(struct ut_report *r, const struct ut_summary *s,
			  const struct ut_summary_row *row)
{
	const struct ut_report_cell share =
		row->work ? ut_report_real(ut_summary_share(s, row->self)) : ut_report_none();

	ut_report_add(r,
		      (const struct ut_report_cell[]){
			      ut_report_str(ut_strtab_get(&s->strings, row->name)),
			      ut_report_str(ut_strtab_get(&s->strings, row->cat)),
			      ut_report_u64(row->calls),
			      row->unfinished ? ut_report_u64(row->unfinished) : ut_report_none(),
			      ut_report_u64(row->total),
			      ut_report_said(ut_report_u64(row->self), row->work ? NULL : "-"),
			      ut_report_u64(ut_summary_average(row)),
			      ut_report_u64(row->min),
			      ut_report_u64(row->max),
			      ut_report_said(share, row->work ? NULL : "-"),
		      });
}

static uint64_t self_of_rows(const struct ut_summary *s, size_t first, size_t end)
{
	uint64_t self = 0;

	for (size_t i = first; i < end; i++)
		self += s->rows[i].self;
	return self;
}

static void put_rest(struct ut_out *o, const struct ut_summary *s, uint64_t left, long double self)
{
	if (left)
		ut_out_fmt(o, "... and %" PRIu64 " more, %.1f%% of the time\n", left,
			   ut_summary_share(s, (uint64_t)self));
	if (s->hidden)
		ut_out_fmt(o, "... and what devices did, %.1f%% of the time: below\n",
			   ut_summary_share(s, self_of_rows(s, s->count, s->count + s->hidden)));
}

void ut_table_print(struct ut_out *o, const struct ut_summary *s, const struct ut_report_opts *opts)
{
	struct ut_report *r;
	long double self;
	uint64_t left;

	if (!s->count && opts->format == UT_REPORT_TABLE) {
		ut_out_text(o, "no tasks\n");
		return;
	}
	r = ut_report_start(o, opts, &table);
	for (size_t i = 0; i < s->count; i++)
		table_add_row(r, s, &s->rows[i]);
	ut_report_end(r);
	left = ut_report_left(r, &self);
	if (ut_report_for_people(r))
		put_rest(o, s, left, self);
	ut_report_close(r);
}

void ut_table_text(struct ut_out *o, const struct ut_summary *s, size_t limit)
{
	const struct ut_report_opts opts = { .limit = limit, .width = UT_REPORT_WIDTH_OWN };

	ut_table_print(o, s, &opts);
}

void ut_table_csv(struct ut_out *o, const struct ut_summary *s)
{
	const struct ut_report_opts opts = { .format = UT_REPORT_CSV };

	ut_table_print(o, s, &opts);
}

void ut_table_json(struct ut_out *o, const struct ut_summary *s)
{
	const struct ut_report_opts opts = {
		.format = UT_REPORT_JSON, .open = "", .first = "\n", .close = "\n]}\n"
	};

	ut_out_fmt(o, "{\"self_total_ns\":%" PRIu64 ",\"tasks\":[", s->self_total);
	ut_table_print(o, s, &opts);
}
