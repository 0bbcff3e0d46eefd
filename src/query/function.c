#include "query/function.h"

#include <stdlib.h>
#include <string.h>

#include "query/arg.h"
#include "query/arg_json.h"

/* The value of one argument of a list; NULL if the list does not have it. */
static void result_of_key(sqlite3_context *ctx, int64_t set, sqlite3_value *key)
{
	const char *wanted = (const char *)sqlite3_value_text(key);
	size_t len = (size_t)sqlite3_value_bytes(key), n;
	struct ut_arg_list l = { 0 };

	if (!wanted)
		return;
	ut_arg_list_get(&l, sqlite3_user_data(ctx), set);
	for (size_t i = 0; i < l.count; i += n) {
		struct ut_str s = ut_strtab_get(l.strings, l.items[i].key);

		n = ut_arg_json_span(l.items + i, l.count - i);
		if (s.len == len && !memcmp(s.ptr, wanted, len)) {
			ut_sql_result_arg(ctx, l.strings, l.items + i, n);
			break;
		}
	}
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

const struct ut_sql_function ut_sql_functions[] = {
	{ "arg", "arg(ID, KEY)", "an argument of an event: arg(slice.id, 'bytes')", 2, call_arg },
	{ "extract_arg", "extract_arg(ARG_SET_ID, KEY)", "the same, by arg_set_id", 2,
	  call_extract_arg },
	{ "trace_start", "trace_start()", "the first sign of life in all traces, in ns", 0,
	  call_trace_start },
	{ "trace_end", "trace_end()", "the last one", 0, call_trace_end },
	{ "trace_dur", "trace_dur()", "trace_end() - trace_start()", 0, call_trace_dur },
	{ 0 },
};

int ut_sql_functions_add(sqlite3 *db, struct ut_traces *t)
{
	int rc = SQLITE_OK;

	for (const struct ut_sql_function *f = ut_sql_functions; f->name && rc == SQLITE_OK; f++)
		rc = sqlite3_create_function(db, f->name, f->args,
					     SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
					     t, f->call, NULL, NULL);
	return rc;
}
