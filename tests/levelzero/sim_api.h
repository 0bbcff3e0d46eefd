/*
 * sim_api.h - the functions of the simulated driver, for those who define them and fill its tables.
 */
/* limits: a line or two for each function that Level Zero has */
#ifndef SIM_API_H
#define SIM_API_H

#include "sim.h"

struct sim_image {
	struct sim_object object;
	size_t width, height, depth, pixel;
	uint8_t *data;
};

/* NOLINTBEGIN(readability-function-size): the parameters are Level Zero's */
ze_result_t sim_zeInit(ze_init_flags_t flags);
ze_result_t sim_zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers);
ze_result_t sim_zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers, void *desc);
ze_result_t sim_zeDriverGetApiVersion(ze_driver_handle_t driver, ze_api_version_t *version);
ze_result_t sim_zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *p);
ze_result_t sim_zeDriverGetIpcProperties(ze_driver_handle_t driver, ze_driver_ipc_properties_t *p);
ze_result_t sim_zeDriverGetExtensionProperties(ze_driver_handle_t driver, uint32_t *count,
					       ze_driver_extension_properties_t *p);
ze_result_t sim_zeDriverGetExtensionFunctionAddress(ze_driver_handle_t driver, const char *name,
						    void **address);
ze_result_t sim_zeDriverGetLastErrorDescription(ze_driver_handle_t driver, const char **text);
ze_result_t sim_zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *to);
ze_result_t sim_zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count,
				      ze_device_handle_t *to);
ze_result_t sim_zeDeviceGetRootDevice(ze_device_handle_t device, ze_device_handle_t *root);
ze_result_t sim_zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *p);
ze_result_t sim_zeDevicePciGetPropertiesExt(ze_device_handle_t device, ze_pci_ext_properties_t *p);
ze_result_t sim_zeDeviceGetComputeProperties(ze_device_handle_t device,
					     ze_device_compute_properties_t *p);
ze_result_t sim_zeDeviceGetModuleProperties(ze_device_handle_t device,
					    ze_device_module_properties_t *p);
ze_result_t sim_zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count,
						       ze_command_queue_group_properties_t *p);
ze_result_t sim_zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
					    ze_device_memory_properties_t *p);
ze_result_t sim_zeDeviceGetMemoryAccessProperties(ze_device_handle_t device,
						  ze_device_memory_access_properties_t *p);
ze_result_t sim_zeDeviceGetCacheProperties(ze_device_handle_t device, uint32_t *count,
					   ze_device_cache_properties_t *p);
ze_result_t sim_zeDeviceGetImageProperties(ze_device_handle_t device,
					   ze_device_image_properties_t *p);
ze_result_t sim_zeDeviceGetExternalMemoryProperties(ze_device_handle_t device,
						    ze_device_external_memory_properties_t *p);
ze_result_t sim_zeDeviceGetP2PProperties(ze_device_handle_t device, ze_device_handle_t peer,
					 ze_device_p2p_properties_t *p);
ze_result_t sim_zeDeviceCanAccessPeer(ze_device_handle_t device, ze_device_handle_t peer,
				      ze_bool_t *value);
ze_result_t sim_zeDeviceGetStatus(ze_device_handle_t device);
ze_result_t sim_zeDeviceGetGlobalTimestamps(ze_device_handle_t device, uint64_t *host,
					    uint64_t *ticks);
ze_result_t sim_zeDeviceSynchronize(ze_device_handle_t device);
ze_result_t sim_zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *desc,
				ze_context_handle_t *to);
ze_result_t sim_zeContextCreateEx(ze_driver_handle_t driver, const ze_context_desc_t *desc,
				  uint32_t count, ze_device_handle_t *devices,
				  ze_context_handle_t *to);
ze_result_t sim_zeContextDestroy(ze_context_handle_t context);
ze_result_t sim_zeContextGetStatus(ze_context_handle_t context);
ze_result_t sim_zeContextSystemBarrier(ze_context_handle_t context, ze_device_handle_t device);
ze_result_t sim_zeContextMakeMemoryResident(ze_context_handle_t context, ze_device_handle_t device,
					    void *ptr, size_t size);
