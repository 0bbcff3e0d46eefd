/*
 * path.h - file names: joining, splitting, directories. Results live in the caller's arena.
 */
#ifndef UT_BASE_PATH_H
#define UT_BASE_PATH_H

#include <stdbool.h>

#include "base/err.h"

struct ut_arena;

/* dir/name; name alone if dir is NULL, "" or if name is absolute. */
char *ut_path_join(struct ut_arena *a, const char *dir, const char *name);

/* The part after the last slash; points into path. */
const char *ut_path_base(const char *path);

/* The part before the last slash, "." if there is none. */
char *ut_path_dir(struct ut_arena *a, const char *path);

/*
 * Where the suffix of a file name starts: ".json", ".json.gz"; at the end if there is none. Points
 * into path.
 */
const char *ut_path_suffix(const char *path);

/* path with text put before the suffix. */
char *ut_path_insert(struct ut_arena *a, const char *path, const char *text);

/* Relative names count from the current directory. A "./" in front goes; links and ".." stay. */
char *ut_path_absolute(struct ut_arena *a, const char *path);

/* mkdir -p. An existing directory is fine, also when another process makes it at the same time. */
int ut_path_mkdirs(const char *path, struct ut_err *err) UT_MUST_CHECK;

/* rm -r, without following links. A missing path is fine. */
int ut_path_remove_tree(const char *path, struct ut_err *err) UT_MUST_CHECK;

bool ut_path_exists(const char *path);
bool ut_path_is_dir(const char *path);

/*
 * What execvp() would start for name: the file's path, or NULL with *code = ENOENT (nothing of
 * that name) or EACCES (found, but it may not be executed).
 */
char *ut_path_find_program(struct ut_arena *a, const char *name, int *code);

/* The directory that holds our own executable; NULL if the system does not tell. */
char *ut_path_self_dir(struct ut_arena *a);

#endif
