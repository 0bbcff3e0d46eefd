/*
 * elf_file.h - a 64-bit ELF file, mapped: its segments, sections and build id.
 *
 * Files are hostile input: what an accessor returns lies within the file, or is NULL. Owner: the
 * caller. Any thread may read.
 */
#ifndef UT_SYMBOL_ELF_FILE_H
#define UT_SYMBOL_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_elf {
	const char *base;
	size_t size;
	bool mapped; /* else the memory is somebody else's */
};

#define UT_BUILD_ID_MOST 20u

struct ut_build_id {
	uint8_t bytes[UT_BUILD_ID_MOST];
	uint32_t len; /* 0 = none */
};

/* False if it cannot be read or is no such file. */
bool ut_elf_open(struct ut_elf *e, const char *path);
bool ut_elf_open_fd(struct ut_elf *e, int fd, const char *path); /* path only for messages */
/* One that is in memory already, 8-aligned, and stays there. */
bool ut_elf_open_memory(struct ut_elf *e, const void *base, size_t size);
void ut_elf_close(struct ut_elf *e); /* twice is fine */

/* The bytes [offset, offset + len) of the file; NULL if they are not there, or not 8-aligned. */
const void *ut_elf_part(const struct ut_elf *e, uint64_t offset, uint64_t len);

static inline const Elf64_Ehdr *ut_elf_header(const struct ut_elf *e)
{
	return (const Elf64_Ehdr *)e->base;
}

const Elf64_Phdr *ut_elf_segments(const struct ut_elf *e, size_t *count);
const Elf64_Shdr *ut_elf_sections(const struct ut_elf *e, size_t *count);

/* The section of that name; NULL if there is none, or it has no bytes in the file. */
const Elf64_Shdr *ut_elf_section(const struct ut_elf *e, const char *name);

/* Where the loader puts the byte at this offset, relative to the file's addresses; and back. */
bool ut_elf_address(const struct ut_elf *e, uint64_t offset, uint64_t *address);
bool ut_elf_offset(const struct ut_elf *e, uint64_t address, uint64_t *offset);

/* Calls fn for every symbol that is defined in the file and has a name, of both tables. */
void ut_elf_symbols(const struct ut_elf *e,
		    void (*fn)(void *ctx, const char *name, const Elf64_Sym *s), void *ctx);

struct ut_build_id ut_elf_build_id(const struct ut_elf *e);

/* In hexadecimal digits. */
const char *ut_build_id_text(const struct ut_build_id *id, char text[2 * UT_BUILD_ID_MOST + 1]);

/* How large the kernel's own library is, which every process has; 0 = there is none. */
size_t ut_elf_vdso_size(void);

/* The same from the bytes of a segment of notes. */
bool ut_elf_note_id(const char *notes, size_t size, struct ut_build_id *id);

#endif
