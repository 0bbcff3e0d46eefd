#include "report/compat_ccl.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/summary.h"
#include "base/str.h"
#include "text/cells.h"
#include "text/out.h"

/* "oneCCL::allreduce", fit for a terminal. Returns its columns. */
static size_t make_name(struct ut_buf *cell, const struct ut_summary *s,
			const struct ut_summary_row *row)
{
	struct ut_str cat = ut_strtab_get(&s->strings, row->cat);
	struct ut_str name = ut_strtab_get(&s->strings, row->name);
	size_t columns;

	cell->len = 0;
	/* An event's name says whose it is. */
	if (ut_str_has_start(name, "oneCCL::"))
		return ut_cell_name(cell, name.ptr, name.len, SIZE_MAX);
	columns = ut_cell_name(cell, cat.ptr, cat.len, SIZE_MAX);
	ut_buf_text(cell, "::");
	return columns + 2 + ut_cell_name(cell, name.ptr, name.len, SIZE_MAX);
}

static void compat_ccl_put_head(struct ut_out *o, uint32_t pid, int32_t rank)
{
	static const char stars[] =
		"************************************************************\n";

	ut_out_fmt(o, "%s*  Process ID : %" PRIu32, stars, pid);
	if (rank >= 0)
		ut_out_fmt(o, " | Rank ID : %" PRId32, rank);
	ut_out_fmt(o, "\n%s", stars);
}

static void compat_ccl_put_row(struct ut_out *o, const struct ut_summary_row *row, uint64_t total)
{
	ut_out_fmt(o, ", %12" PRIu64 ", %20" PRIu64, row->calls, row->total);
	ut_out_fmt(o, ", %12.6f", total ? 100.0 * (double)row->total / (double)total : 0.0);
	ut_out_fmt(o, ", %20" PRIu64 ", %20" PRIu64 ", %20" PRIu64 "\n",
		   row->calls ? row->total / row->calls : 0, row->min, row->max);
}

void ut_compat_ccl(struct ut_out *o, const struct ut_summary *s, uint32_t pid, int32_t rank)
{
	size_t columns = strlen("Function");
	struct ut_buf cell = { 0 };
	uint64_t total = 0;

	if (!s->count)
		return;
	for (size_t i = 0; i < s->count; i++) {
		size_t used = make_name(&cell, s, &s->rows[i]);

		columns = used > columns ? used : columns;
		total += s->rows[i].total;
	}
	compat_ccl_put_head(o, pid, rank);
	ut_out_fmt(o, "%*s, %12s, %20s, %12s, %20s, %20s, %20s\n", (int)columns, "Function",
		   "Calls", "Time (ns)", "Time (%)", "Average (ns)", "Min (ns)", "Max (ns)");
	for (size_t i = 0; i < s->count; i++) {
		size_t used = make_name(&cell, s, &s->rows[i]);

		ut_out_fmt(o, "%*s", (int)(columns - used), "");
		ut_out_write(o, cell.data, cell.len);
		compat_ccl_put_row(o, &s->rows[i], total);
	}
	ut_out_text(o, "\n");
	ut_buf_release(&cell);
}
