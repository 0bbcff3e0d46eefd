#include "ops/page_sheet.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/str.h"
#include "ops/page_trace.h"
#include "ops/report.h"
#include "text/csv_read.h"
#include "text/digits.h"
#include "text/json_text.h"
#include "text/out.h"
#include "view/view.h"

#define EXACT 15u /* digits that a number of the page keeps */

/* The cells of one column in one part of the rows. */
struct cells {
	struct ut_buf v, at;
	uint64_t count, next; /* cells, and the distinct part behind the last one */
	size_t last;          /* where the last one begins in v */
	int64_t before;       /* of numbers that are told as steps: the last one... */
	int64_t earlier;      /* ... and the one before that */
	bool gaps;            /* not all distinct parts have one */
};

struct column {
	struct cells *parts[UT_OPS_PARTS];
	struct ut_strtab words; /* ids are places; 0 is no text */
	struct ut_str last;     /* the last text, and its place */
	uint32_t last_word;
	bool is_number;
	bool steps; /* numbers that grow from row to row are told as steps: half of the page */
};

struct part {
	struct ut_idmap seen; /* first cell, plus 1 -> distinct part, plus 1 */
	struct ut_buf at;     /* per row */
	uint32_t count;
	bool own; /* so far each row has one, and no row shares it */
};

struct sheet {
	const struct ut_ops_report *r;
	struct ut_arena arena;
	struct column *columns; /* by id */
	struct part parts[UT_OPS_PARTS];
};

/* ---- cells --------------------------------------------------------------------------------- */

static void put_number(struct ut_buf *b, uint64_t value)
{
	char text[UT_DIGITS_ROOM];

	ut_buf_add(b, text, (size_t)(ut_digits_u64(text, value) - text));
}

