/*
 * work.c - what the devices did: CUPTI's records become work of queues.
 *
 * CUPTI hands over full buffers on a thread of its own, or on one of the program's when it flushes.
 * One at a time goes through here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"

#define BUFFER_BYTES (1u << 20)
#define BIG_BUFFER   (8u << 20)
#define SPARE        8u
#define DEVICES      64u
#define QUEUES       1024u /* power of two; more streams share the last place */
#define ROWS         128u
#define SIZES        1024u
#define MOST_FACTS   16u /* of one record */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- buffers ------------------------------------------------------------------------------- */

/* Buffers that came back, to be given out again. */
static _Atomic(uint8_t *) spare[SPARE];

void ut_cuda_give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	static _Atomic size_t bytes; /* the same for all: they are used again */
	uint8_t *b = NULL;

	if (!bytes)
		bytes = ut_cuda_tuned("big-buffers") ? BIG_BUFFER : BUFFER_BYTES;
	for (size_t i = 0; !b && i < SPARE; i++)
		b = atomic_exchange(&spare[i], NULL);
	if (!b)
		b = aligned_alloc(64, bytes);
	*buffer = b;
	*size = b ? bytes : 0;
	*most_records = 0;
}

static void keep_buffer(uint8_t *b)
{
	for (size_t i = 0; i < SPARE; i++) {
		uint8_t *none = NULL;

		if (atomic_compare_exchange_strong(&spare[i], &none, b))
			return;
	}
	free(b);
}

/* ---- devices and queues -------------------------------------------------------------------- */

/* What is known of a device; the limits are there to tell how full a kernel fills it. */
struct device {
	uint32_t number; /* of the host; 0 = not yet told */
	uint32_t warps, blocks, shared, registers;
	uint64_t allocated;
};

static struct device devices[DEVICES];

/* Guards numbers of devices and rows: metrics ask for them on threads of their own. */
static pthread_mutex_t places = PTHREAD_MUTEX_INITIALIZER;

struct queue {
	uint64_t key; /* device, context, stream; 0 = free */
	uint32_t number;
};

static struct queue queues[QUEUES];

/*
 * "cuda:0 GPU-1a2b3c4d": the number that the program uses, and how nvidia-smi -L calls the device.
 * Processes that see different devices (CUDA_VISIBLE_DEVICES) have the same numbers for them.
 */
static void device_label(char *to, size_t size, uint32_t id, const uint8_t uuid[16])
{
	static const uint8_t none[16];
	int len = snprintf(to, size, "cuda:%u", id);

	if (memcmp(uuid, none, sizeof(none)) != 0)
		snprintf(to + len, size - (size_t)len, " GPU-%02x%02x%02x%02x", uuid[0], uuid[1],
			 uuid[2], uuid[3]);
}

/* What the driver says, where CUPTI has not told of the device yet. */
static void ask_driver(uint32_t id, char *name, int size, uint8_t uuid[16])
{
	union {
		void *pointer;
		int (*name)(char *, int, int);
		int (*uuid)(uint8_t *, int);
	} f = { .pointer = ut_cuda_driver("cuDeviceGetName") };

	if (!f.pointer || f.name(name, size, (int)id))
		snprintf(name, (size_t)size, "CUDA device");
	f.pointer = ut_cuda_driver("cuDeviceGetUuid_v2");
	if (!f.pointer || f.uuid(uuid, (int)id))
		memset(uuid, 0, 16);
}

static struct device *send_device(uint32_t id, const char *name, const uint8_t *uuid)
{
	struct device *d = &devices[id < DEVICES ? id : DEVICES - 1];
	uint8_t asked[16];
	char text[128], label[32];

	pthread_mutex_lock(&places);
	if (!d->number) {
		if (!name) {
			ask_driver(id, text, sizeof(text), asked);
			name = text;
			uuid = asked;
		}
		device_label(label, sizeof(label), id, uuid);
		d->number =
			ut_cuda_host->device(&(struct ut_device){ .size = sizeof(struct ut_device),
								  .name = name,
								  .label = label,
								  .index = id,
								  .api = ut_cuda_name("CUDA") });
	}
	pthread_mutex_unlock(&places);
	return d;
}

