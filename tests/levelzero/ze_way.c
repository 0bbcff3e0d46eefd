/*
 * ze_way.c - Level Zero by a way of one's own: ze_way dlopen loads the loader and asks for its
 * functions, ze_way tables asks it for tables of them, as the static loader does that is part of
 * Intel's adapters.
 */
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	ze_global_dditable_t global;
	ze_driver_dditable_t driver;
	ze_device_dditable_t device;
	ze_context_dditable_t context;
	ze_module_dditable_t module;
	ze_kernel_dditable_t kernel;
	ze_command_list_dditable_t list;
} ze;

static void *loader;

static void *symbol(const char *name)
{
	void *found = dlsym(loader, name);

	if (!found) {
		printf("%s is missing\n", name);
		exit(77);
	}
	return found;
}

#define GET(table, member, name)                                                                   \
	memcpy(&ze.table.pfn##member, &(void *){ symbol(name) }, sizeof(void *))

static void by_name(void)
{
	GET(global, Init, "zeInit");
	GET(driver, Get, "zeDriverGet");
	GET(device, Get, "zeDeviceGet");
	GET(context, Create, "zeContextCreate");
	GET(context, Destroy, "zeContextDestroy");
	GET(module, Create, "zeModuleCreate");
	GET(module, Destroy, "zeModuleDestroy");
	GET(kernel, Create, "zeKernelCreate");
	GET(kernel, Destroy, "zeKernelDestroy");
	GET(list, CreateImmediate, "zeCommandListCreateImmediate");
	GET(list, Destroy, "zeCommandListDestroy");
	GET(list, AppendLaunchKernel, "zeCommandListAppendLaunchKernel");
}

typedef ze_result_t get_table_fn(ze_api_version_t, void *);

static void table(const char *name, void *to)
{
	get_table_fn *get;

	memcpy(&get, &(void *){ symbol(name) }, sizeof(void *));
	if (get(ZE_API_VERSION_CURRENT, to)) {
		printf("%s fails\n", name);
		exit(1);
	}
}

/* The static loader has the loader make itself ready first. */
static void by_tables(void)
{
	ze_result_t (*init)(void) = NULL;
	void *found = dlsym(loader, "zeLoaderInit");

	memcpy(&init, &found, sizeof(found));
	if (init)
		(void)init();
	table("zeGetGlobalProcAddrTable", &ze.global);
	table("zeGetDriverProcAddrTable", &ze.driver);
	table("zeGetDeviceProcAddrTable", &ze.device);
	table("zeGetContextProcAddrTable", &ze.context);
	table("zeGetModuleProcAddrTable", &ze.module);
	table("zeGetKernelProcAddrTable", &ze.kernel);
	table("zeGetCommandListProcAddrTable", &ze.list);
}

#define CHECK(call)                                                                                \
	do {                                                                                       \
		ze_result_t result_ = (call);                                                      \
		if (result_) {                                                                     \
			printf("%s: 0x%x\n", #call, (unsigned int)result_);                        \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static int work(void)
{
	static const char source[] = "simulated\nkernel scale ns=20000\n";
	ze_context_desc_t context_desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module_desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
					 .inputSize = sizeof(source),
					 .pInputModule = (const uint8_t *)source };
	ze_kernel_desc_t kernel_desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					 .pKernelName = "scale" };
	ze_command_queue_desc_t list_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					      .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
	const ze_group_count_t groups = { 4, 1, 1 };
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	ze_command_list_handle_t list;
	uint32_t n = 1;

	CHECK(ze.global.pfnInit(0));
	CHECK(ze.driver.pfnGet(&n, &driver));
	n = 1;
	CHECK(ze.device.pfnGet(driver, &n, &device));
	CHECK(ze.context.pfnCreate(driver, &context_desc, &context));
	CHECK(ze.module.pfnCreate(context, device, &module_desc, &module, NULL));
	CHECK(ze.kernel.pfnCreate(module, &kernel_desc, &kernel));
	CHECK(ze.list.pfnCreateImmediate(context, device, &list_desc, &list));
	for (int i = 0; i < 3; i++)
		CHECK(ze.list.pfnAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	CHECK(ze.list.pfnDestroy(list));
	CHECK(ze.kernel.pfnDestroy(kernel));
	CHECK(ze.module.pfnDestroy(module));
	CHECK(ze.context.pfnDestroy(context));
	puts("submitted 3");
	return 0;
}

int main(int argc, char **argv)
{
	loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!loader || argc < 2)
		return 77;
	if (!strcmp(argv[1], "tables"))
		by_tables();
	else
		by_name();
	return work();
}
