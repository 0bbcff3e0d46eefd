/*
 * hotspots_report.h - what `unitrace hotspots` prints and draws of traces.
 */
#ifndef UT_CMD_HOTSPOTS_REPORT_H
#define UT_CMD_HOTSPOTS_REPORT_H

#include "base/err.h"

struct ut_hotspots_opts;
struct ut_words;

/* words: the traces. */
int ut_hotspots_report(const struct ut_hotspots_opts *o, const struct ut_words *words,
		       struct ut_err *err) UT_MUST_CHECK;

/* The same for --threads: hotspots_threads.c. */
int ut_hotspots_report_threads(const struct ut_hotspots_opts *o, const struct ut_words *words,
			       struct ut_err *err) UT_MUST_CHECK;

#endif