static struct device *work_device_of(uint32_t id)
{
	return send_device(id, NULL, NULL);
}

uint32_t ut_cuda_device(uint32_t id)
{
	return work_device_of(id)->number;
}

static void describe_device(const void *record)
{
	const struct cupti_device *r = record;
	struct device *d = send_device(r->id, r->name ? r->name : "CUDA device", r->uuid);

	d->warps = r->warps_per_processor;
	d->blocks = r->blocks_per_processor;
	d->shared = r->shared_per_processor;
	d->registers = r->registers_per_processor;
}

#define STREAM_NAMES 64u
#define STREAM_TEXT  48u

/* Names that the program gave to streams, the latest last. */
static struct {
	uint32_t stream;
	char text[STREAM_TEXT];
} stream_names[STREAM_NAMES];
static uint32_t stream_name_count;

/* NULL = it has none. */
static const char *name_of_stream(uint32_t stream)
{
	for (uint32_t i = stream_name_count; i--;) {
		if (stream_names[i].stream == stream)
			return stream_names[i].text;
	}
	return NULL;
}

void ut_cuda_name_stream(void *stream, const char *name)
{
	uint32_t id = 0;

	if (!ut_cuda_host || !ut_cupti.GetStreamIdEx ||
	    ut_cupti.GetStreamIdEx(NULL, stream, 0, &id))
		return;
	pthread_mutex_lock(&lock);
	if (stream_name_count < STREAM_NAMES) {
		stream_names[stream_name_count].stream = id;
		snprintf(stream_names[stream_name_count].text, STREAM_TEXT, "%s", name);
		stream_name_count++;
	}
	pthread_mutex_unlock(&lock);
}

static void queue_name(char *to, size_t size, uint32_t context, uint32_t stream)
{
	const char *given = name_of_stream(stream);

	snprintf(to, size, "Stream %u%s%s%s (context %u)", stream, given ? " \"" : "",
		 given ? given : "", given ? "\"" : "", context);
}

/* A fixed array, not base/hashtab.h: in the traced process nothing is allocated. */
static uint32_t queue_of(uint32_t device, uint32_t context, uint32_t stream)
{
	uint64_t key = (uint64_t)device << 52 ^ (uint64_t)context << 32 ^ stream ^ 1ull << 63;
	size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (QUEUES - 1), tries = 0;
	char name[128];

	while (queues[at].key && queues[at].key != key && ++tries < QUEUES)
		at = (at + 1) & (QUEUES - 1);
	if (!queues[at].key) {
		queues[at].key = key;
		queue_name(name, sizeof(name), context, stream);
		queues[at].number = ut_cuda_host->queue(work_device_of(device)->number, name,
							(uint64_t)context << 32 | stream);
	}
	return queues[at].number;
}

uint32_t ut_cuda_row(uint32_t device, const char *name)
{
	static struct {
		const char *name; /* of a constant */
		uint32_t device, number;
	} rows[ROWS];
	uint32_t owner = work_device_of(device)->number, number;
	size_t i = 0;

	pthread_mutex_lock(&places);
	while (i < ROWS - 1 && rows[i].name && (rows[i].name != name || rows[i].device != owner))
		i++;
	if (rows[i].name != name || rows[i].device != owner) {
		rows[i].name = name;
		rows[i].device = owner;
		rows[i].number = ut_cuda_host->queue(owner, name, UT_SIDE_ROW + i);
	}
	number = rows[i].number;
	pthread_mutex_unlock(&places);
	return number;
}

/* ---- facts --------------------------------------------------------------------------------- */

