#include "text/arg_json.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/digits.h"
#include "text/json_text.h"

static void arg_json_put_str(struct ut_buf *b, struct ut_str s)
{
	ut_json_text_str(b, s.ptr, s.len);
}

static void arg_json_put_u64(struct ut_buf *b, const struct ut_arg *arg)
{
	bool quoted = arg->flags & UT_ARG_TEXT;
	char *p = ut_buf_reserve(b, UT_DIGITS_ROOM + 2);

	if (quoted)
		*p++ = '"';
	p = ut_digits_u64(p, arg->value.u64);
	if (quoted)
		*p++ = '"';
	ut_buf_advance(b, p);
}

static void put_i64(struct ut_buf *b, int64_t value)
{
	char *p = ut_buf_reserve(b, UT_DIGITS_ROOM + 1);

	if (value < 0)
		*p++ = '-';
	ut_buf_advance(b, ut_digits_u64(p, value < 0 ? 0 - (uint64_t)value : (uint64_t)value));
}

static void put_pointer(struct ut_buf *b, uint64_t value)
{
	char *p = ut_buf_reserve(b, UT_DIGITS_ROOM + 2);

	*p++ = '"';
	p = ut_digits_hex(p, value);
	*p++ = '"';
	ut_buf_advance(b, p);
}

void ut_arg_json_raw(struct ut_buf *b, struct ut_str text)
{
	char *p;

	if (ut_utf8_valid(text.ptr, text.len)) {
		ut_buf_add(b, text.ptr, text.len);
		return;
	}
	p = ut_buf_reserve(b, 3 * text.len);
	ut_buf_advance(b, p + ut_utf8_copy(p, text.ptr, text.len));
}

void ut_arg_json_value(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *arg)
{
	struct ut_str text;

	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_STR:
		arg_json_put_str(b, ut_strtab_get(strings, arg->value.str));
		return;
	case UT_ARG_U64:
		arg_json_put_u64(b, arg);
		return;
	case UT_ARG_I64:
		put_i64(b, arg->value.i64);
		return;
	case UT_ARG_F64:
		ut_json_text_double(b, arg->value.f64);
		return;
	case UT_ARG_PTR:
		put_pointer(b, arg->value.u64);
		return;
	case UT_ARG_BOOL:
		ut_buf_text(b, arg->value.u64 ? "true" : "false");
		return;
	case UT_ARG_JSON:
		text = ut_strtab_get(strings, arg->value.str);
		if (!text.len)
			break;
		ut_arg_json_raw(b, text);
		return;
	case UT_ARG_END:
		break;
	}
	ut_buf_text(b, "null"); /* also a type of a newer version */
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

void ut_arg_json_members(struct ut_buf *b, const struct ut_strtab *strings,
			 const struct ut_arg *args, size_t count)
{
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		n = ut_arg_json_span(args + i, count - i);
		if (i)
			ut_buf_char(b, ',');
		arg_json_put_str(b, ut_strtab_get(strings, args[i].key));
		ut_buf_char(b, ':');
		ut_arg_json_run(b, strings, args + i, n);
	}
}

void ut_arg_json_list(struct ut_buf *b, const struct ut_strtab *strings, const struct ut_arg *args,
		      size_t count)
{
	ut_buf_char(b, '{');
	ut_arg_json_members(b, strings, args, count);
	ut_buf_char(b, '}');
}

/* ---- reading ------------------------------------------------------------------------------- */

struct ut_str ut_arg_json_unquote(struct ut_arena *a, struct ut_str json)
{
	struct ut_str raw = { json.ptr + 1, json.len - 2 };
	char *text;

	if (json.len < 2 || json.ptr[0] != '"' || json.ptr[json.len - 1] != '"')
		return json;
	text = UT_NEW_N(a, char, raw.len + 1);
	return (struct ut_str){ text, ut_json_decode(raw, text) };
}
