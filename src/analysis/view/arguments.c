#include "view/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "text/arg_json.h"

static void arguments_add_list(struct ut_view_args *a, const struct ut_arglists *lists,
			       uint32_t list)
{
	size_t n = ut_arglists_get(lists, list, NULL, 0);

	if (!n)
		return;
	a->items = ut_grow(a->items, a->count + n, &a->cap, sizeof(*a->items));
	ut_arglists_get(lists, list, a->items + a->count, n);
	a->count += n;
}

/* An async span's end may say more; where both have a key, the end counts. */
static void drop_said(struct ut_view_args *a, size_t own)
{
	size_t kept = 0;

	for (size_t i = 0; i < own; i++) {
		bool again = false;

		for (size_t n = own; n < a->count && !again; n++)
			again = a->items[n].key == a->items[i].key;
		if (!again)
			a->items[kept++] = a->items[i];
	}
	if (kept == own)
		return;
	memmove(a->items + kept, a->items + own, (a->count - own) * sizeof(*a->items));
	a->count -= own - kept;
}

void ut_view_args_get(struct ut_view_args *a, const struct ut_view_row *row)
{
	const struct ut_store *s = row->track->trace->store;
	const struct ut_async_end *ends = row->track->ends;

	a->strings = &s->trace.strings;
	a->count = 0;
	arguments_add_list(a, &s->args, row->args);
	if (ends && ends[row->row].row) {
		uint64_t end = ends[row->row].row - 1;
		size_t own = a->count;

		arguments_add_list(
			a, &s->args,
			row->track->rows->blocks[end / UT_BLOCK_ROWS].args[end % UT_BLOCK_ROWS]);
		drop_said(a, own);
	}
}

static bool arguments_is_text(const struct ut_arg *arg)
{
	return arg->type == UT_ARG_STR && !(arg->flags & UT_ARG_ARRAY);
}

size_t ut_view_args_next(const struct ut_view_args *a, size_t at, struct ut_str *key,
			 struct ut_buf *text)
{
	const struct ut_arg *arg = &a->items[at];
	size_t n = ut_arg_json_span(arg, a->count - at);
	struct ut_buf json = { 0 };

	*key = ut_strtab_get(a->strings, arg->key);
	if (arguments_is_text(arg)) {
		struct ut_str s = ut_strtab_get(a->strings, arg->value.str);

		ut_buf_add(text, s.ptr, s.len);
		return n;
	}
	ut_arg_json_run(&json, a->strings, arg, n);
	if (json.len > 1 && json.data[0] == '"') /* a pointer, digits: what the quotes hold */
		ut_buf_add(text, json.data + 1, json.len - 2);
	else
		ut_buf_add(text, json.data, json.len);
	ut_buf_release(&json);
	return n;
}

bool ut_view_args_text(const struct ut_view_row *row, struct ut_str key, struct ut_buf *text)
{
	struct ut_view_args a = { 0 };
	bool found = false;

	ut_view_args_get(&a, row);
	for (size_t i = 0; i < a.count && !found;) {
		struct ut_str name = ut_strtab_get(a.strings, a.items[i].key);

		found = name.len == key.len && !memcmp(name.ptr, key.ptr, key.len);
		if (found)
			ut_view_args_next(&a, i, &name, text);
		i += ut_arg_json_span(&a.items[i], a.count - i);
	}
	free(a.items);
	return found;
}

void ut_view_args_json(const struct ut_view_args *a, struct ut_buf *json)
{
	ut_arg_json_list(json, a->strings, a->items, a->count);
}
