#include "sample/memory_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/path.h"
#include "base/size.h"
#include "base/str.h"
#include "sample/memory_report.h"
#include "sample/short_name.h"
#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"

#define LEAST_IMPORTS 20.0 /* percent of the peak that are worth a word */

#define NAME_COLUMNS   60
#define MODULE_COLUMNS 32
#define SURE           1.96 /* standard deviations: 95 of 100 times it is no further off */

static const struct ut_report_column columns[] = {
	{ .key = "peak", .title = "Peak", .unit = "bytes", .type = UT_REPORT_BYTES, .rest = true },
	{ .key = "peak_share", .title = "Peak %", .unit = "%", .type = UT_REPORT_SHARE },
	{ .key = "peak_error",
	  .title = "+-",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .if_any = true },
	{ .key = "peak_total_share",
	  .title = "Total %",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .if_any = true },
	{ .key = "peak_blocks",
	  .title = "Blocks",
	  .type = UT_REPORT_COUNT,
	  .readers = UT_FOR_PROGRAMS },
	{ .key = "never_freed", .title = "Never freed", .unit = "bytes", .type = UT_REPORT_BYTES },
	{ .key = "never_freed_error",
	  .title = "+-",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .if_any = true },
	{ .key = "never_freed_blocks", .title = "Blocks", .type = UT_REPORT_COUNT },
	{ .key = "allocated", .title = "Allocated", .unit = "bytes", .type = UT_REPORT_BYTES },
	{ .key = "allocated_error",
	  .title = "+-",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .if_any = true },
	{ .key = "allocations", .title = "Times", .type = UT_REPORT_COUNT },
	{ .key = "life", .title = "Mean life", .unit = "ns", .type = UT_REPORT_TIME },
	{ .key = "name", .title = "Name", .type = UT_REPORT_TEXT, .most = NAME_COLUMNS },
	{ .key = "module",
	  .title = "Module",
	  .type = UT_REPORT_TEXT,
	  .most = MODULE_COLUMNS,
	  .if_any = true },
	{ .key = "file",
	  .title = "File",
	  .type = UT_REPORT_TEXT,
	  .most = NAME_COLUMNS,
	  .if_any = true },
	{ .key = "line", .title = "Line", .type = UT_REPORT_COUNT, .if_any = true },
};

static const struct ut_report_table table = { columns, sizeof(columns) / sizeof(columns[0]),
					      .ruled = true };

int ut_memory_check_sort(const char *sort, struct ut_err *err)
{
	return ut_report_check_sort(&table, sort, err);
}

static uint64_t memory_table_whole(double value)
{
	return value > 0 ? (uint64_t)llround(value) : 0;
}

static double memory_table_share(double part, double of)
{
	return of > 0 ? 100 * part / of : 0;
}

/* How far an estimate may be off, in percent of it. */
static double error_of(const struct ut_memory_amount *a)
{
	return a->bytes > 0 && a->variance > 0 ? 100 * SURE * sqrt(a->variance) / a->bytes : 0;
}

static struct ut_report_cell error_cell(const struct ut_memory_amount *a)
{
	double error = error_of(a);

	return error > 0 ? ut_report_real(error) : ut_report_none();
}

static bool has_totals(const struct ut_memory_report *r)
{
	return r->by == UT_MEMORY_BY_FUNCTION || r->by == UT_MEMORY_BY_MODULE ||
	       r->by == UT_MEMORY_BY_LINE;
}

/* People know a library by the last part of its name. */
static struct ut_report_cell module_cell(const struct ut_memory_report *r,
					 const struct ut_memory_line *l, bool people)
{
	struct ut_str s = ut_strtab_get(&r->strings, l->module);

	if (!l->module || (people && r->by == UT_MEMORY_BY_MODULE))
		return ut_report_none();
	return people ? ut_report_text(ut_path_base(s.ptr)) : ut_report_str(s);
}

/* C++ as people say it; programs get it whole. */
static struct ut_report_cell name_cell(const struct ut_memory_report *r,
				       const struct ut_memory_line *l, bool people,
				       struct ut_buf *room)
{
	struct ut_str s = ut_strtab_get(&r->strings, l->name);

