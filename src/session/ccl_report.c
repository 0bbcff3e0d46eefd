#include "session/ccl_report.h"

#include "base/str.h"
#include "export/compat_ccl.h"
#include "model/event.h"
#include "model/trace.h"
#include "text/out.h"

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

void ut_ccl_report_print(struct ut_ccl_report *r, struct ut_buf *to, uint32_t pid, int32_t rank)
{
	struct ut_out *mem = ut_out_open_memory();
	const char *data;
	size_t len;

	ut_summary_end_trace(&r->summary);
	ut_summary_finish(&r->summary);
	ut_compat_ccl(mem, &r->summary, pid, rank);
	data = ut_out_data(mem, &len);
	ut_buf_add(to, data, len);
	ut_out_abandon(mem);
}
