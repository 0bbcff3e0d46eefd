#include "query/arg.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "base/utf8.h"
#include "query/arg_json.h"

static void get_own(struct ut_arg_list *l, const struct ut_trace *trace, uint32_t first)
{
	for (size_t i = first; i < trace->arg_count && trace->args[i].type != UT_ARG_END; i++) {
		l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
		l->items[l->count++] = trace->args[i];
	}
}

void ut_arg_list_get(struct ut_arg_list *l, const struct ut_traces *t, int64_t set)
{
	uint64_t trace = (uint64_t)set >> 33;
	const struct ut_store *s;

	l->count = 0;
	if (set <= 0 || trace >= t->count)
		return;
	s = t->traces[trace].store;
	l->strings = &s->trace.strings;
	if (set >> 32 & 1) {
		get_own(l, &s->trace, (uint32_t)set);
		return;
	}
	l->count = ut_arglists_get(&s->args, (uint32_t)set, l->items, l->cap);
	if (l->count > l->cap) {
		l->items = ut_grow(l->items, l->count, &l->cap, sizeof(*l->items));
		ut_arglists_get(&s->args, (uint32_t)set, l->items, l->cap);
	}
}

void ut_sql_result_buf(sqlite3_context *ctx, struct ut_buf *b)
{
	sqlite3_result_text64(ctx, b->data, b->len, free, SQLITE_UTF8);
	sqlite3_result_subtype(ctx, 'J'); /* SQLite's JSON functions take it as it is */
	*b = (struct ut_buf){ 0 };
}

/* What JSON text stands for: files tell strings and numbers about themselves in JSON, too. */
static void result_json(sqlite3_context *ctx, struct ut_str json)
{
	struct ut_arena arena = { 0 };
	struct ut_str text;
	char *copy, *end;
	long long number;

	if (!json.len || !strcmp(json.ptr, "null"))
		return;
	if (json.ptr[0] == '"') {
		text = ut_arg_json_unquote(&arena, json);
		copy = ut_make(3 * text.len + 1);
		sqlite3_result_text64(ctx, copy, ut_utf8_copy(copy, text.ptr, text.len), free,
				      SQLITE_UTF8);
		ut_arena_release(&arena);
		return;
	}
	if (!strcmp(json.ptr, "true") || !strcmp(json.ptr, "false")) {
		sqlite3_result_int(ctx, json.ptr[0] == 't');
		return;
	}
	errno = 0;
	number = strtoll(json.ptr, &end, 10);
	if (end == json.ptr || json.ptr[0] == '{' || json.ptr[0] == '[') {
		ut_sql_result_text(ctx, json);
		sqlite3_result_subtype(ctx, 'J');
	} else if (!*end && !errno) {
		sqlite3_result_int64(ctx, number);
	} else if (*end && isfinite(strtod(json.ptr, NULL))) {
		sqlite3_result_double(ctx, strtod(json.ptr, NULL));
	} else { /* no number of SQLite's has all these digits */
		ut_sql_result_text(ctx, json);
	}
}

static void result_digits(sqlite3_context *ctx, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void result_pointer(sqlite3_context *ctx, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void result_one(sqlite3_context *ctx, const struct ut_strtab *strings,
		       const struct ut_arg *arg)
{
	switch ((enum ut_arg_type)arg->type) {
	case UT_ARG_STR:
		ut_sql_result_text(ctx, ut_strtab_get(strings, arg->value.str));
		break;
	case UT_ARG_U64:
		if (arg->flags & UT_ARG_TEXT)
			result_digits(ctx, arg->value.u64);
		else
			ut_sql_result_u64(ctx, arg->value.u64);
		break;
	case UT_ARG_BOOL:
		sqlite3_result_int(ctx, arg->value.u64 != 0);
		break;
	case UT_ARG_I64:
		sqlite3_result_int64(ctx, arg->value.i64);
		break;
	case UT_ARG_F64:
		sqlite3_result_double(ctx, arg->value.f64);
		break;
	case UT_ARG_PTR:
		result_pointer(ctx, arg->value.u64);
		break;
	case UT_ARG_JSON:
		result_json(ctx, ut_strtab_get(strings, arg->value.str));
		break;
	case UT_ARG_END:
		break;
	}
}

void ut_sql_result_arg(sqlite3_context *ctx, const struct ut_strtab *strings,
		       const struct ut_arg *args, size_t count)
{
	struct ut_buf b = { 0 };

	if (!(args->flags & UT_ARG_ARRAY)) {
		result_one(ctx, strings, args);
		return;
	}
	ut_arg_json_run(&b, strings, args, count);
	ut_sql_result_buf(ctx, &b);
}

void ut_sql_result_args(sqlite3_context *ctx, const struct ut_arg_list *l)
{
	struct ut_buf b = { 0 };

	if (!l->count)
		return;
	ut_arg_json_list(&b, l->strings, l->items, l->count);
	ut_sql_result_buf(ctx, &b);
}
