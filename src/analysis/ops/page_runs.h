/*
 * page_runs.h - a list of JSON in which what is said many times in a row is said once.
 *
 * Columns of a report say the same of nearly every row: the process, the type, how far the next
 * call is. A run of UT_PAGE_RUNS_LEAST equal items or more is one item, [COUNT, VALUE]; no value is
 * a list itself. Texts are not copied before the next item is put, so they outlive that. {0} is an
 * empty list. One owner, one thread.
 */
#ifndef UT_OPS_PAGE_RUNS_H
#define UT_OPS_PAGE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define UT_PAGE_RUNS_LEAST 4u

enum ut_page_runs_kind {
	UT_PAGE_RUNS_NUMBER,
	UT_PAGE_RUNS_NULL,   /* whatever the text is that says so */
	UT_PAGE_RUNS_DIGITS, /* a text that is a number of JSON */
	UT_PAGE_RUNS_STRING,
};

struct ut_page_runs {
	struct ut_buf text; /* the items before the last one */
	uint64_t same;      /* how often the last one is said; 0 = there is none */
	enum ut_page_runs_kind kind;
	int64_t number; /* the last one */
	struct ut_str said;
};

/* Writes the last item down; it is done for whoever puts another one. */
void ut_page_runs_close(struct ut_page_runs *r);

static inline void ut_page_runs_number(struct ut_page_runs *r, int64_t number)
{
	if (!r->same || r->number != number || r->kind != UT_PAGE_RUNS_NUMBER) {
		ut_page_runs_close(r);
		r->kind = UT_PAGE_RUNS_NUMBER;
		r->number = number;
	}
	r->same++;
}

static inline void ut_page_runs_text(struct ut_page_runs *r, enum ut_page_runs_kind kind,
				     struct ut_str text)
{
	if (!r->same || r->kind != kind || !ut_str_eq(r->said, text)) {
		ut_page_runs_close(r);
		r->kind = kind;
		r->said = text;
	}
	r->same++;
}

/* Puts the last item again if this is its text, of whichever kind that was. */
static inline bool ut_page_runs_again(struct ut_page_runs *r, struct ut_str text)
{
	if (!r->same || r->kind == UT_PAGE_RUNS_NUMBER || !ut_str_eq(r->said, text))
		return false;
	r->same++;
	return true;
}

/* Forgets the item that was just put. */
static inline void ut_page_runs_take_back(struct ut_page_runs *r)
{
	r->same--;
}

#endif
