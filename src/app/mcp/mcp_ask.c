#include "mcp/mcp_ask.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/filter_options.h"
#include "base/opt.h"
#include "text/json_doc.h"
#include "text/json_text.h"
#include "text/json_write.h"
#include "text/shell_words.h"

#define WORDS_MOST 256u
#define TEXT_MOST  (256u << 10)

enum type {
	TEXT,
	LIST,
	COUNT,
	TIME,
};

static const struct {
	const char *name, *about;
	enum type type;
} properties[UT_MCP_PROPERTIES] = {
#define PROPERTY(property, name, type, about) { name, about, type },
	UT_MCP_PROPERTY_LIST(PROPERTY)
#undef PROPERTY
};

/* Those that the commands do not have, or not as an option, are not told as one. */
#define NO_OPTION                                                                                  \
	(UT_MCP_BIT(PATHS) | UT_MCP_BIT(FOLDER) | UT_MCP_BIT(TRACE) | UT_MCP_BIT(BEFORE) |         \
	 UT_MCP_BIT(AFTER) | UT_MCP_BIT(SQL) | UT_MCP_BIT(TABLE) | UT_MCP_BIT(WHAT) |              \
	 UT_MCP_BIT(WIDTH) | UT_MCP_BIT(ROWS))

static const struct ut_opt *mcp_ask_make_table(struct ut_mcp_ask *a)
{
	const struct ut_opt own[] = {
		ut_opt_strs(0, "paths", "FILE", &a->paths, ""),
		ut_opt_str(0, "folder", "FOLDER", &a->folder, ""),
		ut_opt_str(0, "trace", "NAME", &a->trace, ""),
		ut_opt_str(0, "before", "NAME", &a->before, ""),
		ut_opt_str(0, "after", "NAME", &a->after, ""),
		ut_opt_str(0, "sql", "SQL", &a->sql, ""),
		ut_opt_str(0, "table", "NAME", &a->table, ""),
		ut_opt_str(0, "what", "WHAT", &a->what, ""),
		ut_opt_str(0, "by", "WHAT", &a->by, ""),
		ut_opt_str(0, "sort", "COLUMN", &a->sort, ""),
		ut_opt_u64(0, "limit", "N", &a->limit, ""),
		ut_opt_u64(0, "min-count", "N", &a->min_count, ""),
		ut_opt_range(ut_opt_u64(0, "width", "N", &a->width, ""), 0, UINT32_MAX),
		ut_opt_range(ut_opt_u64(0, "rows", "N", &a->rows, ""), 0, UINT32_MAX),
	};

	return ut_filter_table(&a->arena, own, sizeof(own) / sizeof(own[0]), &a->events);
}

/* ---- from JSON to words -------------------------------------------------------------------- */

struct words {
	struct ut_mcp_ask *ask;
	const char *items[WORDS_MOST];
	int count;
};

static int mcp_ask_add_word(struct words *w, size_t property, const char *value, struct ut_err *err)
{
	char *word = ut_str_fmt(&w->ask->arena, "--%s=%s", properties[property].name, value);

	for (char *c = word; *c && *c != '='; c++)
		*c = *c == '_' ? '-' : *c;
	if (w->count == WORDS_MOST)
		return ut_err_set(err, -E2BIG, "more than %u values", WORDS_MOST);
	w->items[w->count++] = word;
	if (!(NO_OPTION >> property & 1)) {
		ut_buf_char(&w->ask->words, ' ');
		ut_shell_quote(&w->ask->words, word);
	}
	return 0;
}

static int mcp_ask_add_number(struct words *w, size_t property, double number, struct ut_err *err)
{
	char digits[UT_DOUBLE_ROOM];

	if (!isfinite(number) || fabs(number) > 1e15)
		return ut_err_set(err, -EINVAL, "%s: no such number", properties[property].name);
	ut_double_digits(digits, number);
	if (properties[property].type == TIME) /* seconds */
		return mcp_ask_add_word(w, property,
					ut_str_fmt(&w->ask->arena, "%.0fns", number * 1e9), err);
	if (number == floor(number))
		return mcp_ask_add_word(w, property, ut_str_fmt(&w->ask->arena, "%.0f", number),
					err);
	return mcp_ask_add_word(w, property, digits, err);
}

static int mcp_ask_add_value(struct words *w, size_t property, const struct ut_doc *value,
			     struct ut_err *err)
{
	const char *text;

	if (value->kind == UT_DOC_NUMBER)
		return mcp_ask_add_number(w, property, value->number, err);
	text = ut_doc_own_text(value);
	if (!text)
		return ut_err_set(err, -EINVAL, "%s: neither a text nor a number",
				  properties[property].name);
	if (strlen(text) > TEXT_MOST)
		return ut_err_set(err, -E2BIG, "%s: too long", properties[property].name);
	return mcp_ask_add_word(w, property, text, err);
}

static int add_member(struct words *w, size_t property, const struct ut_doc *value,
		      struct ut_err *err)
{
	int rc = 0;

