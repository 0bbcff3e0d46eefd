/*
 * extension.c - functions that the program asks the driver for by name, and what the driver says of
 * itself.
 */
#include <pthread.h>
#include <string.h>

#include "backend/levelzero/ze_objects.h"

union address {
	void *pointer;
	ut_ze_fn *function;
};

/* ---- the program's own ways to tables ------------------------------------------------------ */

/*
 * A driver may claim that its handles hold tables of their own, by which loaders go around ours. We
 * do not say so: then they use the tables that we have handed out.
 */
ze_result ut_zeDriverGetProperties(ze_handle hDriver, void *pDriverProperties)
{
	ze_result rc = UT_ZE(zeDriverGetProperties)(hDriver, pDriverProperties);
	const struct ze_driver_properties *p = pDriverProperties;

	for (struct ze_base *b = rc || !p ? NULL : p->next; b; b = b->next) {
		if (b->type == ZE_DDI_HANDLES_PROPERTIES)
			((struct ze_ddi_handles_properties *)(void *)b)->flags = 0;
	}
	return rc;
}

/* ---- functions by name --------------------------------------------------------------------- */

/* Intel's first form of events that count. */
typedef ze_result counted_fn(ze_handle, ze_handle, const void *, ze_made);
static counted_fn *_Atomic next_counted;

static ze_result make_counted(ze_handle context, ze_handle device, const void *desc, ze_made event)
{
	counted_fn *next = atomic_load(&next_counted);
	ze_result rc = next(context, device, desc, event);

	if (!rc && event)
		ut_ze_event_met(context, *event, desc);
	return rc;
}

/* The one before that: without flags. */
typedef ze_result counted_first_fn(ze_handle, ze_handle, uint64_t *, uint64_t *, uint64_t,
				   const void *, ze_made);
static counted_first_fn *_Atomic next_counted_first;

/* limits: Intel's, NOLINTNEXTLINE(readability-function-size) */
static ze_result make_counted_first(ze_handle context, ze_handle device, uint64_t *address,
				    uint64_t *host_address, uint64_t value, const void *desc,
				    ze_made event)
{
	counted_first_fn *next = atomic_load(&next_counted_first);
	ze_result rc = next(context, device, address, host_address, value, desc, event);

	if (!rc && event)
		ut_ze_event_met(context, *event, NULL);
	return rc;
}

/* Functions of tables have other names while they are experiments. */
static enum ut_ze_id id_of(const char *name)
{
	static const struct {
		const char *name;
		enum ut_ze_id id;
	} others[] = {
		{ "zeCommandListBeginGraphCaptureExp", UT_ZE_zeCommandListBeginGraphCaptureExt },
		{ "zeCommandListBeginCaptureIntoGraphExp",
		  UT_ZE_zeCommandListBeginCaptureIntoGraphExt },
		{ "zeCommandListAppendGraphExp", UT_ZE_zeCommandListAppendGraphExt },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!strcmp(name, others[i].name))
			return others[i].id;
	}
	return ut_ze_called(name);
}

static void *our_address(const char *name, void *theirs)
{
	union address a = { .pointer = theirs }, ours;
	enum ut_ze_id id;

	if (!strcmp(name, "zexCounterBasedEventCreate2")) {
		atomic_store(&next_counted, (counted_fn *)a.function);
		ours.function = (ut_ze_fn *)make_counted;
		return ours.pointer;
	}
	if (!strcmp(name, "zexCounterBasedEventCreate")) {
		atomic_store(&next_counted_first, (counted_first_fn *)a.function);
		ours.function = (ut_ze_fn *)make_counted_first;
		return ours.pointer;
	}
	id = id_of(name);
	ours.function = id < UT_ZE_COUNT ? ut_ze_wrapper(id) : NULL;
	if (!ours.function)
		return theirs;
	if (!ut_ze_next[id])
		ut_ze_next[id] = a.function;
	return ours.pointer;
}

ze_result ut_zeDriverGetExtensionFunctionAddress(ze_handle hDriver, const char *name,
						 void **ppFunctionAddress)
{
	ze_result rc = UT_ZE(zeDriverGetExtensionFunctionAddress)(hDriver, name, ppFunctionAddress);

	if (!rc && name && ppFunctionAddress && *ppFunctionAddress)
		*ppFunctionAddress = our_address(name, *ppFunctionAddress);
	return rc;
}
