#include "session/ccl_report.h"

#include <string.h>

#include "base/str.h"
#include "model/event.h"
#include "model/trace.h"
#include "report/compat_ccl.h"
#include "text/out.h"

/* NCCL's calls are on rows of their own; what it marks with NVTX as well would count them twice. */
static bool is_nccl_call(const struct ut_trace *trace, const struct ut_event *event)
{
	return trace->tracks[event->track].role == UT_ROLE_CALLS &&
	       !strcmp(ut_strtab_get(&trace->strings, event->cat).ptr, "NCCL");
}

/* What PyTorch does with gloo, gloo does not say itself. */
static bool is_gloo(const struct ut_trace *trace, const struct ut_event *event)
{
	return ut_str_starts(ut_strtab_get(&trace->strings, event->name).ptr, "gloo:");
}

/* Steps of oneCCL are events, whose names begin with it. */
static bool is_step(const struct ut_trace *trace, const struct ut_event *event)
{
	return ut_str_starts(ut_strtab_get(&trace->strings, event->name).ptr, "oneCCL::");
}

static void ccl_event(struct ut_sink *sink, const struct ut_trace *trace,
		      const struct ut_event *event)
{
	struct ut_ccl_report *r = (struct ut_ccl_report *)sink;

	if (event->cat != r->last_cat || r->last_is_ccl < 0) {
		r->last_cat = event->cat;
		r->last_is_ccl =
			ut_str_starts(ut_strtab_get(&trace->strings, event->cat).ptr, "oneCCL");
	}
	if (r->last_is_ccl || is_step(trace, event) || is_nccl_call(trace, event) ||
	    is_gloo(trace, event))
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
