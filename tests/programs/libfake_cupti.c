/*
 * libfake_cupti.c - enough of CUPTI to drive the CUDA backend on a machine without a GPU.
 *
 * fake_cuda_run(n) plays a program that launches n kernels and a graph of three, copies, fills and
 * waits: records of calls, nested driver calls included, and of what a device might have done go
 * into the buffers that the backend gives. FAKE_CUPTI_BUSY=1: somebody else was first.
 * FAKE_CUPTI_DROPS=1: records went missing. FAKE_CUPTI_OLD=1: it cannot record single functions.
 * FAKE_CUPTI_MORE=1: also a copy between devices, and time that CUPTI takes itself.
 * FAKE_CUPTI_NO_PAGES=1: it knows nothing of managed memory. FAKE_CUPTI_NOT_READY=1: nothing yet.
 * FAKE_CUPTI_LONG=1: kernels take 400 us, one after the other. FAKE_CUPTI_RESET=1: the context is
 * destroyed in the end. What is measured: fake_cupti_metrics.h.
 *
 * fake_cuda_wait() returns when the backend has taken over all of that by itself.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/cupti_abi.h"

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(name, params) EXPORT int cupti##name params;
CUPTI_FUNCTIONS(DECLARE)
CUPTI_OPTIONAL(DECLARE)
#undef DECLARE

EXPORT void fake_cuda_run(int launches);
EXPORT void fake_cuda_wait(void);

enum {
	LAUNCH = 211,
	MEMCPY = 31,
	MEMSET = 51,
	SYNC = 165,
	MALLOC = 20,
	GRAPH_LAUNCH = 311,
	DRIVER_GRAPH_LAUNCH = 411,
	DRIVER_LAUNCH = 307,
	IDS = 512
};

static cupti_callback *callback;
static int has_context, created_wanted, modules_wanted;
static uint8_t callbacks[512]; /* of the driver */
static cupti_buffer_request *request;
static cupti_buffer_done *done;
static cupti_timestamp *now;
static uint8_t enabled[64];
static uint8_t enabled_ids[2][IDS]; /* of the driver, of the runtime */
static uint8_t *buffer;
static size_t size, used;
static pthread_mutex_t records = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* of the buffer */
static atomic_uint flushes_begun, flushes_ended;
static uint32_t correlation;

EXPORT int cuptiSubscribe(void **handle, cupti_callback *f, void *data)
{
	(void)data;
	if (getenv("FAKE_CUPTI_BUSY"))
		return CUPTI_OTHER_SUBSCRIBER;
	*handle = &callback;
	callback = f;
	return CUPTI_OK;
}

EXPORT int cuptiSubscribe_v2(void **handle, cupti_callback *f, void *data,
			     struct cupti_subscriber_params *params)
{
	if (getenv("FAKE_CUPTI_BUSY"))
		snprintf(params->old_name, params->old_size, "kineto");
	return cuptiSubscribe(handle, f, data);
}

EXPORT int cuptiEnableCallback(uint32_t on, void *handle, uint32_t domain, uint32_t id)
{
	(void)handle;
	if (domain == CUPTI_RESOURCE && id == CUPTI_CONTEXT_CREATED)
		created_wanted = (int)on;
	if (domain == CUPTI_RESOURCE && id == 6) /* modules */
		modules_wanted = (int)on;
	if (domain == CUPTI_DRIVER_API && id < sizeof(callbacks))
		callbacks[id] = (uint8_t)on;
	return CUPTI_OK;
}

EXPORT int cuptiEnableDomain(uint32_t on, void *handle, uint32_t domain)
{
	(void)on;
	(void)handle;
	(void)domain;
	return CUPTI_OK;
}

EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name)
{
	static const struct {
		uint32_t domain, id;
		const char *name;
	} all[] = {
		{ CUPTI_RUNTIME_API, LAUNCH, "cudaLaunchKernel_v7000" },
		{ CUPTI_RUNTIME_API, MEMCPY, "cudaMemcpy_v3020" },
		{ CUPTI_RUNTIME_API, SYNC, "cudaDeviceSynchronize_v3020" },
		{ CUPTI_RUNTIME_API, MALLOC, "cudaMalloc_v3020" },
		{ CUPTI_RUNTIME_API, MEMSET, "cudaMemsetAsync_v3020" },
		{ CUPTI_RUNTIME_API, GRAPH_LAUNCH, "cudaGraphLaunch_v10000" },
		{ CUPTI_DRIVER_API, DRIVER_LAUNCH, "cuLaunchKernel" },
		{ CUPTI_DRIVER_API, DRIVER_GRAPH_LAUNCH, "cuGraphLaunch" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (all[i].domain == domain && all[i].id == id) {
			*name = all[i].name;
			return CUPTI_OK;
		}
	}
	*name = "INVALID";
	return id < IDS ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

/* As the real one: a function by itself, and nothing else, though the kind is not enabled. */
static int enable_id(uint8_t *ids, uint32_t id, uint8_t on)
{
	if (getenv("FAKE_CUPTI_OLD") || id >= IDS)
		return CUPTI_INVALID_PARAMETER;
	ids[id] = on;
	return CUPTI_OK;
}

EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t on)
{
	return enable_id(enabled_ids[0], id, on);
}

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t on)
{
	return enable_id(enabled_ids[1], id, on);
}

EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_pages_config *config,
						      uint32_t count)
{
	(void)config;
	(void)count;
	if (!has_context && getenv("FAKE_CUPTI_NOT_READY"))
		return CUPTI_NOT_READY;
	return getenv("FAKE_CUPTI_NO_PAGES") ? 35 : CUPTI_OK;
}

/* A stream's handle is its number here. */
EXPORT int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	(void)context;
	(void)per_thread;
	*id = (uint32_t)(uintptr_t)stream;
	return CUPTI_OK;
}

EXPORT int cuptiGetVersion(uint32_t *version)
{
	const char *version_text = getenv("FAKE_CUPTI_VERSION");

	*version = version_text ? (uint32_t)atoi(version_text) : 130000;
	return CUPTI_OK;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	(void)result;
	*text = "FAKE_ERROR";
	return CUPTI_OK;
}

EXPORT int cuptiActivityRegisterCallbacks(cupti_buffer_request *give, cupti_buffer_done *take)
{
	request = give;
	done = take;
	return CUPTI_OK;
}

EXPORT int cuptiActivityRegisterTimestampCallback(cupti_timestamp *f)
{
	now = f;
	return CUPTI_OK;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	enabled[kind % 64] = 1;
	return CUPTI_OK;
}

#include "fake_cupti_metrics.h"

static size_t record_size(uint32_t kind)
{
	switch (kind) {
	case CUPTI_CONCURRENT_KERNEL:
		return (sizeof(struct cupti_kernel) + 15) & ~(size_t)15;
	case CUPTI_MEMCPY:
		return sizeof(struct cupti_memcpy);
	case CUPTI_MEMCPY2:
		return sizeof(struct cupti_memcpy2);
	case CUPTI_OVERHEAD:
		return sizeof(struct cupti_overhead);
	case CUPTI_MEMSET:
		return sizeof(struct cupti_memset);
	case CUPTI_MEMORY2:
		return sizeof(struct cupti_memory);
	case CUPTI_DEVICE:
		return sizeof(struct cupti_device);
	case CUPTI_CONTEXT:
		return sizeof(struct cupti_context);
	case CUPTI_SYNCHRONIZATION:
		return sizeof(struct cupti_sync);
	case CUPTI_UNIFIED_MEMORY:
		return sizeof(struct cupti_pages);
	case CUPTI_RUNTIME:
	case CUPTI_DRIVER:
		return sizeof(struct cupti_api);
	default:
		return 0;
	}
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *b, size_t n, struct cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + record_size((*record)->kind) : b;

	if (at >= b + n)
		return CUPTI_NO_MORE_RECORDS;
	*record = (struct cupti_record *)(void *)at;
	return CUPTI_OK;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = getenv("FAKE_CUPTI_DROPS") ? 3 : 0;
	return CUPTI_OK;
}

static void hand_over(void)
{
	uint8_t *b;
	size_t room, bytes;

	pthread_mutex_lock(&records);
	b = buffer;
	room = size;
	bytes = used;
	buffer = NULL;
	pthread_mutex_unlock(&records);
	if (b)
		done(NULL, 0, b, room, bytes);
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	flushes_begun++;
	hand_over();
	flushes_ended++;
	return CUPTI_OK;
}

EXPORT int cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
	(void)on;
	return CUPTI_OK;
}

EXPORT int cuptiSetThreadIdType(uint32_t type)
{
	(void)type;
	return CUPTI_OK;
}

static void *make_room(uint32_t kind)
{
	size_t most, need = record_size(kind);
	struct cupti_record *r;

	if (buffer && used + need > size)
		hand_over();
	if (!buffer) {
		request(&buffer, &size, &most);
		used = 0;
	}
	r = (void *)(buffer + used);
	memset(r, 0, need);
	r->kind = kind;
	used += need;
	return r;
}

/* NULL if nobody wants such records. */
static void *room(uint32_t kind)
{
	return enabled[kind] ? make_room(kind) : NULL;
}