/* "128x1x1", numbered; programs use few sizes again and again. */
static uint32_t size_name(const int32_t size[3])
{
	static struct {
		int32_t size[3];
		uint32_t name;
	} known[SIZES];
	size_t at =
		((uint32_t)size[0] * 31u + (uint32_t)size[1] * 1009u + (uint32_t)size[2]) % SIZES;
	char text[48];

	if (!known[at].name || memcmp(known[at].size, size, sizeof(known[at].size)) != 0) {
		int len = snprintf(text, sizeof(text), "%dx%dx%d", size[0], size[1], size[2]);

		memcpy(known[at].size, size, sizeof(known[at].size));
		known[at].name = ut_cuda_host->name(text, (size_t)len);
	}
	return known[at].name;
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * Warps that fit at once, in percent of what a multiprocessor can hold: by threads, registers
 * (given out in units of 256 per warp) and shared memory (1 KiB of each block is the system's).
 */
static uint32_t occupancy(const struct device *d, const struct cupti_kernel *k)
{
	uint64_t threads = (uint64_t)k->block[0] * (uint64_t)k->block[1] * (uint64_t)k->block[2];
	uint32_t warps = (uint32_t)((threads + 31) / 32), blocks;
	uint32_t registers = (k->registers * 32u + 255) / 256 * 256 * warps;
	uint32_t shared = (uint32_t)(k->static_shared + k->dynamic_shared);

	if (!d->warps || !warps || warps > d->warps)
		return 0;
	blocks = at_most(d->blocks, d->warps / warps);
	if (registers && d->registers)
		blocks = at_most(blocks, d->registers / registers);
	if (shared && d->shared)
		blocks = at_most(blocks, d->shared / (shared + 1024));
	return blocks * warps * 100 / d->warps;
}

/* Keys of facts, numbered once. */
static struct {
	bool known;
	uint32_t grid, block, registers, static_shared, dynamic_shared, local, occupancy;
	uint32_t bytes, value, graph, node, peer;
} keys;

static void learn_keys(void)
{
	keys.grid = ut_cuda_name("grid");
	keys.block = ut_cuda_name("block");
	keys.registers = ut_cuda_name("registers");
	keys.static_shared = ut_cuda_name("static shared memory");
	keys.dynamic_shared = ut_cuda_name("dynamic shared memory");
	keys.local = ut_cuda_name("local memory per thread");
	keys.occupancy = ut_cuda_name("occupancy %");
	keys.bytes = ut_cuda_name("bytes");
	keys.value = ut_cuda_name("value");
	keys.graph = ut_cuda_name("graph");
	keys.node = ut_cuda_name("graph node");
	keys.peer = ut_cuda_name("from device");
	keys.known = true;
}

static size_t work_add_fact(struct ut_fact *facts, size_t count, uint32_t key, uint64_t value)
{
	if (value)
		facts[count++] = (struct ut_fact){ key, UT_VALUE_U64, value };
	return count;
}

static size_t add_graph(struct ut_fact *facts, size_t count, uint32_t graph, uint64_t node)
{
	count = work_add_fact(facts, count, keys.graph, graph);
	return graph ? work_add_fact(facts, count, keys.node, node) : count;
}

/* ---- names ---------------------------------------------------------------------------------- */

#define KERNELS     1024u
#define KERNEL_HEAD 24u

/*
 * What is known of a kernel by where CUPTI keeps its name, which is the same for all records of
 * the kernel. The name's beginning tells if the place was used again for another.
 */
struct kernel {
	const char *text;
	char head[KERNEL_HEAD];
	uint32_t name;
	bool wanted;
};

/*
 * As the program's copy of the C++ library demangles it, to be freed; NULL without one. It is not
 * loaded for this: what the program has is left as it is.
 */
static char *demangled(const char *name)
{
	static char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
	static bool looked;
	void *library, *found;
	int status;

	if (!looked) {
		looked = true;
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
		found = library ? dlsym(library, "__cxa_demangle") : NULL;
		memcpy(&demangle, &found, sizeof(found));
	}
	return demangle && !strncmp(name, "_Z", 2) ? demangle(name, NULL, NULL, &status) : NULL;
}

/* Users choose kernels by the name they see, or by the compiler's: both are looked at, in lines. */
bool ut_cuda_wants_kernel(const char *name)
{
	char *readable = demangled(name), *both = NULL;
	bool wanted;

	if (readable && asprintf(&both, "%s\n%s", readable, name) < 0)
		both = NULL;
	wanted = ut_cuda_host->wants_kernel(both ? both : name);
	free(both);
	free(readable);
	return wanted;
}

static const struct kernel *work_kernel_of(const char *text)
{
	static struct kernel known[KERNELS];
	struct kernel *k = &known[((uintptr_t)text >> 3) * 2654435761u % KERNELS];

	if (k->text != text || strncmp(k->head, text, KERNEL_HEAD) != 0) {
		k->text = text;
		strncpy(k->head, text, KERNEL_HEAD);
		k->name = ut_cuda_name(text);
		k->wanted = ut_cuda_wants_kernel(text);
	}
	return k;
}

/* ---- pauses --------------------------------------------------------------------------------- */

/*
 * Work is recorded if the call that submitted it was made while recording was on; where calls are
 * not known, if it began while it was on.
 */
static bool was_on(uint32_t correlation, uint64_t start)
{
	return ut_cuda_host->want & (UT_WANT_CALLS | UT_WANT_SUBMITS)
		       ? !ut_cuda_call_was_off(correlation)
		       : ut_cuda_host->was_on(start);
}

/* ---- records ------------------------------------------------------------------------------- */

/* What records of all kinds of work call alike. */
#define WORK_OF(r)                                                                                 \
	.size = sizeof(struct ut_work), .queue = queue_of((r)->device, (r)->context, (r)->stream), \
	.start = (r)->start, .end = (r)->end, .correlation = (r)->correlation

/* Kernels that CUPTI tells of without a time, as it does of those that it repeats. */
static uint64_t timeless;

static void take_kernel(const void *record)
{
	const struct cupti_kernel *k = record;
	const struct kernel *kernel = work_kernel_of(k->name ? k->name : "kernel");
	struct ut_fact facts[MOST_FACTS] = { { keys.grid, UT_VALUE_NAME, size_name(k->grid) },
					     { keys.block, UT_VALUE_NAME, size_name(k->block) } };
	uint64_t start = k->start, end = k->end;
	enum ut_cuda_queried queried;
	size_t n = 2;

	if (!kernel->wanted || !was_on(k->correlation, k->start))
		return;
	queried = ut_cuda_query_times(k->correlation, kernel->name, &start, &end);
	if (queried == UT_CUDA_HELPED)
		return;
	if (!start) {
		timeless++;
		return;
	}
	n = work_add_fact(facts, n, keys.registers, k->registers);
	n = work_add_fact(facts, n, keys.static_shared, (uint64_t)k->static_shared);
	n = work_add_fact(facts, n, keys.dynamic_shared, (uint64_t)k->dynamic_shared);
	n = work_add_fact(facts, n, keys.local, k->local_per_thread);
	n = work_add_fact(facts, n, keys.occupancy, occupancy(work_device_of(k->device), k));
	n = add_graph(facts, n, k->graph, k->graph_node);
	ut_cuda_host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
					      .queue = queue_of(k->device, k->context, k->stream),
					      .name = kernel->name,
					      .kind = UT_WORK_KERNEL,
					      .queued = k->queued,
					      .submitted = k->submitted,
					      .start = start,
					      .end = end,
					      .correlation = k->correlation,
					      .facts = facts,
					      .fact_count = n });
}

