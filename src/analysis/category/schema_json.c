/*
 * schema_json.c - rules as the original's tools hand them on: a tree of texts that begin alike, so
 * that a name is looked up in few steps, and one of texts that end alike, turned around.
 *
 *	{"ignore_spaces":true,"direct":TREE,"reverse":TREE}
 *	TREE: {"category":C,"length":N,"next":{KEY:TREE,...}}
 *
 * All keys of a tree have N letters. "category" is for what has come so far, however it goes on; a
 * key "" is for names that end here. What the original does not know is in further members:
 * "contains" and "matches", lists of [TEXT, CATEGORY].
 */
#include "category/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/hashtab.h"
#include "base/json.h"
#include "text/json_text.h"

#define MOST_LEVELS 200u /* a tree in a tree is two levels of JSON, of which a reader takes 512 */

/* ---- letters: lengths and turning around count them, not bytes ----------------------------- */

static bool starts_letter(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t letters(struct ut_str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += starts_letter(s.ptr[i]);
	return n;
}

/* How many bytes the first n letters have. */
static size_t bytes_of(struct ut_str s, size_t n)
{
	size_t i = 0;

	while (i < s.len && (n || !starts_letter(s.ptr[i])))
		n -= starts_letter(s.ptr[i++]);
	return i;
}

static struct ut_str reversed(struct ut_arena *a, struct ut_str s)
{
	char *to = ut_arena_copy(a, s.ptr, s.len), *p = to + s.len;

	for (size_t i = 0, len; i < s.len; i += len) {
		len = bytes_of((struct ut_str){ s.ptr + i, s.len - i }, 1);
		p -= len;
		memcpy(p, s.ptr + i, len);
	}
	return (struct ut_str){ to, s.len };
}

/* ---- writing ------------------------------------------------------------------------------- */

struct item {
	struct ut_str rest, category; /* rest: of the text, behind the keys above */
	bool exact;
	struct item *next; /* of the same tree */
};

/* A key of a tree and what it leads to. */
struct branch {
	struct ut_str key, category, exact; /* ptr NULL = none */
	struct item *longer, *last;
};

struct level {
	struct branch *items;
	size_t count, cap;
	struct ut_hashtab by_key;
};

static struct branch *branch_of(struct level *l, struct ut_str key)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(key.ptr, key.len), at = hash, number;

	while ((number = ut_hashtab_next(&l->by_key, hash, &at)) &&
	       !ut_str_eq(l->items[number - 1].key, key))
		;
	if (!number) {
		l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
		l->items[l->count] = (struct branch){ .key = key };
		number = (uint32_t)++l->count;
		ut_hashtab_add(&l->by_key, hash, number);
	}
	return &l->items[number - 1];
}

static size_t shortest_of(const struct item *items)
{
	size_t least = SIZE_MAX;

	for (; items; items = items->next) {
		size_t n = letters(items->rest);

		least = n < least ? n : least;
	}
	return least;
}

/* Texts that end here come before those that go on, as in the original. Each text is there once. */
static void add_ends(struct level *l, const struct item *items, size_t length)
{
	for (; items; items = items->next) {
		struct branch *b;

		if (letters(items->rest) != length)
			continue;
		b = branch_of(l, items->rest);
		*(items->exact ? &b->exact : &b->category) = items->category;
	}
}

static void add_longer(struct level *l, struct item *items, size_t length)
{
	for (struct item *next; items; items = next) {
		size_t cut = bytes_of(items->rest, length);
		struct branch *b;

		next = items->next;
		if (cut == items->rest.len)
			continue;
		b = branch_of(l, (struct ut_str){ items->rest.ptr, cut });
		items->rest.ptr += cut;
		items->rest.len -= cut;
		items->next = NULL;
		*(b->last ? &b->last->next : &b->longer) = items;
		b->last = items;
	}
}

static void schema_json_put_text(struct ut_buf *out, const char *before, struct ut_str text)
{
	ut_buf_text(out, before);
	ut_json_text_ascii(out, text.ptr, text.len);
}

static int put_keys(struct ut_buf *out, struct item *items, size_t length, unsigned int depth);

static int put_tree(struct ut_buf *out, struct item *items, unsigned int depth)
{
	size_t length = shortest_of(items);
	int rc;

	ut_buf_fmt(out, "\"length\":%zu,\"next\":{", length);
	rc = put_keys(out, items, length, depth);
	ut_buf_char(out, '}');
	return rc;
}

/* The order of its members is the one in which the original comes to make them. */
static int put_branch(struct ut_buf *out, const struct branch *b, unsigned int depth)
{
	const char *comma = b->category.ptr ? "," : "";
	size_t length = b->longer ? shortest_of(b->longer) : 0;
	int rc = 0;

	schema_json_put_text(out, "", b->key);
	ut_buf_text(out, ":{");
	if (b->category.ptr)
		schema_json_put_text(out, "\"category\":", b->category);
	if (!b->exact.ptr) {
		ut_buf_text(out, b->longer ? comma : "");
		rc = b->longer ? put_tree(out, b->longer, depth) : 0;
	} else {
		ut_buf_fmt(out, "%s\"next\":{", comma);
		if (b->longer)
			rc = put_keys(out, b->longer, length, depth);
		schema_json_put_text(
			out, b->longer ? ",\"\":{\"category\":" : "\"\":{\"category\":", b->exact);
		ut_buf_text(out, "}}");
		if (b->longer)
			ut_buf_fmt(out, ",\"length\":%zu", length);
	}
	ut_buf_char(out, '}');
	return rc;
}

