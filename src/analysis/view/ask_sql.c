/*
 * ask_sql.c - SQL of the viewer: the last statement's rows as a table, with limits.
 *
 * The tables are query's, which can write nothing and reach no file. One query at a time, and no
 * longer than TIME_LIMIT; a thread of its own ends it then.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "query/query.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/sheet.h"
#include "view/view_parts.h"

#define TIME_LIMIT 30 /* s */
#define ROWS_MOST  10000u
#define BYTES_MOST (32u << 20)

struct table {
	struct ut_sheet sheet;
	struct ut_sheet_column *columns;
	char **names;
	enum ut_query_type *types; /* what the values of a column have been so far */
	size_t count, bytes;
	uint64_t more;
	bool begun;
};

static void ask_sql_drop(struct table *t)
{
	if (!t->begun)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->names[i]);
	free(t->names);
	free(t->columns);
	free(t->types);
	ut_sheet_release(&t->sheet);
	*t = (struct table){ 0 };
}

static void ask_sql_begin(void *ctx, size_t columns, const char *const *names)
{
	struct table *t = ctx;

	ask_sql_drop(t);
	t->begun = true;
	t->count = columns;
	t->columns = ut_make((columns + 1) * sizeof(*t->columns));
	t->names = ut_make((columns + 1) * sizeof(*t->names));
	t->types = ut_make((columns + 1) * sizeof(*t->types));
	for (size_t i = 0; i < columns; i++) {
		t->names[i] = strdup(names[i] ? names[i] : "");
		t->columns[i] =
			(struct ut_sheet_column){ .key = t->names[i], .title = t->names[i] };
	}
	ut_sheet_init(&t->sheet, t->columns, columns);
}

static void ask_sql_put_value(struct table *t, size_t column, const struct ut_value *value)
{
	switch (value->type) {
	case UT_VALUE_NULL:
		ut_sheet_null(&t->sheet);
		return;
	case UT_VALUE_INT:
		ut_sheet_i64(&t->sheet, value->number);
		break;
	case UT_VALUE_REAL:
		ut_sheet_double(&t->sheet, value->real);
		break;
	case UT_VALUE_TEXT:
	case UT_VALUE_BLOB:
		t->bytes += value->len;
		ut_sheet_text(&t->sheet, (struct ut_str){ value->text, value->len });
		break;
	}
	t->types[column] = value->type > t->types[column] ? value->type : t->types[column];
}

static int ask_sql_row(void *ctx, const struct ut_value *values)
{
	struct table *t = ctx;

	if (t->sheet.rows >= ROWS_MOST || t->bytes > BYTES_MOST) {
		t->more++;
		return 0;
	}
	for (size_t i = 0; i < t->count; i++)
		ask_sql_put_value(t, i, &values[i]);
	return 0;
}

static void ask_sql_end(void *ctx)
{
	(void)ctx;
}

/* ---- the time limit ------------------------------------------------------------------------- */

struct guard {
	struct ut_view *view;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done, too_late;
};

/* Told again and again, because SQLite does not remember what it hears between two statements. */
static void *ask_sql_watch(void *ctx)
{
	struct guard *g = ctx;
	struct timespec until;
	bool first = true;

	clock_gettime(CLOCK_MONOTONIC, &until);
	pthread_mutex_lock(&g->lock);
	while (!g->is_done) {
		until.tv_sec += first ? TIME_LIMIT : 1;
		first = false;
		while (!g->is_done && !pthread_cond_timedwait(&g->done, &g->lock, &until))
			;
		if (!g->is_done) {
			g->too_late = true;
			ut_query_interrupt(g->view->query);
		}
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

static int ask_sql_run(struct ut_view *v, const char *sql, struct table *t, struct ut_err *err)
{
	const struct ut_result result = { t, ask_sql_begin, ask_sql_row, ask_sql_end };
	struct guard g = { .view = v };
	pthread_condattr_t attr;
	pthread_t thread;
	bool watched;
	int rc;

	pthread_mutex_init(&g.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g.done, &attr);
	watched = !pthread_create(&thread, NULL, ask_sql_watch, &g);
	rc = ut_query_run(v->query, sql, &result, err);
	pthread_mutex_lock(&g.lock);
	g.is_done = true;
	pthread_cond_signal(&g.done);
	pthread_mutex_unlock(&g.lock);
	if (watched)
		pthread_join(thread, NULL);
	if (rc && g.too_late) {
		*err = (struct ut_err){ 0 };
		ut_err_set(err, -EINVAL,
			   "the SQL took longer than %d s; unitrace query has no such limit",
			   TIME_LIMIT);
	}
	pthread_cond_destroy(&g.done);
	pthread_condattr_destroy(&attr);
	pthread_mutex_destroy(&g.lock);
	return rc ? -EINVAL : 0;
}

static int open_query(struct ut_view *v, struct ut_err *err)
{
	int rc = v->query ? 0 : ut_query_open(&v->query, v->threads, err);

	if (rc || v->query == NULL)
		return rc ? -EINVAL : 0;
	return 0;
}

static void set_types(struct table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		bool number = t->types[i] == UT_VALUE_INT || t->types[i] == UT_VALUE_REAL;
		const char *name = t->names[i];

		t->columns[i].type = number ? "number" : "text";
		if (number && (!strcmp(name, "dur") || !strcmp(name, "self_dur")))
			t->columns[i].type = "time";
	}
}

int ut_answer_sql(struct ut_view *v, const struct ut_ask *a, struct ut_out *out, struct ut_err *err)
{
	struct table t = { 0 };
	bool is_new;
	int rc;

	pthread_mutex_lock(&v->sql_lock);
	is_new = !v->query;
	rc = open_query(v, err);
	for (size_t i = 0; !rc && is_new && i < v->trace_count; i++)
		ut_query_add(v->query, v->traces[i].path, v->traces[i].store);
	if (!rc)
		rc = ask_sql_run(v, a->text.ptr ? a->text.ptr : "", &t, err);
	pthread_mutex_unlock(&v->sql_lock);
	if (!rc && !t.begun)
		ask_sql_begin(&t, 0, NULL);
	if (!rc) {
		set_types(&t);
		ut_sheet_write(&t.sheet, t.more, out);
		t.sheet = (struct ut_sheet){ 0 };
	}
	ask_sql_drop(&t);
	return rc;
}
