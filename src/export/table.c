#include "export/table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyze/summary.h"
#include "base/str.h"
#include "text/cells.h"
#include "text/out.h"

#define NAME_COLUMNS   48
#define DOMAIN_COLUMNS 28
#define TIME_COLUMNS   9

static void put_cell(struct ut_out *o, struct ut_str s, size_t columns, size_t max)
{
	struct ut_buf b = { 0 };
	size_t used = ut_cell_name(&b, s.ptr, s.len, max);

	ut_out_write(o, b.data, b.len);
	ut_out_fmt(o, "%*s", used < columns ? (int)(columns - used) : 0, "");
	ut_buf_release(&b);
}

static size_t widest(const struct ut_summary *s, size_t rows, bool domains, size_t max)
{
	size_t columns = 0;

	for (size_t i = 0; i < rows; i++) {
		uint32_t id = domains ? s->rows[i].cat : s->rows[i].name;
		struct ut_str str = ut_strtab_get(&s->strings, id);
		size_t n = ut_cell_columns(str.ptr, str.len);

		columns = n > columns ? n : columns;
	}
	return columns < max ? columns : max;
}

static void put_time(struct ut_out *o, uint64_t ns)
{
	char text[UT_CELL_TIME];

	ut_out_fmt(o, "  %*s", TIME_COLUMNS, ut_cell_time(text, ns));
}

struct layout {
	size_t name, domain; /* columns; domain 0 = nobody has one */
	int calls;
};

static void put_header(struct ut_out *o, const struct layout *l)
{
	ut_out_fmt(o, "%-*s", (int)l->name, "Task");
	if (l->domain)
		ut_out_fmt(o, "  %-*s", (int)l->domain, "Domain");
	ut_out_fmt(o, "  %*s", l->calls, "Calls");
	ut_out_fmt(o, "  %*s  %*s  %*s  %*s  %*s   Share\n", TIME_COLUMNS, "Total", TIME_COLUMNS,
		   "Self", TIME_COLUMNS, "Average", TIME_COLUMNS, "Min", TIME_COLUMNS, "Max");
}

static void put_row(struct ut_out *o, const struct ut_summary *s, const struct layout *l,
		    const struct ut_summary_row *row)
{
	put_cell(o, ut_strtab_get(&s->strings, row->name), l->name, NAME_COLUMNS);
	if (l->domain) {
		ut_out_text(o, "  ");
		put_cell(o, ut_strtab_get(&s->strings, row->cat), l->domain, DOMAIN_COLUMNS);
	}
	ut_out_fmt(o, "  %*" PRIu64, l->calls, row->calls);
	put_time(o, row->total);
	if (row->work)
		put_time(o, row->self);
	else
		ut_out_fmt(o, "  %*s", TIME_COLUMNS, "-");
	put_time(o, ut_summary_average(row));
	put_time(o, row->min);
	put_time(o, row->max);
	if (row->work)
		ut_out_fmt(o, "  %5.1f%%\n", ut_summary_share(s, row->self));
	else
		ut_out_fmt(o, "  %6s\n", "-");
}

static double share_of_rows(const struct ut_summary *s, size_t first, size_t end)
{
	uint64_t self = 0;

	for (size_t i = first; i < end; i++)
		self += s->rows[i].self;
	return ut_summary_share(s, self);
}

static void put_rest(struct ut_out *o, const struct ut_summary *s, size_t shown)
{
	if (shown < s->count)
		ut_out_fmt(o, "... and %zu more, %.1f%% of the time\n", s->count - shown,
			   share_of_rows(s, shown, s->count));
	if (s->hidden)
		ut_out_fmt(o, "... and what devices did, %.1f%% of the time: below\n",
			   share_of_rows(s, s->count, s->count + s->hidden));
}

void ut_table_text(struct ut_out *o, const struct ut_summary *s, size_t limit)
{
	size_t rows = limit && limit < s->count ? limit : s->count;
	struct layout l = {
		.name = widest(s, rows, false, NAME_COLUMNS),
		.domain = widest(s, rows, true, DOMAIN_COLUMNS),
		.calls = (int)strlen("Calls"),
	};

	if (!s->count) {
		ut_out_text(o, "no tasks\n");
		return;
	}
	l.name = l.name > strlen("Task") ? l.name : strlen("Task");
	if (l.domain)
		l.domain = l.domain > strlen("Domain") ? l.domain : strlen("Domain");
	for (size_t i = 0; i < rows; i++) {
		int digits = snprintf(NULL, 0, "%" PRIu64, s->rows[i].calls);

		l.calls = digits > l.calls ? digits : l.calls;
	}
	put_header(o, &l);
	for (size_t i = 0; i < rows; i++)
		put_row(o, s, &l, &s->rows[i]);
	put_rest(o, s, rows);
}

static void put_csv_str(struct ut_out *o, struct ut_str s)
{
	ut_cell_csv(o, s.ptr, s.len);
}

