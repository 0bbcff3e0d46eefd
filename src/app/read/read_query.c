/*
 * read_query.c - SQL, and its last result as a stream.
 */
#include <errno.h>

#include "arrow/arrow_table.h"
#include "query/query.h"
#include "read/read_trace.h"

/* The result of the statement that runs; that of the one before is gone. */
struct answer {
	struct ut_arrow_table *table;
	size_t columns;
};

static void read_query_begin(void *ctx, size_t columns, const char *const *names)
{
	struct answer *a = ctx;

	ut_arrow_table_free(a->table);
	a->table = ut_arrow_table_new(names, columns);
	a->columns = columns;
}

static void read_query_end(void *ctx)
{
	(void)ctx;
}

static void read_query_add_value(struct ut_arrow_table *t, const struct ut_value *v)
{
	const struct ut_str text = { v->text, v->len };

	switch (v->type) {
	case UT_VALUE_NULL:
		ut_arrow_add_null(t);
		break;
	case UT_VALUE_INT:
		ut_arrow_add_int(t, v->number);
		break;
	case UT_VALUE_REAL:
		ut_arrow_add_real(t, v->real);
		break;
	case UT_VALUE_TEXT:
		ut_arrow_add_text(t, text);
		break;
	case UT_VALUE_BLOB:
		ut_arrow_add_bytes(t, text);
		break;
	}
}

static int read_query_row(void *ctx, const struct ut_value *values)
{
	struct answer *a = ctx;

	for (size_t i = 0; i < a->columns; i++)
		read_query_add_value(a->table, &values[i]);
	return 0;
}

/* The database around the traces, made when it is first needed. */
static int open_query(struct unitrace_trace *trace, struct ut_err *err)
{
	int rc;

	if (trace->query)
		return 0;
	rc = ut_query_open(&trace->query, trace->threads, err);
	for (size_t i = 0; !rc && i < trace->inputs.count; i++)
		ut_query_add(trace->query, trace->inputs.paths[i], &trace->stores[i]);
	return rc;
}

static int read_query_run(struct unitrace_trace *trace, const char *sql, struct answer *a,
			  struct ut_err *err)
{
	const struct ut_result result = { a, read_query_begin, read_query_row, read_query_end };
	int rc;

	pthread_mutex_lock(&trace->asking);
	rc = open_query(trace, err);
	if (!rc) {
		atomic_store(&trace->running, trace->query);
		rc = ut_query_run(trace->query, sql, &result, err);
		atomic_store(&trace->running, NULL);
	}
	pthread_mutex_unlock(&trace->asking);
	return rc;
}

int unitrace_query(struct unitrace_trace *trace, const char *sql, struct ArrowArrayStream *out,
		   struct unitrace_error *error)
{
	struct answer a = { 0 };
	struct ut_err err = { 0 };
	int rc = read_query_run(trace, sql, &a, &err);

	if (rc) {
		ut_arrow_table_free(a.table);
		*out = (struct ArrowArrayStream){ 0 };
		return ut_read_result(rc, &err, error);
	}
	if (!a.table) /* statements without a result */
		a.table = ut_arrow_table_new(NULL, 0);
	ut_arrow_table_stream(a.table, out);
	return ut_read_result(0, &err, error);
}

void unitrace_interrupt(struct unitrace_trace *trace)
{
	struct ut_query *query = atomic_load(&trace->running);

	if (query)
		ut_query_interrupt(query);
}
