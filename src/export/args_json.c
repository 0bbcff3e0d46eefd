#include "export/args_json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/event.h"
#include "model/trace.h"
#include "text/digits.h"
#include "text/out.h"

static void put_u64(struct ut_out *o, const struct ut_arg *a)
{
	const char *quote = a->flags & UT_ARG_TEXT ? "\"" : "";

	ut_out_text(o, quote);
	ut_out_u64(o, a->value.u64);
	ut_out_text(o, quote);
}

void ut_args_json_text(struct ut_out *o, struct ut_str text)
{
	char *copy;

	if (ut_utf8_valid(text.ptr, text.len)) {
		ut_out_write(o, text.ptr, text.len);
		return;
	}
	copy = ut_make(3 * text.len);
	ut_out_write(o, copy, ut_utf8_copy(copy, text.ptr, text.len));
	free(copy);
}

void ut_args_json_value(struct ut_out *o, const struct ut_trace *t, const struct ut_arg *a)
{
	struct ut_str s;

	switch ((enum ut_arg_type)a->type) {
	case UT_ARG_STR:
		s = ut_strtab_get(&t->strings, a->value.str);
		ut_out_json_str(o, s.ptr, s.len);
		break;
	case UT_ARG_U64:
		put_u64(o, a);
		break;
	case UT_ARG_I64:
		ut_out_i64(o, a->value.i64);
		break;
	case UT_ARG_F64:
		ut_out_json_double(o, a->value.f64);
		break;
	case UT_ARG_PTR: /* as text: readers round numbers past 2^53 */
		ut_out_text(o, "\"");
		ut_out_advance(o, ut_digits_hex(ut_out_reserve(o, UT_DIGITS_ROOM), a->value.u64));
		ut_out_text(o, "\"");
		break;
	case UT_ARG_BOOL:
		ut_out_text(o, a->value.u64 ? "true" : "false");
		break;
	case UT_ARG_JSON:
		ut_args_json_text(o, ut_strtab_get(&t->strings, a->value.str));
		break;
	case UT_ARG_END:
		break;
	}
}

/* The members of an object, up to its end. */
static void put_members(struct ut_out *o, const struct ut_trace *t, uint32_t index)
{
	const struct ut_arg *first = &t->args[index];
	bool inside = false; /* an array */

	for (const struct ut_arg *a = first; a->type != UT_ARG_END; a++) {
		bool array = a->flags & UT_ARG_ARRAY;
		bool more = array && a->flags & UT_ARG_MORE && a[1].type != UT_ARG_END;
		struct ut_str key = ut_strtab_get(&t->strings, a->key);

		if (a != first)
			ut_out_text(o, ",");
		if (!inside) {
			ut_out_json_str(o, key.ptr, key.len);
			ut_out_text(o, array ? ":[" : ":");
		}
		ut_args_json_value(o, t, a);
		if (array && !more)
			ut_out_text(o, "]");
		inside = more;
	}
	ut_out_text(o, "}");
}

void ut_args_json(struct ut_out *o, const struct ut_trace *t, uint32_t index)
{
	ut_out_text(o, "{");
	put_members(o, t, index);
}

/* What has no name is its address; a semicolon parts two of them. */
static void add_place(struct ut_buf *b, const struct ut_trace *t, uint32_t stack)
{
	struct ut_place_in_code p = ut_stacks_innermost(&t->stacks, stack);
	struct ut_str name = ut_strtab_get(&t->strings, p.function);
	size_t mark = b->len;

	if (name.len)
		ut_buf_add(b, name.ptr, name.len);
	else
		ut_buf_fmt(b, "0x%" PRIx64, p.address);
	for (; mark < b->len; mark++)
		b->data[mark] = b->data[mark] == ';' ? ':' : b->data[mark];
}

/* The outermost first. */
static void add_stack(struct ut_buf *b, const struct ut_trace *t, uint32_t stack)
{
	size_t depth = ut_stacks_depth(&t->stacks, stack), at = depth;
	uint32_t *way = ut_make((depth + 1) * sizeof(*way));

	for (; at; stack = ut_stacks_get(&t->stacks, stack).caller)
		way[--at] = stack;
	for (; at < depth; at++) {
		ut_buf_text(b, at ? ";" : "");
		add_place(b, t, way[at]);
	}
	free(way);
}

bool ut_sample_has_stack(const struct ut_trace *t, const struct ut_event *e)
{
	return e->kind == UT_KIND_SAMPLE &&
	       ut_sample_stack(e->val) - 1 < t->stacks.site_count; /* 0 wraps around */
}

void ut_sample_json(struct ut_out *o, const struct ut_trace *t, const struct ut_event *e)
{
	uint32_t stack = ut_sample_has_stack(t, e) ? ut_sample_stack(e->val) : 0;
	struct ut_buf b = { 0 };

	ut_out_text(o, "{");
	if (stack) {
		add_stack(&b, t, stack);
		ut_out_text(o, "\"stack\":");
		ut_out_json_str(o, b.data ? b.data : "", b.len);
		ut_out_text(o, e->args ? "," : "");
	}
	ut_buf_release(&b);
	put_members(o, t, e->args);
}

void ut_counter_json(struct ut_out *o, const struct ut_event *e)
{
	double value;

	memcpy(&value, &e->val, sizeof(value));
	if (e->flags & UT_EV_DOUBLE)
		ut_out_json_double(o, value);
	else if (e->flags & UT_EV_SIGNED)
		ut_out_i64(o, (int64_t)e->val);
	else
		ut_out_u64(o, e->val);
}
