/*
 * to_trace.h - the events of an analysis as events of the model, for whoever takes those: the
 * Perfetto writer, the page.
 */
#ifndef UT_ACELYZER_TO_TRACE_H
#define UT_ACELYZER_TO_TRACE_H

#include "acelyzer/analysis.h"
#include "model/trace.h"

struct ut_sink;

/* How they are told. Zeroed: as -f protobuf does. */
struct ut_ace_to_trace_opts {
	double zero;     /* us: where times count from; what is before is put there */
	bool origin;     /* arguments say what a span was called and which file it is of; threads of
			  * devices are called after what they do */
	bool no_stamps;  /* without cycles, and without readings of the device */
	bool coarse;     /* values of counters in five digits: such doubles pack well */
	bool apart;      /* torch files: processes have their rank, arrows numbers of their own */
	bool all_values; /* a counter of several values is several counters */
};

/*
 * Sends everything that the model knows to the sink, in the order of the table. The trace is filled
 * on the way; it was initialised, and is the caller's.
 */
void ut_ace_to_trace(const struct ut_ace_analysis *a, const struct ut_ace_to_trace_opts *how,
		     struct ut_trace *trace, struct ut_sink *sink);

#endif