static uint32_t copy_name(uint8_t kind)
{
	static const char *const names[] = {
		"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
		"Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
		"Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP",
	};

	static uint32_t known[sizeof(names) / sizeof(*names)];
	size_t at = kind < sizeof(names) / sizeof(*names) ? kind : 0;

	if (!known[at])
		known[at] = ut_cuda_name(names[at]);
	return known[at];
}

static void take_memcpy(const void *record)
{
	const struct cupti_memcpy *m = record;
	struct ut_fact facts[MOST_FACTS];
	size_t n = work_add_fact(facts, 0, keys.bytes, m->bytes);

	if (!was_on(m->correlation, m->start))
		return;
	n = add_graph(facts, n, m->graph, m->graph_node);
	ut_cuda_host->work(&(struct ut_work){ WORK_OF(m), .name = copy_name(m->copy_kind),
					      .kind = UT_WORK_COPY, .facts = facts,
					      .fact_count = n });
}

static void take_memcpy2(const void *record)
{
	const struct cupti_memcpy2 *m = record;
	struct ut_fact facts[MOST_FACTS] = { { keys.peer, UT_VALUE_U64, m->source_device } };
	size_t n = work_add_fact(facts, 1, keys.bytes, m->bytes);

	if (!was_on(m->correlation, m->start))
		return;
	n = add_graph(facts, n, m->graph, m->graph_node);
	ut_cuda_host->work(&(struct ut_work){ WORK_OF(m), .name = ut_cuda_name("Memcpy PtoP"),
					      .kind = UT_WORK_COPY, .facts = facts,
					      .fact_count = n });
}

