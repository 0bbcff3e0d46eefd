#include "query/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "query/temp_file.h"

#define LENGTH_LIMIT (64 << 20) /* of one text or blob; JSON needs a dozen times as much */
#define PAGE         4096       /* of a database in memory */

/* Those that compute something of their arguments, and nothing else; sorted. */
static const char *const functions[] = {
	"->",
	"->>",
	"abs",
	"acos",
	"acosh",
	"asin",
	"asinh",
	"atan",
	"atan2",
	"atanh",
	"avg",
	"ceil",
	"ceiling",
	"changes",
	"char",
	"coalesce",
	"concat",
	"concat_ws",
	"cos",
	"cosh",
	"count",
	"cume_dist",
	"current_date",
	"current_time",
	"current_timestamp",
	"date",
	"datetime",
	"degrees",
	"dense_rank",
	"exp",
	"first_value",
	"floor",
	"format",
	"glob",
	"group_concat",
	"hex",
	"if",
	"ifnull",
	"iif",
	"instr",
	"json",
	"json_array",
	"json_array_length",
	"json_error_position",
	"json_extract",
	"json_group_array",
	"json_group_object",
	"json_insert",
	"json_object",
	"json_patch",
	"json_pretty",
	"json_quote",
	"json_remove",
	"json_replace",
	"json_set",
	"json_type",
	"json_valid",
	"jsonb",
	"jsonb_array",
	"jsonb_extract",
	"jsonb_group_array",
	"jsonb_group_object",
	"jsonb_insert",
	"jsonb_object",
	"jsonb_patch",
	"jsonb_remove",
	"jsonb_replace",
	"jsonb_set",
	"julianday",
	"lag",
	"last_insert_rowid",
	"last_value",
	"lead",
	"length",
	"like",
	"likelihood",
	"likely",
	"ln",
	"log",
	"log10",
	"log2",
	"lower",
	"ltrim",
	"max",
	"median",
	"min",
	"mod",
	"nth_value",
	"ntile",
	"nullif",
	"octet_length",
	"percent_rank",
	"percentile",
	"percentile_cont",
	"percentile_disc",
	"pi",
	"pow",
	"power",
	"printf",
	"quote",
	"radians",
	"random",
	"randomblob",
	"rank",
	"replace",
	"round",
	"row_number",
	"rtrim",
	"sign",
	"sin",
	"sinh",
	"soundex",
	"sqlite_compileoption_get",
	"sqlite_compileoption_used",
	"sqlite_source_id",
	"sqlite_version",
	"sqrt",
	"strftime",
	"string_agg",
	"substr",
	"substring",
	"subtype",
	"sum",
	"tan",
	"tanh",
	"time",
	"timediff",
	"total",
	"total_changes",
	"trim",
	"trunc",
	"typeof",
	"unhex",
	"unicode",
	"unistr",
	"unistr_quote",
	"unixepoch",
	"unlikely",
	"upper",
	"zeroblob",
};

/* Those that only tell. The others can write files, change what LIKE means or break the schema. */
static const char *const pragmas[] = {
	"collation_list", "compile_options", "database_list", "function_list",
	"index_info",     "index_list",      "index_xinfo",   "module_list",
	"pragma_list",    "table_info",      "table_list",    "table_xinfo",
};

static int compare_names(const void *key, const void *item)
{
	return sqlite3_stricmp(key, *(const char *const *)item);
}

#define IN(list, name)                                                                             \
	bsearch(name, list, sizeof(list) / sizeof(*(list)), sizeof(*(list)), compare_names)

/* Modules beyond these go: SQLite's own (dbstat, fts5, rtree, ...) read and write more than traces.
 */
static int drop_modules(sqlite3 *db)
{
	const char *keep[] = { "json_each", "json_tree", NULL };

	return sqlite3_drop_modules(db, keep);
}

