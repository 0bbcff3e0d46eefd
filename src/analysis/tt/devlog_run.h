/*
 * devlog_run.h - one device log: read, analysed, written into a folder.
 */
#ifndef UT_TT_DEVLOG_RUN_H
#define UT_TT_DEVLOG_RUN_H

#include "base/arena.h"
#include "base/err.h"
#include "tt/devlog.h"
#include "tt/devlog_options.h"
#include "tt/durations.h"

/* A log and what was found in it. {0} is empty. */
struct ut_devlog {
	struct ut_tt_log log;
	struct ut_tt_analysis analysis;
};

/* Reads and analyses; tells what is doubtful. On failure nothing is held. */
int ut_devlog_open(struct ut_devlog *d, const char *path, const struct ut_devlog_opts *o,
		   struct ut_err *err) UT_MUST_CHECK;
void ut_devlog_close(struct ut_devlog *d);

/* The files of the folder, which is made if need be. */
int ut_devlog_write(const struct ut_devlog *d, const char *path, const struct ut_devlog_opts *o,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
