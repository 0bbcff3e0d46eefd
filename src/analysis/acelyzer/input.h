/*
 * input.h - the files of an analysis: found, read on several threads, put together.
 */
#ifndef UT_ACELYZER_INPUT_H
#define UT_ACELYZER_INPUT_H

#include "acelyzer/analysis.h"
#include "acelyzer/analyze_setup.h"

/* Fills the table of the run and the frame. On failure err says why; messages tell the rest. */
int ut_ace_input(struct ut_ace_analysis *a, const struct ut_ace_setup *s,
		 struct ut_ace_frame *frame, struct ut_err *err) UT_MUST_CHECK;

#endif
