/*
 * write_perfetto.c - -f protobuf: the result as a Perfetto trace.
 */
#include "acelyzer/to_trace.h"
#include "acelyzer/write_output.h"
#include "export/exporter.h"
#include "text/out.h"

int ut_ace_write_perfetto(const struct ut_ace_analysis *a, const char *path, struct ut_err *err)
{
	struct ut_out *o = ut_out_open(path, UT_OUT_OVERWRITE);
	struct ut_sink *sink = ut_export_perfetto.open(o);
	struct ut_trace trace;

	ut_trace_init(&trace);
	ut_ace_to_trace(a, &(struct ut_ace_to_trace_opts){ 0 }, &trace, sink);
	ut_export_perfetto.end_trace(sink, &trace);
	ut_export_perfetto.close(sink);
	ut_trace_release(&trace);
	return ut_out_commit(o, err);
}
