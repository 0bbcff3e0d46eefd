/*
 * sim_device.c - the driver and its devices: what there is, what it can do, what time it is there.
 * ZE_AFFINITY_MASK and ZE_FLAT_DEVICE_HIERARCHY are honoured, as a driver does: COMPOSITE lists
 * devices, which have tiles; FLAT lists tiles, which are devices; COMBINED lists tiles that say so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim_api.h"

#define VENDOR     0x8086
#define DEVICE_ID  0x0bd5
#define MEMORY     (UINT64_C(16) << 30)
#define SLM        (128u << 10)
#define COMPUTE    4u
#define COPY       2u
#define MOST_SHOWN (SIM_MOST_DEVICES * SIM_MOST_TILES)

struct sim_driver sim_driver = { .object.kind = SIM_DRIVER };
struct sim_device sim_devices[SIM_MOST_DEVICES * (1 + SIM_MOST_TILES)];
unsigned int sim_device_count;

static struct sim_device *shown[MOST_SHOWN];
static uint32_t shown_count;
static bool flat, combined;

/* ---- making them --------------------------------------------------------------------------- */

static struct sim_device *add_device(unsigned int index, unsigned int tile, struct sim_device *root)
{
	struct sim_device *d = &sim_devices[sim_device_count++];

	d->object.kind = SIM_DEVICE;
	d->index = index;
	d->tile = tile;
	d->root = root;
	for (uint32_t i = 0; i < SIM_MOST_ENGINES; i++) {
		d->engines[i].device = d;
		d->engines[i].ordinal = i >= COMPUTE;
		d->engines[i].index = i < COMPUTE ? i : i - COMPUTE;
	}
	return d;
}

/* "0,1.1": is it there? */
static bool is_masked(unsigned int index, unsigned int tile)
{
	const char *p = getenv("ZE_AFFINITY_MASK");

	if (!p || !*p)
		return false;
	for (; *p; p += strcspn(p, ","), p += *p == ',') {
		char *end;
		unsigned long i = strtoul(p, &end, 10);

		if (i == index &&
		    (*end != '.' || tile == SIM_MOST_TILES || strtoul(end + 1, NULL, 10) == tile))
			return false;
	}
	return true;
}

static void show(struct sim_device *d)
{
	shown[shown_count++] = d;
}

static void make_devices(void)
{
	const char *hierarchy = getenv("ZE_FLAT_DEVICE_HIERARCHY");

	sim_configure();
	flat = hierarchy && !strcmp(hierarchy, "FLAT");
	combined = hierarchy && !strcmp(hierarchy, "COMBINED");
	for (unsigned int i = 0; i < sim_config.devices; i++) {
		struct sim_device *root = add_device(i, SIM_MOST_TILES, NULL);

		for (unsigned int t = 0; t < sim_config.tiles; t++) {
			if (!is_masked(i, t))
				root->tiles[root->tile_count++] = add_device(i, t, root);
		}
		if (is_masked(i, SIM_MOST_TILES))
			continue;
		for (unsigned int t = 0; (flat || combined) && t < root->tile_count; t++)
			show(root->tiles[t]);
		if (!(flat || combined) || !root->tile_count)
			show(root);
	}
}

static void ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_devices);
}

struct sim_engine *sim_engine_of(struct sim_device *d, uint32_t ordinal, uint32_t index)
{
	if (ordinal > 1 || index >= (ordinal ? COPY : COMPUTE))
		sim_die("there is no engine %u.%u", ordinal, index);
	return &d->engines[ordinal * COMPUTE + index];
}

/* How Level Zero answers with a list. */
static void list(uint32_t *count, void **to, struct sim_device *const *from, uint32_t have)
{
	uint32_t n = *count && *count < have ? *count : have;

	if (to) {
		for (uint32_t i = 0; i < n; i++)
			to[i] = from[i];
	}
	*count = to ? n : have;
}

/* ---- the driver ---------------------------------------------------------------------------- */

ze_result_t sim_zeInit(ze_init_flags_t flags)
{
	(void)flags;
	ready();
	SIM_MAY_FAIL();
	return shown_count ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t sim_zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
	ready();
	SIM_MAY_FAIL();
	if (drivers && *count)
		drivers[0] = (ze_driver_handle_t)&sim_driver;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers, void *desc)
{
	(void)desc;
	return sim_zeDriverGet(count, drivers);
}

