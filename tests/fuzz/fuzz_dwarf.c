/* fuzz_dwarf.c - libFuzzer target: any bytes as an ELF file whose debug info is looked up. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle_rust.h"
#include "symbol/dwarf.h"
#include "symbol/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is found can be read to its end. */
static void look(struct ut_dwarf *d, uint64_t address)
{
	struct ut_dwarf_frame f[8];
	size_t count = ut_dwarf_find(d, address, f, 8);

	if (count > 8)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (f[i].function) {
			if (strlen(f[i].function) == SIZE_MAX)
				abort();
			free(ut_demangle_rust(f[i].function));
		}
		if (f[i].file && strlen(f[i].file) == SIZE_MAX)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1); /* aligned, and its end is watched */
	struct ut_dwarf *d;
	struct ut_elf e;

	memcpy(copy, data, size);
	if (ut_elf_open_memory(&e, copy, size)) {
		d = ut_dwarf_open(&e, NULL, NULL);
		for (uint64_t at = 1; d && at < UINT64_C(1) << 40; at = at * 9 / 8 + 1)
			look(d, at);
		for (uint64_t at = 0x1000; d && at < 0x1100; at++)
			look(d, at);
		ut_dwarf_close(d);
	}
	free(copy);
	return 0;
}
