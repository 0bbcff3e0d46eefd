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
#include "ops/page_runs.h"
#include "ops/page_trace.h"
#include "ops/report.h"
#include "text/csv_read.h"
#include "text/out.h"
#include "view/view.h"

#define EXACT 15u /* digits that a number of the page keeps */

/* The cells of one column in one part of the rows. */
struct cells {
	struct ut_page_runs v, at;
	uint64_t count, next; /* cells, and the distinct part behind the last one */
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
	struct ut_idmap seen;   /* first cell, plus 1 -> distinct part, plus 1 */
	struct ut_page_runs at; /* per row, once not every row has its own */
	uint32_t count;
	size_t behind; /* the first cells of all before are below it */
	bool own;      /* so far each row has one, and no row shares it */
	bool in_order; /* so far they do, and cells lie in the order of rows: seen is empty */
};

struct sheet {
	const struct ut_ops_report *r;
	struct ut_arena arena;
	struct column *columns; /* by id */
	struct part parts[UT_OPS_PARTS];
};

/* ---- cells --------------------------------------------------------------------------------- */

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

static void page_sheet_put_value(struct ut_page_runs *to, struct ut_str text)
{
	enum ut_page_runs_kind kind = UT_PAGE_RUNS_STRING;

	if (ut_page_runs_again(to, text))
		return;
	if (is_missing(text))
		kind = UT_PAGE_RUNS_NULL;
	else if (text.len <= EXACT && ut_ops_is_number(text))
		kind = UT_PAGE_RUNS_DIGITS;
	ut_page_runs_text(to, kind, text);
}

static bool grows(const char *name)
{
	return ends_with(name, " TS") || ends_with(name, " CYCLE") ||
	       !strcmp(name, "GLOBAL CALL COUNT");
}

/* What is no whole number is a text, and no step leads from it. */
static void page_sheet_put_step(struct cells *to, struct ut_str text)
{
	uint64_t value;

	if (is_missing(text)) {
		ut_page_runs_text(&to->v, UT_PAGE_RUNS_NULL, text);
	} else if (text.len <= EXACT && ut_csv_number(text, &value)) {
		ut_page_runs_number(&to->v, (int64_t)value - to->before);
		to->before = (int64_t)value;
	} else {
		ut_page_runs_text(&to->v, UT_PAGE_RUNS_STRING, text);
	}
}

static uint32_t page_sheet_word_of(struct column *c, struct ut_str text)
{
	if (!ut_str_eq(c->last, text)) {
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
		ut_page_runs_take_back(&to->v); /* told twice: the last one counts */
		to->before = to->earlier;
	} else {
		ut_page_runs_number(&to->at, (int64_t)(distinct - to->next));
		to->count++;
		to->gaps |= distinct != to->next;
		to->next = (uint64_t)distinct + 1;
		to->earlier = to->before;
	}
	if (c->steps)
		page_sheet_put_step(to, cell->text);
	else if (c->is_number)
		page_sheet_put_value(&to->v, cell->text);
	else
		ut_page_runs_number(&to->v, page_sheet_word_of(c, cell->text));
}

/* ---- parts --------------------------------------------------------------------------------- */

static void add_cells(struct sheet *s, size_t part, uint32_t distinct,
		      const struct ut_ops_range *range)
{
	const struct ut_ops_cell *cells = s->r->cells + range->first;

	for (size_t i = 0; i < range->count; i++) {
		if (s->r->columns[cells[i].column].place < s->r->shown)
			add_cell(s, part, distinct, &cells[i]);
	}
}

/* From here on a part may be that of a row before. */
static void look_back(struct sheet *s, size_t number, size_t row)
{
	struct part *p = &s->parts[number];

	p->in_order = false;
	for (size_t i = 0; i < row; i++)
		ut_idmap_put(&p->seen, s->r->rows[i].parts[number].first + 1, (uint32_t)i + 1);
}

