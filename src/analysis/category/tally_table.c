#include "category/tally_table.h"

#include <inttypes.h>

#include "base/str.h"
#include "category/schema.h"
#include "text/json_text.h"
#include "text/out.h"
#include "text/shortest.h"
#include "text/table_report.h"

static void put_amount(struct ut_out *out, const struct ut_tally_line *line, const char *what,
		       struct ut_amount amount)
{
	struct ut_buf key = { 0 }, json = { 0 };
	char text[UT_SHORTEST_ROOM];

	ut_buf_add(&key, line->category.ptr, line->category.len);
	ut_buf_text(&key, what);
	ut_out_text(out, "\n  ");
	ut_json_text_ascii(&json, key.data, key.len);
	ut_out_write(out, json.data, json.len);
	if (amount.whole)
		ut_out_fmt(out, ": %" PRIu64, amount.number);
	else
		ut_out_fmt(out, ": %s", ut_shortest(text, amount.real));
	ut_buf_release(&key);
	ut_buf_release(&json);
}

void ut_tally_json(struct ut_out *out, const struct ut_tally_line *lines, size_t count)
{
	ut_out_text(out, "{");
	for (size_t i = 0; i < count; i++) {
		ut_out_text(out, i ? "," : "");
		put_amount(out, &lines[i], "_time", lines[i].time);
		ut_out_text(out, ",");
		put_amount(out, &lines[i], "_calls", lines[i].calls);
	}
	ut_out_text(out, count ? "\n}" : "}");
}

static const struct ut_report_column columns[] = {
	{ .key = "category", .title = "category", .type = UT_REPORT_TEXT, .least = 12 },
	{ .key = "time", .title = "time", .unit = "ns", .type = UT_REPORT_TIME },
	{ .key = "share", .title = "of all work", .unit = "%", .type = UT_REPORT_SHARE },
	{ .key = "calls", .title = "calls", .type = UT_REPORT_NUMBER },
	{ .key = "names", .title = "names", .type = UT_REPORT_COUNT },
};

static double work_of(const struct ut_tally_line *lines, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += lines[i].whole_run ? 0 : lines[i].time.real;
	return sum;
}

static struct ut_report_cell time_cell(struct ut_amount time)
{
	return time.whole ? ut_report_u64(time.number) : ut_report_real(time.real);
}

int ut_tally_table(struct ut_out *out, const struct ut_report_opts *opts,
		   const struct ut_tally_line *lines, size_t count, struct ut_err *err)
{
	const struct ut_report_table table = { columns, sizeof(columns) / sizeof(columns[0]),
					       false };
	struct ut_report *r = ut_report_open(out, opts);
	double work = work_of(lines, count);
	int rc = ut_report_begin(r, &table, err);

	for (size_t i = 0; !rc && i < count; i++) {
		const struct ut_tally_line *l = &lines[i];
		const struct ut_report_cell cells[] = {
			{ .type = UT_CELL_TEXT, .text = l->category },
			time_cell(l->time),
			l->whole_run || work <= 0 ? ut_report_none()
						  : ut_report_real(100 * l->time.real / work),
			ut_report_real(l->calls.real),
			ut_report_u64(l->names),
		};

		ut_report_add(r, cells);
	}
	if (!rc)
		ut_report_end(r);
	ut_report_close(r);
	return rc;
}

static const struct ut_report_column name_columns[] = {
	{ .key = "name", .title = "name", .type = UT_REPORT_TEXT, .least = 12, .most = 100 },
	{ .key = "category", .title = "category", .type = UT_REPORT_TEXT },
	{ .key = "time", .title = "time", .unit = "ns", .type = UT_REPORT_TIME },
	{ .key = "calls", .title = "calls", .type = UT_REPORT_NUMBER },
	{ .key = "processes", .title = "processes", .type = UT_REPORT_COUNT },
};

int ut_tally_names(struct ut_out *out, const struct ut_report_opts *opts, const struct ut_tally *t,
		   const struct ut_tally_choice *choice, struct ut_err *err)
{
	const struct ut_report_table table = { name_columns,
					       sizeof(name_columns) / sizeof(name_columns[0]),
					       false };
	struct ut_report *r = ut_report_open(out, opts);
	int rc = ut_report_begin(r, &table, err);

	for (size_t i = 0; !rc && i < t->count; i++) {
		const struct ut_tally_name *name = &t->names[i];
		struct ut_str category = ut_schema_category(choice->schema, name->name);
		struct ut_report_cell cells[] = {
			{ .type = UT_CELL_TEXT, .text = name->name },
			{ .type = UT_CELL_TEXT, .text = category },
			time_cell(ut_tally_time(name, choice->how)),
			ut_report_real(ut_tally_calls(name, choice->how).real),
			ut_report_u64(name->count),
		};

		if (name->whole_run || (choice->only_unknown && category.ptr))
			continue;
		if (!category.ptr)
			cells[1] = ut_report_said(ut_report_none(), "-");
		ut_report_add(r, cells);
	}
	if (!rc)
		ut_report_end(r);
	ut_report_close(r);
	return rc;
}
