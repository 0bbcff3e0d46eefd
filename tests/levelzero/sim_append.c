/* sim_append.c - what can be put into a list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_list.h"

ze_result_t sim_append(struct sim_list *l, const struct sim_command *from, ze_event_handle_t signal,
		       uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_command *c = malloc(sizeof(*c));

	if (l->closed)
		sim_die("a command is appended to a list that is closed");
	*c = *from;
	c->next = NULL;
	if (signal)
		c->signal = SIM_OBJECT(signal, SIM_EVENT);
	if (c->signal && c->signal->counted && !l->in_order)
		sim_die("a counted event is signaled in a list without order");
	c->waits = wait_count ? malloc(wait_count * sizeof(struct sim_event *)) : NULL;
	c->wait_count = wait_count;
	for (uint32_t i = 0; i < wait_count; i++)
		c->waits[i] = SIM_OBJECT(waits[i], SIM_EVENT);
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	l->count++;
	if (l->immediate) {
		sim_submit(&l->lane, c, NULL, sim_now());
		sim_pump();
		if (l->lane.synchronous)
			sim_wait(sim_is_drained, &l->lane, SIM_NEVER);
	} else if (l->last) {
		l->last = l->last->next = c;
	} else {
		l->first = l->last = c;
	}
	pthread_mutex_unlock(&sim_lock);
	if (l->immediate)
		sim_free_command(c);
	return ZE_RESULT_SUCCESS;
}

static struct sim_command named(enum sim_work work, const char *name)
{
	struct sim_command c = { .work = work };

	snprintf(c.name, sizeof(c.name), "%s", name);
	return c;
}

/* ---- kernels ------------------------------------------------------------------------------- */

static struct sim_command launch_of(ze_kernel_handle_t kernel, const ze_group_count_t *groups)
{
	const struct sim_kernel *k = SIM_OBJECT(kernel, SIM_KERNEL);
	struct sim_command c = named(SIM_WORK_KERNEL, k->info->name);

	c.kernel = *k->info;
	c.ns = k->info->ns;
	for (int i = 0; i < 3; i++)
		c.sizes[i] = k->group[i];
	if (groups) {
		c.groups[0] = groups->groupCountX;
		c.groups[1] = groups->groupCountY;
		c.groups[2] = groups->groupCountZ;
	}
	return c;
}

static void check_compute(const struct sim_list *l)
{
	if (l->ordinal)
		sim_die("a kernel is appended to a list for copy engines");
}

/* limits: Level Zero's */
ze_result_t sim_zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
						ze_kernel_handle_t kernel,
						const ze_group_count_t *groups,
						ze_event_handle_t signal, uint32_t wait_count,
						ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = launch_of(kernel, groups);

	SIM_MAY_FAIL();
	check_compute(l);
	return sim_append(l, &c, signal, wait_count, waits);
}

