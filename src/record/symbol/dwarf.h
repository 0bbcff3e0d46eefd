/*
 * dwarf.h - what a file's debug info (DWARF 2 to 5) tells of an address: the line of source that
 * its code was made from, and the functions that were inlined there.
 *
 * What a unit holds is read when the first address in it is asked for: its line program, and the
 * ranges of its functions. Split debug info (.dwo, .dwp) and what dwz has put into a file of its
 * own are looked for where the file says. Files are hostile input: what makes no sense is left out.
 *
 * Owner: the caller. One thread at a time. Texts live until close.
 */
#ifndef UT_SYMBOL_DWARF_H
#define UT_SYMBOL_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_dwarf;
struct ut_elf;

/* A function at an address. */
struct ut_dwarf_frame {
	const char *function; /* as the linker would call it, else its plain name; NULL = unknown */
	const char *file;     /* of the line; NULL = unknown */
	uint32_t line;        /* 0 = unknown */
	bool inlined;         /* into the next one */
};

/*
 * The debug info of a file that is open and stays open; path is where it lies, to find others from
 * there, and may be NULL. program: the path of the program itself, where the file only describes
 * it. NULL if it has none.
 */
struct ut_dwarf *ut_dwarf_open(const struct ut_elf *elf, const char *path, const char *program);
void ut_dwarf_close(struct ut_dwarf *d); /* NULL is fine */

/*
 * The functions at an address of the file, the innermost first: each is inlined into the next, the
 * last one is a function of its own. How many there are, up to most; 0 = nothing is known.
 */
size_t ut_dwarf_find(struct ut_dwarf *d, uint64_t address, struct ut_dwarf_frame *frames,
		     size_t most);

#endif
