/*
 * schema.h - which category a name belongs to: rules, as people write them (INI) and as the
 * original's tools hand them on (JSON).
 *
 * Of the rules that name how a name begins (or all of it), the longest that fits wins; then those
 * about its end, likewise; then, in their order, those that look inside. One owner; after it has
 * been read, any number of threads may ask.
 */
#ifndef UT_CATEGORY_SCHEMA_H
#define UT_CATEGORY_SCHEMA_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ut_buf;
struct ut_logger;

/* rule, how a section of an INI file says it */
#define UT_RULE_LIST(X)                                                                            \
	X(EQUALS, "equals to")                                                                     \
	X(STARTS, "starts with")                                                                   \
	X(ENDS, "ends with")                                                                       \
	X(CONTAINS, "contains")                                                                    \
	X(MATCHES, "matches")

enum ut_rule_kind {
#define UT_RULE_ENUM(kind, text) UT_RULE_##kind,
	UT_RULE_LIST(UT_RULE_ENUM)
#undef UT_RULE_ENUM
	UT_RULES
};

struct ut_rule {
	enum ut_rule_kind kind;
	struct ut_str text, category;
	regex_t *regex; /* of UT_RULE_MATCHES */
};

/* {0} is empty. */
struct ut_schema {
	struct ut_arena arena; /* texts and regular expressions */
	struct ut_rule *rules;
	size_t count, cap;
	bool ignore_spaces; /* blanks and tabs count neither in names nor in rules */
};

void ut_schema_release(struct ut_schema *s);

/*
 * Reads an INI file's text. name is for messages, which say the line. What is only odd is told.
 * Patterns of "matches" keep their spaces.
 */
int ut_schema_read_ini(struct ut_schema *s, const char *name, struct ut_str text,
		       const struct ut_logger *logger, struct ut_err *err) UT_MUST_CHECK;

/* Reads what ut_schema_write_json() and the original's categorize.py write. */
int ut_schema_read_json(struct ut_schema *s, const char *name, struct ut_str text,
			struct ut_err *err) UT_MUST_CHECK;

/*
 * The schema as JSON, on one line; with pretty, one key a line. Rules that the original does not
 * know follow in members of their own. -E2BIG: more rules begin one another than a tree may be
 * deep.
 */
int ut_schema_write_json(const struct ut_schema *s, bool pretty, struct ut_buf *out,
			 struct ut_err *err) UT_MUST_CHECK;

/* The category of a name; ptr is NULL if no rule fits. */
struct ut_str ut_schema_category(const struct ut_schema *s, struct ut_str name);

/* One more rule; texts are copied. -EINVAL: the text is no regular expression. */
int ut_schema_add(struct ut_schema *s, const struct ut_rule *rule,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
