/*
 * device_log.h - what devices did, and what the program asked of them, taken out of traces.
 *
 * Add the stores of one or more traces, or feed it, a sink, the events of traces that are no stores
 * and close each with ut_device_log_end_trace(); then finish and read. Device work is what
 * model/device_records.h says it is, calls are known by their category (model/classify.h). All else
 * passes. Memory: some 200 bytes for each piece of work, 40 for each call that submitted one, and
 * per call only if keep_calls. Not thread-safe.
 */
#ifndef UT_ANALYZE_DEVICE_LOG_H
#define UT_ANALYZE_DEVICE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/classify.h"
#include "model/device_records.h"
#include "model/sink.h"
#include "model/strtab.h"

struct ut_api_traits;
struct ut_store;

/*
 * A section of device tables: an API (base/api_list.h), of some only devices of one type. Those
 * with an order come first, the others in the order in which they are met. The last of the first is
 * for what has no API.
 */
struct ut_device_api {
	uint32_t name;       /* string id in the log: "CUDA", "CL GPU" */
	uint8_t api;         /* enum ut_api */
	uint8_t device_type; /* enum ut_device_type, of an API whose sections differ by it */
	bool driver;         /* calls below those of the program */
};

struct ut_device_work {
	uint64_t start, end;
	uint64_t called;            /* the call that submitted it began; 0 = unknown */
	uint64_t handed;            /* it ended, or the work began already; 0 = unknown */
	uint64_t queued, submitted; /* 0 = unknown */
	uint64_t correlation;
	uint64_t external; /* torch.profiler: the operator that launched it; 0 = unknown */
	uint64_t bytes;
	uint64_t record;     /* of a store: 1 + its number in ut_store_devices(); 0 = of none */
	uint32_t name, task; /* ids in the log's strings */
	uint32_t launch;     /* index into launches */
	uint32_t queue;      /* track of its trace */
	uint32_t thread;     /* that submitted it; 0 = unknown */
	uint16_t device;     /* index into devices */
	uint16_t kind;       /* enum ut_device_kind */
	uint32_t source;     /* index into sources */
	int32_t rank;        /* -1 = none */
	uint32_t program;    /* 1 + the process that submitted it, in its trace; 0 = unknown */
};

/* One device, however many processes of its host use it. Where traces do not tell their hosts, each
 * rank has devices of its own. */
struct ut_device_info {
	uint32_t name;  /* as ut_process_shown_name() has it */
	uint32_t host;  /* 0 = unknown */
	int32_t rank;   /* whose it is, if the host is unknown; -1 = nobody's */
	uint32_t model; /* as its maker calls it; 0 = unknown */
	uint32_t index; /* as the program counts them */
	uint16_t api;   /* index into apis */
};

/* What all calls of a function took. */
struct ut_device_calls {
	uint32_t source, name;
	uint16_t api; /* index into apis */
	uint64_t calls, total, min, max;
};

/* A call by itself: only if keep_calls. */
struct ut_device_call {
	uint64_t start, end;
	uint32_t source, thread, name;
	uint32_t args, result; /* "a = 1 b = 0x2", "-> CL_SUCCESS (0)"; 0 = unknown */
	int32_t rank;          /* -1 = none */
};

/* What is known of a kernel, whenever it ran. */
struct ut_device_kernel {
	uint32_t source, name;
	uint32_t compiled; /* string id, "JIT" or "AOT"; 0 = unknown */
	uint32_t simd;     /* threads in step; 0 = unknown */
	uint64_t registers, shared, local, spill, arguments;
};

/* Nothing was recorded of that trace. */
struct ut_device_pause {
	uint64_t start, end;
	uint32_t source;
};

/* One trace. */
struct ut_device_source {
	uint64_t pid;
	int32_t rank;
	uint64_t first, last; /* the first and last sign of life */
};

struct ut_device_log {
	struct ut_sink sink; /* first: what importers feed */
	struct ut_arena arena;
	struct ut_strtab strings;
	bool keep_calls;
	struct ut_device_work *works; /* finished: by source, then by start */
	size_t work_count, work_cap;
	struct ut_device_info *devices;
	size_t device_count, device_cap;
	struct ut_device_api *apis; /* sections */
	size_t api_count, api_cap;
	struct ut_device_launches launches;
	struct ut_device_calls *calls; /* by source */
	size_t calls_count, calls_cap;
	struct ut_device_call *each_call; /* finished: by source, then by start */
	size_t each_count, each_cap;
	struct ut_device_kernel *kernels;
	size_t kernel_count, kernel_cap;
	struct ut_device_source *sources;
	size_t source_count, source_cap;
	struct ut_device_pause *pauses; /* by source */
	size_t pause_count, pause_cap;
	struct ut_device_state *state;
};

void ut_device_log_init(struct ut_device_log *log, bool keep_calls);
void ut_device_log_release(struct ut_device_log *log);

struct ut_trace;

/* The name of a section, an index into apis; and what is registered of its API. */
const char *ut_device_api_name(const struct ut_device_log *log, uint16_t api);
const struct ut_api_traits *ut_device_api_traits(const struct ut_device_log *log, uint16_t api);

/* After the last event of each trace, also of one that had none. */
void ut_device_log_end_trace(struct ut_device_log *log, const struct ut_trace *trace);

/* All of a trace that is a store, which other threads may read meanwhile. */
void ut_device_log_store(struct ut_device_log *log, const struct ut_store *store);

/* Joins work with the calls that submitted it, and sorts. Nothing is fed afterwards. */
void ut_device_log_finish(struct ut_device_log *log);

#define UT_DEVICE_ALL UINT32_MAX /* sources */

/* Numbers of items, from first to below end. */
struct ut_device_range {
	size_t first, end;
};

/* Those of a finished log that are a source's: of works, calls, each_call. */
struct ut_device_range ut_device_log_works(const struct ut_device_log *log, uint32_t source);
struct ut_device_range ut_device_log_calls(const struct ut_device_log *log, uint32_t source);
struct ut_device_range ut_device_log_each_call(const struct ut_device_log *log, uint32_t source);

/* What is known of a kernel; NULL = it is none. */
const struct ut_device_kernel *ut_device_log_kernel(const struct ut_device_log *log,
						    const struct ut_device_work *w);

#endif
