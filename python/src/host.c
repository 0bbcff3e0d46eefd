/*
 * host.c - finds the collector. The launcher names it in INTEL_LIBITTNOTIFY64 and the session in
 * UT_SESSION; without both nothing records, and everything here stays quiet.
 */
#include "core.h"

#include <dlfcn.h>
#include <string.h>

#include "unitrace/backend.h"

const struct ut_zones *ut_py_zones;

static void *library;

typedef const struct ut_host *join_fn(const struct ut_backend *backend);

static const struct ut_backend self = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(self),
	.name = "python",
};

void *ut_py_symbol(const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

static void py_host_join(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64"), *session = getenv("UT_SESSION");
	const struct ut_host *host = NULL;
	join_fn *function;
	void *address;

	if (!path || !path[0] || !session || !session[0])
		return;
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	address = ut_py_symbol("unitrace_join");
	if (address) {
		memcpy(&function, &address, sizeof(function));
		host = function(&self);
	}
	/* An older collector knows nothing of zones. */
	if (host && host->size > offsetof(struct ut_host, zones))
		ut_py_zones = host->zones;
}

static bool tried;

void ut_py_join_again(void)
{
	tried = ut_py_zones != NULL;
}

bool ut_py_join(void)
{
	if (!tried) {
		tried = true;
		py_host_join();
	}
	return ut_py_zones != NULL;
}
