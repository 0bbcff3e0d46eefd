/* symbol.c - see symbol.h. */
#include "symbol/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapped.h"

struct image {
	const char *base;
	size_t size;
};

/* The bytes [offset, offset + len) of the file, or NULL if they are not there or not aligned. */
static const void *part(const struct image *im, uint64_t offset, uint64_t len)
{
	if (offset > im->size || len > im->size - offset || offset % 8)
		return NULL;
	return im->base + offset;
}

static bool is_elf(const struct image *im)
{
	const Elf64_Ehdr *e = part(im, 0, sizeof(*e));

	return e && !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_ident[EI_DATA] == ELFDATA2LSB;
}

/* Where the loader puts the byte at this offset of the file, relative to the file's addresses. */
static bool to_address(const struct image *im, uint64_t offset, uint64_t *address)
{
	const Elf64_Ehdr *e = part(im, 0, sizeof(*e));
	const Elf64_Phdr *p = part(im, e->e_phoff, (uint64_t)e->e_phnum * sizeof(*p));

	for (unsigned int i = 0; p && i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && offset >= p[i].p_offset &&
		    offset - p[i].p_offset < p[i].p_filesz) {
			*address = offset - p[i].p_offset + p[i].p_vaddr;
			return true;
		}
	return false;
}

static bool find_in(const struct image *im, const Elf64_Shdr *table, const Elf64_Shdr *texts,
		    uint64_t address, char *name, size_t size)
{
	const Elf64_Sym *s = part(im, table->sh_offset, table->sh_size);
	const char *text;

	if (!s || texts->sh_offset > im->size || texts->sh_size > im->size - texts->sh_offset)
		return false;
	text = im->base + texts->sh_offset;
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

static bool find(const struct image *im, uint64_t offset, char *name, size_t size)
{
	const Elf64_Ehdr *e = part(im, 0, sizeof(*e));
	const Elf64_Shdr *s;
	uint64_t address;

	if (!is_elf(im) || !to_address(im, offset, &address))
		return false;
	s = part(im, e->e_shoff, (uint64_t)e->e_shnum * sizeof(*s));
	for (unsigned int i = 0; s && i < e->e_shnum; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    s[i].sh_link < e->e_shnum &&
		    find_in(im, &s[i], &s[s[i].sh_link], address, name, size))
			return true;
	return false;
}

bool ut_symbol_name(const char *path, uint64_t offset, char *name, size_t size)
{
	struct image im = { 0 };
	struct stat st;
	bool found = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *map;

	memset(name, 0, size);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			im = (struct image){ map, (size_t)st.st_size };
			ut_mapped_add(map, im.size, path);
			found = find(&im, offset, name, size);
			ut_mapped_remove(map);
			munmap(map, im.size);
		}
	}
	close(fd);
	return found;
}
