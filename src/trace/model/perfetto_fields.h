/*
 * perfetto_fields.h - the field numbers of Perfetto's format that we read and write, by message, as
 * in its protos/perfetto/trace/. tests/export/perfetto_min.proto has them as a schema.
 */
#ifndef UT_MODEL_PERFETTO_FIELDS_H
#define UT_MODEL_PERFETTO_FIELDS_H

enum trace {
	TRACE_PACKET = 1,
};

enum trace_packet {
	PACKET_FTRACE = 1, /* ftrace_events */
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_STATE_CLEARED = 41, /* incremental_state_cleared; older than flags */
	PACKET_PREVIOUS_DROPPED = 42,
	PACKET_PROCESS_DESCRIPTOR = 43, /* before track descriptors */
	PACKET_THREAD_DESCRIPTOR = 44,  /* the same */
	PACKET_COMPRESSED = 50,         /* compressed_packets */
	PACKET_CLOCK_ID = 58,           /* timestamp_clock_id */
	PACKET_DEFAULTS = 59,           /* trace_packet_defaults */
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	PACKET_ZSTD_COMPRESSED = 133,
};

enum sequence_flags {
	SEQ_STATE_CLEARED = 1,
	SEQ_NEEDS_STATE = 2,
};

enum packet_defaults {
	DEFAULTS_EVENT = 11, /* track_event_defaults; fields as in TrackEvent */
	DEFAULTS_CLOCK_ID = 58,
};

enum clock_snapshot {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2, /* primary_trace_clock */
	CLOCK_ID = 1,         /* of a Clock */
	CLOCK_TIMESTAMP = 2,
	CLOCK_INCREMENTAL = 3,
	CLOCK_UNIT_NS = 4,
};

enum builtin_clock {
	CLOCK_REAL = 1,
	CLOCK_MONO = 3,
	CLOCK_BOOT = 6,
	CLOCK_FIRST_LOCAL = 64, /* up to 127: known on their sequence only */
	CLOCK_LAST_LOCAL = 127,
};

enum interned_data {
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_KEYS = 3,   /* debug_annotation_names */
	INTERNED_PLACES = 4, /* source_locations */
	INTERNED_TEXTS = 29, /* debug_annotation_string_values */
	INTERNED_IID = 1,    /* of each */
	INTERNED_TEXT = 2,   /* of all but places */
	PLACE_FILE = 2,      /* SourceLocation */
	PLACE_FUNCTION = 3,
	PLACE_LINE = 4,
};

enum track_event {
	EVENT_DELTA_US = 1, /* timestamp_delta_us; older than timestamps of packets */
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TASK = 5, /* task_execution; its field 1 is a place */
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_EXTRA_VALUES = 12, /* extra_counter_values */
	EVENT_ABSOLUTE_US = 16,  /* timestamp_absolute_us; the same */
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_EXTRA_TRACKS = 31,
	EVENT_PLACE = 33, /* source_location */
	EVENT_PLACE_IID = 34,
	EVENT_FLOWS_OLD = 36,
	EVENT_ENDING_FLOWS_OLD = 42,
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_EXTRA_DOUBLE_TRACKS = 45,
	EVENT_EXTRA_DOUBLE_VALUES = 46,
	EVENT_FLOWS = 47,
	EVENT_ENDING_FLOWS = 48, /* terminating_flow_ids */
	EVENT_CORRELATION = 52,
	EVENT_CORRELATION_TEXT = 53,
};

enum event_type {
	TYPE_NONE = 0,
	TYPE_SLICE_BEGIN = 1,
	TYPE_SLICE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

enum legacy_event {
	LEGACY_NAME_IID = 1,
	LEGACY_PHASE = 2, /* a letter as in Chrome's JSON */
	LEGACY_DURATION_US = 3,
	LEGACY_ID = 6, /* unscoped_id */
	LEGACY_SCOPE = 7,
	LEGACY_BIND_ID = 8,
	LEGACY_LOCAL_ID = 10,
	LEGACY_GLOBAL_ID = 11,
	LEGACY_DIRECTION = 13, /* of the flow bind_id: 1 in, 2 out, 3 both */
	LEGACY_INSTANT_SCOPE = 14,
	LEGACY_PID = 18, /* pid_override */
	LEGACY_TID = 19,
};

enum debug_annotation {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NESTED = 8, /* nested_value; older than dict_entries */
	ANNOTATION_JSON = 9,   /* legacy_json_value */
	ANNOTATION_NAME = 10,
	ANNOTATION_DICT = 11,  /* dict_entries */
	ANNOTATION_ARRAY = 12, /* array_values */
	ANNOTATION_STRING_IID = 17,
};

enum nested_value {
	NESTED_TYPE = 1,
	NESTED_KEYS = 2,
	NESTED_VALUES = 3, /* of a dict */
	NESTED_ARRAY = 4,
	NESTED_INT = 5,
	NESTED_DOUBLE = 6,
	NESTED_BOOL = 7,
	NESTED_STRING = 8,
};

enum nested_type {
	NESTED_IS_DICT = 1,
	NESTED_IS_ARRAY = 2,
};

enum track_descriptor {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_STATIC_NAME = 10,
	TRACK_CHILD_ORDERING = 11,
	ORDER_EXPLICIT = 3, /* its value for: by the rank of each */
	TRACK_RANK = 12,    /* sibling_order_rank */
	TRACK_ATRACE_NAME = 13,
};

enum process_descriptor {
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 2,
	PROCESS_SORT_INDEX = 3, /* legacy_sort_index */
	PROCESS_NAME = 6,
	PROCESS_LABELS = 8,
};

enum thread_descriptor {
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	THREAD_REFERENCE_US = 6, /* what timestamp_delta_us counts from */
};

enum counter_descriptor {
	COUNTER_TYPE = 1, /* 1 thread_time, 2 thread_instruction_count */
	COUNTER_UNIT = 3,
	COUNTER_MULTIPLIER = 4,
	COUNTER_INCREMENTAL = 5,
	COUNTER_UNIT_NAME = 6,
};

enum counter_unit {
	UNIT_TIME_NS = 1,
	UNIT_COUNT = 2,
	UNIT_SIZE_BYTES = 3,
};

#endif
