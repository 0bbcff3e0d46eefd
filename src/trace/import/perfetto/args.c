/*
 * args.c - debug annotations as arguments.
 *
 * Plain values and arrays of plain values are arguments of their type; what is nested deeper, and
 * what has no value, becomes JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "import/perfetto/shared.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "text/json_text.h"

#define MOST_DEPTH 32 /* values that are nested deeper are null */

/* What an annotation holds. */
struct value {
	uint32_t key;          /* string id */
	bool nameless;         /* the key is made up */
	struct ut_pb_field is; /* its value; number 0 = none. Arrays and dicts: the last element */
};

/* A number that is read back as a double: 5 is 5.0. */
static void put_double(struct ut_buf *b, double value)
{
	size_t from = b->len;

	ut_json_text_double(b, value);
	if (!strpbrk(b->data + from, ".e\""))
		ut_buf_text(b, ".0");
}

struct ut_arg *ut_pf_add_arg(struct ut_pf *p, uint32_t key, enum ut_arg_type type)
{
	struct ut_arg *a;

	p->args = ut_grow(p->args, p->arg_count + 1, &p->arg_cap, sizeof(*p->args));
	a = &p->args[p->arg_count++];
	*a = (struct ut_arg){ .key = key, .type = (uint8_t)type };
	return a;
}

bool ut_pf_is(struct ut_pf *p, uint32_t id, const char *text)
{
	struct ut_str s = ut_strtab_get(&ut_pf_trace(p)->strings, id);

	return ut_str_is(s, text);
}

static bool is_value(const struct ut_pb_field *f)
{
	switch (f->number) {
	case ANNOTATION_BOOL:
	case ANNOTATION_UINT:
	case ANNOTATION_INT:
	case ANNOTATION_POINTER:
	case ANNOTATION_STRING_IID:
		return f->wire == UT_PB_VARINT;
	case ANNOTATION_DOUBLE:
		return f->wire == UT_PB_FIXED64;
	case ANNOTATION_STRING:
	case ANNOTATION_NESTED:
	case ANNOTATION_JSON:
	case ANNOTATION_DICT:
	case ANNOTATION_ARRAY:
	case ANNOTATION_EXACT: /* comes behind what it corrects */
		return f->wire == UT_PB_BYTES;
	default:
		return false;
	}
}

static struct value perfetto_args_read_value(struct ut_pf *p, const struct ut_pf_seq *s,
					     struct ut_pb m)
{
	struct value v = { 0 };
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		if (f.number == ANNOTATION_NAME_IID)
			v.key = ut_pf_interned(p, &s->keys, f.value);
		else if (f.number == ANNOTATION_NAME)
			v.key = ut_pf_string(p, &f);
		else if (f.number == ANNOTATION_NAMELESS)
			v.nameless = f.value != 0;
		else if (is_value(&f))
			v.is = f;
	}
	if (v.nameless)
		v.key = 0;
	return v;
}

/* ---- plain values -------------------------------------------------------------------------- */

/* False if the value is nested or missing. */
static bool add_plain(struct ut_pf *p, const struct ut_pf_seq *s, const struct value *v)
{
	const struct ut_pb_field *f = &v->is;

	switch (f->number) {
	case ANNOTATION_BOOL:
		ut_pf_add_arg(p, v->key, UT_ARG_BOOL)->value.u64 = f->value != 0;
		return true;
	case ANNOTATION_UINT:
		ut_pf_add_arg(p, v->key, UT_ARG_U64)->value.u64 = f->value;
		return true;
	case ANNOTATION_INT:
		ut_pf_add_arg(p, v->key, UT_ARG_I64)->value.i64 = (int64_t)f->value;
		return true;
	case ANNOTATION_DOUBLE:
		ut_pf_add_arg(p, v->key, UT_ARG_F64)->value.f64 = ut_pb_double(f->value);
		return true;
	case ANNOTATION_POINTER:
		ut_pf_add_arg(p, v->key, UT_ARG_PTR)->value.u64 = f->value;
		return true;
	case ANNOTATION_STRING:
		ut_pf_add_arg(p, v->key, UT_ARG_STR)->value.str = ut_pf_string(p, f);
		return true;
	case ANNOTATION_STRING_IID:
		ut_pf_add_arg(p, v->key, UT_ARG_STR)->value.str =
			ut_pf_interned(p, &s->texts, f->value);
		return true;
	default:
		return false;
	}
}

/* The elements of an array, if all of them are plain. */
static bool add_array(struct ut_pf *p, const struct ut_pf_seq *s, uint32_t key, struct ut_pb m)
{
	size_t first = p->arg_count;
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		struct value element;

		if (f.number != ANNOTATION_ARRAY)
			continue;
		element = perfetto_args_read_value(p, s, ut_pb_inside(&f));
		element.key = key;
		if (!add_plain(p, s, &element)) {
			p->arg_count = first;
			return false;
		}
		p->args[p->arg_count - 1].flags = UT_ARG_ARRAY | UT_ARG_MORE;
	}
	p->args[p->arg_count - 1].flags = UT_ARG_ARRAY;
	return true;
}

