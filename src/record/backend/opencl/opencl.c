/*
 * opencl.c - the OpenCL backend: how it comes into the process and where calls go on.
 *
 * A loader that knows layers (OPENCL_LAYERS) calls clInitLayer() or, since 2026, its successor
 * clInitLayerWithProperties(), with the table that the layer stands in front of, and takes the
 * layer's own. Tables have grown over the years: both sides say how long theirs is.
 */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "backend/opencl/calls.h"
#include "backend/opencl/entry_points.h"
#include "backend/opencl/harvest.h"

struct ut_cl_state ut_cl;
struct ut_cl_vendors ut_cl_core, ut_cl_extensions;

/* ---- vendors ------------------------------------------------------------------------------- */

/* Readers see the first count of them: it never falls behind what a thread has been given. */
static void count_to(struct ut_cl_vendors *v, uint32_t count)
{
	uint32_t now = atomic_load(&v->count);

	while (now < count && !atomic_compare_exchange_weak(&v->count, &now, count))
		;
}

struct ut_cl_vendor *ut_cl_vendor(struct ut_cl_vendors *v, const void *key)
{
	struct ut_cl_vendor *fresh = NULL;

	for (uint32_t i = 0; i < UT_CL_VENDORS; i++) {
		struct ut_cl_vendor *one = atomic_load(&v->list[i]);

		if (!one && !fresh) {
			fresh = ut_guest_alloc(sizeof(*fresh));
			if (!fresh)
				return NULL;
			fresh->key = key;
		}
		/* If another thread was faster its vendor is in one. */
		if (!one && atomic_compare_exchange_strong(&v->list[i], &one, fresh))
			one = fresh;
		if (one->key == key) {
			count_to(v, i + 1);
			return one;
		}
	}
	return NULL;
}

ut_cl_fn *ut_cl_next_of_many(const struct ut_cl_vendors *v, enum ut_cl_id id, const void *handle)
{
	uint32_t count = atomic_load_explicit(&v->count, memory_order_acquire);
	const void *key = NULL;
	ut_cl_fn *any = NULL;

	/* Objects of OpenCL's begin with the address of their vendor's table. */
	if (handle)
		memcpy(&key, handle, sizeof(key));
	for (uint32_t i = 0; i < count; i++) {
		const struct ut_cl_vendor *one = atomic_load(&v->list[i]);
		ut_cl_fn *found = one->fn[id];

		if (one->key == key && found)
			return found;
		any = any ? any : found;
	}
	return any;
}

/* ---- addresses that the program asks for --------------------------------------------------- */

union address {
	void *pointer;
	ut_cl_fn *function;
};

static void *our_address(void *theirs, cl_platform_id platform, const char *name)
{
	union address a = { .pointer = theirs };
	struct ut_cl_vendor *v;
	const void *key = NULL;
	uint32_t id = 0;

	while (id < UT_CL_COUNT && strcmp(ut_cl_name(id), name) != 0)
		id++;
	if (id == UT_CL_COUNT || !ut_cl_wrapper(id))
		return theirs;
	if (id >= UT_CL_CORE) {
		if (platform)
			memcpy(&key, platform, sizeof(key));
		v = ut_cl_vendor(&ut_cl_extensions, key);
		if (!v)
			return theirs;
		v->fn[id] = a.function;
	} else if (!ut_cl_next(id, platform)) {
		return theirs;
	}
	a.function = ut_cl_wrapper(id);
	return a.pointer;
}

void *CL_API_CALL ut_clGetExtensionFunctionAddress(const char *func_name)
{
	void *theirs = UT_CL(clGetExtensionFunctionAddress, NULL)(func_name);

	return theirs && func_name ? our_address(theirs, NULL, func_name) : theirs;
}

void *CL_API_CALL ut_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
							      const char *func_name)
{
	void *theirs =
		UT_CL(clGetExtensionFunctionAddressForPlatform, platform)(platform, func_name);

	return theirs && func_name ? our_address(theirs, platform, func_name) : theirs;
}

/* ---- the backend --------------------------------------------------------------------------- */

static uint32_t opencl_number(const char *text)
{
	return ut_cl.host->name(text, strlen(text));
}

static void forked(void)
{
	ut_cl_harvest_forked();
	ut_cl_device_forked();
	ut_cl_command_forked();
}