static void put_signed(struct ut_buf *b, int64_t value)
{
	if (value < 0)
		ut_buf_char(b, '-');
	put_number(b, value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !memcmp(text + len - n, end, n);
}

/* The type of a column for the page (contract.ts) if its name says that it holds numbers. */
static const char *number_type(const char *name)
{
	if (ends_with(name, "[ns]"))
		return "time";
	if (ends_with(name, "[B]") || ends_with(name, " BYTES"))
		return "bytes";
	if (ends_with(name, " CYCLE") || ends_with(name, " TS"))
		return "number";
	if (ends_with(name, " Count") || ends_with(name, " COUNT") || !strcmp(name, "CALL DEPTH"))
		return "count";
	return NULL;
}

static bool is_missing(struct ut_str text)
{
	return !text.len || (text.len == 1 && *text.ptr == '-');
}

static void put_value(struct ut_buf *b, struct ut_str text)
{
	if (is_missing(text))
		ut_buf_text(b, "null");
	else if (text.len <= EXACT && ut_ops_is_number(text))
		ut_buf_add(b, text.ptr, text.len);
	else
		ut_json_text_str(b, text.ptr, text.len);
}

static bool grows(const char *name)
{
	return ends_with(name, " TS") || ends_with(name, " CYCLE") ||
	       !strcmp(name, "GLOBAL CALL COUNT");
}

/* What is no whole number is a text, and no step leads from it. */
static void put_step(struct ut_buf *b, struct ut_str text, int64_t *before)
{
	uint64_t value;

	if (is_missing(text)) {
		ut_buf_text(b, "null");
	} else if (text.len <= EXACT && ut_csv_number(text, &value)) {
		put_signed(b, (int64_t)value - *before);
		*before = (int64_t)value;
	} else {
		ut_json_text_str(b, text.ptr, text.len);
	}
}

static uint32_t word_of(struct column *c, struct ut_str text)
{
	if (c->last.ptr != text.ptr || c->last.len != text.len) {
		c->last = text;
		c->last_word = ut_strtab_intern(&c->words, text.ptr, text.len);
	}
	return c->last_word;
}

static void add_cell(struct sheet *s, size_t part, uint32_t distinct,
		     const struct ut_ops_cell *cell)
{
	struct column *c = &s->columns[cell->column];
	struct cells *to = c->parts[part];

	if (!to)
		to = c->parts[part] = UT_NEW(&s->arena, struct cells);
	if (to->count && to->next == (uint64_t)distinct + 1) {
		to->v.len = to->last; /* told twice: the last one counts */
		to->before = to->earlier;
	} else {
		if (to->count++) {
			ut_buf_char(&to->v, ',');
			ut_buf_char(&to->at, ',');
		}
		put_number(&to->at, distinct - to->next);
		to->gaps |= distinct != to->next;
		to->next = (uint64_t)distinct + 1;
		to->last = to->v.len;
		to->earlier = to->before;
	}
	if (c->steps)
		put_step(&to->v, cell->text, &to->before);
	else if (c->is_number)
		put_value(&to->v, cell->text);
	else
		put_number(&to->v, word_of(c, cell->text));
}

/* ---- parts --------------------------------------------------------------------------------- */

static void add_part(struct sheet *s, size_t number, const struct ut_ops_range *range, size_t row)
{
	struct part *p = &s->parts[number];
	const struct ut_ops_cell *cells = s->r->cells + range->first;
	uint32_t distinct = range->count ? ut_idmap_get(&p->seen, range->first + 1) : 0;

	if (range->count && !distinct) {
		distinct = ++p->count;
		ut_idmap_put(&p->seen, range->first + 1, distinct);
		for (size_t i = 0; i < range->count; i++) {
			if (s->r->columns[cells[i].column].place < s->r->shown)
				add_cell(s, number, distinct - 1, &cells[i]);
		}
	}
	p->own &= distinct == row + 1;
	if (row)
		ut_buf_char(&p->at, ',');
	put_number(&p->at, distinct);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void put_key(struct ut_out *out, const char *key, const char *text)
{
	ut_out_text(out, key);
	ut_out_json_str(out, text, strlen(text));
}

static void put_columns(const struct sheet *s, struct ut_out *out)
{
	for (size_t i = 0; i < s->r->shown; i++) {
		const struct ut_ops_column *c = &s->r->columns[s->r->by_place[i]];
		const char *type = number_type(c->name);

		put_key(out, i ? ",{\"key\":" : "{\"key\":", c->name);
		if (type)
			put_key(out, ",\"type\":", type);
		if (grows(c->name))
			ut_out_text(out, ",\"steps\":true");
		/* an op has not called what it does not name; what that took on average is open */
		if (!strcmp(c->missing, "0") && ends_with(c->name, " Count"))
			ut_out_text(out, ",\"missing\":0");
		ut_out_text(out, "}");
	}
}

static void put_words(const struct column *c, struct ut_out *out)
{
	ut_out_text(out, ",\"words\":[");
	for (uint32_t i = 0; i <= c->words.count; i++) {
		struct ut_buf b = { 0 };

		put_value(&b, ut_strtab_get(&c->words, i));
		ut_out_text(out, i ? "," : "");
		ut_out_write(out, b.data, b.len);
		ut_buf_release(&b);
	}
	ut_out_text(out, "]");
}

static void put_cells(const struct column *c, struct ut_out *out)
{
	bool first = true;

	ut_out_text(out, "[");
	for (size_t part = 0; part < UT_OPS_PARTS; part++) {
		const struct cells *cells = c->parts[part];

		if (!cells)
			continue;
		ut_out_fmt(out, "%s{\"part\":%zu", first ? "" : ",", part);
		if (cells->gaps) {
			ut_out_text(out, ",\"at\":[");
			ut_out_write(out, cells->at.data, cells->at.len);
			ut_out_text(out, "]");
		}
		ut_out_text(out, ",\"v\":[");
		ut_out_write(out, cells->v.data, cells->v.len);
		ut_out_text(out, "]");
		if (!c->is_number && first)
			put_words(c, out);
		ut_out_text(out, "}");
		first = false;
	}
	ut_out_text(out, "]");
}

/* When the rows are on the host, or on the device, as steps. */
static void put_times(const struct sheet *s, const struct ut_ops_page_trace *t,
		      const struct ut_view *v, bool device, struct ut_out *out)
{
	struct ut_buf b = { 0 };
	int64_t before = 0;

	for (size_t i = 0; i < s->r->row_count; i++) {
		const struct ut_ops_times *times = &t->times[i];
		int64_t at;

		if (i)
			ut_buf_char(&b, ',');
		if (device ? !times->on_device : !times->on_host) {
			ut_buf_text(&b, "null");
			continue;
		}
		at = (int64_t)ut_view_since(v, times->trace, device ? times->device : times->host);
		put_signed(&b, at - before);
		before = at;
	}
	ut_out_text(out, device ? ",\"device\":[" : ",\"host\":[");
	ut_out_write(out, b.data, b.len);
	ut_out_text(out, "]");
	ut_buf_release(&b);
}

static void put_parts(const struct sheet *s, struct ut_out *out)
{
	for (size_t i = 0; i < UT_OPS_PARTS; i++) {
		const struct part *p = &s->parts[i];

		ut_out_text(out, i ? "," : "");
		if (p->own) {
			ut_out_text(out, "null");
			continue;
		}
		ut_out_text(out, "[");
		ut_out_write(out, p->count ? p->at.data : "", p->count ? p->at.len : 0);
		ut_out_text(out, "]");
	}
}

static void sheet_release(struct sheet *s)
{
	for (size_t i = 0; i < s->r->column_count; i++) {
		for (size_t part = 0; part < UT_OPS_PARTS; part++) {
			if (!s->columns[i].parts[part])
				continue;
			ut_buf_release(&s->columns[i].parts[part]->v);
			ut_buf_release(&s->columns[i].parts[part]->at);
		}
	}
	for (size_t i = 0; i < UT_OPS_PARTS; i++)
		ut_buf_release(&s->parts[i].at);
	free(s->columns);
	ut_arena_release(&s->arena);
}

void ut_ops_page_sheet_write(const struct ut_ops_report *r, const struct ut_ops_page_trace *t,
			     const struct ut_view *v, struct ut_out *out)
{
	struct sheet s = { .r = r };

	s.columns = ut_make((r->column_count + 1) * sizeof(*s.columns));
	for (size_t i = 0; i < r->column_count; i++) {
		s.columns[i].is_number = number_type(r->columns[i].name) != NULL;
		s.columns[i].steps = grows(r->columns[i].name);
		ut_strtab_init(&s.columns[i].words, &s.arena);
	}
	for (size_t part = 0; part < UT_OPS_PARTS; part++) {
		ut_idmap_init(&s.parts[part].seen, &s.arena);
		s.parts[part].own = true;
		for (size_t row = 0; row < r->row_count; row++)
			add_part(&s, part, &r->rows[row].parts[part], row);
	}
	ut_out_fmt(out, "{\"rows\":%zu,\"ownClock\":%s", r->row_count,
		   t->own_clock ? "true" : "false");
	put_times(&s, t, v, false, out);
	put_times(&s, t, v, true, out);
	ut_out_text(out, ",\"parts\":[");
	put_parts(&s, out);
	ut_out_text(out, "],\"columns\":[");
	put_columns(&s, out);
	ut_out_text(out, "],\"cells\":[");
	for (size_t i = 0; i < r->shown; i++) {
		ut_out_text(out, i ? "," : "");
		put_cells(&s.columns[r->by_place[i]], out);
	}
	ut_out_text(out, "]}");
	sheet_release(&s);
}
