#include "cmd/query_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "text/cells.h"
#include "text/json_text.h"
#include "text/out.h"

#define WAITING_MOST 500u /* rows that decide on the widths */

const char *const ut_print_words[UT_PRINT_COUNT] = { "table", "csv", "tsv", "json", "jsonl" };

struct ut_print_column {
	const char *name; /* in JSON: unique */
	size_t width;     /* characters */
	bool numbers;     /* there are numbers ... */
	bool text;        /* ... and other things */
};

/* ---- one value ----------------------------------------------------------------------------- */

/* The shortest digits that read back as the same number; always recognisable as a real. */
static void put_real(struct ut_buf *b, double value)
{
	char text[UT_DOUBLE_ROOM];

	if (isnan(value) || isinf(value)) {
		ut_buf_text(b, isnan(value) ? "NaN" : value < 0 ? "-Inf" : "Inf");
		return;
	}
	ut_double_digits(text, value);
	ut_buf_text(b, text);
	if (!strpbrk(text, ".e"))
		ut_buf_text(b, ".0");
}

static void put_blob(struct ut_buf *b, const struct ut_value *v)
{
	ut_buf_text(b, "x'");
	for (size_t i = 0; i < v->len; i++)
		ut_buf_fmt(b, "%02x", (unsigned char)v->text[i]);
	ut_buf_char(b, '\'');
}

/* As text; NULL is nothing. */
static void put_value(struct ut_buf *b, const struct ut_value *v)
{
	switch (v->type) {
	case UT_VALUE_NULL:
		break;
	case UT_VALUE_INT:
		ut_buf_fmt(b, "%" PRId64, v->number);
		break;
	case UT_VALUE_REAL:
		put_real(b, v->real);
		break;
	case UT_VALUE_TEXT:
		ut_buf_add(b, v->text, v->len);
		break;
	case UT_VALUE_BLOB:
		put_blob(b, v);
		break;
	}
}

/* ---- CSV and TSV --------------------------------------------------------------------------- */

/* RFC 4180: quoted where needed; an empty text has its quotes, so that it is no NULL. */
static void put_csv(struct ut_out *o, const char *s, size_t len, bool text)
{
	bool guard = text && ut_cell_csv_guarded(s, len);

	if (guard || (text && !len) || !ut_cell_csv_plain(s, len))
		ut_cell_csv_bytes(o, s, len, guard);
	else
		ut_out_write(o, s, len);
}

static void put_tsv(struct ut_out *o, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\t')
			ut_out_text(o, "\\t");
		else if (s[i] == '\n')
			ut_out_text(o, "\\n");
		else if (s[i] == '\r')
			ut_out_text(o, "\\r");
		else if (s[i] == '\\')
			ut_out_text(o, "\\\\");
		else
			ut_out_write(o, s + i, 1);
	}
}

static void put_separated(struct ut_print *p, size_t i, const char *s, size_t len, bool text)
{
	bool csv = p->format == UT_PRINT_CSV;

	if (i)
		ut_out_text(p->out, csv ? "," : "\t");
	if (csv)
		put_csv(p->out, s, len, text);
	else
		put_tsv(p->out, s, len);
}

static void separated_header(struct ut_print *p)
{
	for (size_t i = 0; i < p->column_count; i++)
		put_separated(p, i, p->columns[i].name, strlen(p->columns[i].name), false);
	ut_out_text(p->out, "\n");
}

static void separated_row(struct ut_print *p, const struct ut_value *values)
{
	for (size_t i = 0; i < p->column_count; i++) {
		struct ut_buf b = { 0 };

		put_value(&b, &values[i]);
		put_separated(p, i, b.data ? b.data : "", b.len, values[i].type == UT_VALUE_TEXT);
		ut_buf_release(&b);
	}
	ut_out_text(p->out, "\n");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static bool is_taken(const struct ut_print *p, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++) {
		if (!strcmp(p->columns[i].name, name))
			return true;
	}
	return false;
}

/* Two columns of one name would be one member: the second becomes name_2. */
static void make_unique(struct ut_print *p)
{
	for (size_t i = 1; i < p->column_count; i++) {
		const char *name = p->columns[i].name;

		for (unsigned int n = 2; is_taken(p, i, p->columns[i].name); n++)
			p->columns[i].name = ut_str_fmt(&p->arena, "%s_%u", name, n);
	}
}

