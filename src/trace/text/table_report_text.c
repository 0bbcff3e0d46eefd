/*
 * table_report_text.c - a table for people: columns as wide as what is in them, up to a sensible
 * width, so that one name of thousands of characters does not move the numbers of all others out of
 * sight. Lines do not end in blanks.
 *
 * The first rows wait, as text, until there are enough of them to decide on the widths.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/size.h"
#include "base/utf8.h"
#include "text/cells.h"
#include "text/digits.h"
#include "text/out.h"
#include "text/table_report_parts.h"

#define WAITING_MOST  500u       /* rows that decide on the widths, of results of any size ... */
#define WAITING_BYTES (8u << 20) /* ... and of our own tables: as many as fit here */
#define LEAST_CUT     24u        /* columns of a text on a terminal that is too narrow */
#define BETWEEN       2u         /* blanks between columns */

#define BOLD  "\x1b[1m"
#define PLAIN "\x1b[0m"

/* ---- one cell ------------------------------------------------------------------------------ */

static bool table_report_text_is_plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)(s[i] - 0x20) >= 0x5f)
			return false;
	}
	return true;
}

/* Newlines and tabs of texts that are not ours are told as such. */
static void put_escaped(struct ut_buf *b, const char *s, size_t len)
{
	static const char named[] = "\nn\tt\rr";

	for (size_t i = 0; i < len; i++) {
		const char *n = s[i] ? strchr(named, s[i]) : NULL;

		if (n && (unsigned char)s[i] < 0x20) {
			ut_buf_char(b, '\\');
			ut_buf_char(b, n[1]);
		} else {
			ut_buf_char(b, s[i]);
		}
	}
}

/* Returns its columns. */
static size_t table_report_text_put_name(struct ut_report *r, const char *s, size_t len, size_t cut)
{
	const size_t most = cut ? cut : SIZE_MAX;

	if (len <= most && table_report_text_is_plain(s, len)) {
		ut_buf_add(&r->text, s, len);
		return len;
	}
	if (!r->table.ruled)
		return ut_cell_name(&r->text, s, len, most);
	r->scratch.len = 0;
	ut_buf_text(&r->scratch, "");
	put_escaped(&r->scratch, s, len);
	return ut_cell_name(&r->text, r->scratch.data, r->scratch.len, most);
}

static uint64_t to_u64(double value)
{
	return !(value > 0) ? 0 : value < 1.8e19 ? (uint64_t)value : UINT64_MAX;
}

/* Amounts that have a unit of their own for every size. */
static void put_amount(struct ut_buf *b, enum ut_report_type type, uint64_t value)
{
	char text[UT_CELL_TIME];

	if (type == UT_REPORT_TIME)
		ut_buf_text(b, ut_cell_time(text, value));
	else
		ut_buf_text(b, ut_size_text(text, sizeof(text), value));
}

static void put_whole(struct ut_buf *b, const struct ut_report_cell *cell)
{
	char text[UT_DIGITS_ROOM], *p = text;
	uint64_t value = cell->u64;

	if (cell->type == UT_CELL_I64 && cell->i64 < 0) {
		*p++ = '-';
		value = -value;
	}
	ut_buf_add(b, text, (size_t)(ut_digits_u64(p, value) - text));
}

static uint64_t whole_of(const struct ut_report_cell *cell)
{
	switch (cell->type) {
	case UT_CELL_REAL:
		return to_u64(cell->real);
	case UT_CELL_BIG: /* people read four digits */
		return cell->big.high ? UINT64_MAX : cell->big.low;
	case UT_CELL_I64:
		return cell->i64 < 0 ? -cell->u64 : cell->u64; /* the sign is told before it */
	case UT_CELL_NONE:
	case UT_CELL_U64:
	case UT_CELL_BOOL:
	case UT_CELL_TEXT:
	case UT_CELL_BLOB:
	case UT_CELL_JSON:
		break;
	}
	return cell->u64;
}

