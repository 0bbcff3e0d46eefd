/*
 * check_cupti_metrics_abi.c - src/record/backend/cuda/cupti_metrics_abi.h against NVIDIA's own
 * headers, at compile time. cupti_profiler_host.h of some versions includes the <string> of C++: an
 * empty file of that name on the path keeps it out (SHIM).
 *
 *	cc -Isrc -ISHIM -I$CUDA/include -I$CUDA/extras/CUPTI/include -fsyntax-only \
 *		tests/device/check_cupti_metrics_abi.c
 */
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "backend/cuda/cupti_metrics_abi.h"

/* Up to and with this member ours is what theirs is up to and with that one. */
#define SAME(ours, member, theirs, their_member)                                                   \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) &&          \
			       sizeof(((struct ours *)0)->member) ==                               \
				       sizeof(((theirs *)0)->their_member),                        \
		       #ours "." #member)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

VALUE(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
VALUE(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(CUPTI_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_NO_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_VIRTUAL_NO_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
VALUE(CUPTI_CMP_DEVICE, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_WSL_DEVICE, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
VALUE(CUPTI_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
VALUE(CUPTI_CALL_BEGINS, CUPTI_API_ENTER);
VALUE(CUPTI_CALL_ENDS, CUPTI_API_EXIT);
VALUE(CUPTI_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
VALUE(CUPTI_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
VALUE(CUPTI_AUTO_RANGE, CUPTI_AutoRange);
VALUE(CUPTI_KERNEL_REPLAY, CUPTI_KernelReplay);
VALUE(CUPTI_BY_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
VALUE(CUPTI_PC_PERIOD, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
VALUE(CUPTI_PC_REASONS, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
VALUE(CUPTI_PC_SCRATCH_BYTES, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE);
VALUE(CUPTI_PC_HARDWARE_BYTES, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
VALUE(CUPTI_PC_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
VALUE(CUPTI_PC_FORMAT, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT);
VALUE(CUPTI_PC_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
VALUE(CUPTI_PC_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
VALUE(CUPTI_PC_SERIALIZED, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
VALUE(CUPTI_PC_PARSED, CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED);
VALUE(CUPTI_PC_REASON_TEXT, CUPTI_STALL_REASON_STRING_SIZE);

SAME(cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call, function, CUpti_CallbackData, functionName);
SAME(cupti_call, symbol, CUpti_CallbackData, symbolName);
SAME(cupti_call, context, CUpti_CallbackData, context);
SAME(cupti_call, context_id, CUpti_CallbackData, contextUid);
SAME(cupti_call, correlation, CUpti_CallbackData, correlationId);
SAME(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(cupti_module, id, CUpti_ModuleResourceData, moduleId);
SAME(cupti_module, size, CUpti_ModuleResourceData, cubinSize);
SAME(cupti_module, cubin, CUpti_ModuleResourceData, pCubin);

SAME(cupti_profiler_init, priv, CUpti_Profiler_Initialize_Params, pPriv);
SAME(cupti_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(cupti_chip, name, CUpti_Device_GetChipName_Params, pChipName);
SAME(cupti_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME(cupti_availability, bytes, CUpti_Profiler_GetCounterAvailability_Params,
     counterAvailabilityImageSize);
SAME(cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
     pCounterAvailabilityImage);

SAME(cupti_host_init, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(cupti_host_init, availability, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);
SAME(cupti_host_init, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(cupti_host_end, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME(cupti_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
SAME(cupti_metric, name, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName);
SAME(cupti_metric, unit, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit);
SAME(cupti_metric, type, CUpti_Profiler_Host_GetMetricProperties_Params, metricType);
SAME(cupti_config_add, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(cupti_config_add, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME(cupti_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME(cupti_config_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME(cupti_config_image, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME(cupti_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME(cupti_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME(cupti_evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(cupti_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(cupti_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME(cupti_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

SAME(cupti_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME(cupti_range_enable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
#if CUPTI_API_VERSION >= 130400
SAME(cupti_range_enable, cache_mode, CUpti_RangeProfiler_Enable_Params, cacheControlMode);
VALUE(CUPTI_FLUSH_CACHES, CUPTI_CACHE_CONTROL_MODE_ALL);
VALUE(CUPTI_BASE_CLOCKS, CUPTI_CLOCK_CONTROL_MODE_BASE);
#endif
SAME(cupti_range, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME(cupti_range, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME(cupti_range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME(cupti_range_stop, all_submitted, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME(cupti_range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME(cupti_range_config, image, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME(cupti_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME(cupti_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME(cupti_range_config, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME(cupti_range_config, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME(cupti_range_config, least_nesting, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME(cupti_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME(cupti_range_config, target_nesting, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME(cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME(cupti_range_bytes, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME(cupti_range_bytes, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
SAME(cupti_range_bytes, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumRangeTreeNodes);
SAME(cupti_range_bytes, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME(cupti_image_init, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
     counterDataSize);
SAME(cupti_image_init, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SAME(cupti_image_init, image, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
SAME(cupti_range_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);

SAME(cupti_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
SAME(cupti_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
     pCounterAvailabilityImage);
SAME(cupti_pm_enable, sampler, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME(cupti_pm, sampler, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SAME(cupti_pm, sampler, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
SAME(cupti_pm, sampler, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
SAME(cupti_pm_config, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(cupti_pm_config, hardware_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME(cupti_pm_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(cupti_pm_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME(cupti_pm_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SAME(cupti_pm_bytes, most_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME(cupti_pm_bytes, bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
SAME(cupti_pm_decode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(cupti_pm_decode, why, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME(cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SAME(cupti_pm_info, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME(cupti_pm_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
SAME(cupti_pm_sample, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME(cupti_pm_sample, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);
SAME(cupti_pm_sample, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);

SAME(cupti_pc_reason, samples, CUpti_PCSamplingStallReason, samples);
SAME(cupti_pc, crc, CUpti_PCSamplingPCData, cubinCrc);
SAME(cupti_pc, offset, CUpti_PCSamplingPCData, pcOffset);
SAME(cupti_pc, function, CUpti_PCSamplingPCData, functionName);
SAME(cupti_pc, reason_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME(cupti_pc, reasons, CUpti_PCSamplingPCData, stallReason);
SAME(cupti_pc, correlation, CUpti_PCSamplingPCData, correlationId);
_Static_assert(sizeof(struct cupti_pc) == sizeof(CUpti_PCSamplingPCData), "arrays of them");
SAME(cupti_pc_data, most, CUpti_PCSamplingData, collectNumPcs);
SAME(cupti_pc_data, samples, CUpti_PCSamplingData, totalSamples);
SAME(cupti_pc_data, dropped, CUpti_PCSamplingData, droppedSamples);
SAME(cupti_pc_data, count, CUpti_PCSamplingData, totalNumPcs);
SAME(cupti_pc_data, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME(cupti_pc_data, pcs, CUpti_PCSamplingData, pPcData);
SAME(cupti_pc_data, others, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME(cupti_pc_data, full, CUpti_PCSamplingData, hardwareBufferFull);
_Static_assert(sizeof(struct cupti_pc_data) == sizeof(CUpti_PCSamplingData), "it says its size");
SAME(cupti_pc_setting, result, CUpti_PCSamplingConfigurationInfo, attributeStatus);
SAME(cupti_pc_setting, u.number, CUpti_PCSamplingConfigurationInfo,
     attributeData.samplingPeriodData.samplingPeriod);
SAME(cupti_pc_setting, u.reasons.indices, CUpti_PCSamplingConfigurationInfo,
     attributeData.stallReasonData.pStallReasonIndex);
_Static_assert(sizeof(struct cupti_pc_setting) == sizeof(CUpti_PCSamplingConfigurationInfo),
	       "arrays of them");
SAME(cupti_pc_config, settings, CUpti_PCSamplingConfigurationInfoParams,
     pPCSamplingConfigurationInfo);
SAME(cupti_pc_context, context, CUpti_PCSamplingEnableParams, ctx);
SAME(cupti_pc_get, data, CUpti_PCSamplingGetDataParams, pcSamplingData);
SAME(cupti_pc_reason_count, count, CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons);
SAME(cupti_pc_reason_names, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
SAME(cupti_crc, cubin, CUpti_GetCubinCrcParams, cubin);
SAME(cupti_crc, crc, CUpti_GetCubinCrcParams, cubinCrc);
