/*
 * ze_use.h - for programs that use Level Zero in tests: what all of them begin and end with, and
 * short words for what they do. A call that fails ends the program.
 */
/* limits: short words, once for all programs */
#ifndef ZE_USE_H
#define ZE_USE_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		ze_result_t result_ = (call);                                                      \
		if (result_)                                                                       \
			use_fail(#call, result_);                                                  \
	} while (0)

static inline _Noreturn void use_fail(const char *call, ze_result_t result)
{
	printf("%s: 0x%x\n", call, (unsigned int)result);
	exit(1);
}

/* Kernels that the simulated driver knows; others would need a compiler. */
static const char use_source[] = "simulated\n"
				 "kernel gemm ns=200000 simd=32 args=4 slm=1024 spill=64 regs=256\n"
				 "kernel scale ns=20000 simd=16 args=2 private=128\n"
				 "kernel tiny ns=1000\n"
				 "kernel _Z5saxpyPfS_f ns=30000 args=3\n"
				 "kernel slow ns=60000000000\n";

#define USE_DEVICES 8u
#define USE_BYTES   65536u

static struct {
	ze_driver_handle_t driver;
	ze_device_handle_t devices[USE_DEVICES], device;
	uint32_t device_count;
	ze_context_handle_t context;
	ze_module_handle_t module;
	ze_kernel_handle_t gemm, scale, tiny, saxpy;
	uint8_t *host, *on_device, *shared;
	uint64_t submitted; /* commands that a device was given, as far as a recording shows them */
} use;

static const ze_group_count_t use_groups = { 16, 16, 1 };

static inline ze_kernel_handle_t use_kernel(const char *name, uint32_t x, uint32_t y)
{
	ze_kernel_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name };
	ze_kernel_handle_t kernel;

	CHECK(zeKernelCreate(use.module, &desc, &kernel));
	CHECK(zeKernelSetGroupSize(kernel, x, y, 1));
	return kernel;
}

static inline void use_memory(void)
{
	ze_device_mem_alloc_desc_t device = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_host_mem_alloc_desc_t host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };

	CHECK(zeMemAllocHost(use.context, &host, USE_BYTES, 64, (void **)&use.host));
	CHECK(zeMemAllocDevice(use.context, &device, USE_BYTES, 64, use.device,
			       (void **)&use.on_device));
	CHECK(zeMemAllocShared(use.context, &device, &host, USE_BYTES, 64, use.device,
			       (void **)&use.shared));
	for (uint32_t i = 0; i < USE_BYTES; i++)
		use.host[i] = (uint8_t)(i * 7);
}

static inline void use_begin(void)
{
	ze_context_desc_t context = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				    .format = ZE_MODULE_FORMAT_IL_SPIRV,
				    .inputSize = sizeof(use_source),
				    .pInputModule = (const uint8_t *)use_source };
	uint32_t count = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(zeInit(0));
	CHECK(zeDriverGet(&count, &use.driver));
	use.device_count = USE_DEVICES;
	CHECK(zeDeviceGet(use.driver, &use.device_count, use.devices));
	use.device = use.devices[0];
	CHECK(zeContextCreate(use.driver, &context, &use.context));
	CHECK(zeModuleCreate(use.context, use.device, &module, &use.module, NULL));
	use.gemm = use_kernel("gemm", 16, 16);
	use.scale = use_kernel("scale", 64, 1);
	use.tiny = use_kernel("tiny", 1, 1);
	use.saxpy = use_kernel("_Z5saxpyPfS_f", 256, 1);
	use_memory();
}

static inline void use_end(void)
{
	CHECK(zeMemFree(use.context, use.host));
	CHECK(zeMemFree(use.context, use.on_device));
	CHECK(zeMemFree(use.context, use.shared));
	CHECK(zeKernelDestroy(use.gemm));
	CHECK(zeKernelDestroy(use.scale));
	CHECK(zeKernelDestroy(use.tiny));
	CHECK(zeKernelDestroy(use.saxpy));
	CHECK(zeModuleDestroy(use.module));
	CHECK(zeContextDestroy(use.context));
	printf("submitted %llu\n", (unsigned long long)use.submitted);
}

/* ---- objects ------------------------------------------------------------------------------- */

static inline ze_command_queue_handle_t use_queue(uint32_t ordinal, uint32_t index)
{
	ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .ordinal = ordinal,
					 .index = index,
					 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_queue_handle_t queue;

	CHECK(zeCommandQueueCreate(use.context, use.device, &desc, &queue));
	return queue;
}

static inline ze_command_list_handle_t use_list(uint32_t ordinal)
{
	ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
					.commandQueueGroupOrdinal = ordinal };
	ze_command_list_handle_t list;

	CHECK(zeCommandListCreate(use.context, use.device, &desc, &list));
	return list;
}

#define USE_IN_ORDER (1u << 1) /* of version 1.7 */

static inline ze_command_list_handle_t use_immediate(uint32_t ordinal, uint32_t flags,
						     ze_command_queue_mode_t mode)
{
	ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .ordinal = ordinal,
					 .flags = flags,
					 .mode = mode };
	ze_command_list_handle_t list;

	CHECK(zeCommandListCreateImmediate(use.context, use.device, &desc, &list));
	return list;
}

static inline ze_event_pool_handle_t use_pool(uint32_t count, uint32_t flags)
{
	ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				      .flags = flags,
				      .count = count };
	ze_event_pool_handle_t pool;

	CHECK(zeEventPoolCreate(use.context, &desc, 0, NULL, &pool));
	return pool;
}

static inline ze_event_handle_t use_event(ze_event_pool_handle_t pool, uint32_t index)
{
	ze_event_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
				 .index = index,
				 .signal = ZE_EVENT_SCOPE_FLAG_HOST,
				 .wait = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event;

	CHECK(zeEventCreate(pool, &desc, &event));
	return event;
}

/* ---- commands ------------------------------------------------------------------------------ */

static inline void use_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
			      ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *wait)
{
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &use_groups, signal, waits, wait));
}

static inline void use_copy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes)
{
	CHECK(zeCommandListAppendMemoryCopy(list, to, from, bytes, NULL, 0, NULL));
}

/* Executes lists and waits for the queue. */
static inline void use_execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
			       uint64_t commands)
{
	CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	use.submitted += commands;
}

static inline void use_wait(ze_command_queue_handle_t queue)
{
	CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
}

#endif
