#include "ops/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/digits.h"

#define PROBLEM_GROUP UINT32_MAX

void ut_ops_report_init(struct ut_ops_report *r)
{
	*r = (struct ut_ops_report){ 0 };
	ut_strtab_init(&r->names, &r->arena);
	r->problem = ut_ops_column(r, &(struct ut_ops_column){ .name = "PROBLEM",
							       .group = PROBLEM_GROUP,
							       .missing = "" });
}

void ut_ops_report_release(struct ut_ops_report *r)
{
	free(r->columns);
	free(r->by_place);
	free(r->cells);
	free(r->rows);
	ut_arena_release(&r->arena);
}

uint32_t ut_ops_column(struct ut_ops_report *r, const struct ut_ops_column *c)
{
	uint32_t id = ut_strtab_intern_z(&r->names, c->name);
	struct ut_ops_column *to;

	if (id <= r->column_count)
		return id ? id - 1 : UT_OPS_NO_COLUMN;
	if (r->column_count == UT_OPS_MOST_COLUMNS)
		return UT_OPS_NO_COLUMN;
	r->columns = ut_grow(r->columns, r->column_count + 1, &r->column_cap, sizeof(*to));
	to = &r->columns[r->column_count++];
	*to = *c;
	to->name = ut_strtab_get(&r->names, id).ptr;
	to->key = c->key ? ut_arena_copy(&r->arena, c->key, strlen(c->key)) : "";
	return (uint32_t)r->column_count - 1;
}

uint32_t ut_ops_columns(struct ut_ops_report *r, const char *const *names, uint32_t group,
			const char *missing)
{
	uint32_t first = (uint32_t)r->column_count;

	for (uint32_t i = 0; names[i]; i++)
		ut_ops_column(r, &(struct ut_ops_column){ .name = names[i],
							  .group = group,
							  .index = i,
							  .missing = missing });
	return first;
}

void ut_ops_put(struct ut_ops_report *r, uint32_t column, struct ut_str text)
{
	if (column == UT_OPS_NO_COLUMN)
		return;
	r->cells = ut_grow_raw(r->cells, r->cell_count + 1, &r->cell_cap, sizeof(*r->cells));
	r->cells[r->cell_count++] = (struct ut_ops_cell){ column, text };
}

#define NUMBERS_ROOM 65536u /* bytes of numbers that are taken from the arena at once */

void ut_ops_put_u64(struct ut_ops_report *r, uint32_t column, uint64_t value)
{
	char *text, *end;

	if (r->numbers_left < UT_DIGITS_ROOM) {
		r->numbers = ut_arena_alloc(&r->arena, NUMBERS_ROOM, 1);
		r->numbers_left = NUMBERS_ROOM;
	}
	text = r->numbers;
	end = ut_digits_u64(text, value);
	*end = '\0';
	r->numbers = end + 1;
	r->numbers_left -= (size_t)(end + 1 - text);
	ut_ops_put(r, column, (struct ut_str){ text, (size_t)(end - text) });
}

struct ut_ops_range ut_ops_since(const struct ut_ops_report *r, size_t first)
{
	return (struct ut_ops_range){ first, r->cell_count - first };
}

void ut_ops_put_problem(struct ut_ops_report *r, const char *why)
{
	size_t len = strlen(why);

	ut_ops_put(r, r->problem, (struct ut_str){ ut_arena_copy(&r->arena, why, len), len });
	r->problems++;
}

struct ut_ops_row *ut_ops_row_add(struct ut_ops_report *r)
{
	r->rows = ut_grow_raw(r->rows, r->row_count + 1, &r->row_cap, sizeof(*r->rows));
	r->rows[r->row_count] = (struct ut_ops_row){ 0 };
	return &r->rows[r->row_count++];
}

/* ---- order --------------------------------------------------------------------------------- */

static int ops_report_by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_columns(const void *a, const void *b, void *ctx)
{
	const struct ut_ops_column *columns = ctx;
	const struct ut_ops_column *x = &columns[*(const uint32_t *)a];
	const struct ut_ops_column *y = &columns[*(const uint32_t *)b];
	int order = ops_report_by_number(x->group, y->group);

	order = order ? order : ops_report_by_number(x->index, y->index);
	order = order ? order : strcmp(x->key, y->key);
	return order ? order : ops_report_by_number(x->sub, y->sub);
}

static int ops_report_compare_rows(const void *a, const void *b)
{
	const struct ut_ops_row *x = a, *y = b;
	int order = x->when < y->when ? -1 : x->when > y->when;

	order = order ? order : ops_report_by_number(x->kind, y->kind);
	return order ? order : ops_report_by_number(x->turn, y->turn);
}

/* All columns, or those that have a text somewhere. */
static void choose_columns(struct ut_ops_report *r)
{
	bool *used = ut_make(r->column_count + 1);

	for (size_t i = 0; i < r->cell_count; i++)
		used[r->cells[i].column] |= r->cells[i].text.len > 0;
	r->shown = 0;
	for (size_t i = 0; i < r->column_count; i++) {
		r->columns[i].place = r->column_count;
		if (used[i] || (!r->used_only && i != r->problem))
			r->by_place[r->shown++] = (uint32_t)i;
	}
	free(used);
}

void ut_ops_report_order(struct ut_ops_report *r)
{
	free(r->by_place);
	r->by_place = ut_make((r->column_count + 1) * sizeof(*r->by_place));
	choose_columns(r);
	if (r->shown)
		qsort_r(r->by_place, r->shown, sizeof(*r->by_place), compare_columns, r->columns);
	r->empty = UT_NEW_N(&r->arena, struct ut_str, r->shown + 1);
	for (size_t i = 0; i < r->shown; i++) {
		struct ut_ops_column *c = &r->columns[r->by_place[i]];

		c->place = i;
		r->empty[i] = (struct ut_str){ c->missing, strlen(c->missing) };
	}
	if (r->row_count)
		qsort(r->rows, r->row_count, sizeof(*r->rows), ops_report_compare_rows);
}

size_t ut_ops_place_of(const struct ut_ops_report *r, const char *name)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].name, name) && r->columns[i].place < r->shown)
			return r->columns[i].place;
	}
	return r->shown;
}

void ut_ops_row_texts(const struct ut_ops_report *r, size_t row, struct ut_str *texts)
{
	const struct ut_ops_row *from = &r->rows[row];

	memcpy(texts, r->empty, r->shown * sizeof(*texts));
	for (size_t p = 0; p < UT_OPS_PARTS; p++) {
		const struct ut_ops_cell *cells = r->cells + from->parts[p].first;

		for (size_t i = 0; i < from->parts[p].count; i++) {
			size_t place = r->columns[cells[i].column].place;

			if (place < r->shown)
				texts[place] = cells[i].text;
		}
	}
}

/* ---- texts --------------------------------------------------------------------------------- */

static size_t digits(struct ut_str s, size_t from)
{
	size_t n = 0;

	while (from + n < s.len && s.ptr[from + n] >= '0' && s.ptr[from + n] <= '9')
		n++;
	return n;
}

/* A number as JSON has them, without an exponent. */
bool ut_ops_is_number(struct ut_str s)
{
	size_t at = s.len && s.ptr[0] == '-', whole = digits(s, at);

	if (!whole || (whole > 1 && s.ptr[at] == '0'))
		return false;
	at += whole;
	if (at < s.len && s.ptr[at] == '.') {
		size_t part = digits(s, at + 1);

		if (!part)
			return false;
		at += 1 + part;
	}
	return at == s.len;
}
