/*
 * sim_module.c - modules and kernels. A module is SPIR-V, of which only the names of kernels are
 * read, or a text: "simulated", then a line for each kernel, "kernel NAME ns=N simd=N args=N slm=N
 * private=N spill=N regs=N", all but the name optional.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_api.h"

#define SPIRV_MAGIC    0x07230203u
#define OP_ENTRY_POINT 15u
#define OP_FUNCTION    54u
#define OP_PARAMETER   55u
#define MOST_KERNELS   4096u
#define CODE_BYTES     0x1000u /* of each kernel */
#define FIRST_ADDRESS  UINT64_C(0x800000000000)

static uint64_t next_address = FIRST_ADDRESS;

/* ---- what is in a module ------------------------------------------------------------------- */

static struct sim_kernel_info *add_kernel(struct sim_module *m, const char *name, size_t len)
{
	struct sim_kernel_info *k;

	if (m->kernel_count == MOST_KERNELS)
		sim_die("too many kernels in a module");
	m->kernels = realloc(m->kernels, (m->kernel_count + 1) * sizeof(*k));
	k = &m->kernels[m->kernel_count++];
	*k = (struct sim_kernel_info){ .simd = 32, .registers = 128 };
	snprintf(k->name, sizeof(k->name), "%.*s", (int)len, name);
	k->ns = sim_duration(k->name);
	k->base = __atomic_fetch_add(&next_address, CODE_BYTES, __ATOMIC_RELAXED);
	return k;
}

static void read_line(struct sim_module *m, char *line)
{
	char *word = strsep(&line, " ");
	struct sim_kernel_info *k;

	if (strcmp(word, "kernel") != 0 || !line)
		return;
	word = strsep(&line, " ");
	k = add_kernel(m, word, strlen(word));
	while ((word = strsep(&line, " "))) {
		char *value = strchr(word, '=');
		uint64_t n = value ? strtoull(value + 1, NULL, 10) : 0;

		if (!strncmp(word, "ns=", 3))
			k->ns = n;
		else if (!strncmp(word, "simd=", 5))
			k->simd = (uint32_t)n;
		else if (!strncmp(word, "args=", 5))
			k->arguments = (uint32_t)n;
		else if (!strncmp(word, "slm=", 4))
			k->slm = (uint32_t)n;
		else if (!strncmp(word, "private=", 8))
			k->private_bytes = (uint32_t)n;
		else if (!strncmp(word, "spill=", 6))
			k->spill = (uint32_t)n;
		else if (!strncmp(word, "regs=", 5))
			k->registers = (uint32_t)n;
	}
}

static bool read_text(struct sim_module *m, const uint8_t *input, size_t size)
{
	char *text = strndup((const char *)input, size), *rest = text, *line = strsep(&rest, "\n");
	bool good = line && !strcmp(line, "simulated");

	while (good && (line = strsep(&rest, "\n")))
		read_line(m, line);
	free(text);
	return good;
}

/* How many parameters the function with this number has. */
static uint32_t parameters(const uint32_t *words, size_t count, uint32_t function)
{
	uint32_t n = 0;
	bool inside = false;

	for (size_t i = 5; i < count && words[i] >> 16; i += words[i] >> 16) {
		uint32_t op = words[i] & 0xffff;

		if (op == OP_FUNCTION && i + 2 < count)
			inside = words[i + 2] == function;
		n += op == OP_PARAMETER && inside;
	}
	return n;
}

static bool read_spirv(struct sim_module *m, const uint8_t *input, size_t size)
{
	size_t count = size / 4;
	uint32_t *words = malloc(size + 4);

	memcpy(words, input, count * 4);
	if (count < 5 || words[0] != SPIRV_MAGIC)
		return free(words), false;
	for (size_t i = 5; i < count && words[i] >> 16; i += words[i] >> 16) {
		const char *name = (const char *)&words[i + 3];
		size_t room = (words[i] >> 16) > 3 ? ((words[i] >> 16) - 3) * 4 : 0;

		if ((words[i] & 0xffff) == OP_ENTRY_POINT && i + (words[i] >> 16) <= count)
			add_kernel(m, name, strnlen(name, room))->arguments =
				parameters(words, count, words[i + 2]);
	}
	free(words);
	return true;
}

static bool read_module(struct sim_module *m, const uint8_t *input, size_t size)
{
	return input && (read_spirv(m, input, size) || read_text(m, input, size));
}