/* ---- nested values, as JSON ---------------------------------------------------------------- */

static void perfetto_args_put_string(struct ut_pf *p, uint32_t id)
{
	struct ut_str s = ut_strtab_get(&ut_pf_trace(p)->strings, id);

	ut_json_text_str(&p->text, s.ptr, s.len);
}

static void perfetto_args_put_value(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m,
				    const struct value *v, int depth);

static void put_members(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m, uint32_t field,
			int depth)
{
	struct ut_pb_field f;
	bool dict = field == ANNOTATION_DICT, any = false;

	ut_buf_char(&p->text, dict ? '{' : '[');
	while (ut_pb_next(&m, &f)) {
		struct value v;

		if (f.number != field || f.wire != UT_PB_BYTES)
			continue;
		if (any)
			ut_buf_char(&p->text, ',');
		any = true;
		v = perfetto_args_read_value(p, s, ut_pb_inside(&f));
		if (dict) {
			perfetto_args_put_string(p, v.key);
			ut_buf_char(&p->text, ':');
		}
		perfetto_args_put_value(p, s, ut_pb_inside(&f), &v, depth + 1);
	}
	ut_buf_char(&p->text, dict ? '}' : ']');
}

static void put_nested(struct ut_pf *p, struct ut_pb m, int depth);

static void put_nested_array(struct ut_pf *p, struct ut_pb m, int depth)
{
	struct ut_pb_field f;
	bool any = false;

	ut_buf_char(&p->text, '[');
	while (ut_pb_next(&m, &f)) {
		if (f.number != NESTED_ARRAY)
			continue;
		if (any)
			ut_buf_char(&p->text, ',');
		any = true;
		put_nested(p, ut_pb_inside(&f), depth + 1);
	}
	ut_buf_char(&p->text, ']');
}

/* The older form of a dict, nested_value: its keys and its values in two lists. */
static void put_nested_dict(struct ut_pf *p, struct ut_pb m, int depth)
{
	struct ut_pb values = m;
	struct ut_pb_field key, value;
	bool any = false;

	ut_buf_char(&p->text, '{');
	while (ut_pb_next(&m, &key)) {
		if (key.number != NESTED_KEYS || key.wire != UT_PB_BYTES)
			continue;
		value.number = 0;
		while (value.number != NESTED_VALUES && ut_pb_next(&values, &value))
			;
		if (value.number != NESTED_VALUES)
			break;
		if (any)
			ut_buf_char(&p->text, ',');
		any = true;
		ut_json_text_str(&p->text, (const char *)key.data, key.value);
		ut_buf_char(&p->text, ':');
		put_nested(p, ut_pb_inside(&value), depth + 1);
	}
	ut_buf_char(&p->text, '}');
}

static void put_nested_leaf(struct ut_pf *p, const struct ut_pb_field *f)
{
	if (f->number == NESTED_INT)
		ut_buf_fmt(&p->text, "%" PRId64, (int64_t)f->value);
	else if (f->number == NESTED_DOUBLE && f->wire == UT_PB_FIXED64)
		put_double(&p->text, ut_pb_double(f->value));
	else if (f->number == NESTED_BOOL)
		ut_buf_text(&p->text, f->value ? "true" : "false");
	else if (f->number == NESTED_STRING && f->wire == UT_PB_BYTES)
		ut_json_text_str(&p->text, (const char *)f->data, f->value);
	else
		ut_buf_text(&p->text, "null");
}

/* The older way to nest values. */
static void put_nested(struct ut_pf *p, struct ut_pb m, int depth)
{
	struct ut_pb rest = m;
	struct ut_pb_field f, leaf = { 0 };
	uint64_t type = 0;

	while (ut_pb_next(&rest, &f)) {
		if (f.number == NESTED_TYPE)
			type = f.value;
		else if (f.number >= NESTED_INT && f.number <= NESTED_STRING)
			leaf = f;
	}
	if (type == 1 && depth < MOST_DEPTH)
		put_nested_dict(p, m, depth);
	else if (type == 2 && depth < MOST_DEPTH)
		put_nested_array(p, m, depth);
	else
		put_nested_leaf(p, &leaf);
}

/* Text that claims to be JSON: as strict JSON, or as a string if it is none. */
static void perfetto_args_put_json(struct ut_pf *p, const struct ut_pb_field *f)
{
	struct ut_str span;
	struct ut_json j;

	ut_json_init_text(&j, (const char *)f->data, f->value);
	if (ut_json_peek(&j) && ut_json_skip(&j, &span) && !ut_json_peek(&j))
		ut_json_minify(span, &p->text);
	else
		ut_json_text_str(&p->text, (const char *)f->data, f->value);
	ut_json_release(&j);
}

