/*
 * test_traces.h - `unitrace record --python-test-traces DIR`: a trace of its own for each test of
 * pytest.
 *
 * The package's plugin marks every test with a span of the category "pytest" whose argument "trace"
 * is the name of its file (python/unitrace/pytest_plugin.py). Here, after the run, what began
 * between begin and end of such a span is written under that name.
 */
#ifndef UT_SESSION_TEST_TRACES_H
#define UT_SESSION_TEST_TRACES_H

#include <stddef.h>

#include "base/err.h"

struct ut_output_opts;
struct ut_session_client;
struct ut_spool_info;

/* Tells how many there are, unless out->quiet. Formats and --overwrite are those of out. */
int ut_test_traces_write(const char *dir, const struct ut_output_opts *out,
			 const struct ut_spool_info *list, size_t count,
			 const struct ut_session_client *client, struct ut_err *err) UT_MUST_CHECK;

#endif
