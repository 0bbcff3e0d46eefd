/*
 * owner.h - which event a list of arguments belongs to.
 *
 * Events know their lists; the way back is a sorted table of all of them, made when it is first
 * needed: 16 bytes per event with arguments.
 */
#ifndef UT_QUERY_OWNER_H
#define UT_QUERY_OWNER_H

#include "query/traces.h"

/* The event with this arg_set_id; false if no event has it. O(log events). */
bool ut_owner_find(struct ut_traces *t, int64_t set, uint64_t *id);

#endif
