#include "text/table_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/json_text.h"
#include "text/table_report_parts.h"

const char *const ut_report_format_words[UT_REPORT_FORMATS] = { "table", "csv",   "tsv",
								"json",  "jsonl", "page" };

const char *const ut_report_type_words[] = {
#define TYPE_WORD(type, word) word,
	UT_REPORT_TYPE_LIST(TYPE_WORD)
#undef TYPE_WORD
};

/* ---- rows for a caller --------------------------------------------------------------------- */

static void call_nobody(struct ut_report *r)
{
	(void)r;
}

static void call_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	r->opts.row(r->opts.ctx, cells);
}

static const struct ut_report_printer call_printer = { 0, call_nobody, call_row, call_nobody };

static void typed_begin(struct ut_report *r)
{
	const char **names = ut_make((r->table.count + 1) * sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < r->table.count; i++) {
		if (ut_report_has(r, i))
			names[n++] = r->names[i];
	}
	r->opts.begin(r->opts.ctx, names, n);
	free(names);
}

static void typed_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	struct ut_report_cell *shown = ut_make((r->table.count + 1) * sizeof(*shown));
	size_t n = 0;

	for (size_t i = 0; i < r->table.count; i++) {
		if (ut_report_has(r, i))
			shown[n++] = cells[i];
	}
	r->opts.row(r->opts.ctx, shown);
	free(shown);
}

static const struct ut_report_printer typed_printer = { UT_FOR_CSV, typed_begin, typed_row,
							call_nobody };

static const struct ut_report_printer *const printers[] = {
	&ut_report_table_printer,
	&ut_report_csv_printer,
	&ut_report_tsv_printer,
	&ut_report_json_printer,
	&ut_report_jsonl_printer,
	&ut_report_page_printer,
	&call_printer,
	&typed_printer,
};

/* ---- values -------------------------------------------------------------------------------- */

struct ut_report_cell ut_report_text(const char *s)
{
	return ut_report_str((struct ut_str){ s, strlen(s) });
}

void ut_report_put_real(struct ut_buf *b, double value)
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

void ut_report_put_big(struct ut_buf *b, uint64_t high, uint64_t low)
{
	__extension__ unsigned __int128 value = high;
	char text[48], *at = text + sizeof(text);
	value = value << 64 | low;

	do {
		*--at = (char)('0' + (int)(value % 10));
		value /= 10;
	} while (value);
	ut_buf_add(b, at, (size_t)(text + sizeof(text) - at));
}

void ut_report_put_blob(struct ut_buf *b, struct ut_str bytes)
{
	ut_buf_text(b, "x'");
	for (size_t i = 0; i < bytes.len; i++)
		ut_buf_fmt(b, "%02x", (unsigned char)bytes.ptr[i]);
	ut_buf_char(b, '\'');
}

bool ut_report_put_digits(struct ut_buf *b, uint8_t digits, double value)
{
	if (!digits || !isfinite(value))
		return false;
	if (digits >= UT_DIGITS_FIXED)
		ut_buf_fmt(b, "%.*f", digits - UT_DIGITS_FIXED, value);
	else
		ut_buf_fmt(b, "%.*g", digits, value);
	return true;
}

bool ut_report_has(const struct ut_report *r, size_t column)
{
	unsigned int readers = r->table.columns[column].readers;

	return !readers || readers & r->printer->reader;
}

bool ut_report_for_people(const struct ut_report *r)
{
	return r->opts.format == UT_REPORT_TABLE;
}

/* ---- order --------------------------------------------------------------------------------- */

/* "total" and "total_ns" mean the same column; "before_total" one of a group. */
static void make_name(struct ut_buf *b, const struct ut_report_column *c, bool with_group,
		      bool with_unit)
{
	b->len = 0;
	if (with_group && c->group)
		ut_buf_fmt(b, "%s_", c->group);
	ut_buf_text(b, c->key);
	if (with_unit && c->unit && strcmp(c->unit, "%") != 0)
		ut_buf_fmt(b, "_%s", c->unit);
}

static bool table_report_is_called(const struct ut_report_column *c, const char *word, size_t len)
{
	struct ut_buf name = { 0 };
	bool is = false;

	for (int with_unit = 0; with_unit < 2 && !is; with_unit++) {
		make_name(&name, c, true, with_unit);
		is = name.len == len && !memcmp(name.data, word, len);
	}
	ut_buf_release(&name);
	return is;
}

static bool find_column(const struct ut_report_table *table, const char *sort, size_t *column)
{
	size_t len = strcspn(sort, ":");

	for (*column = 0; *column < table->count; ++*column) {
		if (table_report_is_called(&table->columns[*column], sort, len))
			return true;
	}
	return false;
}

