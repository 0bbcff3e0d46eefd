/*
 * zet_abi.h - what is used of Level Zero's interface for tools: groups of hardware metrics, queries
 * around kernels, streams of reports. As ze_abi.h: in words of our own, compared with an SDK where
 * there is one.
 */
#ifndef UT_BACKEND_LEVELZERO_ZET_ABI_H
#define UT_BACKEND_LEVELZERO_ZET_ABI_H

#include <string.h>

#include "backend/levelzero/ze_abi.h"

enum {
	ZET_GROUP_PROPERTIES = 0x1,
	ZET_METRIC_PROPERTIES = 0x2,
	ZET_STREAMER_DESC = 0x3,
	ZET_QUERY_POOL_DESC = 0x4,
};

enum {
	ZET_EVENT_BASED = 1, /* by queries */
	ZET_TIME_BASED = 2,  /* by streams */
};

enum {
	ZET_DURATION = 0,
	ZET_TIMESTAMP = 4,
	ZET_IP = 0x7ffffffe,
};

enum zet_type {
	ZET_U32,
	ZET_U64,
	ZET_F32,
	ZET_F64,
	ZET_BOOL,
};

#define ZET_TEXT 256

struct zet_group_properties {
	uint32_t type;
	void *next;
	char name[ZET_TEXT], about[ZET_TEXT];
	uint32_t sampling, domain, metrics;
};

struct zet_metric_properties {
	uint32_t type;
	void *next;
	char name[ZET_TEXT], about[ZET_TEXT], component[ZET_TEXT];
	uint32_t tier, kind;
	uint32_t value; /* enum zet_type */
	char unit[ZET_TEXT];
};

struct zet_value {
	uint32_t type;
	union {
		uint32_t u32;
		uint64_t u64;
		float f32;
		double f64;
		uint8_t b8;
	} value;
};

struct zet_pool_desc {
	uint32_t type;
	const void *next;
	uint32_t kind; /* 0 = performance */
	uint32_t count;
};

struct zet_streamer_desc {
	uint32_t type;
	const void *next;
	uint32_t notify; /* reports between two signals of an event */
	uint32_t period; /* ns */
};

/* Getter of the table, place in it, what we call it, parameters. */
#define ZET_LIST(X)                                                                                \
	X(MetricGroup, 0, group_get, (ze_handle, uint32_t *, ze_handle *))                         \
	X(MetricGroup, 1, group_properties, (ze_handle, struct zet_group_properties *))            \
	X(MetricGroupExp, 0, calculate,                                                            \
	  (ze_handle, uint32_t, size_t, const uint8_t *, uint32_t *, uint32_t *, uint32_t *,       \
	   struct zet_value *))                                                                    \
	X(MetricGroupExp, 1, timestamps, (ze_handle, uint8_t, uint64_t *, uint64_t *))             \
	X(Metric, 0, metric_get, (ze_handle, uint32_t *, ze_handle *))                             \
	X(Metric, 1, metric_properties, (ze_handle, struct zet_metric_properties *))               \
	X(Context, 0, activate, (ze_handle, ze_handle, uint32_t, ze_handle *))                     \
	X(MetricStreamer, 0, stream_open,                                                          \
	  (ze_handle, ze_handle, ze_handle, struct zet_streamer_desc *, ze_handle, ze_handle *))   \
	X(MetricStreamer, 1, stream_close, (ze_handle))                                            \
	X(MetricStreamer, 2, stream_read, (ze_handle, uint32_t, size_t *, uint8_t *))              \
	X(MetricQueryPool, 0, pool_create,                                                         \
	  (ze_handle, ze_handle, ze_handle, const struct zet_pool_desc *, ze_handle *))            \
	X(MetricQueryPool, 1, pool_destroy, (ze_handle))                                           \
	X(MetricQuery, 0, query_create, (ze_handle, uint32_t, ze_handle *))                        \
	X(MetricQuery, 1, query_destroy, (ze_handle))                                              \
	X(MetricQuery, 2, query_reset, (ze_handle))                                                \
	X(MetricQuery, 3, query_data, (ze_handle, size_t *, uint8_t *))                            \
	X(CommandList, 1, query_begin, (ze_handle, ze_handle))                                     \
	X(CommandList, 2, query_end, (ze_handle, ze_handle, ze_handle, uint32_t, ze_handle *))

struct zet_functions {
#define ZET_MEMBER(table, place, name, parameters) ze_result(*name) parameters;
	ZET_LIST(ZET_MEMBER)
#undef ZET_MEMBER
};

/* A unit as Intel's unitrace and its documents write it: options name columns by it. */
static inline const char *zet_unit(const char *unit)
{
	return strcmp(unit, "percent") ? unit : "%";
}

#endif
