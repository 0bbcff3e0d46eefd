#include "symbol/elf_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapped.h"

const void *ut_elf_part(const struct ut_elf *e, uint64_t offset, uint64_t len)
{
	if (offset > e->size || len > e->size - offset || offset % 8)
		return NULL;
	return e->base + offset;
}

static bool is_elf(const struct ut_elf *e)
{
	const Elf64_Ehdr *h = ut_elf_part(e, 0, sizeof(*h));

	return h && !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool ut_elf_open_memory(struct ut_elf *e, const void *base, size_t size)
{
	*e = (struct ut_elf){ .base = base, .size = size };
	if (is_elf(e))
		return true;
	*e = (struct ut_elf){ 0 };
	return false;
}

bool ut_elf_open_fd(struct ut_elf *e, int fd, const char *path)
{
	struct stat st;
	void *map;

	*e = (struct ut_elf){ 0 };
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return false;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return false;
	*e = (struct ut_elf){ .base = map, .size = (size_t)st.st_size, .mapped = true };
	ut_mapped_add(map, e->size, path);
	if (is_elf(e))
		return true;
	ut_elf_close(e);
	return false;
}

bool ut_elf_open(struct ut_elf *e, const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1; /* damaged records */
	bool ok;

	*e = (struct ut_elf){ 0 };
	if (fd < 0)
		return false;
	ok = ut_elf_open_fd(e, fd, path);
	close(fd);
	return ok;
}

void ut_elf_close(struct ut_elf *e)
{
	if (e->mapped) {
		ut_mapped_remove(e->base);
		munmap((void *)(uintptr_t)e->base, e->size);
	}
	*e = (struct ut_elf){ 0 };
}

const Elf64_Phdr *ut_elf_segments(const struct ut_elf *e, size_t *count)
{
	const Elf64_Ehdr *h = ut_elf_header(e);
	const Elf64_Phdr *p =
		e->size ? ut_elf_part(e, h->e_phoff, (uint64_t)h->e_phnum * sizeof(*p)) : NULL;

	*count = p ? h->e_phnum : 0;
	return p;
}

const Elf64_Shdr *ut_elf_sections(const struct ut_elf *e, size_t *count)
{
	const Elf64_Ehdr *h = ut_elf_header(e);
	const Elf64_Shdr *s =
		e->size ? ut_elf_part(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(*s)) : NULL;

	*count = s ? h->e_shnum : 0;
	return s;
}

const Elf64_Shdr *ut_elf_section(const struct ut_elf *e, const char *name)
{
	size_t count, len = strlen(name) + 1;
	const Elf64_Shdr *s = ut_elf_sections(e, &count), *texts;

	if (!s || ut_elf_header(e)->e_shstrndx >= count)
		return NULL;
	texts = &s[ut_elf_header(e)->e_shstrndx];
	if (texts->sh_offset > e->size || texts->sh_size > e->size - texts->sh_offset)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (s[i].sh_name < texts->sh_size && len <= texts->sh_size - s[i].sh_name &&
		    !memcmp(e->base + texts->sh_offset + s[i].sh_name, name, len) &&
		    s[i].sh_type != SHT_NOBITS && s[i].sh_offset <= e->size &&
		    s[i].sh_size <= e->size - s[i].sh_offset)
			return &s[i];
	}
	return NULL;
}

bool ut_elf_address(const struct ut_elf *e, uint64_t offset, uint64_t *address)
{
	size_t count;
	const Elf64_Phdr *p = ut_elf_segments(e, &count);

	for (size_t i = 0; i < count; i++) {
		if (p[i].p_type == PT_LOAD && offset >= p[i].p_offset &&
		    offset - p[i].p_offset < p[i].p_filesz) {
			*address = offset - p[i].p_offset + p[i].p_vaddr;
			return true;
		}
	}
	return false;
}

bool ut_elf_offset(const struct ut_elf *e, uint64_t address, uint64_t *offset)
{
	size_t count;
	const Elf64_Phdr *p = ut_elf_segments(e, &count);

	for (size_t i = 0; i < count; i++) {
		if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr &&
		    address - p[i].p_vaddr < p[i].p_filesz) {
			*offset = address - p[i].p_vaddr + p[i].p_offset;
			return true;
		}
	}
	return false;
}

