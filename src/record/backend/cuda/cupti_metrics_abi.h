/*
 * cupti_metrics_abi.h - the part of CUPTI's binary interface that measures: the host interface
 * (which metrics a chip has), the range profiler, PM sampling, PC sampling. Continues cupti_abi.h,
 * in the same way: names are CUPTI's without their prefixes, tests/device/check_cupti_abi.c
 * compares.
 *
 * Parameters travel in structs that begin with their size: up to the end of the last member, not
 * of the struct, which is what CUPTI_PARAMS() fills in. Versions 12.6 to 13.3 have these members,
 * later ones append. All functions may be missing.
 */
/* limits: one description of one foreign interface */
#ifndef UT_BACKEND_CUDA_CUPTI_METRICS_ABI_H
#define UT_BACKEND_CUDA_CUPTI_METRICS_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_PARAMS(type, last, ...)                                                              \
	((struct type){ .size = offsetof(struct type, last) + sizeof(((struct type *)0)->last),    \
			__VA_ARGS__ })

enum {
	CUPTI_HARDWARE_BUSY = 26,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED = 33,            /* ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED */
	CUPTI_NO_PRIVILEGES = 35,          /* ERROR_INSUFFICIENT_PRIVILEGES */
	CUPTI_VIRTUAL_NO_PRIVILEGES = 40,  /* ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES */
	CUPTI_CONFIDENTIAL_COMPUTING = 41, /* ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED */
	CUPTI_CMP_DEVICE = 42,             /* ERROR_CMP_DEVICE_NOT_SUPPORTED */
	CUPTI_MIG_DEVICE = 43,             /* ERROR_MIG_DEVICE_NOT_SUPPORTED */
	CUPTI_WSL_DEVICE = 45,             /* ERROR_WSL_DEVICE_NOT_SUPPORTED */
};

enum {
	CUPTI_MODULE_LOADED = 6,          /* of CUPTI_RESOURCE */
	CUPTI_MODULE_UNLOAD_STARTING = 7, /* as well */
	CUPTI_CALL_BEGINS = 0,            /* API_ENTER */
	CUPTI_CALL_ENDS = 1,              /* API_EXIT */
};

