/*
 * bounded.c - functions of SQLite that one call can keep busy for hours, with a bound.
 *
 * A statement is interrupted between two steps of SQLite's machine, and a call of a function is one
 * step. printf('%.*c', 2000000000, 'x') counts to two thousand millions; replace() and instr()
 * and LIKE compare at every place of one text with all of the other; json_patch() looks through one
 * object for every member of the other. So the work is estimated from the
 * arguments, and what would take more than a moment is an error. The work itself is done by
 * SQLite's own function, on a connection of its own that has it still.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "query/guard.h"

#define WORK_MOST   10e9 /* bytes that are compared: about a second */
#define PRINT_MOST  (1 << 20)
#define CACHED_ARGS 6

#ifdef SQLITE_RESULT_SUBTYPE /* 3.45 wants to be told */
#define RESULT_SUBTYPE SQLITE_RESULT_SUBTYPE
#else
#define RESULT_SUBTYPE 0
#endif

struct bounded {
	sqlite3 *db; /* that has SQLite's own */
	const char *name;
	bool is_json; /* its result, as functions of JSON are told */
	double (*work)(int argc, sqlite3_value **argv);
	sqlite3_stmt *calls[CACHED_ARGS + 1]; /* by number of arguments */
};

/* Text in text, or letters of a set: each place of the first with all of the second. */
static double compare_work(int argc, sqlite3_value **argv)
{
	if (argc < 2)
		return 0;
	return (double)sqlite3_value_bytes(argv[0]) * sqlite3_value_bytes(argv[1]);
}

/* A width or a precision: digits, or the next argument. */
static double print_number(const char **at, int argc, sqlite3_value **argv, int *next)
{
	double n = 0;

	if (**at == '*') {
		(*at)++;
		if (*next < argc)
			n = (double)sqlite3_value_int64(argv[(*next)++]);
		return n < 0 ? -n : n;
	}
	for (; **at >= '0' && **at <= '9'; (*at)++)
		n = n < 1e18 ? n * 10 + (**at - '0') : n;
	return n;
}

/* The sum of widths and precisions of a format, as what they would be compared: too much if it is
 * more than PRINT_MOST. */
static double print_work(int argc, sqlite3_value **argv)
{
	const char *at = argc ? (const char *)sqlite3_value_text(argv[0]) : NULL;
	double sum = 0;
	int next = 1;

	while (at && (at = strchr(at, '%'))) {
		at++;
		at += strspn(at, "-+ #!0,");
		sum += print_number(&at, argc, argv, &next);
		if (*at == '.') {
			at++;
			at += *at == '-';
			sum += print_number(&at, argc, argv, &next);
		}
		at += strspn(at, "l");
		if (*at && *at != '%' && *at != 'n')
			next++;
		at += *at != '\0';
	}
	return sum / PRINT_MOST * WORK_MOST;
}

/* Each letter of the text with the pattern, slowly: by characters, in both cases. */
static double like_work(int argc, sqlite3_value **argv)
{
	return 10 * compare_work(argc, argv);
}

static sqlite3_stmt *bounded_prepare(struct bounded *b, int argc)
{
	struct ut_buf sql = { 0 };
	sqlite3_stmt *call = argc <= CACHED_ARGS ? b->calls[argc] : NULL;

	if (call)
		return call;
	ut_buf_fmt(&sql, "SELECT %s(", b->name);
	for (int i = 0; i < argc; i++)
		ut_buf_text(&sql, i ? ",?" : "?");
	ut_buf_text(&sql, ")");
	if (sqlite3_prepare_v2(b->db, sql.data, -1, &call, NULL) != SQLITE_OK)
		call = NULL;
	ut_buf_release(&sql);
	if (argc <= CACHED_ARGS)
		b->calls[argc] = call;
	return call;
}

