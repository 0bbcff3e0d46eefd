/*
 * device.c - the driver's devices, their tiles, the rows of their engines, and their clocks.
 *
 * Devices are numbered as zeDeviceGet() lists them; a tile has the number of its device. All are
 * looked up at the first sight of one, so that numbers do not depend on which is used first.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "backend/levelzero/ze_measure.h"

#define MOST_DEVICES 64u
#define MOST_ROWS    256u
#define LOOK_NS      UINT64_C(10000000)   /* between two looks at a clock */
#define ERROR_NS     UINT64_C(1000000000) /* between two words about how wrong it may be */

enum {
	UNKNOWN,
	KNOWN,
	UNUSABLE,
};

static struct ut_handle_table devices = { .size = sizeof(struct ut_ze_device) };
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* ---- what a device is ---------------------------------------------------------------------- */

void ut_ze_device_label(ze_handle device, char *to, size_t size)
{
	struct ze_pci_properties p = { .type = ZE_PCI_PROPERTIES };

	if (UT_ZE_HAS(zeDevicePciGetPropertiesExt) &&
	    !UT_ZE(zeDevicePciGetPropertiesExt)(device, &p))
		snprintf(to, size, "%x:%x:%x.%x", p.domain, p.bus, p.device, p.function);
	else
		snprintf(to, size, "?");
}

static void learn_groups(struct ut_ze_device *d, ze_handle device)
{
	struct ze_queue_group_properties p[UT_ZE_GROUPS] = { 0 };
	uint32_t count = UT_ZE_GROUPS;

	for (uint32_t i = 0; i < UT_ZE_GROUPS; i++)
		p[i].type = ZE_QUEUE_GROUP_PROPERTIES;
	if (UT_ZE(zeDeviceGetCommandQueueGroupProperties)(device, &count, p))
		return;
	for (uint32_t i = 0; i < count && i < UT_ZE_GROUPS; i++)
		d->groups[i] = p[i].flags;
}

/* Older drivers give whole nanoseconds a tick, whatever is asked for. */
static uint64_t ticks_a_second(const struct ze_device_properties *p)
{
	if (p->timer_resolution && p->timer_resolution < 100000)
		return UINT64_C(1000000000) / p->timer_resolution;
	return p->timer_resolution;
}

static bool levelzero_device_learn(struct ut_ze_device *d, ze_handle device)
{
	struct ze_device_properties p = { .type = ZE_DEVICE_PROPERTIES_1_2 };
	char label[64], pci[40], name[300];

	if (UT_ZE(zeDeviceGetProperties)(device, &p))
		return false;
	ut_ze_clock_init(&d->clock, ticks_a_second(&p), p.timestamp_bits, p.kernel_timestamp_bits);
	learn_groups(d, device);
	ut_ze_device_label(device, pci, sizeof(pci));
	/* With ZE_FLAT_DEVICE_HIERARCHY=COMBINED tiles are listed as devices, and say what they
	 * are. */
	if (!d->root && p.flags & ZE_DEVICE_IS_TILE)
		d->tile = p.subdevice;
	snprintf(label, sizeof(label), d->root || p.flags & ZE_DEVICE_IS_TILE ? "%s tile %u" : "%s",
		 pci, d->tile);
	snprintf(name, sizeof(name), "%.*s", (int)strnlen(p.name, sizeof(p.name)), p.name);
	d->id = ut_ze.host->device(&(struct ut_device){ .size = sizeof(struct ut_device),
							.index = d->index,
							.name = name,
							.label = label,
							.api = ut_ze.api });
	return true;
}

/* Under the mutex. */
static void levelzero_device_add(ze_handle device, uint32_t index, struct ut_ze_device *root,
				 uint32_t tile)
{
	struct ut_ze_device *d = ut_handle_item_of(&devices, device);
	uint32_t count = 0;

	if (!d || atomic_load(&d->state) != UNKNOWN)
		return;
	d->index = index;
	d->root = root;
	d->tile = tile;
	if (!root && !UT_ZE(zeDeviceGetSubDevices)(device, &count, NULL))
		d->tile_count = count;
	atomic_store(&d->state, levelzero_device_learn(d, device) ? KNOWN : UNUSABLE);
}

static void add_with_tiles(ze_handle device, uint32_t index)
{
	ze_handle tiles[MOST_DEVICES];
	uint32_t count = MOST_DEVICES;

	levelzero_device_add(device, index, NULL, 0);
	if (UT_ZE(zeDeviceGetSubDevices)(device, &count, tiles))
		return;
	for (uint32_t i = 0; i < count && i < MOST_DEVICES; i++)
		levelzero_device_add(tiles[i], index, ut_handle_find(&devices, device), i);
}

