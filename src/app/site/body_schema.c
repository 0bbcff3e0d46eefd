#include "site/body_schema.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/embed.h"
#include "text/json_doc.h"

#define PATH_MOST  160u
#define DEPTH_MOST 16 /* of schemas in schemas: a reference that leads to itself ends there */

UT_EMBED_BYTES(ut_site_openapi, UT_SHARE_DIR "/site/openapi.json");

struct ut_str ut_description_text(void)
{
	/* cppcheck-suppress comparePointers */
	return (struct ut_str){ ut_site_openapi, (size_t)(ut_site_openapi_end - ut_site_openapi) };
}

int ut_description_read(struct ut_arena *a, const struct ut_doc **api, struct ut_err *err)
{
	return ut_doc_read(a, ut_description_text(), api, err);
}

/* ---- what is said about a value ------------------------------------------------------------- */

/* Where we are: "arguments[0]"; "" is the body itself. */
struct place {
	const struct ut_doc *api;
	struct ut_err *err;
	char path[PATH_MOST];
	int depth;
};

static const char *kind_name(enum ut_doc_kind kind)
{
	switch (kind) {
	case UT_DOC_FLAG:
		return "true or false";
	case UT_DOC_NUMBER:
		return "a number";
	case UT_DOC_TEXT:
		return "a string";
	case UT_DOC_LIST:
		return "a list";
	case UT_DOC_OBJECT:
		return "an object";
	case UT_DOC_NULL:
		break;
	}
	return "null";
}

static const char *type_name(const char *type)
{
	static const char *const names[][2] = {
		{ "string", "a string" },        { "number", "a number" },
		{ "integer", "a whole number" }, { "boolean", "true or false" },
		{ "array", "a list" },           { "object", "an object" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(type, names[i][0]))
			return names[i][1];
	}
	return "null";
}

static bool is_type(const struct ut_doc *v, const char *type)
{
	if (!strcmp(type, "integer"))
		return v->kind == UT_DOC_NUMBER && v->number == floor(v->number);
	return !strcmp(kind_name(v->kind), type_name(type));
}

static int body_schema_refuse(const struct place *at, const char *expected, const char *got)
{
	if (!at->path[0])
		return ut_err_set(at->err, -EINVAL, "the body: expected %s, got %s", expected, got);
	return ut_err_set(at->err, -EINVAL, "\"%s\": expected %s, got %s", at->path, expected, got);
}

/* The types of a schema, one text or a list of them, as a sentence has them. */
static void name_types(const struct ut_doc *type, char *to, size_t room)
{
	size_t len = 0;

	snprintf(to, room, "%s", type->kind == UT_DOC_TEXT ? type_name(type->text.ptr) : "");
	for (const struct ut_doc *t = type->first; t && len < room; t = t->next)
		len += (size_t)snprintf(to + len, room - len, "%s%s", len ? " or " : "",
					type_name(t->text.ptr));
}

/* ---- checks --------------------------------------------------------------------------------- */

static int check_type(const struct place *at, const struct ut_doc *type, const struct ut_doc *v)
{
	char expected[128];
	bool fits;

	if (!type)
		return 0;
	fits = type->kind == UT_DOC_TEXT && is_type(v, type->text.ptr);
	for (const struct ut_doc *t = type->first; t && !fits; t = t->next)
		fits = is_type(v, t->text.ptr);
	if (fits)
		return 0;
	name_types(type, expected, sizeof(expected));
	return body_schema_refuse(at, expected,
				  v->kind == UT_DOC_NUMBER && strstr(expected, "whole")
					  ? "a fraction"
					  : kind_name(v->kind));
}

static int check_enum(const struct place *at, const struct ut_doc *list, const struct ut_doc *v)
{
	char expected[200] = "one of";
	size_t len = strlen(expected);

	if (!list || v->kind != UT_DOC_TEXT)
		return 0;
	for (const struct ut_doc *t = list->first; t; t = t->next) {
		if (t->text.len == v->text.len && !memcmp(t->text.ptr, v->text.ptr, t->text.len))
			return 0;
		if (len < sizeof(expected))
			len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s \"%s\"",
						t == list->first ? "" : ",", t->text.ptr);
	}
	return body_schema_refuse(at, expected, "another string");
}

/* A bound of the schema: so many of what, at most or at least. */
static int check_bound(const struct place *at, const struct ut_doc *schema, const char *keyword,
		       double value, const char *what)
{
	const struct ut_doc *bound = ut_doc_get(schema, keyword);
	bool is_least = keyword[1] == 'i'; /* min..., max... */
	char expected[64], got[64];

	if (!bound || (is_least ? value >= bound->number : value <= bound->number))
		return 0;
	snprintf(expected, sizeof(expected), "at %s %.0f%s", is_least ? "least" : "most",
		 bound->number, what);
	snprintf(got, sizeof(got), "%.15g", value);
	return body_schema_refuse(at, expected, got);
}

