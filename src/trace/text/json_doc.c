#include "text/json_doc.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"

struct reading {
	struct ut_json j;
	struct ut_arena *arena;
	struct ut_doc *open[UT_DOC_DEPTH]; /* lists and objects that we are in */
	struct ut_doc *last[UT_DOC_DEPTH]; /* their last member so far */
	size_t depth, nodes;
	int rc;
	const char *why;
};

static bool json_doc_give_up(struct reading *r, int rc, const char *why)
{
	r->rc = rc;
	r->why = why;
	return false;
}

static struct ut_str decode(struct reading *r, struct ut_str raw)
{
	char *text = ut_arena_alloc(r->arena, raw.len + 1, 1);

	return (struct ut_str){ text, ut_json_decode(raw, text) };
}

/* Puts a new value behind the last one of the list or object that we are in. */
static struct ut_doc *json_doc_add(struct reading *r, struct ut_doc *t)
{
	struct ut_doc *parent = r->depth ? r->open[r->depth - 1] : NULL;

	if (!parent)
		return t;
	if (r->last[r->depth - 1])
		r->last[r->depth - 1]->next = t;
	else
		parent->first = t;
	r->last[r->depth - 1] = t;
	parent->count++;
	return t;
}

static bool read_scalar(struct reading *r, struct ut_doc *t)
{
	struct ut_json_number n;
	struct ut_str span;

	if (!ut_json_skip(&r->j, &span))
		return false;
	if (ut_str_is(span, "true") || ut_str_is(span, "false")) {
		t->kind = UT_DOC_FLAG;
		t->flag = span.ptr[0] == 't';
	} else if (!ut_str_is(span, "null")) {
		if (ut_json_number(span, &n) == UT_JSON_NOT || !isfinite(n.f64))
			return json_doc_give_up(r, -EINVAL, "no value");
		t->kind = UT_DOC_NUMBER;
		t->number = n.f64;
	}
	return true;
}

/* One value; a list or an object is entered, and closed by whoever meets its end. */
static bool json_doc_read_value(struct reading *r, struct ut_str key)
{
	struct ut_doc *t = UT_NEW(r->arena, struct ut_doc);
	struct ut_str raw;
	char c = ut_json_peek(&r->j);

	if (++r->nodes > UT_DOC_NODES)
		return json_doc_give_up(r, -E2BIG, "more values than we take");
	t->key = key;
	if (c == '{' || c == '[') {
		if (r->depth == UT_DOC_DEPTH)
			return json_doc_give_up(r, -E2BIG, "nested too deeply");
		t->kind = c == '{' ? UT_DOC_OBJECT : UT_DOC_LIST;
		json_doc_add(r, t);
		r->last[r->depth] = NULL;
		r->open[r->depth++] = t;
		ut_json_enter(&r->j);
		return true;
	}
	json_doc_add(r, t);
	if (!r->depth)
		r->open[0] = t; /* the whole text is this */
	if (c != '"')
		return read_scalar(r, t);
	if (!ut_json_string(&r->j, &raw))
		return false;
	t->kind = UT_DOC_TEXT;
	t->text = decode(r, raw);
	return true;
}

/* The next value of what is open, or its end. */
static bool json_doc_go_on(struct reading *r)
{
	bool is_object = r->open[r->depth - 1]->kind == UT_DOC_OBJECT;
	struct ut_str key = { "", 0 };
	bool more = is_object ? ut_json_member(&r->j, &key) : ut_json_element(&r->j);

	if (!more) {
		if (r->j.trouble != UT_JSON_NONE)
			return false;
		r->depth--;
		return true;
	}
	return json_doc_read_value(r, is_object ? decode(r, key) : key);
}

static bool json_doc_read_all(struct reading *r, const struct ut_doc **root)
{
	if (!json_doc_read_value(r, (struct ut_str){ "", 0 }))
		return false;
	*root = r->open[0];
	while (r->depth) {
		if (!json_doc_go_on(r))
			return false;
	}
	if (ut_json_peek(&r->j))
		return json_doc_give_up(r, -EINVAL, "something behind the value");
	for (size_t i = 0; i < UT_JSON_REPAIRS; i++) {
		if (r->j.repairs[i].count)
			return json_doc_give_up(r, -EINVAL, "something that JSON does not know");
	}
	return true;
}

int ut_doc_read(struct ut_arena *a, struct ut_str text, const struct ut_doc **root,
		struct ut_err *err)
{
	struct reading r = { .arena = a, .rc = -EINVAL, .why = "no JSON" };
	bool fine;

	*root = NULL;
	ut_json_init_text(&r.j, text.ptr, text.len);
	ut_json_mark(&r.j);
	while (!ut_json_peek(&r.j) && ut_json_again(&r.j))
		;
	fine = json_doc_read_all(&r, root);
	if (!fine && r.j.why && !strcmp(r.why, "no JSON"))
		r.why = r.j.why;
	if (!fine)
		*root = NULL;
	ut_json_release(&r.j);
	return fine ? 0 : ut_err_set(err, r.rc, "%s", r.why);
}

const struct ut_doc *ut_doc_get(const struct ut_doc *t, const char *key)
{
	const struct ut_doc *found = NULL;

	if (!t || t->kind != UT_DOC_OBJECT)
		return NULL;
	for (const struct ut_doc *m = t->first; m; m = m->next) {
		if (ut_str_is(m->key, key))
			found = m;
	}
	return found;
}

const char *ut_doc_own_text(const struct ut_doc *t)
{
	return t && t->kind == UT_DOC_TEXT && strlen(t->text.ptr) == t->text.len ? t->text.ptr
										 : NULL;
}

const char *ut_doc_text(const struct ut_doc *t, const char *key)
{
	return ut_doc_own_text(ut_doc_get(t, key));
}

bool ut_doc_flag(const struct ut_doc *t, const char *key, bool fallback)
{
	const struct ut_doc *m = ut_doc_get(t, key);

	return m && m->kind == UT_DOC_FLAG ? m->flag : fallback;
}

double ut_doc_number(const struct ut_doc *t, const char *key, double fallback)
{
	const struct ut_doc *m = ut_doc_get(t, key);

	return m && m->kind == UT_DOC_NUMBER ? m->number : fallback;
}

uint64_t ut_doc_count(const struct ut_doc *t, const char *key, uint64_t most, uint64_t fallback)
{
	double n = ut_doc_number(t, key, -1);

	return n >= 0 && n <= (double)most && n == floor(n) ? (uint64_t)n : fallback;
}
