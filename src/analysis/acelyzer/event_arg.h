/*
 * event_arg.h - arguments of events: looked up, changed, made.
 *
 * Lists are packed and shared with nobody; a changed one is a new one, and the old stays where it
 * is. So this is for what few events need; what many need is a flag or a column.
 */
#ifndef UT_ACELYZER_EVENT_ARG_H
#define UT_ACELYZER_EVENT_ARG_H

#include "acelyzer/event_table.h"

/* The argument called key into *arg; false if there is none. */
bool ut_ace_arg(const struct ut_ace_table *t, uint32_t list, uint32_t key, struct ut_arg *arg);

/* A list with one more argument, or with another value for the one that is there. */
uint32_t ut_ace_arg_set(struct ut_ace_table *t, uint32_t list, const struct ut_arg *arg);

/* A list without that argument. */
uint32_t ut_ace_arg_drop(struct ut_ace_table *t, uint32_t list, uint32_t key);

/* Shorthands for arguments. */
struct ut_arg ut_ace_str_arg(uint32_t key, uint32_t str);
struct ut_arg ut_ace_num_arg(uint32_t key, double value);
struct ut_arg ut_ace_int_arg(uint32_t key, int64_t value);

/* A number, or text that is one: true and *value. */
bool ut_ace_arg_num(const struct ut_ace_table *t, const struct ut_arg *arg, double *value);

#endif