static void put_real(struct ut_buf *b, const struct ut_report_column *c, double value)
{
	if (c->type == UT_REPORT_ANY) {
		ut_report_put_real(b, value);
	} else if (c->type == UT_REPORT_SHARE) {
		ut_buf_fmt(b, "%.*f%%", c->digits ? c->digits - UT_DIGITS_FIXED : 1, value);
	} else if (!ut_report_put_digits(b, c->digits ? c->digits : 6, value)) {
		ut_buf_fmt(b, "%g", value);
	}
}

static void table_report_text_put_number(struct ut_report *r, const struct ut_report_column *c,
					 const struct ut_report_cell *cell)
{
	if (c->type == UT_REPORT_TIME || c->type == UT_REPORT_BYTES) {
		if (cell->type == UT_CELL_I64 && cell->i64 < 0)
			ut_buf_char(&r->text, '-');
		put_amount(&r->text, c->type, whole_of(cell));
	} else if (cell->type == UT_CELL_REAL) {
		put_real(&r->text, c, cell->real);
	} else if (cell->type == UT_CELL_BIG) {
		ut_report_put_big(&r->text, cell->big.high, cell->big.low);
	} else if (cell->type == UT_CELL_BOOL) {
		ut_buf_text(&r->text, cell->u64 ? "true" : "false");
	} else {
		put_whole(&r->text, cell);
	}
}

/* Appends the cell to the text; its columns. */
static size_t table_report_text_put_cell(struct ut_report *r, size_t i,
					 const struct ut_report_cell *cell)
{
	const struct ut_report_column *c = &r->table.columns[i];
	const size_t cut = r->shapes[i].cut, before = r->text.len;
	struct ut_buf blob = { 0 };
	size_t columns;

	if (cell->said)
		return table_report_text_put_name(r, cell->said, strlen(cell->said), cut);
	switch (cell->type) {
	case UT_CELL_NONE:
		ut_buf_text(&r->text, c->type == UT_REPORT_ANY ? "NULL" : "");
		break;
	case UT_CELL_TEXT:
	case UT_CELL_JSON:
		return table_report_text_put_name(r, cell->text.ptr, cell->text.len, cut);
	case UT_CELL_BLOB:
		ut_report_put_blob(&blob, cell->text);
		columns = table_report_text_put_name(r, blob.data, blob.len, cut);
		ut_buf_release(&blob);
		return columns;
	case UT_CELL_U64:
	case UT_CELL_I64:
	case UT_CELL_BIG:
	case UT_CELL_REAL:
	case UT_CELL_BOOL:
		table_report_text_put_number(r, c, cell);
		break;
	}
	return r->text.len - before;
}

/* ---- lines --------------------------------------------------------------------------------- */

static bool is_right(const struct ut_report *r, size_t i)
{
	const struct ut_report_column *c = &r->table.columns[i];

	if (c->type == UT_REPORT_ANY)
		return r->shapes[i].numbers && !r->shapes[i].texts;
	return !c->left && c->type != UT_REPORT_TEXT && c->type != UT_REPORT_WORD;
}

static void put_blanks(struct ut_out *o, size_t n)
{
	static const char blanks[] =
		"                                                                ";

	for (; n >= sizeof(blanks); n -= sizeof(blanks) - 1)
		ut_out_write(o, blanks, sizeof(blanks) - 1);
	ut_out_write(o, blanks, n);
}

/* Blanks wait until something follows them: *blanks is how many. */
static void line_cell(struct ut_report *r, size_t i, const char *s, struct ut_report_shown cell,
		      size_t *blanks)
{
	const struct ut_report_shape *shape = &r->shapes[i];
	size_t pad = cell.columns < shape->width ? shape->width - cell.columns : 0;
	bool right = is_right(r, i);

	*blanks += right ? pad : 0;
	if (cell.len || r->table.ruled) {
		put_blanks(r->out, *blanks);
		ut_out_write(r->out, s, cell.len);
		*blanks = 0;
	}
	*blanks += (right ? 0 : pad) + BETWEEN;
}