static int opencl_start(const struct ut_host *host)
{
	if (!(host->want & (UT_WANT_CALLS | UT_WANT_SUBMITS | UT_WANT_WORK)))
		return -ECANCELED;
	ut_cl.host = host;
	ut_cl.calls = host->want & UT_WANT_CALLS;
	ut_cl.submits = host->want & UT_WANT_SUBMITS;
	ut_cl.work = host->want & UT_WANT_WORK;
	ut_cl.args = host->want & UT_WANT_CALL_ARGS;
	ut_cl.api = opencl_number("OpenCL");
	for (uint32_t id = 0; id < UT_CL_COUNT; id++) {
		if (ut_cl_wrapper(id))
			ut_cl.names[id] = opencl_number(ut_cl_name(id));
	}
	ut_cl.key.error = opencl_number("error");
	ut_cl.key.result = opencl_number("result");
	ut_cl.key.status = opencl_number("status");
	ut_cl.key.bytes = opencl_number("bytes");
	ut_cl.key.direction = opencl_number("direction");
	ut_cl.key.global = opencl_number("global");
	ut_cl.key.local = opencl_number("local");
	ut_cl.key.items = opencl_number("work_items");
	ut_cl.key.commands = opencl_number("commands");
	ut_cl.key.clock_error = opencl_number("clock error (ns)");
	ut_cl.key.times = opencl_number("times");
	ut_cl.no_times = opencl_number("unknown");
	ut_cl.directions[UT_CL_H2D] = opencl_number("H2D");
	ut_cl.directions[UT_CL_D2H] = opencl_number("D2H");
	ut_cl.directions[UT_CL_D2D] = opencl_number("D2D");
	return pthread_atfork(NULL, NULL, forked) ? -ENOMEM : 0;
}

static void opencl_flush(void)
{
	ut_cl_harvest_all();
}

UT_EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "opencl",
	.probe = ut_cl_probe,
	.start = opencl_start,
	.flush = opencl_flush,
	.stop = ut_cl_harvest_end,
};

static void opencl_join(void)
{
	if (!ut_backend_join(&unitrace_backend))
		ut_cl.host = NULL;
}

bool ut_cl_join(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, opencl_join);
	return ut_cl.host;
}

/* ---- the layer ----------------------------------------------------------------------------- */

/* From <CL/cl_layer.h>, which old headers lack. */
#define LAYER_API_VERSION     0x4240
#define LAYER_NAME            0x4241
#define LAYER_API_VERSION_100 100

UT_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_uint param_name, size_t param_value_size,
					    void *param_value, size_t *param_value_size_ret)
{
	static const cl_uint version = LAYER_API_VERSION_100;
	static const char name[] = "unitrace";
	const void *from = param_name == LAYER_NAME ? (const void *)name : &version;
	size_t size = param_name == LAYER_NAME ? sizeof(name) : sizeof(version);

	if (param_name != LAYER_NAME && param_name != LAYER_API_VERSION)
		return CL_INVALID_VALUE;
	if (param_value && param_value_size < size)
		return CL_INVALID_VALUE;
	if (param_value)
		memcpy(param_value, from, size);
	if (param_value_size_ret)
		*param_value_size_ret = size;
	return CL_SUCCESS;
}

/* Our table: NULL where the loader shall use its own, which is everywhere if nothing is wanted. */
static cl_int init_layer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
			 cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
	static union {
		ut_cl_fn *fn[UT_CL_CORE];
		cl_icd_dispatch dispatch;
	} ours;
	cl_uint count = num_entries < UT_CL_CORE ? num_entries : UT_CL_CORE;
	size_t size = count * sizeof(ut_cl_fn *);
	struct ut_cl_vendor *loader;

	if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
		return CL_INVALID_VALUE;
	*num_entries_ret = UT_CL_CORE;
	*layer_dispatch_ret = &ours.dispatch;
	if (!ut_cl_join())
		return CL_SUCCESS;
	loader = ut_cl_vendor(&ut_cl_core, NULL);
	if (!loader)
		return CL_SUCCESS;
	memcpy(loader->fn, target_dispatch, size);
	for (cl_uint id = 0; id < count; id++) {
		if (loader->fn[id])
			ours.fn[id] = ut_cl_wrapper(id);
	}
	return CL_SUCCESS;
}

UT_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint num_entries,
					 const cl_icd_dispatch *target_dispatch,
					 cl_uint *num_entries_ret,
					 const cl_icd_dispatch **layer_dispatch_ret)
{
	return init_layer(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
}

UT_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries,
						       const cl_icd_dispatch *target_dispatch,
						       cl_uint *num_entries_ret,
						       const cl_icd_dispatch **layer_dispatch_ret,
						       const void *properties)
{
	(void)properties;
	return init_layer(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
}

/* The loader ends: afterwards nobody answers our calls. */
UT_EXPORT cl_int CL_API_CALL clDeinitLayer(void)
{
	if (ut_cl.host)
		ut_cl_harvest_end();
	return CL_SUCCESS;
}

_Static_assert(sizeof(cl_icd_dispatch) >= UT_CL_CORE * sizeof(ut_cl_fn *), "our table is theirs");
#define OCL_ONLY_CORE
#define OCL_FN(name)                                                                               \
	_Static_assert(offsetof(cl_icd_dispatch, name) == UT_CL_##name * sizeof(ut_cl_fn *),       \
		       #name " is out of order in api.def");
#include "backend/opencl/api.def"
