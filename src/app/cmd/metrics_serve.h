/*
 * metrics_serve.h - the browser of metrics: what the links of kernels in a timeline point to,
 * http://localhost:8000/NAME/INSTANCE, as pages of the viewer; "/" lists the kernels.
 *
 * A page is made when it is asked for, of what the file holds then. Nothing of a path is taken for
 * the name of a file: it is compared with the names of kernels.
 */
#ifndef UT_CMD_METRICS_SERVE_H
#define UT_CMD_METRICS_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ut_metrics_browser;
struct ut_metrics_opts;

/* Opens the port and answers from now on, in threads of its own. opts must outlive it. */
int ut_metrics_browser_start(struct ut_metrics_browser **b, const struct ut_metrics_opts *opts,
			     struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_browser_stop(struct ut_metrics_browser *b); /* NULL is fine */

/* Do the links of a trace, one of an earlier version, want TLS? Looks at its first 64 MiB. */
bool ut_metrics_links_are_https(const char *path);

/* Starts it and waits for Ctrl-C. */
int ut_metrics_serve(const struct ut_metrics_opts *opts, struct ut_err *err) UT_MUST_CHECK;

#endif
