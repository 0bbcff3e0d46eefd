#include "sample/hotspots_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "model/stacks.h"
#include "sample/hot_summary.h"
#include "sample/hotspots.h"
#include "sample/short_name.h"
#include "sample/table_parts.h"
#include "sample/whose.h"
#include "text/out.h"
#include "text/table_report.h"

enum {
	SELF,
	SELF_SHARE,
	TOTAL,
	TOTAL_SHARE,
	SAMPLES,
	NAME,
	MODULE,
	FILE_NAME,
	LINE,
	COLUMNS
};

#define COLUMN_LIST(weight, unit_)                                                                 \
	{                                                                                          \
		[SELF] = { .key = "self",                                                          \
			   .title = "Self",                                                        \
			   .unit = unit_,                                                          \
			   .type = weight,                                                         \
			   .rest = true },                                                         \
		[SELF_SHARE] = { .key = "self_share",                                              \
				 .title = "Self %",                                                \
				 .unit = "%",                                                      \
				 .type = UT_REPORT_SHARE },                                        \
		[TOTAL] = { .key = "total", .title = "Total", .unit = unit_, .type = weight },     \
		[TOTAL_SHARE] = { .key = "total_share",                                            \
				  .title = "Total %",                                              \
				  .unit = "%",                                                     \
				  .type = UT_REPORT_SHARE },                                       \
		[SAMPLES] = { .key = "samples", .title = "Samples", .type = UT_REPORT_COUNT },     \
		[NAME] = { .key = "name",                                                          \
			   .title = "Name",                                                        \
			   .type = UT_REPORT_TEXT,                                                 \
			   .most = UT_HOT_NAME_COLUMNS },                                          \
		[MODULE] = { .key = "module",                                                      \
			     .title = "Module",                                                    \
			     .type = UT_REPORT_TEXT,                                               \
			     .most = UT_HOT_MODULE_COLUMNS,                                        \
			     .if_any = true },                                                     \
		[FILE_NAME] = { .key = "file",                                                     \
				.title = "File",                                                   \
				.type = UT_REPORT_TEXT,                                            \
				.most = UT_HOT_NAME_COLUMNS,                                       \
				.if_any = true },                                                  \
		[LINE] = {                                                                         \
			.key = "line", .title = "Line", .type = UT_REPORT_COUNT, .if_any = true    \
		},                                                                                 \
	}

/* Of time, of bytes, of numbers of events. */
static const struct ut_report_column columns[UT_HOT_UNITS][COLUMNS] = {
	COLUMN_LIST(UT_REPORT_TIME, "ns"),
	COLUMN_LIST(UT_REPORT_BYTES, "bytes"),
	COLUMN_LIST(UT_REPORT_COUNT, NULL),
};

enum ut_hot_unit ut_hot_unit(const struct ut_prof *p)
{
	const char *unit = ut_prof_unit(p);

	return !strcmp(unit, "ns")      ? UT_HOT_NS
	       : !strcmp(unit, "bytes") ? UT_HOT_BYTES
					: UT_HOT_COUNT;
}

double ut_hot_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

int ut_hotspots_check_sort(const char *sort, struct ut_err *err)
{
	const struct ut_report_table table = { columns[0], COLUMNS, .ruled = true };

	return ut_report_check_sort(&table, sort, err);
}

struct ut_report_cell ut_hot_path_cell(const struct ut_prof *p, uint32_t path, bool people)
{
	struct ut_str s = ut_prof_text(p, path);

	if (!path)
		return ut_report_none();
	return people ? ut_report_text(ut_path_base(s.ptr)) : ut_report_str(s);
}

/* What people read is the function in short, where the row is one. */
static void name_row(const struct ut_hotspots *h, const struct ut_hot_row *r, bool people,
		     struct ut_buf *b)
{
	bool function = !r->group && h->by != UT_HOT_BY_MODULE && r->frame.function &&
			!(h->by == UT_HOT_BY_OWN && ut_prof_is_import(h->profile, &r->frame));

	b->len = 0;
	if (people && function)
		ut_prof_name(b, h->profile, r->frame.function);
	else
		ut_hot_row_name(h, r, b);
}

