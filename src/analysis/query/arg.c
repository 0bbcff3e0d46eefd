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
#include "text/arg_json.h"

/* How many characters Perfetto has put in front of a key. */
static size_t prefix_len(struct ut_str key)
{
	if (ut_str_has_start(key, "args."))
		return strlen("args.");
	return ut_str_has_start(key, "debug.") ? strlen("debug.") : 0;
}

const char *ut_arg_plain_key(const char *key)
{
	return key + prefix_len(ut_str_of(key));
}

static int compare_keys(void *unused, int a_len, const void *a, int b_len, const void *b)
{
	struct ut_str x = { a, (size_t)a_len }, y = { b, (size_t)b_len };
	size_t x_skip = prefix_len(x), y_skip = prefix_len(y);

	(void)unused;
	return ut_str_cmp((struct ut_str){ x.ptr + x_skip, x.len - x_skip },
			  (struct ut_str){ y.ptr + y_skip, y.len - y_skip });
}

int ut_arg_key_collation_add(sqlite3 *db)
{
	return sqlite3_create_collation(db, UT_ARG_KEY_COLLATION, SQLITE_UTF8, NULL, compare_keys);
}

static void get_own(struct ut_arg_list *l, const struct ut_trace *trace, uint32_t first)
{
	for (size_t i = first; i < trace->arg_count && trace->args[i].type != UT_ARG_END; i++) {
		l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
		l->items[l->count++] = trace->args[i];
	}
}

static void get_list(struct ut_arg_list *l, const struct ut_arglists *lists, uint32_t list)
{
	l->count = ut_arglists_get(lists, list, l->items, l->cap);
	if (l->count > l->cap) {
		l->items = ut_grow(l->items, l->count, &l->cap, sizeof(*l->items));
		ut_arglists_get(lists, list, l->items, l->cap);
	}
}

void ut_arg_list_get(struct ut_arg_list *l, const struct ut_traces *t, int64_t set)
{
	uint64_t trace = (uint64_t)set >> 33;
	bool own = set >> 32 & 1;
	const struct ut_store *s;

	l->count = 0;
	if (set <= 0 || trace >= t->count)
		return;
	s = t->traces[trace].store;
	l->strings = &s->trace.strings;
	if (own && set & UT_JOINED_ARGS)
		get_list(l, &t->traces[trace].joined, (uint32_t)set & ~UT_JOINED_ARGS);
	else if (own)
		get_own(l, &s->trace, (uint32_t)set);
	else
		get_list(l, &s->args, (uint32_t)set);
}

/* ---- begin and end ------------------------------------------------------------------------- */

static uint32_t args_at(const struct ut_rows *rows, uint64_t row)
{
	return rows->blocks[row / UT_BLOCK_ROWS].args[row % UT_BLOCK_ROWS];
}

/* Joins the arguments of a track's async spans with those of their ends. */
static void join_track(const struct ut_traces *t, struct ut_qtrace *trace, struct ut_qtrack *track)
{
	const struct ut_rows *rows = track->rows;
	const struct ut_async_end *ends = ut_traces_ends(t, track);

	for (uint64_t row = 0; row < rows->count; row++) {
		uint32_t last = ends[row].row ? args_at(rows, ends[row].row - 1) : 0, list;

		if (!last)
			continue;
		list = ut_arglists_both(&trace->joined, &trace->store->args, args_at(rows, row),
					last);
		if (list >= UT_JOINED_ARGS)
			return; /* billions of them: the rest shows what it began with */
		if (!track->joined)
			track->joined = ut_make((rows->count + 1) * sizeof(*track->joined));
		track->joined[row] = list;
	}
}

/* All at once, so that the numbers do not depend on what is asked first. */
static void join_trace(const struct ut_traces *t, struct ut_qtrace *trace)
{
	struct ut_qtrack *tracks = t->tracks + trace->first_track;

	trace->has_joined = true;
	ut_arglists_init(&trace->joined);
	for (size_t i = 0; i < trace->store->trace.track_count; i++) {
		if (tracks[i].track->type == UT_TRACK_ASYNC)
			join_track(t, trace, &tracks[i]);
	}
}

int64_t ut_place_args(const struct ut_traces *t, const struct ut_place *p)
{
	if (ut_place_type(p)->kind == UT_KIND_ASYNC_BEGIN) {
		struct ut_qtrace *trace = &t->traces[p->track->trace];

		if (!trace->has_joined)
			join_trace(t, trace);
		if (p->track->joined && p->track->joined[p->row])
			return ut_arg_set(p->track->trace, true,
					  p->track->joined[p->row] | UT_JOINED_ARGS);
	}
	return ut_arg_set(p->track->trace, false, p->block->args[p->i]);
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

void ut_sql_result_json(sqlite3_context *ctx, struct ut_str json)
{
	struct ut_buf b = { 0 };

	ut_buf_add(&b, json.ptr, json.len);
	if (json.len && (json.ptr[0] == '{' || json.ptr[0] == '['))
		ut_sql_result_buf(ctx, &b);
	else if (json.len)
		result_json(ctx, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
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
