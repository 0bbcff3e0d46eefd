/*
 * search_query.h - the language of searching and filtering: words that all must match.
 *
 *   word  "exact name"  /regex/  -word  name: cat: track: rank: thread: dev: arg.KEY:
 *   dur:>40us  self:<1ms  dur:1ms..2ms  rank:2..5
 *
 * A query is compiled into tests of three kinds: on the type, on the place and on the event
 * itself, so that a search over millions of events looks at a number for each of most of them. The
 * same language as web/src/source/query.ts. Owner: whoever releases it; any thread may ask.
 */
#ifndef UT_VIEW_SEARCH_QUERY_H
#define UT_VIEW_SEARCH_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "view/view_parts.h"

struct ut_ask_scope;
struct ut_search_query_test;

struct ut_search_query {
	struct ut_arena arena;
	struct ut_search_query_test *tests;
	size_t count, cap;
	bool by_event, by_self, by_place;
	uint64_t shortest, longest;     /* ns: nothing shorter or longer is wanted */
	uint64_t self_least, self_most; /* the same of self times... */
	bool self_odd;   /* ... which say less than the words: ut_search_query_self() */
	bool by_more;    /* of an event more must be known than its type and length */
	uint8_t *types;  /* by number: is it wanted, and a slice or mark? */
	uint8_t *tracks; /* by number */
};

/* Words of query and of the scope's own. -EINVAL with a sentence. */
int ut_search_query_init(struct ut_search_query *w, const struct ut_view *v, struct ut_str query,
			 const struct ut_ask_scope *scope, struct ut_err *err) UT_MUST_CHECK;

/* The same, and of exactly this name. */
int ut_search_query_init_name(struct ut_search_query *w, const struct ut_view *v,
			      struct ut_str name, const struct ut_ask_scope *scope,
			      struct ut_err *err) UT_MUST_CHECK;

void ut_search_query_release(struct ut_search_query *w);

/* Is a row of a type that is wanted itself wanted? Needed only if by_event. */
bool ut_search_query_row(const struct ut_search_query *w, const struct ut_view_row *row);

/* The same for its self time; needed only if by_self. */
bool ut_search_query_self(const struct ut_search_query *w, uint64_t self);

#endif
