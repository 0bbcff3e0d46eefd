#include "query/span_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

bool ut_spans_add(struct ut_spans *s, sqlite3_stmt *stmt)
{
	int64_t ts = sqlite3_column_int64(stmt, 0), dur = sqlite3_column_int64(stmt, 1);
	bool complete = true;

	s->ts = ut_grow(s->ts, s->count + 1, &s->ts_cap, sizeof(*s->ts));
	s->end = ut_grow(s->end, s->count + 1, &s->end_cap, sizeof(*s->end));
	s->values = ut_grow(s->values, (s->count + 1) * s->columns, &s->value_cap,
			    sizeof(sqlite3_value *));
	s->ts[s->count] = ts;
	if (dur < 0 || __builtin_add_overflow(ts, dur, &s->end[s->count]))
		s->end[s->count] = dur < 0 ? ts : INT64_MAX;
	for (size_t i = 0; i < s->columns; i++) {
		sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(stmt, (int)i + 3));

		s->values[s->count * s->columns + i] = value;
		complete &= value != NULL;
	}
	s->count++;
	return complete;
}

void ut_spans_clear(struct ut_spans *s)
{
	for (size_t i = 0; i < s->count * s->columns; i++)
		sqlite3_value_free(s->values[i]);
	s->count = 0;
}

void ut_spans_release(struct ut_spans *s)
{
	ut_spans_clear(s);
	free(s->ts);
	free(s->end);
	free(s->values);
	*s = (struct ut_spans){ 0 };
}

static void span_parts_put(struct ut_span_rows *to, int64_t ts, int64_t end, size_t a, size_t b)
{
	to->items = ut_grow(to->items, to->count + 1, &to->cap, sizeof(*to->items));
	to->items[to->count++] = (struct ut_span_row){ ts, end - ts, { a, b } };
}

/* The latest end of the spans up to each: what lies before a span can only matter if it is later.
 */
static int64_t *span_parts_reach(const struct ut_spans *s)
{
	int64_t *latest = ut_make((s->count + 1) * sizeof(*latest));

	for (size_t i = 0; i < s->count; i++)
		latest[i] = i && latest[i - 1] > s->end[i] ? latest[i - 1] : s->end[i];
	return latest;
}

/* The first span of s that can be going on at ts or later. */
static size_t first_at(const int64_t *latest, size_t count, int64_t ts)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (latest[middle] < ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Do two spans share time? A span of no length shares the moment that it lies at. */
static bool span_parts_meet(int64_t a, int64_t a_end, int64_t b, int64_t b_end)
{
	int64_t from = a > b ? a : b, to = a_end < b_end ? a_end : b_end;

	return from < to ||
	       (from == to && ((a == a_end && a < b_end) || (b == b_end && b < a_end) ||
			       (a == a_end && b == b_end)));
}

/* One span of a with all of b; gaps: also the time without any of them. */
static void join_one(struct ut_span_rows *to, const struct ut_spans *a, size_t i,
		     const struct ut_spans *b, const int64_t *latest, bool gaps)
{
	int64_t from = a->ts[i], end = a->end[i], done = from;
	size_t before = to->count;

	for (size_t k = first_at(latest, b->count, from); k < b->count && b->ts[k] <= end; k++) {
		int64_t low = b->ts[k] > from ? b->ts[k] : from;
		int64_t high = b->end[k] < end ? b->end[k] : end;

		if (!span_parts_meet(from, end, b->ts[k], b->end[k]))
			continue;
		if (gaps && low > done)
			span_parts_put(to, done, low, i, UT_SPAN_NONE);
		span_parts_put(to, low, high, i, k);
		done = high > done ? high : done;
	}
	if (gaps && (done < end || (from == end && to->count == before)))
		span_parts_put(to, done, end, i, UT_SPAN_NONE);
}

/* What is left of a span of b when the time of all spans of a is taken away. */
static void put_rest(struct ut_span_rows *to, const struct ut_spans *b, size_t i,
		     const struct ut_spans *a, const int64_t *latest)
{
	int64_t from = b->ts[i], end = b->end[i], done = from;
	bool met = false;

	for (size_t k = first_at(latest, a->count, from); k < a->count && a->ts[k] <= end; k++) {
		if (!span_parts_meet(from, end, a->ts[k], a->end[k]))
			continue;
		met = true;
		if (a->ts[k] > done)
			span_parts_put(to, done, a->ts[k], UT_SPAN_NONE, i);
		done = a->end[k] > done ? a->end[k] : done;
	}
	if (done < end || (from == end && !met))
		span_parts_put(to, done, end, UT_SPAN_NONE, i);
}

static int span_parts_by_ts(const void *x, const void *y)
{
	const struct ut_span_row *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->from[0] != b->from[0])
		return a->from[0] < b->from[0] ? -1 : 1;
	return (a->from[1] > b->from[1]) - (a->from[1] < b->from[1]);
}

bool ut_spans_join(struct ut_span_rows *to, const struct ut_spans *sides, enum ut_span_kind kind,
		   const volatile sig_atomic_t *stop)
{
	const struct ut_spans *a = &sides[0], *b = &sides[1];
	int64_t *latest_a, *latest_b;

	if (kind == UT_SPAN_INNER && (!a->count || !b->count))
		return true;
	latest_a = span_parts_reach(a);
	latest_b = span_parts_reach(b);
	for (size_t i = 0; i < a->count && !*stop; i++)
		join_one(to, a, i, b, latest_b, kind != UT_SPAN_INNER);
	for (size_t i = 0; i < b->count && kind == UT_SPAN_OUTER && !*stop; i++)
		put_rest(to, b, i, a, latest_a);
	if (to->count)
		qsort(to->items, to->count, sizeof(*to->items), span_parts_by_ts);
	free(latest_a);
	free(latest_b);
	return !*stop;
}
