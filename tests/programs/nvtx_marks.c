/*
 * nvtx_marks.c [FAKE-CUPTI BACKEND] - marks what it does with NVTX, as a program would that was
 * built with NVTX's headers: loads what NVTX_INJECTION64_PATH names and calls through the table
 * that the library fills. With a fake CUPTI it launches kernels inside a range.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/cuda/nvtx_abi.h"

#define SLOTS 16

static nvtx_function *core[SLOTS], *core2[SLOTS], *driver[SLOTS], *runtime[SLOTS];

static int module_table(int module, nvtx_slot **table, unsigned int *count)
{
	static nvtx_slot slots[NVTX_CORE2 + 1][SLOTS];
	nvtx_function **functions = module == NVTX_CORE     ? core
				    : module == NVTX_CORE2  ? core2
				    : module == NVTX_CUDA   ? driver
				    : module == NVTX_CUDART ? runtime
							    : NULL;

	if (!functions)
		return 0;
	for (int i = 0; i < SLOTS; i++)
		slots[module][i] = &functions[i];
	*table = slots[module];
	*count = SLOTS;
	return 1;
}

static const void *get_table(uint32_t table)
{
	static const struct nvtx_callbacks callbacks = { sizeof(callbacks), module_table };

	return table == NVTX_CALLBACKS ? &callbacks : NULL;
}

static void *function(const char *library, const char *name)
{
	void *handle = library ? dlopen(library, RTLD_NOW) : NULL;

	return handle ? dlsym(handle, name) : NULL;
}

/* What a program calls, by its number. */
#define CALL(table, id, type) ((type *)table[id])

typedef void *create_fn(const char *name);
typedef void *register_fn(void *domain, const char *text);
typedef int push_ex_fn(void *domain, const struct nvtx_attributes *a);
typedef int pop_fn(void *domain);
typedef uint64_t start_a_fn(const char *text);
typedef void end_fn(uint64_t id);
typedef void mark_w_fn(const wchar_t *text);
typedef int push_a_fn(const char *text);
typedef int pop_default_fn(void);
typedef void name_category_fn(void *domain, uint32_t number, const char *name);
typedef void name_thread_fn(uint32_t thread, const char *name);
typedef void name_stream_fn(void *stream, const char *name);

static void use_domain(void)
{
	void *domain = CALL(core2, NVTX_DOMAIN_CREATE_A, create_fn)("solver");
	void *name = CALL(core2, NVTX_DOMAIN_REGISTER_STRING_A, register_fn)(domain, "assemble");
	struct nvtx_attributes a = { .version = 3,
				     .size = sizeof(a),
				     .category = 5,
				     .payload_type = NVTX_PAYLOAD_I64,
				     .payload.i64 = -42,
				     .message_type = NVTX_MESSAGE_REGISTERED,
				     .message.registered = name };
	int first, second, popped;

	CALL(core2, NVTX_DOMAIN_NAME_CATEGORY_A, name_category_fn)(domain, 5, "numerics");
	first = CALL(core2, NVTX_DOMAIN_RANGE_PUSH_EX, push_ex_fn)(domain, &a);
	a.message_type = NVTX_MESSAGE_WIDE;
	a.message.wide = L"l\u00f6sen";
	a.category = 0;
	a.payload_type = 0;
	second = CALL(core2, NVTX_DOMAIN_RANGE_PUSH_EX, push_ex_fn)(domain, &a);
	popped = CALL(core2, NVTX_DOMAIN_RANGE_POP, pop_fn)(domain);
	printf("levels %d %d %d %d", first, second, popped,
	       CALL(core2, NVTX_DOMAIN_RANGE_POP, pop_fn)(domain));
	printf(" %d\n", CALL(core2, NVTX_DOMAIN_RANGE_POP, pop_fn)(domain));
}

static void use_default(void (*work)(int))
{
	uint64_t a = CALL(core, NVTX_RANGE_START_A, start_a_fn)("long one");
	uint64_t b = CALL(core, NVTX_RANGE_START_A, start_a_fn)("other one");

	CALL(core, NVTX_NAME_OS_THREAD_A, name_thread_fn)((uint32_t)gettid(), "the worker");
	CALL(runtime, NVTX_NAME_CUDA_STREAM_A, name_stream_fn)((void *)(uintptr_t)7, "compute");
	CALL(core, NVTX_RANGE_PUSH_A, push_a_fn)("iteration");
	if (work)
		work(4);
	CALL(core, NVTX_RANGE_POP, pop_default_fn)();
	CALL(core, NVTX_MARK_W, mark_w_fn)(L"checkpoint");
	CALL(core, NVTX_RANGE_END, end_fn)(a);
	CALL(core, NVTX_RANGE_END, end_fn)(b);
}

int main(int argc, char **argv)
{
	union {
		void *pointer;
		int (*inject)(nvtx_get_table *);
		int (*init)(void);
		void (*run)(int);
	} inject = { function(getenv("NVTX_INJECTION64_PATH"), "InitializeInjectionNvtx2") },
	  init = { argc > 2 ? function(argv[2], "InitializeInjection") : NULL },
	  run = { argc > 2 ? function(argv[1], "fake_cuda_run") : NULL };
	int taken = inject.pointer ? inject.inject(get_table) : -1;

	printf("injected %d\n", taken);
	if (!inject.pointer)
		return 77; /* without a tool there is nothing to call */
	if (taken != 1)
		return 0;
	if (init.pointer)
		init.init();
	use_domain();
	use_default(run.run);
	return 0;
}
