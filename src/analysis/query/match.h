/*
 * match.h - one condition of a WHERE clause, checked here instead of in SQLite.
 *
 * A condition compares a column with values that are known before the first row is looked at.
 * The rules are SQL's: numbers and text never equal each other, a number in a text column is
 * compared as text, NULL matches nothing. Owner: whoever releases it; it keeps copies of the
 * values. One thread.
 */
#ifndef UT_QUERY_MATCH_H
#define UT_QUERY_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/strtab.h"

struct sqlite3_value;

enum ut_datum_type {
	UT_DATUM_NULL,
	UT_DATUM_INT,
	UT_DATUM_TEXT,
};

/* What a column holds in some row. Text belongs to the trace. */
struct ut_datum {
	enum ut_datum_type type;
	int64_t number;
	struct ut_str text;
};

static inline struct ut_datum ut_datum_int(int64_t number)
{
	return (struct ut_datum){ .type = UT_DATUM_INT, .number = number };
}

/* No bytes are no text: NULL. */
static inline struct ut_datum ut_datum_text(struct ut_str text)
{
	return (struct ut_datum){ .type = text.len ? UT_DATUM_TEXT : UT_DATUM_NULL, .text = text };
}

/* Times and lengths are unsigned here and signed in SQL: what is too large becomes the largest. */
static inline int64_t ut_datum_clamp(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* NULL, then numbers, then text by bytes: the order of SQL. Negative, 0 or positive. */
int ut_datum_compare(const struct ut_datum *a, const struct ut_datum *b);

enum ut_op {
	UT_OP_EQ,
	UT_OP_GT,
	UT_OP_GE,
	UT_OP_LT,
	UT_OP_LE,
	UT_OP_IN,
	UT_OP_GLOB,
	UT_OP_LIKE,
	UT_OP_COUNT,
};

/* As SQL writes it: "=", ">=", "IN", ... */
extern const char *const ut_op_names[UT_OP_COUNT];

struct ut_match {
	enum ut_op op; /* EQ and IN: one of set; GLOB and LIKE: pattern; else low to high */
	int64_t low, high;
	struct ut_datum *set;
	size_t count, cap;
	char *pattern;
};

/*
 * The condition "column op value". text: the column is declared TEXT, otherwise INTEGER. With
 * UT_OP_IN, value is what SQLite hands over for a whole IN list.
 */
void ut_match_init(struct ut_match *m, enum ut_op op, bool text, struct sqlite3_value *value);
void ut_match_release(struct ut_match *m);

bool ut_match_datum(const struct ut_match *m, const struct ut_datum *cell);

/*
 * The whole numbers that fulfil a condition with EQ, GT, GE, LT or LE; low > high if none does.
 */
void ut_match_range(const struct ut_match *m, int64_t *low, int64_t *high);

#endif