/* ---- modules ------------------------------------------------------------------------------- */

/* Several inputs in one: ze_module_program_exp_desc_t. */
static bool read_inputs(struct sim_module *m, const ze_module_desc_t *desc)
{
	const ze_module_program_exp_desc_t *p = desc->pNext;
	bool good = true;

	if (!p || p->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
		return read_module(m, desc->pInputModule, desc->inputSize);
	for (uint32_t i = 0; i < p->count && good; i++)
		good = read_module(m, p->pInputModules[i], p->inputSizes[i]);
	return good;
}

ze_result_t sim_zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
			       const ze_module_desc_t *desc, ze_module_handle_t *to,
			       ze_module_build_log_handle_t *log)
{
	struct sim_module *m;
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);

	SIM_MAY_FAIL();
	if (log)
		*log = sim_make(sizeof(struct sim_object), SIM_BUILD_LOG, NULL);
	m = sim_make(sizeof(*m), SIM_MODULE, c);
	m->device = SIM_OBJECT(device, SIM_DEVICE);
	m->native = desc->format == ZE_MODULE_FORMAT_NATIVE;
	if (!read_inputs(m, desc)) {
		sim_unmake(&m->object);
		return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	}
	m->size = m->kernel_count * CODE_BYTES;
	m->binary = calloc(1, m->size + 1);
	*to = (ze_module_handle_t)m;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleDestroy(ze_module_handle_t module)
{
	struct sim_module *m = SIM_OBJECT(module, SIM_MODULE);

	if (m->live && sim_config.strict)
		sim_die("a module is destroyed that has kernels");
	free(m->kernels);
	free(m->binary);
	sim_unmake(&m->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleDynamicLink(uint32_t count, ze_module_handle_t *modules,
				    ze_module_build_log_handle_t *log)
{
	for (uint32_t i = 0; i < count; i++)
		SIM_OBJECT(modules[i], SIM_MODULE);
	if (log)
		*log = sim_make(sizeof(struct sim_object), SIM_BUILD_LOG, NULL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleGetNativeBinary(ze_module_handle_t module, size_t *size, uint8_t *to)
{
	const struct sim_module *m = SIM_OBJECT(module, SIM_MODULE);

	if (to)
		memcpy(to, m->binary, *size < m->size ? *size : m->size);
	*size = m->size;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleGetGlobalPointer(ze_module_handle_t module, const char *name, size_t *size,
					 void **ptr)
{
	(void)name;
	(void)size;
	(void)ptr;
	SIM_OBJECT(module, SIM_MODULE);
	return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
}

ze_result_t sim_zeModuleGetKernelNames(ze_module_handle_t module, uint32_t *count,
				       const char **names)
{
	const struct sim_module *m = SIM_OBJECT(module, SIM_MODULE);
	uint32_t n = *count && *count < m->kernel_count ? *count : m->kernel_count;

	for (uint32_t i = 0; names && i < n; i++)
		names[i] = m->kernels[i].name;
	*count = names ? n : m->kernel_count;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleGetProperties(ze_module_handle_t module, ze_module_properties_t *p)
{
	SIM_OBJECT(module, SIM_MODULE);
	p->flags = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleGetFunctionPointer(ze_module_handle_t module, const char *name, void **ptr)
{
	(void)name;
	(void)ptr;
	SIM_OBJECT(module, SIM_MODULE);
	return ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
}

ze_result_t sim_zeModuleBuildLogDestroy(ze_module_build_log_handle_t log)
{
	sim_unmake(SIM_OBJECT(log, SIM_BUILD_LOG));
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeModuleBuildLogGetString(ze_module_build_log_handle_t log, size_t *size, char *to)
{
	SIM_OBJECT(log, SIM_BUILD_LOG);
	if (to && *size)
		to[0] = '\0';
	*size = 1;
	return ZE_RESULT_SUCCESS;
}

/* ---- kernels ------------------------------------------------------------------------------- */

ze_result_t sim_zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *desc,
			       ze_kernel_handle_t *to)
{
	struct sim_module *m = SIM_OBJECT(module, SIM_MODULE);
	struct sim_kernel *k;
	uint32_t i = 0;

	SIM_MAY_FAIL();
	while (i < m->kernel_count && strcmp(m->kernels[i].name, desc->pKernelName) != 0)
		i++;
	if (i == m->kernel_count)
		return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
	k = sim_make(sizeof(*k), SIM_KERNEL, m->object.context);
	k->module = m;
	k->info = &m->kernels[i];
	k->group[0] = k->group[1] = k->group[2] = 1;
	__atomic_add_fetch(&m->live, 1, __ATOMIC_RELAXED);
	*to = (ze_kernel_handle_t)k;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelDestroy(ze_kernel_handle_t kernel)
{
	struct sim_kernel *k = SIM_OBJECT(kernel, SIM_KERNEL);

	__atomic_sub_fetch(&k->module->live, 1, __ATOMIC_RELAXED);
	sim_unmake(&k->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelSetCacheConfig(ze_kernel_handle_t kernel, uint32_t flags)
{
	(void)flags;
	SIM_OBJECT(kernel, SIM_KERNEL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
	struct sim_kernel *k = SIM_OBJECT(kernel, SIM_KERNEL);

	SIM_MAY_FAIL();
	k->group[0] = x;
	k->group[1] = y;
	k->group[2] = z;
	return ZE_RESULT_SUCCESS;
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeKernelSuggestGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
					 uint32_t z, uint32_t *to_x, uint32_t *to_y, uint32_t *to_z)
{
	SIM_OBJECT(kernel, SIM_KERNEL);
	*to_x = 1;
	while (*to_x < 256 && x % (*to_x * 2) == 0)
		*to_x *= 2;
	*to_y = *to_z = 1;
	(void)y;
	(void)z;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t kernel, uint32_t *count)
{
	SIM_OBJECT(kernel, SIM_KERNEL);
	*count = 1024;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelSetArgumentValue(ze_kernel_handle_t kernel, uint32_t index, size_t size,
					 const void *value)
{
	(void)index;
	(void)size;
	(void)value;
	SIM_OBJECT(kernel, SIM_KERNEL);
	SIM_MAY_FAIL();
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelSetIndirectAccess(ze_kernel_handle_t kernel, uint32_t flags)
{
	return sim_zeKernelSetCacheConfig(kernel, flags);
}

ze_result_t sim_zeKernelGetIndirectAccess(ze_kernel_handle_t kernel, uint32_t *flags)
{
	SIM_OBJECT(kernel, SIM_KERNEL);
	*flags = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelGetSourceAttributes(ze_kernel_handle_t kernel, uint32_t *size, char **text)
{
	SIM_OBJECT(kernel, SIM_KERNEL);
	if (text && *text && *size)
		(*text)[0] = '\0';
	*size = 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelGetProperties(ze_kernel_handle_t kernel, ze_kernel_properties_t *p)
{
	const struct sim_kernel *k = SIM_OBJECT(kernel, SIM_KERNEL);

	SIM_MAY_FAIL();
	p->numKernelArgs = k->info->arguments;
	p->requiredGroupSizeX = p->requiredGroupSizeY = p->requiredGroupSizeZ = 0;
	p->requiredNumSubGroups = p->requiredSubgroupSize = 0;
	p->maxSubgroupSize = k->info->simd;
	p->maxNumSubgroups = 32;
	p->localMemSize = k->info->slm;
	p->privateMemSize = k->info->private_bytes;
	p->spillMemSize = k->info->spill;
	memset(&p->uuid, 0, sizeof(p->uuid));
	for (struct sim_base *b = p->pNext; b; b = b->next) {
		if (b->stype == SIM_REGISTER_FILE)
			((struct sim_register_file *)(void *)b)->size = k->info->registers;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelGetName(ze_kernel_handle_t kernel, size_t *size, char *to)
{
	const struct sim_kernel *k = SIM_OBJECT(kernel, SIM_KERNEL);

	if (to && *size)
		snprintf(to, *size, "%s", k->info->name);
	*size = strlen(k->info->name) + 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeKernelSetGlobalOffsetExp(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
					   uint32_t z)
{
	(void)x;
	(void)y;
	(void)z;
	SIM_OBJECT(kernel, SIM_KERNEL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zexKernelGetBaseAddress(ze_kernel_handle_t kernel, uint64_t *address)
{
	const struct sim_kernel *k = SIM_OBJECT(kernel, SIM_KERNEL);

	*address = k->info->base;
	return ZE_RESULT_SUCCESS;
}
