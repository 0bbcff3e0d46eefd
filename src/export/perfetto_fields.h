/*
 * perfetto_fields.h - the field numbers we write, by message, as in perfetto's
 * protos/perfetto/trace/. tests/export/perfetto_min.proto has the same as a schema.
 */
#ifndef UT_EXPORT_PERFETTO_FIELDS_H
#define UT_EXPORT_PERFETTO_FIELDS_H

enum {
	TRACE_PACKET = 1
}; /* Trace.packet */

enum trace_packet {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59, /* trace_packet_defaults */
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
};

enum sequence_flags {
	SEQ_INCREMENTAL_STATE_CLEARED = 1,
	SEQ_NEEDS_INCREMENTAL_STATE = 2,
};

enum {
	DEFAULTS_CLOCK_ID = 58
}; /* TracePacketDefaults.timestamp_clock_id */

enum clock_snapshot {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2, /* primary_trace_clock */
	CLOCK_ID = 1,         /* Clock.clock_id */
	CLOCK_TIMESTAMP = 2,
};

enum builtin_clock {
	BUILTIN_REALTIME = 1,
	BUILTIN_MONOTONIC = 3,
	BUILTIN_BOOTTIME = 6,
};

enum interned_data {
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ANNOTATIONS = 3, /* debug_annotation_names */
	INTERNED_IID = 1,         /* the same in all three */
	INTERNED_TEXT = 2,
};

enum track_event {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4, /* debug_annotations */
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30, /* counter_value */
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
};

enum event_type {
	TYPE_SLICE_BEGIN = 1,
	TYPE_SLICE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

enum debug_annotation {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NESTED = 8, /* nested_value */
	ANNOTATION_JSON = 9,   /* legacy_json_value */
	ANNOTATION_NAME = 10,
	ANNOTATION_DICT = 11,  /* dict_entries */
	ANNOTATION_ARRAY = 12, /* array_values */
};

enum nested_value {
	NESTED_TYPE = 1, /* nested_type */
	NESTED_DICT = 1,
	NESTED_ARRAY = 2,
};

enum track_descriptor {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5, /* parent_uuid */
	TRACK_COUNTER = 8,
	TRACK_RANK = 12, /* sibling_order_rank */
};

enum process_descriptor {
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_NAME = 6,
	PROCESS_LABELS = 8,
};

enum thread_descriptor {
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
};

enum counter_descriptor {
	COUNTER_UNIT = 3,
	COUNTER_UNIT_NAME = 6,
};

enum counter_unit {
	UNIT_TIME_NS = 1,
	UNIT_COUNT = 2,
	UNIT_SIZE_BYTES = 3,
};

#endif