ze_result_t sim_zeContextMakeImageResident(ze_context_handle_t context, ze_device_handle_t device,
					   ze_image_handle_t image);
ze_result_t sim_zeMemAllocShared(ze_context_handle_t context, const void *desc, const void *host,
				 size_t size, size_t alignment, ze_device_handle_t device,
				 void **to);
ze_result_t sim_zeMemAllocDevice(ze_context_handle_t context, const void *desc, size_t size,
				 size_t alignment, ze_device_handle_t device, void **to);
ze_result_t sim_zeMemAllocHost(ze_context_handle_t context, const void *desc, size_t size,
			       size_t alignment, void **to);
ze_result_t sim_zeMemFree(ze_context_handle_t context, void *ptr);
ze_result_t sim_zeMemFreeExt(ze_context_handle_t context, const void *desc, void *ptr);
ze_result_t sim_zeMemGetAllocProperties(ze_context_handle_t context, const void *ptr,
					ze_memory_allocation_properties_t *p,
					ze_device_handle_t *device);
ze_result_t sim_zeMemGetAddressRange(ze_context_handle_t context, const void *ptr, void **base,
				     size_t *size);
ze_result_t sim_zeVirtualMemReserve(ze_context_handle_t context, const void *start, size_t size,
				    void **to);
ze_result_t sim_zeVirtualMemFree(ze_context_handle_t context, const void *ptr, size_t size);
ze_result_t sim_zeVirtualMemQueryPageSize(ze_context_handle_t context, ze_device_handle_t device,
					  size_t size, size_t *page);
ze_result_t sim_zeImageCreate(ze_context_handle_t context, ze_device_handle_t device,
			      const ze_image_desc_t *desc, ze_image_handle_t *to);
ze_result_t sim_zeImageDestroy(ze_image_handle_t image);
ze_result_t sim_zeSamplerCreate(ze_context_handle_t context, ze_device_handle_t device,
				const ze_sampler_desc_t *desc, ze_sampler_handle_t *to);
ze_result_t sim_zeSamplerDestroy(ze_sampler_handle_t sampler);
ze_result_t sim_zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
			       const ze_module_desc_t *desc, ze_module_handle_t *to,
			       ze_module_build_log_handle_t *log);
ze_result_t sim_zeModuleDestroy(ze_module_handle_t module);
ze_result_t sim_zeModuleDynamicLink(uint32_t count, ze_module_handle_t *modules,
				    ze_module_build_log_handle_t *log);
ze_result_t sim_zeModuleGetNativeBinary(ze_module_handle_t module, size_t *size, uint8_t *to);
ze_result_t sim_zeModuleGetGlobalPointer(ze_module_handle_t module, const char *name, size_t *size,
					 void **ptr);
ze_result_t sim_zeModuleGetKernelNames(ze_module_handle_t module, uint32_t *count,
				       const char **names);
ze_result_t sim_zeModuleGetProperties(ze_module_handle_t module, ze_module_properties_t *p);
ze_result_t sim_zeModuleGetFunctionPointer(ze_module_handle_t module, const char *name, void **ptr);
ze_result_t sim_zeModuleBuildLogDestroy(ze_module_build_log_handle_t log);
ze_result_t sim_zeModuleBuildLogGetString(ze_module_build_log_handle_t log, size_t *size, char *to);
ze_result_t sim_zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *desc,
			       ze_kernel_handle_t *to);
ze_result_t sim_zeKernelDestroy(ze_kernel_handle_t kernel);
ze_result_t sim_zeKernelSetCacheConfig(ze_kernel_handle_t kernel, uint32_t flags);
ze_result_t sim_zeKernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z);
ze_result_t sim_zeKernelSuggestGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
					 uint32_t z, uint32_t *to_x, uint32_t *to_y,
					 uint32_t *to_z);
