/* ze_text.c - names of results. */
#include <stddef.h>

#include "backend/levelzero/levelzero.h"

#define RESULT_LIST(X)                                                                             \
	X(SUCCESS, 0x0)                                                                            \
	X(NOT_READY, 0x1)                                                                          \
	X(ERROR_DEVICE_LOST, 0x70000001)                                                           \
	X(ERROR_OUT_OF_HOST_MEMORY, 0x70000002)                                                    \
	X(ERROR_OUT_OF_DEVICE_MEMORY, 0x70000003)                                                  \
	X(ERROR_MODULE_BUILD_FAILURE, 0x70000004)                                                  \
	X(ERROR_MODULE_LINK_FAILURE, 0x70000005)                                                   \
	X(ERROR_DEVICE_REQUIRES_RESET, 0x70000006)                                                 \
	X(ERROR_DEVICE_IN_LOW_POWER_STATE, 0x70000007)                                             \
	X(ERROR_INSUFFICIENT_PERMISSIONS, 0x70010000)                                              \
	X(ERROR_NOT_AVAILABLE, 0x70010001)                                                         \
	X(ERROR_DEPENDENCY_UNAVAILABLE, 0x70020000)                                                \
	X(WARNING_DROPPED_DATA, 0x70020001)                                                        \
	X(ERROR_UNINITIALIZED, 0x78000001)                                                         \
	X(ERROR_UNSUPPORTED_VERSION, 0x78000002)                                                   \
	X(ERROR_UNSUPPORTED_FEATURE, 0x78000003)                                                   \
	X(ERROR_INVALID_ARGUMENT, 0x78000004)                                                      \
	X(ERROR_INVALID_NULL_HANDLE, 0x78000005)                                                   \
	X(ERROR_HANDLE_OBJECT_IN_USE, 0x78000006)                                                  \
	X(ERROR_INVALID_NULL_POINTER, 0x78000007)                                                  \
	X(ERROR_INVALID_SIZE, 0x78000008)                                                          \
	X(ERROR_UNSUPPORTED_SIZE, 0x78000009)                                                      \
	X(ERROR_UNSUPPORTED_ALIGNMENT, 0x7800000a)                                                 \
	X(ERROR_INVALID_SYNCHRONIZATION_OBJECT, 0x7800000b)                                        \
	X(ERROR_INVALID_ENUMERATION, 0x7800000c)                                                   \
	X(ERROR_UNSUPPORTED_ENUMERATION, 0x7800000d)                                               \
	X(ERROR_UNSUPPORTED_IMAGE_FORMAT, 0x7800000e)                                              \
	X(ERROR_INVALID_NATIVE_BINARY, 0x7800000f)                                                 \
	X(ERROR_INVALID_GLOBAL_NAME, 0x78000010)                                                   \
	X(ERROR_INVALID_KERNEL_NAME, 0x78000011)                                                   \
	X(ERROR_INVALID_FUNCTION_NAME, 0x78000012)                                                 \
	X(ERROR_INVALID_GROUP_SIZE_DIMENSION, 0x78000013)                                          \
	X(ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, 0x78000014)                                        \
	X(ERROR_INVALID_KERNEL_ARGUMENT_INDEX, 0x78000015)                                         \
	X(ERROR_INVALID_KERNEL_ARGUMENT_SIZE, 0x78000016)                                          \
	X(ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE, 0x78000017)                                        \
	X(ERROR_INVALID_MODULE_UNLINKED, 0x78000018)                                               \
	X(ERROR_INVALID_COMMAND_LIST_TYPE, 0x78000019)                                             \
	X(ERROR_OVERLAPPING_REGIONS, 0x7800001a)                                                   \
	X(WARNING_ACTION_REQUIRED, 0x7800001b)                                                     \
	X(ERROR_INVALID_KERNEL_HANDLE, 0x7800001c)                                                 \
	X(EXT_RTAS_BUILD_RETRY, 0x7800001d)                                                        \
	X(EXT_RTAS_BUILD_DEFERRED, 0x7800001e)                                                     \
	X(EXT_ERROR_OPERANDS_INCOMPATIBLE, 0x7800001f)                                             \
	X(ERROR_SURVIVABILITY_MODE_DETECTED, 0x78000020)                                           \
	X(ERROR_ADDRESS_NOT_FOUND, 0x78000021)                                                     \
	X(QUERY_TRUE, 0x78000022)                                                                  \
	X(QUERY_FALSE, 0x78000023)                                                                 \
	X(ERROR_INVALID_GRAPH, 0x78000024)                                                         \
	X(ERROR_GRAPH_CAPTURE_UNSUPPORTED, 0x78000025)                                             \
	X(ERROR_GRAPH_CAPTURE_INVALIDATED, 0x78000026)                                             \
	X(ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT, 0x78000027)                                           \
	X(ERROR_COMMAND_LIST_NOT_CAPTURING, 0x78000028)                                            \
	X(ERROR_GRAPH_UNJOINED_FORKS, 0x78000029)                                                  \
	X(ERROR_GRAPH_INTERNAL_EVENT, 0x7800002a)                                                  \
	X(EXP_ERROR_DEVICE_IS_NOT_VERTEX, 0x7ff00001)                                              \
	X(EXP_ERROR_VERTEX_IS_NOT_DEVICE, 0x7ff00002)                                              \
	X(EXP_ERROR_REMOTE_DEVICE, 0x7ff00003)                                                     \
	X(EXP_ERROR_OPERANDS_INCOMPATIBLE, 0x7ff00004)                                             \
	X(EXP_RTAS_BUILD_RETRY, 0x7ff00005)                                                        \
	X(EXP_RTAS_BUILD_DEFERRED, 0x7ff00006)                                                     \
	X(ERROR_UNKNOWN, 0x7ffffffe)

static const struct {
	ze_result value;
	const char *name;
} names[] = {
#define NAMED(name, value) { value, "ZE_RESULT_" #name "(" #value ")" },
	RESULT_LIST(NAMED)
};

/* The list is in order. */
const char *ut_ze_result_name(ze_result result)
{
	size_t low = 0, high = sizeof(names) / sizeof(*names);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (names[middle].value == result)
			return names[middle].name;
		if (names[middle].value < result)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