static void list_keys(struct ut_buf *b, const struct ut_report_table *table)
{
	struct ut_buf name = { 0 };
	size_t first;

	for (size_t i = 0; i < table->count; i++) {
		make_name(&name, &table->columns[i], true, false);
		if (find_column(table, name.data, &first) && first == i)
			ut_buf_fmt(b, " %s", name.data);
	}
	ut_buf_release(&name);
}

int ut_report_check_sort(const struct ut_report_table *table, const char *sort, struct ut_err *err)
{
	struct ut_buf keys = { 0 };
	const char *way = sort ? strchr(sort, ':') : NULL;
	size_t column;

	if (way && strcmp(way, ":asc") != 0 && strcmp(way, ":desc") != 0)
		return ut_err_set(err, -EINVAL,
				  "--sort: behind a column there may be :asc or :desc, not '%s'",
				  way);
	if (!sort || find_column(table, sort, &column))
		return 0;
	list_keys(&keys, table);
	ut_err_set(err, -EINVAL, "--sort does not know '%s'; it takes%s", sort, keys.data);
	ut_buf_release(&keys);
	return -EINVAL;
}

static bool table_report_is_text(const struct ut_report_cell *c)
{
	return c->type == UT_CELL_TEXT || c->type == UT_CELL_BLOB || c->type == UT_CELL_JSON;
}

static long double table_report_number_of(const struct ut_report_cell *c)
{
	switch (c->type) {
	case UT_CELL_U64:
	case UT_CELL_BOOL:
		return (long double)c->u64;
	case UT_CELL_I64:
		return (long double)c->i64;
	case UT_CELL_REAL:
		return isnan(c->real) ? -HUGE_VALL : (long double)c->real;
	case UT_CELL_BIG:
		return (long double)c->big.high * 0x1p64L + (long double)c->big.low;
	case UT_CELL_NONE:
	case UT_CELL_TEXT:
	case UT_CELL_BLOB:
	case UT_CELL_JSON:
		break;
	}
	return 0;
}

static int compare_texts(struct ut_str x, struct ut_str y)
{
	int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);

	return order ? order : (x.len > y.len) - (x.len < y.len);
}

/* Numbers before texts before nothing, whichever way. */
static int table_report_rank_of(const struct ut_report_cell *c)
{
	return c->type == UT_CELL_NONE ? 2 : table_report_is_text(c);
}

static int compare_cells(const struct ut_report_cell *x, const struct ut_report_cell *y, bool rises)
{
	long double a, b;
	int order = table_report_rank_of(x) - table_report_rank_of(y);

	if (order || x->type == UT_CELL_NONE)
		return order;
	if (table_report_is_text(x)) {
		order = compare_texts(x->text, y->text);
	} else {
		a = table_report_number_of(x);
		b = table_report_number_of(y);
		order = (a > b) - (a < b);
	}
	return rises ? order : -order;
}

/* Rows that are equal stay as they came. */
static int table_report_compare_rows(const void *a, const void *b, void *report)
{
	const struct ut_report *r = report;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = compare_cells(&r->kept[x * r->table.count + r->sort_column],
				  &r->kept[y * r->table.count + r->sort_column], r->sort_rises);

	return order ? order : (x > y) - (x < y);
}

/* Where nothing is said, the largest number comes first, but A before Z. */
static void choose_layout(struct ut_report *r)
{
	const char *way = strchr(r->opts.sort, ':');

	if (way) {
		r->sort_rises = !strcmp(way, ":asc");
		return;
	}
	r->sort_rises = false;
	for (size_t i = 0; i < r->kept_count; i++) {
		const struct ut_report_cell *c = &r->kept[i * r->table.count + r->sort_column];

		if (c->type != UT_CELL_NONE) {
			r->sort_rises = table_report_is_text(c);
			return;
		}
	}
}