/* A call that took from start to end. */
static void call(uint32_t kind, uint32_t function, uint32_t number, uint64_t start, uint64_t end)
{
	struct cupti_api *r;

	if (!enabled[kind] && !enabled_ids[kind == CUPTI_RUNTIME][function])
		return;
	r = make_room(kind);
	r->function = function;
	r->start = start;
	r->end = end;
	r->thread = (uint32_t)gettid();
	r->correlation = number;
}

/* NULL if nobody wants to know. */
static struct cupti_kernel *run_kernel(uint32_t number, uint64_t start, int n)
{
	struct cupti_kernel *k = room(CUPTI_CONCURRENT_KERNEL);

	if (!k)
		return NULL;
	k->start = start;
	k->end = start + 1000 + (uint64_t)n;
	k->stream = 7 + (uint32_t)n % 2;
	k->context = 1;
	k->correlation = number;
	k->name = n % 2 ? "_Z6matmuliPKfS0_Pf" : "relu";
	k->grid[0] = 64;
	k->grid[1] = k->grid[2] = 1;
	k->block[0] = 256;
	k->block[1] = k->block[2] = 1;
	k->registers = 32;
	k->static_shared = 1024;
	k->local_per_thread = 16;
	return k;
}

/* Whoever asked for it hears of calls of the driver as they begin and end. */
static void announce(uint32_t function, uint32_t number, uint32_t site, const char *symbol)
{
	struct {
		void *function;
		uint32_t sizes[7];
		void *stream;
	} params = { 0 };
	struct cupti_call c = { .site = site,
				.function = "cuLaunch",
				.params = &params,
				.symbol = symbol,
				.context = fake_context,
				.context_id = 1,
				.correlation = number };

	if (callbacks[function])
		callback(NULL, CUPTI_DRIVER_API, function, &c);
}

static uint64_t kernel_time(int n)
{
	return getenv("FAKE_CUPTI_LONG") ? 400000 : 1000 + (uint64_t)n;
}

static void launch(int n)
{
	uint32_t number = ++correlation;
	uint64_t start = now();
	const char *symbol = n % 2 ? "_Z6matmuliPKfS0_Pf" : "relu";
	struct cupti_kernel *k;
	bool measured;

	announce(DRIVER_LAUNCH, number, CUPTI_CALL_BEGINS, symbol);
	measured = measure_kernel(kernel_time(n));
	call(CUPTI_DRIVER, DRIVER_LAUNCH, number, start + 10, start + 20);
	call(CUPTI_RUNTIME, LAUNCH, number, start, start + 30);
	k = run_kernel(number, start + 5000, n);
	if (k && measured)
		k->start = k->end = 0; /* as CUPTI does while it repeats a kernel */
	else if (k)
		k->end = k->start + kernel_time(n);
	pcs.launches += pcs.enabled;
	announce(DRIVER_LAUNCH, number, CUPTI_CALL_ENDS, symbol);
}

/* Launches that are recorded into a graph do not run. */
static void capture(void)
{
	fake_capturing = 1;
	announce(DRIVER_LAUNCH, ++correlation, CUPTI_CALL_BEGINS, "relu");
	announce(DRIVER_LAUNCH, correlation, CUPTI_CALL_ENDS, "relu");
	fake_capturing = 0;
}

/* One call, three kernels. */
static void launch_graph(void)
{
	uint32_t number;
	uint64_t start = now();

	capture();
	number = ++correlation;
	announce(DRIVER_GRAPH_LAUNCH, number, CUPTI_CALL_BEGINS, NULL);
	call(CUPTI_RUNTIME, GRAPH_LAUNCH, number, start, start + 40);
	for (uint64_t node = 1; node <= 3; node++) {
		struct cupti_kernel *k = run_kernel(number, start + node * 2000, 0);

		if (k) {
			k->graph = 9;
			k->graph_node = node;
		}
	}
	announce(DRIVER_GRAPH_LAUNCH, number, CUPTI_CALL_ENDS, NULL);
}

static void copy(void)
{
	uint32_t number = ++correlation;
	uint64_t start = now();
	struct cupti_memcpy *m;

	call(CUPTI_RUNTIME, MEMCPY, number, start, start + 50);
	m = room(CUPTI_MEMCPY);
	if (!m)
		return;
	m->start = start + 40;
	m->end = m->start + 300;
	m->bytes = 4096;
	m->copy_kind = 1;
	m->stream = 7;
	m->context = 1;
	m->correlation = number;
}

static void copy_from_a_peer(void)
{
	struct cupti_memcpy2 *m = room(CUPTI_MEMCPY2);

	if (!m)
		return;
	m->start = now();
	m->end = m->start + 250;
	m->bytes = 512;
	m->stream = 7;
	m->context = 1;
	m->source_device = 3;
}

