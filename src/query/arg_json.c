#include "query/arg_json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/json_text.h"

static void put_str(struct ut_buf *b, struct ut_str s)
{
	ut_json_text_str(b, s.ptr, s.len);
}

void ut_arg_json_value(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *arg)
{
	struct ut_str text;

	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_STR:
		put_str(b, ut_strtab_get(strings, arg->value.str));
		return;
	case UT_ARG_U64:
		ut_buf_fmt(b, arg->flags & UT_ARG_TEXT ? "\"%" PRIu64 "\"" : "%" PRIu64,
			   arg->value.u64);
		return;
	case UT_ARG_I64:
		ut_buf_fmt(b, "%" PRId64, arg->value.i64);
		return;
	case UT_ARG_F64:
		ut_json_text_double(b, arg->value.f64);
		return;
	case UT_ARG_PTR:
		ut_buf_fmt(b, "\"0x%" PRIx64 "\"", arg->value.u64);
		return;
	case UT_ARG_BOOL:
		ut_buf_text(b, arg->value.u64 ? "true" : "false");
		return;
	case UT_ARG_JSON:
		text = ut_strtab_get(strings, arg->value.str);
		ut_buf_add(b, text.ptr, text.len);
		if (!text.len)
			ut_buf_text(b, "null");
		return;
	case UT_ARG_END:
		break;
	}
	ut_buf_text(b, "null"); /* a type of a newer version */
}

size_t ut_arg_json_span(const struct ut_arg *args, size_t count)
{
	size_t n = 1;

	while (n < count && (args[n - 1].flags & UT_ARG_ARRAY) && (args[n - 1].flags & UT_ARG_MORE))
		n++;
	return n;
}

void ut_arg_json_run(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		     size_t count)
{
	if (!(args[0].flags & UT_ARG_ARRAY)) {
		ut_arg_json_value(b, strings, args);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		ut_buf_char(b, i ? ',' : '[');
		ut_arg_json_value(b, strings, &args[i]);
	}
	ut_buf_char(b, ']');
}

void ut_arg_json_list(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		      size_t count)
{
	size_t n;

	ut_buf_char(b, '{');
	for (size_t i = 0; i < count; i += n) {
		n = ut_arg_json_span(args + i, count - i);
		if (i)
			ut_buf_char(b, ',');
		put_str(b, ut_strtab_get(strings, args[i].key));
		ut_buf_char(b, ':');
		ut_arg_json_run(b, strings, args + i, n);
	}
	ut_buf_char(b, '}');
}

/* ---- reading ------------------------------------------------------------------------------- */

static int hex_value(const char *s)
{
	char text[5] = { s[0], s[1], s[2], s[3], '\0' }, *end;
	long value = strtol(text, &end, 16);

	return *end ? -1 : (int)value;
}

static void put_code(struct ut_buf *b, uint32_t c)
{
	if (c < 0x80) {
		ut_buf_char(b, (char)c);
	} else if (c < 0x800) {
		ut_buf_char(b, (char)(0xc0 | c >> 6));
		ut_buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		ut_buf_char(b, (char)(0xe0 | c >> 12));
		ut_buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
		ut_buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else {
		ut_buf_char(b, (char)(0xf0 | c >> 18));
		ut_buf_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		ut_buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
		ut_buf_char(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* \uXXXX at s, and the second half of a pair behind it; how many bytes that was, 0 = no escape. */
static size_t take_unicode(struct ut_buf *b, const char *s, size_t len)
{
	int high = len >= 6 ? hex_value(s + 2) : -1, low;

	if (high < 0)
		return 0;
	if (high >= 0xd800 && high < 0xdc00 && len >= 12 && s[6] == '\\' && s[7] == 'u') {
		low = hex_value(s + 8);
		if (low >= 0xdc00 && low < 0xe000) {
			put_code(b, 0x10000u + ((uint32_t)(high - 0xd800) << 10) +
					    (uint32_t)(low - 0xdc00));
			return 12;
		}
	}
	if (high >= 0xd800 && high < 0xe000)
		ut_buf_text(b, UT_UTF8_BAD);
	else
		put_code(b, (uint32_t)high);
	return 6;
}

struct ut_str ut_arg_json_unquote(struct ut_arena *a, struct ut_str json)
{
	static const char named[] = "b\bf\fn\nr\rt\t";
	struct ut_buf b = { 0 };
	size_t n, end = json.len;

	if (end < 2 || json.ptr[0] != '"' || json.ptr[end - 1] != '"')
		return json;
	end--;
	for (size_t i = 1; i < end; i += n) {
		n = 1;
		if (json.ptr[i] != '\\' || i + 1 == end) {
			ut_buf_char(&b, json.ptr[i]);
			continue;
		}
		n = json.ptr[i + 1] == 'u' ? take_unicode(&b, json.ptr + i, end - i) : 0;
		if (!n) {
			const char *letter = strchr(named, json.ptr[i + 1]);

			ut_buf_char(&b, letter && *letter >= 'a' ? letter[1] : json.ptr[i + 1]);
			n = 2;
		}
	}
	n = b.len;
	return (struct ut_str){ ut_buf_take(&b, a), n };
}
