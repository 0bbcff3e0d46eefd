/*
 * table_report_json.c - rows as JSON: a list of objects, an object a line, or for a page, which
 * gets what is known of the columns once and then rows as lists.
 */
#include <string.h>

#include "text/json_text.h"
#include "text/out.h"
#include "text/table_report_parts.h"

static void put_real(struct ut_report *r, const struct ut_report_column *c, double value)
{
	uint8_t digits = c->data_digits;

	r->scratch.len = 0;
	if (!digits && c->type == UT_REPORT_SHARE)
		digits = UT_DIGITS_FIXED + 4;
	if (digits >= UT_DIGITS_FIXED && ut_report_put_digits(&r->scratch, digits, value))
		ut_out_write(r->out, r->scratch.data, r->scratch.len);
	else
		ut_out_json_double(r->out, value);
}

static void table_report_json_put_value(struct ut_report *r, const struct ut_report_column *c,
					const struct ut_report_cell *cell)
{
	switch (cell->type) {
	case UT_CELL_NONE:
		ut_out_text(r->out, "null");
		break;
	case UT_CELL_U64:
		ut_out_u64(r->out, cell->u64);
		break;
	case UT_CELL_I64:
		ut_out_i64(r->out, cell->i64);
		break;
	case UT_CELL_REAL:
		put_real(r, c, cell->real);
		break;
	case UT_CELL_BOOL:
		ut_out_text(r->out, cell->u64 ? "true" : "false");
		break;
	case UT_CELL_TEXT:
		ut_out_json_str(r->out, cell->text.ptr, cell->text.len);
		break;
	case UT_CELL_JSON:
		ut_out_write(r->out, cell->text.ptr, cell->text.len);
		break;
	case UT_CELL_BIG:
		r->scratch.len = 0;
		ut_report_put_big(&r->scratch, cell->big.high, cell->big.low);
		ut_out_write(r->out, r->scratch.data, r->scratch.len);
		break;
	case UT_CELL_BLOB:
		r->scratch.len = 0;
		ut_report_put_blob(&r->scratch, cell->text);
		ut_out_json_str(r->out, r->scratch.data, r->scratch.len);
		break;
	}
}

/* ---- objects ------------------------------------------------------------------------------- */

/* The names are the same in all rows: made once. */
static void make_members(struct ut_report *r)
{
	struct ut_buf b = { 0 };

	r->members = UT_NEW_N(&r->arena, struct ut_str, r->table.count + 1);
	for (size_t i = 0; i < r->table.count; i++) {
		b.len = 0;
		ut_json_text_str(&b, r->names[i], strlen(r->names[i]));
		ut_buf_char(&b, ':');
		r->members[i] = (struct ut_str){ ut_arena_copy(&r->arena, b.data, b.len), b.len };
	}
	ut_buf_release(&b);
}

static void table_report_json_put_member(struct ut_report *r, size_t i,
					 const struct ut_report_cell *cell, bool more)
{
	ut_out_write(r->out, ",", more);
	ut_out_write(r->out, r->members[i].ptr, r->members[i].len);
	table_report_json_put_value(r, &r->table.columns[i], cell);
}

static bool is_left_out(const struct ut_report *r, size_t i, const struct ut_report_cell *cells)
{
	return !ut_report_has(r, i) ||
	       (r->table.columns[i].optional && cells[i].type == UT_CELL_NONE);
}

/* The columns from i on that are one group; returns where it ends. */
static size_t table_report_json_put_group(struct ut_report *r, size_t i,
					  const struct ut_report_cell *cells, bool more)
{
	const char *group = r->table.columns[i].group;
	bool any = false, inside = false;
	size_t end = i;

	for (; end < r->table.count && r->table.columns[end].group &&
	       !strcmp(r->table.columns[end].group, group);
	     end++)
		any |= cells[end].type != UT_CELL_NONE;
	ut_out_fmt(r->out, "%s\"%s\":%s", more ? "," : "", group, any ? "{" : "null");
	for (; any && i < end; i++) {
		if (is_left_out(r, i, cells))
			continue;
		table_report_json_put_member(r, i, &cells[i], inside);
		inside = true;
	}
	ut_out_text(r->out, any ? "}" : "");
	return end;
}