static void add_all(void)
{
	ze_handle drivers[8], all[MOST_DEVICES];
	uint32_t driver_count = 8, index = 0;

	if (UT_ZE(zeDriverGet)(&driver_count, drivers))
		return;
	for (uint32_t i = 0; i < driver_count && i < 8; i++) {
		uint32_t count = MOST_DEVICES;

		if (UT_ZE(zeDeviceGet)(drivers[i], &count, all))
			continue;
		for (uint32_t k = 0; k < count && k < MOST_DEVICES; k++)
			add_with_tiles(all[k], index++);
	}
}

struct ut_ze_device *ut_ze_device_find(ze_handle device)
{
	struct ut_ze_device *d = device ? ut_handle_find(&devices, device) : NULL;

	if (UT_LIKELY(d && atomic_load_explicit(&d->state, memory_order_acquire) == KNOWN))
		return d;
	if (!device)
		return NULL;
	pthread_mutex_lock(&making);
	if (!atomic_load(&devices.last))
		add_all();
	/* One that nobody lists: a part of a part. */
	levelzero_device_add(device, MOST_DEVICES - 1, NULL, 0);
	pthread_mutex_unlock(&making);
	d = ut_handle_find(&devices, device);
	return d && atomic_load(&d->state) == KNOWN ? d : NULL;
}

void ut_ze_device_each(void (*each)(struct ut_ze_device *d, void *ctx), void *ctx)
{
	for (struct ut_handle_item *i = atomic_load(&devices.last); i; i = i->all) {
		struct ut_ze_device *d = (struct ut_ze_device *)i;

		if (atomic_load(&d->state) == KNOWN)
			each(d, ctx);
	}
}

/* The order of numbers is that of the first list that the program gets. */
ze_result ut_zeDeviceGet(ze_handle hDriver, uint32_t *pCount, ze_handle *phDevices)
{
	return UT_ZE(zeDeviceGet)(hDriver, pCount, phDevices);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static struct ut_ze_row rows[MOST_ROWS];
static uint32_t row_count;

static const char *levelzero_device_kind_of(const struct ut_ze_device *d, uint32_t ordinal)
{
	uint32_t flags = ordinal < UT_ZE_GROUPS ? d->groups[ordinal] : 0;

	return flags & ZE_GROUP_COMPUTE ? "Compute " : flags & ZE_GROUP_COPY ? "Copy " : "";
}

static struct ut_ze_row *levelzero_device_add_row(struct ut_ze_device *d, uint32_t ordinal,
						  uint32_t index)
{
	struct ut_ze_row *r = &rows[row_count < MOST_ROWS ? row_count++ : MOST_ROWS - 1];
	char name[64];

	snprintf(name, sizeof(name), "L0 %sEngine<%u,%u>", levelzero_device_kind_of(d, ordinal),
		 ordinal, index);
	*r = (struct ut_ze_row){ .device = d, .ordinal = ordinal, .index = index };
	r->id = ut_ze.host->queue(d->id, name, (uint64_t)ordinal << 32 | index);
	return r;
}

struct ut_ze_row *ut_ze_device_row(struct ut_ze_device *d, uint32_t ordinal, uint32_t index)
{
	struct ut_ze_row *found = NULL;

	if (!d || !d->id)
		return NULL;
	pthread_mutex_lock(&making);
	for (uint32_t i = 0; i < row_count && !found; i++) {
		if (rows[i].device == d && rows[i].ordinal == ordinal && rows[i].index == index)
			found = &rows[i];
	}
	if (!found)
		found = levelzero_device_add_row(d, ordinal, index);
	pthread_mutex_unlock(&making);
	ut_ze_stream_device(d);
	return found;
}

/* ---- clocks -------------------------------------------------------------------------------- */

void ut_ze_device_look(struct ut_ze_device *d)
{
	uint64_t before = ut_ze.host->now(), fed = ut_ze_clock_fed(&d->clock), host, ticks;

	if (fed && before - fed < LOOK_NS)
		return;
	if (UT_ZE(zeDeviceGetGlobalTimestamps)(ut_ze_handle(&d->item), &host, &ticks))
		return;
	ut_ze_clock_feed(&d->clock, ticks, before, ut_ze.host->now());
	if (before - d->error_reported > ERROR_NS || !d->error_reported) {
		d->error_reported = before;
		ut_ze.host->counter(d->id, ut_ze.key.clock_error, before,
				    (double)ut_ze_clock_error(&d->clock));
	}
}
