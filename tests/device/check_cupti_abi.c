/*
 * check_cupti_abi.c - src/record/backend/cuda/cupti_abi.h against NVIDIA's own headers, at compile
 * time.
 *
 *	cc -Isrc -I$CUDA/include -I$CUDA/extras/CUPTI/include -fsyntax-only
 * tests/device/check_cupti_abi.c
 */
#include <cupti.h>
#include <cupti_activity_deprecated.h>

#include "backend/cuda/cupti_abi.h"

#define SAME(ours, member, theirs, their_member)                                                   \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member),            \
		       #ours "." #member)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

VALUE(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(CUPTI_NO_ROOM, CUPTI_ERROR_OUT_OF_MEMORY);
VALUE(CUPTI_NOT_READY, CUPTI_ERROR_NOT_READY);
VALUE(CUPTI_NO_MORE_RECORDS, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
VALUE(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
VALUE(CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(CUPTI_UNIFIED_MEMORY, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
VALUE(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(CUPTI_WAITS_FOR_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
VALUE(CUPTI_STREAM_WAITS, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
VALUE(CUPTI_WAITS_FOR_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
VALUE(CUPTI_WAITS_FOR_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
VALUE(CUPTI_NO_STREAM, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
VALUE(CUPTI_PAGES_TO_DEVICE, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
VALUE(CUPTI_PAGES_TO_HOST, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
VALUE(CUPTI_PAGE_FAULT_OF_HOST, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
VALUE(CUPTI_PAGE_FAULTS_OF_DEVICE, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
VALUE(CUPTI_PAGES_BETWEEN_DEVICES, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
VALUE(CUPTI_ALL_DEVICES, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);
VALUE(CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_RUNTIME_API, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
VALUE(CUPTI_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_SYSTEM_THREAD_ID, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);

SAME(cupti_kernel, registers, CUpti_ActivityKernel9, registersPerThread);
SAME(cupti_kernel, start, CUpti_ActivityKernel9, start);
SAME(cupti_kernel, end, CUpti_ActivityKernel9, end);
SAME(cupti_kernel, device, CUpti_ActivityKernel9, deviceId);
SAME(cupti_kernel, context, CUpti_ActivityKernel9, contextId);
SAME(cupti_kernel, stream, CUpti_ActivityKernel9, streamId);
SAME(cupti_kernel, grid, CUpti_ActivityKernel9, gridX);
SAME(cupti_kernel, block, CUpti_ActivityKernel9, blockX);
SAME(cupti_kernel, static_shared, CUpti_ActivityKernel9, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, CUpti_ActivityKernel9, dynamicSharedMemory);
SAME(cupti_kernel, correlation, CUpti_ActivityKernel9, correlationId);
SAME(cupti_kernel, name, CUpti_ActivityKernel9, name);
SAME(cupti_kernel, queued, CUpti_ActivityKernel9, queued);
SAME(cupti_kernel, submitted, CUpti_ActivityKernel9, submitted);
SAME(cupti_kernel, graph_node, CUpti_ActivityKernel9, graphNodeId);
SAME(cupti_kernel, graph, CUpti_ActivityKernel9, graphId);
SAME(cupti_kernel, cluster, CUpti_ActivityKernel9, clusterX);

SAME(cupti_memcpy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME(cupti_memcpy, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(cupti_memcpy, start, CUpti_ActivityMemcpy5, start);
SAME(cupti_memcpy, device, CUpti_ActivityMemcpy5, deviceId);
SAME(cupti_memcpy, correlation, CUpti_ActivityMemcpy5, correlationId);
SAME(cupti_memcpy, graph_node, CUpti_ActivityMemcpy5, graphNodeId);
SAME(cupti_memcpy, graph, CUpti_ActivityMemcpy5, graphId);

SAME(cupti_memcpy2, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(cupti_memcpy2, device, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME(cupti_memcpy2, source_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(cupti_memcpy2, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(cupti_memcpy2, graph, CUpti_ActivityMemcpyPtoP4, graphId);

SAME(cupti_memset, value, CUpti_ActivityMemset4, value);
SAME(cupti_memset, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_memset, device, CUpti_ActivityMemset4, deviceId);
SAME(cupti_memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME(cupti_memset, graph, CUpti_ActivityMemset4, graphId);

SAME(cupti_memory, operation, CUpti_ActivityMemory3, memoryOperationType);
SAME(cupti_memory, bytes, CUpti_ActivityMemory3, bytes);
SAME(cupti_memory, timestamp, CUpti_ActivityMemory3, timestamp);
SAME(cupti_memory, device, CUpti_ActivityMemory3, deviceId);

SAME(cupti_overhead, what, CUpti_ActivityOverhead2, overheadKind);
SAME(cupti_overhead, start, CUpti_ActivityOverhead2, start);

SAME(cupti_device, warps_per_processor, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor);
SAME(cupti_device, blocks_per_processor, CUpti_ActivityDevice5, maxBlocksPerMultiprocessor);
SAME(cupti_device, shared_per_processor, CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor);
SAME(cupti_device, registers_per_processor, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor);
SAME(cupti_device, id, CUpti_ActivityDevice5, id);
SAME(cupti_device, name, CUpti_ActivityDevice5, name);

SAME(cupti_api, function, CUpti_ActivityAPI, cbid);
SAME(cupti_api, start, CUpti_ActivityAPI, start);
SAME(cupti_api, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_api, result, CUpti_ActivityAPI, returnValue);

SAME(cupti_context, id, CUpti_ActivityContext, contextId);
SAME(cupti_context, device, CUpti_ActivityContext, deviceId);
SAME(cupti_context, null_stream, CUpti_ActivityContext, nullStreamId);

SAME(cupti_sync, what, CUpti_ActivitySynchronization, type);
SAME(cupti_sync, start, CUpti_ActivitySynchronization, start);
SAME(cupti_sync, correlation, CUpti_ActivitySynchronization, correlationId);
SAME(cupti_sync, context, CUpti_ActivitySynchronization, contextId);
SAME(cupti_sync, stream, CUpti_ActivitySynchronization, streamId);
SAME(cupti_sync, event, CUpti_ActivitySynchronization, cudaEventId);

SAME(cupti_pages, what, CUpti_ActivityUnifiedMemoryCounter2, counterKind);
SAME(cupti_pages, value, CUpti_ActivityUnifiedMemoryCounter2, value);
SAME(cupti_pages, start, CUpti_ActivityUnifiedMemoryCounter2, start);
SAME(cupti_pages, address, CUpti_ActivityUnifiedMemoryCounter2, address);
SAME(cupti_pages, source, CUpti_ActivityUnifiedMemoryCounter2, srcId);
SAME(cupti_pages, target, CUpti_ActivityUnifiedMemoryCounter2, dstId);
SAME(cupti_pages_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME(cupti_pages_config, what, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(cupti_pages_config, on, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