static int put_keys(struct ut_buf *out, struct item *items, size_t length, unsigned int depth)
{
	struct level level = { 0 };
	int rc = depth < MOST_LEVELS ? 0 : -E2BIG;

	if (!rc) {
		add_ends(&level, items, length);
		add_longer(&level, items, length);
	}
	for (size_t i = 0; !rc && i < level.count; i++) {
		ut_buf_text(out, i ? "," : "");
		rc = put_branch(out, &level.items[i], depth + 1);
	}
	ut_hashtab_release(&level.by_key);
	free(level.items);
	return rc;
}

/* The tree of all rules about the beginning (all of it counts, too) or about the end. */
static int put_rules(const struct ut_schema *s, bool ends, struct ut_buf *out)
{
	struct ut_arena scratch = { 0 };
	struct item *first = NULL, **tail = &first;
	int rc = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct ut_rule *rule = &s->rules[i];

		if (rule->kind > UT_RULE_ENDS || ends != (rule->kind == UT_RULE_ENDS))
			continue;
		*tail = UT_NEW(&scratch, struct item);
		(*tail)->rest = ends ? reversed(&scratch, rule->text) : rule->text;
		(*tail)->category = rule->category;
		(*tail)->exact = rule->kind == UT_RULE_EQUALS;
		tail = &(*tail)->next;
	}
	ut_buf_char(out, '{');
	if (first)
		rc = put_tree(out, first, 0);
	ut_buf_char(out, '}');
	ut_arena_release(&scratch);
	return rc;
}

static void put_inside(const struct ut_schema *s, enum ut_rule_kind kind, const char *key,
		       struct ut_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->rules[i].kind != kind)
			continue;
		if (n++)
			ut_buf_char(out, ',');
		else
			ut_buf_fmt(out, ",\"%s\":[", key);
		schema_json_put_text(out, "[", s->rules[i].text);
		schema_json_put_text(out, ",", s->rules[i].category);
		ut_buf_char(out, ']');
	}
	if (n)
		ut_buf_char(out, ']');
}

static void new_line(struct ut_buf *out, size_t depth)
{
	ut_buf_char(out, '\n');
	for (size_t i = 0; i < 3 * depth; i++)
		ut_buf_char(out, ' ');
}

/* What put_*() wrote, three blanks a level, as Python lays it out. */
static void spread(struct ut_str compact, struct ut_buf *out)
{
	bool text = false;
	size_t depth = 0;

	for (size_t i = 0; i < compact.len; i++) {
		char c = compact.ptr[i];

		if (!text && (c == '}' || c == ']')) {
			depth--;
			if (i && compact.ptr[i - 1] != '{')
				new_line(out, depth);
		}
		ut_buf_char(out, c);
		if (c == '"')
			text = !text;
		else if (text && c == '\\')
			ut_buf_char(out, compact.ptr[++i]);
		if (text || c == '"')
			continue;
		depth += c == '{' || c == '[';
		if (c == ',' || ((c == '{' || c == '[') && compact.ptr[i + 1] != '}'))
			new_line(out, depth);
		else if (c == ':')
			ut_buf_char(out, ' ');
	}
}

int ut_schema_write_json(const struct ut_schema *s, bool pretty, struct ut_buf *out,
			 struct ut_err *err)
{
	struct ut_buf compact = { 0 };
	int rc;

	ut_buf_fmt(&compact,
		   "{\"ignore_spaces\":%s,\"direct\":", s->ignore_spaces ? "true" : "false");
	rc = put_rules(s, false, &compact);
	ut_buf_text(&compact, ",\"reverse\":");
	rc = rc ? rc : put_rules(s, true, &compact);
	put_inside(s, UT_RULE_CONTAINS, "contains", &compact);
	put_inside(s, UT_RULE_MATCHES, "matches", &compact);
	ut_buf_char(&compact, '}');
	if (rc)
		ut_err_set(err, rc, "more than %u rules begin (or end) one another", MOST_LEVELS);
	else if (pretty)
		spread((struct ut_str){ compact.data, compact.len }, out);
	else
		ut_buf_add(out, compact.data, compact.len);
	ut_buf_release(&compact);
	return rc;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct reading {
	struct ut_schema *schema;
	struct ut_json json;
	struct ut_buf path; /* the keys that lead to where we are */
	bool ends;          /* this is the tree of ends */
	struct ut_err *err; /* of a rule */
};

static struct ut_str decoded(struct ut_arena *a, struct ut_str raw)
{
	char *to = ut_arena_copy(a, raw.ptr, raw.len);

