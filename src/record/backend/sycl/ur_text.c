/* ur_text.c - what results of the Unified Runtime are called. */
#include "backend/sycl/sycl.h"

#define ERRORS(X)                                                                                  \
	X(1, INVALID_OPERATION)                                                                    \
	X(2, INVALID_QUEUE_PROPERTIES)                                                             \
	X(3, INVALID_QUEUE)                                                                        \
	X(4, INVALID_VALUE)                                                                        \
	X(5, INVALID_CONTEXT)                                                                      \
	X(6, INVALID_PLATFORM)                                                                     \
	X(7, INVALID_BINARY)                                                                       \
	X(8, INVALID_PROGRAM)                                                                      \
	X(9, INVALID_SAMPLER)                                                                      \
	X(10, INVALID_BUFFER_SIZE)                                                                 \
	X(11, INVALID_MEM_OBJECT)                                                                  \
	X(12, INVALID_EVENT)                                                                       \
	X(13, INVALID_EVENT_WAIT_LIST)                                                             \
	X(14, MISALIGNED_SUB_BUFFER_OFFSET)                                                        \
	X(15, INVALID_WORK_GROUP_SIZE)                                                             \
	X(16, COMPILER_NOT_AVAILABLE)                                                              \
	X(17, PROFILING_INFO_NOT_AVAILABLE)                                                        \
	X(18, DEVICE_NOT_FOUND)                                                                    \
	X(19, INVALID_DEVICE)                                                                      \
	X(20, DEVICE_LOST)                                                                         \
	X(21, DEVICE_REQUIRES_RESET)                                                               \
	X(22, DEVICE_IN_LOW_POWER_STATE)                                                           \
	X(23, DEVICE_PARTITION_FAILED)                                                             \
	X(24, INVALID_DEVICE_PARTITION_COUNT)                                                      \
	X(25, INVALID_WORK_ITEM_SIZE)                                                              \
	X(26, INVALID_WORK_DIMENSION)                                                              \
	X(28, INVALID_KERNEL)                                                                      \
	X(29, INVALID_KERNEL_NAME)                                                                 \
	X(30, INVALID_KERNEL_ARGUMENT_INDEX)                                                       \
	X(31, INVALID_KERNEL_ARGUMENT_SIZE)                                                        \
	X(32, INVALID_KERNEL_ATTRIBUTE_VALUE)                                                      \
	X(33, INVALID_IMAGE_SIZE)                                                                  \
	X(34, INVALID_IMAGE_FORMAT_DESCRIPTOR)                                                     \
	X(35, MEM_OBJECT_ALLOCATION_FAILURE)                                                       \
	X(36, INVALID_PROGRAM_EXECUTABLE)                                                          \
	X(37, UNINITIALIZED)                                                                       \
	X(38, OUT_OF_HOST_MEMORY)                                                                  \
	X(39, OUT_OF_DEVICE_MEMORY)                                                                \
	X(40, OUT_OF_RESOURCES)                                                                    \
	X(41, PROGRAM_BUILD_FAILURE)                                                               \
	X(42, PROGRAM_LINK_FAILURE)                                                                \
	X(43, UNSUPPORTED_VERSION)                                                                 \
	X(44, UNSUPPORTED_FEATURE)                                                                 \
	X(45, INVALID_ARGUMENT)                                                                    \
	X(46, INVALID_NULL_HANDLE)                                                                 \
	X(47, HANDLE_OBJECT_IN_USE)                                                                \
	X(48, INVALID_NULL_POINTER)                                                                \
	X(49, INVALID_SIZE)                                                                        \
	X(50, UNSUPPORTED_SIZE)                                                                    \
	X(51, UNSUPPORTED_ALIGNMENT)                                                               \
	X(52, INVALID_SYNCHRONIZATION_OBJECT)                                                      \
	X(53, INVALID_ENUMERATION)                                                                 \
	X(54, UNSUPPORTED_ENUMERATION)                                                             \
	X(55, UNSUPPORTED_IMAGE_FORMAT)                                                            \
	X(56, INVALID_NATIVE_BINARY)                                                               \
	X(57, INVALID_GLOBAL_NAME)                                                                 \
	X(58, FUNCTION_ADDRESS_NOT_AVAILABLE)                                                      \
	X(59, INVALID_GROUP_SIZE_DIMENSION)                                                        \
	X(60, INVALID_GLOBAL_WIDTH_DIMENSION)                                                      \
	X(61, PROGRAM_UNLINKED)                                                                    \
	X(62, OVERLAPPING_REGIONS)                                                                 \
	X(63, INVALID_HOST_PTR)                                                                    \
	X(64, INVALID_USM_SIZE)                                                                    \
	X(65, OBJECT_ALLOCATION_FAILURE)                                                           \
	X(66, ADAPTER_SPECIFIC)                                                                    \
	X(67, LAYER_NOT_PRESENT)                                                                   \
	X(68, IN_EVENT_LIST_EXEC_STATUS)                                                           \
	X(69, DEVICE_NOT_AVAILABLE)                                                                \
	X(70, INVALID_SPEC_ID)                                                                     \
	X(71, INVALID_GRAPH)                                                                       \
	X(72, GRAPH_CAPTURE_UNSUPPORTED)                                                           \
	X(73, GRAPH_CAPTURE_INVALIDATED)                                                           \
	X(74, GRAPH_CAPTURE_MERGE_ATTEMPT)                                                         \
	X(75, COMMAND_LIST_NOT_CAPTURING)                                                          \
	X(76, GRAPH_UNJOINED_FORKS)                                                                \
	X(77, GRAPH_INTERNAL_EVENT)

const char *ut_ur_result_name(int32_t result)
{
	static const char *const names[] = {
#define NAME(number, name) [number] = "UR_RESULT_ERROR_" #name,
		ERRORS(NAME)
#undef NAME
	};
	size_t at = (uint32_t)result; /* one below zero is beyond the end */

	return at < sizeof(names) / sizeof(*names) ? names[at] : NULL;
}
