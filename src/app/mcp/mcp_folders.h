/*
 * mcp_folders.h - which files a client may name: those below some folders, by a path without links
 * and without "..".
 *
 * Nothing is said about what lies elsewhere, not even whether it is there. Whoever can write into
 * such a folder may put a link there between the check and the reading; that is the user's own
 * side.
 */
#ifndef UT_MCP_MCP_FOLDERS_H
#define UT_MCP_MCP_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ut_mcp_folders {
	struct ut_arena arena;
	char **paths; /* absolute, without links */
	size_t count;
};

/* A folder that is not there is an error. */
int ut_mcp_folders_init(struct ut_mcp_folders *f, const char *const *folders, size_t count,
			struct ut_err *err) UT_MUST_CHECK;
void ut_mcp_folders_release(struct ut_mcp_folders *f);

/*
 * The file or folder that a client means: absolute, or relative to one of the folders. *found lives
 * in the arena. -EACCES, -ENOENT with a sentence.
 */
int ut_mcp_folders_find(const struct ut_mcp_folders *f, struct ut_arena *a, struct ut_str said,
			char **found, struct ut_err *err) UT_MUST_CHECK;

/* Is this path, which was found somewhere below, a plain file that no link leads to? */
bool ut_mcp_folders_has(const struct ut_mcp_folders *f, const char *path);

#endif
