/*
 * perfetto_parts.h - between the files that make up perfetto.h. Nobody else includes it, except
 * complain.c, which suggests names.
 */
#ifndef UT_QUERY_PERFETTO_PARTS_H
#define UT_QUERY_PERFETTO_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "query/perfetto.h"

/* Names between brackets, "(a INT, b STRING)", without their types. */
struct ut_pf_names {
	const char **items;
	size_t count, cap;
};

struct ut_pf_macro {
	const char *name;
	struct ut_pf_names parameters;
	const char *body;
	struct ut_pf_macro *next;
};

struct ut_pf_function;

struct ut_perfetto {
	const struct ut_guard *guard;
	sqlite3 *db;
	struct ut_arena arena;
	struct ut_pf_macro *macros;
	struct ut_pf_function *functions;
	unsigned int depth; /* of functions that are calling each other */
};

/* A definition as it was read. */
struct ut_pf_definition {
	const char *name;
	bool replace;
	struct ut_pf_names parameters;
	struct ut_pf_names columns; /* of what it returns; none = one value */
	bool is_table;
	const char *body;
};

/* Our own macros, closed by a name of NULL. parameters: "a,b". */
struct ut_pf_library_macro {
	const char *name, *parameters, *body;
};

extern const struct ut_pf_library_macro ut_pf_library[];

/* Tables in the shape that Perfetto gives them, under names of ours; closed by a name of NULL. */
struct ut_pf_view {
	const char *name;
	const char *select;
};

#define UT_PF_SHAPE "perfetto_" /* what the names in ut_pf_shapes get in front */

extern const struct ut_pf_view ut_pf_shapes[]; /* of tables that we have ourselves */
extern const struct ut_pf_view ut_pf_views[];  /* of tables that only Perfetto has */

/* Tables of data that is never in our traces: name and columns. */
extern const struct ut_pf_view ut_pf_empty[];

/* "a, b": what is missing, and what comes nearest; NULL: not known at all. */
const char *ut_pf_missing(const char *name);

/* 0, or -EINVAL with a reason that starts without a place. */
int ut_pf_include(const char *module, struct ut_err *err);

int ut_pf_macro_define(struct ut_perfetto *p, const struct ut_pf_definition *d, struct ut_err *err);
/* Adds text to out with its macros replaced. */
int ut_pf_macro_expand(const struct ut_perfetto *p, const char *text, struct ut_buf *out,
		       struct ut_err *err);
/* Does a macro get called in this text, up to end? */
bool ut_pf_macro_used(const char *text, const char *end);

int ut_pf_function_define(struct ut_perfetto *p, const struct ut_pf_definition *d,
			  struct ut_err *err);
void ut_pf_function_drop(struct ut_perfetto *p, const char *name);
/* Another body for a function that was just defined. */
void ut_pf_function_change(struct ut_perfetto *p, const char *name, const char *body);
/* Lets go of the statements of all functions. */
void ut_pf_function_end(struct ut_perfetto *p);

/* Adds the statement to out with tables in Perfetto's shape; false if it has none. */
bool ut_pf_narrow(const char *sql, const char *end, struct ut_buf *out);

#endif