static void page_sheet_add_part(struct sheet *s, size_t number, const struct ut_ops_range *range,
				size_t row)
{
	struct part *p = &s->parts[number];
	uint32_t distinct = 0;

	if (p->in_order && (!range->count || range->first < p->behind))
		look_back(s, number, row);
	if (range->count && !p->in_order)
		distinct = ut_idmap_get(&p->seen, range->first + 1);
	if (range->count && !distinct) {
		distinct = ++p->count;
		if (!p->in_order)
			ut_idmap_put(&p->seen, range->first + 1, distinct);
		add_cells(s, number, distinct - 1, range);
	}
	p->behind = range->first + 1;
	if (p->own && distinct != row + 1) {
		p->own = false;
		for (size_t i = 0; i < row; i++)
			ut_page_runs_number(&p->at, (int64_t)i + 1);
	}
	if (!p->own)
		ut_page_runs_number(&p->at, distinct);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void page_sheet_put_key(struct ut_out *out, const char *key, const char *text)
{
	ut_out_text(out, key);
	ut_out_json_str(out, text, strlen(text));
}

static void put_columns(const struct sheet *s, struct ut_out *out)
{
	for (size_t i = 0; i < s->r->shown; i++) {
		const struct ut_ops_column *c = &s->r->columns[s->r->by_place[i]];
		const char *type = number_type(c->name);

		page_sheet_put_key(out, i ? ",{\"key\":" : "{\"key\":", c->name);
		if (type)
			page_sheet_put_key(out, ",\"type\":", type);
		if (grows(c->name))
			ut_out_text(out, ",\"steps\":true");
		/* an op has not called what it does not name; what that took on average is open */
		if (!strcmp(c->missing, "0") && ends_with(c->name, " Count"))
			ut_out_text(out, ",\"missing\":0");
		ut_out_text(out, "}");
	}
}

/* Behind its key; the list is released. */
static void put_list(struct ut_out *out, const char *key, struct ut_page_runs *list)
{
	ut_page_runs_close(list);
	ut_out_text(out, key);
	ut_out_text(out, "[");
	ut_out_write(out, list->text.data, list->text.len);
	ut_out_text(out, "]");
	ut_buf_release(&list->text);
}

/* No runs: only what is missing is equal, and that has two spellings. */
static void put_words(const struct column *c, struct ut_out *out)
{
	struct ut_page_runs list = { 0 };

	for (uint32_t i = 0; i <= c->words.count; i++)
		page_sheet_put_value(&list, ut_strtab_get(&c->words, i));
	put_list(out, ",\"words\":", &list);
}

static void page_sheet_put_cells(const struct column *c, struct ut_out *out)
{
	bool first = true;

	ut_out_text(out, "[");
	for (size_t part = 0; part < UT_OPS_PARTS; part++) {
		struct cells *cells = c->parts[part];

		if (!cells)
			continue;
		ut_out_fmt(out, "%s{\"part\":%zu", first ? "" : ",", part);
		if (cells->gaps)
			put_list(out, ",\"at\":", &cells->at);
		put_list(out, ",\"v\":", &cells->v);
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
	struct ut_page_runs list = { 0 };
	int64_t before = 0;

	for (size_t i = 0; i < s->r->row_count; i++) {
		const struct ut_ops_times *times = &t->times[i];
		int64_t at;

		if (device ? !times->on_device : !times->on_host) {
			ut_page_runs_text(&list, UT_PAGE_RUNS_NULL, (struct ut_str){ NULL, 0 });
			continue;
		}
		at = (int64_t)ut_view_since(v, times->trace, device ? times->device : times->host);
		ut_page_runs_number(&list, at - before);
		before = at;
	}
	put_list(out, device ? ",\"device\":" : ",\"host\":", &list);
}

static void page_sheet_put_parts(struct sheet *s, struct ut_out *out)
{
	for (size_t i = 0; i < UT_OPS_PARTS; i++) {
		struct part *p = &s->parts[i];

		if (!p->count)
			p->at.same = 0; /* none of any row */
		if (p->own)
			ut_out_text(out, i ? ",null" : "null");
		else
			put_list(out, i ? "," : "", &p->at);
	}
}

static void sheet_release(struct sheet *s)
{
	for (size_t i = 0; i < s->r->column_count; i++) {
		for (size_t part = 0; part < UT_OPS_PARTS; part++) {
			if (!s->columns[i].parts[part])
				continue;
			ut_buf_release(&s->columns[i].parts[part]->v.text);
			ut_buf_release(&s->columns[i].parts[part]->at.text);
		}
	}
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
		s.parts[part].own = s.parts[part].in_order = true;
		for (size_t row = 0; row < r->row_count; row++)
			page_sheet_add_part(&s, part, &r->rows[row].parts[part], row);
	}
	ut_out_fmt(out, "{\"rows\":%zu,\"ownClock\":%s", r->row_count,
		   t->own_clock ? "true" : "false");
	put_times(&s, t, v, false, out);
	put_times(&s, t, v, true, out);
	ut_out_text(out, ",\"parts\":[");
	page_sheet_put_parts(&s, out);
	ut_out_text(out, "],\"columns\":[");
	put_columns(&s, out);
	ut_out_text(out, "],\"cells\":[");
	for (size_t i = 0; i < r->shown; i++) {
		ut_out_text(out, i ? "," : "");
		page_sheet_put_cells(&s.columns[r->by_place[i]], out);
	}
	ut_out_text(out, "]}");
	sheet_release(&s);
}
