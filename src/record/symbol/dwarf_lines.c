/* dwarf_lines.c - the lines of a unit, and the paths of their files: see dwarf_parts.h. */
#include "symbol/dwarf_parts.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/str.h"
#include "symbol/line_program.h"

#define MOST_LINES (1u << 26)
#define NO_FILE    UINT32_MAX /* a sequence ends here */

static void dwarf_lines_add_row(void *ctx, const struct ut_line_row *row)
{
	struct ut_dwarf_unit *u = ctx;

	if (u->line_count == MOST_LINES)
		return;
	u->lines = ut_grow_raw(u->lines, u->line_count + 1, &u->line_cap, sizeof(*u->lines));
	u->lines[u->line_count++] =
		(struct ut_dwarf_line){ row->address, row->end ? NO_FILE : row->file,
					row->end ? 0 : row->line };
}

/* A sequence of rows: [first, last) of the lines. */
struct sequence {
	size_t first, last;
	uint64_t start;
};

static int dwarf_lines_by_start(const void *x, const void *y)
{
	const struct sequence *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/*
 * Sequences come in any order, and those of code that the linker has left out start at 0. A row at
 * the same address as the one before it takes its place.
 */
static void sort_lines(struct ut_dwarf_unit *u)
{
	struct ut_dwarf_line *sorted = ut_make((u->line_count + 1) * sizeof(*sorted));
	struct sequence *list = NULL;
	size_t count = 0, cap = 0, kept = 0;

	for (size_t i = 0, first = 0; i < u->line_count; i++) {
		if (u->lines[i].file != NO_FILE)
			continue;
		list = ut_grow_raw(list, count + 1, &cap, sizeof(*list));
		list[count++] = (struct sequence){ first, i + 1, u->lines[first].address };
		first = i + 1;
	}
	if (count)
		qsort(list, count, sizeof(*list), dwarf_lines_by_start);
	for (size_t s = 0; s < count; s++) {
		for (size_t i = list[s].first; list[s].start && i < list[s].last; i++) {
			if (kept && sorted[kept - 1].address == u->lines[i].address)
				kept--;
			if (!kept || sorted[kept - 1].address <= u->lines[i].address)
				sorted[kept++] = u->lines[i];
		}
	}
	free(list);
	free(u->lines);
	u->lines = sorted;
	u->line_count = u->line_cap = kept;
}

/* "DIR/NAME", from the folder where it was compiled if DIR is not absolute. */
static const char *dwarf_lines_path_of(struct ut_arena *a, const struct ut_dwarf_unit *u,
				       const struct ut_line_head *h, const struct ut_line_file *f)
{
	const char *dir = f->dir < h->dir_count ? h->dirs[f->dir] : NULL;
	const char *top = u->dir[0] ? u->dir : NULL;

	if (!f->name || !f->name[0])
		return NULL;
	if (f->name[0] == '/')
		return f->name;
	if (!dir || !dir[0] || (top && !strcmp(dir, top)))
		return top ? ut_str_fmt(a, "%s/%s", top, f->name) : f->name;
	if (dir[0] == '/' || !top)
		return ut_str_fmt(a, "%s/%s", dir, f->name);
	return ut_str_fmt(a, "%s/%s/%s", top, dir, f->name);
}

void ut_dwarf_read_lines(struct ut_dwarf *d, struct ut_dwarf_unit *u)
{
	const struct ut_elf_bytes *s = u->file->sections;
	const struct ut_line_sections sections = {
		.line = s[UT_DWARF_LINE].data,
		.line_size = s[UT_DWARF_LINE].size,
		.str = s[UT_DWARF_STR].data,
		.str_size = s[UT_DWARF_STR].size,
		.line_str = s[UT_DWARF_LINE_STR].data,
		.line_str_size = s[UT_DWARF_LINE_STR].size,
	};
	const struct ut_line_rows rows = { .row = dwarf_lines_add_row, .ctx = u };
	struct ut_line_head head;
	uint64_t next;

	if (!u->has_lines || !sections.line_size)
		return;
	if (ut_line_head(&head, &sections, u->line_program, &next)) {
		u->files = ut_make((head.file_count + 1) * sizeof(*u->files));
		u->file_count = head.file_count;
		for (size_t i = 0; i < head.file_count; i++)
			u->files[i] = dwarf_lines_path_of(&d->arena, u, &head, &head.files[i]);
		ut_line_run(&head, &rows);
		sort_lines(u);
	}
	ut_line_head_release(&head);
}
