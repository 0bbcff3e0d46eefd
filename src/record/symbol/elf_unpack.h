/*
 * elf_unpack.h - the bytes of a section of an ELF file, unpacked where they are compressed (zlib,
 * zstd; gcc -gz).
 */
#ifndef UT_SYMBOL_ELF_UNPACK_H
#define UT_SYMBOL_ELF_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

struct ut_elf;

struct ut_elf_bytes {
	const uint8_t *data; /* NULL = there is none */
	uint64_t size;
	void *unpacked; /* malloc'ed; NULL = the data are in the file */
};

/* False, and nothing to release: no such section, or it cannot be unpacked. */
bool ut_elf_load(const struct ut_elf *e, const char *name, struct ut_elf_bytes *to);
void ut_elf_unload(struct ut_elf_bytes *bytes); /* twice is fine */

#endif
