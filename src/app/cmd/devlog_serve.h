/*
 * devlog_serve.h - the dashboard of `unitrace devlog --serve`.
 */
#ifndef UT_CMD_DEVLOG_SERVE_H
#define UT_CMD_DEVLOG_SERVE_H

#include "base/err.h"
#include "tt/devlog_options.h"

/* Makes the results of the log anew: the button "Refresh". */
typedef int (*ut_devlog_refresh_fn)(const struct ut_devlog_opts *o, struct ut_err *err);

/* Serves the folder until a signal ends it. */
int ut_devlog_serve(const struct ut_devlog_opts *o, ut_devlog_refresh_fn refresh,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
