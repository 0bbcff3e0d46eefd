/*
 * xpti_abi.h - what is used of XPTI, the tracing interface of the SYCL runtime: its functions,
 * found in the framework that has loaded us, and the layout of what it hands over. Seen in
 * frameworks 1.0.0 and 1.0.1 (SYCL 6 to 9). No SDK is needed.
 */
#ifndef UT_BACKEND_SYCL_XPTI_ABI_H
#define UT_BACKEND_SYCL_XPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Trace points. What begins is even, what ends it is the next. */
enum xpti_point {
	XPTI_GRAPH_CREATE = 2,
	XPTI_NODE_CREATE = 4,
	XPTI_EDGE_CREATE = 6,
	XPTI_TASK_BEGIN = 10,
	XPTI_TASK_END = 11,
	XPTI_BARRIER_BEGIN = 12,
	XPTI_BARRIER_END = 13,
	XPTI_SIGNAL = 16,
	XPTI_WAIT_BEGIN = 22,
	XPTI_WAIT_END = 23,
	XPTI_FUNCTION_BEGIN = 24,
	XPTI_FUNCTION_END = 25,
	XPTI_FUNCTION_WITH_ARGS_BEGIN = 28,
	XPTI_FUNCTION_WITH_ARGS_END = 29,
	XPTI_MEM_ALLOC_BEGIN = 32,
	XPTI_MEM_ALLOC_END = 33,
	XPTI_MEM_RELEASE_BEGIN = 34,
	XPTI_MEM_RELEASE_END = 35,
	XPTI_OBJECT_CONSTRUCT = 36, /* a buffer or an image */
	XPTI_OBJECT_DESTRUCT = 37,
	XPTI_ACCESSOR = 40,
	XPTI_QUEUE_CREATE = 42,
	XPTI_QUEUE_DESTROY = 43,
};

enum xpti_type {
	XPTI_BINARY,
	XPTI_STRING,
	XPTI_SIGNED,
	XPTI_UNSIGNED,
	XPTI_FLOATING,
	XPTI_BOOLEAN,
};

/* Where in the source something is. */
struct xpti_payload {
	const char *name;
	const char *stack_trace;
	const char *file;
	uint32_t line, column;
	const void *code;
	uint64_t internal, flags;
	uint64_t uid[3];
};

/* A std::unordered_map<uint32_t, int32_t> of libstdc++: number of the key, number of the value. */
struct xpti_pair {
	const struct xpti_pair *next;
	uint32_t key;
	int32_t value;
};

struct xpti_map {
	void *buckets;
	size_t bucket_count;
	const struct xpti_pair *first;
	size_t count;
	float most_load;
	size_t grow_at;
	void *one_bucket;
};

/* Something that is traced. Only what comes before the map is read directly. */
struct xpti_event {
	uint64_t id;
	uint64_t data;
	uint64_t instance;
	uint16_t type, activity;
	uint32_t unused;
	uint64_t source, target; /* of an edge: ids of events */
};

struct xpti_object {
	size_t size;
	const char *data;
	uint8_t type; /* enum xpti_type */
};

/* What a callback gets besides, depending on the trace point. */
struct xpti_function_args {
	uint32_t number;
	const char *name;
	void *args;
	const void *result; /* where the code is, at the end */
	void *data;
};

struct xpti_memory {
	uintptr_t object;
	uintptr_t address;
	size_t size;
	size_t guard;
	void *reserved;
};

struct xpti_buffer {
	uintptr_t user, host;
	const char *element;
	uint32_t element_size, dimensions;
	size_t range[3];
};

struct xpti_accessor {
	uintptr_t buffer, accessor;
	uint32_t target, mode;
};

struct xpti_launch {
	size_t global[3], local[3], offset[3];
	size_t arguments;
};

typedef void xpti_callback(uint16_t point, struct xpti_event *parent, struct xpti_event *event,
			   uint64_t instance, const void *data);

_Static_assert(sizeof(struct xpti_payload) == 80, "as in the framework");
_Static_assert(sizeof(struct xpti_map) == 56, "as in libstdc++");
_Static_assert(offsetof(struct xpti_event, source) == 32, "as in the framework");

#endif
