/*
 * jitprofiling.c - the JIT half of libittnotify.a: finds the collector and passes reports on.
 *
 * The collector is loaded once, at the first call, and stays. It is the library named in
 * INTEL_JIT_PROFILER64 and must export both Initialize (returns the mode) and NotifyEvent.
 */
#include "jitprofiling.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sdk/loading.h"

#define JIT_COLLECTOR_ENV (sizeof(void *) == 8 ? "INTEL_JIT_PROFILER64" : "INTEL_JIT_PROFILER32")

/* A statically linked program may lack dlopen: then nobody listens. */
#pragma weak dlopen
#pragma weak dlsym

typedef unsigned int jit_initialize_fn(void);
typedef unsigned int jit_notify_fn(unsigned int event, void *data);

static _Atomic(bool) loaded; /* these two are constant from then on */
static jit_notify_fn *notify;
static iJIT_IsProfilingActiveFlags mode = iJIT_NOTHING_RUNNING;

/* On a stack of our own, with signals held. */
static void jitprofiling_load(void *arg)
{
	const char *path = arg;
	void *lib = dlopen(path, RTLD_LAZY);
	jit_initialize_fn *initialize = NULL;
	jit_notify_fn *fn = NULL;

	if (lib) {
		initialize = (jit_initialize_fn *)(uintptr_t)dlsym(lib, "Initialize");
		fn = (jit_notify_fn *)(uintptr_t)dlsym(lib, "NotifyEvent");
	}
	if (atomic_load(&loaded) || !ut_itt_claim(UT_ITT_JIT_BIND))
		return;
	if (!atomic_load(&loaded) && initialize && fn) {
		mode = (iJIT_IsProfilingActiveFlags)initialize();
		notify = fn;
	}
	atomic_store(&loaded, true);
	ut_itt_unclaim(UT_ITT_JIT_BIND);
}

/* False: it has not come to an end, and there is nobody to wait for. */
static bool try_to_load(void)
{
	const char *path = ut_itt_env(JIT_COLLECTOR_ENV);
	enum ut_itt_may_load may = UT_ITT_NEVER;
	struct ut_itt_load l;

	if (path && *path && dlopen && dlsym)
		may = ut_itt_load_begin(&l);
	if (may == UT_ITT_NEVER)
		atomic_store(&loaded, true);
	if (may != UT_ITT_MAY_LOAD)
		return may == UT_ITT_NEVER;
	ut_itt_load_run(jitprofiling_load, (void *)(uintptr_t)path);
	ut_itt_load_end(&l);
	return atomic_load(&loaded) || ut_itt_claim_wait(UT_ITT_JIT_BIND);
}

/* The program's errno is not ours to spoil, even on the one call that loads a library. */
static bool is_loaded(void)
{
	int saved_errno = errno;

	while (!atomic_load_explicit(&loaded, memory_order_acquire) && try_to_load())
		continue;
	errno = saved_errno;
	return atomic_load(&loaded);
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
	if (!is_loaded() || !notify || !has_id(event_type, data))
		return 0;
	return (int)notify((unsigned int)event_type, data);
}

iJIT_IsProfilingActiveFlags iJIT_IsProfilingActive(void)
{
	return is_loaded() ? mode : iJIT_NOTHING_RUNNING;
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
