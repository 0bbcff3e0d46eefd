/*
 * stack.h - the stacks of samples as SQL sees them.
 */
#ifndef UT_QUERY_STACK_H
#define UT_QUERY_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "query/traces.h"

/* The id of a sample's stack in stack_profile_callsite; false if it has none. */
bool ut_stack_id(const struct ut_traces *t, const struct ut_place *p, int64_t *id);

#endif
