/*
 * driver.c - the entry point: what a loader takes for a driver.
 *
 * The launcher has put us in the place of a driver into ZE_ENABLE_ALT_DRIVERS, and has written down
 * which one that is: SESSION/levelzero/drivers has a line for each of us, our path, a tab, and the
 * name of the real driver. Without a session, or when it is gone, it is Intel's for GPUs.
 *
 * A loader asks for tables: it gets those of the real driver, as long as the version that it asks
 * for has them, with wrappers of ours. Tables that we know nothing about are handed on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/levelzero/levelzero.h"

#define MOST_ENTRIES 128u /* of a table, of whatever version */

ut_ze_fn *ut_ze_next[UT_ZE_COUNT];
uint32_t ut_ze_instance;

typedef ze_result get_table_fn(uint32_t version, ut_ze_fn **table);

static void *library;

/* ---- which driver -------------------------------------------------------------------------- */

/* The driver of the line that begins with our path; false = there is none. */
static bool named_driver(char *name, size_t size)
{
	const char *dir = getenv("UT_SESSION");
	char line[8192], path[4096];
	size_t own;
	bool found = false;
	Dl_info self;
	FILE *f;

	if (!dir || !dladdr((const void *)ut_ze_next, &self) || !self.dli_fname ||
	    (size_t)snprintf(path, sizeof(path), "%s/levelzero/drivers", dir) >= sizeof(path))
		return false;
	f = fopen(path, "re");
	own = strlen(self.dli_fname);
	for (; f && !found && fgets(line, sizeof(line), f); ut_ze_instance++) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, self.dli_fname, own) && line[own] == '\t')
			found = (size_t)snprintf(name, size, "%s", line + own + 1) < size;
	}
	if (f)
		fclose(f);
	return found;
}

static void *open_driver(void)
{
	static const char *const usual[] = { "libze_intel_gpu.so.1",
					     "libze_intel_gpu_legacy1.so.1" };
	char name[4096];
	void *found = NULL;

	if (named_driver(name, sizeof(name)))
		return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual) && !found; i++)
		found = dlopen(usual[i], RTLD_LAZY | RTLD_LOCAL);
	return found;
}

void *ut_ze_driver_symbol(const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

static get_table_fn *getter(const char *name)
{
	union {
		void *pointer;
		get_table_fn *function;
	} u = { .pointer = ut_ze_driver_symbol(name) };

	return u.function;
}

/* ---- its functions ------------------------------------------------------------------------- */

static const struct table {
	const char *getter;
	enum ut_ze_id first;
} tables[] = {
#define ZE_TABLE(table) { "zeGet" #table "ProcAddrTable", UT_ZE_AT_##table },
#include "backend/levelzero/api.def"
};

#define TABLES (sizeof(tables) / sizeof(*tables))

static enum ut_ze_id driver_end_of(size_t table)
{
	return table + 1 < TABLES ? tables[table + 1].first : UT_ZE_COUNT;
}

/* For ourselves we want all that there is, whatever the loader knows of it. */
static void learn_functions(void)
{
	for (size_t t = 0; t < TABLES; t++) {
		get_table_fn *get = getter(tables[t].getter);
		ut_ze_fn *entries[MOST_ENTRIES] = { 0 };

		if (!get || get(ZE_VERSION(1, 17), entries))
			continue;
		for (uint32_t id = tables[t].first; id < (uint32_t)driver_end_of(t); id++)
			ut_ze_next[id] = entries[id - tables[t].first];
	}
}

static void open_once(void)
{
	int saved = errno;

	library = open_driver();
	if (library)
		learn_functions();
	errno = saved;
}

bool ut_ze_driver_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_once);
	return library;
}

/* ---- what loaders ask for ------------------------------------------------------------------ */

static ze_result driver_hand_on(const char *name, uint32_t version, ut_ze_fn **table)
{
	get_table_fn *get = ut_ze_driver_open() ? getter(name) : NULL;

	if (!library)
		return ZE_UNINITIALIZED;
	return get ? get(version, table) : ZE_UNSUPPORTED_FEATURE;
}

static ze_result driver_give(size_t number, uint32_t version, ut_ze_fn **table)
{
	const struct table *t = &tables[number];
	ze_result rc = driver_hand_on(t->getter, version, table);

	if (rc || !table || !ut_ze_join())
		return rc;
	for (uint32_t id = t->first; id < (uint32_t)driver_end_of(number); id++) {
		ut_ze_fn **entry = &table[id - t->first];
		ut_ze_fn *ours = ut_ze_since(id) <= version ? ut_ze_wrapper(id) : NULL;

		if (ours && *entry && ut_ze_next[id])
			*entry = ours;
	}
	return rc;
}