static void be_in_the_way(void)
{
	struct cupti_overhead *o = room(CUPTI_OVERHEAD);

	if (!o)
		return;
	o->what = 1 << 16;
	o->start = now();
	o->end = o->start + 5000;
}

static void fill(void)
{
	uint32_t number = ++correlation;
	uint64_t start = now();
	struct cupti_memset *m;

	call(CUPTI_RUNTIME, MEMSET, number, start, start + 50);
	m = room(CUPTI_MEMSET);
	if (!m)
		return;
	m->start = start + 100;
	m->end = m->start + 200;
	m->bytes = 512;
	m->value = 7;
	m->stream = 8;
	m->context = 1;
	m->correlation = number;
}

static void allocate(uint64_t bytes, uint32_t operation)
{
	struct cupti_memory *m = room(CUPTI_MEMORY2);

	if (!m)
		return;
	m->operation = operation;
	m->bytes = bytes;
	m->timestamp = now();
}

/* The program waits for a stream; the record of the call and that of the wait share a number. */
static void wait_for_stream(void)
{
	uint32_t number = ++correlation;
	uint64_t start = now();
	struct cupti_sync *s = room(CUPTI_SYNCHRONIZATION);

	if (s) {
		s->what = CUPTI_WAITS_FOR_STREAM;
		s->start = start;
		s->end = start + 60;
		s->context = 1;
		s->stream = 7;
		s->correlation = number;
	}
	call(CUPTI_RUNTIME, SYNC, number, start, start + 60);
}

static void put_pages(uint32_t what, uint64_t value)
{
	struct cupti_pages *p = room(CUPTI_UNIFIED_MEMORY);

	if (!p)
		return;
	p->what = what;
	p->value = value;
	p->start = now();
	p->end = p->start + 700;
	p->address = 0x7f0000000000;
	p->source = UINT32_MAX;
}

/* CUPTI tells of a fault of the host where the instruction was, and no end that means anything. */
static void move_pages(void)
{
	put_pages(CUPTI_PAGES_TO_DEVICE, 65536);
	put_pages(CUPTI_PAGE_FAULT_OF_HOST, 0x55d0c0ffee);
}

static void open_context(void)
{
	struct cupti_context *c = room(CUPTI_CONTEXT);
	const struct cupti_resource resource = { .context = fake_context };

	if (c)
		c->id = 1;
	if (has_context++)
		return;
	if (created_wanted)
		callback(NULL, CUPTI_RESOURCE, CUPTI_CONTEXT_CREATED, &resource);
	if (modules_wanted)
		load_module();
}

static void close_context(void)
{
	const struct cupti_resource resource = { .context = fake_context };

	callback(NULL, CUPTI_RESOURCE, CUPTI_CONTEXT_DESTROY_STARTING, &resource);
}

static void describe_device(void)
{
	struct cupti_device *d = room(CUPTI_DEVICE);

	if (!d)
		return;
	d->name = "Fake H200";
	d->warps_per_processor = 64;
	d->blocks_per_processor = 32;
	d->registers_per_processor = 65536;
	d->shared_per_processor = 228 << 10;
	memcpy(d->uuid, "\x1a\x2b\x3c\x4d", 4);
}

static void run_before(void)
{
	describe_device();
	open_context();
	call(CUPTI_RUNTIME, MALLOC, ++correlation, now(), now() + 100);
	allocate(4096, 1);
	copy();
	fill();
}

static void run_after(void)
{
	launch_graph();
	if (getenv("FAKE_CUPTI_MORE")) {
		copy_from_a_peer();
		be_in_the_way();
	}
	move_pages();
	wait_for_stream();
	allocate(4096, 2);
	if (getenv("FAKE_CUPTI_RESET"))
		close_context();
}

/* Nobody takes a buffer over while a record in it is half written. */
EXPORT void fake_cuda_run(int launches)
{
	if (!request || !now)
		return; /* nobody is there to be told */
	pthread_mutex_lock(&records);
	run_before();
	for (int n = 0; n < launches; n++) {
		launch(n);
		pthread_mutex_unlock(&records);
		if (getenv("FAKE_CUPTI_LONG"))
			usleep(500); /* the next one begins behind it */
		pthread_mutex_lock(&records);
	}
	run_after();
	pthread_mutex_unlock(&records);
}

static void wait_until(atomic_uint *count, unsigned int least)
{
	while ((int)(*count - least) < 0)
		usleep(1000);
}

/* What is read has been told when the next is read. */
EXPORT void fake_cuda_wait(void)
{
	unsigned int flushes = flushes_begun, samples = pm.reads, stalls = pcs.reads;

	wait_until(&flushes_ended, flushes + 1);
	if (pm.running)
		wait_until(&pm.reads, samples + 2);
	if (pcs.enabled)
		wait_until(&pcs.reads, stalls + 2);
}
