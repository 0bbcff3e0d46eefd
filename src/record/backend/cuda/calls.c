/*
 * calls.c - the program's calls of the CUDA runtime and driver.
 *
 * They come as CUPTI's records, like the work of the device, and not through its callbacks, which
 * cost no less (docs/design/017-cuda-by-records.md). When only the calls that submit work are
 * wanted, records are made of these alone.
 */
#include <stdatomic.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_measure.h"

#define MOST_IDS   2048u
#define MOST_HOLES 64u /* numbers without a function in a row, before there are no more */

/* A function of the runtime or the driver: what it is called, and whether it is of interest. */
struct function {
	uint32_t name; /* 0 = not yet asked for */
	bool submits;
};

static struct function functions[2][MOST_IDS];
static uint32_t apis[2], result_key;

static bool has_prefix(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++) {
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	}
	return false;
}

/* Calls from which work for the device comes, or that wait for it. */
static bool submits(const char *name)
{
	static const char *const prefixes[] = {
		"cudaLaunch",
		"cudaMemcpy",
		"cudaMemset",
		"cudaGraphLaunch",
		"cudaMemPrefetch",
		"cudaDeviceSynch",
		"cudaStreamSynch",
		"cudaEventSynch",
		"cuLaunch",
		"cuMemcpy",
		"cuMemset",
		"cuGraphLaunch",
		"cuMemPrefetch",
		"cuCtxSynchronize",
		"cuStreamSynchronize",
		"cuEventSynchronize",
		NULL,
	};

	return has_prefix(name, prefixes);
}

/* Before there is a context; the whole kind must not be enabled besides. How many there are. */
static unsigned int enable_submits_of(uint32_t domain, int (*enable)(uint32_t id, uint8_t on))
{
	unsigned int enabled = 0, holes = 0;

	for (uint32_t id = 1; id < MOST_IDS && holes < MOST_HOLES; id++) {
		const char *name = NULL;

		if (ut_cupti.GetCallbackName(domain, id, &name) || !name) {
			holes++;
			continue;
		}
		holes = 0;
		if (submits(name) && !enable(id, 1))
			enabled++;
	}
	return enabled;
}

bool ut_cuda_enable_submits(void)
{
	unsigned int enabled = 0;

	if (!ut_cupti.ActivityEnableRuntimeApi || !ut_cupti.ActivityEnableDriverApi)
		return false;
	if (!ut_cuda_tuned("driver-only"))
		enabled += enable_submits_of(CUPTI_RUNTIME_API, ut_cupti.ActivityEnableRuntimeApi);
	if (!ut_cuda_tuned("runtime-only"))
		enabled += enable_submits_of(CUPTI_DRIVER_API, ut_cupti.ActivityEnableDriverApi);
	return enabled > 0;
}

/* "cudaLaunchKernel_v7000" is called cudaLaunchKernel by everybody. */
static const struct function *function_of(const struct cupti_api *r)
{
	uint32_t domain = r->kind == CUPTI_RUNTIME ? CUPTI_RUNTIME_API : CUPTI_DRIVER_API;
	struct function *f =
		&functions[domain - CUPTI_DRIVER_API][r->function < MOST_IDS ? r->function : 0];
	const char *text = NULL, *end;

	if (f->name)
		return f;
	if (ut_cupti.GetCallbackName(domain, r->function, &text) || !text)
		text = "?";
	end = strstr(text, "_v");
	f->name = ut_cuda_host->name(text, end ? (size_t)(end - text) : strlen(text));
	f->submits = submits(text);
	return f;
}

/* Calls during a pause, the latest; the work of so many can be on its way. */
#define OFF_CALLS 16384u

static uint32_t off_calls[OFF_CALLS];

bool ut_cuda_call_was_off(uint32_t correlation)
{
	return correlation && off_calls[correlation % OFF_CALLS] == correlation;
}

void ut_cuda_take_call(const void *record)
{
	const struct cupti_api *r = record;
	const struct function *f = function_of(r);
	uint32_t *api = &apis[r->kind == CUPTI_RUNTIME];
	struct ut_fact result = { 0, UT_VALUE_I64, (uint64_t)(int64_t)(int32_t)r->result };

	if (!ut_cuda_host->was_on(r->start))
		off_calls[r->correlation % OFF_CALLS] = r->correlation;
	if (!f->submits && !(ut_cuda_host->want & UT_WANT_CALLS))
		return;
	if (!*api)
		*api = ut_cuda_name(r->kind == CUPTI_RUNTIME ? "CUDA" : "CUDA driver");
	if (r->result) {
		result_key = result_key ? result_key : ut_cuda_name("result");
		result.key = result_key;
	}
	ut_cuda_host->call(*api, &(struct ut_work){ .size = sizeof(struct ut_work),
						    .name = f->name,
						    .thread = r->thread,
						    .start = r->start,
						    .end = r->end,
						    .correlation = r->correlation,
						    .facts = &result,
						    .fact_count = result.key ? 1 : 0 });
}

/* ---- contexts and modules -------------------------------------------------------------------- */

static void context_comes(void *context)
{
	static _Atomic bool tried;

	if (ut_cuda_host->want & UT_WANT_PAGES && !atomic_exchange(&tried, true))
		(void)ut_cuda_enable_pages(true);
	if (ut_cuda_host->want & UT_WANT_SAMPLING)
		ut_cuda_sampling_context(context);
	if (ut_cuda_host->want & UT_WANT_STALLS)
		ut_cuda_stalls_context(context);
}

static void context_goes(void *context)
{
	if (ut_cuda_host->want & UT_WANT_QUERY)
		ut_cuda_query_context_ends(context);
	if (ut_cuda_host->want & UT_WANT_STALLS)
		ut_cuda_stalls_context_ends(context);
	ut_cuda_flush(false); /* its records would go with it */
}

static void resource(uint32_t id, const struct cupti_resource *r)
{
	switch (id) {
	case CUPTI_CONTEXT_CREATED:
		context_comes(r ? r->context : NULL);
		break;
	case CUPTI_CONTEXT_DESTROY_STARTING:
		context_goes(r ? r->context : NULL);
		break;
	case CUPTI_MODULE_LOADED:
		ut_cuda_stalls_module(r ? r->descriptor : NULL);
		break;
	case CUPTI_MODULE_UNLOAD_STARTING:
		ut_cuda_stalls_module_ends();
		break;
	default:
		break;
	}
}

void ut_cuda_callback(void *data, uint32_t domain, uint32_t id, const void *info)
{
	(void)data;
	if (domain == CUPTI_RESOURCE)
		resource(id, info);
	else if (domain == CUPTI_DRIVER_API && info)
		ut_cuda_query_call(id, info);
}
