/*
 * symbols.h - the functions of a file, sorted, for those who ask for many: names of all samples of
 * a run.
 *
 * Owner: the caller. Names point into the files, which have to stay open. Reading is for any
 * thread.
 */
#ifndef UT_SYMBOL_SYMBOLS_H
#define UT_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct ut_elf;
struct ut_symbols;

struct ut_symbol {
	const char *name; /* as the linker calls it; NULL = the file does not tell */
	uint64_t start;   /* its address in the file's own addresses */
	uint64_t size;
};

/* Of a file, and of its separate debug info if it was stripped; debug may be NULL. */
struct ut_symbols *ut_symbols_of(const struct ut_elf *file, const struct ut_elf *debug);

/* Of the kernel that runs now, by address, if it tells them; of its library in every process. */
struct ut_symbols *ut_symbols_open_kernel(void);
struct ut_symbols *ut_symbols_open_vdso(void);

/* Where the kernel begins, of its symbols; 0 = it does not tell. */
uint64_t ut_symbols_text(const struct ut_symbols *s);

void ut_symbols_close(struct ut_symbols *s); /* NULL is fine */

/* The function that contains this offset of the file, or address of the kernel. */
bool ut_symbols_find(const struct ut_symbols *s, uint64_t offset, struct ut_symbol *found);

#endif
