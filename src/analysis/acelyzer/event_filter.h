/*
 * event_filter.h - which events of the input take part: --event_limit and --event_filter.
 */
#ifndef UT_ACELYZER_EVENT_FILTER_H
#define UT_ACELYZER_EVENT_FILTER_H

#include "acelyzer/analysis.h"

/* Is the event inside the limits? *counted is how many were inside the window so far. */
bool ut_ace_limit_passes(const struct ut_ace_limit *l, const struct ut_ace_event *e,
			 int64_t *counted);

/* Does any filter find something in the event? */
bool ut_ace_filter_matches(struct ut_ace_analysis *a, const struct ut_ace_event *e);

#endif
