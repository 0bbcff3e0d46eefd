/*
 * measured.h - values of hardware metrics that belong together: of one kernel, or of a device over
 * a moment. Sinks that want them whole take them as they come (sink.h); everybody else sees
 * arguments and counters.
 */
#ifndef UT_MODEL_MEASURED_H
#define UT_MODEL_MEASURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_metric_column {
	uint32_t name; /* string id: "KEY[UNIT]", or "KEY" without a unit */
	uint8_t type;  /* enum ut_arg_type */
};

/* Valid during the call. What was not measured is a value beyond count, or no number. */
struct ut_measured {
	uint32_t process;     /* that stands for the device */
	uint32_t set;         /* equal for equal columns of one device */
	uint32_t title;       /* string id: the group */
	uint32_t name;        /* string id: of what, 0 = the device */
	bool sample;          /* one of many in a row */
	uint64_t begin, end;  /* ns */
	uint64_t correlation; /* of the work; 0 = none */
	const struct ut_metric_column *columns;
	size_t column_count;
	const uint64_t *values; /* bits, as the type says; of a string its id */
	size_t count;
};

#endif
