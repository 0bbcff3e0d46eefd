/*
 * test_ze_abi.c - src/record/backend/levelzero/ze_abi.h and api.def are what the headers of Level
 * Zero say, as far as those that are installed know it: the places of functions in tables, and of
 * members in structs. All of it is checked while it is compiled.
 */
#include <stdio.h>

#if __has_include(<level_zero/ze_ddi.h>)

#include <level_zero/ze_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>
#include <stddef.h>

#include "backend/levelzero/levelzero.h"
#include "backend/levelzero/zet_abi.h"
#include "support/unit.h"

/* ---- tables -------------------------------------------------------------------------------- */

#define PLACE(struct_type, member, table, function)                                                \
	_Static_assert(offsetof(struct_type, pfn##member) / sizeof(void *) ==                      \
			       (size_t)(UT_ZE_##function - UT_ZE_AT_##table),                      \
		       #function " is in another place");

/* clang-format off */
PLACE(ze_global_dditable_t, Init, Global, zeInit)
PLACE(ze_driver_dditable_t, Get, Driver, zeDriverGet)
PLACE(ze_driver_dditable_t, GetApiVersion, Driver, zeDriverGetApiVersion)
PLACE(ze_driver_dditable_t, GetProperties, Driver, zeDriverGetProperties)
PLACE(ze_driver_dditable_t, GetIpcProperties, Driver, zeDriverGetIpcProperties)
PLACE(ze_driver_dditable_t, GetExtensionProperties, Driver, zeDriverGetExtensionProperties)
PLACE(ze_driver_dditable_t, GetExtensionFunctionAddress, Driver, zeDriverGetExtensionFunctionAddress)
PLACE(ze_device_dditable_t, Get, Device, zeDeviceGet)
PLACE(ze_device_dditable_t, GetSubDevices, Device, zeDeviceGetSubDevices)
PLACE(ze_device_dditable_t, GetProperties, Device, zeDeviceGetProperties)
PLACE(ze_device_dditable_t, GetComputeProperties, Device, zeDeviceGetComputeProperties)
PLACE(ze_device_dditable_t, GetModuleProperties, Device, zeDeviceGetModuleProperties)
PLACE(ze_device_dditable_t, GetCommandQueueGroupProperties, Device, zeDeviceGetCommandQueueGroupProperties)
PLACE(ze_device_dditable_t, GetMemoryProperties, Device, zeDeviceGetMemoryProperties)
PLACE(ze_device_dditable_t, GetMemoryAccessProperties, Device, zeDeviceGetMemoryAccessProperties)
PLACE(ze_device_dditable_t, GetCacheProperties, Device, zeDeviceGetCacheProperties)
PLACE(ze_device_dditable_t, GetImageProperties, Device, zeDeviceGetImageProperties)
PLACE(ze_device_dditable_t, GetExternalMemoryProperties, Device, zeDeviceGetExternalMemoryProperties)
PLACE(ze_device_dditable_t, GetP2PProperties, Device, zeDeviceGetP2PProperties)
PLACE(ze_device_dditable_t, CanAccessPeer, Device, zeDeviceCanAccessPeer)
PLACE(ze_device_dditable_t, GetStatus, Device, zeDeviceGetStatus)
PLACE(ze_device_dditable_t, GetGlobalTimestamps, Device, zeDeviceGetGlobalTimestamps)
PLACE(ze_device_dditable_t, ReserveCacheExt, Device, zeDeviceReserveCacheExt)
PLACE(ze_device_dditable_t, SetCacheAdviceExt, Device, zeDeviceSetCacheAdviceExt)
PLACE(ze_device_dditable_t, PciGetPropertiesExt, Device, zeDevicePciGetPropertiesExt)
PLACE(ze_device_exp_dditable_t, GetFabricVertexExp, DeviceExp, zeDeviceGetFabricVertexExp)
PLACE(ze_context_dditable_t, Create, Context, zeContextCreate)
PLACE(ze_context_dditable_t, Destroy, Context, zeContextDestroy)
PLACE(ze_context_dditable_t, GetStatus, Context, zeContextGetStatus)
PLACE(ze_context_dditable_t, SystemBarrier, Context, zeContextSystemBarrier)
PLACE(ze_context_dditable_t, MakeMemoryResident, Context, zeContextMakeMemoryResident)
PLACE(ze_context_dditable_t, EvictMemory, Context, zeContextEvictMemory)
PLACE(ze_context_dditable_t, MakeImageResident, Context, zeContextMakeImageResident)
PLACE(ze_context_dditable_t, EvictImage, Context, zeContextEvictImage)
PLACE(ze_context_dditable_t, CreateEx, Context, zeContextCreateEx)
PLACE(ze_command_queue_dditable_t, Create, CommandQueue, zeCommandQueueCreate)
PLACE(ze_command_queue_dditable_t, Destroy, CommandQueue, zeCommandQueueDestroy)
PLACE(ze_command_queue_dditable_t, ExecuteCommandLists, CommandQueue, zeCommandQueueExecuteCommandLists)
PLACE(ze_command_queue_dditable_t, Synchronize, CommandQueue, zeCommandQueueSynchronize)
PLACE(ze_command_list_dditable_t, Create, CommandList, zeCommandListCreate)
PLACE(ze_command_list_dditable_t, CreateImmediate, CommandList, zeCommandListCreateImmediate)
PLACE(ze_command_list_dditable_t, Destroy, CommandList, zeCommandListDestroy)
PLACE(ze_command_list_dditable_t, Close, CommandList, zeCommandListClose)
PLACE(ze_command_list_dditable_t, Reset, CommandList, zeCommandListReset)
PLACE(ze_command_list_dditable_t, AppendWriteGlobalTimestamp, CommandList, zeCommandListAppendWriteGlobalTimestamp)
PLACE(ze_command_list_dditable_t, AppendBarrier, CommandList, zeCommandListAppendBarrier)
PLACE(ze_command_list_dditable_t, AppendMemoryRangesBarrier, CommandList, zeCommandListAppendMemoryRangesBarrier)
PLACE(ze_command_list_dditable_t, AppendMemoryCopy, CommandList, zeCommandListAppendMemoryCopy)
PLACE(ze_command_list_dditable_t, AppendMemoryFill, CommandList, zeCommandListAppendMemoryFill)
PLACE(ze_command_list_dditable_t, AppendMemoryCopyRegion, CommandList, zeCommandListAppendMemoryCopyRegion)
PLACE(ze_command_list_dditable_t, AppendMemoryCopyFromContext, CommandList, zeCommandListAppendMemoryCopyFromContext)
PLACE(ze_command_list_dditable_t, AppendImageCopy, CommandList, zeCommandListAppendImageCopy)
PLACE(ze_command_list_dditable_t, AppendImageCopyRegion, CommandList, zeCommandListAppendImageCopyRegion)
PLACE(ze_command_list_dditable_t, AppendImageCopyToMemory, CommandList, zeCommandListAppendImageCopyToMemory)
PLACE(ze_command_list_dditable_t, AppendImageCopyFromMemory, CommandList, zeCommandListAppendImageCopyFromMemory)
PLACE(ze_command_list_dditable_t, AppendMemoryPrefetch, CommandList, zeCommandListAppendMemoryPrefetch)
PLACE(ze_command_list_dditable_t, AppendMemAdvise, CommandList, zeCommandListAppendMemAdvise)
PLACE(ze_command_list_dditable_t, AppendSignalEvent, CommandList, zeCommandListAppendSignalEvent)
PLACE(ze_command_list_dditable_t, AppendWaitOnEvents, CommandList, zeCommandListAppendWaitOnEvents)
PLACE(ze_command_list_dditable_t, AppendEventReset, CommandList, zeCommandListAppendEventReset)
PLACE(ze_command_list_dditable_t, AppendQueryKernelTimestamps, CommandList, zeCommandListAppendQueryKernelTimestamps)
PLACE(ze_command_list_dditable_t, AppendLaunchKernel, CommandList, zeCommandListAppendLaunchKernel)
PLACE(ze_command_list_dditable_t, AppendLaunchCooperativeKernel, CommandList, zeCommandListAppendLaunchCooperativeKernel)
PLACE(ze_command_list_dditable_t, AppendLaunchKernelIndirect, CommandList, zeCommandListAppendLaunchKernelIndirect)
PLACE(ze_command_list_dditable_t, AppendLaunchMultipleKernelsIndirect, CommandList, zeCommandListAppendLaunchMultipleKernelsIndirect)
PLACE(ze_command_list_dditable_t, AppendImageCopyToMemoryExt, CommandList, zeCommandListAppendImageCopyToMemoryExt)
PLACE(ze_command_list_dditable_t, AppendImageCopyFromMemoryExt, CommandList, zeCommandListAppendImageCopyFromMemoryExt)
PLACE(ze_image_dditable_t, GetProperties, Image, zeImageGetProperties)
PLACE(ze_image_dditable_t, Create, Image, zeImageCreate)
PLACE(ze_image_dditable_t, Destroy, Image, zeImageDestroy)
PLACE(ze_image_dditable_t, GetAllocPropertiesExt, Image, zeImageGetAllocPropertiesExt)
PLACE(ze_image_exp_dditable_t, GetMemoryPropertiesExp, ImageExp, zeImageGetMemoryPropertiesExp)
PLACE(ze_image_exp_dditable_t, ViewCreateExp, ImageExp, zeImageViewCreateExp)
PLACE(ze_fence_dditable_t, Create, Fence, zeFenceCreate)
PLACE(ze_fence_dditable_t, Destroy, Fence, zeFenceDestroy)
PLACE(ze_fence_dditable_t, HostSynchronize, Fence, zeFenceHostSynchronize)
PLACE(ze_fence_dditable_t, QueryStatus, Fence, zeFenceQueryStatus)
PLACE(ze_fence_dditable_t, Reset, Fence, zeFenceReset)
PLACE(ze_event_pool_dditable_t, Create, EventPool, zeEventPoolCreate)
PLACE(ze_event_pool_dditable_t, Destroy, EventPool, zeEventPoolDestroy)
PLACE(ze_event_pool_dditable_t, GetIpcHandle, EventPool, zeEventPoolGetIpcHandle)
PLACE(ze_event_pool_dditable_t, OpenIpcHandle, EventPool, zeEventPoolOpenIpcHandle)
PLACE(ze_event_pool_dditable_t, CloseIpcHandle, EventPool, zeEventPoolCloseIpcHandle)
PLACE(ze_event_dditable_t, Create, Event, zeEventCreate)
PLACE(ze_event_dditable_t, Destroy, Event, zeEventDestroy)
PLACE(ze_event_dditable_t, HostSignal, Event, zeEventHostSignal)
PLACE(ze_event_dditable_t, HostSynchronize, Event, zeEventHostSynchronize)
PLACE(ze_event_dditable_t, QueryStatus, Event, zeEventQueryStatus)
PLACE(ze_event_dditable_t, HostReset, Event, zeEventHostReset)
PLACE(ze_event_dditable_t, QueryKernelTimestamp, Event, zeEventQueryKernelTimestamp)
PLACE(ze_event_exp_dditable_t, QueryTimestampsExp, EventExp, zeEventQueryTimestampsExp)
PLACE(ze_module_dditable_t, Create, Module, zeModuleCreate)
PLACE(ze_module_dditable_t, Destroy, Module, zeModuleDestroy)
PLACE(ze_module_dditable_t, DynamicLink, Module, zeModuleDynamicLink)
PLACE(ze_module_dditable_t, GetNativeBinary, Module, zeModuleGetNativeBinary)
PLACE(ze_module_dditable_t, GetGlobalPointer, Module, zeModuleGetGlobalPointer)
PLACE(ze_module_dditable_t, GetKernelNames, Module, zeModuleGetKernelNames)
PLACE(ze_module_dditable_t, GetProperties, Module, zeModuleGetProperties)
PLACE(ze_module_dditable_t, GetFunctionPointer, Module, zeModuleGetFunctionPointer)
PLACE(ze_module_dditable_t, InspectLinkageExt, Module, zeModuleInspectLinkageExt)
PLACE(ze_module_build_log_dditable_t, Destroy, ModuleBuildLog, zeModuleBuildLogDestroy)
PLACE(ze_module_build_log_dditable_t, GetString, ModuleBuildLog, zeModuleBuildLogGetString)
PLACE(ze_kernel_dditable_t, Create, Kernel, zeKernelCreate)
PLACE(ze_kernel_dditable_t, Destroy, Kernel, zeKernelDestroy)
PLACE(ze_kernel_dditable_t, SetCacheConfig, Kernel, zeKernelSetCacheConfig)
PLACE(ze_kernel_dditable_t, SetGroupSize, Kernel, zeKernelSetGroupSize)
PLACE(ze_kernel_dditable_t, SuggestGroupSize, Kernel, zeKernelSuggestGroupSize)
PLACE(ze_kernel_dditable_t, SuggestMaxCooperativeGroupCount, Kernel, zeKernelSuggestMaxCooperativeGroupCount)
PLACE(ze_kernel_dditable_t, SetArgumentValue, Kernel, zeKernelSetArgumentValue)
PLACE(ze_kernel_dditable_t, SetIndirectAccess, Kernel, zeKernelSetIndirectAccess)
PLACE(ze_kernel_dditable_t, GetIndirectAccess, Kernel, zeKernelGetIndirectAccess)
PLACE(ze_kernel_dditable_t, GetSourceAttributes, Kernel, zeKernelGetSourceAttributes)
PLACE(ze_kernel_dditable_t, GetProperties, Kernel, zeKernelGetProperties)
PLACE(ze_kernel_dditable_t, GetName, Kernel, zeKernelGetName)
PLACE(ze_kernel_exp_dditable_t, SetGlobalOffsetExp, KernelExp, zeKernelSetGlobalOffsetExp)
PLACE(ze_kernel_exp_dditable_t, SchedulingHintExp, KernelExp, zeKernelSchedulingHintExp)
PLACE(ze_sampler_dditable_t, Create, Sampler, zeSamplerCreate)
PLACE(ze_sampler_dditable_t, Destroy, Sampler, zeSamplerDestroy)
PLACE(ze_physical_mem_dditable_t, Create, PhysicalMem, zePhysicalMemCreate)
PLACE(ze_physical_mem_dditable_t, Destroy, PhysicalMem, zePhysicalMemDestroy)
PLACE(ze_mem_dditable_t, AllocShared, Mem, zeMemAllocShared)
PLACE(ze_mem_dditable_t, AllocDevice, Mem, zeMemAllocDevice)
PLACE(ze_mem_dditable_t, AllocHost, Mem, zeMemAllocHost)
PLACE(ze_mem_dditable_t, Free, Mem, zeMemFree)
PLACE(ze_mem_dditable_t, GetAllocProperties, Mem, zeMemGetAllocProperties)
PLACE(ze_mem_dditable_t, GetAddressRange, Mem, zeMemGetAddressRange)
PLACE(ze_mem_dditable_t, GetIpcHandle, Mem, zeMemGetIpcHandle)
PLACE(ze_mem_dditable_t, OpenIpcHandle, Mem, zeMemOpenIpcHandle)
PLACE(ze_mem_dditable_t, CloseIpcHandle, Mem, zeMemCloseIpcHandle)
PLACE(ze_mem_dditable_t, FreeExt, Mem, zeMemFreeExt)
PLACE(ze_virtual_mem_dditable_t, Reserve, VirtualMem, zeVirtualMemReserve)
PLACE(ze_virtual_mem_dditable_t, Free, VirtualMem, zeVirtualMemFree)
PLACE(ze_virtual_mem_dditable_t, QueryPageSize, VirtualMem, zeVirtualMemQueryPageSize)
PLACE(ze_virtual_mem_dditable_t, Map, VirtualMem, zeVirtualMemMap)
PLACE(ze_virtual_mem_dditable_t, Unmap, VirtualMem, zeVirtualMemUnmap)
PLACE(ze_virtual_mem_dditable_t, SetAccessAttribute, VirtualMem, zeVirtualMemSetAccessAttribute)
PLACE(ze_virtual_mem_dditable_t, GetAccessAttribute, VirtualMem, zeVirtualMemGetAccessAttribute)
PLACE(ze_fabric_vertex_exp_dditable_t, GetExp, FabricVertexExp, zeFabricVertexGetExp)
PLACE(ze_fabric_vertex_exp_dditable_t, GetSubVerticesExp, FabricVertexExp, zeFabricVertexGetSubVerticesExp)
PLACE(ze_fabric_vertex_exp_dditable_t, GetPropertiesExp, FabricVertexExp, zeFabricVertexGetPropertiesExp)
PLACE(ze_fabric_vertex_exp_dditable_t, GetDeviceExp, FabricVertexExp, zeFabricVertexGetDeviceExp)
PLACE(ze_fabric_edge_exp_dditable_t, GetExp, FabricEdgeExp, zeFabricEdgeGetExp)
PLACE(ze_fabric_edge_exp_dditable_t, GetVerticesExp, FabricEdgeExp, zeFabricEdgeGetVerticesExp)
PLACE(ze_fabric_edge_exp_dditable_t, GetPropertiesExp, FabricEdgeExp, zeFabricEdgeGetPropertiesExp)
/* clang-format on */

/* Places of the tools' functions, as ZET_LIST has them. */
enum {
#define ZET_PLACE(table, place, name, parameters) PLACE_OF_##name = (place),
	ZET_LIST(ZET_PLACE)
#undef ZET_PLACE
};

#define TOOL(struct_type, member, name)                                                            \
	_Static_assert(offsetof(struct_type, pfn##member) / sizeof(void *) == PLACE_OF_##name,     \
		       #name " is in another place");

/* clang-format off */
TOOL(zet_metric_group_dditable_t, Get, group_get)
TOOL(zet_metric_group_dditable_t, GetProperties, group_properties)
TOOL(zet_metric_group_exp_dditable_t, CalculateMultipleMetricValuesExp, calculate)
TOOL(zet_metric_dditable_t, Get, metric_get)
TOOL(zet_metric_dditable_t, GetProperties, metric_properties)
TOOL(zet_context_dditable_t, ActivateMetricGroups, activate)
TOOL(zet_metric_streamer_dditable_t, Open, stream_open)
TOOL(zet_metric_streamer_dditable_t, Close, stream_close)
TOOL(zet_metric_streamer_dditable_t, ReadData, stream_read)
TOOL(zet_metric_query_pool_dditable_t, Create, pool_create)
TOOL(zet_metric_query_pool_dditable_t, Destroy, pool_destroy)
TOOL(zet_metric_query_dditable_t, Create, query_create)
TOOL(zet_metric_query_dditable_t, Destroy, query_destroy)
TOOL(zet_metric_query_dditable_t, Reset, query_reset)
TOOL(zet_metric_query_dditable_t, GetData, query_data)
TOOL(zet_command_list_dditable_t, AppendMetricQueryBegin, query_begin)
TOOL(zet_command_list_dditable_t, AppendMetricQueryEnd, query_end)
_Static_assert((int)ZET_EVENT_BASED == (int)ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED, "");
_Static_assert((int)ZET_TIME_BASED == (int)ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED, "");
_Static_assert((int)ZET_TIMESTAMP == (int)ZET_METRIC_TYPE_TIMESTAMP, "");
_Static_assert((int)ZET_U64 == (int)ZET_VALUE_TYPE_UINT64 && (int)ZET_F32 == (int)ZET_VALUE_TYPE_FLOAT32, "");
_Static_assert((int)ZET_F64 == (int)ZET_VALUE_TYPE_FLOAT64 && (int)ZET_BOOL == (int)ZET_VALUE_TYPE_BOOL8, "");
_Static_assert((int)ZET_STREAMER_DESC == (int)ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, "");
_Static_assert((int)ZET_QUERY_POOL_DESC == (int)ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, "");
_Static_assert((int)ZET_METRIC_PROPERTIES == (int)ZET_STRUCTURE_TYPE_METRIC_PROPERTIES, "");
_Static_assert((int)ZET_GROUP_PROPERTIES == (int)ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES, "");
/* clang-format on */

/* ---- structs ------------------------------------------------------------------------------- */

#define SIZE(ours, theirs)                                                                         \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs " has another size");
#define MEMBER(ours, member, theirs, their_member)                                                 \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member),            \
		       #theirs "." #their_member " is in another place");

/* clang-format off */
SIZE(ze_device_properties, ze_device_properties_t)
MEMBER(ze_device_properties, device_type, ze_device_properties_t, type)
MEMBER(ze_device_properties, flags, ze_device_properties_t, flags)
MEMBER(ze_device_properties, subdevice, ze_device_properties_t, subdeviceId)
MEMBER(ze_device_properties, timer_resolution, ze_device_properties_t, timerResolution)
MEMBER(ze_device_properties, timestamp_bits, ze_device_properties_t, timestampValidBits)
MEMBER(ze_device_properties, kernel_timestamp_bits, ze_device_properties_t, kernelTimestampValidBits)
MEMBER(ze_device_properties, name, ze_device_properties_t, name)
SIZE(ze_driver_properties, ze_driver_properties_t)
MEMBER(ze_driver_properties, next, ze_driver_properties_t, pNext)
MEMBER(ze_driver_properties, version, ze_driver_properties_t, driverVersion)
SIZE(ze_pci_properties, ze_pci_ext_properties_t)
MEMBER(ze_pci_properties, domain, ze_pci_ext_properties_t, address)
MEMBER(ze_pci_properties, speed, ze_pci_ext_properties_t, maxSpeed)
SIZE(ze_queue_group_properties, ze_command_queue_group_properties_t)
MEMBER(ze_queue_group_properties, flags, ze_command_queue_group_properties_t, flags)
MEMBER(ze_queue_group_properties, queues, ze_command_queue_group_properties_t, numQueues)
SIZE(ze_queue_desc, ze_command_queue_desc_t)
MEMBER(ze_queue_desc, ordinal, ze_command_queue_desc_t, ordinal)
MEMBER(ze_queue_desc, index, ze_command_queue_desc_t, index)
MEMBER(ze_queue_desc, flags, ze_command_queue_desc_t, flags)
MEMBER(ze_queue_desc, mode, ze_command_queue_desc_t, mode)
SIZE(ze_list_desc, ze_command_list_desc_t)
MEMBER(ze_list_desc, ordinal, ze_command_list_desc_t, commandQueueGroupOrdinal)
MEMBER(ze_list_desc, flags, ze_command_list_desc_t, flags)
SIZE(ze_event_pool_desc, ze_event_pool_desc_t)
MEMBER(ze_event_pool_desc, next, ze_event_pool_desc_t, pNext)
MEMBER(ze_event_pool_desc, flags, ze_event_pool_desc_t, flags)
MEMBER(ze_event_pool_desc, count, ze_event_pool_desc_t, count)
SIZE(ze_event_desc, ze_event_desc_t)
MEMBER(ze_event_desc, index, ze_event_desc_t, index)
MEMBER(ze_event_desc, signal, ze_event_desc_t, signal)
MEMBER(ze_event_desc, wait, ze_event_desc_t, wait)
SIZE(ze_timestamps, ze_kernel_timestamp_result_t)
MEMBER(ze_timestamps, global, ze_kernel_timestamp_result_t, global)
MEMBER(ze_timestamps, context, ze_kernel_timestamp_result_t, context)
SIZE(ze_kernel_desc, ze_kernel_desc_t)
MEMBER(ze_kernel_desc, name, ze_kernel_desc_t, pKernelName)
SIZE(ze_kernel_properties, ze_kernel_properties_t)
MEMBER(ze_kernel_properties, arguments, ze_kernel_properties_t, numKernelArgs)
MEMBER(ze_kernel_properties, most_subgroup_size, ze_kernel_properties_t, maxSubgroupSize)
MEMBER(ze_kernel_properties, local_memory, ze_kernel_properties_t, localMemSize)
MEMBER(ze_kernel_properties, private_memory, ze_kernel_properties_t, privateMemSize)
MEMBER(ze_kernel_properties, spill_memory, ze_kernel_properties_t, spillMemSize)
SIZE(ze_module_desc, ze_module_desc_t)
MEMBER(ze_module_desc, format, ze_module_desc_t, format)
MEMBER(ze_module_desc, size, ze_module_desc_t, inputSize)
MEMBER(ze_module_desc, input, ze_module_desc_t, pInputModule)
SIZE(ze_group, ze_group_count_t)
MEMBER(ze_group, y, ze_group_count_t, groupCountY)
SIZE(ze_region, ze_copy_region_t)
MEMBER(ze_region, width, ze_copy_region_t, width)
MEMBER(ze_region, depth, ze_copy_region_t, depth)
SIZE(ze_region, ze_image_region_t)
MEMBER(ze_region, width, ze_image_region_t, width)
MEMBER(ze_region, depth, ze_image_region_t, depth)
SIZE(ze_image_desc, ze_image_desc_t)
MEMBER(ze_image_desc, layout, ze_image_desc_t, format)
MEMBER(ze_image_desc, width, ze_image_desc_t, width)
MEMBER(ze_image_desc, height, ze_image_desc_t, height)
MEMBER(ze_image_desc, depth, ze_image_desc_t, depth)
SIZE(ze_memory_properties, ze_memory_allocation_properties_t)
SIZE(zet_group_properties, zet_metric_group_properties_t)
MEMBER(zet_group_properties, name, zet_metric_group_properties_t, name)
MEMBER(zet_group_properties, sampling, zet_metric_group_properties_t, samplingType)
MEMBER(zet_group_properties, metrics, zet_metric_group_properties_t, metricCount)
SIZE(zet_metric_properties, zet_metric_properties_t)
MEMBER(zet_metric_properties, name, zet_metric_properties_t, name)
MEMBER(zet_metric_properties, kind, zet_metric_properties_t, metricType)
MEMBER(zet_metric_properties, value, zet_metric_properties_t, resultType)
MEMBER(zet_metric_properties, unit, zet_metric_properties_t, resultUnits)
SIZE(zet_value, zet_typed_value_t)
MEMBER(zet_value, value, zet_typed_value_t, value)
SIZE(zet_pool_desc, zet_metric_query_pool_desc_t)
MEMBER(zet_pool_desc, kind, zet_metric_query_pool_desc_t, type)
MEMBER(zet_pool_desc, count, zet_metric_query_pool_desc_t, count)
SIZE(zet_streamer_desc, zet_metric_streamer_desc_t)
MEMBER(zet_streamer_desc, notify, zet_metric_streamer_desc_t, notifyEveryNReports)
MEMBER(zet_streamer_desc, period, zet_metric_streamer_desc_t, samplingPeriod)
MEMBER(ze_memory_properties, kind, ze_memory_allocation_properties_t, type)
MEMBER(ze_memory_properties, id, ze_memory_allocation_properties_t, id)
SIZE(ze_host_memory_desc, ze_host_mem_alloc_desc_t)
MEMBER(ze_host_memory_desc, flags, ze_host_mem_alloc_desc_t, flags)
SIZE(ze_context_desc, ze_context_desc_t)
MEMBER(ze_context_desc, flags, ze_context_desc_t, flags)
SIZE(ze_ipc, ze_ipc_mem_handle_t)
/* clang-format on */

/* ---- numbers ------------------------------------------------------------------------------- */

#define NUMBER(ours, theirs)                                                                       \
	_Static_assert((uint32_t)(ours) == (uint32_t)(theirs), #theirs " is another number");

/* clang-format off */
NUMBER(ZE_SUCCESS, ZE_RESULT_SUCCESS)
NUMBER(ZE_NOT_READY, ZE_RESULT_NOT_READY)
NUMBER(ZE_UNINITIALIZED, ZE_RESULT_ERROR_UNINITIALIZED)
NUMBER(ZE_UNSUPPORTED_FEATURE, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
NUMBER(ZE_DRIVER_PROPERTIES, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES)
NUMBER(ZE_DEVICE_PROPERTIES, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES)
NUMBER(ZE_QUEUE_GROUP_PROPERTIES, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES)
NUMBER(ZE_CONTEXT_DESC, ZE_STRUCTURE_TYPE_CONTEXT_DESC)
NUMBER(ZE_LIST_DESC, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC)
NUMBER(ZE_EVENT_POOL_DESC, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC)
NUMBER(ZE_EVENT_DESC, ZE_STRUCTURE_TYPE_EVENT_DESC)
NUMBER(ZE_HOST_MEMORY_DESC, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)
NUMBER(ZE_MEMORY_PROPERTIES, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES)
NUMBER(ZE_KERNEL_PROPERTIES, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES)
NUMBER(ZE_PCI_PROPERTIES, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES)
NUMBER(ZE_DEVICE_PROPERTIES_1_2, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
NUMBER(ZE_GROUP_COMPUTE, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
NUMBER(ZE_GROUP_COPY, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY)
NUMBER(ZE_QUEUE_SYNCHRONOUS, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
NUMBER(ZE_POOL_HOST_VISIBLE, ZE_EVENT_POOL_FLAG_HOST_VISIBLE)
NUMBER(ZE_POOL_IPC, ZE_EVENT_POOL_FLAG_IPC)
NUMBER(ZE_POOL_TIMESTAMP, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP)
NUMBER(ZE_SCOPE_DEVICE, ZE_EVENT_SCOPE_FLAG_DEVICE)
NUMBER(ZE_SCOPE_HOST, ZE_EVENT_SCOPE_FLAG_HOST)
NUMBER(ZE_MODULE_NATIVE, ZE_MODULE_FORMAT_NATIVE)
NUMBER(ZE_MEMORY_HOST, ZE_MEMORY_TYPE_HOST)
NUMBER(ZE_MEMORY_DEVICE, ZE_MEMORY_TYPE_DEVICE)
NUMBER(ZE_MEMORY_SHARED, ZE_MEMORY_TYPE_SHARED)
NUMBER(ZE_DEVICE_GPU, ZE_DEVICE_TYPE_GPU)
NUMBER(ZE_DEVICE_IS_SUBDEVICE, ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE)
/* clang-format on */

UT_TESTS(ze_abi)
{
	puts("the headers say the same");
	return 0;
}

#else

UT_TESTS(ze_abi)
{
	puts("SKIP: no headers of Level Zero (Debian: libze-dev)");
	return 77;
}

#endif
