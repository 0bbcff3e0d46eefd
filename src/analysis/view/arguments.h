/*
 * arguments.h - the arguments of an event, as the viewer shows them: keys and texts.
 */
#ifndef UT_VIEW_ARGUMENTS_H
#define UT_VIEW_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"
#include "view/view_parts.h"

struct ut_buf;

/* {0} is empty; free items. */
struct ut_view_args {
	const struct ut_strtab *strings;
	struct ut_arg *items;
	size_t count, cap;
};

/* What the event says; of an async span with its end. */
void ut_view_args_get(struct ut_view_args *a, const struct ut_view_row *row);

/* One value: from at on, how many arguments it has, its key, and its text (appended). */
size_t ut_view_args_next(const struct ut_view_args *a, size_t at, struct ut_str *key,
			 struct ut_buf *text);

/* The text of one key; false if there is none of it. */
bool ut_view_args_text(const struct ut_view_row *row, struct ut_str key, struct ut_buf *text);

/* All as one JSON object. */
void ut_view_args_json(const struct ut_view_args *a, struct ut_buf *json);

#endif
