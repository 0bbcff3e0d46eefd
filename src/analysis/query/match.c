#include "query/match.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *const ut_op_names[UT_OP_COUNT] = {
	[UT_OP_EQ] = "=",  [UT_OP_GT] = ">",  [UT_OP_GE] = ">=",     [UT_OP_LT] = "<",
	[UT_OP_LE] = "<=", [UT_OP_IN] = "IN", [UT_OP_GLOB] = "GLOB", [UT_OP_LIKE] = "LIKE",
};

int ut_datum_compare(const struct ut_datum *a, const struct ut_datum *b)
{
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type == UT_DATUM_TEXT)
		return ut_str_cmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

static int compare_cells(const void *a, const void *b)
{
	return ut_datum_compare(a, b);
}

/* ---- conditions on whole numbers ----------------------------------------------------------- */

#define TWO_63 9223372036854775808.0

static void no_number(struct ut_match *m)
{
	m->low = 1;
	m->high = 0;
}

static void all_numbers(struct ut_match *m)
{
	m->low = INT64_MIN;
	m->high = INT64_MAX;
}

static void bound_by_int(struct ut_match *m, int64_t v)
{
	all_numbers(m);
	if (m->op == UT_OP_EQ || m->op == UT_OP_GE)
		m->low = v;
	if (m->op == UT_OP_EQ || m->op == UT_OP_LE)
		m->high = v;
	if ((m->op == UT_OP_GT && v == INT64_MAX) || (m->op == UT_OP_LT && v == INT64_MIN))
		no_number(m);
	else if (m->op == UT_OP_GT)
		m->low = v + 1;
	else if (m->op == UT_OP_LT)
		m->high = v - 1;
}

/* x > 2.5 is x >= 3; a number outside of int64_t is larger or smaller than all of them. */
static void bound_by_real(struct ut_match *m, double v)
{
	bool upwards = m->op == UT_OP_GT || m->op == UT_OP_GE;
	bool downwards = m->op == UT_OP_LT || m->op == UT_OP_LE;

	all_numbers(m);
	if (v >= TWO_63 || v < -TWO_63) {
		if (m->op == UT_OP_EQ || (upwards && v > 0) || (downwards && v < 0))
			no_number(m);
	} else if (v == floor(v)) {
		bound_by_int(m, (int64_t)v);
	} else if (upwards) {
		m->low = (int64_t)ceil(v);
	} else if (downwards) {
		m->high = (int64_t)floor(v);
	} else {
		no_number(m);
	}
}

static void init_range(struct ut_match *m, sqlite3_value *value)
{
	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		bound_by_int(m, sqlite3_value_int64(value));
		break;
	case SQLITE_FLOAT:
		bound_by_real(m, sqlite3_value_double(value));
		break;
	case SQLITE_NULL:
		no_number(m);
		break;
	default: /* text and blobs are larger than any number */
		if (m->op == UT_OP_LT || m->op == UT_OP_LE)
			all_numbers(m);
		else
			no_number(m);
		break;
	}
}

/* ---- conditions on values ------------------------------------------------------------------ */

static void add_cell(struct ut_match *m, struct ut_datum cell)
{
	m->set = ut_grow(m->set, m->count + 1, &m->cap, sizeof(*m->set));
	m->set[m->count++] = cell;
}

static void match_add_text(struct ut_match *m, sqlite3_value *value)
{
	const unsigned char *s = sqlite3_value_text(value);
	size_t len = (size_t)sqlite3_value_bytes(value);
	char *copy = ut_make(len + 1);

	if (s)
		memcpy(copy, s, len);
	add_cell(m, (struct ut_datum){ .type = UT_DATUM_TEXT, .text = { copy, len } });
}

static void match_add_value(struct ut_match *m, bool text, sqlite3_value *value)
{
	int type = text ? sqlite3_value_type(value) : sqlite3_value_numeric_type(value);
	double real;

	if (type == SQLITE_NULL || type == SQLITE_BLOB)
		return;
	if (text || type == SQLITE_TEXT) {
		match_add_text(m, value);
	} else if (type == SQLITE_INTEGER) {
		add_cell(m, ut_datum_int(sqlite3_value_int64(value)));
	} else {
		real = sqlite3_value_double(value);
		if (real >= -TWO_63 && real < TWO_63 && real == floor(real))
			add_cell(m, ut_datum_int((int64_t)real));
	}
}

static void match_add_list(struct ut_match *m, bool text, sqlite3_value *list)
{
	sqlite3_value *value;

	for (int rc = sqlite3_vtab_in_first(list, &value); rc == SQLITE_OK && value;
	     rc = sqlite3_vtab_in_next(list, &value))
		match_add_value(m, text, value);
	if (m->count)
		qsort(m->set, m->count, sizeof(*m->set), compare_cells);
}

static void init_pattern(struct ut_match *m, sqlite3_value *value)
{
	const unsigned char *s = sqlite3_value_text(value);
	size_t len = (size_t)sqlite3_value_bytes(value);

	if (!s)
		return; /* NULL is like nothing */
	m->pattern = ut_make(len + 1);
	memcpy(m->pattern, s, len);
}

void ut_match_init(struct ut_match *m, enum ut_op op, bool text, struct sqlite3_value *value)
{
	*m = (struct ut_match){ .op = op };
	if (op == UT_OP_GLOB || op == UT_OP_LIKE)
		init_pattern(m, value);
	else if (op == UT_OP_IN)
		match_add_list(m, text, value);
	else if (op == UT_OP_EQ)
		match_add_value(m, text, value);
	else
		init_range(m, value);
}

void ut_match_release(struct ut_match *m)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->set[i].type == UT_DATUM_TEXT)
			free((void *)(uintptr_t)m->set[i].text.ptr);
	}
	free(m->set);
	free(m->pattern);
	*m = (struct ut_match){ 0 };
}

static bool in_set(const struct ut_match *m, const struct ut_datum *cell)
{
	if (m->count == 1)
		return !ut_datum_compare(&m->set[0], cell);
	return m->count && bsearch(cell, m->set, m->count, sizeof(*m->set), compare_cells);
}

bool ut_match_datum(const struct ut_match *m, const struct ut_datum *cell)
{
	if (cell->type == UT_DATUM_NULL)
		return false;
	switch (m->op) {
	case UT_OP_EQ:
	case UT_OP_IN:
		return in_set(m, cell);
	case UT_OP_GLOB:
		return m->pattern && cell->type == UT_DATUM_TEXT &&
		       !sqlite3_strglob(m->pattern, cell->text.ptr);
	case UT_OP_LIKE:
		return m->pattern && cell->type == UT_DATUM_TEXT &&
		       !sqlite3_strlike(m->pattern, cell->text.ptr, 0);
	case UT_OP_GT:
	case UT_OP_GE:
	case UT_OP_LT:
	case UT_OP_LE:
	case UT_OP_COUNT:
		break;
	}
	return cell->type == UT_DATUM_INT && cell->number >= m->low && cell->number <= m->high;
}

void ut_match_range(const struct ut_match *m, int64_t *low, int64_t *high)
{
	*low = m->low;
	*high = m->high;
	if (m->op != UT_OP_EQ)
		return;
	*low = 1;
	*high = 0;
	if (m->count && m->set[0].type == UT_DATUM_INT)
		*low = *high = m->set[0].number;
}