void ut_table_csv(struct ut_out *o, const struct ut_summary *s)
{
	ut_out_text(o, "task,domain,calls,total_ns,self_ns,average_ns,min_ns,max_ns,share\n");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_summary_row *row = &s->rows[i];

		put_csv_str(o, ut_strtab_get(&s->strings, row->name));
		ut_out_text(o, ",");
		put_csv_str(o, ut_strtab_get(&s->strings, row->cat));
		ut_out_fmt(o,
			   ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			   row->calls, row->total, row->self, ut_summary_average(row), row->min,
			   row->max);
		if (row->work)
			ut_out_fmt(o, ",%.4f\n", ut_summary_share(s, row->self));
		else
			ut_out_text(o, ",\n");
	}
}

static void put_json_row(struct ut_out *o, const struct ut_summary *s,
			 const struct ut_summary_row *row)
{
	struct ut_str name = ut_strtab_get(&s->strings, row->name);
	struct ut_str cat = ut_strtab_get(&s->strings, row->cat);

	ut_out_text(o, "{\"task\":");
	ut_out_json_str(o, name.ptr, name.len);
	ut_out_text(o, ",\"domain\":");
	ut_out_json_str(o, cat.ptr, cat.len);
	ut_out_fmt(o, ",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64,
		   row->calls, row->total, row->self);
	ut_out_fmt(o, ",\"average_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64,
		   ut_summary_average(row), row->min, row->max);
	if (row->work)
		ut_out_fmt(o, ",\"share\":%.4f}", ut_summary_share(s, row->self));
	else
		ut_out_text(o, ",\"share\":null}");
}

void ut_table_json(struct ut_out *o, const struct ut_summary *s)
{
	ut_out_fmt(o, "{\"self_total_ns\":%" PRIu64 ",\"tasks\":[", s->self_total);
	for (size_t i = 0; i < s->count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		put_json_row(o, s, &s->rows[i]);
	}
	ut_out_text(o, "\n]}\n");
}

static bool is_ccl(const struct ut_summary *s, const struct ut_summary_row *row)
{
	return ut_str_starts(ut_strtab_get(&s->strings, row->cat).ptr, "oneCCL") ||
	       ut_str_starts(ut_strtab_get(&s->strings, row->name).ptr, "oneCCL");
}

/* "oneCCL::allreduce": domain and name, unless the name has it all. */
static size_t make_ccl_cell(struct ut_buf *cell, const struct ut_summary *s,
			    const struct ut_summary_row *row)
{
	struct ut_str cat = ut_strtab_get(&s->strings, row->cat);
	struct ut_str name = ut_strtab_get(&s->strings, row->name);
	struct ut_buf b = { 0 };
	size_t columns;

	if (cat.len && !ut_str_starts(name.ptr, "oneCCL")) {
		ut_buf_add(&b, cat.ptr, cat.len);
		ut_buf_text(&b, "::");
	}
	ut_buf_add(&b, name.ptr, name.len);
	cell->len = 0;
	columns = ut_cell_name(cell, b.data, b.len, NAME_COLUMNS);
	ut_buf_release(&b);
	return columns;
}

/* Widths are those of Intel's tool: scripts cut its columns. */
static void put_ccl_row(struct ut_out *o, const struct ut_summary_row *row, uint64_t total)
{
	ut_out_fmt(o, ", %12" PRIu64 ", %20" PRIu64, row->calls, row->total);
	ut_out_fmt(o, ", %12f", total ? 100.0 * (double)row->total / (double)total : 0.0);
	ut_out_fmt(o, ", %20" PRIu64 ", %20" PRIu64 ", %20" PRIu64 "\n", ut_summary_average(row),
		   row->min, row->max);
}

static void put_ccl_head(struct ut_out *o, uint32_t pid, int32_t rank)
{
	static const char stars[] =
		"************************************************************\n";

	ut_out_fmt(o, "%s*  Process ID : %" PRIu32, stars, pid);
	if (rank >= 0)
		ut_out_fmt(o, " | Rank ID : %" PRId32, rank);
	ut_out_fmt(o, "\n%s", stars);
}

void ut_table_ccl(struct ut_out *o, const struct ut_summary *s, uint32_t pid, int32_t rank)
{
	size_t columns = strlen("Function"), count = 0;
	uint64_t total = 0;
	struct ut_buf cell = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		size_t used;

		if (!is_ccl(s, &s->rows[i]))
			continue;
		used = make_ccl_cell(&cell, s, &s->rows[i]);
		columns = used > columns ? used : columns;
		total += s->rows[i].total;
		count++;
	}
	if (!count)
		goto out;
	put_ccl_head(o, pid, rank);
	ut_out_fmt(o, "%*s, %12s, %20s, %12s, %20s, %20s, %20s\n", (int)columns, "Function",
		   "Calls", "Time (ns)", "Time (%)", "Average (ns)", "Min (ns)", "Max (ns)");
	for (size_t i = 0; i < s->count; i++) {
		size_t used;

		if (!is_ccl(s, &s->rows[i]))
			continue;
		used = make_ccl_cell(&cell, s, &s->rows[i]);
		ut_out_fmt(o, "%*s", (int)(columns - used), "");
		ut_out_write(o, cell.data, cell.len);
		put_ccl_row(o, &s->rows[i], total);
	}
out:
	ut_buf_release(&cell);
}