static void put_object(struct ut_report *r, const struct ut_report_cell *cells)
{
	bool more = false;

	ut_out_text(r->out, "{");
	for (size_t i = 0; i < r->table.count; i++) {
		if (is_left_out(r, i, cells))
			continue;
		if (r->table.columns[i].group)
			i = table_report_json_put_group(r, i, cells, more) - 1;
		else
			table_report_json_put_member(r, i, &cells[i], more);
		more = true;
	}
	ut_out_text(r->out, "}");
}

static void json_begin(struct ut_report *r)
{
	make_members(r);
	ut_out_text(r->out, r->opts.open);
}

static void json_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	ut_out_text(r->out, r->rows ? r->opts.next : r->opts.first);
	put_object(r, cells);
}

static void json_end(struct ut_report *r)
{
	ut_out_text(r->out, r->opts.close);
}

static void lines_begin(struct ut_report *r)
{
	make_members(r);
}

static void lines_end(struct ut_report *r)
{
	(void)r;
}

static void lines_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	put_object(r, cells);
	ut_out_text(r->out, "\n");
}

/* ---- for a page ---------------------------------------------------------------------------- */

static void table_report_json_put_text(struct ut_out *o, const char *key, const char *text)
{
	ut_out_fmt(o, "\"%s\":", key);
	if (text)
		ut_out_json_str(o, text, strlen(text));
	else
		ut_out_text(o, "null");
}

static void table_report_json_put_column(struct ut_report *r, size_t i)
{
	const struct ut_report_column *c = &r->table.columns[i];

	ut_out_text(r->out, "{");
	table_report_json_put_text(r->out, "key", c->type == UT_REPORT_ANY ? r->names[i] : c->key);
	if (c->group) {
		ut_out_text(r->out, ",");
		table_report_json_put_text(r->out, "group", c->group);
	}
	ut_out_text(r->out, ",");
	table_report_json_put_text(r->out, "title", c->title ? c->title : c->key);
	ut_out_text(r->out, ",");
	table_report_json_put_text(r->out, "unit", c->unit);
	ut_out_text(r->out, ",");
	table_report_json_put_text(r->out, "type", ut_report_type_words[c->type]);
	ut_out_text(r->out, "}");
}

static void page_begin(struct ut_report *r)
{
	bool more = false;

	ut_out_text(r->out, "{\"columns\":[");
	for (size_t i = 0; i < r->table.count; i++) {
		if (!ut_report_has(r, i))
			continue;
		ut_out_text(r->out, more ? ",\n" : "");
		table_report_json_put_column(r, i);
		more = true;
	}
	ut_out_text(r->out, "],\n\"rows\":[");
}

static void page_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	bool more = false;

	ut_out_text(r->out, r->rows ? ",\n[" : "\n[");
	for (size_t i = 0; i < r->table.count; i++) {
		if (!ut_report_has(r, i))
			continue;
		ut_out_write(r->out, ",", more);
		table_report_json_put_value(r, &r->table.columns[i], &cells[i]);
		more = true;
	}
	ut_out_text(r->out, "]");
}

static void page_end(struct ut_report *r)
{
	ut_out_text(r->out, "]}\n");
}

const struct ut_report_printer ut_report_json_printer = { UT_FOR_JSON, json_begin, json_row,
							  json_end };
const struct ut_report_printer ut_report_jsonl_printer = { UT_FOR_JSON, lines_begin, lines_row,
							   lines_end };
const struct ut_report_printer ut_report_page_printer = { UT_FOR_JSON, page_begin, page_row,
							  page_end };
