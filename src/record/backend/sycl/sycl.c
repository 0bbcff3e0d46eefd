/*
 * sycl.c - the SYCL backend: how it gets in, and which streams it listens to.
 *
 * The framework loads what XPTI_SUBSCRIBERS names and calls xptiTraceInit() for every stream, also
 * for one that comes back after it was finished: programs free memory when libraries go already.
 */
#define UT_BACKEND_IMPLEMENTATION
#include "backend/sycl/sycl.h"

#include <pthread.h>
#include <string.h>

struct ut_sycl_state ut_sycl;

uint32_t ut_sycl_name(const char *text)
{
	return ut_sycl.host->name(text, strlen(text));
}

/* ---- the backend --------------------------------------------------------------------------- */

static int sycl_probe(struct ut_probe *p)
{
	(void)p; /* devices are those of the runtimes below */
	return 0;
}

static int sycl_start(const struct ut_host *host)
{
	ut_sycl.host = host;
	ut_sycl.api = ut_sycl_name("SYCL");
	ut_sycl.runtime = ut_sycl_name("UR");
	ut_sycl.dependency = ut_sycl_name("SYCL dependency");
#define UT_SYCL_KEY(name, text) ut_sycl.key.name = ut_sycl_name(text);
	UT_SYCL_KEYS(UT_SYCL_KEY)
#undef UT_SYCL_KEY
	pthread_atfork(NULL, NULL, ut_sycl_memory_forked);
	return 0;
}

UT_EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "sycl",
	.probe = sycl_probe,
	.start = sycl_start,
};

/* ---- the framework ------------------------------------------------------------------------- */

/* Its library may have been loaded in any way: it is the one that calls us. */
static void *framework_of(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname
		       ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
		       : NULL;
}

static bool sycl_find_functions(const void *caller)
{
	void *library = framework_of(caller);
	const struct {
		const char *name;
		void *at;
	} all[] = {
		{ "xptiRegisterStream", &ut_sycl.register_stream },
		{ "xptiRegisterCallback", &ut_sycl.register_callback },
		{ "xptiLookupString", &ut_sycl.lookup_string },
		{ "xptiLookupObject", &ut_sycl.lookup_object },
		{ "xptiQueryPayload", &ut_sycl.query_payload },
		{ "xptiQueryMetadata", &ut_sycl.query_metadata },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		void *found = dlsym(library ? library : RTLD_DEFAULT, all[i].name);

		if (!found)
			return false;
		memcpy(all[i].at, &found, sizeof(found));
	}
	return true;
}

/* ---- the streams --------------------------------------------------------------------------- */

struct interest {
	uint16_t point; /* 0 = no more */
	bool both;      /* also its end, which is the next number */
	xpti_callback *callback;
};

static const struct interest graph[] = {
	{ XPTI_NODE_CREATE, false, ut_sycl_on_node },  { XPTI_EDGE_CREATE, false, ut_sycl_on_edge },
	{ XPTI_SIGNAL, false, ut_sycl_on_signal },     { XPTI_TASK_BEGIN, true, ut_sycl_on_task },
	{ XPTI_BARRIER_BEGIN, true, ut_sycl_on_wait }, { XPTI_WAIT_BEGIN, true, ut_sycl_on_wait },
	{ XPTI_QUEUE_CREATE, true, ut_sycl_on_queue }, { 0 },
};
static const struct interest memory[] = {
	{ XPTI_MEM_ALLOC_BEGIN, true, ut_sycl_on_memory },
	{ XPTI_MEM_RELEASE_BEGIN, true, ut_sycl_on_memory },
	{ 0 },
};
static const struct interest buffers[] = {
	{ XPTI_OBJECT_CONSTRUCT, true, ut_sycl_on_buffer },
	{ XPTI_ACCESSOR, false, ut_sycl_on_accessor },
	{ 0 },
};
static const struct interest images[] = {
	{ XPTI_OBJECT_CONSTRUCT, true, ut_sycl_on_image },
	{ 0 },
};
static const struct interest functions[] = {
	{ XPTI_FUNCTION_BEGIN, true, ut_sycl_on_function },
	{ 0 },
};
static const struct interest calls[] = {
	{ XPTI_FUNCTION_WITH_ARGS_BEGIN, true, ut_sycl_on_call },
	{ 0 },
};

/* Those that end in ".debug" say the same again with more words, and take the events away from the
 * streams that they belong to. */
static const struct {
	const char *name;
	const struct interest *interests;
} streams[] = {
	{ "sycl", graph },
	{ "sycl.experimental.mem_alloc", memory },
	{ "sycl.experimental.buffer", buffers },
	{ "sycl.experimental.image", images },
	{ "ur.call", calls },
	{ "ur", calls }, /* as it was called up to 2024 */
	{ "ur.api", functions },
	{ "sycl.pi", functions }, /* before there was a Unified Runtime */
};

static void listen_to(uint8_t stream, const struct interest *i)
{
	for (; i->point; i++) {
		ut_sycl.register_callback(stream, i->point, i->callback);
		if (i->both)
			ut_sycl.register_callback(stream, (uint16_t)(i->point + 1), i->callback);
	}
}

static bool ready(const void *caller)
{
	static bool found;

	/* The framework calls for one stream at a time. */
	if (!ut_sycl.host)
		ut_backend_join(&unitrace_backend);
	if (ut_sycl.host && !found) {
		found = sycl_find_functions(caller);
		if (!found)
			ut_sycl.host->note("SYCL is not recorded: this XPTI framework lacks "
					   "functions that subscribers need");
	}
	return ut_sycl.host && found;
}

UT_EXPORT void xptiTraceInit(unsigned int major, unsigned int minor, const char *version,
			     const char *stream);
UT_EXPORT void xptiTraceFinish(const char *stream);

void xptiTraceInit(unsigned int major, unsigned int minor, const char *version, const char *stream)
{
	(void)major;
	(void)minor;
	(void)version;
	if (!stream || !ready(__builtin_return_address(0)))
		return;
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		if (!strcmp(stream, streams[i].name))
			listen_to(ut_sycl.register_stream(stream), streams[i].interests);
	}
}

/* Everything has been told already. */
void xptiTraceFinish(const char *stream)
{
	(void)stream;
}