ze_result_t sim_zeCommandListAppendLaunchCooperativeKernel(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	return sim_zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

ze_result_t sim_zeCommandListAppendLaunchKernelIndirect(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	return sim_zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendLaunchMultipleKernelsIndirect(
	ze_command_list_handle_t list, uint32_t count, ze_kernel_handle_t *kernels,
	const uint32_t *how_many, const ze_group_count_t *groups, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command all = { .work = SIM_WORK_KERNEL };

	check_compute(l);
	for (uint32_t i = 0; i < count && i < *how_many; i++) {
		struct sim_command c = launch_of(kernels[i], &groups[i]);
		uint64_t before = all.ns;

		all = c;
		all.ns += before;
	}
	return sim_append(l, &all, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendLaunchKernelWithParameters(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	return sim_zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendLaunchKernelWithArguments(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t groups,
	struct sim_size sizes, void **arguments, const void *next, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	(void)arguments;
	sim_zeKernelSetGroupSize(kernel, sizes.x, sizes.y, sizes.z);
	return sim_zeCommandListAppendLaunchKernel(list, kernel, &groups, signal, wait_count,
						   waits);
}

/* ---- copies and fills ---------------------------------------------------------------------- */

static uint64_t time_for(size_t bytes)
{
	return sim_config.copy_ns + (uint64_t)bytes * 1000 / sim_config.bytes_us;
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to,
					      const void *from, size_t size,
					      ze_event_handle_t signal, uint32_t wait_count,
					      ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_COPY, "zeCommandListAppendMemoryCopy");

	SIM_MAY_FAIL();
	c.to = to;
	c.from = from;
	c.bytes = size;
	c.ns = time_for(size);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryCopyWithParameters(
	ze_command_list_handle_t list, void *to, const void *from, size_t size, const void *next,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	return sim_zeCommandListAppendMemoryCopy(list, to, from, size, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryCopyFromContext(
	ze_command_list_handle_t list, void *to, ze_context_handle_t context, const void *from,
	size_t size, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	SIM_OBJECT(context, SIM_CONTEXT);
	return sim_zeCommandListAppendMemoryCopy(list, to, from, size, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to,
					      const void *pattern, size_t pattern_size, size_t size,
					      ze_event_handle_t signal, uint32_t wait_count,
					      ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_FILL, "zeCommandListAppendMemoryFill");

	SIM_MAY_FAIL();
	if (!pattern_size || pattern_size > sizeof(c.pattern))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	c.to = to;
	c.bytes = size;
	memcpy(c.pattern, pattern, pattern_size);
	c.pattern_bytes = pattern_size;
	c.ns = time_for(size);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryFillWithParameters(
	ze_command_list_handle_t list, void *to, const void *pattern, size_t pattern_size,
	size_t size, const void *next, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	(void)next;
	return sim_zeCommandListAppendMemoryFill(list, to, pattern, pattern_size, size, signal,
						 wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryCopyRegion(
	ze_command_list_handle_t list, void *to, const ze_copy_region_t *to_region,
	uint32_t to_pitch, uint32_t to_slice, const void *from, const ze_copy_region_t *from_region,
	uint32_t from_pitch, uint32_t from_slice, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_COPY_BOX, "zeCommandListAppendMemoryCopyRegion");
	const ze_copy_region_t *t = to_region, *f = from_region;

	c.to = (uint8_t *)to + (size_t)t->originZ * to_slice + (size_t)t->originY * to_pitch +
	       t->originX;
	c.from = (const uint8_t *)from + (size_t)f->originZ * from_slice +
		 (size_t)f->originY * from_pitch + f->originX;
	c.box = (struct sim_box){ .width = t->width,
				  .height = t->height ? t->height : 1,
				  .depth = t->depth ? t->depth : 1,
				  .to_pitch = to_pitch,
				  .to_slice = to_slice,
				  .from_pitch = from_pitch,
				  .from_slice = from_slice };
	c.ns = time_for(c.box.width * c.box.height * c.box.depth);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* ---- images -------------------------------------------------------------------------------- */

static size_t image_bytes(const struct sim_image *i)
{
	return i->width * i->height * i->depth * i->pixel;
}

/* limits: Level Zero's */
ze_result_t sim_zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t to,
					     ze_image_handle_t from, ze_event_handle_t signal,
					     uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_image *t = SIM_OBJECT(to, SIM_IMAGE), *f = SIM_OBJECT(from, SIM_IMAGE);
	struct sim_command c = named(SIM_WORK_COPY, "zeCommandListAppendImageCopy");

	c.to = t->data;
	c.from = f->data;
	c.bytes = image_bytes(t) < image_bytes(f) ? image_bytes(t) : image_bytes(f);
	c.ns = time_for(c.bytes);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* The part of an image; rows of a region without one are all of it. */
static uint8_t *part(struct sim_image *i, const ze_image_region_t *r, struct sim_box *b,
		     size_t *pitch, size_t *slice)
{
	*pitch = i->width * i->pixel;
	*slice = *pitch * i->height;
	b->width = (r ? r->width : i->width) * i->pixel;
	b->height = r && r->height ? r->height : r ? 1 : i->height;
	b->depth = r && r->depth ? r->depth : r ? 1 : i->depth;
	return i->data +
	       (r ? r->originZ * *slice + r->originY * *pitch + r->originX * i->pixel : 0);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list,
						   ze_image_handle_t to, ze_image_handle_t from,
						   const ze_image_region_t *to_region,
						   const ze_image_region_t *from_region,
						   ze_event_handle_t signal, uint32_t wait_count,
						   ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_COPY_BOX, "zeCommandListAppendImageCopyRegion");
	struct sim_box ignored;

	c.from = part(SIM_OBJECT(from, SIM_IMAGE), from_region, &ignored, &c.box.from_pitch,
		      &c.box.from_slice);
	c.to = part(SIM_OBJECT(to, SIM_IMAGE), to_region, &c.box, &c.box.to_pitch, &c.box.to_slice);
	c.ns = time_for(c.box.width * c.box.height * c.box.depth);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendImageCopyToMemoryExt(
	ze_command_list_handle_t list, void *to, ze_image_handle_t from,
	const ze_image_region_t *region, uint32_t pitch, uint32_t slice, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_COPY_BOX, "zeCommandListAppendImageCopyToMemory");

	c.to = to;
	c.from = part(SIM_OBJECT(from, SIM_IMAGE), region, &c.box, &c.box.from_pitch,
		      &c.box.from_slice);
	c.box.to_pitch = pitch ? pitch : c.box.width;
	c.box.to_slice = slice ? slice : c.box.to_pitch * c.box.height;
	c.ns = time_for(c.box.width * c.box.height * c.box.depth);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *to,
						     ze_image_handle_t from,
						     const ze_image_region_t *region,
						     ze_event_handle_t signal, uint32_t wait_count,
						     ze_event_handle_t *waits)
{
	return sim_zeCommandListAppendImageCopyToMemoryExt(list, to, from, region, 0, 0, signal,
							   wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendImageCopyFromMemoryExt(
	ze_command_list_handle_t list, ze_image_handle_t to, const void *from,
	const ze_image_region_t *region, uint32_t pitch, uint32_t slice, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_COPY_BOX, "zeCommandListAppendImageCopyFromMemory");

	c.from = from;
	c.to = part(SIM_OBJECT(to, SIM_IMAGE), region, &c.box, &c.box.to_pitch, &c.box.to_slice);
	c.box.from_pitch = pitch ? pitch : c.box.width;
	c.box.from_slice = slice ? slice : c.box.from_pitch * c.box.height;
	c.ns = time_for(c.box.width * c.box.height * c.box.depth);
	return sim_append(l, &c, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list,
						       ze_image_handle_t to, const void *from,
						       const ze_image_region_t *region,
						       ze_event_handle_t signal,
						       uint32_t wait_count,
						       ze_event_handle_t *waits)
{
	return sim_zeCommandListAppendImageCopyFromMemoryExt(list, to, from, region, 0, 0, signal,
							     wait_count, waits);
}

/* ---- what is about order and time ---------------------------------------------------------- */

ze_result_t sim_zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal,
					   uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_BARRIER, "zeCommandListAppendBarrier");

	SIM_MAY_FAIL();
	c.ns = sim_config.barrier_ns;
	return sim_append(l, &c, signal, wait_count, waits);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendMemoryRangesBarrier(
	ze_command_list_handle_t list, uint32_t count, const size_t *sizes, const void **ranges,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_BARRIER, "zeCommandListAppendMemoryRangesBarrier");

	(void)count;
	(void)sizes;
	(void)ranges;
	c.ns = sim_config.barrier_ns;
	return sim_append(l, &c, signal, wait_count, waits);
}

ze_result_t sim_zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t *to,
							ze_event_handle_t signal,
							uint32_t wait_count,
							ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_STAMP, "zeCommandListAppendWriteGlobalTimestamp");

	SIM_MAY_FAIL();
	c.to = (uint8_t *)to;
	return sim_append(l, &c, signal, wait_count, waits);
}

ze_result_t sim_zeCommandListAppendSignalEvent(ze_command_list_handle_t list,
					       ze_event_handle_t event)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_SIGNAL, "zeCommandListAppendSignalEvent");

	SIM_MAY_FAIL();
	return sim_append(l, &c, event, 0, NULL);
}

ze_result_t sim_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t count,
						ze_event_handle_t *events)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_WAIT, "zeCommandListAppendWaitOnEvents");

	SIM_MAY_FAIL();
	return sim_append(l, &c, NULL, count, events);
}

ze_result_t sim_zeCommandListAppendEventReset(ze_command_list_handle_t list,
					      ze_event_handle_t event)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_RESET, "zeCommandListAppendEventReset");

	SIM_MAY_FAIL();
	c.signal = SIM_OBJECT(event, SIM_EVENT);
	if (c.signal->counted)
		sim_die("a counted event is reset in a list");
	return sim_append(l, &c, NULL, 0, NULL);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t list,
							 uint32_t count, ze_event_handle_t *events,
							 void *to, const size_t *offsets,
							 ze_event_handle_t signal,
							 uint32_t wait_count,
							 ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c =
		named(SIM_WORK_QUERY_STAMPS, "zeCommandListAppendQueryKernelTimestamps");

	SIM_MAY_FAIL();
	if (l->ordinal)
		sim_die("timestamps are queried by a kernel, on an engine that only copies");
	c.to = to;
	c.offsets = offsets;
	c.queried = malloc(count * sizeof(struct sim_event *));
	c.queried_count = count;
	for (uint32_t i = 0; i < count; i++) {
		c.queried[i] = SIM_OBJECT(events[i], SIM_EVENT);
		if (!(c.queried[i]->flags &
		      (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | SIM_MAPPED_TIMESTAMP)))
			sim_die("timestamps of an event are queried that has none for good");
	}
	return sim_append(l, &c, signal, wait_count, waits);
}

ze_result_t sim_zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list, const void *ptr,
						  size_t size)
{
	(void)ptr;
	(void)size;
	SIM_OBJECT(list, SIM_LIST);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListAppendMemAdvise(ze_command_list_handle_t list,
					     ze_device_handle_t device, const void *ptr,
					     size_t size, uint32_t advice)
{
	(void)advice;
	SIM_OBJECT(device, SIM_DEVICE);
	return sim_zeCommandListAppendMemoryPrefetch(list, ptr, size);
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListAppendHostFunction(ze_command_list_handle_t list,
						void (*function)(void *), void *data,
						const void *next, ze_event_handle_t signal,
						uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	struct sim_command c = named(SIM_WORK_CALLBACK, "zeCommandListAppendHostFunction");

	(void)next;
	c.callback = function;
	c.data = data;
	return sim_append(l, &c, signal, wait_count, waits);
}