ze_result_t sim_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t kernel, uint32_t *count);
ze_result_t sim_zeKernelSetArgumentValue(ze_kernel_handle_t kernel, uint32_t index, size_t size,
					 const void *value);
ze_result_t sim_zeKernelSetIndirectAccess(ze_kernel_handle_t kernel, uint32_t flags);
ze_result_t sim_zeKernelGetIndirectAccess(ze_kernel_handle_t kernel, uint32_t *flags);
ze_result_t sim_zeKernelGetSourceAttributes(ze_kernel_handle_t kernel, uint32_t *size, char **text);
ze_result_t sim_zeKernelGetProperties(ze_kernel_handle_t kernel, ze_kernel_properties_t *p);
ze_result_t sim_zeKernelGetName(ze_kernel_handle_t kernel, size_t *size, char *to);
ze_result_t sim_zeKernelSetGlobalOffsetExp(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
					   uint32_t z);
ze_result_t sim_zexKernelGetBaseAddress(ze_kernel_handle_t kernel, uint64_t *address);
ze_result_t sim_zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
				  uint32_t count, ze_device_handle_t *devices,
				  ze_event_pool_handle_t *to);
ze_result_t sim_zeEventPoolDestroy(ze_event_pool_handle_t pool);
ze_result_t sim_zeEventPoolGetFlags(ze_event_pool_handle_t pool, uint32_t *flags);
ze_result_t sim_zeEventPoolGetContextHandle(ze_event_pool_handle_t pool,
					    ze_context_handle_t *context);
ze_result_t sim_zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
			      ze_event_handle_t *to);
ze_result_t sim_zeEventCounterBasedCreate(ze_context_handle_t context, ze_device_handle_t device,
					  const struct sim_counted_desc *desc,
					  ze_event_handle_t *to);
ze_result_t sim_zeEventDestroy(ze_event_handle_t event);
ze_result_t sim_zeEventHostSignal(ze_event_handle_t event);
ze_result_t sim_zeEventHostReset(ze_event_handle_t event);
ze_result_t sim_zeEventHostSynchronize(ze_event_handle_t event, uint64_t timeout);
ze_result_t sim_zeEventQueryStatus(ze_event_handle_t event);
ze_result_t sim_zeEventQueryKernelTimestamp(ze_event_handle_t event,
					    ze_kernel_timestamp_result_t *result);
ze_result_t sim_zeEventQueryTimestampsExp(ze_event_handle_t event, ze_device_handle_t device,
					  uint32_t *count, ze_kernel_timestamp_result_t *results);
ze_result_t sim_zeFenceCreate(ze_command_queue_handle_t queue, const ze_fence_desc_t *desc,
			      ze_fence_handle_t *to);
ze_result_t sim_zeFenceDestroy(ze_fence_handle_t fence);
ze_result_t sim_zeFenceHostSynchronize(ze_fence_handle_t fence, uint64_t timeout);
ze_result_t sim_zeFenceQueryStatus(ze_fence_handle_t fence);
ze_result_t sim_zeFenceReset(ze_fence_handle_t fence);
ze_result_t sim_zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
				     const ze_command_queue_desc_t *desc,
				     ze_command_queue_handle_t *to);
ze_result_t sim_zeCommandQueueDestroy(ze_command_queue_handle_t queue);
ze_result_t sim_zeCommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t timeout);
ze_result_t sim_zeCommandQueueGetOrdinal(ze_command_queue_handle_t queue, uint32_t *ordinal);
ze_result_t sim_zeCommandQueueGetIndex(ze_command_queue_handle_t queue, uint32_t *index);
ze_result_t sim_zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
						  ze_command_list_handle_t *lists,
						  ze_fence_handle_t fence);
ze_result_t sim_zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
				    const ze_command_list_desc_t *desc,
				    ze_command_list_handle_t *to);
ze_result_t sim_zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
					     const ze_command_queue_desc_t *desc,
					     ze_command_list_handle_t *to);
