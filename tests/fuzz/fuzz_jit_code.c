/*
 * fuzz_jit_code.c - libFuzzer target: any bytes as what compilers write about the code they make.
 * An input that starts with the magic of a jitdump is one, all others are lines of a perf map.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/cpu/jit_code.h"
#include "model/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1); /* its end is watched */
	struct ut_place_in_code code;
	struct ut_jit_code jit;
	struct ut_trace trace;

	memcpy(copy, data, size);
	ut_trace_init(&trace);
	ut_jit_code_init(&jit, &trace);
	if (size > 4 && !memcmp(copy, "DTiJ", 4))
		ut_jit_code_read_dump(&jit, copy, size);
	else
		ut_jit_code_read_map(&jit, copy, size);
	for (size_t i = 0; i < jit.count && i < 64; i++) {
		struct ut_jit_function f = jit.functions[i];

		/* one that was told of is found at its first byte, whatever else was there */
		if (!ut_jit_code_find(&jit, f.start, f.time, &code) || !code.module)
			abort();
		(void)ut_jit_code_find(&jit, f.end, UINT64_MAX, &code);
	}
	ut_jit_code_release(&jit);
	ut_trace_release(&trace);
	free(copy);
	return 0;
}
