#include "session/device_report.h"

#include <stdlib.h>

#include "analyze/device_summary.h"
#include "base/grow.h"
#include "base/str.h"
#include "report/compat_device.h"
#include "report/table_device.h"
#include "text/out.h"
#include "text/table_report.h"

void ut_device_report_init(struct ut_device_report *r)
{
	*r = (struct ut_device_report){ .active = true };
	ut_device_log_init(&r->log, false);
}

void ut_device_report_release(struct ut_device_report *r)
{
	ut_device_log_release(&r->log);
	free(r->whos);
	*r = (struct ut_device_report){ 0 };
}

void ut_device_report_want(struct ut_device_report *r, enum ut_device_table_kind kind)
{
	r->wanted[kind] = true;
	r->log.keep_calls |= kind == UT_TABLE_CALL_LOG;
}

bool ut_device_report_wanted(const struct ut_device_report *r)
{
	bool wanted = false;

	for (int i = 0; i < UT_TABLE_KINDS; i++)
		wanted |= r->wanted[i];
	return wanted;
}

void ut_device_report_end(struct ut_device_report *r, const struct ut_trace *trace,
			  const struct ut_output_who *who)
{
	ut_device_log_end_trace(&r->log, trace);
	r->whos = ut_grow(r->whos, r->who_count + 1, &r->who_cap, sizeof(*r->whos));
	r->whos[r->who_count++] = *who;
}

const char *ut_device_report_file(enum ut_device_table_kind kind)
{
	static const char *const names[UT_TABLE_KINDS] = { "call_logging", "device_timeline",
							   "host_timing", "device_timing",
							   "device_submission" };

	return names[kind];
}

/* Takes what was written to memory, with a blank line before it unless it begins with one. */
static void device_report_take(struct ut_out *mem, struct ut_buf *to)
{
	size_t len;
	const char *data = ut_out_data(mem, &len);

	if (to->len && len && data[0] != '\n')
		ut_buf_char(to, '\n');
	ut_buf_add(to, data, len);
	ut_out_abandon(mem);
}

/* Rows of calls and of work are one table in CSV: the first that is wanted stands for all. */
static void print_csv(const struct ut_device_report *r, struct ut_out *mem,
		      enum ut_device_table_kind kind, uint32_t source)
{
	const struct ut_device_rows_view view = {
		.source = source,
		.host = r->wanted[UT_TABLE_HOST],
		.device = r->wanted[UT_TABLE_DEVICE] || r->wanted[UT_TABLE_SUBMISSION],
		.shapes = r->shapes,
	};

	for (int i = UT_TABLE_HOST; i < (int)kind; i++) {
		if (r->wanted[i])
			return;
	}
	ut_device_rows_csv(mem, &r->log, &view);
}

/* No work, no title. */
static void print_timeline_csv(const struct ut_device_report *r, struct ut_out *mem,
			       uint32_t source)
{
	const struct ut_device_range works = ut_device_log_works(&r->log, source);

	if (works.first < works.end)
		ut_device_timeline_csv(mem, &r->log, source);
}

void ut_device_report_print(const struct ut_device_report *r, enum ut_device_table_kind kind,
			    uint32_t source, bool csv, struct ut_buf *to)
{
	const struct ut_device_view view = { .source = source,
					     .shapes = r->shapes,
					     .name_columns = r->name_columns };
	struct ut_out *mem;

	if (!r->wanted[kind])
		return;
	mem = ut_out_open_memory();
	if (kind == UT_TABLE_CALL_LOG)
		ut_table_call_log(mem, &r->log, source, r->pid, r->tid);
	else if (kind == UT_TABLE_TIMELINE && csv)
		print_timeline_csv(r, mem, source);
	else if (kind == UT_TABLE_TIMELINE)
		ut_table_device_timeline(mem, &r->log, source);
	else if (csv)
		print_csv(r, mem, kind, source);
	else if (kind == UT_TABLE_HOST)
		ut_table_host_timing(mem, &r->log, &view);
	else if (kind == UT_TABLE_DEVICE)
		ut_table_device_timing(mem, &r->log, &view);
	else
		ut_table_submission(mem, &r->log, &view);
	device_report_take(mem, to);
}

void ut_device_report_summary(const struct ut_device_report *r, uint64_t rows, bool csv,
			      struct ut_buf *to)
{
	const struct ut_report_opts report = { .limit = rows,
					       .width = UT_REPORT_WIDTH_OWN,
					       .screen = r->screen,
					       .colour = r->colour };
	struct ut_device_summary s;
	struct ut_out *mem;

	if (!r->log.work_count)
		return;
	mem = ut_out_open_memory();
	ut_device_summary_make(&s, &r->log);
	if (csv)
		ut_device_summary_csv(mem, &r->log, &s);
	else
		ut_device_summary_people(mem, &r->log, &s, &report);
	ut_device_summary_release(&s);
	device_report_take(mem, to);
}
