#include "query/function.h"

#include <stdlib.h>
#include <string.h>

#include "query/arg.h"
#include "query/arg_path.h"
#include "query/function_parts.h"
#include "query/tree.h"
#include "text/arg_json.h"

/*
 * The value of an argument that the path begins with: itself, an element of it, or what lies deeper
 * in it. False if it has no such thing.
 */
static bool result_at(sqlite3_context *ctx, const struct ut_arg_list *l, size_t i, size_t n,
		      const char *path)
{
	const struct ut_arg *arg = &l->items[i];
	struct ut_arg element;
	struct ut_str found;
	size_t index;

	if (!*path) {
		ut_sql_result_arg(ctx, l->strings, arg, n);
		return true;
	}
	if (arg->flags & UT_ARG_ARRAY) {
		if (!ut_arg_path_index(&path, &index) || index >= n)
			return false;
		element = arg[index];
		element.flags &= (unsigned char)~(UT_ARG_ARRAY | UT_ARG_MORE);
		return result_at(ctx, &(struct ut_arg_list){ &element, 1, 1, l->strings }, 0, 1,
				 path);
	}
	if (arg->type != UT_ARG_JSON ||
	    !ut_arg_path_find(ut_strtab_get(l->strings, arg->value.str), path, &found))
		return false;
	ut_sql_result_json(ctx, found);
	return true;
}

/* exact: only an argument that is called so, whatever may lie in others. */
static bool result_of_path(sqlite3_context *ctx, const struct ut_arg_list *l, const char *path,
			   bool exact)
{
	size_t n;

	for (size_t i = 0; i < l->count; i += n) {
		const char *behind =
			ut_arg_path_behind(path, ut_strtab_get(l->strings, l->items[i].key));

		n = ut_arg_json_span(l->items + i, l->count - i);
		if (behind && (!exact || !*behind) && result_at(ctx, l, i, n, behind))
			return true;
	}
	return false;
}

/*
 * The value of one argument of a list, or of what lies in it: 'shape.m', 'list[0]'. NULL if the
 * list does not have it.
 */
static void result_of_key(sqlite3_context *ctx, int64_t set, sqlite3_value *key)
{
	const char *wanted = (const char *)sqlite3_value_text(key), *plain;
	struct ut_arg_list l = { 0 };

	if (!wanted)
		return;
	ut_arg_list_get(&l, sqlite3_user_data(ctx), set);
	plain = ut_arg_plain_key(wanted);
	if (!result_of_path(ctx, &l, wanted, true) && !result_of_path(ctx, &l, wanted, false) &&
	    plain != wanted && !result_of_path(ctx, &l, plain, true))
		result_of_path(ctx, &l, plain, false);
	free(l.items);
}

static void call_arg(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	int64_t id = sqlite3_value_int64(argv[0]);
	struct ut_place p;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER && id >= 0 &&
	    ut_traces_find(sqlite3_user_data(ctx), (uint64_t)id, &p))
		result_of_key(ctx, ut_place_args(sqlite3_user_data(ctx), &p), argv[1]);
}

static void call_extract_arg(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER)
		result_of_key(ctx, sqlite3_value_int64(argv[0]), argv[1]);
}

/* The first and the last sign of life in all traces; false if there is none at all. */
static bool all_times(const struct ut_traces *t, uint64_t *first, uint64_t *last)
{
	bool any = false;

	for (size_t i = 0; i < t->count; i++) {
		const struct ut_trace *trace = &t->traces[i].store->trace;

		if (!t->traces[i].store->row_count)
			continue;
		*first = any && *first < trace->first ? *first : trace->first;
		*last = any && *last > trace->last ? *last : trace->last;
		any = true;
	}
	return any;
}

static void call_trace_start(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	uint64_t first, last;

	(void)argc;
	(void)argv;
	if (all_times(sqlite3_user_data(ctx), &first, &last))
		sqlite3_result_int64(ctx, ut_datum_clamp(first));
}

static void call_trace_end(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	uint64_t first, last;

	(void)argc;
	(void)argv;
	if (all_times(sqlite3_user_data(ctx), &first, &last))
		sqlite3_result_int64(ctx, ut_datum_clamp(last));
}

static void call_trace_dur(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	uint64_t first, last;

	(void)argc;
	(void)argv;
	if (all_times(sqlite3_user_data(ctx), &first, &last))
		sqlite3_result_int64(ctx, ut_datum_clamp(last - first));
}

static void call_slice_is_ancestor(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct ut_traces *t = sqlite3_user_data(ctx);
	struct ut_place a, d;

	(void)argc;
	if (ut_sql_event_id(argv[0], t, &a) && ut_sql_event_id(argv[1], t, &d))
		sqlite3_result_int(ctx, ut_tree_inside(t, ut_place_id(&a), ut_place_id(&d)));
}

const struct ut_sql_function ut_sql_functions[] = {
	{ "arg", "arg(ID, KEY)", "an argument of an event: arg(slice.id, 'bytes')", 2, call_arg },
	{ "extract_arg", "extract_arg(ARG_SET_ID, KEY)", "the same, by arg_set_id", 2,
	  call_extract_arg },
	{ "trace_start", "trace_start()", "the first sign of life in all traces, in ns", 0,
	  call_trace_start },
	{ "trace_end", "trace_end()", "the last one", 0, call_trace_end },
	{ "trace_dur", "trace_dur()", "trace_end() - trace_start()", 0, call_trace_dur },
	{ "slice_is_ancestor", "slice_is_ancestor(A, B)",
	  "1: slice B lies inside slice A, at any depth, or is the same", 2,
	  call_slice_is_ancestor },
	{ "to_realtime", "to_realtime(TS)", "ns since 1970; NULL = the trace does not know", 1,
	  ut_sql_to_realtime },
	{ "abs_time_str", "abs_time_str(TS)", "the same as text, in UTC", 1, ut_sql_abs_time_str },
	{ "str_split", "str_split(TEXT, BY, N)", "part N, from 0, of a text", 3, ut_sql_str_split },
	{ "regexp", "TEXT REGEXP PATTERN", "1: the pattern matches somewhere in the text", 2,
	  ut_sql_regexp },
	{ "regexp_extract", "regexp_extract(TEXT, PATTERN)", "what matches, or its first group", 2,
	  ut_sql_regexp_extract },
	{ "hash", "hash(VALUE, ...)", "a number that is equal for equal values", -1, ut_sql_hash },
	{ 0 },
};

int ut_sql_functions_add(sqlite3 *db, struct ut_traces *t)
{
	int rc = SQLITE_OK;

	for (const struct ut_sql_function *f = ut_sql_functions; f->name && rc == SQLITE_OK; f++)
		rc = sqlite3_create_function(db, f->name, f->args,
					     SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
					     t, f->call, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = ut_sql_times_add(db);
	return rc == SQLITE_OK ? ut_sql_aggregates_add(db) : rc;
}
