#include "session/ccl_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "model/event.h"
#include "model/trace.h"

#define RULE "************************************************************\n"

static void ccl_event(struct ut_sink *sink, const struct ut_trace *trace,
		      const struct ut_event *event)
{
	struct ut_ccl_report *r = (struct ut_ccl_report *)sink;

	if (event->cat != r->last_cat || r->last_is_ccl < 0) {
		r->last_cat = event->cat;
		r->last_is_ccl =
			ut_str_starts(ut_strtab_get(&trace->strings, event->cat).ptr, "oneCCL");
	}
	if (r->last_is_ccl)
		ut_sink_event(&r->summary.sink, trace, event);
}

void ut_ccl_report_init(struct ut_ccl_report *r)
{
	*r = (struct ut_ccl_report){ .sink.event = ccl_event, .last_is_ccl = -1 };
	ut_summary_init(&r->summary);
}

void ut_ccl_report_release(struct ut_ccl_report *r)
{
	ut_summary_release(&r->summary);
}

static size_t name_width(const struct ut_summary *s)
{
	size_t width = strlen("Function");

	for (size_t i = 0; i < s->count; i++) {
		size_t len = ut_strtab_get(&s->strings, s->rows[i].cat).len + 2 +
			     ut_strtab_get(&s->strings, s->rows[i].name).len;

		width = len > width ? len : width;
	}
	return width;
}

static void print_row(const struct ut_summary *s, const struct ut_summary_row *row, size_t width,
		      uint64_t sum, struct ut_buf *to)
{
	struct ut_str cat = ut_strtab_get(&s->strings, row->cat);
	struct ut_str name = ut_strtab_get(&s->strings, row->name);
	double share = sum ? 100.0 * (double)row->total / (double)sum : 0;

	ut_buf_fmt(to, "%*s%s::%s, %12" PRIu64 ", %20" PRIu64 ", %12.6f, ",
		   (int)(width - cat.len - 2 - name.len), "", cat.ptr, name.ptr, row->calls,
		   row->total, share);
	ut_buf_fmt(to, "%20" PRIu64 ", %20" PRIu64 ", %20" PRIu64 "\n",
		   row->calls ? row->total / row->calls : 0, row->min, row->max);
}

void ut_ccl_report_print(struct ut_ccl_report *r, struct ut_buf *to, uint32_t pid, int32_t rank)
{
	const struct ut_summary *s = &r->summary;
	uint64_t sum = 0;
	size_t width;

	ut_summary_end_trace(&r->summary);
	ut_summary_finish(&r->summary);
	if (!s->count)
		return;
	for (size_t i = 0; i < s->count; i++)
		sum += s->rows[i].total;
	width = name_width(s);
	ut_buf_fmt(to, RULE "*  Process ID : %u", pid);
	if (rank >= 0)
		ut_buf_fmt(to, " | Rank ID : %d", rank);
	ut_buf_fmt(to, "\n" RULE "%*s, %12s, %20s, %12s, %20s, %20s, %20s\n", (int)width,
		   "Function", "Calls", "Time (ns)", "Time (%)", "Average (ns)", "Min (ns)",
		   "Max (ns)");
	for (size_t i = 0; i < s->count; i++)
		print_row(s, &s->rows[i], width, sum, to);
	ut_buf_char(to, '\n');
}
