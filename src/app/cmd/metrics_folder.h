/*
 * metrics_folder.h - files of metrics below what --result-dir left: one for each process and
 * device, APP.PID/metrics/metrics_N.csv.
 */
#ifndef UT_CMD_METRICS_FOLDER_H
#define UT_CMD_METRICS_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ut_arena;
struct ut_words;

bool ut_metrics_is_folder(const char *path);

/* All of them, in the order of their names; in the arena. -ENODATA: there is none. */
int ut_metrics_folder_list(struct ut_words *files, struct ut_arena *a, const char *folder,
			   struct ut_err *err) UT_MUST_CHECK;

/* The one of a device. -ENODEV: none; -EINVAL: several processes have one, which are named. */
int ut_metrics_folder_pick(const char **path, struct ut_arena *a, const char *folder,
			   uint64_t device, struct ut_err *err) UT_MUST_CHECK;

#endif
