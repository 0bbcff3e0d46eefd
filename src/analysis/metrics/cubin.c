#include "metrics/cubin.h"

#include <elf.h>

#define MACHINE_CUDA 190 /* EM_CUDA */

/* Copied: nothing in a hostile file is aligned for sure. */
static bool cubin_take(struct ut_str bytes, uint64_t offset, void *to, size_t len)
{
	if (offset > bytes.len || len > bytes.len - offset)
		return false;
	memcpy(to, bytes.ptr + offset, len);
	return true;
}

static bool header(struct ut_str bytes, Elf64_Ehdr *e)
{
	return cubin_take(bytes, 0, e, sizeof(*e)) && !memcmp(e->e_ident, ELFMAG, SELFMAG) &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_ident[EI_DATA] == ELFDATA2LSB &&
	       e->e_machine == MACHINE_CUDA;
}

bool ut_cubin_is(struct ut_str bytes)
{
	Elf64_Ehdr e;

	return header(bytes, &e);
}

static bool section(struct ut_str bytes, const Elf64_Ehdr *e, uint32_t number, Elf64_Shdr *s)
{
	return number < e->e_shnum && e->e_shentsize == sizeof(*s) && e->e_shoff <= bytes.len &&
	       cubin_take(bytes, e->e_shoff + number * sizeof(*s), s, sizeof(*s));
}

/* The table of symbols and the one of their names. */
static bool symbols(struct ut_str bytes, Elf64_Shdr *table, Elf64_Shdr *names)
{
	Elf64_Ehdr e;

	if (!header(bytes, &e))
		return false;
	for (uint32_t i = 0; i < e.e_shnum; i++) {
		if (section(bytes, &e, i, table) && table->sh_type == SHT_SYMTAB)
			return section(bytes, &e, table->sh_link, names) &&
			       names->sh_offset <= bytes.len &&
			       names->sh_size <= bytes.len - names->sh_offset;
	}
	return false;
}

static bool name_at(struct ut_str bytes, const Elf64_Shdr *names, uint32_t at, struct ut_str *name)
{
	const char *start = bytes.ptr + names->sh_offset + at, *end;

	if (at >= names->sh_size)
		return false;
	end = memchr(start, '\0', names->sh_size - at);
	if (!end || end == start)
		return false;
	*name = (struct ut_str){ start, (size_t)(end - start) };
	return true;
}

bool ut_cubin_next(struct ut_str bytes, uint32_t *at, struct ut_cubin_function *f)
{
	Elf64_Shdr table, names;
	Elf64_Sym s;

	if (!symbols(bytes, &table, &names) || table.sh_offset > bytes.len)
		return false;
	while (*at < table.sh_size / sizeof(s) &&
	       cubin_take(bytes, table.sh_offset + *at * sizeof(s), &s, sizeof(s))) {
		uint32_t number = (*at)++;

		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_value || !s.st_size ||
		    !name_at(bytes, &names, s.st_name, &f->name))
			continue;
		f->symbol = number;
		f->size = s.st_size;
		return true;
	}
	return false;
}
