/* function_aggregate.c - percentile() and last_non_null(). */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "query/function_parts.h"

/* ---- percentile(value, percent) ------------------------------------------------------------ */

struct values {
	double *items;
	size_t count, cap;
	double percent;
};

/* SQLite's memory, which has a limit: a statement can have as many rows as it likes. */
static bool grow(struct values *v)
{
	size_t cap = v->cap ? 2 * v->cap : 64;
	double *items = sqlite3_realloc64(v->items, cap * sizeof(*items));

	if (!items)
		return false;
	v->items = items;
	v->cap = cap;
	return true;
}

static void percentile_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct values *v = sqlite3_aggregate_context(ctx, sizeof(*v));
	double percent = sqlite3_value_double(argv[1]);
	int type = sqlite3_value_numeric_type(argv[0]);

	(void)argc;
	if (!v)
		return;
	if (!(percent >= 0 && percent <= 100) || (v->count && percent != v->percent)) {
		sqlite3_result_error(ctx, "percentile() takes one percentage from 0 to 100", -1);
		return;
	}
	if (type == SQLITE_NULL)
		return;
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
		sqlite3_result_error(ctx, "percentile() takes numbers", -1);
		return;
	}
	v->percent = percent;
	if (v->count == v->cap && !grow(v)) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	v->items[v->count++] = sqlite3_value_double(argv[0]);
}

static int function_aggregate_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Between two values, the point on the line from one to the other. */
static void percentile_final(sqlite3_context *ctx)
{
	struct values *v = sqlite3_aggregate_context(ctx, 0);
	size_t low;
	double at;

	if (!v || !v->count)
		return;
	qsort(v->items, v->count, sizeof(*v->items), function_aggregate_by_value);
	at = v->percent / 100 * (double)(v->count - 1);
	low = (size_t)floor(at);
	if (low + 1 < v->count)
		sqlite3_result_double(ctx, v->items[low] + (at - (double)low) * (v->items[low + 1] -
										 v->items[low]));
	else
		sqlite3_result_double(ctx, v->items[v->count - 1]);
	sqlite3_free(v->items);
	v->items = NULL;
}

/* ---- last_non_null(value) ------------------------------------------------------------------ */

struct last {
	sqlite3_value *value;
	uint64_t entered, left, at; /* rows that came into the window and left it; that value's */
};

static void last_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct last *l = sqlite3_aggregate_context(ctx, sizeof(*l));

	(void)argc;
	if (!l)
		return;
	l->entered++;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	sqlite3_value_free(l->value);
	l->value = sqlite3_value_dup(argv[0]);
	l->at = l->entered;
}

static void last_inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct last *l = sqlite3_aggregate_context(ctx, sizeof(*l));

	(void)argc;
	(void)argv;
	if (l)
		l->left++;
}

static void last_value(sqlite3_context *ctx)
{
	const struct last *l = sqlite3_aggregate_context(ctx, 0);

	if (l && l->value && l->at > l->left)
		sqlite3_result_value(ctx, l->value);
}

static void last_final(sqlite3_context *ctx)
{
	struct last *l = sqlite3_aggregate_context(ctx, 0);

	last_value(ctx);
	if (!l)
		return;
	sqlite3_value_free(l->value);
	l->value = NULL;
}

int ut_sql_aggregates_add(sqlite3 *db)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = sqlite3_create_function(db, "percentile", 2, flags, NULL, NULL, percentile_step,
					 percentile_final);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_window_function(db, "last_non_null", 1, flags, NULL, last_step,
						    last_final, last_value, last_inverse, NULL);
	return rc;
}