/* A cell that was made before the terminal's width took some of its column. */
static void cut_cell(struct ut_report *r, size_t i, struct ut_report_shown cell, size_t *blanks)
{
	struct ut_buf b = { 0 };

	cell.columns = ut_cell_name(&b, r->text.data + cell.start, cell.len, r->shapes[i].cut);
	cell.len = b.len;
	line_cell(r, i, b.data, cell, blanks);
	ut_buf_release(&b);
}

static void table_report_text_put_line(struct ut_report *r, const struct ut_report_shown *cells)
{
	size_t blanks = 0;

	for (size_t i = 0; i < r->table.count; i++) {
		const struct ut_report_shape *shape = &r->shapes[i];

		if (shape->hidden)
			continue;
		if (shape->cut && cells[i].columns > shape->cut)
			cut_cell(r, i, cells[i], &blanks);
		else
			line_cell(r, i, r->text.data + cells[i].start, cells[i], &blanks);
	}
	ut_out_text(r->out, "\n");
}

static const char *title_of(const struct ut_report *r, size_t i)
{
	const struct ut_report_column *c = &r->table.columns[i];

	return c->title ? c->title : c->key;
}

static void put_titles(struct ut_report *r)
{
	size_t blanks = 0;

	ut_out_text(r->out, r->opts.colour ? BOLD : "");
	for (size_t i = 0; i < r->table.count; i++) {
		struct ut_buf b = { 0 };
		struct ut_report_shown cell = { 0 };

		if (r->shapes[i].hidden)
			continue;
		cell.columns = ut_cell_name(&b, title_of(r, i), strlen(title_of(r, i)), SIZE_MAX);
		cell.len = b.len;
		line_cell(r, i, b.data, cell, &blanks);
		ut_buf_release(&b);
	}
	ut_out_text(r->out, r->opts.colour ? PLAIN "\n" : "\n");
}

static void put_rule(struct ut_report *r)
{
	const char *between = "";

	for (size_t i = 0; i < r->table.count; i++) {
		if (r->shapes[i].hidden)
			continue;
		ut_out_text(r->out, between);
		for (size_t k = 0; k < r->shapes[i].width; k++)
			ut_out_text(r->out, "-");
		between = "  ";
	}
	ut_out_text(r->out, "\n");
}

/* ---- widths -------------------------------------------------------------------------------- */

/* How far blanks go at most. */
static size_t most_blanks(const struct ut_report *r, size_t i)
{
	size_t cut = r->shapes[i].cut;

	if (r->table.ruled)
		return cut ? cut : UT_CELL_PAD;
	return cut > UT_CELL_PAD ? cut : UT_CELL_PAD;
}

static void table_report_text_measure(struct ut_report *r, size_t i)
{
	struct ut_report_shape *shape = &r->shapes[i];
	const char *title = title_of(r, i);
	size_t most = most_blanks(r, i), width = ut_cell_columns(title, strlen(title));

	width = width > r->table.columns[i].least ? width : r->table.columns[i].least;
	for (size_t row = 0; row < r->waiting; row++) {
		const struct ut_report_shown *cell = &r->shown[row * r->table.count + i];

		width = cell->columns > width ? cell->columns : width;
		shape->any |= cell->len > 0;
	}
	shape->width = width < most ? width : most;
	shape->hidden |= r->table.columns[i].if_any && !shape->any;
}

/* The widest text that can still give something up; count = none. */
static size_t widest_text(const struct ut_report *r)
{
	size_t widest = r->table.count;

	for (size_t i = 0; i < r->table.count; i++) {
		if (r->shapes[i].hidden || is_right(r, i) || r->shapes[i].width <= LEAST_CUT)
			continue;
		if (widest == r->table.count || r->shapes[i].width > r->shapes[widest].width)
			widest = i;
	}
	return widest;
}

