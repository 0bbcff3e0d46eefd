#include "symbol/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/arena.h"
#include "base/grow.h"
#include "symbol/elf_file.h"

#define MOST_SYMBOLS (16u << 20)
#define LOOK_BACK    16 /* symbols that may lie in a function */

struct entry {
	uint64_t start, size;
	const char *name;
	uint32_t rank; /* of those at the same address the best one is taken */
};

struct ut_symbols {
	const struct ut_elf *file;
	struct ut_elf vdso;
	struct entry *entries; /* by start */
	size_t count, cap;
	struct ut_arena text; /* of the kernel's */
	bool addresses;       /* what is asked for are addresses, not offsets in a file */
	uint64_t begin;       /* of the kernel */
};

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_function(const Elf64_Sym *s)
{
	unsigned int type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && ELF64_ST_BIND(s->st_info) != STB_LOCAL)) &&
	       s->st_value;
}

/* A global name is the one that people know; one with a length is surely a function. */
static uint32_t symbols_rank_of(const Elf64_Sym *s)
{
	uint32_t bind = ELF64_ST_BIND(s->st_info);

	return (s->st_size ? 4u : 0) + (bind == STB_GLOBAL ? 2u : bind == STB_WEAK ? 1u : 0);
}

static void add_symbol(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct ut_symbols *s = ctx;

	if (!is_function(sym) || s->count == MOST_SYMBOLS)
		return;
	s->entries = ut_grow_raw(s->entries, s->count + 1, &s->cap, sizeof(*s->entries));
	s->entries[s->count++] = (struct entry){ .start = sym->st_value,
						 .size = sym->st_size,
						 .rank = symbols_rank_of(sym),
						 .name = name };
}

static int symbols_by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->rank < y->rank) - (x->rank > y->rank);
}

/* One name for each address, the best. */
static void symbols_finalize(struct ut_symbols *s)
{
	size_t kept = 0;

	if (s->count)
		qsort(s->entries, s->count, sizeof(*s->entries), symbols_by_start);
	for (size_t i = 0; i < s->count; i++) {
		if (!kept || s->entries[kept - 1].start != s->entries[i].start)
			s->entries[kept++] = s->entries[i];
	}
	s->count = kept;
}

/* ---- the kernel ---------------------------------------------------------------------------- */

/* "ffffffff81000000 T _stext", and "[module]" behind the name of what a module has. */
static void add_kernel_line(struct ut_symbols *s, char *line)
{
	char *end, *name;
	uint64_t start = strtoull(line, &end, 16);

	if (!start || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
		return;
	name = end + 3;
	name[strcspn(name, "\t\n ")] = '\0';
	if (!strcmp(name, "_text"))
		s->begin = start;
	s->entries = ut_grow_raw(s->entries, s->count + 1, &s->cap, sizeof(*s->entries));
	s->entries[s->count++] =
		(struct entry){ .start = start,
				.name = ut_arena_copy(&s->text, name, strlen(name)) };
}

struct ut_symbols *ut_symbols_open_kernel(void)
{
	struct ut_symbols *s = ut_make(sizeof(*s));
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024];

	s->addresses = true;
	while (f && s->count < MOST_SYMBOLS && fgets(line, sizeof(line), f))
		add_kernel_line(s, line);
	if (f)
		fclose(f);
	symbols_finalize(s);
	return s;
}

struct ut_symbols *ut_symbols_open_vdso(void)
{
	struct ut_symbols *s = ut_make(sizeof(*s));
	size_t size = ut_elf_vdso_size();

	s->file = &s->vdso;
	if (size && ut_elf_open_memory(&s->vdso, (const void *)getauxval(AT_SYSINFO_EHDR), size))
		ut_elf_symbols(&s->vdso, add_symbol, s);
	symbols_finalize(s);
	return s;
}

uint64_t ut_symbols_text(const struct ut_symbols *s)
{
	return s->begin;
}

/* ---- the way in ---------------------------------------------------------------------------- */

struct ut_symbols *ut_symbols_of(const struct ut_elf *file, const struct ut_elf *debug)
{
	struct ut_symbols *s = ut_make(sizeof(*s));

	s->file = file;
	ut_elf_symbols(file, add_symbol, s);
	if (debug && !ut_elf_section(file, ".symtab"))
		ut_elf_symbols(debug, add_symbol, s);
	symbols_finalize(s);
	return s;
}

void ut_symbols_close(struct ut_symbols *s)
{
	if (!s)
		return;
	ut_arena_release(&s->text);
	free(s->entries);
	free(s);
}

/* The last entry that starts at or before the address. */
static const struct entry *entry_at(const struct ut_symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->entries[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &s->entries[low - 1] : NULL;
}

/*
 * What is written in assembly may have no size: it reaches to the next one, unless it lies in a
 * function that has one. Such a function may also go on behind one that lies in it.
 */
static const struct entry *function_at(const struct ut_symbols *s, uint64_t address)
{
	const struct entry *last = entry_at(s, address);

	for (const struct entry *e = last; e && e >= s->entries && last - e < LOOK_BACK; e--) {
		if (e->size && address - e->start < e->size)
			return e;
	}
	return last && !last->size ? last : NULL;
}

bool ut_symbols_find(const struct ut_symbols *s, uint64_t offset, struct ut_symbol *found)
{
	const struct entry *e;
	uint64_t address;

	*found = (struct ut_symbol){ 0 };
	if (s->addresses)
		address = offset;
	else if (!ut_elf_address(s->file, offset, &address))
		return false;
	e = function_at(s, address);
	if (!e)
		return false;
	*found = (struct ut_symbol){ e->name, e->start, e->size };
	return true;
}
