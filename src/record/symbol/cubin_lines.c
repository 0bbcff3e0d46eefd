#include "symbol/cubin_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "symbol/line_program.h"

#define MACHINE_CUDA 190 /* EM_CUDA */
#define MOST_ROWS    (1u << 24)

/* ---- sections ---------------------------------------------------------------------------------
 */

struct cursor {
	const uint8_t *at, *end;
	bool bad; /* there is none */
};

static struct cursor section(const struct ut_elf *e, const char *name)
{
	const Elf64_Shdr *s = ut_elf_section(e, name);
	const uint8_t *at = (const uint8_t *)e->base + (s ? s->sh_offset : 0);

	return (struct cursor){ .at = at, .end = at + (s ? s->sh_size : 0), .bad = !s };
}

/* ---- which function a sequence belongs to ---------------------------------------------------- */

struct place {
	uint64_t offset; /* in .debug_line */
	const char *function;
};

struct places {
	struct place *items;
	size_t count, cap;
};

static const char *symbol_name(const struct ut_elf *e, uint64_t number)
{
	struct cursor symbols = section(e, ".symtab"), names = section(e, ".strtab");
	Elf64_Sym s;

	if (symbols.bad || names.bad || number >= (size_t)(symbols.end - symbols.at) / sizeof(s))
		return NULL;
	memcpy(&s, symbols.at + number * sizeof(s), sizeof(s));
	if (s.st_name >= (size_t)(names.end - names.at))
		return NULL;
	names.at += s.st_name;
	return memchr(names.at, 0, (size_t)(names.end - names.at)) ? (const char *)names.at : NULL;
}

