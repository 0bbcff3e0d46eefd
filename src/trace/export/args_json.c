#include "export/args_json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/event.h"
#include "model/trace.h"
#include "text/arg_json.h"
#include "text/out.h"

void ut_args_json_text(struct ut_out *o, struct ut_str text)
{
	ut_arg_json_raw(ut_out_buffer(o), text);
}

void ut_args_json_value(struct ut_out *o, const struct ut_trace *t, const struct ut_arg *a)
{
	ut_arg_json_value(ut_out_buffer(o), &t->strings, a);
}

static size_t list_len(const struct ut_arg *args)
{
	size_t n = 0;

	while (args[n].type != UT_ARG_END)
		n++;
	return n;
}

void ut_args_json(struct ut_out *o, const struct ut_trace *t, uint32_t index)
{
	const struct ut_arg *args = &t->args[index];

	ut_arg_json_list(ut_out_buffer(o), &t->strings, args, list_len(args));
}

/* What has no name is its address; a semicolon parts two of them. */
static void args_json_add_place(struct ut_buf *b, const struct ut_trace *t, uint32_t stack)
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
		args_json_add_place(b, t, way[at]);
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
	const struct ut_arg *args = &t->args[e->args];
	struct ut_buf b = { 0 };

	ut_out_text(o, "{");
	if (stack) {
		add_stack(&b, t, stack);
		ut_out_text(o, "\"stack\":");
		ut_out_json_str(o, b.data ? b.data : "", b.len);
		ut_out_text(o, e->args ? "," : "");
	}
	ut_buf_release(&b);
	ut_arg_json_members(ut_out_buffer(o), &t->strings, args, list_len(args));
	ut_out_text(o, "}");
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