static int check_text(const struct place *at, const struct ut_doc *schema, const struct ut_doc *v)
{
	size_t letters = 0;
	int rc;

	if (strlen(v->text.ptr) != v->text.len)
		return body_schema_refuse(at, "a string", "one with a NUL in it");
	for (size_t i = 0; i < v->text.len; i++)
		letters += ((unsigned char)v->text.ptr[i] & 0xc0) != 0x80;
	rc = check_bound(at, schema, "minLength", (double)letters, " characters");
	return rc ? rc : check_bound(at, schema, "maxLength", (double)letters, " characters");
}

static int body_schema_check(struct place *at, const struct ut_doc *schema, const struct ut_doc *v);

/* A value in this one: the path is longer while it is checked. */
static int check_inside(struct place *at, const char *name, const struct ut_doc *schema,
			const struct ut_doc *v)
{
	size_t len = strlen(at->path);
	int rc;

	snprintf(at->path + len, sizeof(at->path) - len, "%s%s", len && name[0] != '[' ? "." : "",
		 name);
	rc = body_schema_check(at, schema, v);
	at->path[len] = '\0';
	return rc;
}

static int check_list(struct place *at, const struct ut_doc *schema, const struct ut_doc *v)
{
	int rc = check_bound(at, schema, "maxItems", (double)v->count, " values");
	const struct ut_doc *items = ut_doc_get(schema, "items");
	char name[32];
	size_t i = 0;

	for (const struct ut_doc *t = v->first; t && items && !rc; t = t->next) {
		snprintf(name, sizeof(name), "[%zu]", i++);
		rc = check_inside(at, name, items, t);
	}
	return rc;
}

/* Each member, also those of one name: whoever reads the body takes the last of them. */
static int check_object(struct place *at, const struct ut_doc *schema, const struct ut_doc *v)
{
	const struct ut_doc *properties = ut_doc_get(schema, "properties");
	const struct ut_doc *required = ut_doc_get(schema, "required");
	int rc = check_bound(at, schema, "maxProperties", (double)v->count, " values");

	for (const struct ut_doc *m = v->first; m && !rc; m = m->next) {
		const struct ut_doc *s = ut_doc_get(properties, m->key.ptr);

		if (!s)
			s = ut_doc_get(schema, "additionalProperties");
		if (s && m->kind != UT_DOC_NULL)
			rc = check_inside(at, m->key.ptr, s, m);
	}
	for (const struct ut_doc *t = required ? required->first : NULL; t && !rc; t = t->next) {
		const struct ut_doc *m = ut_doc_get(v, t->text.ptr);

		if (!m || m->kind == UT_DOC_NULL)
			rc = ut_err_set(at->err, -EINVAL, "\"%s%s%s\" is missing", at->path,
					at->path[0] ? "." : "", t->text.ptr);
	}
	return rc;
}

static const struct ut_doc *body_schema_follow(const struct place *at, const struct ut_doc *schema)
{
	static const char prefix[] = "#/components/schemas/";
	const char *name = ut_doc_text(schema, "$ref");

	if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return schema;
	return ut_doc_get(ut_doc_get(ut_doc_get(at->api, "components"), "schemas"),
			  name + sizeof(prefix) - 1);
}

static int body_schema_check(struct place *at, const struct ut_doc *schema, const struct ut_doc *v)
{
	const struct ut_doc *all;
	int rc;

	if (++at->depth > DEPTH_MOST)
		return body_schema_refuse(at, "less nesting", "more");
	schema = body_schema_follow(at, schema);
	rc = check_type(at, ut_doc_get(schema, "type"), v);
	if (!rc)
		rc = check_enum(at, ut_doc_get(schema, "enum"), v);
	if (!rc && v->kind == UT_DOC_TEXT)
		rc = check_text(at, schema, v);
	if (!rc && v->kind == UT_DOC_NUMBER)
		rc = check_bound(at, schema, "minimum", v->number, "");
	if (!rc && v->kind == UT_DOC_NUMBER)
		rc = check_bound(at, schema, "maximum", v->number, "");
	if (!rc && v->kind == UT_DOC_LIST)
		rc = check_list(at, schema, v);
	if (!rc && v->kind == UT_DOC_OBJECT)
		rc = check_object(at, schema, v);
	all = ut_doc_get(schema, "allOf");
	for (const struct ut_doc *t = all ? all->first : NULL; t && !rc; t = t->next)
		rc = body_schema_check(at, t, v);
	at->depth--;
	return rc;
}

int ut_body_check(const struct ut_doc *api, enum ut_method method, const char *path,
		  const struct ut_doc *body, struct ut_err *err)
{
	static const char *const methods[] = { "get", "post", "put", "patch", "delete" };
	const struct ut_doc *paths = ut_doc_get(api, "paths");
	const struct ut_doc *asked =
		ut_doc_get(ut_doc_get(ut_doc_get(paths, path), methods[method]), "requestBody");
	const struct ut_doc *content = ut_doc_get(ut_doc_get(asked, "content"), "application/json");
	struct place at = { .api = api, .err = err };

	if (!content)
		return 0;
	if (!body)
		return ut_doc_flag(asked, "required", false)
			       ? ut_err_set(err, -EINVAL, "the body is missing: expected JSON")
			       : 0;
	return body_schema_check(&at, ut_doc_get(content, "schema"), body);
}
