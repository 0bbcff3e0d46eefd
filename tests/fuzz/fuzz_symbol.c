/* fuzz_symbol.c - libFuzzer target: any bytes as an ELF file whose functions are looked up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first two bytes choose where to look and how much room the name has; the rest is the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	uint64_t offset = size > 1 ? data[0] * 16u : 0;
	size_t room = size > 1 ? data[1] + 1u : 1;
	char *name = malloc(room);

	if (file < 0) {
		file = memfd_create("elf", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	size = size > 1 ? size - 2 : 0;
	if (ftruncate(file, 0) || pwrite(file, data + 2, size, 0) != (ssize_t)size)
		abort();
	for (int i = 0; i < 4; i++) {
		bool found = ut_symbol_name(path, offset, name, room);

		if (memchr(name, '\0', room) == NULL || (found && !name[0]))
			abort();
		offset = offset * 256 + 1;
	}
	free(name);
	return 0;
}
