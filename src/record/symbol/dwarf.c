#include "symbol/dwarf.h"

#include <stdlib.h>

#include "base/grow.h"
#include "symbol/dwarf_parts.h"

struct ut_dwarf *ut_dwarf_open(const struct ut_elf *elf, const char *path, const char *program)
{
	struct ut_dwarf *d = ut_make(sizeof(*d));
	struct ut_dwarf_ranges ranges = { 0 };

	if (!ut_dwarf_file_open(&d->file, elf, path)) {
		free(d);
		return NULL;
	}
	d->program = program ? strdup(program) : NULL;
	for (size_t i = 0; i < d->file.unit_count; i++)
		ut_dwarf_read_root(&d->file.units[i], (uint32_t)i + 1, &ranges);
	ut_dwarf_flatten(&ranges, &d->pieces);
	return d;
}

void ut_dwarf_close(struct ut_dwarf *d)
{
	struct ut_dwarf_file *next;

	if (!d)
		return;
	for (struct ut_dwarf_file *f = d->splits; f; f = next) {
		next = f->next;
		ut_dwarf_file_close(f);
		free(f);
	}
	ut_dwarf_file_close(&d->file);
	free(d->pieces.items);
	free(d->program);
	ut_arena_release(&d->arena);
	free(d);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static void read_unit(struct ut_dwarf *d, struct ut_dwarf_unit *u)
{
	struct ut_dwarf_unit *with_entries = u;

	u->read = true;
	ut_dwarf_read_lines(d, u);
	if (u->dwo_name[0])
		with_entries = ut_dwarf_split(d, u);
	if (with_entries)
		ut_dwarf_read_functions(with_entries);
}

static void set_file(const struct ut_dwarf_unit *u, struct ut_dwarf_frame *f, uint32_t file,
		     uint32_t line)
{
	f->file = file < u->file_count ? u->files[file] : NULL;
	f->line = line;
}

static void find_line(const struct ut_dwarf_unit *u, uint64_t address, struct ut_dwarf_frame *f)
{
	size_t low = 0, high = u->line_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->lines[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low) /* where a sequence has ended the file is none */
		set_file(u, f, u->lines[low - 1].file, u->lines[low - 1].line);
}

/* Who calls an inlined function is the next one, and from where the inlined one knows. */
static size_t dwarf_find_functions(struct ut_dwarf_unit *u, struct ut_dwarf_unit *e,
				   uint64_t address, struct ut_dwarf_frame *frames, size_t most)
{
	uint32_t number = ut_dwarf_piece_at(&e->pieces, address);
	size_t count = 0;

	while (number && count < most) {
		struct ut_dwarf_function *f = &e->functions[number - 1];

		frames[count].function = ut_dwarf_function_name(e, f);
		frames[count].inlined = f->inlined;
		count++;
		if (!f->inlined)
			break;
		if (count < most) {
			frames[count] = (struct ut_dwarf_frame){ 0 };
			set_file(u, &frames[count], f->call_file, f->call_line);
		}
		number = f->parent;
	}
	return count;
}

size_t ut_dwarf_find(struct ut_dwarf *d, uint64_t address, struct ut_dwarf_frame *frames,
		     size_t most)
{
	uint32_t number = ut_dwarf_piece_at(&d->pieces, address);
	struct ut_dwarf_unit *u, *entries;
	size_t count = 0;

	if (!number || !most)
		return 0;
	u = &d->file.units[number - 1];
	if (!u->read)
		read_unit(d, u);
	frames[0] = (struct ut_dwarf_frame){ 0 };
	find_line(u, address, &frames[0]);
	entries = u->dwo_name[0] ? u->split : u;
	if (entries)
		count = dwarf_find_functions(u, entries, address, frames, most);
	return count || !frames[0].file ? count : 1;
}
