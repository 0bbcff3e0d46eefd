/*
 * json_doc.h - a small JSON text as values in memory: what a client asks, settings, descriptions.
 *
 * The text may come from anybody: depth, count and size are bounded, and what is no JSON is refused
 * rather than repaired. Values live in the arena. Whatever is asked of a value that is not what the
 * caller hopes for has an answer: no member, an empty list, the fallback.
 */
#ifndef UT_TEXT_JSON_DOC_H
#define UT_TEXT_JSON_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;

#define UT_DOC_DEPTH 32u
#define UT_DOC_NODES (1u << 18)

enum ut_doc_kind {
	UT_DOC_NULL,
	UT_DOC_FLAG,
	UT_DOC_NUMBER,
	UT_DOC_TEXT,
	UT_DOC_LIST,
	UT_DOC_OBJECT,
};

struct ut_doc {
	enum ut_doc_kind kind;
	bool flag;
	double number;
	struct ut_str key;           /* in an object; ends with a NUL */
	struct ut_str text;          /* ends with a NUL, and may have others in it: trust len */
	struct ut_doc *first, *next; /* of lists and objects, in their order */
	size_t count;
};

/* One value and nothing behind it. -EINVAL: no JSON; -E2BIG: more than we take. */
int ut_doc_read(struct ut_arena *a, struct ut_str text, const struct ut_doc **root,
		struct ut_err *err) UT_MUST_CHECK;

/* The last member of that name, as everywhere; NULL: there is none, or t is no object or NULL. */
const struct ut_doc *ut_doc_get(const struct ut_doc *t, const char *key);

/* Texts of members; NULL where there is none, or one with a NUL in it. */
const char *ut_doc_text(const struct ut_doc *t, const char *key);
bool ut_doc_flag(const struct ut_doc *t, const char *key, bool fallback);
double ut_doc_number(const struct ut_doc *t, const char *key, double fallback);

/* A whole number from 0 to most; otherwise the fallback. */
uint64_t ut_doc_count(const struct ut_doc *t, const char *key, uint64_t most, uint64_t fallback);

/* The text of this very value, under the same conditions. */
const char *ut_doc_own_text(const struct ut_doc *t);

#endif
