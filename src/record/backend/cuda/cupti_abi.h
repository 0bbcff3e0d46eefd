/*
 * cupti_abi.h - the part of CUPTI's binary interface that we use: numbers and layouts.
 *
 * With it the CUDA backend is built without NVIDIA's headers and works with the CUPTI that the
 * program brings along (12 or 13): later versions append to their records and never move what is
 * here. tests/device/check_cupti_abi.c compares every line with NVIDIA's own headers where they
 * are installed. Names are those of CUPTI without its prefixes.
 */
/* limits: one description of one foreign interface */
#ifndef UT_BACKEND_CUDA_CUPTI_ABI_H
#define UT_BACKEND_CUDA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_NO_ROOM = 8,          /* ERROR_OUT_OF_MEMORY */
	CUPTI_NO_MORE_RECORDS = 12, /* ERROR_MAX_LIMIT_REACHED */
	CUPTI_NOT_READY = 13,
	CUPTI_OTHER_SUBSCRIBER = 39, /* ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
};

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_KERNEL = 3,
	CUPTI_DRIVER = 4,
	CUPTI_RUNTIME = 5,
	CUPTI_DEVICE = 8,
	CUPTI_CONTEXT = 9,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_OVERHEAD = 17,
	CUPTI_MEMCPY2 = 22, /* between devices */
	CUPTI_UNIFIED_MEMORY = 25,
	CUPTI_SYNCHRONIZATION = 38,
	CUPTI_MEMORY2 = 49,
};

enum cupti_domain {
	CUPTI_DRIVER_API = 1,
	CUPTI_RUNTIME_API = 2,
	CUPTI_RESOURCE = 3,
};

enum {
	CUPTI_CONTEXT_CREATED = 1,          /* of CUPTI_RESOURCE */
	CUPTI_CONTEXT_DESTROY_STARTING = 2, /* as well */
	CUPTI_FLUSH_FORCED = 1,
	CUPTI_SYSTEM_THREAD_ID = 1,
};

struct cupti_record {
	uint32_t kind; /* enum cupti_kind */
};

/* ActivityKernel9 and later. Records lie at multiples of 8. */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t partitioned[2];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout[2], pad;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shmem_limit;
	uint32_t graph;
	void *access_policy;
	uint32_t channel, channel_type;
	uint32_t cluster[3];
};

/* ActivityMemcpy5 and later. */
struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* ActivityMemcpyPtoP4 and later. */
struct cupti_memcpy2 {
	uint32_t kind;
	uint8_t copy_kind, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* ActivityMemset4 and later. */
struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* ActivityMemory3 and later. */
struct cupti_memory {
	uint32_t kind;
	uint32_t operation; /* 1 = allocation, 2 = release */
	uint32_t memory_kind;
	uint32_t correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t process, device, context, stream;
};

/* ActivityOverhead2 and later. */
struct cupti_overhead {
	uint32_t kind;
	uint32_t what; /* 1 = the driver compiles, 1..8 << 16 = CUPTI itself */
	uint32_t object_kind;
	uint32_t object[3];
	uint64_t start, end;
};

/* ActivityDevice5 and later. */
struct cupti_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t bandwidth, memory;
	uint32_t constant_memory, l2, warp_threads, clock_khz, copy_engines, processors, max_ipc;
	uint32_t warps_per_processor, blocks_per_processor, shared_per_processor;
	uint32_t registers_per_processor, registers_per_block, shared_per_block;
	uint32_t threads_per_block;
	uint32_t block_most[3], grid_most[3];
	uint32_t major, minor;
	uint32_t id;
	uint32_t ecc;
	uint8_t uuid[16];
	const char *name;
};

/* ActivityContext and later. */
struct cupti_context {
	uint32_t kind;
	uint32_t id, device;
	uint16_t api, null_stream;
};

/* What the program waited for. */
enum cupti_wait {
	CUPTI_WAITS_FOR_EVENT = 1,
	CUPTI_STREAM_WAITS = 2, /* a stream, for an event */
	CUPTI_WAITS_FOR_STREAM = 3,
	CUPTI_WAITS_FOR_CONTEXT = 4,
};

