#include "ops/trace_args.h"

#include <stdbool.h>
#include <string.h>

#include "export/args_json.h"
#include "model/store.h"
#include "ops/report.h"
#include "ops/trace_spans.h"
#include "text/out.h"

#define MOST_ARGS   256u
#define MOST_INPUTS 64u /* of an op; further ones are in its attributes */
#define DIMS        4u  /* W, Z, Y, X */

/* Fields of a tensor that traces know. */
enum {
	FIELD_TYPE = 5,
};

static struct ut_str trace_args_intern(struct ut_ops_trace_args *a, const char *text, size_t len)
{
	return ut_strtab_get(a->texts, ut_strtab_intern(a->texts, text, len));
}

/* ---- tensors ------------------------------------------------------------------------------- */

struct shape {
	uint64_t dims[DIMS]; /* of more, the first of these is the product of the outer ones */
	uint32_t count;      /* of all */
};

static void add_dim(struct shape *s, uint64_t dim)
{
	if (s->count++ < DIMS) {
		s->dims[s->count - 1] = dim;
		return;
	}
	if (__builtin_mul_overflow(s->dims[0], s->dims[1], &s->dims[0]))
		s->dims[0] = UINT64_MAX;
	memmove(&s->dims[1], &s->dims[2], (DIMS - 2) * sizeof(*s->dims));
	s->dims[DIMS - 1] = dim;
}

static void put_shape(struct ut_ops_trace_args *a, uint32_t input, const struct shape *s)
{
	uint32_t known = s->count < DIMS ? s->count : DIMS;

	if (input >= MOST_INPUTS)
		return;
	for (uint32_t i = 0; i < DIMS; i++)
		ut_ops_put_u64(a->r, ut_ops_tensor_column(&a->inputs, a->r, input, i),
			       i < DIMS - known ? 1 : s->dims[i - (DIMS - known)]);
}

/* Types of the arguments, as many as there are. */
struct types {
	uint32_t names[MOST_INPUTS]; /* string ids of the trace */
	uint32_t count;
};

static void put_type(struct ut_ops_trace_args *a, const struct ut_store *store, uint32_t input,
		     uint32_t name)
{
	struct ut_str text = ut_strtab_get(&store->trace.strings, name);

	if (text.len && input < MOST_INPUTS)
		ut_ops_put(a->r, ut_ops_tensor_column(&a->inputs, a->r, input, FIELD_TYPE),
			   trace_args_intern(a, text.ptr, text.len));
}

/*
 * "[[2,3],[],[[4],[5]]]": a tensor, something else, a list of tensors. Depth 1 is the list of
 * arguments, numbers at depth 2 are a tensor's, at depth 3 those of one in a list. What is no
 * tensor takes a number, as in the logs of Tenstorrent.
 */
struct shapes {
	struct ut_ops_trace_args *a;
	const struct ut_store *store;
	const struct types *types;
	struct shape now;
	uint32_t depth, argument, input;
	bool listed; /* the argument is a list, whose tensors have their numbers */
};

static void close_list(struct shapes *s)
{
	if (s->now.count && (s->depth == 2 || s->depth == 3)) {
		put_shape(s->a, s->input, &s->now);
		if (s->argument < s->types->count && s->depth == 2)
			put_type(s->a, s->store, s->input, s->types->names[s->argument]);
	}
	if (s->depth == 3 || (s->depth == 2 && !s->listed))
		s->input++;
	s->listed = s->depth == 3;
	s->argument += s->depth == 2;
	s->depth -= s->depth > 0;
	s->now.count = 0;
}

static void put_shapes(struct shapes *s, struct ut_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		uint64_t number = 0;

		if (c == '[') {
			s->depth++;
			s->now.count = 0;
		} else if (c == ']') {
			close_list(s);
			if (!s->depth)
				return;
		} else if (c >= '0' && c <= '9') {
			for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
				number = number * 10 + (uint64_t)(text.ptr[i] - '0');
			i--;
			if (s->depth > 1)
				add_dim(&s->now, number);
		}
	}
}

/* ---- attributes ---------------------------------------------------------------------------- */

/* Numbers that only the profiler itself needs; they would make every text different. */
static bool is_internal(struct ut_str key)
{
	return ut_str_is(key, "External id") || ut_str_is(key, "Record function id") ||
	       ut_str_is(key, "Ev Idx");
}

/* All arguments but those, as a JSON object. */
static void put_attributes(struct ut_ops_trace_args *a, const struct ut_store *store,
			   const struct ut_arg *args, size_t count)
{
	struct ut_out *out = a->scratch;
	const char *text;
	size_t len;

	ut_out_clear(out);
	for (size_t i = 0; i < count; i++) {
		struct ut_str key = ut_strtab_get(&store->trace.strings, args[i].key);
		bool array = args[i].flags & UT_ARG_ARRAY;
		bool inside = array && i && args[i - 1].flags & UT_ARG_MORE;
		bool more = array && args[i].flags & UT_ARG_MORE && i + 1 < count;

		if (is_internal(key))
			continue;
		ut_out_data(out, &len);
		ut_out_text(out, len ? "," : "{");
		if (!inside) {
			ut_out_json_str(out, key.ptr, key.len);
			ut_out_text(out, array ? ":[" : ":");
		}
		ut_args_json_value(out, &store->trace, &args[i]);
		ut_out_text(out, array && !more ? "]" : "");
	}
	text = ut_out_data(out, &len);
	if (!len)
		return;
	ut_out_text(out, "}");
	text = ut_out_data(out, &len);
	ut_ops_put(a->r, a->attributes, trace_args_intern(a, text, len));
}

/* ---- one op -------------------------------------------------------------------------------- */

/* "aten::mm, seq = 3, sizes = [[2, 3], [3, 4]], input_op_ids = ..." */
static bool sizes_in_name(const struct ut_store *store, uint32_t name, struct ut_str *sizes)
{
	static const char sign[] = ", sizes = [";
	struct ut_str text = ut_strtab_get(&store->trace.strings, name);
	const char *at = memmem(text.ptr, text.len, sign, strlen(sign));

	if (!at)
		return false;
	at += strlen(sign) - 1;
	*sizes = (struct ut_str){ at, text.len - (size_t)(at - text.ptr) };
	return true;
}

void ut_ops_trace_args_put(struct ut_ops_trace_args *a, const struct ut_store *store,
			   const struct ut_ops_span *span)
{
	struct ut_arg args[MOST_ARGS];
	size_t count = ut_arglists_get(&store->args, span->args, args, MOST_ARGS);
	struct types types = { 0 };
	struct shapes shapes = { .a = a, .store = store, .types = &types };
	struct ut_str sizes = { 0 };
	bool sized = sizes_in_name(store, span->name, &sizes);

	count = count < MOST_ARGS ? count : MOST_ARGS;
	for (size_t i = 0; i < count; i++) {
		struct ut_str key = ut_strtab_get(&store->trace.strings, args[i].key);
		bool text = args[i].type == UT_ARG_STR || args[i].type == UT_ARG_JSON;

		if (ut_str_is(key, "Input type") && types.count < MOST_INPUTS)
			types.names[types.count++] =
				args[i].type == UT_ARG_STR ? args[i].value.str : 0;
		else if (text && (ut_str_is(key, "Input Dims") || ut_str_is(key, "shapes"))) {
			sizes = ut_strtab_get(&store->trace.strings, args[i].value.str);
			sized = true;
		}
	}
	if (sized)
		put_shapes(&shapes, sizes);
	if (count)
		put_attributes(a, store, args, count);
}
