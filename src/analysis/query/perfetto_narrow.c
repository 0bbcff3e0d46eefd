/*
 * perfetto_narrow.c - a statement with tables in the shape that Perfetto gives them.
 *
 * Only names of tables behind FROM, JOIN and commas are replaced; they keep their name as an alias.
 */
#include <string.h>
#include <strings.h>

#include "query/perfetto_parts.h"
#include "query/token.h"

#define MOST_DEPTH 200u /* brackets in brackets; deeper statements are left as they are */

struct level {
	bool in_from; /* a comma brings another table */
	bool table;   /* a table's name is next */
};

static bool is_one_of(const struct ut_token *t, const char *const *words)
{
	for (; *words; words++) {
		if (ut_token_is(t, *words))
			return true;
	}
	return false;
}

static bool ends_from(const struct ut_token *t)
{
	static const char *const words[] = { "SELECT", "WHERE",     "GROUP",  "ORDER",  "LIMIT",
					     "HAVING", "WINDOW",    "UNION",  "EXCEPT", "INTERSECT",
					     "VALUES", "RETURNING", "OFFSET", "SET",    NULL };

	return is_one_of(t, words);
}

/* Can this word follow a table that has no alias? */
static bool is_no_alias(const struct ut_token *t)
{
	static const char *const words[] = { "JOIN",  "LEFT",    "RIGHT", "FULL",  "INNER",
					     "CROSS", "NATURAL", "ON",    "USING", "OUTER",
					     "NOT",   "INDEXED", "AS",    NULL };

	return is_one_of(t, words) || ends_from(t);
}

static bool is_shaped(const struct ut_token *t)
{
	for (const struct ut_pf_view *v = ut_pf_shapes; v->name; v++) {
		if (ut_token_is(t, v->name))
			return true;
	}
	return false;
}

/* Does the statement itself call something like one of our tables: WITH slice AS (...)? */
static bool hides_a_table(const char *sql, const char *end)
{
	while (sql < end) {
		struct ut_token t = ut_token_next(&sql);
		const char *next = sql;

		if (!is_shaped(&t))
			continue;
		if (ut_token_take(&next, "("))
			return true;
		if (ut_token_take(&next, "AS") &&
		    (ut_token_take(&next, "(") || ut_token_take(&next, "MATERIALIZED") ||
		     ut_token_take(&next, "NOT")))
			return true;
	}
	return false;
}

/* Writes the name of a table; true if it is another one now. */
static bool put_table(struct ut_buf *out, const struct ut_token *t, const char *next)
{
	struct ut_token after = ut_token_skip(&next);
	bool alias = ut_token_is(&after, "AS") || after.type == UT_TOKEN_QUOTED ||
		     (after.type == UT_TOKEN_WORD && !is_no_alias(&after));

	if (!is_shaped(t) || ut_token_is(&after, ".") || ut_token_is(&after, "(")) {
		ut_buf_add(out, t->text, t->len);
		return false;
	}
	ut_buf_text(out, UT_PF_SHAPE);
	ut_buf_add(out, t->text, t->len);
	if (!alias)
		ut_buf_fmt(out, " AS %.*s", (int)t->len, t->text);
	return true;
}

/* False if brackets lie too deep in each other. */
static bool perfetto_narrow_step(struct level *levels, size_t *depth, const struct ut_token *t,
				 bool distinct)
{
	struct level *at = &levels[*depth];

	if (ut_token_is(t, "(")) {
		if (*depth + 1 == MOST_DEPTH)
			return false;
		levels[++*depth] = (struct level){ at->table, at->table };
		at->table = false;
	} else if (ut_token_is(t, ")")) {
		*depth -= *depth > 0;
	} else if ((ut_token_is(t, "FROM") && !distinct) || ut_token_is(t, "JOIN")) {
		*at = (struct level){ true, true };
	} else if (ends_from(t)) {
		*at = (struct level){ false, false };
	} else {
		at->table = ut_token_is(t, ",") && at->in_from;
	}
	return true;
}

bool ut_pf_narrow(const char *sql, const char *end, struct ut_buf *out)
{
	struct level levels[MOST_DEPTH] = { 0 };
	bool changed = false, distinct = false;
	size_t depth = 0;

	if (hides_a_table(sql, end))
		return false;
	while (sql < end) {
		struct ut_token t = ut_token_next(&sql);

		if (t.type == UT_TOKEN_WORD && levels[depth].table && !ends_from(&t)) {
			changed |= put_table(out, &t, sql);
			levels[depth].table = false;
			continue;
		}
		ut_buf_add(out, t.text, t.len);
		if (t.type == UT_TOKEN_SPACE)
			continue;
		if (!perfetto_narrow_step(levels, &depth, &t, distinct))
			return false;
		distinct = ut_token_is(&t, "DISTINCT"); /* IS DISTINCT FROM */
	}
	return changed;
}
