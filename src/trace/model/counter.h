/*
 * counter.h - what a row of a counter says.
 *
 * A value holds until the counter's next one, or the end of the trace. NaN is no value: what was
 * before ends there, and until the next value nothing is known, because nothing was measured (a
 * pause) or because what is counted is over. That time counts nowhere; no table takes it for 0.
 */
#ifndef UT_MODEL_COUNTER_H
#define UT_MODEL_COUNTER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/event.h"

/* The value of a counter's row. */
static inline double ut_counter_value(uint64_t val, uint8_t flags)
{
	double value;

	if (flags & UT_EV_DOUBLE) {
		memcpy(&value, &val, sizeof(value));
		return value;
	}
	return flags & UT_EV_SIGNED ? (double)(int64_t)val : (double)val;
}

/* The row says that there is no value from then on. */
static inline bool ut_counter_ends(uint64_t val, uint8_t flags)
{
	return isnan(ut_counter_value(val, flags));
}

#endif