/* Nothing has been added yet: what is there is SQLite's. */
static int note_refused(struct ut_guard *s)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(s->db, "SELECT DISTINCT name FROM pragma_function_list", -1,
				    &stmt, NULL);

	while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		if (!name || IN(functions, name))
			continue;
		s->refused = ut_grow(s->refused, s->count + 1, &s->cap, sizeof(*s->refused));
		s->refused[s->count++] = strdup(name);
	}
	rc = rc == SQLITE_OK ? sqlite3_finalize(stmt) : rc;
	return rc;
}

bool ut_guard_may_call(const struct ut_guard *s, const char *function)
{
	for (size_t i = 0; i < s->count; i++) {
		if (!sqlite3_stricmp(s->refused[i], function))
			return false;
	}
	return true;
}

static int authorize(void *ctx, int action, const char *first, const char *second, const char *db,
		     const char *trigger)
{
	struct ut_guard *s = ctx;

	(void)db;
	(void)trigger;
	if (action == SQLITE_ATTACH || action == SQLITE_DETACH)
		s->why = "no other database can be attached or written";
	else if (action == SQLITE_PRAGMA && !IN(pragmas, first))
		s->why = "this PRAGMA is not for queries";
	else if (action == SQLITE_FUNCTION && !ut_guard_may_call(s, second))
		s->why = "this function of SQLite is not for queries";
	else
		return SQLITE_OK;
	return SQLITE_DENY;
}

int ut_guard_open(struct ut_guard *s)
{
	int rc;

	*s = (struct ut_guard){ 0 };
	ut_guard_watch_heap();
	rc = ut_temp_vfs_register();
	if (rc == SQLITE_OK)
		rc = sqlite3_open_v2(":memory:", &s->db,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
					     SQLITE_OPEN_NOMUTEX,
				     UT_TEMP_VFS);
	if (rc == SQLITE_OK)
		rc = note_refused(s);
	if (rc == SQLITE_OK)
		rc = drop_modules(s->db);
	if (rc == SQLITE_OK)
		rc = sqlite3_open_v2(":memory:", &s->own,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
					     SQLITE_OPEN_NOMUTEX,
				     UT_TEMP_VFS);
	if (rc == SQLITE_OK) {
		sqlite3_limit(s->own, SQLITE_LIMIT_LENGTH, LENGTH_LIMIT);
		sqlite3_limit(s->own, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, UT_PATTERN_MOST);
	}
	return rc == SQLITE_OK ? ut_bounded_add(s->db, s->own) : rc;
}

void ut_guard_lock(struct ut_guard *s)
{
	char sql[96];

	/* In files, which are those of our VFS; and as much for what is made outside of them. */
	snprintf(sql, sizeof(sql), "PRAGMA temp_store=FILE; PRAGMA main.max_page_count=%zu",
		 ut_guard_temp_limit() / PAGE);
	sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, LENGTH_LIMIT);
	sqlite3_limit(s->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, UT_PATTERN_MOST);
	sqlite3_set_authorizer(s->db, authorize, s);
}

void ut_guard_shrink(struct ut_guard *s)
{
	sqlite3_stmt *stmt = NULL;
	bool held;

	if (ut_guard_temp_used() < ut_guard_temp_limit() / 4)
		return;
	sqlite3_set_authorizer(s->db, NULL, NULL);
	held = sqlite3_prepare_v2(s->db, "SELECT 1 FROM sqlite_temp_schema", -1, &stmt, NULL) !=
		       SQLITE_OK ||
	       sqlite3_step(stmt) != SQLITE_DONE;
	sqlite3_finalize(stmt);
	if (!held) /* another place for temporary data begins with an empty one */
		sqlite3_exec(s->db, "PRAGMA temp_store=MEMORY; PRAGMA temp_store=FILE", NULL, NULL,
			     NULL);
	sqlite3_set_authorizer(s->db, authorize, s);
}

void ut_guard_close(struct ut_guard *s)
{
	sqlite3_close(s->db); /* which ends the calls on the other one */
	sqlite3_close(s->own);
	for (size_t i = 0; i < s->count; i++)
		free(s->refused[i]);
	free(s->refused);
	*s = (struct ut_guard){ 0 };
}
