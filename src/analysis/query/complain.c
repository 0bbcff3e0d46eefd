#include "query/complain.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "query/function.h"
#include "query/perfetto_parts.h"
#include "query/sql.h"

#define NAME_MOST 64

/* What other tools call our columns, too far away for a typing error. */
static const struct {
	const char *theirs, *ours;
} elsewhere[] = {
	{ "duration", "dur" },
	{ "timestamp", "ts" },
	{ "time", "ts" },
	{ "start", "ts" },
	{ "begin", "ts" },
	{ "self", "self_dur" },
	{ "parent", "parent_id" },
	{ "args", "arg" },
	{ "span", "slice" },
	{ "spans", "slice" },
	{ "events", "event" },
	{ "thread", "thread_name" },
	{ "process", "process_name" },
	{ "track", "track_id" },
};

static bool complain_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Where word stands in the text as a word of its own; NULL = nowhere. */
static const char *find_word(const char *sql, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = sql; *s; s++) {
		if (!strncasecmp(s, word, len) && !complain_is_word(s[len]) &&
		    (s == sql || !complain_is_word(s[-1])))
			return s;
	}
	return NULL;
}

struct best {
	const char *name;
	unsigned int distance;
};

static void try_name(struct best *b, const char *wrong, const char *name)
{
	/* a column of that very name is one of a table that is not asked */
	if (strcasecmp(wrong, name) != 0 && ut_str_closer(wrong, name, &b->distance))
		b->name = name;
}

static void try_columns(struct best *b, const char *wrong, const struct ut_sql_table *t)
{
	for (const struct ut_sql_column *c = t->columns; c->name; c++)
		try_name(b, wrong, c->name);
}

static bool has_column(const struct ut_sql_table *t, const char *name)
{
	for (const struct ut_sql_column *c = t->columns; c->name; c++) {
		if (!strcasecmp(c->name, name))
			return true;
	}
	return false;
}

static const char *known_elsewhere(const char *wrong)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
		if (!strcasecmp(elsewhere[i].theirs, wrong))
			return elsewhere[i].ours;
	}
	return NULL;
}

/* A column of the tables that the query names. */
static const char *near_column(const char *sql, const char *wrong)
{
	struct best b = { .distance = 99 };
	const char *known = known_elsewhere(wrong);

	for (size_t i = 0; ut_sql_tables[i]; i++) {
		const struct ut_sql_table *t = ut_sql_tables[i];

		if (!find_word(sql, t->name))
			continue;
		if (known && has_column(t, known))
			return known;
		try_columns(&b, wrong, t);
	}
	return b.name;
}

static const char *near_column_elsewhere(const char *wrong)
{
	struct best b = { .distance = 99 };

	for (size_t i = 0; ut_sql_tables[i] && !b.name; i++)
		try_columns(&b, wrong, ut_sql_tables[i]);
	return b.name;
}

/* Where a column is that the tables of the query do not have. */
static bool report_owner(struct ut_buf *hint, const char *column)
{
	for (size_t i = 0; ut_sql_tables[i]; i++) {
		if (has_column(ut_sql_tables[i], column)) {
			ut_buf_fmt(hint, "; %s has it", ut_sql_tables[i]->name);
			return true;
		}
	}
	return false;
}

static const char *near_table(const char *wrong)
{
	struct best b = { .distance = 99 };
	const char *known = known_elsewhere(wrong);

	for (size_t i = 0; ut_sql_tables[i]; i++) {
		if (known && !strcmp(known, ut_sql_tables[i]->name))
			return known;
		try_name(&b, wrong, ut_sql_tables[i]->name);
	}
	for (const struct ut_pf_view *v = ut_pf_views; v->name; v++)
		try_name(&b, wrong, v->name);
	return b.name;
}

static const char *near_function(const char *wrong)
{
	struct best b = { .distance = 99 };

	for (const struct ut_sql_function *f = ut_sql_functions; f->name; f++)
		try_name(&b, wrong, f->name);
	return b.name;
}

static void list_tables(struct ut_buf *hint)
{
	ut_buf_text(hint, "; there are ");
	for (size_t i = 0; ut_sql_tables[i]; i++)
		ut_buf_fmt(hint, "%s%s", i ? ", " : "", ut_sql_tables[i]->name);
}

static void report_tables_of(struct ut_buf *hint, const char *sql, const char *column)
{
	const char *before = "; say which: ";

	for (size_t i = 0; ut_sql_tables[i]; i++) {
		if (!find_word(sql, ut_sql_tables[i]->name) ||
		    !has_column(ut_sql_tables[i], column))
			continue;
		ut_buf_fmt(hint, "%s%s.%s", before, ut_sql_tables[i]->name, column);
		before = " or ";
	}
}

/* What follows "no such column: " and the like, without the table in front of it. */
static bool after(const char *message, const char *start, char *name)
{
	const char *dot;

	if (!ut_str_starts(message, start))
		return false;
	message += strlen(start);
	dot = strrchr(message, '.');
	snprintf(name, NAME_MOST, "%s", dot ? dot + 1 : message);
	return true;
}

/* Is it about something of Perfetto's that cannot be had? */
static bool is_about_missing(const char *message, char *name)
{
	return (after(message, "no such column: ", name) ||
		after(message, "no such table: ", name) ||
		after(message, "no such function: ", name)) &&
	       ut_pf_missing(name);
}

static void add_hint(struct ut_buf *hint, const char *sql, const char *message, char *name)
{
	const char *meant = NULL;

	if (is_about_missing(message, name)) {
		ut_buf_fmt(hint, "; %s", ut_pf_missing(name));
		return;
	}
	if (after(message, "no such column: ", name)) {
		meant = near_column(sql, name);
		if (!meant && report_owner(hint, name))
			return;
		meant = meant ? meant : near_column_elsewhere(name);
	} else if (after(message, "no such table: ", name))
		meant = near_table(name);
	else if (after(message, "no such function: ", name))
		meant = near_function(name);
	else if (after(message, "ambiguous column name: ", name))
		report_tables_of(hint, sql, name);
	else if (!strcmp(message, "integer overflow"))
		ut_buf_text(hint, "; total() takes larger sums than sum()");
	if (meant)
		ut_buf_fmt(hint, "; did you mean %s?", meant);
	else if (ut_str_starts(message, "no such table: "))
		list_tables(hint);
}

/* "LINE:COLUMN" of a place in the text. */
static void report_place(const char *sql, size_t at, char *where, size_t size)
{
	unsigned int line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		column++;
		if (sql[i] == '\n') {
			line++;
			column = 1;
		}
	}
	snprintf(where, size, ":%u:%u", line, column);
}

int ut_sql_complain(const char *sql, long offset, const char *message, struct ut_err *err)
{
	char name[NAME_MOST] = "", where[48] = "";
	struct ut_buf hint = { 0 };
	const char *word;
	int rc;

	add_hint(&hint, sql, message, name);
	if (offset < 0 && name[0]) {
		word = find_word(sql, name);
		offset = word ? word - sql : -1;
	}
	if (offset >= 0)
		report_place(sql, (size_t)offset, where, sizeof(where));
	rc = ut_err_set(err, -EINVAL, "SQL%s: %s%s", where, message, hint.data ? hint.data : "");
	ut_buf_release(&hint);
	return rc;
}