ze_result_t sim_zeDriverGetApiVersion(ze_driver_handle_t driver, ze_api_version_t *version)
{
	SIM_OBJECT(driver, SIM_DRIVER);
	*version = (ze_api_version_t)ZE_MAKE_VERSION(sim_config.version / 100,
						     sim_config.version % 100);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *p)
{
	SIM_OBJECT(driver, SIM_DRIVER);
	memset(&p->uuid, 0x5a, sizeof(p->uuid));
	p->driverVersion = (1u << 24) | (3u << 16) | 30000;
	for (struct sim_base *b = p->pNext; b; b = b->next) {
		sim_log("ASKED zeDriverGetProperties %x", b->stype);
		if (b->stype == SIM_DDI_HANDLES && sim_config.ddi)
			((uint32_t *)(void *)b)[4] = 1;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDriverGetIpcProperties(ze_driver_handle_t driver, ze_driver_ipc_properties_t *p)
{
	SIM_OBJECT(driver, SIM_DRIVER);
	p->flags = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDriverGetExtensionProperties(ze_driver_handle_t driver, uint32_t *count,
					       ze_driver_extension_properties_t *p)
{
	static const struct {
		const char *name;
		uint32_t version;
	} all[] = { { "ZE_extension_pci_properties", 0x10000 },
		    { "ZE_experimental_event_query_timestamps", 0x10000 },
		    { "ZE_extension_subgroups", 0x10000 },
		    { "ZE_experimental_module_program", 0x10000 },
		    { "ZE_experimental_global_offset", 0x10000 },
		    { "ZE_extension_counter_based_event_pool", 0x10000 },
		    { "ZE_experimental_immediate_command_list_append", 0x10000 },
		    { "ZE_extension_driver_ddi_handles", 0x10000 } };
	uint32_t have = sizeof(all) / sizeof(*all);
	uint32_t n;

	SIM_OBJECT(driver, SIM_DRIVER);
	have -= !sim_config.ddi;
	n = *count && *count < have ? *count : have;
	for (uint32_t i = 0; p && i < n; i++) {
		snprintf(p[i].name, sizeof(p[i].name), "%s", all[i].name);
		p[i].version = all[i].version;
	}
	*count = p ? n : have;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDriverGetExtensionFunctionAddress(ze_driver_handle_t driver, const char *name,
						    void **address)
{
	SIM_OBJECT(driver, SIM_DRIVER);
	*address = sim_extension(name);
	sim_log("ASKED extension %s %s", name, *address ? "yes" : "no");
	return *address ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t sim_zeDriverGetLastErrorDescription(ze_driver_handle_t driver, const char **text)
{
	SIM_OBJECT(driver, SIM_DRIVER);
	*text = "";
	return ZE_RESULT_SUCCESS;
}

/* ---- devices ------------------------------------------------------------------------------- */

ze_result_t sim_zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *to)
{
	SIM_OBJECT(driver, SIM_DRIVER);
	SIM_MAY_FAIL();
	list(count, (void **)to, shown, shown_count);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetSubDevices(ze_device_handle_t device, uint32_t *count,
				      ze_device_handle_t *to)
{
	struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);

	list(count, (void **)to, d->tiles, flat ? 0 : d->tile_count);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetRootDevice(ze_device_handle_t device, ze_device_handle_t *root)
{
	struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);

	*root = flat ? NULL : (ze_device_handle_t)d->root;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *p)
{
	const struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);
	bool cycles = p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;

	SIM_MAY_FAIL();
	p->type = ZE_DEVICE_TYPE_GPU;
	p->vendorId = VENDOR;
	p->deviceId = DEVICE_ID;
	p->flags = d->root && !flat ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0;
	p->subdeviceId = d->root ? d->tile : 0;
	p->coreClockRate = 1600;
	p->maxMemAllocSize = MEMORY;
	p->maxHardwareContexts = 65536;
	p->maxCommandQueuePriority = 0;
	p->numThreadsPerEU = 8;
	p->physicalEUSimdWidth = 16;
	p->numEUsPerSubslice = 8;
	p->numSubslicesPerSlice = 16;
	p->numSlices = 4;
	p->timerResolution = cycles ? sim_config.hz : 1000000000u / sim_config.hz;
	p->timestampValidBits = sim_config.clock_bits;
	p->kernelTimestampValidBits = sim_config.bits;
	memset(&p->uuid, 0, sizeof(p->uuid));
	p->uuid.id[0] = 0x51;
	p->uuid.id[1] = (uint8_t)d->index;
	p->uuid.id[2] = (uint8_t)d->tile;
	snprintf(p->name, sizeof(p->name), "Simulated GPU %u", d->index);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDevicePciGetPropertiesExt(ze_device_handle_t device, ze_pci_ext_properties_t *p)
{
	const struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);

	p->address = (ze_pci_address_ext_t){ .domain = 0, .bus = 0x3a + d->index };
	p->maxSpeed = (ze_pci_speed_ext_t){ -1, -1, -1 };
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetComputeProperties(ze_device_handle_t device,
					     ze_device_compute_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	p->maxTotalGroupSize = p->maxGroupSizeX = p->maxGroupSizeY = p->maxGroupSizeZ = 1024;
	p->maxGroupCountX = p->maxGroupCountY = p->maxGroupCountZ = 0xffffffff;
	p->maxSharedLocalMemory = SLM;
	p->numSubGroupSizes = 2;
	p->subGroupSizes[0] = 16;
	p->subGroupSizes[1] = 32;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetModuleProperties(ze_device_handle_t device,
					    ze_device_module_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	p->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
	p->flags = ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64 |
		   ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
	p->fp16flags = p->fp32flags = p->fp64flags =
		ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
		ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
	p->maxArgumentsSize = 2048;
	p->printfBufferSize = 4u << 20;
	memset(&p->nativeKernelSupported, 0, sizeof(p->nativeKernelSupported));
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count,
						       ze_command_queue_group_properties_t *p)
{
	const uint32_t flags[2] = {
		ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
			ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
			ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS |
			ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS,
		ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
	};
	uint32_t n = *count && *count < 2 ? *count : 2;

	SIM_OBJECT(device, SIM_DEVICE);
	for (uint32_t i = 0; p && i < n; i++) {
		p[i].flags = flags[i];
		p[i].maxMemoryFillPatternSize = i ? 1 : 16;
		p[i].numQueues = i ? COPY : COMPUTE;
	}
	*count = n;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
					    ze_device_memory_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	if (p && *count) {
		p->flags = 0;
		p->maxClockRate = 3200;
		p->maxBusWidth = 64;
		p->totalSize = MEMORY;
		snprintf(p->name, sizeof(p->name), "HBM");
	}
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetMemoryAccessProperties(ze_device_handle_t device,
						  ze_device_memory_access_properties_t *p)
{
	const ze_memory_access_cap_flags_t all =
		ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;

	SIM_OBJECT(device, SIM_DEVICE);
	p->hostAllocCapabilities = p->deviceAllocCapabilities = all;
	p->sharedSingleDeviceAllocCapabilities = p->sharedCrossDeviceAllocCapabilities = all;
	p->sharedSystemAllocCapabilities = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetCacheProperties(ze_device_handle_t device, uint32_t *count,
					   ze_device_cache_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	if (p && *count) {
		p->flags = 0;
		p->cacheSize = 4u << 20;
	}
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetImageProperties(ze_device_handle_t device,
					   ze_device_image_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	p->maxImageDims1D = p->maxImageDims2D = 16384;
	p->maxImageDims3D = p->maxImageArraySlices = 2048;
	p->maxImageBufferSize = MEMORY;
	p->maxSamplers = 16;
	p->maxReadImageArgs = p->maxWriteImageArgs = 128;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetExternalMemoryProperties(ze_device_handle_t device,
						    ze_device_external_memory_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	p->memoryAllocationImportTypes = p->memoryAllocationExportTypes = 0;
	p->imageImportTypes = p->imageExportTypes = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetP2PProperties(ze_device_handle_t device, ze_device_handle_t peer,
					 ze_device_p2p_properties_t *p)
{
	SIM_OBJECT(device, SIM_DEVICE);
	SIM_OBJECT(peer, SIM_DEVICE);
	p->flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceCanAccessPeer(ze_device_handle_t device, ze_device_handle_t peer,
				      ze_bool_t *value)
{
	SIM_OBJECT(device, SIM_DEVICE);
	SIM_OBJECT(peer, SIM_DEVICE);
	*value = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeDeviceGetStatus(ze_device_handle_t device)
{
	SIM_OBJECT(device, SIM_DEVICE);
	return ZE_RESULT_SUCCESS;
}

/* The host's time is that of another clock, as a real driver's is. */
ze_result_t sim_zeDeviceGetGlobalTimestamps(ze_device_handle_t device, uint64_t *host,
					    uint64_t *ticks)
{
	const struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);
	struct timespec raw;

	SIM_MAY_FAIL();
	clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	*host = (uint64_t)raw.tv_sec * 1000000000u + (uint64_t)raw.tv_nsec;
	*ticks = sim_ticks(d, sim_now()) & sim_mask(sim_config.clock_bits);
	return ZE_RESULT_SUCCESS;
}

static bool is_quiet(const void *device)
{
	const struct sim_device *d = device;

	for (unsigned int i = 0; i < SIM_MOST_ENGINES; i++) {
		if (d->engines[i].running)
			return false;
	}
	return true;
}

ze_result_t sim_zeDeviceSynchronize(ze_device_handle_t device)
{
	const struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);

	pthread_mutex_lock(&sim_lock);
	sim_wait(is_quiet, d, SIM_NEVER);
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}
