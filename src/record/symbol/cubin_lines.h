/*
 * cubin_lines.h - lines of source behind the instructions of a cubin, NVIDIA's ELF file of code for
 * its devices, if it was compiled with -lineinfo.
 *
 * Its .debug_line is DWARF's, a sequence for each function, whose beginning a relocation names.
 * Files are hostile input: all is checked against the bytes present, and what is not understood is
 * left out. Owner: the caller. Any thread may look up.
 */
#ifndef UT_SYMBOL_CUBIN_LINES_H
#define UT_SYMBOL_CUBIN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "symbol/elf_file.h"

/* From this offset of the function on, up to the next row's. */
struct ut_cubin_row {
	const char *function;
	uint64_t offset;
	const char *file; /* NULL = the function has ended */
	uint32_t line;
	uint32_t order; /* of two at one offset, the later counts */
};

struct ut_cubin_lines {
	struct ut_arena arena;
	struct ut_elf elf;
	struct ut_cubin_row *rows; /* by function and offset */
	size_t count, cap;
};

/* False: no such file. One without lines is fine, and empty. */
bool ut_cubin_lines_open(struct ut_cubin_lines *l, const char *path);
/* The same for bytes in memory, 8-aligned, which stay. */
bool ut_cubin_lines_open_memory(struct ut_cubin_lines *l, const void *bytes, size_t size);
void ut_cubin_lines_close(struct ut_cubin_lines *l); /* twice is fine */

/* The line of the instruction at offset of a function, by the name that the linker has; *file stays
 * until close. */
bool ut_cubin_line(const struct ut_cubin_lines *l, const char *function, uint64_t offset,
		   const char **file, uint32_t *line);

#endif
