/* mpi_absent.c - see mpi_absent.h. */
#include "backend/mpi/mpi_absent.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_PATH 4096u

/* A part of the program, as the loader has it. */
struct object {
	unsigned int skip; /* candidates to leave out */
	char path[MOST_PATH];
	const Elf64_Dyn *dynamic;
	Elf64_Addr base;
	Elf64_Addr relro, relro_size; /* is read-only by now */
};

/* What its dynamic section says. */
struct tables {
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *moved, *calls;
	size_t moved_size, calls_size;
	bool mpi; /* it was linked with a library of that name */
};

/* The loader has made addresses of these, except where it could not write. */
static const void *at(const struct object *o, Elf64_Addr value)
{
	return (const void *)(value < o->base ? value + o->base : value);
}

static struct tables tables_of(const struct object *o)
{
	struct tables t = { 0 };

	for (const Elf64_Dyn *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			t.symbols = at(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			t.strings = at(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELA)
			t.moved = at(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			t.moved_size = d->d_un.d_val;
		else if (d->d_tag == DT_JMPREL)
			t.calls = at(o, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			t.calls_size = d->d_un.d_val;
	}
	for (const Elf64_Dyn *d = o->dynamic; t.strings && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_NEEDED)
			t.mpi = t.mpi || !strncmp(t.strings + d->d_un.d_val, "libmpi", 6);
	}
	return t;
}

/* Takes the address out of its place, which the loader may have locked. */
static void mpi_absent_clear(const struct object *o, void **place)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)place & ~(page - 1);
	bool locked = (uintptr_t)place - o->relro < o->relro_size;

	if (locked && mprotect((void *)start, page, PROT_READ | PROT_WRITE))
		return;
	*place = NULL;
	if (locked)
		mprotect((void *)start, page, PROT_READ);
}

static void look_at_places(const struct object *o, const struct tables *t, const Elf64_Rela *places,
			   size_t size)
{
	for (size_t i = 0; places && i < size / sizeof(*places); i++) {
		size_t number = ELF64_R_SYM(places[i].r_info);
		const Elf64_Sym *symbol = &t->symbols[number];
		void **place = (void **)(o->base + places[i].r_offset);
		const char *name;

		if (!number || symbol->st_shndx != SHN_UNDEF ||
		    ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
			continue;
		name = t->strings + symbol->st_name;
		if (strncmp(name + (name[0] == 'P'), "MPI_", 4) != 0)
			continue;
		if (ut_mpi_is_absent(*place, (const void *)o->dynamic))
			mpi_absent_clear(o, place);
	}
}

static void read_headers(struct object *o, const struct dl_phdr_info *info)
{
	o->base = info->dlpi_addr;
	o->dynamic = NULL;
	o->relro_size = 0;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC)
			o->dynamic = (const void *)(o->base + p->p_vaddr);
		if (p->p_type == PT_GNU_RELRO) {
			o->relro = o->base + p->p_vaddr;
			o->relro_size = p->p_memsz;
		}
	}
}

static int mpi_absent_look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct object *o = ctx;

	(void)size;
	if (strlen(info->dlpi_name) >= sizeof(o->path) || o->skip--)
		return 0;
	strncpy(o->path, info->dlpi_name, sizeof(o->path) - 1);
	read_headers(o, info);
	return 1;
}

/* One at a time, held while it is looked at: nothing may be searched for inside the list. */
void ut_mpi_hide_absent(void)
{
	int saved = errno;

	for (unsigned int i = 0;; i++) {
		struct object o = { .skip = i };
		void *held = NULL;
		struct tables t;

		if (!dl_iterate_phdr(mpi_absent_look_at, &o))
			break;
		if (o.path[0] && !(held = dlopen(o.path, RTLD_LAZY | RTLD_NOLOAD)))
			continue; /* it has gone meanwhile, or is no file */
		if (o.dynamic && (t = tables_of(&o)).mpi && t.symbols) {
			look_at_places(&o, &t, t.moved, t.moved_size);
			look_at_places(&o, &t, t.calls, t.calls_size);
		}
		if (held)
			dlclose(held);
	}
	errno = saved;
}
