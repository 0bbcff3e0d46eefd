/*
 * jitprofiling.c - the JIT half of libittnotify.a: finds the collector and passes reports on.
 *
 * The collector is loaded once, at the first call, and stays. It is the library named in
 * INTEL_JIT_PROFILER64 and must export both Initialize (returns the mode) and NotifyEvent.
 */
#include "jitprofiling.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define JIT_COLLECTOR_ENV (sizeof(void *) == 8 ? "INTEL_JIT_PROFILER64" : "INTEL_JIT_PROFILER32")

/* A statically linked program may lack dlopen: then nobody listens. */
#pragma weak dlopen
#pragma weak dlsym

typedef unsigned int jit_initialize_fn(void);
typedef unsigned int jit_notify_fn(unsigned int event, void *data);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static jit_notify_fn *notify; /* these two are constant after once */
static iJIT_IsProfilingActiveFlags mode = iJIT_NOTHING_RUNNING;

static void load(void)
{
	const char *path = secure_getenv(JIT_COLLECTOR_ENV); /* not for setuid programs */
	jit_initialize_fn *initialize;
	jit_notify_fn *fn;
	void *lib;

	if (!path || !*path || !dlopen || !dlsym)
		return;
	lib = dlopen(path, RTLD_LAZY);
	if (!lib)
		return;
	initialize = (jit_initialize_fn *)(uintptr_t)dlsym(lib, "Initialize");
	fn = (jit_notify_fn *)(uintptr_t)dlsym(lib, "NotifyEvent");
	if (!initialize || !fn)
		return;
	mode = (iJIT_IsProfilingActiveFlags)initialize();
	notify = fn;
}

/* The program's errno is not ours to spoil, even on the one call that loads a library. */
static void load_once(void)
{
	int saved_errno = errno;

	pthread_once(&once, load);
	errno = saved_errno;
}

/* Reports without an id cannot be told apart: a collector never sees them. */
static bool has_id(iJIT_JVM_EVENT event, const void *data)
{
	const iJIT_Method_Inline_Load *part = data;
	const unsigned int *id = data; /* the first member of all the others */

	switch (event) {
	case iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED:
	case iJVM_EVENT_TYPE_METHOD_UPDATE:
	case iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V2:
	case iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED_V3:
		return data && *id;
	case iJVM_EVENT_TYPE_METHOD_INLINE_LOAD_FINISHED:
		return data && part->method_id && part->parent_method_id;
	case iJVM_EVENT_TYPE_SHUTDOWN:
	case iJVM_EVENT_TYPE_METHOD_UNLOAD_START:
	case iJVM_EVENT_TYPE_METHOD_UPDATE_V2:
		break;
	}
	return true;
}

int iJIT_NotifyEvent(iJIT_JVM_EVENT event_type, void *data)
{
	load_once();
	if (!notify || !has_id(event_type, data))
		return 0;
	return (int)notify((unsigned int)event_type, data);
}

iJIT_IsProfilingActiveFlags iJIT_IsProfilingActive(void)
{
	load_once();
	return mode;
}

/* Counts up to UINT_MAX and then says 0 for good, rather than hand out an id twice. */
unsigned int iJIT_GetNewMethodID(void)
{
	static _Atomic unsigned int next = 1;
	unsigned int id = atomic_load_explicit(&next, memory_order_relaxed);

	while (id && !atomic_compare_exchange_weak(&next, &id, id + 1))
		;
	return id;
}

_Static_assert(offsetof(iJIT_Method_Load, method_id) == 0, "has_id() reads it there");
_Static_assert(offsetof(iJIT_Method_Load_V2, method_id) == 0, "has_id() reads it there");
_Static_assert(offsetof(iJIT_Method_Load_V3, method_id) == 0, "has_id() reads it there");
#ifdef __LP64__
_Static_assert(sizeof(iJIT_Method_Load) == 64, "ABI: method");
_Static_assert(sizeof(iJIT_Method_Load_V2) == 64, "ABI: method, version 2");
_Static_assert(sizeof(iJIT_Method_Load_V3) == 72, "ABI: method, version 3");
_Static_assert(sizeof(iJIT_Method_Inline_Load) == 56, "ABI: inlined method");
#endif