static void perfetto_args_put_value(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m,
				    const struct value *v, int depth)
{
	const struct ut_pb_field *f = &v->is;

	switch (depth < MOST_DEPTH ? f->number : 0) {
	case ANNOTATION_BOOL:
		ut_buf_text(&p->text, f->value ? "true" : "false");
		break;
	case ANNOTATION_UINT:
		ut_buf_fmt(&p->text, "%" PRIu64, f->value);
		break;
	case ANNOTATION_INT:
		ut_buf_fmt(&p->text, "%" PRId64, (int64_t)f->value);
		break;
	case ANNOTATION_DOUBLE:
		put_double(&p->text, ut_pb_double(f->value));
		break;
	case ANNOTATION_POINTER:
		ut_buf_fmt(&p->text, "\"0x%" PRIx64 "\"", f->value);
		break;
	case ANNOTATION_STRING:
		ut_json_text_str(&p->text, (const char *)f->data, f->value);
		break;
	case ANNOTATION_STRING_IID:
		perfetto_args_put_string(p, ut_pf_interned(p, &s->texts, f->value));
		break;
	case ANNOTATION_NESTED:
		put_nested(p, ut_pb_inside(f), depth + 1);
		break;
	case ANNOTATION_JSON:
	case ANNOTATION_EXACT:
		perfetto_args_put_json(p, f);
		break;
	case ANNOTATION_DICT:
	case ANNOTATION_ARRAY:
		put_members(p, s, m, f->number, depth);
		break;
	default:
		ut_buf_text(&p->text, "null");
		break;
	}
}

/* ---- JSON that is a plain value after all -------------------------------------------------- */

static uint32_t decoded(struct ut_pf *p, struct ut_str raw)
{
	char *text = ut_make(raw.len + 1);
	size_t len = ut_json_decode(raw, text);
	uint32_t id = ut_strtab_intern(&ut_pf_trace(p)->strings, text, len);

	free(text);
	return id;
}

static void perfetto_args_add_number(struct ut_pf *p, uint32_t key, struct ut_str text)
{
	struct ut_json_number n = { 0 };
	enum ut_json_type kind = ut_json_number(text, &n);

	if (kind == UT_JSON_U64)
		ut_pf_add_arg(p, key, UT_ARG_U64)->value.u64 = n.u64;
	else if (kind == UT_JSON_I64)
		ut_pf_add_arg(p, key, UT_ARG_I64)->value.i64 = n.i64;
	else if (kind == UT_JSON_F64 && !isinf(n.f64))
		ut_pf_add_arg(p, key, UT_ARG_F64)->value.f64 = n.f64;
	else /* 64 bits and a double are too small for it */
		ut_pf_add_arg(p, key, UT_ARG_JSON)->value.str =
			ut_strtab_intern(&ut_pf_trace(p)->strings, text.ptr, text.len);
}

/* The strict JSON in p->text. */
static void add_json(struct ut_pf *p, uint32_t key)
{
	struct ut_str text = { p->text.data, p->text.len };

	switch (text.ptr[0]) {
	case '"':
		ut_pf_add_arg(p, key, UT_ARG_STR)->value.str =
			decoded(p, (struct ut_str){ text.ptr + 1, text.len - 2 });
		break;
	case 't':
	case 'f':
		ut_pf_add_arg(p, key, UT_ARG_BOOL)->value.u64 = text.ptr[0] == 't';
		break;
	case '{':
	case '[':
	case 'n':
		ut_pf_add_arg(p, key, UT_ARG_JSON)->value.str =
			ut_strtab_intern(&ut_pf_trace(p)->strings, text.ptr, text.len);
		break;
	default:
		perfetto_args_add_number(p, key, text);
		break;
	}
}

void ut_pf_annotation(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb annotation)
{
	struct value v = perfetto_args_read_value(p, s, annotation);

	if (add_plain(p, s, &v) ||
	    (v.is.number == ANNOTATION_ARRAY && add_array(p, s, v.key, annotation)))
		return;
	p->text.len = 0;
	perfetto_args_put_value(p, s, annotation, &v, 0);
	if (v.is.number == ANNOTATION_EXACT)
		ut_pf_add_arg(p, v.key, UT_ARG_JSON)->value.str =
			ut_strtab_intern(&ut_pf_trace(p)->strings, p->text.data, p->text.len);
	else
		add_json(p, v.key);
}

void ut_pf_place_args(struct ut_pf *p, const struct ut_pf_place *place)
{
	struct ut_strtab *strings = &ut_pf_trace(p)->strings;

	if (place->function)
		ut_pf_add_arg(p, ut_strtab_intern_z(strings, "function"), UT_ARG_STR)->value.str =
			place->function;
	if (place->file)
		ut_pf_add_arg(p, ut_strtab_intern_z(strings, "file"), UT_ARG_STR)->value.str =
			place->file;
	if (place->line)
		ut_pf_add_arg(p, ut_strtab_intern_z(strings, "line"), UT_ARG_U64)->value.u64 =
			place->line;
}
