/*
 * cupti_floor.c - the least that a recorder of kernels can cost with CUPTI: records of kernels and
 * of nothing else, thrown away. bench_cuda.py compares the backend with it.
 *
 *     cc -shared -fPIC -Isrc -o libfloor.so tests/device/cupti_floor.c
 *     CUDA_INJECTION64_PATH=$PWD/libfloor.so program
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "backend/cuda/cupti_abi.h"

#define BUFFER_BYTES (1u << 20)

static uint8_t *spare;

static void give(uint8_t **buffer, size_t *size, size_t *most_records)
{
	uint8_t *b = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);

	*buffer = b ? b : malloc(BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0;
}

static void take(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	(void)context;
	(void)stream;
	(void)size;
	(void)used;
	free(__atomic_exchange_n(&spare, buffer, __ATOMIC_ACQ_REL));
}

int InitializeInjection(void);

int InitializeInjection(void)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so",
					     "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so" };
	void *library = NULL;
	union {
		void *found;
		int (*callbacks)(cupti_buffer_request *request, cupti_buffer_done *done);
		int (*enable)(uint32_t kind);
	} callbacks, enable;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	callbacks.found = library ? dlsym(library, "cuptiActivityRegisterCallbacks") : NULL;
	enable.found = library ? dlsym(library, "cuptiActivityEnable") : NULL;
	if (!callbacks.found || !enable.found || callbacks.callbacks(give, take) ||
	    enable.enable(CUPTI_CONCURRENT_KERNEL))
		abort(); /* a floor that is none would be believed */
	return 1;
}
