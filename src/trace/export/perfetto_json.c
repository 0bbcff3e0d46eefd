#include "export/perfetto_json.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_piece.h"
#include "base/json_scan.h"
#include "base/str.h"
#include "export/pbuf.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"

#define MOST_DEPTH  32  /* as deep as others read, and we */
#define MOST_NUMBER 400 /* characters: 17 digits, and zeros up to 10^308 */

struct json {
	const char *at, *end;
	int depth;
	struct ut_buf text; /* scratch */
};

static bool perfetto_json_take(struct json *j, char c)
{
	if (j->at == j->end || *j->at != c)
		return false;
	j->at++;
	return true;
}

/* ---- strings ------------------------------------------------------------------------------- */

/* A string into j->text. Escapes that JSON does not know make it none. */
static bool take_string(struct json *j)
{
	const char *close, *back;
	struct ut_str raw;

	if (j->at == j->end || *j->at != '"')
		return false;
	close = ut_json_closing_quote(j->at, j->end);
	if (close == j->end)
		return false;
	raw = (struct ut_str){ j->at + 1, (size_t)(close - j->at - 1) };
	j->at = close + 1;
	for (const char *p = raw.ptr; (back = memchr(p, '\\', (size_t)(close - p))); p = back + 2) {
		if (!ut_json_escape_ok(back))
			return false;
	}
	j->text.len = 0;
	ut_buf_add(&j->text, raw.ptr, raw.len); /* there is room for what it stands for now */
	if (ut_json_escaped(raw))
		j->text.len = ut_json_decode(raw, j->text.data);
	return true;
}

static bool perfetto_json_put_string(struct json *j, struct ut_pbuf *b, uint32_t field)
{
	if (!take_string(j))
		return false;
	ut_pbuf_str(b, field, j->text.len ? j->text.data : "", j->text.len);
	return true;
}

/* ---- other values -------------------------------------------------------------------------- */

/* What no field can hold: as a string for others, as what it is for ourselves. */
static void put_exact(struct ut_pbuf *b, const char *text, size_t len)
{
	ut_pbuf_str(b, ANNOTATION_STRING, text, len);
	ut_pbuf_str(b, ANNOTATION_EXACT, text, len);
}

static bool put_whole(struct ut_pbuf *b, const char *text)
{
	char *end;

	errno = 0;
	if (*text == '-') {
		long long v = strtoll(text, &end, 10);

		if (errno || *end)
			return false;
		ut_pbuf_varint(b, ANNOTATION_INT, (uint64_t)v);
	} else {
		unsigned long long v = strtoull(text, &end, 10);

		if (errno || *end)
			return false;
		ut_pbuf_varint(b, ANNOTATION_UINT, v);
	}
	return true;
}

/* A whole number that is too large for 64 bits, or any that is too large for a double. */
static bool is_huge(const char *text, double value)
{
	return isinf(value) || text[strspn(text, "-0123456789")] == '\0';
}

static bool perfetto_json_put_number(struct json *j, struct ut_pbuf *b)
{
	char text[MOST_NUMBER], *end;
	size_t len = 0;
	double v;

	while (j->at + len < j->end && j->at[len] && strchr("+-.0123456789eE", j->at[len]))
		len++;
	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, j->at, len);
	text[len] = '\0';
	j->at += len;
	if (put_whole(b, text))
		return true;
	v = strtod(text, &end);
	if (*end)
		return false;
	if (is_huge(text, v))
		put_exact(b, text, len);
	else
		ut_pbuf_double(b, ANNOTATION_DOUBLE, v);
	return true;
}

static bool perfetto_json_put_word(struct json *j, struct ut_pbuf *b)
{
	size_t left = (size_t)(j->end - j->at);

	if (left >= 4 && !memcmp(j->at, "true", 4)) {
		ut_pbuf_varint(b, ANNOTATION_BOOL, 1);
		j->at += 4;
	} else if (left >= 5 && !memcmp(j->at, "false", 5)) {
		ut_pbuf_varint(b, ANNOTATION_BOOL, 0);
		j->at += 5;
	} else if (left >= 4 && !memcmp(j->at, "null", 4)) {
		j->at += 4; /* no value at all: readers have nothing to show, and some fall over it
			     */
	} else {
		return perfetto_json_put_number(j, b);
	}
	return true;
}

static bool perfetto_json_put_value(struct json *j, struct ut_pbuf *b);

/* An object's or array's members, up to the bracket that closes it. */
static bool put_members(struct json *j, struct ut_pbuf *b, bool object)
{
	char close = object ? '}' : ']';
	size_t mark;
	bool ok;

	if (perfetto_json_take(j, close)) {
		mark = ut_pbuf_begin(b, ANNOTATION_NESTED);
		ut_pbuf_varint(b, NESTED_TYPE, object ? NESTED_IS_DICT : NESTED_IS_ARRAY);
		ut_pbuf_end(b, mark);
		return true;
	}
	do {
		mark = ut_pbuf_begin(b, object ? ANNOTATION_DICT : ANNOTATION_ARRAY);
		ok = !object || (perfetto_json_put_string(j, b, ANNOTATION_NAME) &&
				 perfetto_json_take(j, ':'));
		ok = ok && perfetto_json_put_value(j, b);
		ut_pbuf_end(b, mark);
	} while (ok && perfetto_json_take(j, ','));
	return ok && perfetto_json_take(j, close);
}

static bool perfetto_json_put_value(struct json *j, struct ut_pbuf *b)
{
	bool ok;

	if (j->at == j->end || j->depth == MOST_DEPTH)
		return false;
	j->depth++;
	if (*j->at == '{' || *j->at == '[')
		ok = put_members(j, b, *j->at++ == '{');
	else if (*j->at == '"')
		ok = perfetto_json_put_string(j, b, ANNOTATION_STRING);
	else
		ok = perfetto_json_put_word(j, b);
	j->depth--;
	return ok;
}

void ut_perfetto_put_json(struct ut_pbuf *b, const char *text, size_t len)
{
	struct json j = { .at = text, .end = text + len };
	size_t mark = b->len;

	if (!perfetto_json_put_value(&j, b) || j.at != j.end) {
		b->len = mark;
		put_exact(b, text, len);
	}
	ut_buf_release(&j.text);
}

void ut_perfetto_plain_text(struct ut_buf *b, const char *text, size_t len)
{
	struct json j = { .at = text, .end = text + len };

	if (take_string(&j) && j.at == j.end)
		ut_buf_add(b, j.text.data, j.text.len);
	else
		ut_buf_add(b, text, len);
	ut_buf_release(&j.text);
}
