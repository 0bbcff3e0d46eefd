/* function_time.c - times in other units, and as dates. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "query/function_parts.h"
#include "query/traces.h"

static const struct unit {
	const char *to, *from;
	int64_t ns;
} units[] = {
	{ "time_to_ns", "time_from_ns", 1 },
	{ "time_to_us", "time_from_us", 1000 },
	{ "time_to_ms", "time_from_ms", 1000000 },
	{ "time_to_s", "time_from_s", 1000000000 },
	{ "time_to_min", "time_from_min", 60000000000 },
	{ "time_to_hours", "time_from_hours", 3600000000000 },
	{ "time_to_days", "time_from_days", 86400000000000 },
};

/* ns to whole units, as Perfetto has it: what is left over is cut off. */
static void call_to(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct unit *u = sqlite3_user_data(ctx);

	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_FLOAT)
		sqlite3_result_double(ctx, sqlite3_value_double(argv[0]) / (double)u->ns);
	else if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_int64(ctx, sqlite3_value_int64(argv[0]) / u->ns);
}

static void call_from(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct unit *u = sqlite3_user_data(ctx);
	sqlite3_int64 ns;

	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_FLOAT)
		sqlite3_result_double(ctx, sqlite3_value_double(argv[0]) * (double)u->ns);
	else if (__builtin_mul_overflow(sqlite3_value_int64(argv[0]), u->ns, &ns))
		sqlite3_result_error(ctx, "integer overflow", -1);
	else if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_int64(ctx, ns);
}

static int function_time_add(sqlite3 *db, const char *name, const struct unit *u,
			     void (*call)(sqlite3_context *, int, sqlite3_value **))
{
	return sqlite3_create_function(db, name, 1,
				       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
				       (void *)(uintptr_t)u, call, NULL, NULL);
}

int ut_sql_times_add(sqlite3 *db)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && rc == SQLITE_OK; i++) {
		rc = function_time_add(db, units[i].to, &units[i], call_to);
		rc = rc == SQLITE_OK ? function_time_add(db, units[i].from, &units[i], call_from)
				     : rc;
	}
	return rc;
}

/* ---- dates --------------------------------------------------------------------------------- */

/* The traces of one query share a clock, or nobody could compare them. */
static bool realtime(const struct ut_traces *t, sqlite3_value *ts, int64_t *ns)
{
	if (sqlite3_value_type(ts) == SQLITE_NULL)
		return false;
	for (size_t i = 0; i < t->count; i++) {
		int64_t offset = t->traces[i].store->trace.realtime_offset;

		if (offset)
			return !__builtin_add_overflow(sqlite3_value_int64(ts), offset, ns);
	}
	return false;
}

void ut_sql_to_realtime(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	int64_t ns;

	(void)argc;
	if (realtime(sqlite3_user_data(ctx), argv[0], &ns))
		sqlite3_result_int64(ctx, ns);
}

void ut_sql_abs_time_str(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	char text[64];
	struct tm tm;
	time_t seconds;
	int64_t ns;
	size_t len;

	(void)argc;
	if (!realtime(sqlite3_user_data(ctx), argv[0], &ns) || ns < 0)
		return;
	seconds = (time_t)(ns / 1000000000);
	if (!gmtime_r(&seconds, &tm))
		return;
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%09d", (int)(ns % 1000000000));
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}
