/*
 * table_report_csv.c - rows for spreadsheets and scripts: commas as in RFC 4180, or tabs.
 *
 * Our own texts are always in quotes; what comes from elsewhere (ANY) only where it needs them, and
 * an empty text has its quotes there, so that it is not taken for nothing.
 */
#include <string.h>

#include "text/csv_write.h"
#include "text/out.h"
#include "text/table_report_parts.h"

static void put_where_needed(struct ut_out *o, const char *s, size_t len, bool text)
{
	bool guard = text && ut_csv_guarded(s, len);

	if (guard || (text && !len) || !ut_csv_plain(s, len))
		ut_csv_put_bytes(o, s, len, guard);
	else
		ut_out_write(o, s, len);
}

static void put_tsv(struct ut_out *o, const char *s, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *escape = s[i] == '\t'   ? "\\t"
				     : s[i] == '\n' ? "\\n"
				     : s[i] == '\r' ? "\\r"
				     : s[i] == '\\' ? "\\\\"
						    : NULL;

		if (!escape)
			continue;
		ut_out_write(o, s + from, i - from);
		ut_out_text(o, escape);
		from = i + 1;
	}
	ut_out_write(o, s + from, len - from);
}

static void table_report_csv_put_number(struct ut_report *r, const struct ut_report_column *c,
					const struct ut_report_cell *cell)
{
	uint8_t digits = c->data_digits;

	r->scratch.len = 0;
	if (!digits && c->type == UT_REPORT_SHARE)
		digits = UT_DIGITS_FIXED + 4;
	if (cell->type == UT_CELL_BIG)
		ut_report_put_big(&r->scratch, cell->big.high, cell->big.low);
	else if (!ut_report_put_digits(&r->scratch, digits, cell->real))
		ut_report_put_real(&r->scratch, cell->real);
	ut_out_write(r->out, r->scratch.data, r->scratch.len);
}

static void table_report_csv_put_text(struct ut_report *r, const struct ut_report_column *c,
				      struct ut_str s, bool text)
{
	if (r->opts.format == UT_REPORT_TSV)
		put_tsv(r->out, s.ptr, s.len);
	else if (c->type == UT_REPORT_ANY)
		put_where_needed(r->out, s.ptr, s.len, text);
	else if (c->type == UT_REPORT_WORD)
		ut_csv_put_field(r->out, s.ptr, s.len);
	else
		ut_csv_put_quoted(r->out, s.ptr, s.len);
}

static void table_report_csv_put_cell(struct ut_report *r, const struct ut_report_column *c,
				      const struct ut_report_cell *cell)
{
	switch (cell->type) {
	case UT_CELL_NONE:
		break;
	case UT_CELL_U64:
		ut_out_u64(r->out, cell->u64);
		break;
	case UT_CELL_I64:
		ut_out_i64(r->out, cell->i64);
		break;
	case UT_CELL_BIG:
	case UT_CELL_REAL:
		table_report_csv_put_number(r, c, cell);
		break;
	case UT_CELL_BOOL:
		ut_out_text(r->out, cell->u64 ? "true" : "false");
		break;
	case UT_CELL_TEXT:
	case UT_CELL_JSON:
		table_report_csv_put_text(r, c, cell->text, true);
		break;
	case UT_CELL_BLOB:
		r->scratch.len = 0;
		ut_report_put_blob(&r->scratch, cell->text);
		table_report_csv_put_text(r, c, (struct ut_str){ r->scratch.data, r->scratch.len },
					  false);
		break;
	}
}

static void put_comma(struct ut_report *r, bool *more)
{
	ut_out_write(r->out, r->opts.format == UT_REPORT_CSV ? "," : "\t", *more);
	*more = true;
}

static void table_report_csv_begin(struct ut_report *r)
{
	bool more = false;

	for (size_t i = 0; i < r->table.count; i++) {
		const char *name = r->names[i];

		if (!ut_report_has(r, i))
			continue;
		put_comma(r, &more);
		if (r->opts.format == UT_REPORT_TSV)
			put_tsv(r->out, name, strlen(name));
		else
			put_where_needed(r->out, name, strlen(name), false);
	}
	ut_out_text(r->out, "\n");
}

static void table_report_csv_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	bool more = false;

	for (size_t i = 0; i < r->table.count; i++) {
		if (!ut_report_has(r, i))
			continue;
		put_comma(r, &more);
		table_report_csv_put_cell(r, &r->table.columns[i], &cells[i]);
	}
	ut_out_text(r->out, "\n");
}

static void table_report_csv_end(struct ut_report *r)
{
	(void)r;
}

const struct ut_report_printer ut_report_csv_printer = { UT_FOR_CSV, table_report_csv_begin,
							 table_report_csv_row,
							 table_report_csv_end };
const struct ut_report_printer ut_report_tsv_printer = { UT_FOR_CSV, table_report_csv_begin,
							 table_report_csv_row,
							 table_report_csv_end };