static struct ut_report_cell module_cell(const struct ut_hotspots *h, const struct ut_hot_row *r,
					 bool people)
{
	uint32_t module = r->group ? r->group->process : r->frame.module;

	/* it would be said twice */
	if (people && (h->by == UT_HOT_BY_MODULE || h->by == UT_HOT_BY_PROCESS ||
		       (r->frame.file && r->frame.file == module) ||
		       (h->by == UT_HOT_BY_OWN && ut_prof_is_import(h->profile, &r->frame))))
		return ut_report_none();
	return ut_hot_path_cell(h->profile, module, people);
}

void ut_hotspots_print(struct ut_out *out, const struct ut_hotspots *h,
		       const struct ut_report_opts *opts)
{
	const struct ut_report_table table = { columns[ut_hot_unit(h->profile)], COLUMNS,
					       .ruled = true };
	struct ut_report *report = ut_report_start(out, opts, &table);
	bool people = ut_report_for_people(report);
	uint64_t all = h->profile->weight;
	struct ut_buf name = { 0 };

	for (size_t i = 0; i < h->count; i++) {
		const struct ut_hot_row *r = &h->rows[i];
		struct ut_report_cell cells[COLUMNS];

		name_row(h, r, people, &name);
		cells[SELF] = cells[SELF_SHARE] = cells[SAMPLES] = ut_report_none();
		if (r->self || r->samples || !people) { /* people see at once who did nothing */
			cells[SELF] = ut_report_u64(r->self);
			cells[SELF_SHARE] = ut_report_real(ut_hot_share(r->self, all));
			if (r->samples || !people) /* time without a sample has none */
				cells[SAMPLES] = ut_report_u64(r->samples);
		}
		cells[TOTAL] = ut_report_u64(r->total);
		cells[TOTAL_SHARE] = ut_report_real(ut_hot_share(r->total, all));
		cells[NAME] = ut_report_str((struct ut_str){ name.data, name.len });
		cells[MODULE] = module_cell(h, r, people);
		cells[FILE_NAME] = ut_hot_path_cell(h->profile, r->frame.file, people);
		cells[LINE] = r->frame.line ? ut_report_u64(r->frame.line) : ut_report_none();
		ut_report_add(report, cells);
	}
	ut_report_finish(report);
	ut_buf_release(&name);
}

/* ---- the verdict --------------------------------------------------------------------------- */

/* Of tasks and functions nobody asks how many CPUs were busy while others ran. */
static void print_busy(struct ut_out *out, const struct ut_prof *p)
{
	if (p->span && !p->opts.task && !p->opts.function && !ut_prof_is_too_few(p) &&
	    ut_sample_is_cpu_time(ut_prof_text(p, p->event)))
		ut_out_fmt(out, "  %.1f CPUs were busy on average\n",
			   (double)p->weight / (double)p->span);
}

static void print_before(struct ut_out *out, const struct ut_prof *p, const struct ut_prof *before)
{
	struct ut_buf b = { 0 };

	ut_buf_text(&b, "  all of it was ");
	ut_prof_amount(before, before->weight, &b);
	ut_buf_text(&b, " before, now it is ");
	ut_prof_amount(p, p->weight, &b);
	ut_out_fmt(out, "%s: %+.1f%%\n", b.data, ut_hot_share(p->weight, before->weight) - 100);
	ut_buf_release(&b);
}

void ut_prof_print_summary(struct ut_out *out, const struct ut_prof *p,
			   const struct ut_prof *before)
{
	struct ut_hot_summary v;

	ut_hot_summary_init(&v, p);
	for (size_t i = 0; i < v.count; i++) {
		const struct ut_hot_summary_line *l = &v.lines[i];

		ut_out_fmt(out, "%s%s%s%s\n", i ? "  " : "", l->say.data,
			   !l->why.len   ? ""
			   : l->function ? ", "
					 : ": ",
			   l->why.len ? l->why.data : "");
	}
	if (v.count && before)
		print_before(out, p, before);
	else if (v.count)
		print_busy(out, p);
	if (v.count)
		ut_out_text(out, "\n");
	ut_hot_summary_release(&v);
}
