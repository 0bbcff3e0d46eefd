/*
 * output_check.h - will the results of record and export find their places? Told before the program
 * runs, so that nobody waits an hour for a name that cannot be written.
 */
#ifndef UT_SESSION_OUTPUT_CHECK_H
#define UT_SESSION_OUTPUT_CHECK_H

#include "session/output_names.h"

struct ut_session_client;

/*
 * -EINVAL for a name that makes no sense; other codes for a place that cannot be written. Makes
 * nothing. Whose results they are is only guessed at, as far as it is not known yet.
 */
int ut_output_check(const struct ut_output_opts *opts, const struct ut_output_who *who,
		    const struct ut_session_client *client, struct ut_err *err) UT_MUST_CHECK;

#endif
