/* perfetto_args.c - arguments as debug annotations of the same type. */
#include <string.h>

#include "export/perfetto_json.h"
#include "export/perfetto_packet.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "model/trace.h"
#include "text/digits.h"

static void perfetto_args_put_u64(struct ut_pbuf *b, const struct ut_arg *a)
{
	char text[UT_DIGITS_ROOM];

	if (a->flags & UT_ARG_TEXT)
		ut_pbuf_str(b, ANNOTATION_STRING, text,
			    (size_t)(ut_digits_u64(text, a->value.u64) - text));
	else
		ut_pbuf_varint(b, ANNOTATION_UINT, a->value.u64);
}

static void put_arg_value(struct ut_pbuf *b, const struct ut_trace *t, const struct ut_arg *a)
{
	struct ut_str s;

	switch ((enum ut_arg_type)a->type) {
	case UT_ARG_STR:
		s = ut_strtab_get(&t->strings, a->value.str);
		ut_pbuf_str(b, ANNOTATION_STRING, s.ptr, s.len);
		break;
	case UT_ARG_U64:
		perfetto_args_put_u64(b, a);
		break;
	case UT_ARG_I64:
		ut_pbuf_varint(b, ANNOTATION_INT, (uint64_t)a->value.i64);
		break;
	case UT_ARG_F64:
		ut_pbuf_double(b, ANNOTATION_DOUBLE, a->value.f64);
		break;
	case UT_ARG_PTR:
		ut_pbuf_varint(b, ANNOTATION_POINTER, a->value.u64);
		break;
	case UT_ARG_BOOL:
		ut_pbuf_varint(b, ANNOTATION_BOOL, a->value.u64 != 0);
		break;
	case UT_ARG_JSON:
		s = ut_strtab_get(&t->strings, a->value.str);
		ut_perfetto_put_json(b, s.ptr, s.len);
		break;
	case UT_ARG_END:
		break;
	}
}

/* A key, or what stands for one: an annotation without a name is refused. */
static void put_no_name(struct ut_pbuf *b)
{
	ut_pbuf_str(b, ANNOTATION_NAME, "arg", 3);
	ut_pbuf_varint(b, ANNOTATION_NAMELESS, 1);
}

/* The array that starts at a; returns its last element. */
static const struct ut_arg *put_array(struct ut_pbuf *b, const struct ut_trace *t,
				      const struct ut_arg *a)
{
	for (;; a++) {
		size_t mark = ut_pbuf_begin(b, ANNOTATION_ARRAY);

		put_arg_value(b, t, a);
		ut_pbuf_end(b, mark);
		if (!(a->flags & UT_ARG_MORE) || a[1].type == UT_ARG_END)
			return a;
	}
}

void ut_perfetto_put_args(struct ut_perfetto_packets *w, struct ut_pbuf *b,
			  const struct ut_trace *t, uint32_t index)
{
	for (const struct ut_arg *a = &t->args[index]; a->type != UT_ARG_END; a++) {
		size_t mark = ut_pbuf_begin(b, EVENT_ANNOTATIONS);

		if (a->key)
			ut_pbuf_varint(b, ANNOTATION_NAME_IID,
				       ut_perfetto_intern(w, t, a->key, UT_PERFETTO_KEYS));
		else
			put_no_name(b);
		if (a->flags & UT_ARG_ARRAY)
			a = put_array(b, t, a);
		else
			put_arg_value(b, t, a);
		ut_pbuf_end(b, mark);
	}
}

void ut_perfetto_put_facts(struct ut_pbuf *b, uint32_t field, const struct ut_trace *t,
			   uint32_t index)
{
	for (const struct ut_arg *a = &t->args[index]; a->type != UT_ARG_END; a++) {
		struct ut_str key = ut_strtab_get(&t->strings, a->key);
		struct ut_str text = { 0 };
		size_t mark = ut_pbuf_begin(b, field);

		if (a->key)
			ut_pbuf_str(b, ANNOTATION_NAME, key.ptr, key.len);
		else
			put_no_name(b);
		if (a->type == UT_ARG_JSON)
			text = ut_strtab_get(&t->strings, a->value.str);
		if (a->flags & UT_ARG_ARRAY)
			a = put_array(b, t, a);
		else if (text.len)
			ut_pbuf_str(b, ANNOTATION_EXACT, text.ptr, text.len);
		else
			put_arg_value(b, t, a);
		ut_pbuf_end(b, mark);
	}
}

void ut_perfetto_put_flag(struct ut_pbuf *b, const char *name)
{
	size_t mark = ut_pbuf_begin(b, EVENT_ANNOTATIONS);

	ut_pbuf_str(b, ANNOTATION_NAME, name, strlen(name));
	ut_pbuf_varint(b, ANNOTATION_BOOL, 1);
	ut_pbuf_end(b, mark);
}

void ut_perfetto_put_number(struct ut_pbuf *b, const char *name, uint64_t value)
{
	size_t mark = ut_pbuf_begin(b, EVENT_ANNOTATIONS);

	ut_pbuf_str(b, ANNOTATION_NAME, name, strlen(name));
	ut_pbuf_varint(b, ANNOTATION_UINT, value);
	ut_pbuf_end(b, mark);
}