static void take_memset(const void *record)
{
	const struct cupti_memset *m = record;
	struct ut_fact facts[MOST_FACTS];
	size_t n = work_add_fact(facts, 0, keys.bytes, m->bytes);

	if (!was_on(m->correlation, m->start))
		return;
	n = work_add_fact(facts, n, keys.value, m->value);
	n = add_graph(facts, n, m->graph, m->graph_node);
	ut_cuda_host->work(&(struct ut_work){ WORK_OF(m), .name = ut_cuda_name("Memset"),
					      .kind = UT_WORK_FILL, .facts = facts,
					      .fact_count = n });
}

/* Memory that the program holds on a device, whenever that changes; also in a pause, for the level
 * after it. */
static void take_memory(const void *record)
{
	const struct cupti_memory *m = record;
	static uint32_t name;
	struct device *d = work_device_of(m->device);

	name = name ? name : ut_cuda_name("allocated bytes");
	if (m->operation == 1)
		d->allocated += m->bytes;
	else if (m->operation == 2)
		d->allocated -= m->bytes < d->allocated ? m->bytes : d->allocated;
	ut_cuda_host->counter(d->number, name, m->timestamp, (double)d->allocated);
}

static void take_overhead(const void *record)
{
	const struct cupti_overhead *o = record;
	const char *what = o->what == 1 ? "Driver compiles" : "CUPTI";

	if (!ut_cuda_host->was_on(o->start))
		return;
	ut_cuda_host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
					      .queue = ut_cuda_row(0, "Overhead"),
					      .name = ut_cuda_name(what),
					      .kind = UT_WORK_OTHER,
					      .start = o->start,
					      .end = o->end });
}

/* What is done with records of each kind. */
static void (*const takers[])(const void *record) = {
	[CUPTI_KERNEL] = take_kernel,
	[CUPTI_CONCURRENT_KERNEL] = take_kernel,
	[CUPTI_MEMCPY] = take_memcpy,
	[CUPTI_MEMCPY2] = take_memcpy2,
	[CUPTI_MEMSET] = take_memset,
	[CUPTI_MEMORY2] = take_memory,
	[CUPTI_OVERHEAD] = take_overhead,
	[CUPTI_RUNTIME] = ut_cuda_take_call,
	[CUPTI_DRIVER] = ut_cuda_take_call,
	[CUPTI_DEVICE] = describe_device,
	[CUPTI_CONTEXT] = ut_cuda_take_context,
	[CUPTI_SYNCHRONIZATION] = ut_cuda_take_sync,
	[CUPTI_UNIFIED_MEMORY] = ut_cuda_take_pages,
};

static void take_record(const struct cupti_record *r)
{
	if (r->kind < sizeof(takers) / sizeof(*takers) && takers[r->kind])
		takers[r->kind](r);
}

static void send_dropped(void *context, uint32_t stream)
{
	size_t dropped = 0;
	char text[100];

	if (ut_cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) || !dropped)
		return;
	snprintf(text, sizeof(text), "CUPTI had no room for %zu records of CUDA work", dropped);
	ut_cuda_host->note(text);
}

void ut_cuda_take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	struct cupti_record *r = NULL;

	(void)size;
	pthread_mutex_lock(&lock);
	if (!keys.known)
		learn_keys();
	while (used && ut_cupti.ActivityGetNextRecord(buffer, used, &r) == CUPTI_OK)
		take_record(r);
	send_dropped(context, stream);
	pthread_mutex_unlock(&lock);
	keep_buffer(buffer);
}

static void send_timeless(void)
{
	char text[120];

	if (!timeless)
		return;
	snprintf(text, sizeof(text), "CUPTI told no times of %llu kernels: they are left out",
		 (unsigned long long)timeless);
	ut_cuda_host->note(text);
}

void ut_cuda_flush(bool all)
{
	/* A record that comes before the values of its kernel would have no times. */
	if (!all && ut_cuda_query_busy())
		return;
	(void)ut_cupti.ActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
	if (all)
		send_timeless();
}
