/*
 * make_run.h - runs for tests: a trace as JSON text in, stages over it.
 */
#ifndef UT_TESTS_AIU_MAKE_RUN_H
#define UT_TESTS_AIU_MAKE_RUN_H

#include "acelyzer/analysis.h"

/* Defaults of the command line at 1000:1100 MHz. */
struct ut_ace_opts make_opts(void);

/* Reads each text (closed by NULL) as a file of its own and merges them. Fails the test if one
 * cannot be read. */
void make_run(struct ut_ace_analysis *a, const struct ut_ace_opts *opts, const char *const *texts);

/* The text of event number i of seq as the output would show it; the caller frees it. */
char *event_text(const struct ut_ace_analysis *a, size_t i);

/* The last message that contains a text; NULL = none. */
const char *said(const struct ut_ace_analysis *a, const char *text);

#endif
