#include "query/query_why.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/filter_why.h"
#include "base/str.h"
#include "model/store.h"
#include "query/token.h"
#include "text/cells.h"

#define NAME_COLUMNS 60

/* Is it a text of any kind: of an event, a thread, a process, an argument? */
static bool query_why_is_known(const struct ut_store *s, struct ut_str name)
{
	const struct ut_strtab *strings = &s->trace.strings;

	for (uint32_t id = 1; id <= strings->count; id++) {
		if (ut_str_eq(ut_strtab_get(strings, id), name))
			return true;
	}
	return false;
}

static bool is_known_to_any(const struct ut_store *stores, size_t count, const struct ut_buf *name)
{
	for (size_t i = 0; i < count; i++) {
		if (query_why_is_known(&stores[i], (struct ut_str){ name->data, name->len }))
			return true;
	}
	return false;
}

/* What is between the quotes; two of them stand for one. */
static void unquote(struct ut_buf *to, const struct ut_token *t)
{
	to->len = 0;
	ut_buf_text(to, "");
	for (size_t i = 1; i + 1 < t->len; i++) {
		ut_buf_char(to, t->text[i]);
		i += t->text[i] == '\'';
	}
}

/* To behind the next name = 'TEXT', which is put into text. */
static bool next_condition(const char **at, struct ut_buf *text)
{
	struct ut_token t = ut_token_skip(at);

	for (; t.type != UT_TOKEN_END; t = ut_token_skip(at)) {
		const char *value = *at;

		if (!ut_token_is(&t, "name") || !ut_token_take(&value, "="))
			continue;
		(void)ut_token_take(&value, "="); /* SQLite takes two for one */
		t = ut_token_skip(&value);
		if (t.type != UT_TOKEN_STRING || t.text[0] != '\'')
			continue;
		unquote(text, &t);
		*at = value;
		return true;
	}
	return false;
}

static void query_why_report(struct ut_buf *b, const struct ut_buf *name,
			     const struct ut_store *stores, size_t count)
{
	const char *nearest = NULL;
	unsigned int distance = 99;

	ut_buf_text(b, "no rows: nothing is called '");
	ut_cell_name(b, name->data, name->len, NAME_COLUMNS);
	ut_buf_text(b, "'");
	for (size_t i = 0; i < count; i++) {
		const char *near = ut_filter_nearest(&stores[i], name->data);

		if (near && ut_str_closer(name->data, near, &distance))
			nearest = near;
	}
	if (!nearest)
		return;
	ut_buf_text(b, "; did you mean '");
	ut_cell_name(b, nearest, strlen(nearest), NAME_COLUMNS);
	ut_buf_text(b, "'?");
}

void ut_query_why(struct ut_buf *b, const char *sql, const struct ut_store *stores, size_t count)
{
	struct ut_buf name = { 0 };
	bool reported = false;

	while (!reported && next_condition(&sql, &name)) {
		reported = !is_known_to_any(stores, count, &name);
		if (reported)
			query_why_report(b, &name, stores, count);
	}
	ut_buf_release(&name);
}