static size_t line_width(const struct ut_report *r, bool least)
{
	size_t total = 0;

	for (size_t i = 0; i < r->table.count; i++) {
		size_t width = r->shapes[i].width;

		if (least && !is_right(r, i) && width > LEAST_CUT)
			width = LEAST_CUT;
		total += r->shapes[i].hidden ? 0 : width + BETWEEN;
	}
	return total ? total - BETWEEN : 0;
}

/*
 * Texts give up their middle until lines fit the terminal. Where the numbers alone take more, lines
 * are broken anyway and names stay as they are.
 */
static void fit(struct ut_report *r)
{
	size_t total = line_width(r, false), widest;

	if (!r->opts.screen || line_width(r, true) > r->opts.screen)
		return;
	while (total > r->opts.screen && (widest = widest_text(r)) < r->table.count) {
		r->shapes[widest].cut = --r->shapes[widest].width;
		total--;
	}
}

/* The titles and the rows that have waited for them. */
static void table_report_text_lay_out(struct ut_report *r)
{
	r->laid_out = true;
	for (size_t i = 0; i < r->table.count; i++)
		table_report_text_measure(r, i);
	fit(r);
	put_titles(r);
	if (r->table.ruled)
		put_rule(r);
	for (size_t row = 0; row < r->waiting; row++)
		table_report_text_put_line(r, &r->shown[row * r->table.count]);
	r->waiting = 0;
	r->text.len = 0;
}

/* ---- the printer --------------------------------------------------------------------------- */

static size_t cut_of(const struct ut_report *r, size_t i)
{
	const struct ut_report_column *c = &r->table.columns[i];
	size_t cut = c->most;

	if (r->opts.width != UT_REPORT_WIDTH_OWN && (c->most || c->type == UT_REPORT_ANY))
		cut = r->opts.width;
	return cut;
}

static void table_report_text_begin(struct ut_report *r)
{
	r->shapes = UT_NEW_N(&r->arena, struct ut_report_shape, r->table.count + 1);
	for (size_t i = 0; i < r->table.count; i++)
		r->shapes[i] = (struct ut_report_shape){ .cut = cut_of(r, i),
							 .hidden = !ut_report_has(r, i) };
	r->laid_out = false;
	r->waiting = 0;
	r->text.len = 0;
	ut_buf_text(&r->text, "");
}

static void note_type(struct ut_report_shape *shape, enum ut_report_cell_type type)
{
	if (type == UT_CELL_U64 || type == UT_CELL_I64 || type == UT_CELL_REAL ||
	    type == UT_CELL_BIG)
		shape->numbers = true;
	else if (type != UT_CELL_NONE)
		shape->texts = true;
}

static bool is_enough(const struct ut_report *r)
{
	size_t bytes = r->text.len + r->waiting * r->table.count * sizeof(*r->shown);

	return r->table.ruled ? r->waiting >= WAITING_MOST : bytes >= WAITING_BYTES;
}

static void table_report_text_row(struct ut_report *r, const struct ut_report_cell *cells)
{
	struct ut_report_shown *shown;

	r->shown = ut_grow(r->shown, (r->waiting + 1) * r->table.count, &r->shown_cap,
			   sizeof(*r->shown));
	shown = &r->shown[r->waiting * r->table.count];
	for (size_t i = 0; i < r->table.count; i++) {
		shown[i] = (struct ut_report_shown){ .start = r->text.len };
		if (r->shapes[i].hidden)
			continue;
		shown[i].columns = table_report_text_put_cell(r, i, &cells[i]);
		shown[i].len = r->text.len - shown[i].start;
		if (!r->laid_out)
			note_type(&r->shapes[i], cells[i].type);
	}
	if (r->laid_out) {
		table_report_text_put_line(r, shown);
		r->text.len = 0;
	} else {
		r->waiting++;
		if (is_enough(r))
			table_report_text_lay_out(r);
	}
}

static void table_report_text_end(struct ut_report *r)
{
	if (!r->laid_out)
		table_report_text_lay_out(r);
}

const struct ut_report_printer ut_report_table_printer = { UT_FOR_PEOPLE, table_report_text_begin,
							   table_report_text_row,
							   table_report_text_end };