static void json_value(struct ut_out *o, const struct ut_value *v)
{
	struct ut_buf b = { 0 };

	switch (v->type) {
	case UT_VALUE_NULL:
		ut_out_text(o, "null");
		break;
	case UT_VALUE_INT:
		ut_out_i64(o, v->number);
		break;
	case UT_VALUE_REAL:
		ut_out_json_double(o, v->real);
		break;
	case UT_VALUE_TEXT:
		ut_out_json_str(o, v->text, v->len);
		break;
	case UT_VALUE_BLOB:
		put_blob(&b, v);
		ut_out_json_str(o, b.data, b.len);
		ut_buf_release(&b);
		break;
	}
}

static void json_row(struct ut_print *p, const struct ut_value *values)
{
	if (p->format == UT_PRINT_JSON)
		ut_out_text(p->out, p->rows ? ",\n" : "");
	for (size_t i = 0; i < p->column_count; i++) {
		const char *name = p->columns[i].name;

		ut_out_text(p->out, i ? "," : "{");
		ut_out_json_str(p->out, name, strlen(name));
		ut_out_text(p->out, ":");
		json_value(p->out, &values[i]);
	}
	ut_out_text(p->out, p->format == UT_PRINT_JSON ? "}" : "}\n");
}

/* ---- the table ----------------------------------------------------------------------------- */

/* Control characters must not move the cursor; newlines and tabs are shown as such. */
static void put_clean(struct ut_buf *b, const char *s, size_t n, bool ok)
{
	unsigned char first = (unsigned char)s[0];
	const char *named = n == 1 && first ? strchr("\nn\tt\rr", first) : NULL;

	if (!ok) {
		ut_buf_text(b, UT_UTF8_BAD);
	} else if (named && first < 0x20) {
		ut_buf_char(b, '\\');
		ut_buf_char(b, named[1]);
	} else if ((n == 1 && (first < 0x20 || first == 0x7f)) ||
		   (n == 2 && first == 0xc2 && (unsigned char)s[1] < 0xa0)) {
		ut_buf_char(b, '?');
	} else {
		ut_buf_add(b, s, n);
	}
}

/* What is too wide loses its middle. */
static void shorten(const struct ut_print *p, struct ut_buf *b)
{
	struct ut_buf shorter = { 0 };

	if (!p->widest || ut_cell_columns(b->data, b->len) <= p->widest)
		return;
	ut_cell_name(&shorter, b->data, b->len, p->widest);
	ut_buf_release(b);
	*b = shorter;
}

static void make_cell(struct ut_print *p, struct ut_buf *cell, const struct ut_value *v)
{
	struct ut_buf raw = { 0 };
	size_t n;
	bool ok;

	cell->len = 0;
	ut_buf_text(cell, "");
	if (v->type == UT_VALUE_NULL) {
		ut_buf_text(cell, "NULL");
		return;
	}
	put_value(&raw, v);
	for (size_t i = 0; i < raw.len; i += n) {
		n = ut_utf8_step(raw.data + i, raw.len - i, &ok);
		put_clean(cell, raw.data + i, n, ok);
	}
	ut_buf_release(&raw);
	shorten(p, cell);
}

static void table_cell(struct ut_print *p, size_t i, const char *s, size_t len)
{
	const struct ut_print_column *c = &p->columns[i];
	size_t chars = ut_cell_columns(s, len);
	int blanks = chars < c->width ? (int)(c->width - chars) : 0;
	bool right = c->numbers && !c->text;

	if (i)
		ut_out_text(p->out, "  ");
	if (right)
		ut_out_fmt(p->out, "%*s", blanks, "");
	ut_out_write(p->out, s, len);
	if (!right && i + 1 < p->column_count)
		ut_out_fmt(p->out, "%*s", blanks, "");
}

static void table_line(struct ut_print *p, const struct ut_buf *cells)
{
	for (size_t i = 0; i < p->column_count; i++)
		table_cell(p, i, cells[i].data, cells[i].len);
	ut_out_text(p->out, "\n");
}

