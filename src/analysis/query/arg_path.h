/*
 * arg_path.h - what lies at a path in JSON: "shape.m", "list[2].name".
 */
#ifndef UT_QUERY_ARG_PATH_H
#define UT_QUERY_ARG_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "model/strtab.h"

/*
 * The path behind a key: what is left of it when it begins with this key and goes on with a dot, a
 * bracket or not at all; NULL otherwise.
 */
const char *ut_arg_path_behind(const char *path, struct ut_str key);

/* "[12]" at *path, which is moved behind it; false if there is none. */
bool ut_arg_path_index(const char **path, size_t *index);

/* The value in a JSON text, any bytes; false if there is none. An empty path is the text itself. */
bool ut_arg_path_find(struct ut_str json, const char *path, struct ut_str *value);

#endif
