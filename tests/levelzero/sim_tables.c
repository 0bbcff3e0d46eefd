/*
 * sim_tables.c - the tables of functions that a loader asks the simulated driver for. Their first
 * part is as the headers of Level Zero 1.4 have it; what came later is given by its place. Only as
 * much of a table is written as the version that is asked for has.
 */
#include <stddef.h>
#include <string.h>

#include "sim_api.h"

typedef void any_fn(void);

struct entry {
	size_t at;
	unsigned int since; /* 109 = 1.9 */
	any_fn *function;
};

#define HAS(table, member, name)                                                                   \
	{                                                                                          \
		offsetof(table, pfn##member) / sizeof(any_fn *), 100, (any_fn *)sim_##name         \
	}
#define SINCE(place, version, name)                                                                \
	{                                                                                          \
		place, version, (any_fn *)sim_##name                                               \
	}

static ze_result_t fill(ze_api_version_t version, any_fn **table, const struct entry *e, size_t n)
{
	unsigned int asked = ((unsigned int)version >> 16) * 100 + ((unsigned int)version & 0xffff);

	sim_configure();
	if (!table)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (asked / 100 != 1)
		return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
	for (size_t i = 0; i < n; i++) {
		if (e[i].since <= asked && e[i].since <= sim_config.version)
			table[e[i].at] = e[i].function;
	}
	return ZE_RESULT_SUCCESS;
}

#define TABLE(name)                                                                                \
	SIM_EXPORT ze_result_t name##_(ze_api_version_t version, any_fn **table) __asm__(#name);   \
	ze_result_t name##_(ze_api_version_t version, any_fn **table)                              \
	{                                                                                          \
		return fill(version, table, name##_entries,                                        \
			    sizeof(name##_entries) / sizeof(*name##_entries));                     \
	}

#define EMPTY(name)                                                                                \
	SIM_EXPORT ze_result_t name##_(ze_api_version_t version, any_fn **table) __asm__(#name);   \
	ze_result_t name##_(ze_api_version_t version, any_fn **table)                              \
	{                                                                                          \
		return fill(version, table, NULL, 0);                                              \
	}

static const struct entry zeGetGlobalProcAddrTable_entries[] = {
	HAS(ze_global_dditable_t, Init, zeInit),
	SINCE(1, 110, zeInitDrivers),
};

static const struct entry zeGetDriverProcAddrTable_entries[] = {
	HAS(ze_driver_dditable_t, Get, zeDriverGet),
	HAS(ze_driver_dditable_t, GetApiVersion, zeDriverGetApiVersion),
	HAS(ze_driver_dditable_t, GetProperties, zeDriverGetProperties),
	HAS(ze_driver_dditable_t, GetIpcProperties, zeDriverGetIpcProperties),
	HAS(ze_driver_dditable_t, GetExtensionProperties, zeDriverGetExtensionProperties),
	HAS(ze_driver_dditable_t, GetExtensionFunctionAddress, zeDriverGetExtensionFunctionAddress),
	SINCE(6, 106, zeDriverGetLastErrorDescription),
};

static const struct entry zeGetDeviceProcAddrTable_entries[] = {
	HAS(ze_device_dditable_t, Get, zeDeviceGet),
	HAS(ze_device_dditable_t, GetSubDevices, zeDeviceGetSubDevices),
	HAS(ze_device_dditable_t, GetProperties, zeDeviceGetProperties),
	HAS(ze_device_dditable_t, GetComputeProperties, zeDeviceGetComputeProperties),
	HAS(ze_device_dditable_t, GetModuleProperties, zeDeviceGetModuleProperties),
	HAS(ze_device_dditable_t, GetCommandQueueGroupProperties,
	    zeDeviceGetCommandQueueGroupProperties),
	HAS(ze_device_dditable_t, GetMemoryProperties, zeDeviceGetMemoryProperties),
	HAS(ze_device_dditable_t, GetMemoryAccessProperties, zeDeviceGetMemoryAccessProperties),
	HAS(ze_device_dditable_t, GetCacheProperties, zeDeviceGetCacheProperties),
	HAS(ze_device_dditable_t, GetImageProperties, zeDeviceGetImageProperties),
	HAS(ze_device_dditable_t, GetExternalMemoryProperties, zeDeviceGetExternalMemoryProperties),
	HAS(ze_device_dditable_t, GetP2PProperties, zeDeviceGetP2PProperties),
	HAS(ze_device_dditable_t, CanAccessPeer, zeDeviceCanAccessPeer),
	HAS(ze_device_dditable_t, GetStatus, zeDeviceGetStatus),
	HAS(ze_device_dditable_t, GetGlobalTimestamps, zeDeviceGetGlobalTimestamps),
	HAS(ze_device_dditable_t, PciGetPropertiesExt, zeDevicePciGetPropertiesExt),
	SINCE(18, 107, zeDeviceGetRootDevice),
	SINCE(22, 114, zeDeviceSynchronize),
};

static const struct entry zeGetContextProcAddrTable_entries[] = {
	HAS(ze_context_dditable_t, Create, zeContextCreate),
	HAS(ze_context_dditable_t, Destroy, zeContextDestroy),
	HAS(ze_context_dditable_t, GetStatus, zeContextGetStatus),
	HAS(ze_context_dditable_t, SystemBarrier, zeContextSystemBarrier),
	HAS(ze_context_dditable_t, MakeMemoryResident, zeContextMakeMemoryResident),
	HAS(ze_context_dditable_t, EvictMemory, zeContextMakeMemoryResident),
	HAS(ze_context_dditable_t, MakeImageResident, zeContextMakeImageResident),
	HAS(ze_context_dditable_t, EvictImage, zeContextMakeImageResident),
	HAS(ze_context_dditable_t, CreateEx, zeContextCreateEx),
};

static const struct entry zeGetCommandQueueProcAddrTable_entries[] = {
	HAS(ze_command_queue_dditable_t, Create, zeCommandQueueCreate),
	HAS(ze_command_queue_dditable_t, Destroy, zeCommandQueueDestroy),
	HAS(ze_command_queue_dditable_t, ExecuteCommandLists, zeCommandQueueExecuteCommandLists),
	HAS(ze_command_queue_dditable_t, Synchronize, zeCommandQueueSynchronize),
	SINCE(4, 109, zeCommandQueueGetOrdinal),
	SINCE(5, 109, zeCommandQueueGetIndex),
};

static const struct entry zeGetCommandListProcAddrTable_entries[] = {
	HAS(ze_command_list_dditable_t, Create, zeCommandListCreate),
	HAS(ze_command_list_dditable_t, CreateImmediate, zeCommandListCreateImmediate),
	HAS(ze_command_list_dditable_t, Destroy, zeCommandListDestroy),
	HAS(ze_command_list_dditable_t, Close, zeCommandListClose),
	HAS(ze_command_list_dditable_t, Reset, zeCommandListReset),
	HAS(ze_command_list_dditable_t, AppendWriteGlobalTimestamp,
	    zeCommandListAppendWriteGlobalTimestamp),
	HAS(ze_command_list_dditable_t, AppendBarrier, zeCommandListAppendBarrier),
	HAS(ze_command_list_dditable_t, AppendMemoryRangesBarrier,
	    zeCommandListAppendMemoryRangesBarrier),
	HAS(ze_command_list_dditable_t, AppendMemoryCopy, zeCommandListAppendMemoryCopy),
	HAS(ze_command_list_dditable_t, AppendMemoryFill, zeCommandListAppendMemoryFill),
	HAS(ze_command_list_dditable_t, AppendMemoryCopyRegion,
	    zeCommandListAppendMemoryCopyRegion),
	HAS(ze_command_list_dditable_t, AppendMemoryCopyFromContext,
	    zeCommandListAppendMemoryCopyFromContext),
	HAS(ze_command_list_dditable_t, AppendImageCopy, zeCommandListAppendImageCopy),
	HAS(ze_command_list_dditable_t, AppendImageCopyRegion, zeCommandListAppendImageCopyRegion),
	HAS(ze_command_list_dditable_t, AppendImageCopyToMemory,
	    zeCommandListAppendImageCopyToMemory),
	HAS(ze_command_list_dditable_t, AppendImageCopyFromMemory,
	    zeCommandListAppendImageCopyFromMemory),
	HAS(ze_command_list_dditable_t, AppendMemoryPrefetch, zeCommandListAppendMemoryPrefetch),
	HAS(ze_command_list_dditable_t, AppendMemAdvise, zeCommandListAppendMemAdvise),
	HAS(ze_command_list_dditable_t, AppendSignalEvent, zeCommandListAppendSignalEvent),
	HAS(ze_command_list_dditable_t, AppendWaitOnEvents, zeCommandListAppendWaitOnEvents),
	HAS(ze_command_list_dditable_t, AppendEventReset, zeCommandListAppendEventReset),
	HAS(ze_command_list_dditable_t, AppendQueryKernelTimestamps,
	    zeCommandListAppendQueryKernelTimestamps),
	HAS(ze_command_list_dditable_t, AppendLaunchKernel, zeCommandListAppendLaunchKernel),
	HAS(ze_command_list_dditable_t, AppendLaunchCooperativeKernel,
	    zeCommandListAppendLaunchCooperativeKernel),
	HAS(ze_command_list_dditable_t, AppendLaunchKernelIndirect,
	    zeCommandListAppendLaunchKernelIndirect),
	HAS(ze_command_list_dditable_t, AppendLaunchMultipleKernelsIndirect,
	    zeCommandListAppendLaunchMultipleKernelsIndirect),
	HAS(ze_command_list_dditable_t, AppendImageCopyToMemoryExt,
	    zeCommandListAppendImageCopyToMemoryExt),
	HAS(ze_command_list_dditable_t, AppendImageCopyFromMemoryExt,
	    zeCommandListAppendImageCopyFromMemoryExt),
	SINCE(28, 106, zeCommandListHostSynchronize),
	SINCE(29, 109, zeCommandListGetDeviceHandle),
	SINCE(30, 109, zeCommandListGetContextHandle),
	SINCE(31, 109, zeCommandListGetOrdinal),
	SINCE(33, 109, zeCommandListIsImmediate),
	SINCE(36, 114, zeCommandListAppendLaunchKernelWithParameters),
	SINCE(37, 114, zeCommandListAppendLaunchKernelWithArguments),
	SINCE(38, 116, zeCommandListAppendMemoryCopyWithParameters),
	SINCE(39, 116, zeCommandListAppendMemoryFillWithParameters),
	SINCE(40, 116, zeCommandListImmediateAppendCommandListsWithParameters),
	SINCE(51, 117, zeCommandListAppendHostFunction),
};

static const struct entry zeGetImageProcAddrTable_entries[] = {
	HAS(ze_image_dditable_t, Create, zeImageCreate),
	HAS(ze_image_dditable_t, Destroy, zeImageDestroy),
};

static const struct entry zeGetFenceProcAddrTable_entries[] = {
	HAS(ze_fence_dditable_t, Create, zeFenceCreate),
	HAS(ze_fence_dditable_t, Destroy, zeFenceDestroy),
	HAS(ze_fence_dditable_t, HostSynchronize, zeFenceHostSynchronize),
	HAS(ze_fence_dditable_t, QueryStatus, zeFenceQueryStatus),
	HAS(ze_fence_dditable_t, Reset, zeFenceReset),
};

static const struct entry zeGetEventPoolProcAddrTable_entries[] = {
	HAS(ze_event_pool_dditable_t, Create, zeEventPoolCreate),
	HAS(ze_event_pool_dditable_t, Destroy, zeEventPoolDestroy),
	SINCE(6, 109, zeEventPoolGetContextHandle),
	SINCE(7, 109, zeEventPoolGetFlags),
};

static const struct entry zeGetEventProcAddrTable_entries[] = {
	HAS(ze_event_dditable_t, Create, zeEventCreate),
	HAS(ze_event_dditable_t, Destroy, zeEventDestroy),
	HAS(ze_event_dditable_t, HostSignal, zeEventHostSignal),
	HAS(ze_event_dditable_t, HostSynchronize, zeEventHostSynchronize),
	HAS(ze_event_dditable_t, QueryStatus, zeEventQueryStatus),
	HAS(ze_event_dditable_t, HostReset, zeEventHostReset),
	HAS(ze_event_dditable_t, QueryKernelTimestamp, zeEventQueryKernelTimestamp),
	SINCE(11, 115, zeEventCounterBasedCreate),
};

static const struct entry zeGetEventExpProcAddrTable_entries[] = {
	HAS(ze_event_exp_dditable_t, QueryTimestampsExp, zeEventQueryTimestampsExp),
};

static const struct entry zeGetModuleProcAddrTable_entries[] = {
	HAS(ze_module_dditable_t, Create, zeModuleCreate),
	HAS(ze_module_dditable_t, Destroy, zeModuleDestroy),
	HAS(ze_module_dditable_t, DynamicLink, zeModuleDynamicLink),
	HAS(ze_module_dditable_t, GetNativeBinary, zeModuleGetNativeBinary),
	HAS(ze_module_dditable_t, GetGlobalPointer, zeModuleGetGlobalPointer),
	HAS(ze_module_dditable_t, GetKernelNames, zeModuleGetKernelNames),
	HAS(ze_module_dditable_t, GetProperties, zeModuleGetProperties),
	HAS(ze_module_dditable_t, GetFunctionPointer, zeModuleGetFunctionPointer),
};

static const struct entry zeGetModuleBuildLogProcAddrTable_entries[] = {
	HAS(ze_module_build_log_dditable_t, Destroy, zeModuleBuildLogDestroy),
	HAS(ze_module_build_log_dditable_t, GetString, zeModuleBuildLogGetString),
};

static const struct entry zeGetKernelProcAddrTable_entries[] = {
	HAS(ze_kernel_dditable_t, Create, zeKernelCreate),
	HAS(ze_kernel_dditable_t, Destroy, zeKernelDestroy),
	HAS(ze_kernel_dditable_t, SetCacheConfig, zeKernelSetCacheConfig),
	HAS(ze_kernel_dditable_t, SetGroupSize, zeKernelSetGroupSize),
	HAS(ze_kernel_dditable_t, SuggestGroupSize, zeKernelSuggestGroupSize),
	HAS(ze_kernel_dditable_t, SuggestMaxCooperativeGroupCount,
	    zeKernelSuggestMaxCooperativeGroupCount),
	HAS(ze_kernel_dditable_t, SetArgumentValue, zeKernelSetArgumentValue),
	HAS(ze_kernel_dditable_t, SetIndirectAccess, zeKernelSetIndirectAccess),
	HAS(ze_kernel_dditable_t, GetIndirectAccess, zeKernelGetIndirectAccess),
	HAS(ze_kernel_dditable_t, GetSourceAttributes, zeKernelGetSourceAttributes),
	HAS(ze_kernel_dditable_t, GetProperties, zeKernelGetProperties),
	HAS(ze_kernel_dditable_t, GetName, zeKernelGetName),
};

static const struct entry zeGetKernelExpProcAddrTable_entries[] = {
	HAS(ze_kernel_exp_dditable_t, SetGlobalOffsetExp, zeKernelSetGlobalOffsetExp),
};

static const struct entry zeGetSamplerProcAddrTable_entries[] = {
	HAS(ze_sampler_dditable_t, Create, zeSamplerCreate),
	HAS(ze_sampler_dditable_t, Destroy, zeSamplerDestroy),
};

static const struct entry zeGetMemProcAddrTable_entries[] = {
	HAS(ze_mem_dditable_t, AllocShared, zeMemAllocShared),
	HAS(ze_mem_dditable_t, AllocDevice, zeMemAllocDevice),
	HAS(ze_mem_dditable_t, AllocHost, zeMemAllocHost),
	HAS(ze_mem_dditable_t, Free, zeMemFree),
	HAS(ze_mem_dditable_t, GetAllocProperties, zeMemGetAllocProperties),
	HAS(ze_mem_dditable_t, GetAddressRange, zeMemGetAddressRange),
	HAS(ze_mem_dditable_t, FreeExt, zeMemFreeExt),
};

static const struct entry zeGetVirtualMemProcAddrTable_entries[] = {
	HAS(ze_virtual_mem_dditable_t, Reserve, zeVirtualMemReserve),
	HAS(ze_virtual_mem_dditable_t, Free, zeVirtualMemFree),
	HAS(ze_virtual_mem_dditable_t, QueryPageSize, zeVirtualMemQueryPageSize),
};

static const struct entry zetGetContextProcAddrTable_entries[] = {
	HAS(zet_context_dditable_t, ActivateMetricGroups, zetContextActivateMetricGroups),
};

static const struct entry zetGetCommandListProcAddrTable_entries[] = {
	HAS(zet_command_list_dditable_t, AppendMetricQueryBegin,
	    zetCommandListAppendMetricQueryBegin),
	HAS(zet_command_list_dditable_t, AppendMetricQueryEnd, zetCommandListAppendMetricQueryEnd),
};

static const struct entry zetGetMetricGroupProcAddrTable_entries[] = {
	HAS(zet_metric_group_dditable_t, Get, zetMetricGroupGet),
	HAS(zet_metric_group_dditable_t, GetProperties, zetMetricGroupGetProperties),
};

static const struct entry zetGetMetricGroupExpProcAddrTable_entries[] = {
	HAS(zet_metric_group_exp_dditable_t, CalculateMultipleMetricValuesExp,
	    zetMetricGroupCalculateMultipleMetricValuesExp),
	SINCE(1, 105, zetMetricGroupGetGlobalTimestampsExp),
};

static const struct entry zetGetMetricProcAddrTable_entries[] = {
	HAS(zet_metric_dditable_t, Get, zetMetricGet),
	HAS(zet_metric_dditable_t, GetProperties, zetMetricGetProperties),
};

static const struct entry zetGetMetricStreamerProcAddrTable_entries[] = {
	HAS(zet_metric_streamer_dditable_t, Open, zetMetricStreamerOpen),
	HAS(zet_metric_streamer_dditable_t, Close, zetMetricStreamerClose),
	HAS(zet_metric_streamer_dditable_t, ReadData, zetMetricStreamerReadData),
};

static const struct entry zetGetMetricQueryPoolProcAddrTable_entries[] = {
	HAS(zet_metric_query_pool_dditable_t, Create, zetMetricQueryPoolCreate),
	HAS(zet_metric_query_pool_dditable_t, Destroy, zetMetricQueryPoolDestroy),
};

static const struct entry zetGetMetricQueryProcAddrTable_entries[] = {
	HAS(zet_metric_query_dditable_t, Create, zetMetricQueryCreate),
	HAS(zet_metric_query_dditable_t, Destroy, zetMetricQueryDestroy),
	HAS(zet_metric_query_dditable_t, Reset, zetMetricQueryReset),
	HAS(zet_metric_query_dditable_t, GetData, zetMetricQueryGetData),
};

static const struct entry zeGetCommandListExpProcAddrTable_entries[] = {
	SINCE(1, 109, zeCommandListImmediateAppendCommandListsExp),
};

TABLE(zeGetGlobalProcAddrTable)
TABLE(zeGetDriverProcAddrTable)
TABLE(zeGetDeviceProcAddrTable)
EMPTY(zeGetDeviceExpProcAddrTable)
TABLE(zeGetContextProcAddrTable)
TABLE(zeGetCommandQueueProcAddrTable)
TABLE(zeGetCommandListProcAddrTable)
TABLE(zeGetImageProcAddrTable)
EMPTY(zeGetImageExpProcAddrTable)
TABLE(zeGetFenceProcAddrTable)
TABLE(zeGetEventPoolProcAddrTable)
TABLE(zeGetEventProcAddrTable)
TABLE(zeGetEventExpProcAddrTable)
TABLE(zeGetModuleProcAddrTable)
TABLE(zeGetModuleBuildLogProcAddrTable)
TABLE(zeGetKernelProcAddrTable)
TABLE(zeGetKernelExpProcAddrTable)
TABLE(zeGetSamplerProcAddrTable)
EMPTY(zeGetPhysicalMemProcAddrTable)
TABLE(zeGetMemProcAddrTable)
TABLE(zeGetVirtualMemProcAddrTable)
EMPTY(zeGetFabricVertexExpProcAddrTable)
EMPTY(zeGetFabricEdgeExpProcAddrTable)
EMPTY(zetGetDeviceProcAddrTable)
TABLE(zetGetContextProcAddrTable)
TABLE(zetGetCommandListProcAddrTable)
EMPTY(zetGetModuleProcAddrTable)
EMPTY(zetGetKernelProcAddrTable)
TABLE(zetGetMetricGroupProcAddrTable)
TABLE(zetGetMetricGroupExpProcAddrTable)
TABLE(zetGetMetricProcAddrTable)
TABLE(zetGetMetricStreamerProcAddrTable)
TABLE(zetGetMetricQueryPoolProcAddrTable)
TABLE(zetGetMetricQueryProcAddrTable)
EMPTY(zetGetTracerExpProcAddrTable)
EMPTY(zetGetDebugProcAddrTable)
TABLE(zeGetCommandListExpProcAddrTable)

#define SYSMAN(name) EMPTY(zesGet##name##ProcAddrTable)

SYSMAN(Global)
SYSMAN(Device)
SYSMAN(Driver)
SYSMAN(Overclock)
SYSMAN(Scheduler)
SYSMAN(PerformanceFactor)
SYSMAN(Power)
SYSMAN(Frequency)
SYSMAN(Engine)
SYSMAN(Standby)
SYSMAN(Firmware)
SYSMAN(Memory)
SYSMAN(FabricPort)
SYSMAN(Temperature)
SYSMAN(Psu)
SYSMAN(Fan)
SYSMAN(Led)
SYSMAN(Ras)
SYSMAN(Diagnostics)

/* ---- functions that are asked for by name -------------------------------------------------- */

static const struct {
	const char *name;
	any_fn *function;
	bool counted;
} extensions[] = {
	{ "zexKernelGetBaseAddress", (any_fn *)sim_zexKernelGetBaseAddress, false },
	{ "zexCounterBasedEventCreate2", (any_fn *)sim_zeEventCounterBasedCreate, true },
	{ "zeEventCounterBasedCreate", (any_fn *)sim_zeEventCounterBasedCreate, true },
	{ "zeCommandListImmediateAppendCommandListsExp",
	  (any_fn *)sim_zeCommandListImmediateAppendCommandListsExp, false },
	{ "zeCommandListAppendLaunchKernelWithArguments",
	  (any_fn *)sim_zeCommandListAppendLaunchKernelWithArguments, false },
	{ "zeCommandListAppendLaunchKernelWithParameters",
	  (any_fn *)sim_zeCommandListAppendLaunchKernelWithParameters, false },
};

void *sim_extension(const char *name)
{
	union {
		any_fn *function;
		void *pointer;
	} u = { 0 };

	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
		if (!strcmp(name, extensions[i].name) &&
		    (sim_config.counted || !extensions[i].counted))
			u.function = extensions[i].function;
	}
	return u.pointer;
}
