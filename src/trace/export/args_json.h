/*
 * args_json.h - arguments and values of events as JSON, into a file (text/arg_json.h writes them).
 */
#ifndef UT_EXPORT_ARGS_JSON_H
#define UT_EXPORT_ARGS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "model/strtab.h"

struct ut_arg;
struct ut_event;
struct ut_out;
struct ut_trace;

/* Writes {"key":value,...}; "{}" for an empty list. */
void ut_args_json(struct ut_out *o, const struct ut_trace *t, uint32_t index);

/* The value of one of them. */
void ut_args_json_value(struct ut_out *o, const struct ut_trace *t, const struct ut_arg *a);

/* JSON that came from outside: as it is, but for bad UTF-8, which becomes U+FFFD. */
void ut_args_json_text(struct ut_out *o, struct ut_str text);

/* Is it a sample with a stack? */
bool ut_sample_has_stack(const struct ut_trace *t, const struct ut_event *e);

/* The arguments of a sample with its stack in front, as flame graphs take it: "stack":"main;f". */
void ut_sample_json(struct ut_out *o, const struct ut_trace *t, const struct ut_event *e);

/* The value of a counter's event. */
void ut_counter_json(struct ut_out *o, const struct ut_event *e);

#endif
