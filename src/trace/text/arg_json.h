/*
 * arg_json.h - arguments as JSON text, the one writer of them, and JSON strings as plain text.
 *
 * What is written is valid JSON for any input: see text/json_text.h. Pointers are strings in hex,
 * since readers round numbers past 2^53. export/args_json.h hands it the buffer of a file.
 */
#ifndef UT_TEXT_ARG_JSON_H
#define UT_TEXT_ARG_JSON_H

#include <stddef.h>

#include "model/trace.h"

struct ut_buf;

/* JSON that came from outside: as it is, but for bad UTF-8, which becomes U+FFFD. */
void ut_arg_json_raw(struct ut_buf *b, struct ut_str text);

/* The value of one argument. */
void ut_arg_json_value(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *arg);

/* How many arguments from here make one value: 1, or all elements of an array. */
size_t ut_arg_json_span(const struct ut_arg *args, size_t count);

/* One value: that of an argument, or an array of count elements. */
void ut_arg_json_run(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		     size_t count);

/* A list as the members of an object, without its braces. */
void ut_arg_json_members(struct ut_buf *b, const struct ut_strtab *strings,
			 const struct ut_arg *args, size_t count);

/* A whole list as an object. */
void ut_arg_json_list(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		      size_t count);

/* The text that a JSON string (with its quotes) stands for; what is no JSON string comes back. */
struct ut_str ut_arg_json_unquote(struct ut_arena *a, struct ut_str json);

#endif
