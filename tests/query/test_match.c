/* test_match.c - tests src/analysis/query/match.h: conditions as SQL understands them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "query/match.h"
#include "support/unit.h"

static sqlite3 *db;
static sqlite3_stmt *statement;

static int open_db(void **state)
{
	(void)state;
	return sqlite3_open(":memory:", &db);
}

static int close_db(void **state)
{
	(void)state;
	sqlite3_finalize(statement);
	return sqlite3_close(db);
}

/* What SQLite hands over for an expression. */
static sqlite3_value *value(const char *sql)
{
	char text[128] = "select ";

	sqlite3_finalize(statement);
	strncat(text, sql, sizeof(text) - 16);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	/* protected, as the value of a virtual table's argument is */
	return sqlite3_value_dup(sqlite3_column_value(statement, 0));
}

static void range(enum ut_op op, const char *sql, int64_t low, int64_t high)
{
	sqlite3_value *v = value(sql);
	struct ut_match m;
	int64_t from, to;

	ut_match_init(&m, op, false, v);
	ut_match_range(&m, &from, &to);
	if (low > high) {
		assert_true(from > to);
	} else {
		assert_true(from == low);
		assert_true(to == high);
	}
	ut_match_release(&m);
	sqlite3_value_free(v);
}

static bool fits(enum ut_op op, bool text, const char *sql, struct ut_datum datum)
{
	sqlite3_value *v = value(sql);
	struct ut_match m;
	bool found;

	ut_match_init(&m, op, text, v);
	found = ut_match_datum(&m, &datum);
	ut_match_release(&m);
	sqlite3_value_free(v);
	return found;
}

static struct ut_datum text(const char *s)
{
	return ut_datum_text((struct ut_str){ s, strlen(s) });
}

static void whole_numbers_bound_as_they_are(void **state)
{
	(void)state;
	range(UT_OP_EQ, "5", 5, 5);
	range(UT_OP_GT, "5", 6, INT64_MAX);
	range(UT_OP_GE, "5", 5, INT64_MAX);
	range(UT_OP_LT, "5", INT64_MIN, 4);
	range(UT_OP_LE, "5", INT64_MIN, 5);
	range(UT_OP_GT, "9223372036854775807", 1, 0);
	range(UT_OP_LT, "-9223372036854775807 - 1", 1, 0);
}

static void fractions_are_rounded_to_the_right_side(void **state)
{
	(void)state;
	range(UT_OP_EQ, "2.5", 1, 0);
	range(UT_OP_GT, "2.5", 3, INT64_MAX);
	range(UT_OP_GE, "2.5", 3, INT64_MAX);
	range(UT_OP_LT, "2.5", INT64_MIN, 2);
	range(UT_OP_LE, "-2.5", INT64_MIN, -3);
	range(UT_OP_EQ, "2.0", 2, 2);
	range(UT_OP_GT, "2.0", 3, INT64_MAX);
}

static void numbers_beyond_all_are_larger_than_all(void **state)
{
	(void)state;
	range(UT_OP_LT, "1e300", INT64_MIN, INT64_MAX);
	range(UT_OP_GT, "1e300", 1, 0);
	range(UT_OP_GT, "-1e300", INT64_MIN, INT64_MAX);
	range(UT_OP_LE, "-1e300", 1, 0);
	range(UT_OP_EQ, "1e300", 1, 0);
	range(UT_OP_LE, "9223372036854775808.0", INT64_MIN, INT64_MAX);
}

static void text_is_a_number_if_it_looks_like_one(void **state)
{
	(void)state;
	range(UT_OP_EQ, "'5'", 5, 5);
	range(UT_OP_GT, "' 5 '", 6, INT64_MAX);
	range(UT_OP_GT, "'abc'", 1, 0);
	range(UT_OP_LT, "'abc'", INT64_MIN, INT64_MAX);
	range(UT_OP_LT, "x'35'", INT64_MIN, INT64_MAX);
	range(UT_OP_EQ, "null", 1, 0);
	range(UT_OP_LT, "null", 1, 0);
}

static void numbers_are_text_to_a_text_column(void **state)
{
	(void)state;
	assert_true(fits(UT_OP_EQ, true, "10", text("10")));
	assert_false(fits(UT_OP_EQ, true, "10", text("010")));
	assert_true(fits(UT_OP_EQ, true, "1.0", text("1.0")));
	assert_false(fits(UT_OP_EQ, true, "x'3130'", text("10")));
	assert_false(fits(UT_OP_EQ, true, "null", text("")));
	assert_false(fits(UT_OP_EQ, true, "''", text("")));
	assert_true(fits(UT_OP_EQ, false, "'gpu 0'", text("gpu 0")));
	assert_false(fits(UT_OP_EQ, false, "'7'", text("7")));
	assert_true(fits(UT_OP_EQ, false, "'7'", ut_datum_int(7)));
}

static void patterns_are_those_of_sql(void **state)
{
	(void)state;
	assert_true(fits(UT_OP_GLOB, true, "'a*[0-9]'", text("abc7")));
	assert_false(fits(UT_OP_GLOB, true, "'A*'", text("abc7")));
	assert_true(fits(UT_OP_LIKE, true, "'A_c%'", text("abc7")));
	assert_false(fits(UT_OP_LIKE, true, "null", text("a")));
	assert_false(fits(UT_OP_LIKE, true, "'%'", (struct ut_datum){ 0 }));
}

static void order_is_null_numbers_text(void **state)
{
	const struct ut_datum order[] = { { 0 },     ut_datum_int(-5), ut_datum_int(7),
					  text("7"), text("a"),        text("ab") };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		for (size_t k = 0; k < 6; k++) {
			int got = ut_datum_compare(&order[i], &order[k]);

			assert_int_equal((got > 0) - (got < 0), (i > k) - (i < k));
		}
	}
}

UT_TESTS(match)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_bound_as_they_are),
		cmocka_unit_test(fractions_are_rounded_to_the_right_side),
		cmocka_unit_test(numbers_beyond_all_are_larger_than_all),
		cmocka_unit_test(text_is_a_number_if_it_looks_like_one),
		cmocka_unit_test(numbers_are_text_to_a_text_column),
		cmocka_unit_test(patterns_are_those_of_sql),
		cmocka_unit_test(order_is_null_numbers_text),
	};

	return cmocka_run_group_tests_name("query/match", tests, open_db, close_db);
}
