#include "ops/write_report.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "ops/report.h"
#include "text/json_text.h"
#include "text/out.h"

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_value(struct ut_out *out, struct ut_str s)
{
	if (ut_ops_is_number(s))
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