/* CallbackData: of calls. */
struct cupti_call {
	uint32_t site; /* CUPTI_CALL_BEGINS, _ENDS */
	const char *function;
	const void *params;
	void *result;
	const char *symbol; /* of a launch: the kernel */
	void *context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

/* ResourceData. */
struct cupti_resource {
	void *context;
	void *stream;
	void *descriptor; /* struct cupti_module, if it is about one */
};

/* ModuleResourceData. */
struct cupti_module {
	uint32_t id;
	size_t size;
	const char *cubin;
};

/* ---- the device ------------------------------------------------------------------------------ */

/* Profiler_Initialize_Params */
struct cupti_profiler_init {
	size_t size;
	void *priv;
};

/* Device_GetChipName_Params */
struct cupti_chip {
	size_t size;
	void *priv;
	size_t device;
	const char *name; /* out */
};

/* Profiler_GetCounterAvailability_Params, of a context; PmSampling_'s, of a device */
struct cupti_availability {
	size_t size;
	void *priv;
	union {
		void *context;
		size_t device;
	};
	size_t bytes; /* in and out */
	uint8_t *image;
};

/* ---- host: no device is needed --------------------------------------------------------------- */

enum cupti_profiler_type {
	CUPTI_RANGE_PROFILER,
	CUPTI_PM_SAMPLING,
};

/* Profiler_Host_Initialize_Params */
struct cupti_host_init {
	size_t size;
	void *priv;
	uint32_t type; /* enum cupti_profiler_type */
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

/* Profiler_Host_Deinitialize_Params */
struct cupti_host_end {
	size_t size;
	void *priv;
	void *host;
};

/* Profiler_Host_GetSupportedChips_Params */
struct cupti_chips {
	size_t size;
	void *priv;
	size_t count;
	const char *const *names;
};

/* Profiler_Host_GetMetricProperties_Params */
struct cupti_metric {
	size_t size;
	void *priv;
	void *host;
	const char *name;
	const char *about, *hardware_unit, *unit; /* out */
	uint32_t type;
};

/* Profiler_Host_ConfigAddMetrics_Params */
struct cupti_config_add {
	size_t size;
	void *priv;
	void *host;
	const char **names;
	size_t count;
};

/* Profiler_Host_GetConfigImageSize_Params */
struct cupti_config_size {
	size_t size;
	void *priv;
	void *host;
	size_t bytes;
};

/* Profiler_Host_GetConfigImage_Params */
struct cupti_config_image {
	size_t size;
	void *priv;
	void *host;
	size_t bytes;
	uint8_t *image;
};

/* Profiler_Host_GetNumOfPasses_Params */
struct cupti_passes {
	size_t size;
	void *priv;
	size_t bytes;
	uint8_t *image;
	size_t passes;
};

/* Profiler_Host_EvaluateToGpuValues_Params */
struct cupti_evaluate {
	size_t size;
	void *priv;
	void *host;
	const uint8_t *image;
	size_t bytes;
	size_t index;
	const char **names;
	size_t count;
	double *values;
};

/* ---- range profiler -------------------------------------------------------------------------- */

enum {
	CUPTI_AUTO_RANGE = 1,    /* CUPTI_AutoRange */
	CUPTI_KERNEL_REPLAY = 2, /* CUPTI_KernelReplay */
	CUPTI_FLUSH_CACHES = 1,  /* CACHE_CONTROL_MODE_ALL, since 13.4 */
	CUPTI_BASE_CLOCKS = 1,   /* CLOCK_CONTROL_MODE_BASE, since 13.4 */
};

/* RangeProfiler_Enable_Params. Before 13.4 the last member is not there. */
struct cupti_range_enable {
	size_t size;
	void *priv;
	void *context;
	void *profiler;      /* out */
	uint32_t cache_mode; /* CUPTI_FLUSH_CACHES */
};

/* RangeProfiler_Disable_Params, _Start_Params */
struct cupti_range {
	size_t size;
	void *priv;
	void *profiler;
};

/* RangeProfiler_Stop_Params */
struct cupti_range_stop {
	size_t size;
	void *priv;
	void *profiler;
	size_t pass, nesting;
	uint8_t all_submitted;
};

/* RangeProfiler_SetConfig_Params */
struct cupti_range_config {
	size_t size;
	void *priv;
	void *profiler;
	size_t config_bytes;
	const uint8_t *config;
	size_t bytes;
	uint8_t *image;
	uint32_t range, replay;
	size_t most_ranges;
	uint16_t nesting_levels, least_nesting;
	size_t pass;
	uint16_t target_nesting;
};

/* RangeProfiler_DecodeData_Params */
struct cupti_range_decode {
	size_t size;
	void *priv;
	void *profiler;
	size_t dropped;
};

/* RangeProfiler_GetCounterDataSize_Params */
struct cupti_range_bytes {
	size_t size;
	void *priv;
	void *profiler;
	const char **names;
	size_t count;
	size_t most_ranges;
	uint32_t most_nodes;
	size_t bytes;
};

/* RangeProfiler_CounterDataImage_Initialize_Params, and that of PmSampling */
struct cupti_image_init {
	size_t size;
	void *priv;
	void *profiler;
	size_t bytes;
	uint8_t *image;
};

/* RangeProfiler_GetCounterDataInfo_Params */
struct cupti_range_info {
	size_t size;
	void *priv;
	const uint8_t *image;
	size_t bytes;
	size_t ranges;
};

/* ---- PM sampling ----------------------------------------------------------------------------- */

enum {
	CUPTI_BY_TIME = 1, /* PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL */
};

/* PmSampling_Enable_Params */
struct cupti_pm_enable {
	size_t size;
	void *priv;
	size_t device;
	void *sampler; /* out */
};

/* PmSampling_Disable_Params, _Start_Params, _Stop_Params */
struct cupti_pm {
	size_t size;
	void *priv;
	void *sampler;
};

/* PmSampling_SetConfig_Params */
struct cupti_pm_config {
	size_t size;
	void *priv;
	void *sampler;
	size_t config_bytes;
	const uint8_t *config;
	size_t hardware_bytes;
	uint64_t interval; /* ns */
	uint32_t trigger;
	uint32_t append; /* 0 = what is oldest stays */
};

/* PmSampling_GetCounterDataSize_Params */
struct cupti_pm_bytes {
	size_t size;
	void *priv;
	void *sampler;
	const char **names;
	size_t count;
	uint32_t most_samples;
	size_t bytes;
};

/* PmSampling_DecodeData_Params */
struct cupti_pm_decode {
	size_t size;
	void *priv;
	void *sampler;
	uint8_t *image;
	size_t bytes;
	uint32_t why;
	uint8_t overflow;
};

/* PmSampling_GetCounterDataInfo_Params */
struct cupti_pm_info {
	size_t size;
	void *priv;
	const uint8_t *image;
	size_t bytes;
	size_t total, populated, completed;
};

/* PmSampling_CounterData_GetSampleInfo_Params */
struct cupti_pm_sample {
	size_t size;
	void *priv;
	void *sampler;
	const uint8_t *image;
	size_t bytes;
	size_t index;
	uint64_t start, end; /* ns */
};

/* ---- PC sampling ----------------------------------------------------------------------------- */

enum cupti_pc_attribute {
	CUPTI_PC_PERIOD = 1,
	CUPTI_PC_REASONS = 2,
	CUPTI_PC_SCRATCH_BYTES = 3,
	CUPTI_PC_HARDWARE_BYTES = 4,
	CUPTI_PC_MODE = 5,
	CUPTI_PC_FORMAT = 7,
	CUPTI_PC_BUFFER = 8,
};

enum {
	CUPTI_PC_CONTINUOUS = 1,
	CUPTI_PC_SERIALIZED = 2,
	CUPTI_PC_PARSED = 1,
	CUPTI_PC_REASON_TEXT = 128, /* STALL_REASON_STRING_SIZE */
};

/* PCSamplingStallReason */
struct cupti_pc_reason {
	uint32_t index, samples;
};

/* PCSamplingPCData */
struct cupti_pc {
	size_t size;
	uint64_t crc, offset;
	uint32_t function_index, pad;
	char *function;
	size_t reason_count;
	struct cupti_pc_reason *reasons;
	uint32_t correlation;
};

/* PCSamplingData */
struct cupti_pc_data {
	size_t size;
	size_t most; /* pcs that there is room for */
	uint64_t samples, dropped;
	size_t count, remaining; /* pcs: here, and for the next call */
	uint64_t range;
	struct cupti_pc *pcs;
	uint64_t others; /* samples of kernels that are not the program's */
	uint8_t full;
};

/* PCSamplingConfigurationInfo */
struct cupti_pc_setting {
	uint32_t attribute; /* enum cupti_pc_attribute */
	int32_t result;
	union {
		uint64_t room[3];
		uint32_t number;
		size_t bytes;
		void *pointer;
		struct {
			size_t count;
			uint32_t *indices;
		} reasons;
	} u;
};

/* PCSamplingConfigurationInfoParams */
struct cupti_pc_config {
	size_t size;
	void *priv;
	void *context;
	size_t count;
	struct cupti_pc_setting *settings;
};

/* PCSamplingEnableParams, DisableParams */
struct cupti_pc_context {
	size_t size;
	void *priv;
	void *context;
};

/* PCSamplingGetDataParams */
struct cupti_pc_get {
	size_t size;
	void *priv;
	void *context;
	struct cupti_pc_data *data;
};

/* PCSamplingGetNumStallReasonsParams */
struct cupti_pc_reason_count {
	size_t size;
	void *priv;
	void *context;
	size_t *count;
};

/* PCSamplingGetStallReasonsParams */
struct cupti_pc_reason_names {
	size_t size;
	void *priv;
	void *context;
	size_t count;
	uint32_t *indices;
	char **names; /* CUPTI_PC_REASON_TEXT each */
};

/* GetCubinCrcParams */
struct cupti_crc {
	size_t size;
	size_t bytes;
	const void *cubin;
	uint64_t crc; /* out */
};

#define CUPTI_METRIC_FUNCTIONS(X)                                                                  \
	X(ProfilerInitialize, (struct cupti_profiler_init * p))                                    \
	X(DeviceGetChipName, (struct cupti_chip * p))                                              \
	X(GetDeviceId, (void *context, uint32_t *device))                                          \
	X(GetContextId, (void *context, uint32_t *id))                                             \
	X(ProfilerGetCounterAvailability, (struct cupti_availability * p))                         \
	X(ProfilerHostInitialize, (struct cupti_host_init * p))                                    \
	X(ProfilerHostDeinitialize, (struct cupti_host_end * p))                                   \
	X(ProfilerHostGetSupportedChips, (struct cupti_chips * p))                                 \
	X(ProfilerHostGetMetricProperties, (struct cupti_metric * p))                              \
	X(ProfilerHostConfigAddMetrics, (struct cupti_config_add * p))                             \
	X(ProfilerHostGetConfigImageSize, (struct cupti_config_size * p))                          \
	X(ProfilerHostGetConfigImage, (struct cupti_config_image * p))                             \
	X(ProfilerHostGetNumOfPasses, (struct cupti_passes * p))                                   \
	X(ProfilerHostEvaluateToGpuValues, (struct cupti_evaluate * p))                            \
	X(RangeProfilerEnable, (struct cupti_range_enable * p))                                    \
	X(RangeProfilerDisable, (struct cupti_range * p))                                          \
	X(RangeProfilerStart, (struct cupti_range * p))                                            \
	X(RangeProfilerStop, (struct cupti_range_stop * p))                                        \
	X(RangeProfilerSetConfig, (struct cupti_range_config * p))                                 \
	X(RangeProfilerDecodeData, (struct cupti_range_decode * p))                                \
	X(RangeProfilerGetCounterDataSize, (struct cupti_range_bytes * p))                         \
	X(RangeProfilerCounterDataImageInitialize, (struct cupti_image_init * p))                  \
	X(RangeProfilerGetCounterDataInfo, (struct cupti_range_info * p))                          \
	X(PmSamplingGetCounterAvailability, (struct cupti_availability * p))                       \
	X(PmSamplingEnable, (struct cupti_pm_enable * p))                                          \
	X(PmSamplingDisable, (struct cupti_pm * p))                                                \
	X(PmSamplingStart, (struct cupti_pm * p))                                                  \
	X(PmSamplingStop, (struct cupti_pm * p))                                                   \
	X(PmSamplingSetConfig, (struct cupti_pm_config * p))                                       \
	X(PmSamplingGetCounterDataSize, (struct cupti_pm_bytes * p))                               \
	X(PmSamplingCounterDataImageInitialize, (struct cupti_image_init * p))                     \
	X(PmSamplingDecodeData, (struct cupti_pm_decode * p))                                      \
	X(PmSamplingGetCounterDataInfo, (struct cupti_pm_info * p))                                \
	X(PmSamplingCounterDataGetSampleInfo, (struct cupti_pm_sample * p))                        \
	X(PCSamplingEnable, (struct cupti_pc_context * p))                                         \
	X(PCSamplingDisable, (struct cupti_pc_context * p))                                        \
	X(PCSamplingSetConfigurationAttribute, (struct cupti_pc_config * p))                       \
	X(PCSamplingGetData, (struct cupti_pc_get * p))                                            \
	X(PCSamplingGetNumStallReasons, (struct cupti_pc_reason_count * p))                        \
	X(PCSamplingGetStallReasons, (struct cupti_pc_reason_names * p))                           \
	X(GetCubinCrc, (struct cupti_crc * p))                                                     \
	X(ClockControlLock, (void *context, uint32_t mode))                                        \
	X(ClockControlUnlock, (void))

struct cupti_metrics {
#define CUPTI_METRIC_MEMBER(name, params) int(*name) params;
	CUPTI_METRIC_FUNCTIONS(CUPTI_METRIC_MEMBER)
#undef CUPTI_METRIC_MEMBER
};

#endif