/* The header and the rows that have waited for it. */
static void lay_out(struct ut_print *p)
{
	size_t most = p->widest ? p->widest : UT_CELL_PAD;

	p->laid_out = true;
	for (size_t i = 0; i < p->column_count; i++) {
		struct ut_print_column *c = &p->columns[i];

		c->width = ut_cell_columns(c->name, strlen(c->name));
		c->width = c->width < most ? c->width : most;
		for (size_t r = 0; r < p->waiting; r++) {
			const struct ut_buf *cell = &p->cells[r * p->column_count + i];
			size_t chars = ut_cell_columns(cell->data, cell->len);

			chars = chars < most ? chars : most;
			c->width = chars > c->width ? chars : c->width;
		}
	}
	for (size_t i = 0; i < p->column_count; i++)
		table_cell(p, i, p->columns[i].name, strlen(p->columns[i].name));
	ut_out_text(p->out, "\n");
	for (size_t i = 0; i < p->column_count; i++) {
		ut_out_text(p->out, i ? "  " : "");
		for (size_t k = 0; k < p->columns[i].width; k++)
			ut_out_text(p->out, "-");
	}
	ut_out_text(p->out, "\n");
	for (size_t r = 0; r < p->waiting; r++)
		table_line(p, &p->cells[r * p->column_count]);
}

static void table_row(struct ut_print *p, const struct ut_value *values)
{
	struct ut_buf *cells = &p->cells[p->laid_out ? 0 : p->waiting * p->column_count];

	for (size_t i = 0; i < p->column_count; i++) {
		make_cell(p, &cells[i], &values[i]);
		if (values[i].type == UT_VALUE_INT || values[i].type == UT_VALUE_REAL)
			p->columns[i].numbers |= !p->laid_out;
		else if (values[i].type != UT_VALUE_NULL)
			p->columns[i].text |= !p->laid_out;
	}
	if (p->laid_out)
		table_line(p, cells);
	else if (++p->waiting == WAITING_MOST)
		lay_out(p);
}

/* ---- results ------------------------------------------------------------------------------- */

static void release_statement(struct ut_print *p)
{
	for (size_t i = 0; p->cells && i < WAITING_MOST * p->column_count; i++)
		ut_buf_release(&p->cells[i]);
	free(p->cells);
	p->cells = NULL;
	ut_arena_release(&p->arena);
}

static void begin(void *ctx, size_t columns, const char *const *names)
{
	struct ut_print *p = ctx;

	release_statement(p);
	p->rows = p->waiting = 0;
	p->laid_out = false;
	p->column_count = columns;
	p->columns = UT_NEW_N(&p->arena, struct ut_print_column, columns);
	for (size_t i = 0; i < columns; i++)
		p->columns[i].name = ut_arena_copy(&p->arena, names[i], strlen(names[i]));
	if (p->format == UT_PRINT_TABLE)
		p->cells = ut_make(WAITING_MOST * columns * sizeof(*p->cells));
	else if (p->format == UT_PRINT_CSV || p->format == UT_PRINT_TSV)
		separated_header(p);
	else
		make_unique(p);
	if (p->format == UT_PRINT_JSON)
		ut_out_text(p->out, "[");
}

static int row(void *ctx, const struct ut_value *values)
{
	struct ut_print *p = ctx;

	if (p->format == UT_PRINT_TABLE)
		table_row(p, values);
	else if (p->format == UT_PRINT_CSV || p->format == UT_PRINT_TSV)
		separated_row(p, values);
	else
		json_row(p, values);
	p->rows++;
	return 0;
}

static void end(void *ctx)
{
	struct ut_print *p = ctx;

	if (p->format == UT_PRINT_TABLE && !p->laid_out)
		lay_out(p);
	if (p->format == UT_PRINT_JSON)
		ut_out_text(p->out, "]\n");
	release_statement(p);
}

void ut_print_init(struct ut_print *p, struct ut_out *out, enum ut_print_format format,
		   size_t widest)
{
	*p = (struct ut_print){ .out = out, .format = format, .widest = widest };
	p->result = (struct ut_result){ .ctx = p, .begin = begin, .row = row, .end = end };
}

void ut_print_release(struct ut_print *p)
{
	release_statement(p);
}