#define CUPTI_NO_STREAM UINT32_MAX /* of struct cupti_sync: it is not about one */

/* ActivitySynchronization and later. */
struct cupti_sync {
	uint32_t kind;
	uint32_t what; /* enum cupti_wait */
	uint64_t start, end;
	uint32_t correlation;
	uint32_t context, stream;
	uint32_t event;
};

/* What happened to pages of managed memory. */
enum cupti_pages_kind {
	CUPTI_PAGES_TO_DEVICE = 1,
	CUPTI_PAGES_TO_HOST = 2,
	CUPTI_PAGE_FAULT_OF_HOST = 3,
	CUPTI_PAGE_FAULTS_OF_DEVICE = 4,
	CUPTI_PAGES_BETWEEN_DEVICES = 8,
};

/* ActivityUnifiedMemoryCounter2 and later. */
struct cupti_pages {
	uint32_t kind;
	uint32_t what;  /* enum cupti_pages_kind */
	uint64_t value; /* bytes, faults; of a fault of the host, the instruction's address */
	uint64_t start, end, address;
	uint32_t source, target; /* devices */
	uint32_t stream, process;
	uint32_t flags, pad;
};

struct cupti_pages_config {
	uint32_t scope; /* CUPTI_ALL_DEVICES */
	uint32_t what;  /* enum cupti_pages_kind */
	uint32_t device;
	uint32_t on;
};

#define CUPTI_ALL_DEVICES 2u

/* ActivityAPI: a call of the runtime or the driver. */
struct cupti_api {
	uint32_t kind;
	uint32_t function; /* number, per kind */
	uint64_t start, end;
	uint32_t process, thread;
	uint32_t correlation;
	uint32_t result;
};

struct cupti_subscriber_params {
	size_t size;
	const char *name;
	char *old_name; /* out: the subscriber that is there already */
	size_t old_size;
	uint8_t allow_several;
	uint8_t pad[7];
};

typedef void cupti_callback(void *data, uint32_t domain, uint32_t id, const void *info);
typedef void cupti_buffer_request(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t used);
typedef uint64_t cupti_timestamp(void);

/* name behind "cupti", parameters; every one returns enum cupti_result. */
#define CUPTI_FUNCTIONS(X)                                                                         \
	X(Subscribe, (void **handle, cupti_callback *f, void *data))                               \
	X(EnableCallback, (uint32_t on, void *handle, uint32_t domain, uint32_t id))               \
	X(EnableDomain, (uint32_t on, void *handle, uint32_t domain))                              \
	X(GetCallbackName, (uint32_t domain, uint32_t id, const char **name))                      \
	X(GetVersion, (uint32_t * version))                                                        \
	X(GetResultString, (int result, const char **text))                                        \
	X(ActivityRegisterCallbacks, (cupti_buffer_request * request, cupti_buffer_done * done))   \
	X(ActivityRegisterTimestampCallback, (cupti_timestamp * now))                              \
	X(ActivityEnable, (uint32_t kind))                                                         \
	X(ActivityGetNextRecord, (uint8_t * buffer, size_t used, struct cupti_record * *record))   \
	X(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))         \
	X(ActivityFlushAll, (uint32_t flag))                                                       \
	X(ActivityEnableLatencyTimestamps, (uint8_t on))                                           \
	X(SetThreadIdType, (uint32_t type))

/* Those that older versions lack. */
#define CUPTI_OPTIONAL(X)                                                                          \
	X(Subscribe_v2,                                                                            \
	  (void **handle, cupti_callback *f, void *data, struct cupti_subscriber_params *params))  \
	X(GetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id))          \
	X(ActivityEnableRuntimeApi, (uint32_t id, uint8_t on))                                     \
	X(ActivityEnableDriverApi, (uint32_t id, uint8_t on))                                      \
	X(ActivityConfigureUnifiedMemoryCounter,                                                   \
	  (struct cupti_pages_config * config, uint32_t count))

struct cupti {
#define CUPTI_MEMBER(name, params) int(*name) params;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
	CUPTI_OPTIONAL(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

#endif
