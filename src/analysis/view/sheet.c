#include "view/sheet.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "text/json_text.h"
#include "text/out.h"

void ut_sheet_init(struct ut_sheet *s, const struct ut_sheet_column *columns, size_t count)
{
	*s = (struct ut_sheet){ .columns = columns, .count = count };
	s->cells = ut_make((count + 1) * sizeof(*s->cells));
}

void ut_sheet_release(struct ut_sheet *s)
{
	for (size_t i = 0; i < s->count; i++)
		ut_buf_release(&s->cells[i]);
	free(s->cells);
	*s = (struct ut_sheet){ 0 };
}

/* Where the next cell goes. */
static struct ut_buf *sheet_next(struct ut_sheet *s)
{
	struct ut_buf *b = &s->cells[s->at++];

	if (s->at == s->count) {
		s->at = 0;
		s->rows++;
	}
	if (b->len)
		ut_buf_char(b, ',');
	return b;
}

void ut_sheet_text(struct ut_sheet *s, struct ut_str text)
{
	ut_json_text_str(sheet_next(s), text.ptr ? text.ptr : "", text.len);
}

void ut_sheet_u64(struct ut_sheet *s, uint64_t value)
{
	ut_buf_fmt(sheet_next(s), "%" PRIu64, value);
}

void ut_sheet_i64(struct ut_sheet *s, int64_t value)
{
	ut_buf_fmt(sheet_next(s), "%" PRId64, value);
}

void ut_sheet_double(struct ut_sheet *s, double value)
{
	if (isfinite(value))
		ut_json_text_double(sheet_next(s), value);
	else
		ut_sheet_null(s);
}

void ut_sheet_null(struct ut_sheet *s)
{
	ut_buf_text(sheet_next(s), "null");
}

static void sheet_put_text(struct ut_out *out, const char *key, const char *text)
{
	if (!text)
		return;
	ut_out_text(out, key);
	ut_out_json_str(out, text, strlen(text));
}

void ut_sheet_write(struct ut_sheet *s, uint64_t more, struct ut_out *out)
{
	ut_out_text(out, "{\"columns\":[");
	for (size_t i = 0; i < s->count; i++) {
		const struct ut_sheet_column *c = &s->columns[i];

		sheet_put_text(out, i ? ",{\"key\":" : "{\"key\":", c->key);
		sheet_put_text(out, ",\"title\":", c->title);
		sheet_put_text(out, ",\"type\":", c->type);
		sheet_put_text(out, ",\"hint\":", c->hint);
		sheet_put_text(out, ",\"unit\":", c->unit);
		ut_out_text(out, c->is_signed ? ",\"signed\":true" : "");
		ut_out_text(out, c->wide ? ",\"wide\":true}" : "}");
	}
	ut_out_text(out, "],\"data\":[");
	for (size_t i = 0; i < s->count; i++) {
		ut_out_text(out, i ? ",[" : "[");
		ut_out_write(out, s->cells[i].data ? s->cells[i].data : "", s->cells[i].len);
		ut_out_text(out, "]");
	}
	ut_out_text(out, "],\"rows\":");
	ut_out_u64(out, s->rows);
	ut_out_text(out, ",\"more\":");
	ut_out_u64(out, more);
	ut_out_text(out, "}");
	ut_sheet_release(s);
}
