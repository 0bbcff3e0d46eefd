#include "text/grid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/cells.h"
#include "text/out.h"

void ut_grid_column(struct ut_grid *g, const char *title, enum ut_grid_align align)
{
	g->columns = ut_grow(g->columns, g->column_count + 1, &g->column_cap, sizeof(*g->columns));
	g->columns[g->column_count++] =
		(struct ut_grid_column){ .title = title, .align = align, .columns = strlen(title) };
}

void ut_grid_name(struct ut_grid *g, const char *s, size_t len, size_t max)
{
	struct ut_grid_column *column = &g->columns[g->cell_count % g->column_count];
	struct ut_grid_cell cell = { .start = g->text.len };

	cell.columns = ut_cell_name(&g->text, s, len, max);
	cell.len = g->text.len - cell.start;
	column->columns = cell.columns > column->columns ? cell.columns : column->columns;
	g->cells = ut_grow(g->cells, g->cell_count + 1, &g->cell_cap, sizeof(*g->cells));
	g->cells[g->cell_count++] = cell;
}

void ut_grid_text(struct ut_grid *g, const char *s)
{
	ut_grid_name(g, s, strlen(s), SIZE_MAX);
}

void ut_grid_fmt(struct ut_grid *g, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ut_grid_text(g, text);
}

void ut_grid_count(struct ut_grid *g, uint64_t n)
{
	ut_grid_fmt(g, "%" PRIu64, n);
}

void ut_grid_time(struct ut_grid *g, uint64_t ns)
{
	char text[UT_CELL_TIME];

	ut_grid_text(g, ut_cell_time(text, ns));
}

/* Blanks wait until something follows them: *blanks is how many. */
static void put_cell(struct ut_out *o, const struct ut_grid_column *c, const char *s,
		     struct ut_grid_cell cell, size_t *blanks)
{
	size_t columns = c->columns < UT_CELL_PAD ? c->columns : UT_CELL_PAD;
	size_t pad = cell.columns < columns ? columns - cell.columns : 0;

	*blanks += c->align == UT_GRID_RIGHT ? pad : 0;
	if (cell.len) {
		ut_out_fmt(o, "%*s", (int)*blanks, "");
		ut_out_write(o, s, cell.len);
		*blanks = 0;
	}
	*blanks += (c->align == UT_GRID_LEFT ? pad : 0) + 2;
}

void ut_grid_print(const struct ut_grid *g, struct ut_out *o)
{
	size_t blanks = 0;

	for (size_t i = 0; i < g->column_count; i++) {
		size_t len = strlen(g->columns[i].title);

		put_cell(o, &g->columns[i], g->columns[i].title,
			 (struct ut_grid_cell){ 0, len, len }, &blanks);
	}
	ut_out_text(o, "\n");
	for (size_t i = 0; i + g->column_count <= g->cell_count; i += g->column_count) {
		blanks = 0;
		for (size_t k = 0; k < g->column_count; k++)
			put_cell(o, &g->columns[k], g->text.data + g->cells[i + k].start,
				 g->cells[i + k], &blanks);
		ut_out_text(o, "\n");
	}
}

void ut_grid_release(struct ut_grid *g)
{
	free(g->columns);
	free(g->cells);
	ut_buf_release(&g->text);
	*g = (struct ut_grid){ 0 };
}