static int by_offset(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Relocations with an addend and without; the addend is 0. */
static void add_places(const struct ut_elf *e, struct places *p, const char *name, size_t size)
{
	struct cursor c = section(e, name);

	for (; !c.bad && (size_t)(c.end - c.at) >= size; c.at += size) {
		Elf64_Rel r;
		const char *function;

		memcpy(&r, c.at, sizeof(r));
		function = symbol_name(e, ELF64_R_SYM(r.r_info));
		if (!function || !function[0])
			continue;
		p->items = ut_grow(p->items, p->count + 1, &p->cap, sizeof(*p->items));
		p->items[p->count++] = (struct place){ r.r_offset, function };
	}
}

static const char *function_at(const struct places *p, uint64_t offset)
{
	const struct place key = { .offset = offset };
	const struct place *found =
		p->count ? bsearch(&key, p->items, p->count, sizeof(key), by_offset) : NULL;

	return found ? found->function : NULL;
}

/* ---- a unit ---------------------------------------------------------------------------------- */

struct unit {
	struct ut_cubin_lines *lines;
	const struct places *places;
	const uint8_t *start; /* of the section */
	const struct ut_line_head *head;
	const char **files;   /* with their directories */
	const char *function; /* that the program is in */
};

static void cubin_lines_put_row(void *ctx, const struct ut_line_row *row)
{
	struct unit *u = ctx;
	struct ut_cubin_lines *l = u->lines;
	bool known = !row->end && row->file < u->head->file_count;

	if (u->function && l->count < MOST_ROWS) {
		l->rows = ut_grow(l->rows, l->count + 1, &l->cap, sizeof(*l->rows));
		l->rows[l->count] = (struct ut_cubin_row){
			.function = u->function,
			.offset = row->address,
			.file = known ? u->files[row->file] : NULL,
			.line = row->end ? 0 : row->line,
			.order = (uint32_t)l->count,
		};
		l->count++;
	}
	if (row->end)
		u->function = NULL;
}

/* NVIDIA's own operations tell where functions were inlined: the line itself is what we show. */
static void set_address(void *ctx, const uint8_t *at)
{
	struct unit *u = ctx;

	u->function = function_at(u->places, (uint64_t)(at - u->start));
}

static const char *file_name(struct ut_arena *a, const struct ut_line_head *h,
			     const struct ut_line_file *f)
{
	const char *dir = f->dir < h->dir_count ? h->dirs[f->dir] : NULL;

	if (!f->name || f->name[0] == '/' || !dir)
		return f->name;
	return ut_str_fmt(a, "%s/%s", dir, f->name);
}

static void read_unit(struct unit *u, const struct ut_line_head *h)
{
	const struct ut_line_rows rows = { .row = cubin_lines_put_row,
					   .set = set_address,
					   .ctx = u };

	u->head = h;
	u->files = ut_make((h->file_count + 1) * sizeof(*u->files));
	for (size_t i = 0; i < h->file_count; i++)
		u->files[i] = file_name(&u->lines->arena, h, &h->files[i]);
	ut_line_run(h, &rows);
	free(u->files);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int by_function_and_offset(const void *a, const void *b)
{
	const struct ut_cubin_row *x = a, *y = b;
	int c = x->function == y->function ? 0 : strcmp(x->function, y->function);

	if (c)
		return c;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void cubin_lines_read_lines(struct ut_cubin_lines *l)
{
	struct cursor c = section(&l->elf, ".debug_line");
	const struct ut_line_sections sections = { .line = c.at,
						   .line_size = (uint64_t)(c.end - c.at) };
	struct places places = { 0 };
	uint64_t at = 0, next;

	add_places(&l->elf, &places, ".rela.debug_line", sizeof(Elf64_Rela));
	add_places(&l->elf, &places, ".rel.debug_line", sizeof(Elf64_Rel));
	if (places.count)
		qsort(places.items, places.count, sizeof(*places.items), by_offset);
	do {
		struct unit u = { .lines = l, .places = &places, .start = c.at };
		struct ut_line_head head;

		if (ut_line_head(&head, &sections, at, &next))
			read_unit(&u, &head);
		ut_line_head_release(&head);
		at = next;
	} while (next && next < sections.line_size);
	free(places.items);
	if (l->count)
		qsort(l->rows, l->count, sizeof(*l->rows), by_function_and_offset);
}

static bool take_elf(struct ut_cubin_lines *l, bool opened)
{
	if (!opened || ut_elf_header(&l->elf)->e_machine != MACHINE_CUDA) {
		if (opened)
			ut_elf_close(&l->elf);
		*l = (struct ut_cubin_lines){ 0 };
		return false;
	}
	cubin_lines_read_lines(l);
	return true;
}

bool ut_cubin_lines_open(struct ut_cubin_lines *l, const char *path)
{
	*l = (struct ut_cubin_lines){ 0 };
	return take_elf(l, ut_elf_open(&l->elf, path));
}

bool ut_cubin_lines_open_memory(struct ut_cubin_lines *l, const void *bytes, size_t size)
{
	*l = (struct ut_cubin_lines){ 0 };
	return take_elf(l, ut_elf_open_memory(&l->elf, bytes, size));
}

void ut_cubin_lines_close(struct ut_cubin_lines *l)
{
	free(l->rows);
	ut_arena_release(&l->arena);
	if (l->elf.size)
		ut_elf_close(&l->elf);
	*l = (struct ut_cubin_lines){ 0 };
}

bool ut_cubin_line(const struct ut_cubin_lines *l, const char *function, uint64_t offset,
		   const char **file, uint32_t *line)
{
	size_t lo = 0, hi = l->count;

	while (lo < hi) { /* the first row behind the instruction */
		const struct ut_cubin_row *r = &l->rows[(lo + hi) / 2];
		int c = strcmp(r->function, function);

		if (c < 0 || (!c && r->offset <= offset))
			lo = (lo + hi) / 2 + 1;
		else
			hi = (lo + hi) / 2;
	}
	if (!lo || strcmp(l->rows[lo - 1].function, function) || !l->rows[lo - 1].file ||
	    !l->rows[lo - 1].line)
		return false;
	*file = l->rows[lo - 1].file;
	*line = l->rows[lo - 1].line;
	return true;
}