static void table_report_keep(struct ut_report *r, const struct ut_report_cell *cells)
{
	const size_t count = r->table.count;
	struct ut_report_cell *to;

	r->kept = ut_grow(r->kept, (r->kept_count + 1) * count, &r->kept_cap, sizeof(*r->kept));
	to = &r->kept[r->kept_count++ * count];
	memcpy(to, cells, count * sizeof(*cells));
	for (size_t i = 0; i < count; i++) {
		if (table_report_is_text(&to[i]))
			to[i].text.ptr = ut_arena_copy(&r->arena, to[i].text.ptr, to[i].text.len);
		if (to[i].said)
			to[i].said = ut_arena_copy(&r->arena, to[i].said, strlen(to[i].said));
	}
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void leave_out(struct ut_report *r, const struct ut_report_cell *cells)
{
	r->left++;
	for (size_t i = 0; i < r->table.count; i++) {
		if (r->table.columns[i].rest)
			r->rest += table_report_number_of(&cells[i]);
	}
}

static void table_report_print(struct ut_report *r, const struct ut_report_cell *cells)
{
	if (r->opts.limit && r->rows == r->opts.limit) {
		leave_out(r, cells);
		return;
	}
	r->printer->row(r, cells);
	r->rows++;
}

static void print_kept(struct ut_report *r)
{
	size_t *order = ut_make((r->kept_count + 1) * sizeof(*order));

	for (size_t i = 0; i < r->kept_count; i++)
		order[i] = i;
	choose_layout(r);
	qsort_r(order, r->kept_count, sizeof(*order), table_report_compare_rows, r);
	for (size_t i = 0; i < r->kept_count; i++)
		table_report_print(r, &r->kept[order[i] * r->table.count]);
	free(order);
}

struct ut_report *ut_report_open(struct ut_out *out, const struct ut_report_opts *opts)
{
	struct ut_report *r = ut_make(sizeof(*r));

	r->out = out;
	r->opts = *opts;
	r->opts.open = opts->open ? opts->open : "[";
	r->opts.first = opts->first ? opts->first : "";
	r->opts.next = opts->next ? opts->next : ",\n";
	r->opts.close = opts->close ? opts->close : "]\n";
	r->printer = printers[opts->format];
	return r;
}

static void forget_table(struct ut_report *r)
{
	free(r->kept);
	free(r->shown);
	r->kept = NULL;
	r->shown = NULL;
	r->kept_count = r->kept_cap = r->shown_cap = r->waiting = 0;
	r->text.len = 0;
	ut_arena_release(&r->arena);
}

void ut_report_close(struct ut_report *r)
{
	forget_table(r);
	ut_buf_release(&r->text);
	ut_buf_release(&r->scratch);
	free(r);
}

/* Two columns of one name would be one member of JSON: the second becomes name_2. */
static bool is_taken(const struct ut_report *r, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++) {
		if (ut_report_has(r, i) && !strcmp(r->names[i], name))
			return true;
	}
	return false;
}

static void name_columns(struct ut_report *r)
{
	const bool grouped = r->printer->reader == UT_FOR_CSV;
	struct ut_buf b = { 0 };

	r->names = UT_NEW_N(&r->arena, char *, r->table.count + 1);
	for (size_t i = 0; i < r->table.count; i++) {
		make_name(&b, &r->table.columns[i], grouped, true);
		r->names[i] = ut_arena_copy(&r->arena, b.data, b.len);
		for (unsigned int n = 2; !grouped && r->table.columns[i].type == UT_REPORT_ANY &&
					 is_taken(r, i, r->names[i]);
		     n++)
			r->names[i] = ut_str_fmt(&r->arena, "%s_%u", r->table.columns[i].key, n);
	}
	ut_buf_release(&b);
}

int ut_report_begin(struct ut_report *r, const struct ut_report_table *table, struct ut_err *err)
{
	int rc = ut_report_check_sort(table, r->opts.sort, err);

	if (rc)
		return rc;
	forget_table(r);
	r->table = *table;
	r->rows = r->left = 0;
	r->rest = 0;
	r->sorted = r->opts.sort && find_column(table, r->opts.sort, &r->sort_column);
	name_columns(r);
	r->printer->begin(r);
	return 0;
}

void ut_report_add(struct ut_report *r, const struct ut_report_cell *cells)
{
	if (r->sorted)
		table_report_keep(r, cells);
	else
		table_report_print(r, cells);
}

void ut_report_end(struct ut_report *r)
{
	if (r->sorted)
		print_kept(r);
	r->printer->end(r);
	forget_table(r);
}

struct ut_report *ut_report_start(struct ut_out *out, const struct ut_report_opts *opts,
				  const struct ut_report_table *table)
{
	struct ut_report *r = ut_report_open(out, opts);
	struct ut_err err = { 0 };

	if (ut_report_begin(r, table, &err))
		abort(); /* ours: it was not checked */
	return r;
}

void ut_report_finish(struct ut_report *r)
{
	ut_report_end(r);
	ut_report_close(r);
}

uint64_t ut_report_left(const struct ut_report *r, long double *rest)
{
	if (rest)
		*rest = r->rest;
	return r->left;
}