	return (struct ut_str){ to, ut_json_decode(raw, to) };
}

/* A rule for the keys so far. */
static bool add_rule(struct reading *r, enum ut_rule_kind kind, struct ut_str raw)
{
	struct ut_arena *a = &r->schema->arena;
	struct ut_rule rule = { .kind = kind, .category = decoded(a, raw) };

	rule.text = (struct ut_str){ r->path.data ? r->path.data : "", r->path.len };
	if (r->ends)
		rule.text = reversed(a, rule.text);
	return !ut_schema_add(r->schema, &rule, r->err);
}

static bool read_tree(struct reading *r, unsigned int depth, bool whole);

static bool read_next(struct reading *r, unsigned int depth)
{
	struct ut_arena *a = &r->schema->arena;
	struct ut_str key;

	if (ut_json_peek(&r->json) != '{' || depth > MOST_LEVELS)
		return false;
	ut_json_enter(&r->json);
	while (ut_json_member(&r->json, &key)) {
		struct ut_str text = decoded(a, key);
		size_t had = r->path.len;

		ut_buf_add(&r->path, text.ptr, text.len);
		if (!read_tree(r, depth + 1, !text.len))
			return false;
		r->path.len = had;
	}
	return r->json.trouble == UT_JSON_NONE;
}

/* whole: what is below the key "" is about names that end here. */
static bool read_tree(struct reading *r, unsigned int depth, bool whole)
{
	enum ut_rule_kind kind = whole ? UT_RULE_EQUALS : r->ends ? UT_RULE_ENDS : UT_RULE_STARTS;
	struct ut_str key, raw;

	if (ut_json_peek(&r->json) != '{')
		return false;
	ut_json_enter(&r->json);
	while (ut_json_member(&r->json, &key)) {
		bool ok;

		if (ut_str_is(key, "category"))
			ok = ut_json_string(&r->json, &raw) && add_rule(r, kind, raw);
		else if (ut_str_is(key, "next"))
			ok = read_next(r, depth);
		else
			ok = ut_json_skip(&r->json, NULL);
		if (!ok)
			return false;
	}
	return r->json.trouble == UT_JSON_NONE;
}

/* [[TEXT, CATEGORY], ...] */
static bool read_inside(struct reading *r, enum ut_rule_kind kind)
{
	struct ut_str text, category;

	if (ut_json_peek(&r->json) != '[')
		return false;
	ut_json_enter(&r->json);
	while (ut_json_element(&r->json)) {
		if (ut_json_peek(&r->json) != '[')
			return false;
		ut_json_enter(&r->json);
		if (!ut_json_element(&r->json) || !ut_json_string(&r->json, &text) ||
		    !ut_json_element(&r->json) || !ut_json_string(&r->json, &category) ||
		    ut_json_element(&r->json))
			return false;
		r->path.len = 0;
		text = decoded(&r->schema->arena, text);
		ut_buf_add(&r->path, text.ptr, text.len);
		if (!add_rule(r, kind, category))
			return false;
	}
	r->path.len = 0;
	return r->json.trouble == UT_JSON_NONE;
}

static bool read_flag(struct reading *r, bool *flag)
{
	struct ut_str value;

	if (!ut_json_skip(&r->json, &value))
		return false;
	*flag = ut_str_is(value, "true");
	return true;
}

static bool read_schema(struct reading *r)
{
	struct ut_str key;

	if (ut_json_peek(&r->json) != '{')
		return false;
	ut_json_enter(&r->json);
	while (ut_json_member(&r->json, &key)) {
		bool ok;

		r->ends = ut_str_is(key, "reverse");
		if (r->ends || ut_str_is(key, "direct"))
			ok = read_tree(r, 0, false);
		else if (ut_str_is(key, "ignore_spaces"))
			ok = read_flag(r, &r->schema->ignore_spaces);
		else if (ut_str_is(key, "contains"))
			ok = read_inside(r, UT_RULE_CONTAINS);
		else if (ut_str_is(key, "matches"))
			ok = read_inside(r, UT_RULE_MATCHES);
		else
			ok = ut_json_skip(&r->json, NULL);
		if (!ok)
			return false;
	}
	return r->json.trouble == UT_JSON_NONE;
}

int ut_schema_read_json(struct ut_schema *s, const char *name, struct ut_str text,
			struct ut_err *err)
{
	struct ut_err why = { 0 };
	struct reading r = { .schema = s, .err = &why };
	bool ok;
	int rc = 0;

	ut_json_init_text(&r.json, text.ptr, text.len);
	ut_json_mark(&r.json);
	do
		ok = ut_json_hold(&r.json, &(struct ut_str){ 0 });
	while (!ok && ut_json_again(&r.json));
	ok = ok && read_schema(&r);
	if (!ok && why.code)
		rc = ut_err_set(err, -EINVAL, "%s: %s", name, why.text);
	else if (!ok && r.json.trouble != UT_JSON_NONE)
		rc = ut_json_error(&r.json, name, err);
	else if (!ok || !s->count)
		rc = ut_err_set(err, -EINVAL,
				"%s: no schema: make one of an INI file with "
				"'unitrace categorize'",
				name);
	ut_json_release(&r.json);
	ut_buf_release(&r.path);
	return rc;
}
