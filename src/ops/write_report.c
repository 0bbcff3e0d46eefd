#include "ops/write_report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "ops/report.h"
#include "text/csv_read.h"
#include "text/embed.h"
#include "text/html.h"
#include "text/json_text.h"
#include "text/out.h"
#include "text/table_report.h"

UT_EMBED(ut_ops_page_js, "ops.js");

/* ---- JSON ---------------------------------------------------------------------------------- */

static size_t digits(struct ut_str s, size_t from)
{
	size_t n = 0;

	while (from + n < s.len && s.ptr[from + n] >= '0' && s.ptr[from + n] <= '9')
		n++;
	return n;
}

/* A number as JSON has them, without an exponent. */
static bool is_number(struct ut_str s)
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

static void put_value(struct ut_out *out, struct ut_str s)
{
	if (is_number(s))
		ut_out_write(out, s.ptr, s.len);
	else
		ut_out_json_str(out, s.ptr, s.len);
}

/* "NAME": of every column, made once. */
static struct ut_str *make_keys(const struct ut_ops_report *r, struct ut_arena *a)
{
	struct ut_str *keys = UT_NEW_N(a, struct ut_str, r->shown + 1);

	for (size_t i = 0; i < r->shown; i++) {
		const char *name = r->columns[r->by_place[i]].name;
		struct ut_buf b = { 0 };

		ut_json_text_str(&b, name, strlen(name));
		ut_buf_char(&b, ':');
		keys[i].len = b.len;
		keys[i].ptr = ut_buf_take(&b, a);
	}
	return keys;
}

static void put_object(const struct ut_ops_report *r, const struct ut_str *texts,
		       const struct ut_str *keys, struct ut_out *out)
{
	bool first = true;

	ut_out_text(out, "{");
	for (size_t i = 0; i < r->shown; i++) {
		if (!texts[i].len || texts[i].ptr == r->empty[i].ptr)
			continue;
		ut_out_write(out, ",", first ? 0 : 1);
		ut_out_write(out, keys[i].ptr, keys[i].len);
		put_value(out, texts[i]);
		first = false;
	}
	ut_out_text(out, "}");
}

static void put_rows(const struct ut_ops_report *r, size_t count, struct ut_out *out)
{
	struct ut_arena arena = { 0 };
	struct ut_str *keys = make_keys(r, &arena);
	struct ut_str *texts = UT_NEW_N(&arena, struct ut_str, r->shown + 1);

	ut_out_text(out, "[");
	for (size_t row = 0; row < count; row++) {
		ut_out_text(out, row ? ",\n" : "\n");
		ut_ops_row_texts(r, row, texts);
		put_object(r, texts, keys, out);
	}
	ut_out_text(out, "\n]");
	ut_arena_release(&arena);
}

void ut_ops_write_json(const struct ut_ops_report *r, struct ut_out *out)
{
	put_rows(r, r->row_count, out);
	ut_out_text(out, "\n");
}

/* ---- the page ------------------------------------------------------------------------------ */

#define MOST_ROWS 5000u /* a page with more of them opens slowly; the other files have them all */

/* All calls of one op. */
struct total {
	uint64_t calls, timed;
	uint64_t host, device; /* ns */
};

struct totals {
	struct ut_arena arena;
	struct ut_strtab codes; /* ids are those of the items, plus one */
	struct total *items;
	size_t count, cap;
	size_t code, type, host, device; /* places of the columns */
};

static size_t place_of(const struct ut_ops_report *r, const char *name)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].name, name) && r->columns[i].place < r->shown)
			return r->columns[i].place;
	}
	return r->shown; /* an empty text is there */
}

static void add_total(struct totals *t, const struct ut_str *texts)
{
	struct ut_str code = texts[t->code], type = texts[t->type];
	uint64_t ns;
	uint32_t id;

	if (ut_str_is(type, "signpost"))
		return;
	while (code.len > 1 && *code.ptr == ' ')
		code = (struct ut_str){ code.ptr + 1, code.len - 1 };
	id = code.len ? ut_strtab_intern(&t->codes, code.ptr, code.len)
		      : ut_strtab_intern_z(&t->codes, "?");
	t->items = ut_grow(t->items, id, &t->cap, sizeof(*t->items));
	t->count = id > t->count ? id : t->count;
	t->items[id - 1].calls++;
	if (ut_ops_number(texts[t->host], &ns))
		t->items[id - 1].host += ns;
	if (ut_ops_number(texts[t->device], &ns)) {
		t->items[id - 1].device += ns;
		t->items[id - 1].timed++;
	}
}

static void put_totals(const struct ut_ops_report *r, struct ut_out *out)
{
	static const struct ut_report_column columns[] = {
		{ .key = "code", .type = UT_REPORT_TEXT },
		{ .key = "calls", .type = UT_REPORT_COUNT },
		{ .key = "timed", .type = UT_REPORT_COUNT },
		{ .key = "host", .type = UT_REPORT_TIME },
		{ .key = "device", .type = UT_REPORT_TIME },
	};
	static const struct ut_report_table table = {
		.columns = columns, .count = sizeof(columns) / sizeof(columns[0])
	};
	const struct ut_report_opts opts = { .format = UT_REPORT_JSON, .open = "[", .close = "]" };
	struct ut_report *report;
	struct totals t = { .code = place_of(r, "OP CODE"),
			    .type = place_of(r, "OP TYPE"),
			    .host = place_of(r, "HOST DURATION [ns]"),
			    .device = place_of(r, "DEVICE KERNEL DURATION [ns]") };
	struct ut_str *texts = UT_NEW_N(&t.arena, struct ut_str, r->shown + 1);

	ut_strtab_init(&t.codes, &t.arena);
	for (size_t row = 0; row < r->row_count; row++) {
		ut_ops_row_texts(r, row, texts);
		add_total(&t, texts);
	}
	report = ut_report_start(out, &opts, &table);
	for (uint32_t i = 0; i < t.count; i++)
		ut_report_add(report, (const struct ut_report_cell[]){
					      ut_report_str(ut_strtab_get(&t.codes, i + 1)),
					      ut_report_u64(t.items[i].calls),
					      ut_report_u64(t.items[i].timed),
					      ut_report_u64(t.items[i].host),
					      ut_report_u64(t.items[i].device),
				      });
	ut_report_finish(report);
	free(t.items);
	ut_arena_release(&t.arena);
}

void ut_ops_write_page(const struct ut_ops_report *r, struct ut_out *out)
{
	struct ut_out *json = ut_out_open_memory();
	const char *data;
	size_t len;

	ut_out_fmt(json, "{\"rows\":%zu,\"problems\":%zu,\"ops\":", r->row_count, r->problems);
	put_totals(r, json);
	ut_out_text(json, ",\"columns\":[");
	for (size_t i = 0; i < r->shown; i++) {
		const char *name = r->columns[r->by_place[i]].name;

		ut_out_text(json, i ? "," : "");
		ut_out_json_str(json, name, strlen(name));
	}
	ut_out_text(json, "],\"first\":");
	put_rows(r, r->row_count < MOST_ROWS ? r->row_count : MOST_ROWS, json);
	ut_out_text(json, "}\n");
	data = ut_out_data(json, &len);
	ut_html_begin(out, "Ops report");
	ut_html_data(out, "data", data, len);
	ut_html_end(out, ut_ops_page_js);
	ut_out_abandon(json);
}
