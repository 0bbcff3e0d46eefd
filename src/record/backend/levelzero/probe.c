/*
 * probe.c - which devices there are, for unitrace --device-list, and what the first of them (or
 * that of UNITRACE_DeviceId) can measure, for --metric-list: through the loader of this machine, as
 * a program would find them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/levelzero/levelzero.h"
#include "backend/levelzero/zet_abi.h"

#define MOST_DEVICES 64u
#define MOST_GROUPS  256u
#define MOST_METRICS 1024u

/* The functions of a loader that are needed. */
struct loader {
	ut_ze_fn_zeInit *init;
	ut_ze_fn_zeDriverGet *drivers;
	ut_ze_fn_zeDeviceGet *devices;
	ut_ze_fn_zeDeviceGetProperties *properties;
	ut_ze_fn_zeDevicePciGetPropertiesExt *pci;
	struct zet_functions zet; /* only those that list */
};

static ut_ze_fn *symbol(void *library, const char *name)
{
	union {
		void *pointer;
		ut_ze_fn *function;
	} u = { .pointer = dlsym(library, name) };

	return u.function;
}

/* Members of struct zet_functions have types of their own. */
static void find_zet(void *library, const char *name, void *to)
{
	ut_ze_fn *function = symbol(library, name);

	memcpy(to, &function, sizeof(function));
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
	find_zet(library, "zetMetricGroupGet", &l->zet.group_get);
	find_zet(library, "zetMetricGroupGetProperties", &l->zet.group_properties);
	find_zet(library, "zetMetricGet", &l->zet.metric_get);
	find_zet(library, "zetMetricGetProperties", &l->zet.metric_properties);
	return l->init && l->drivers && l->devices && l->properties;
}

static void send_device(const struct loader *l, struct ut_probe *probe, ze_handle device,
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

/* ---- metrics ------------------------------------------------------------------------------- */

struct group {
	ze_handle handle;
	struct zet_group_properties p;
};

/* What the user gives to have it measured; NULL = -q as well as -k. */
static const char *only(const struct group *groups, uint32_t count, const struct group *g)
{
	uint32_t both = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!strcmp(groups[i].p.name, g->p.name))
			both |= groups[i].p.sampling;
	}
	if (!strcmp(g->p.name, "EuStallSampling"))
		return "--stall-sampling";
	return both & ZET_EVENT_BASED && both & ZET_TIME_BASED ? NULL
	       : both & ZET_EVENT_BASED                        ? "-q"
							       : "-k";
}

/* In Level Zero's words, as Intel's tool has them. */
static void levelzero_probe_type_of(const struct zet_metric_properties *p, char *to, size_t size)
{
	static const char *const types[] = { "UINT32", "UINT64", "FLOAT32", "FLOAT64", "BOOL8" };
	static const char *const kinds[] = { "DURATION",   "EVENT",     "EVENT_WITH_RANGE",
					     "THROUGHPUT", "TIMESTAMP", "FLAG",
					     "RATIO",      "RAW" };
	const char *type = p->value < 5 ? types[p->value] : "UNKNOWN";
	const char *kind = p->kind < 8 ? kinds[p->kind] : p->kind == ZET_IP ? "IP" : "UNKNOWN";

	snprintf(to, size, "%s, %s", type, kind);
}

static const char *text_or_null(char *text)
{
	text[ZET_TEXT - 1] = '\0';
	return text[0] ? text : NULL;
}

static void send_group(const struct loader *l, struct ut_probe *probe, struct group *g,
		       const char *option)
{
	static ze_handle metrics[MOST_METRICS];
	uint32_t count = MOST_METRICS;
	char type[64];

	if (l->zet.metric_get(g->handle, &count, metrics))
		return;
	for (uint32_t i = 0, number = 0; i < count && i < MOST_METRICS; i++) {
		struct zet_metric_properties p = { .type = ZET_METRIC_PROPERTIES };

		if (l->zet.metric_properties(metrics[i], &p) || !text_or_null(p.name))
			continue;
		levelzero_probe_type_of(&p, type, sizeof(type));
		probe->metric(probe->ctx,
			      &(struct ut_driver_metric){
				      .size = sizeof(struct ut_driver_metric),
				      .number = number,
				      .group = g->p.name,
				      .group_about = text_or_null(g->p.about),
				      .only = option,
				      .name = p.name,
				      .unit = text_or_null(p.unit) ? zet_unit(p.unit) : NULL,
				      .about = text_or_null(p.about),
				      .type = type });
		number++;
	}
}

/* Those that are sampled, as Intel's tool lists them; then what only queries have. */
static void send_metrics(const struct loader *l, struct ut_probe *probe, ze_handle device)
{
	static struct group groups[MOST_GROUPS];
	ze_handle handles[MOST_GROUPS];
	uint32_t all = MOST_GROUPS, count = 0;

	if (!l->zet.group_get || !l->zet.group_properties || !l->zet.metric_get ||
	    !l->zet.metric_properties || l->zet.group_get(device, &all, handles))
		return;
	for (uint32_t i = 0; i < all && i < MOST_GROUPS; i++) {
		groups[count] = (struct group){ handles[i], { .type = ZET_GROUP_PROPERTIES } };
		if (!l->zet.group_properties(handles[i], &groups[count].p) &&
		    text_or_null(groups[count].p.name))
			count++;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (groups[i].p.sampling & ZET_TIME_BASED)
			send_group(l, probe, &groups[i], only(groups, count, &groups[i]));
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *option = only(groups, count, &groups[i]);

		if (!(groups[i].p.sampling & ZET_TIME_BASED) && option)
			send_group(l, probe, &groups[i], option);
	}
}

/* Is the launcher one that asks for metrics, and does it? Drivers have none unless they are told
 * before they start. */
static bool wants_metrics(const struct ut_probe *probe)
{
	bool wants = probe->size >= offsetof(struct ut_probe, metric) + sizeof(probe->metric) &&
		     probe->metric;

	if (wants)
		setenv("ZET_ENABLE_METRICS", "1", 1);
	return wants;
}

static uint32_t device_of_metrics(void)
{
	const char *number = getenv("UNITRACE_DeviceId"); /* as Intel's tool has it */

	return number ? (uint32_t)strtoul(number, NULL, 10) : 0;
}

/* ---- devices ------------------------------------------------------------------------------- */

static int levelzero_probe_fail(struct ut_probe *probe, const char *why)
{
	snprintf(probe->why, sizeof(probe->why), "%s", why);
	return -ENODEV;
}

int ut_ze_probe(struct ut_probe *probe)
{
	ze_handle drivers[8], devices[MOST_DEVICES];
	uint32_t driver_count = 8, index = 0;
	bool metrics = wants_metrics(probe);
	struct loader l = { 0 };

	if (!open_loader(&l))
		return levelzero_probe_fail(probe,
					    "libze_loader.so.1 is not installed (Debian: libze1)");
	if (l.init(0) || l.drivers(&driver_count, drivers))
		return levelzero_probe_fail(probe, "no Level Zero driver found");
	for (uint32_t i = 0; i < driver_count && i < 8; i++) {
		uint32_t count = MOST_DEVICES;

		if (l.devices(drivers[i], &count, devices))
			continue;
		for (uint32_t k = 0; k < count && k < MOST_DEVICES; k++) {
			if (metrics && index == device_of_metrics())
				send_metrics(&l, probe, devices[k]);
			send_device(&l, probe, devices[k], index++);
		}
	}
	return index ? 0 : levelzero_probe_fail(probe, "no Level Zero devices found");
}
