/* symbol.c - see symbol.h. */
#include "symbol/symbol.h"

#include <string.h>

#include "symbol/elf_file.h"

static bool find_in(const struct ut_elf *e, const Elf64_Shdr *table, const Elf64_Shdr *texts,
		    uint64_t address, char *name, size_t size)
{
	const Elf64_Sym *s = ut_elf_part(e, table->sh_offset, table->sh_size);
	const char *text;

	if (!s || texts->sh_offset > e->size || texts->sh_size > e->size - texts->sh_offset)
		return false;
	text = e->base + texts->sh_offset;
	for (uint64_t i = 0; i < table->sh_size / sizeof(*s); i++) {
		if (ELF64_ST_TYPE(s[i].st_info) != STT_FUNC || !s[i].st_value ||
		    address < s[i].st_value ||
		    address - s[i].st_value >= s[i].st_size + !s[i].st_size ||
		    s[i].st_name >= texts->sh_size)
			continue;
		strncpy(name, text + s[i].st_name,
			size - 1 < texts->sh_size - s[i].st_name ? size - 1
								 : texts->sh_size - s[i].st_name);
		name[size - 1] = '\0';
		return name[0] != '\0';
	}
	return false;
}

static bool symbol_find(const struct ut_elf *e, uint64_t offset, char *name, size_t size)
{
	size_t count;
	const Elf64_Shdr *s = ut_elf_sections(e, &count);
	uint64_t address;

	if (!ut_elf_address(e, offset, &address))
		return false;
	for (size_t i = 0; i < count; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    s[i].sh_link < count &&
		    find_in(e, &s[i], &s[s[i].sh_link], address, name, size))
			return true;
	return false;
}

bool ut_symbol_name(const char *path, uint64_t offset, char *name, size_t size)
{
	struct ut_elf e;
	bool found;

	memset(name, 0, size);
	if (!ut_elf_open(&e, path))
		return false;
	found = symbol_find(&e, offset, name, size);
	ut_elf_close(&e);
	return found;
}
