/*
 * symbol.h - names of functions, from the symbol tables of ELF files.
 */
#ifndef UT_SYMBOL_SYMBOL_H
#define UT_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The function that contains this offset of the file, as the linker calls it. False if the file
 * cannot be read, is no 64-bit ELF file of this byte order, or has no such symbol. The file is
 * hostile input. Slow (it reads the whole table): the caller remembers.
 */
bool ut_symbol_name(const char *path, uint64_t offset, char *name, size_t size);

#endif
