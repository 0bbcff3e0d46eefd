/*
 * ze_measure.h - hardware metrics, between the files of the Level Zero backend: ze_measure.c has
 * what all kinds share, query.c measures each kernel (-q), stream.c the device over time (-k) and
 * instructions that wait (--stall-sampling). At most one of the three is on in a device.
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_MEASURE_H
#define UT_BACKEND_LEVELZERO_ZE_MEASURE_H

#include "backend/levelzero/ze_run.h"
#include "backend/levelzero/zet_abi.h"

/* ---- groups (ze_measure.c) ----------------------------------------------------------------- */

#define UT_ZE_MOST_METRICS 512u

/* A group of metrics of one device, as it is measured. */
struct ut_ze_group {
	ze_handle handle;
	uint32_t count; /* metrics of the group: values of one report */
	uint32_t set;   /* host->metrics(); 0 = of stalls */
	/* Which of them are told; the time and its beginning are told otherwise. -1: not there. */
	uint32_t seen_count;
	uint16_t reported[UT_ZE_MOST_METRICS];
	int32_t time, begin, ip;
	uint32_t names[UT_ZE_MOST_METRICS]; /* of all; only of stalls */
};

/* The driver's functions; NULL = it has none of them, which has been said. */
const struct zet_functions *ut_zet(void);

/* The group that the user wants, of this device; NULL = there is none, which has been said. */
struct ut_ze_group *ut_ze_group_of(struct ut_ze_device *d, const char *name, uint32_t sampling);
const char *ut_ze_group_asked(void);

/* Values of the reports, at most room; how many there are. */
uint32_t ut_ze_group_values(const struct ut_ze_group *g, const uint8_t *raw, size_t size,
			    struct zet_value *values, uint32_t room);
uint64_t ut_zet_integer(const struct zet_value *v);
/* Hands one report over. */
void ut_ze_group_send(const struct ut_ze_group *g, const struct zet_value *values,
		      struct ut_values *about);

/* Says once that metrics are missing, and why. */
void ut_ze_measure_complain(const char *what, ze_result result);

/* ---- each kernel (query.c) ----------------------------------------------------------------- */

/* A query for the next kernel of a list; NULL = it is not to be measured. */
struct ut_ze_query *ut_ze_query_take(struct ut_ze_context *c, struct ut_ze_device *d,
				     const struct ut_ze_facts *kernel);
/* Around the kernel; false: it was not put there. in_order: the list keeps order. */
bool ut_ze_query_begin(struct ut_ze_query *q, ze_handle list, bool in_order);
bool ut_ze_query_end(struct ut_ze_query *q, ze_handle list, bool in_order);
/* The kernel is complete. Under the lock. */
void ut_ze_query_send(struct ut_ze_query *q, const struct ut_work *w);
/* Its list was executed again before it was told: nobody knows whose values there are. */
void ut_ze_query_lost(void);
/* It may be used again: by the same command if that is kept. */
void ut_ze_query_give(struct ut_ze_query *q, bool kept);
void ut_ze_query_context_ends(struct ut_ze_context *c);
void ut_ze_query_note_losses(void);

/* ---- over time (stream.c) ------------------------------------------------------------------ */

/* The device is used from now on. */
void ut_ze_stream_device(struct ut_ze_device *d);
/* What is left is read, and all is closed. */
void ut_ze_streams_end(void);
void ut_ze_streams_forked(void);

#endif
