/*
 * probe.c - which devices there are, for unitrace --device-list: through the loader of this
 * machine, as a program would find them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/levelzero/levelzero.h"

#define MOST_DEVICES 64u

/* The functions of a loader that are needed. */
struct loader {
	ut_ze_fn_zeInit *init;
	ut_ze_fn_zeDriverGet *drivers;
	ut_ze_fn_zeDeviceGet *devices;
	ut_ze_fn_zeDeviceGetProperties *properties;
	ut_ze_fn_zeDevicePciGetPropertiesExt *pci;
};

static ut_ze_fn *symbol(void *library, const char *name)
{
	union {
		void *pointer;
		ut_ze_fn *function;
	} u = { .pointer = dlsym(library, name) };

	return u.function;
}

static bool open_loader(struct loader *l)
{
	void *library = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return false;
	l->init = (ut_ze_fn_zeInit *)symbol(library, "zeInit");
	l->drivers = (ut_ze_fn_zeDriverGet *)symbol(library, "zeDriverGet");
	l->devices = (ut_ze_fn_zeDeviceGet *)symbol(library, "zeDeviceGet");
	l->properties = (ut_ze_fn_zeDeviceGetProperties *)symbol(library, "zeDeviceGetProperties");
	l->pci = (ut_ze_fn_zeDevicePciGetPropertiesExt *)symbol(library,
								"zeDevicePciGetPropertiesExt");
	return l->init && l->drivers && l->devices && l->properties;
}

static void tell_device(const struct loader *l, struct ut_probe *probe, ze_handle device,
			uint32_t index)
{
	struct ze_device_properties p = { .type = ZE_DEVICE_PROPERTIES };
	struct ze_pci_properties pci = { .type = ZE_PCI_PROPERTIES };
	char label[64] = "?", name[300];

	if (l->properties(device, &p))
		return;
	if (l->pci && !l->pci(device, &pci))
		snprintf(label, sizeof(label), "%x:%x:%x.%x", pci.domain, pci.bus, pci.device,
			 pci.function);
	snprintf(name, sizeof(name), "%.*s", (int)strnlen(p.name, sizeof(p.name)), p.name);
	probe->device(probe->ctx, &(struct ut_device){ .size = sizeof(struct ut_device),
						       .index = index,
						       .name = name,
						       .label = label });
}

static int fail(struct ut_probe *probe, const char *why)
{
	snprintf(probe->why, sizeof(probe->why), "%s", why);
	return -ENODEV;
}

int ut_ze_probe(struct ut_probe *probe)
{
	ze_handle drivers[8], devices[MOST_DEVICES];
	uint32_t driver_count = 8, index = 0;
	struct loader l = { 0 };

	if (!open_loader(&l))
		return fail(probe, "libze_loader.so.1 is not installed (Debian: libze1)");
	if (l.init(0) || l.drivers(&driver_count, drivers))
		return fail(probe, "no Level Zero driver found");
	for (uint32_t i = 0; i < driver_count && i < 8; i++) {
		uint32_t count = MOST_DEVICES;

		if (l.devices(drivers[i], &count, devices))
			continue;
		for (uint32_t k = 0; k < count && k < MOST_DEVICES; k++)
			tell_device(&l, probe, devices[k], index++);
	}
	return index ? 0 : fail(probe, "no Level Zero devices found");
}