static void table_symbols(const struct ut_elf *e, const Elf64_Shdr *table, const Elf64_Shdr *texts,
			  void (*fn)(void *ctx, const char *name, const Elf64_Sym *s), void *ctx)
{
	const Elf64_Sym *sym = ut_elf_part(e, table->sh_offset, table->sh_size);
	const char *names;

	if (!sym || texts->sh_type == SHT_NOBITS || texts->sh_offset > e->size ||
	    texts->sh_size > e->size - texts->sh_offset || !texts->sh_size)
		return;
	names = e->base + texts->sh_offset;
	if (names[texts->sh_size - 1])
		return;
	for (uint64_t i = 0; i < table->sh_size / sizeof(*sym); i++) {
		if (sym[i].st_shndx != SHN_UNDEF && sym[i].st_shndx < SHN_LORESERVE &&
		    sym[i].st_name < texts->sh_size && names[sym[i].st_name])
			fn(ctx, names + sym[i].st_name, &sym[i]);
	}
}

void ut_elf_symbols(const struct ut_elf *e,
		    void (*fn)(void *ctx, const char *name, const Elf64_Sym *s), void *ctx)
{
	size_t count;
	const Elf64_Shdr *s = ut_elf_sections(e, &count);

	for (size_t i = 0; i < count; i++) {
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    s[i].sh_link < count)
			table_symbols(e, &s[i], &s[s[i].sh_link], fn, ctx);
	}
}

/* One note of a segment of them. */
static bool is_build_id(const Elf64_Nhdr *n, const char *name, struct ut_build_id *id)
{
	if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != sizeof(ELF_NOTE_GNU) ||
	    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
		return false;
	id->len = n->n_descsz < UT_BUILD_ID_MOST ? n->n_descsz : UT_BUILD_ID_MOST;
	memcpy(id->bytes, name + sizeof(ELF_NOTE_GNU), id->len);
	return true;
}

bool ut_elf_note_id(const char *notes, size_t size, struct ut_build_id *id)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name, desc;

		memcpy(&n, notes + at, sizeof(n));
		name = ((uint64_t)n.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t)n.n_descsz + 3) & ~UINT64_C(3);
		at += sizeof(n);
		if (name + desc > size - at)
			return false;
		if (is_build_id(&n, notes + at, id))
			return true;
		at += name + desc;
	}
	return false;
}

static bool find_build_id(const struct ut_elf *e, uint64_t at, uint64_t size,
			  struct ut_build_id *id)
{
	return at <= e->size && size <= e->size - at && ut_elf_note_id(e->base + at, size, id);
}

struct ut_build_id ut_elf_build_id(const struct ut_elf *e)
{
	struct ut_build_id id = { .len = 0 };
	const Elf64_Shdr *s;
	size_t count;
	const Elf64_Phdr *p = ut_elf_segments(e, &count);

	for (size_t i = 0; i < count; i++) {
		if (p[i].p_type == PT_NOTE && find_build_id(e, p[i].p_offset, p[i].p_filesz, &id))
			return id;
	}
	s = ut_elf_section(e, ".note.gnu.build-id"); /* files of debug info have no segments */
	if (s)
		find_build_id(e, s->sh_offset, s->sh_size, &id);
	return id;
}

const char *ut_build_id_text(const struct ut_build_id *id, char text[2 * UT_BUILD_ID_MOST + 1])
{
	size_t at = 0;

	for (uint32_t i = 0; i < id->len && i < UT_BUILD_ID_MOST; i++) {
		text[at++] = "0123456789abcdef"[id->bytes[i] >> 4];
		text[at++] = "0123456789abcdef"[id->bytes[i] & 15];
	}
	text[at] = '\0';
	return text;
}

size_t ut_elf_vdso_size(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	size_t start, end, size = 0;
	char line[512];

	while (f && !size && fgets(line, sizeof(line), f)) {
		if (strstr(line, "[vdso]") && sscanf(line, "%zx-%zx", &start, &end) == 2)
			size = end - start;
	}
	if (f)
		fclose(f);
	return size;
}
