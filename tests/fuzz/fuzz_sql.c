/* fuzz_sql.c - libFuzzer target: any bytes as PerfettoSQL, and as a path into JSON. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "query/arg_path.h"
#include "query/guard.h"
#include "query/perfetto.h"
#include "query/perfetto_parts.h"
#include "query/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prepares all statements and runs none: they could go on forever. */
static void prepare(sqlite3 *db, const char *sql)
{
	while (*sql) {
		sqlite3_stmt *stmt = NULL;
		const char *tail = sql;

		if (ut_perfetto_prepare(db, sql, &stmt, &tail) != SQLITE_OK || tail == sql)
			break;
		sqlite3_finalize(stmt);
		sql = tail;
	}
}

static void read_all(const struct ut_guard *guard, const char *sql)
{
	struct ut_perfetto *p = ut_perfetto_new(guard);
	const char *at = sql;

	for (int i = 0; *at && i < 100; i++) {
		struct ut_buf text = { 0 };
		struct ut_err err = { 0 };
		const char *before = at;
		int rc = ut_perfetto_read(p, sql, &at, &text, &err);

		if (at < before || (rc < 0 && !err.text[0]))
			abort();
		if (rc == UT_PERFETTO_TEXT)
			prepare(guard->db, text.data);
		ut_buf_release(&text);
		if (rc == UT_PERFETTO_PLAIN) {
			at = ut_token_end(at);
			at += *at != '\0';
		}
	}
	ut_perfetto_free(p);
}

/* Half of it is JSON, the other half a path. */
static void find_path(const char *text, size_t size)
{
	struct ut_str found, json = { text, size / 2 };

	if (ut_arg_path_find(json, text + size / 2, &found) &&
	    (found.ptr < json.ptr || found.ptr + found.len > json.ptr + json.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct ut_buf narrow = { 0 };
	struct ut_guard guard;

	if (!text || ut_guard_open(&guard) != SQLITE_OK)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	ut_guard_lock(&guard);
	read_all(&guard, text);
	ut_pf_narrow(text, text + strlen(text), &narrow);
	ut_buf_release(&narrow);
	find_path(text, strlen(text));
	ut_guard_close(&guard);
	free(text);
	return 0;
}
