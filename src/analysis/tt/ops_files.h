/*
 * ops_files.h - what lies beside an ops report: its logs, packed or copied.
 */
#ifndef UT_TT_OPS_FILES_H
#define UT_TT_OPS_FILES_H

#include <stdbool.h>

#include "base/err.h"

struct ut_arena;
struct ut_logger;

/* The folder around a folder, however that is written: "a/.logs/", ".". */
const char *ut_ops_files_parent(struct ut_arena *a, const char *folder);

/*
 * The files of a folder into a tarball, with those in its folders if deep. One that cannot go in is
 * told; the rest does.
 */
int ut_ops_files_pack(const char *folder, bool deep, const char *path,
		      const struct ut_logger *logger, struct ut_err *err) UT_MUST_CHECK;

/*
 * Copies what viewers look for beside a report made from Tracy's files: Tracy's file and the
 * device's markers, and npe_viz beside the folder of the logs. What cannot be copied is told.
 */
void ut_ops_files_copy(const char *logs, const char *to, const struct ut_logger *logger);

#endif