	if (!people || (r->by != UT_MEMORY_BY_FUNCTION && r->by != UT_MEMORY_BY_LINE))
		return ut_report_str(s);
	room->len = 0;
	ut_name_part(room, s, (enum ut_name_part)r->name_parts[l->name]);
	return ut_report_str((struct ut_str){ room->data, room->len });
}

static void print_line(struct ut_report *report, const struct ut_memory_report *r,
		       const struct ut_memory_line *l, struct ut_buf *room)
{
	bool people = ut_report_for_people(report);
	const struct ut_memory_amount *peak = &l->of[UT_MEMORY_AT_PEAK];
	const struct ut_memory_amount *lost = &l->of[UT_MEMORY_NEVER_FREED];
	const struct ut_memory_amount *all = &l->of[UT_MEMORY_ALLOCATED];
	double whole_peak = r->of[UT_MEMORY_AT_PEAK].bytes;
	const struct ut_report_cell cells[] = {
		ut_report_u64(memory_table_whole(peak->bytes)),
		ut_report_real(memory_table_share(peak->bytes, whole_peak)),
		error_cell(peak),
		has_totals(r) ? ut_report_real(memory_table_share(l->total, whole_peak))
			      : ut_report_none(),
		ut_report_u64(memory_table_whole(peak->count)),
		ut_report_u64(memory_table_whole(lost->bytes)),
		error_cell(lost),
		ut_report_u64(memory_table_whole(lost->count)),
		ut_report_u64(memory_table_whole(all->bytes)),
		error_cell(all),
		ut_report_u64(memory_table_whole(all->count)),
		l->freed > 0 ? ut_report_u64(memory_table_whole(l->life / l->freed))
			     : ut_report_none(),
		name_cell(r, l, people, room),
		module_cell(r, l, people),
		l->file ? ut_report_str(ut_strtab_get(&r->strings, l->file)) : ut_report_none(),
		l->line ? ut_report_u64(l->line) : ut_report_none(),
	};

	ut_report_add(report, cells);
}

void ut_memory_print(struct ut_out *out, const struct ut_memory_report *r,
		     const struct ut_report_opts *opts)
{
	struct ut_report *report = ut_report_start(out, opts, &table);
	struct ut_buf room = { 0 };

	for (size_t i = 0; i < r->count; i++)
		print_line(report, r, &r->lines[i], &room);
	ut_report_finish(report);
	ut_buf_release(&room);
}

/* ---- the sentence -------------------------------------------------------------------------- */

static void memory_table_add_name(struct ut_buf *b, const struct ut_memory_report *r,
				  uint32_t string)
{
	struct ut_str s = ut_strtab_get(&r->strings, string);
	struct ut_buf name = { 0 };

	if (r->by == UT_MEMORY_BY_FUNCTION || r->by == UT_MEMORY_BY_LINE)
		ut_name_part(&name, s, (enum ut_name_part)r->name_parts[string]);
	else
		ut_buf_add(&name, s.ptr, s.len);
	ut_cell_name(b, name.data, name.len, 80);
	ut_buf_release(&name);
}

static void memory_table_add_file(struct ut_buf *b, const struct ut_memory_report *r,
				  uint32_t string)
{
	const char *name = ut_path_base(ut_strtab_get(&r->strings, string).ptr);

	ut_cell_name(b, name, strlen(name), 40);
}

static void add_from(struct ut_buf *b, const struct ut_memory_report *r,
		     const struct ut_memory_line *l, enum ut_memory_sample which)
{
	ut_buf_text(b, " from ");
	memory_table_add_name(b, r, l->name);
	if (l->line) {
		ut_buf_text(b, " (");
		memory_table_add_file(b, r, l->file);
		ut_buf_fmt(b, ":%" PRIu32 ")", l->line);
	}
	if (l->caller[which] && l->caller[which] != l->name) {
		ut_buf_text(b, ", called from ");
		memory_table_add_name(b, r, l->caller[which]);
	}
}

/* Nothing where the number is exact. */
static void add_error(struct ut_buf *b, const struct ut_memory_amount *a)
{
	if (error_of(a) > 0)
		ut_buf_fmt(b, " (+-%.1f%%)", error_of(a));
}

