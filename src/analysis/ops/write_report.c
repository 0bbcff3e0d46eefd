#include "ops/write_report.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "ops/report.h"
#include "text/json_text.h"
#include "text/out.h"

/* ---- JSON ---------------------------------------------------------------------------------- */

/* ,"NAME": of every column, made once. */
static struct ut_str *make_keys(const struct ut_ops_report *r, struct ut_arena *a)
{
	struct ut_str *keys = UT_NEW_N(a, struct ut_str, r->shown + 1);

	for (size_t i = 0; i < r->shown; i++) {
		const char *name = r->columns[r->by_place[i]].name;
		struct ut_buf b = { 0 };

		ut_buf_char(&b, ',');
		ut_json_text_str(&b, name, strlen(name));
		ut_buf_char(&b, ':');
		keys[i].len = b.len;
		keys[i].ptr = ut_buf_take(&b, a);
	}
	return keys;
}

static char *write_report_put_bytes(char *p, struct ut_str s)
{
	memcpy(p, s.ptr, s.len);
	return p + s.len;
}

/* A report of a hundred columns is nothing but these: of most, one look for room. */
static void write_report_put_member(struct ut_out *out, struct ut_str key, struct ut_str text)
{
	size_t done = 0;
	char *p;

	if (text.len > UT_JSON_CHUNK) {
		ut_out_write(out, key.ptr, key.len);
		if (ut_ops_is_number(text))
			ut_out_write(out, text.ptr, text.len);
		else
			ut_out_json_str(out, text.ptr, text.len);
		return;
	}
	p = write_report_put_bytes(ut_out_reserve(out, key.len + UT_JSON_ROOM(text.len) + 2), key);
	if (ut_ops_is_number(text)) {
		p = write_report_put_bytes(p, text);
	} else {
		*p++ = '"';
		p = ut_json_chunk_put(p, text.ptr, text.len, &done);
		*p++ = '"';
	}
	ut_out_advance(out, p);
}

static void put_object(const struct ut_ops_report *r, const struct ut_str *texts,
		       const struct ut_str *keys, struct ut_out *out)
{
	size_t comma = 1; /* that the first member does not have */

	ut_out_text(out, "{");
	for (size_t i = 0; i < r->shown; i++) {
		if (!texts[i].len || texts[i].ptr == r->empty[i].ptr)
			continue;
		write_report_put_member(
			out, (struct ut_str){ keys[i].ptr + comma, keys[i].len - comma }, texts[i]);
		comma = 0;
	}
	ut_out_text(out, "}");
}

void ut_ops_write_json(const struct ut_ops_report *r, struct ut_out *out)
{
	struct ut_arena arena = { 0 };
	struct ut_str *keys = make_keys(r, &arena);
	struct ut_str *texts = UT_NEW_N(&arena, struct ut_str, r->shown + 1);

	ut_out_text(out, "[");
	for (size_t row = 0; row < r->row_count; row++) {
		ut_out_text(out, row ? ",\n" : "\n");
		ut_ops_row_texts(r, row, texts);
		put_object(r, texts, keys, out);
	}
	ut_out_text(out, "\n]\n");
	ut_arena_release(&arena);
}