ze_result_t sim_zeCommandListDestroy(ze_command_list_handle_t list);
ze_result_t sim_zeCommandListClose(ze_command_list_handle_t list);
ze_result_t sim_zeCommandListReset(ze_command_list_handle_t list);
ze_result_t sim_zeCommandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout);
ze_result_t sim_zeCommandListGetDeviceHandle(ze_command_list_handle_t list,
					     ze_device_handle_t *device);
ze_result_t sim_zeCommandListGetContextHandle(ze_command_list_handle_t list,
					      ze_context_handle_t *context);
ze_result_t sim_zeCommandListGetOrdinal(ze_command_list_handle_t list, uint32_t *ordinal);
ze_result_t sim_zeCommandListIsImmediate(ze_command_list_handle_t list, ze_bool_t *value);
ze_result_t sim_zeCommandListImmediateAppendCommandListsExp(
	ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListImmediateAppendCommandListsWithParameters(
	ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
						ze_kernel_handle_t kernel,
						const ze_group_count_t *groups,
						ze_event_handle_t signal, uint32_t wait_count,
						ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendLaunchCooperativeKernel(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendLaunchKernelIndirect(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendLaunchMultipleKernelsIndirect(
	ze_command_list_handle_t list, uint32_t count, ze_kernel_handle_t *kernels,
	const uint32_t *how_many, const ze_group_count_t *groups, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendLaunchKernelWithParameters(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendLaunchKernelWithArguments(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t groups,
	struct sim_size sizes, void **arguments, const void *next, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to,
					      const void *from, size_t size,
					      ze_event_handle_t signal, uint32_t wait_count,
					      ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryCopyWithParameters(
	ze_command_list_handle_t list, void *to, const void *from, size_t size, const void *next,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryCopyFromContext(
	ze_command_list_handle_t list, void *to, ze_context_handle_t context, const void *from,
	size_t size, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to,
					      const void *pattern, size_t pattern_size, size_t size,
					      ze_event_handle_t signal, uint32_t wait_count,
					      ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryFillWithParameters(
	ze_command_list_handle_t list, void *to, const void *pattern, size_t pattern_size,
	size_t size, const void *next, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryCopyRegion(
	ze_command_list_handle_t list, void *to, const ze_copy_region_t *to_region,
	uint32_t to_pitch, uint32_t to_slice, const void *from, const ze_copy_region_t *from_region,
	uint32_t from_pitch, uint32_t from_slice, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t to,
					     ze_image_handle_t from, ze_event_handle_t signal,
					     uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list,
						   ze_image_handle_t to, ze_image_handle_t from,
						   const ze_image_region_t *to_region,
						   const ze_image_region_t *from_region,
						   ze_event_handle_t signal, uint32_t wait_count,
						   ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendImageCopyToMemoryExt(
	ze_command_list_handle_t list, void *to, ze_image_handle_t from,
	const ze_image_region_t *region, uint32_t pitch, uint32_t slice, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *to,
						     ze_image_handle_t from,
						     const ze_image_region_t *region,
						     ze_event_handle_t signal, uint32_t wait_count,
						     ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendImageCopyFromMemoryExt(
	ze_command_list_handle_t list, ze_image_handle_t to, const void *from,
	const ze_image_region_t *region, uint32_t pitch, uint32_t slice, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list,
						       ze_image_handle_t to, const void *from,
						       const ze_image_region_t *region,
						       ze_event_handle_t signal,
						       uint32_t wait_count,
						       ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal,
					   uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryRangesBarrier(
	ze_command_list_handle_t list, uint32_t count, const size_t *sizes, const void **ranges,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t *to,
							ze_event_handle_t signal,
							uint32_t wait_count,
							ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendSignalEvent(ze_command_list_handle_t list,
					       ze_event_handle_t event);
ze_result_t sim_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t count,
						ze_event_handle_t *events);
ze_result_t sim_zeCommandListAppendEventReset(ze_command_list_handle_t list,
					      ze_event_handle_t event);
ze_result_t sim_zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t list,
							 uint32_t count, ze_event_handle_t *events,
							 void *to, const size_t *offsets,
							 ze_event_handle_t signal,
							 uint32_t wait_count,
							 ze_event_handle_t *waits);
ze_result_t sim_zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list, const void *ptr,
						  size_t size);
ze_result_t sim_zeCommandListAppendMemAdvise(ze_command_list_handle_t list,
					     ze_device_handle_t device, const void *ptr,
					     size_t size, uint32_t advice);
ze_result_t sim_zeCommandListAppendHostFunction(ze_command_list_handle_t list,
						void (*function)(void *), void *data,
						const void *next, ze_event_handle_t signal,
						uint32_t wait_count, ze_event_handle_t *waits);
ze_result_t sim_zetMetricGroupGet(zet_device_handle_t device, uint32_t *count,
				  zet_metric_group_handle_t *to);
ze_result_t sim_zetMetricGroupGetProperties(zet_metric_group_handle_t group,
					    zet_metric_group_properties_t *p);
ze_result_t sim_zetMetricGet(zet_metric_group_handle_t group, uint32_t *count,
			     zet_metric_handle_t *to);
ze_result_t sim_zetMetricGetProperties(zet_metric_handle_t metric, zet_metric_properties_t *p);
ze_result_t sim_zetContextActivateMetricGroups(zet_context_handle_t context,
					       zet_device_handle_t device, uint32_t count,
					       zet_metric_group_handle_t *to);
ze_result_t sim_zetMetricGroupCalculateMultipleMetricValuesExp(
	zet_metric_group_handle_t group, zet_metric_group_calculation_type_t type, size_t size,
	const uint8_t *raw, uint32_t *set_count, uint32_t *value_count, uint32_t *counts,
	zet_typed_value_t *values);
ze_result_t sim_zetMetricGroupGetGlobalTimestampsExp(zet_metric_group_handle_t group,
						     ze_bool_t with_host, uint64_t *global,
						     uint64_t *metric);
ze_result_t sim_zetMetricQueryPoolCreate(zet_context_handle_t context, zet_device_handle_t device,
					 zet_metric_group_handle_t group,
					 const zet_metric_query_pool_desc_t *desc,
					 zet_metric_query_pool_handle_t *to);
ze_result_t sim_zetMetricQueryPoolDestroy(zet_metric_query_pool_handle_t pool);
ze_result_t sim_zetMetricQueryCreate(zet_metric_query_pool_handle_t pool, uint32_t index,
				     zet_metric_query_handle_t *to);
ze_result_t sim_zetMetricQueryDestroy(zet_metric_query_handle_t query);
ze_result_t sim_zetMetricQueryReset(zet_metric_query_handle_t query);
ze_result_t sim_zetMetricQueryGetData(zet_metric_query_handle_t query, size_t *size, uint8_t *to);
ze_result_t sim_zetCommandListAppendMetricQueryBegin(zet_command_list_handle_t list,
						     zet_metric_query_handle_t query);
ze_result_t sim_zetCommandListAppendMetricQueryEnd(zet_command_list_handle_t list,
						   zet_metric_query_handle_t query,
						   ze_event_handle_t signal, uint32_t wait_count,
						   ze_event_handle_t *waits);
ze_result_t sim_zetMetricStreamerOpen(zet_context_handle_t context, zet_device_handle_t device,
				      zet_metric_group_handle_t group,
				      zet_metric_streamer_desc_t *desc, ze_event_handle_t event,
				      zet_metric_streamer_handle_t *to);
ze_result_t sim_zetMetricStreamerClose(zet_metric_streamer_handle_t streamer);
ze_result_t sim_zetMetricStreamerReadData(zet_metric_streamer_handle_t streamer, uint32_t most,
					  size_t *size, uint8_t *to);
/* NOLINTEND(readability-function-size) */

#endif
