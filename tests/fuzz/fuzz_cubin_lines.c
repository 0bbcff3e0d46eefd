/* fuzz_cubin_lines.c - libFuzzer target: any bytes as a cubin whose lines are looked up. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/cubin_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ut_cubin_lines l;
	void *copy = malloc(size ? size : 1); /* aligned, and its end is watched */
	const char *file;
	uint32_t line;

	memcpy(copy, data, size);
	if (ut_cubin_lines_open_memory(&l, copy, size)) {
		(void)ut_cubin_line(&l, "relu", 0x40, &file, &line);
		for (size_t i = 0; i < l.count; i++) {
			if (ut_cubin_line(&l, l.rows[i].function, l.rows[i].offset, &file, &line) &&
			    (!line || strlen(file) > size * 2 + 1))
				abort();
		}
		ut_cubin_lines_close(&l);
	}
	free(copy);
	return 0;
}