	if (value->kind == UT_DOC_NULL)
		return 0;
	if (value->kind != UT_DOC_LIST)
		return mcp_ask_add_value(w, property, value, err);
	if (properties[property].type != LIST)
		return ut_err_set(err, -EINVAL, "%s is no list", properties[property].name);
	for (const struct ut_doc *one = value->first; one && !rc; one = one->next)
		rc = mcp_ask_add_value(w, property, one, err);
	return rc;
}

static size_t find_property(struct ut_str key, uint64_t allowed)
{
	for (size_t i = 0; i < UT_MCP_PROPERTIES; i++) {
		if ((allowed >> i & 1) && ut_str_is(key, properties[i].name))
			return i;
	}
	return UT_MCP_PROPERTIES;
}

static int mcp_ask_unknown(struct ut_str key, uint64_t allowed, struct ut_err *err)
{
	struct ut_buf all = { 0 };
	int rc;

	for (size_t i = 0; i < UT_MCP_PROPERTIES; i++) {
		if (allowed >> i & 1)
			ut_buf_fmt(&all, " %s", properties[i].name);
	}
	rc = ut_err_set(err, -EINVAL, "there is no argument '%.*s'; there are:%s",
			(int)(key.len < 60 ? key.len : 60), key.ptr, all.data ? all.data : " none");
	ut_buf_release(&all);
	return rc;
}

static int add_members(struct words *w, const struct ut_doc *arguments, uint64_t allowed,
		       struct ut_err *err)
{
	int rc = 0;

	if (arguments->kind != UT_DOC_OBJECT)
		return ut_err_set(err, -EINVAL, "the arguments are no object");
	for (const struct ut_doc *m = arguments->first; m && !rc; m = m->next) {
		size_t property = find_property(m->key, allowed);

		if (property == UT_MCP_PROPERTIES)
			return mcp_ask_unknown(m->key, allowed, err);
		rc = add_member(w, property, m, err);
	}
	return rc;
}

static int check_required(const struct ut_doc *arguments, uint64_t required, struct ut_err *err)
{
	for (size_t i = 0; i < UT_MCP_PROPERTIES; i++) {
		const struct ut_doc *given = NULL;
		const char *text;

		if (!(required >> i & 1))
			continue;
		if (arguments && arguments->kind == UT_DOC_OBJECT)
			given = ut_doc_get(arguments, properties[i].name);
		text = given ? ut_doc_own_text(given) : NULL;
		if (!given || given->kind == UT_DOC_NULL || (text && !*text) ||
		    (given->kind == UT_DOC_LIST && !given->first))
			return ut_err_set(err, -EINVAL, "the argument '%s' is required: %s",
					  properties[i].name, properties[i].about);
	}
	return 0;
}

int ut_mcp_ask_read(struct ut_mcp_ask *a, const struct ut_doc *arguments, uint64_t allowed,
		    uint64_t required, struct ut_err *err)
{
	struct words *w = UT_NEW(&a->arena, struct words);
	int rc = 0;

	w->ask = a;
	if (arguments && arguments->kind != UT_DOC_NULL)
		rc = add_members(w, arguments, allowed, err);
	if (!rc)
		rc = check_required(arguments, required, err);
	if (!rc)
		rc = ut_opt_parse(mcp_ask_make_table(a), w->count, w->items, err);
	return rc < 0 ? rc : ut_filter_init(&a->filter, &a->events, err);
}

void ut_mcp_ask_release(struct ut_mcp_ask *a)
{
	if (a->filter.opts)
		ut_filter_release(&a->filter);
	ut_filter_opts_release(&a->events);
	ut_opt_list_release(&a->paths);
	ut_buf_release(&a->words);
	ut_arena_release(&a->arena);
}

/* ---- the schema ---------------------------------------------------------------------------- */

static void put_property(struct ut_json_writer *w, size_t property)
{
	ut_write_open(w, properties[property].name, '{');
	switch (properties[property].type) {
	case TEXT:
	case TIME:
		ut_write_text(w, "type", "string");
		break;
	case LIST:
		ut_write_text(w, "type", "array");
		ut_write_open(w, "items", '{');
		ut_write_text(w, "type", "string");
		ut_write_close(w, '}');
		break;
	case COUNT:
		ut_write_text(w, "type", "integer");
		ut_write_u64(w, "minimum", 1);
		break;
	}
	ut_write_text(w, "description", properties[property].about);
	ut_write_close(w, '}');
}

void ut_mcp_ask_schema(struct ut_json_writer *w, const char *key, uint64_t allowed,
		       uint64_t required)
{
	ut_write_open(w, key, '{');
	ut_write_text(w, "type", "object");
	ut_write_open(w, "properties", '{');
	for (size_t i = 0; i < UT_MCP_PROPERTIES; i++) {
		if (allowed >> i & 1)
			put_property(w, i);
	}
	ut_write_close(w, '}');
	if (required) {
		ut_write_open(w, "required", '[');
		for (size_t i = 0; i < UT_MCP_PROPERTIES; i++) {
			if (required >> i & 1)
				ut_write_text(w, NULL, properties[i].name);
		}
		ut_write_close(w, ']');
	}
	ut_write_flag(w, "additionalProperties", false);
	ut_write_close(w, '}');
}