enum {
#define ZE_TABLE(table) TABLE_##table,
#include "backend/levelzero/api.def"
};

#define EXPORTED(name)                                                                             \
	UT_EXPORT ze_result name(uint32_t version, ut_ze_fn **to);                                 \
	ze_result name(uint32_t version, ut_ze_fn **to)

#define ZE_TABLE(table)                                                                            \
	EXPORTED(zeGet##table##ProcAddrTable)                                                      \
	{                                                                                          \
		return driver_give(TABLE_##table, version, to);                                    \
	}
#include "backend/levelzero/api.def"

/* Those of tools, of the management of systems, and of what came later. */
#define HANDED_ON(X)                                                                               \
	X(zeGetDriverExpProcAddrTable)                                                             \
	X(zeGetRTASBuilderProcAddrTable)                                                           \
	X(zeGetRTASBuilderExpProcAddrTable)                                                        \
	X(zeGetRTASParallelOperationProcAddrTable)                                                 \
	X(zeGetRTASParallelOperationExpProcAddrTable)                                              \
	X(zerGetGlobalProcAddrTable)                                                               \
	X(zetGetDeviceProcAddrTable)                                                               \
	X(zetGetDeviceExpProcAddrTable)                                                            \
	X(zetGetContextProcAddrTable)                                                              \
	X(zetGetCommandListProcAddrTable)                                                          \
	X(zetGetCommandListExpProcAddrTable)                                                       \
	X(zetGetModuleProcAddrTable)                                                               \
	X(zetGetKernelProcAddrTable)                                                               \
	X(zetGetMetricProcAddrTable)                                                               \
	X(zetGetMetricExpProcAddrTable)                                                            \
	X(zetGetMetricGroupProcAddrTable)                                                          \
	X(zetGetMetricGroupExpProcAddrTable)                                                       \
	X(zetGetMetricStreamerProcAddrTable)                                                       \
	X(zetGetMetricQueryPoolProcAddrTable)                                                      \
	X(zetGetMetricQueryProcAddrTable)                                                          \
	X(zetGetMetricTracerExpProcAddrTable)                                                      \
	X(zetGetMetricDecoderExpProcAddrTable)                                                     \
	X(zetGetMetricProgrammableExpProcAddrTable)                                                \
	X(zetGetTracerExpProcAddrTable)                                                            \
	X(zetGetDebugProcAddrTable)                                                                \
	X(zesGetGlobalProcAddrTable)                                                               \
	X(zesGetDriverProcAddrTable)                                                               \
	X(zesGetDriverExpProcAddrTable)                                                            \
	X(zesGetDeviceProcAddrTable)                                                               \
	X(zesGetDeviceExpProcAddrTable)                                                            \
	X(zesGetOverclockProcAddrTable)                                                            \
	X(zesGetSchedulerProcAddrTable)                                                            \
	X(zesGetPerformanceFactorProcAddrTable)                                                    \
	X(zesGetPowerProcAddrTable)                                                                \
	X(zesGetFrequencyProcAddrTable)                                                            \
	X(zesGetEngineProcAddrTable)                                                               \
	X(zesGetStandbyProcAddrTable)                                                              \
	X(zesGetFirmwareProcAddrTable)                                                             \
	X(zesGetFirmwareExpProcAddrTable)                                                          \
	X(zesGetMemoryProcAddrTable)                                                               \
	X(zesGetFabricPortProcAddrTable)                                                           \
	X(zesGetTemperatureProcAddrTable)                                                          \
	X(zesGetPsuProcAddrTable)                                                                  \
	X(zesGetFanProcAddrTable)                                                                  \
	X(zesGetLedProcAddrTable)                                                                  \
	X(zesGetRasProcAddrTable)                                                                  \
	X(zesGetRasExpProcAddrTable)                                                               \
	X(zesGetDiagnosticsProcAddrTable)                                                          \
	X(zesGetVFManagementExpProcAddrTable)

#define HAND_ON(name)                                                                              \
	EXPORTED(name)                                                                             \
	{                                                                                          \
		return driver_hand_on(#name, version, to);                                         \
	}
HANDED_ON(HAND_ON)
