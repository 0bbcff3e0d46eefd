/* function_text.c - functions about texts: str_split(), REGEXP, hash(). */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/regex.h"
#include "query/function_parts.h"
#include "query/guard.h"

void ut_sql_str_split(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]), *next;
	const char *by = (const char *)sqlite3_value_text(argv[1]);
	sqlite3_int64 n = sqlite3_value_int64(argv[2]);

	(void)argc;
	if (!text || !by || sqlite3_value_type(argv[2]) == SQLITE_NULL)
		return;
	if (!*by || n < 0) {
		sqlite3_result_error(ctx,
				     *by ? "str_split() counts parts from 0"
					 : "str_split() needs something to split at",
				     -1);
		return;
	}
	while (n-- > 0) {
		text = strstr(text, by);
		if (!text)
			return;
		text += strlen(by);
	}
	next = strstr(text, by);
	sqlite3_result_text64(ctx, text, next ? (size_t)(next - text) : strlen(text),
			      SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* ---- REGEXP -------------------------------------------------------------------------------- */

static void free_regex(void *regex)
{
	regfree(regex);
	free(regex);
}

typedef int compile_fn(regex_t *regex, const char *pattern, size_t len, struct ut_err *err);

/*
 * The pattern that is argument n, compiled once per statement: SQLite keeps it as long as it is the
 * same. NULL after a mistake in it, which is then the result.
 */
static regex_t *compiled(sqlite3_context *ctx, int n, sqlite3_value *pattern, compile_fn *compile)
{
	regex_t *regex = sqlite3_get_auxdata(ctx, n);
	const char *text = (const char *)sqlite3_value_text(pattern);
	struct ut_err err = { 0 };

	if (regex)
		return regex;
	if (!text) { /* no memory for it */
		sqlite3_result_error_nomem(ctx);
		return NULL;
	}
	regex = ut_make(sizeof(*regex));
	if (compile(regex, text, strlen(text), &err)) {
		free(regex);
		sqlite3_result_error(ctx, err.text, -1);
		return NULL;
	}
	sqlite3_set_auxdata(ctx, n, regex, free_regex);
	return sqlite3_get_auxdata(ctx, n);
}

/* The time of a search grows with the square of the text's length, and nothing interrupts it. */
static bool may_search(sqlite3_context *ctx, sqlite3_value *text)
{
	char why[80];

	if (ut_guard_is_stopped()) {
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
		return false;
	}
	if (sqlite3_value_bytes(text) <= UT_SEARCH_MOST)
		return true;
	snprintf(why, sizeof(why), "REGEXP: the text is too long; %d KiB at most can be searched",
		 UT_SEARCH_MOST >> 10);
	sqlite3_result_error(ctx, why, -1);
	return false;
}

/* "text REGEXP pattern" is regexp(pattern, text). */
void ut_sql_regexp(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[1]);
	regex_t *regex;

	(void)argc;
	if (!text || sqlite3_value_type(argv[0]) == SQLITE_NULL || !may_search(ctx, argv[1]))
		return;
	regex = compiled(ctx, 0, argv[0], ut_regex);
	if (regex)
		sqlite3_result_int(ctx, !regexec(regex, text, 0, NULL, 0));
}

/* What matches: of its first group, if it has one. */
void ut_sql_regexp_extract(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	regmatch_t places[2];
	const regmatch_t *p;
	regex_t *regex;

	(void)argc;
	if (!text || sqlite3_value_type(argv[1]) == SQLITE_NULL || !may_search(ctx, argv[0]))
		return;
	regex = compiled(ctx, 1, argv[1], ut_regex_places);
	if (!regex || regexec(regex, text, 2, places, 0))
		return;
	p = &places[regex->re_nsub > 0];
	if (p->rm_so >= 0)
		sqlite3_result_text(ctx, text + p->rm_so, p->rm_eo - p->rm_so, SQLITE_TRANSIENT);
}

/* ---- hash() -------------------------------------------------------------------------------- */

static uint64_t hash_one(sqlite3_value *value)
{
	sqlite3_int64 number;
	double real;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		number = sqlite3_value_int64(value);
		return ut_hash_bytes((const char *)&number, sizeof(number)) + 1;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		return ut_hash_bytes((const char *)&real, sizeof(real)) + 2;
	case SQLITE_NULL:
		return 3;
	default:
		return ut_hash_bytes(sqlite3_value_blob(value),
				     (size_t)sqlite3_value_bytes(value)) +
		       4;
	}
}

void ut_sql_hash(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	uint64_t hash = 0;

	for (int i = 0; i < argc; i++) {
		hash = (hash ^ hash_one(argv[i])) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	sqlite3_result_int64(ctx, (sqlite3_int64)hash);
}
