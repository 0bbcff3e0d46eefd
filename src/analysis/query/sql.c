#include "query/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/str.h"
#include "base/utf8.h"

int ut_sql_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **vtab,
		   char **err)
{
	const struct ut_sql_use *use = aux;
	struct ut_buf sql = { 0 };
	struct ut_sql_vtab *v;
	int rc;

	(void)argc;
	(void)argv;
	(void)err;
	ut_buf_text(&sql, "CREATE TABLE x(");
	for (const struct ut_sql_column *c = use->table->columns; c->name; c++) {
		ut_buf_fmt(&sql, "%s\"%s\" %s%s", c == use->table->columns ? "" : ",", c->name,
			   c->type, c->hidden ? " HIDDEN" : "");
		if (use->table->collation && ut_str_ends(c->name, "key"))
			ut_buf_fmt(&sql, " COLLATE %s", use->table->collation);
	}
	ut_buf_text(&sql, ")");
	rc = sqlite3_declare_vtab(db, sql.data);
	ut_buf_release(&sql);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); /* reads, and nothing else */
	v = ut_make(sizeof(*v));
	v->table = use->table;
	v->traces = use->traces;
	*vtab = &v->base;
	return SQLITE_OK;
}

int ut_sql_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

int ut_sql_argument(sqlite3_vtab *vtab, sqlite3_index_info *info, int what)
{
	const struct ut_sql_table *t = ((const struct ut_sql_vtab *)vtab)->table;

	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;

		if (column < 0 || t->columns[column].what != what ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT; /* another order of the tables will do */
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		return SQLITE_OK;
	}
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s needs the id of a slice: %s(ID)", t->name, t->name);
	return SQLITE_ERROR;
}

bool ut_sql_event_id(sqlite3_value *value, const struct ut_traces *t, struct ut_place *p)
{
	sqlite3_int64 id = sqlite3_value_int64(value);

	return sqlite3_value_numeric_type(value) == SQLITE_INTEGER && id >= 0 &&
	       ut_traces_find(t, (uint64_t)id, p);
}

void ut_sql_result_text(sqlite3_context *ctx, struct ut_str s)
{
	char *copy;

	if (ut_utf8_valid(s.ptr, s.len)) {
		sqlite3_result_text64(ctx, s.ptr, s.len, SQLITE_STATIC, SQLITE_UTF8);
		return;
	}
	copy = ut_make(3 * s.len);
	sqlite3_result_text64(ctx, copy, ut_utf8_copy(copy, s.ptr, s.len), free, SQLITE_UTF8);
}

void ut_sql_result_str(sqlite3_context *ctx, struct ut_str s)
{
	if (s.len)
		ut_sql_result_text(ctx, s);
}

void ut_sql_result_datum(sqlite3_context *ctx, const struct ut_datum *cell)
{
	if (cell->type == UT_DATUM_INT)
		sqlite3_result_int64(ctx, cell->number);
	else if (cell->type == UT_DATUM_TEXT)
		ut_sql_result_str(ctx, cell->text);
}

void ut_sql_result_u64(sqlite3_context *ctx, uint64_t value)
{
	char text[24];

	if (value <= INT64_MAX) {
		sqlite3_result_int64(ctx, (sqlite3_int64)value);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, value);
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

enum ut_op ut_sql_op(unsigned char constraint)
{
	switch (constraint) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return UT_OP_EQ;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return UT_OP_GT;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return UT_OP_GE;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return UT_OP_LT;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return UT_OP_LE;
	case SQLITE_INDEX_CONSTRAINT_GLOB:
		return UT_OP_GLOB;
	case SQLITE_INDEX_CONSTRAINT_LIKE:
		return UT_OP_LIKE;
	default:
		return UT_OP_COUNT;
	}
}
