/*
 * ready.h - schemas that come with the program, by name: the files of share/schemas.
 */
#ifndef UT_CATEGORY_READY_H
#define UT_CATEGORY_READY_H

#include "base/err.h"
#include "base/str.h"

struct ut_schema;
struct ut_logger;

/* The INI text of the schema of this name; ptr is NULL if there is none. */
struct ut_str ut_schema_ready(const char *name);

/* What they are called, as a list for people and for shells: "a b c". */
const char *ut_schema_ready_names(void);

/* The schema in a file, INI or JSON by content, or one that comes with the program. */
int ut_schema_open(struct ut_schema *s, const char *word, const struct ut_logger *logger,
		   struct ut_err *err) UT_MUST_CHECK;

#endif
