/*
 * body_schema.h - checks bodies of requests against the description of the interface.
 *
 * share/site/openapi.json is the only source: it is part of the program, is sent to clients, and
 * its request schemas are what this checks before a route sees the body. Of JSON Schema it knows
 * what those use; e2e/serve_bodies fails on any other keyword, and tries every field with every
 * wrong type. A member that is null counts as not sent. Unknown members are left alone.
 */
#ifndef UT_SITE_BODY_SCHEMA_H
#define UT_SITE_BODY_SCHEMA_H

#include "base/err.h"
#include "base/str.h"
#include "serve/serve.h"

struct ut_arena;
struct ut_doc;

/* The text of the description, which outlives everybody. */
struct ut_str ut_description_text(void);

/* As values, which live in the arena. */
int ut_description_read(struct ut_arena *a, const struct ut_doc **api,
			struct ut_err *err) UT_MUST_CHECK;

/* Is this body (NULL = none) what the description has for the route? -EINVAL: err names the field,
 * what is expected and what is there. */
int ut_body_check(const struct ut_doc *api, enum ut_method method, const char *path,
		  const struct ut_doc *body, struct ut_err *err) UT_MUST_CHECK;

#endif
