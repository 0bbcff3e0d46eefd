#include "text/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "text/json_doc.h"
#include "text/json_text.h"

static void json_write_begin(struct ut_json_writer *w, const char *key)
{
	if (w->comma)
		ut_buf_char(w->to, ',');
	w->comma = true;
	if (!key)
		return;
	ut_json_text_str(w->to, key, strlen(key));
	ut_buf_char(w->to, ':');
}

void ut_write_open(struct ut_json_writer *w, const char *key, char bracket)
{
	json_write_begin(w, key);
	ut_buf_char(w->to, bracket);
	w->comma = false;
}

void ut_write_close(struct ut_json_writer *w, char bracket)
{
	ut_buf_char(w->to, bracket);
	w->comma = true;
}

void ut_write_bytes(struct ut_json_writer *w, const char *key, const char *value, size_t len)
{
	json_write_begin(w, key);
	ut_json_text_str(w->to, value, len);
}

void ut_write_text(struct ut_json_writer *w, const char *key, const char *value)
{
	if (value)
		ut_write_bytes(w, key, value, strlen(value));
	else
		ut_write_null(w, key);
}

void ut_write_u64(struct ut_json_writer *w, const char *key, uint64_t value)
{
	json_write_begin(w, key);
	ut_buf_fmt(w->to, "%" PRIu64, value);
}

void ut_write_i64(struct ut_json_writer *w, const char *key, int64_t value)
{
	json_write_begin(w, key);
	ut_buf_fmt(w->to, "%" PRId64, value);
}

void ut_write_double(struct ut_json_writer *w, const char *key, double value)
{
	json_write_begin(w, key);
	if (isfinite(value) && value == floor(value) && fabs(value) < 9007199254740992.0)
		ut_buf_fmt(w->to, "%" PRId64, (int64_t)value);
	else
		ut_json_text_double(w->to, value);
}

void ut_write_flag(struct ut_json_writer *w, const char *key, bool value)
{
	json_write_begin(w, key);
	ut_buf_text(w->to, value ? "true" : "false");
}

void ut_write_null(struct ut_json_writer *w, const char *key)
{
	json_write_begin(w, key);
	ut_buf_text(w->to, "null");
}

void ut_write_raw(struct ut_json_writer *w, const char *key, const char *json, size_t len)
{
	json_write_begin(w, key);
	ut_buf_add(w->to, json, len);
}

static void write_scalar(struct ut_json_writer *w, const char *key, const struct ut_doc *t)
{
	if (t->kind == UT_DOC_TEXT)
		ut_write_bytes(w, key, t->text.ptr, t->text.len);
	else if (t->kind == UT_DOC_NUMBER)
		ut_write_double(w, key, t->number);
	else if (t->kind == UT_DOC_FLAG)
		ut_write_flag(w, key, t->flag);
	else
		ut_write_null(w, key);
}

static bool json_write_is_open(const struct ut_doc *t)
{
	return t->kind == UT_DOC_LIST || t->kind == UT_DOC_OBJECT;
}

static void close_tree(struct ut_json_writer *w, const struct ut_doc *t)
{
	ut_write_close(w, t->kind == UT_DOC_LIST ? ']' : '}');
}

/* The beginning of a value, or all of it. True: what it holds is to follow. */
static bool begin_tree(struct ut_json_writer *w, const char *key, const struct ut_doc *t)
{
	if (!json_write_is_open(t)) {
		write_scalar(w, key, t);
		return false;
	}
	ut_write_open(w, key, t->kind == UT_DOC_LIST ? '[' : '{');
	if (t->first)
		return true;
	close_tree(w, t);
	return false;
}

/* Depth was bounded when it was read, and nothing recurses: what is open lies on a stack. */
void ut_write_doc(struct ut_json_writer *w, const char *key, const struct ut_doc *t)
{
	const struct ut_doc *open[UT_DOC_DEPTH], *at = t;
	size_t depth = 0;

	if (!t)
		ut_write_null(w, key);
	while (at) {
		if (depth)
			key = open[depth - 1]->kind == UT_DOC_OBJECT ? at->key.ptr : NULL;
		if (begin_tree(w, key, at)) {
			open[depth++] = at;
			at = at->first;
			continue;
		}
		while (depth && !at->next) {
			at = open[--depth];
			close_tree(w, at);
		}
		at = depth ? at->next : NULL;
	}
}