static const struct ut_memory_line *most_of(const struct ut_memory_report *r,
					    enum ut_memory_sample which)
{
	const struct ut_memory_line *most = r->lines;

	for (size_t i = 1; i < r->count; i++) {
		if (r->lines[i].of[which].bytes > most->of[which].bytes)
			most = &r->lines[i];
	}
	return most;
}

static const struct ut_memory_process *largest(const struct ut_memory_report *r, size_t *count)
{
	const struct ut_memory_process *most = r->processes;

	*count = 0;
	for (size_t i = 0; i < r->process_count; i++) {
		const struct ut_memory_process *p = &r->processes[i];

		*count += p->of[UT_MEMORY_ALLOCATED].count > 0;
		if (p->of[UT_MEMORY_AT_PEAK].bytes > most->of[UT_MEMORY_AT_PEAK].bytes)
			most = p;
	}
	return most;
}

/* What modules keep is nobody's work, and hides what the program does with them. */
static void add_imports(struct ut_buf *b, const struct ut_memory_report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_memory_line *l = &r->lines[i];
		double part = memory_table_share(l->total, r->of[UT_MEMORY_AT_PEAK].bytes);

		if (part >= LEAST_IMPORTS && r->by == UT_MEMORY_BY_FUNCTION &&
		    ut_str_is(ut_strtab_get(&r->strings, l->name), "_find_and_load") &&
		    ut_str_has_start(ut_strtab_get(&r->strings, l->module), "<frozen importlib"))
			ut_buf_fmt(b, "; %.1f%% is what importing Python modules took", part);
	}
}

static void add_peak(struct ut_buf *b, const struct ut_memory_report *r)
{
	const struct ut_memory_line *top = most_of(r, UT_MEMORY_AT_PEAK);
	char size[32], time[32];
	size_t count;
	const struct ut_memory_process *p = largest(r, &count);

	if (count > 1) {
		ut_buf_fmt(b, "%zu processes, peaks of %s in all; the largest, ", count,
			   ut_size_text(size, sizeof(size),
					memory_table_whole(r->of[UT_MEMORY_AT_PEAK].bytes)));
		memory_table_add_name(b, r, p->name);
		ut_buf_fmt(b, " (%" PRIu64 "): ", p->pid);
	}
	ut_buf_fmt(b, "peak %s at %s",
		   ut_size_text(size, sizeof(size),
				memory_table_whole(p->of[UT_MEMORY_AT_PEAK].bytes)),
		   ut_time_text(time, sizeof(time), p->peak_at));
	ut_buf_fmt(b, ", %s%.1f%%", count > 1 ? "of all peaks " : "",
		   memory_table_share(top->of[UT_MEMORY_AT_PEAK].bytes,
				      r->of[UT_MEMORY_AT_PEAK].bytes));
	add_error(b, &top->of[UT_MEMORY_AT_PEAK]);
	add_from(b, r, top, UT_MEMORY_AT_PEAK);
	add_imports(b, r);
}

static void add_lost(struct ut_buf *b, const struct ut_memory_report *r)
{
	const struct ut_memory_line *top = most_of(r, UT_MEMORY_NEVER_FREED);
	const struct ut_memory_amount *all = &r->of[UT_MEMORY_NEVER_FREED];
	char size[32];

	if (!(all->bytes > 0)) {
		ut_buf_text(b, "; everything was freed");
		return;
	}
	ut_buf_fmt(b, "; %s", ut_size_text(size, sizeof(size), memory_table_whole(all->bytes)));
	add_error(b, all);
	ut_buf_fmt(b, " in %" PRIu64 " %s never freed, most", memory_table_whole(all->count),
		   memory_table_whole(all->count) == 1 ? "block was" : "blocks were");
	add_from(b, r, top, UT_MEMORY_NEVER_FREED);
}

void ut_memory_summary_text(struct ut_buf *b, const struct ut_memory_report *r)
{
	double error = error_of(&r->of[UT_MEMORY_AT_PEAK]);

	if (!r->count || !(r->of[UT_MEMORY_AT_PEAK].bytes > 0))
		return;
	add_peak(b, r);
	add_lost(b, r);
	if (error > 0)
		ut_buf_fmt(b, " (estimated from samples: the peak to +-%.1f%%)", error);
}