static bool may_run(sqlite3_context *ctx, const struct bounded *b, int argc, sqlite3_value **argv)
{
	char why[96];

	if (ut_guard_is_stopped()) {
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
		return false;
	}
	if (b->work(argc, argv) <= WORK_MOST)
		return true;
	snprintf(why, sizeof(why), "%s(): the arguments are too long, or too wide", b->name);
	sqlite3_result_error(ctx, why, -1);
	return false;
}

static void bounded_fail(sqlite3_context *ctx, const struct bounded *b)
{
	if (sqlite3_errcode(b->db) == SQLITE_NOMEM)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_error(ctx, sqlite3_errmsg(b->db), -1);
}

static void bounded_run(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct bounded *b = sqlite3_user_data(ctx);
	sqlite3_stmt *call;
	int rc = SQLITE_OK;

	if (!may_run(ctx, b, argc, argv))
		return;
	call = bounded_prepare(b, argc);
	if (!call) {
		bounded_fail(ctx, b);
		return;
	}
	for (int i = 0; i < argc && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_value(call, i + 1, argv[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(call);
	if (rc == SQLITE_ROW) {
		sqlite3_result_value(ctx, sqlite3_column_value(call, 0));
		if (b->is_json)
			sqlite3_result_subtype(ctx, 'J');
	} else {
		bounded_fail(ctx, b);
	}
	if (rc == SQLITE_TOOBIG)
		sqlite3_result_error_toobig(ctx);
	sqlite3_reset(call);
	sqlite3_clear_bindings(call);
	if (argc > CACHED_ARGS)
		sqlite3_finalize(call);
}

/* LIKE and GLOB without ESCAPE, for which SQLite has a function: they are called for many rows. */
static void run_match(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct bounded *b = sqlite3_user_data(ctx);
	const char *pattern = (const char *)sqlite3_value_text(argv[0]);
	const char *text = (const char *)sqlite3_value_text(argv[1]);

	if (sqlite3_value_bytes(argv[0]) > UT_PATTERN_MOST)
		sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex", -1);
	else if (pattern && text && may_run(ctx, b, argc, argv))
		sqlite3_result_int(ctx, b->name[0] == 'l' ? !sqlite3_strlike(pattern, text, 0)
							  : !sqlite3_strglob(pattern, text));
}

static void bounded_release(void *ctx)
{
	struct bounded *b = ctx;

	for (int i = 0; i <= CACHED_ARGS; i++)
		sqlite3_finalize(b->calls[i]);
	free(b);
}

int ut_bounded_add(sqlite3 *db, sqlite3 *own)
{
	static const struct {
		const char *name;
		int least, most; /* arguments; -1 = any number */
		double (*work)(int argc, sqlite3_value **argv);
		void (*run)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} functions[] = {
		{ "format", -1, -1, print_work, bounded_run },
		{ "printf", -1, -1, print_work, bounded_run },
		{ "instr", 2, 2, compare_work, bounded_run },
		{ "replace", 3, 3, compare_work, bounded_run },
		{ "trim", 1, 2, compare_work, bounded_run },
		{ "ltrim", 1, 2, compare_work, bounded_run },
		{ "rtrim", 1, 2, compare_work, bounded_run },
		{ "like", 2, 2, like_work, run_match },
		{ "like", 3, 3, like_work, bounded_run },
		{ "glob", 2, 2, like_work, run_match },
		{ "json_patch", 2, 2, compare_work, bounded_run },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (int n = functions[i].least; n <= functions[i].most && rc == SQLITE_OK; n++) {
			struct bounded *b = ut_make(sizeof(*b));

			*b = (struct bounded){ .db = own,
					       .name = functions[i].name,
					       .is_json = functions[i].name[0] == 'j',
					       .work = functions[i].work };
			rc = sqlite3_create_function_v2(db, b->name, n,
							SQLITE_UTF8 | SQLITE_DETERMINISTIC |
								SQLITE_INNOCUOUS | RESULT_SUBTYPE,
							b, functions[i].run, NULL, NULL,
							bounded_release);
		}
	}
	return rc;
}
