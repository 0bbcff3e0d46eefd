/*
 * analyze_job.h - the way into this room: a whole analysis, from the files that a setup names to
 * the trace, the tables and the reports that it asks for.
 */
#ifndef UT_ACELYZER_ANALYZE_JOB_H
#define UT_ACELYZER_ANALYZE_JOB_H

#include <stdbool.h>

#include "acelyzer/analysis.h"
#include "acelyzer/analyze_setup.h"
#include "base/err.h"

struct ut_ace_request {
	const struct ut_ace_setup *setup;
	int argc; /* how it was asked for: part of the result */
	const char *const *argv;
};

/*
 * a: initialised and released by the caller, who has also said who hears its messages. *trusted is
 * false if a strict --verify finds too little of the results to be trusted. 0, or negative errno.
 */
int ut_ace_analyze(const struct ut_ace_request *request, struct ut_ace_analysis *a, bool *trusted,
		   struct ut_err *err) UT_MUST_CHECK;

#endif
