/*
 * arg_json.h - arguments as JSON text, and JSON strings as plain text.
 *
 * What is written is valid JSON for any input: see text/json_text.h.
 */
#ifndef UT_QUERY_ARG_JSON_H
#define UT_QUERY_ARG_JSON_H

#include <stddef.h>

#include "model/trace.h"

struct ut_buf;

/* The value of one argument. */
void ut_arg_json_value(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *arg);

/* How many arguments from here make one value: 1, or all elements of an array. */
size_t ut_arg_json_span(const struct ut_arg *args, size_t count);

/* One value: that of an argument, or an array of count elements. */
void ut_arg_json_run(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		     size_t count);

/* A whole list as an object. */
void ut_arg_json_list(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		      size_t count);

/* The text that a JSON string (with its quotes) stands for; what is no JSON string comes back. */
struct ut_str ut_arg_json_unquote(struct ut_arena *a, struct ut_str json);

#endif
