/*
 * args_json.h - a list of arguments as one JSON object, for formats with a column of text.
 */
#ifndef UT_EXPORT_ARGS_JSON_H
#define UT_EXPORT_ARGS_JSON_H

#include <stdint.h>

struct ut_out;
struct ut_trace;

/* Writes {"key":value,...}; "{}" for an empty list. Pointers are strings in hex. */
void ut_args_json(struct ut_out *o, const struct ut_trace *t, uint32_t index);

#endif
