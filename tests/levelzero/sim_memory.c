/* sim_memory.c - contexts and memory: all of it is the host's, and remembers what it stands for. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim_api.h"

#define PAGE 4096u

struct allocation {
	struct allocation *next;
	uint8_t *at;
	size_t size;
	ze_memory_type_t type;
	struct sim_device *device;
	struct sim_context *context;
	uint64_t id;
};

static struct allocation *all;
static uint64_t last_id;

/* ---- contexts ------------------------------------------------------------------------------ */

ze_result_t sim_zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *desc,
				ze_context_handle_t *to)
{
	(void)desc;
	SIM_OBJECT(driver, SIM_DRIVER);
	SIM_MAY_FAIL();
	*to = sim_make(sizeof(struct sim_context), SIM_CONTEXT, NULL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeContextCreateEx(ze_driver_handle_t driver, const ze_context_desc_t *desc,
				  uint32_t count, ze_device_handle_t *devices,
				  ze_context_handle_t *to)
{
	(void)count;
	(void)devices;
	return sim_zeContextCreate(driver, desc, to);
}

ze_result_t sim_zeContextDestroy(ze_context_handle_t context)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);

	sim_log("LEFT %llu", (unsigned long long)c->children);
	if (c->children && sim_config.strict)
		sim_die("a context is destroyed that has %llu objects",
			(unsigned long long)c->children);
	sim_unmake(&c->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeContextGetStatus(ze_context_handle_t context)
{
	SIM_OBJECT(context, SIM_CONTEXT);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeContextSystemBarrier(ze_context_handle_t context, ze_device_handle_t device)
{
	SIM_OBJECT(context, SIM_CONTEXT);
	SIM_OBJECT(device, SIM_DEVICE);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeContextMakeMemoryResident(ze_context_handle_t context, ze_device_handle_t device,
					    void *ptr, size_t size)
{
	(void)ptr;
	(void)size;
	return sim_zeContextSystemBarrier(context, device);
}

ze_result_t sim_zeContextMakeImageResident(ze_context_handle_t context, ze_device_handle_t device,
					   ze_image_handle_t image)
{
	SIM_OBJECT(image, SIM_IMAGE);
	return sim_zeContextSystemBarrier(context, device);
}

/* ---- memory -------------------------------------------------------------------------------- */

static struct allocation *find(const void *ptr)
{
	const uint8_t *at = ptr;

	for (struct allocation *a = all; a; a = a->next) {
		if (at >= a->at && at < a->at + a->size)
			return a;
	}
	return NULL;
}

static ze_result_t allocate(struct sim_context *c, struct sim_device *d, ze_memory_type_t type,
			    size_t size, size_t alignment, void **to)
{
	struct allocation *a = calloc(1, sizeof(*a));
	void *at = NULL;

	if (!size)
		size = 1;
	alignment = alignment < 64 ? 64 : alignment;
	if (!a || posix_memalign(&at, alignment < PAGE ? PAGE : alignment, size))
		return free(a), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	pthread_mutex_lock(&sim_lock);
	*a = (struct allocation){ .next = all,
				  .at = at,
				  .size = size,
				  .type = type,
				  .device = d,
				  .context = c,
				  .id = ++last_id };
	all = a;
	c->children++;
	pthread_mutex_unlock(&sim_lock);
	*to = at;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeMemAllocShared(ze_context_handle_t context, const void *desc, const void *host,
				 size_t size, size_t alignment, ze_device_handle_t device,
				 void **to) /* limits: Level Zero's */
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);

	(void)desc;
	(void)host;
	SIM_MAY_FAIL();
	return allocate(c, device ? SIM_OBJECT(device, SIM_DEVICE) : NULL, ZE_MEMORY_TYPE_SHARED,
			size, alignment, to);
}

ze_result_t sim_zeMemAllocDevice(ze_context_handle_t context, const void *desc, size_t size,
				 size_t alignment, ze_device_handle_t device, void **to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);

	(void)desc;
	SIM_MAY_FAIL();
	return allocate(c, SIM_OBJECT(device, SIM_DEVICE), ZE_MEMORY_TYPE_DEVICE, size, alignment,
			to);
}

ze_result_t sim_zeMemAllocHost(ze_context_handle_t context, const void *desc, size_t size,
			       size_t alignment, void **to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);

	(void)desc;
	SIM_MAY_FAIL();
	return allocate(c, NULL, ZE_MEMORY_TYPE_HOST, size, alignment, to);
}

ze_result_t sim_zeMemFree(ze_context_handle_t context, void *ptr)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct allocation **p = &all, *a;

	pthread_mutex_lock(&sim_lock);
	while (*p && (*p)->at != ptr)
		p = &(*p)->next;
	a = *p;
	if (!a)
		sim_die("memory is freed that is none: %p", ptr);
	*p = a->next;
	c->children--;
	pthread_mutex_unlock(&sim_lock);
	free(a->at);
	free(a);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeMemFreeExt(ze_context_handle_t context, const void *desc, void *ptr)
{
	(void)desc;
	return sim_zeMemFree(context, ptr);
}

ze_result_t sim_zeMemGetAllocProperties(ze_context_handle_t context, const void *ptr,
					ze_memory_allocation_properties_t *p,
					ze_device_handle_t *device)
{
	struct allocation *a;

	SIM_OBJECT(context, SIM_CONTEXT);
	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	a = find(ptr);
	p->type = a ? a->type : ZE_MEMORY_TYPE_UNKNOWN;
	p->id = a ? a->id : 0;
	p->pageSize = a ? PAGE : 0;
	if (device)
		*device = a ? (ze_device_handle_t)a->device : NULL;
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeMemGetAddressRange(ze_context_handle_t context, const void *ptr, void **base,
				     size_t *size)
{
	struct allocation *a;

	SIM_OBJECT(context, SIM_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	a = find(ptr);
	if (base)
		*base = a ? a->at : NULL;
	if (size)
		*size = a ? a->size : 0;
	pthread_mutex_unlock(&sim_lock);
	return a ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNKNOWN;
}

/* ---- addresses without memory -------------------------------------------------------------- */

ze_result_t sim_zeVirtualMemReserve(ze_context_handle_t context, const void *start, size_t size,
				    void **to)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)start;
	SIM_OBJECT(context, SIM_CONTEXT);
	*to = at == MAP_FAILED ? NULL : at;
	return *to ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t sim_zeVirtualMemFree(ze_context_handle_t context, const void *ptr, size_t size)
{
	union {
		const void *given;
		void *at;
	} u = { .given = ptr };

	SIM_OBJECT(context, SIM_CONTEXT);
	munmap(u.at, size);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeVirtualMemQueryPageSize(ze_context_handle_t context, ze_device_handle_t device,
					  size_t size, size_t *page)
{
	(void)size;
	SIM_OBJECT(context, SIM_CONTEXT);
	SIM_OBJECT(device, SIM_DEVICE);
	*page = PAGE;
	return ZE_RESULT_SUCCESS;
}

/* ---- images and samplers ------------------------------------------------------------------- */

ze_result_t sim_zeImageCreate(ze_context_handle_t context, ze_device_handle_t device,
			      const ze_image_desc_t *desc, ze_image_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	size_t pixels = (size_t)desc->width * (desc->height ? desc->height : 1) *
			(desc->depth ? desc->depth : 1);
	struct sim_image *i;

	SIM_OBJECT(device, SIM_DEVICE);
	SIM_MAY_FAIL();
	i = sim_make(sizeof(*i), SIM_IMAGE, c);
	i->width = (size_t)desc->width;
	i->height = desc->height ? desc->height : 1;
	i->depth = desc->depth ? desc->depth : 1;
	i->pixel = desc->format.layout == ZE_IMAGE_FORMAT_LAYOUT_8             ? 1
		   : desc->format.layout == ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32 ? 16
									       : 4;
	i->data = calloc(pixels, i->pixel);
	*to = (ze_image_handle_t)i;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeImageDestroy(ze_image_handle_t image)
{
	struct sim_image *i = SIM_OBJECT(image, SIM_IMAGE);

	free(i->data);
	sim_unmake(&i->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeSamplerCreate(ze_context_handle_t context, ze_device_handle_t device,
				const ze_sampler_desc_t *desc, ze_sampler_handle_t *to)
{
	(void)desc;
	SIM_OBJECT(device, SIM_DEVICE);
	*to = sim_make(sizeof(struct sim_object), SIM_SAMPLER, SIM_OBJECT(context, SIM_CONTEXT));
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeSamplerDestroy(ze_sampler_handle_t sampler)
{
	sim_unmake(SIM_OBJECT(sampler, SIM_SAMPLER));
	return ZE_RESULT_SUCCESS;
}
