/*
 * trash.h - what was deleted, until it is really gone: folders below DATA/.unitrace/trash, each
 * with a note of where it was.
 */
#ifndef UT_WORKBENCH_TRASH_H
#define UT_WORKBENCH_TRASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_arena;
struct ut_json_writer;
struct ut_data_dir;

#define UT_TRASH_ID   33
#define UT_TRASH_DAYS 7

/* A project (result NULL) or a result. -EBUSY: a run is under way in it. id is how to get it back.
 */
int ut_trash_put(const struct ut_data_dir *s, const char *project, const char *result,
		 char id[UT_TRASH_ID], struct ut_err *err) UT_MUST_CHECK;

/* Back to where it was; -EEXIST if there is something else by now. project and result (NULL for a
 * project) are where it is, in the arena. */
int ut_trash_restore(const struct ut_data_dir *s, struct ut_arena *a, const char *id,
		     const char **project, const char **result, struct ut_err *err) UT_MUST_CHECK;

/* What can be got back, the last one first: a list of objects. */
int ut_trash_list(const struct ut_data_dir *s, struct ut_json_writer *w,
		  struct ut_err *err) UT_MUST_CHECK;

/* Removes what was put there so many seconds ago or earlier. */
void ut_trash_empty(const struct ut_data_dir *s, int64_t older);

#endif
