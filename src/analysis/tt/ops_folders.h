/*
 * ops_folders.h - the ops report from the folders that tt-metal wrote until 2024.
 *
 *	FOLDER/OP/profile_log_host.csv               a row per call of the op
 *	FOLDER/OP/N/profile_log_host.csv             calls of the API inside its N-th call
 *	FOLDER_device/OP/N/profile_log_device.csv    what the device did, from a run of its own
 *
 * The two runs are joined by op and N. Whatever is wrong with one op is told in its row; the others
 * have theirs.
 */
#ifndef UT_TT_OPS_FOLDERS_H
#define UT_TT_OPS_FOLDERS_H

#include <stdbool.h>

#include "base/err.h"

struct ut_ops_report;
struct ut_logger;

/* Is there an op with a log of the host? */
bool ut_ops_folder_has_ops(const char *folder);

/* Fills r, which the caller has initialised and releases, also on failure. What is left out is
 * told. */
int ut_ops_read_folder(struct ut_ops_report *r, const char *folder, const struct ut_logger *logger,
		       struct ut_err *err) UT_MUST_CHECK;

#endif
