/* test_guard.c - tests src/analysis/query/guard.h: what hostile statements cannot do. */
#include "query/guard.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/sample.h"
#include "support/unit.h"

#define ask(sql, expected) assert_string_equal(sample_ask(s, sql), expected)

static int make(void **state)
{
	struct sample *s = malloc(sizeof(*s));
	uint32_t track;

	sample_init(s);
	track = sample_track(s, sample_process(s, 1, "app", -1), UT_TRACK_THREAD, 1, "main");
	sample_event(s, track, UT_KIND_SPAN, "work", 1000, 100);
	sample_next(s, "only.json");
	*state = s;
	return 0;
}

static int drop(void **state)
{
	sample_release(*state);
	free(*state);
	return 0;
}

/* Names as "a\nb\n" become an array; they are freed with the text. */
static size_t lines(char *text, char **names, size_t most)
{
	size_t count = 0;

	for (char *name = strtok_r(text, "\n", &text); name && count < most;
	     name = strtok_r(NULL, "\n", &text))
		names[count++] = name;
	return count;
}

/* What the linked SQLite has is ours, in the list of what is allowed, or cannot be called. */
static void every_function_of_this_sqlite_is_known_or_refused(void **state)
{
	static const char *const dangerous[] = { "fts3_tokenizer", "load_extension", "sqlite_log",
						 "rtreenode",      "fts5",           "matchinfo" };
	struct ut_guard plain;
	struct sample *s = *state;
	char *names[1000],
		*text = strdup(sample_ask(s, "select distinct name from "
					     "pragma_function_list")),
		sql[256];
	size_t count = lines(text, names, 1000), refused = 0;

	assert_in_range(count, 100, 999);
	assert_int_equal(ut_guard_open(&plain), SQLITE_OK);
	for (size_t i = 0; i < count; i++) {
		if (ut_guard_may_call(&plain, names[i]))
			continue;
		refused++;
		for (const char *args = "1,1,1,1,1,1"; args; args = strchr(args, ',')) {
			args += *args == ',';
			snprintf(sql, sizeof(sql), "select \"%s\"(%s)", names[i], args);
			if (!strstr(sample_ask(s, sql), "wrong number of arguments"))
				assert_non_null(strstr(sample_ask(s, sql), "not for queries"));
		}
	}
	assert_true(refused > 0);
	for (size_t i = 0; i < sizeof(dangerous) / sizeof(*dangerous); i++) {
		sqlite3_stmt *stmt = NULL;

		snprintf(sql, sizeof(sql), "select 1 from pragma_function_list where name = '%s'",
			 dangerous[i]);
		assert_int_equal(sqlite3_prepare_v2(plain.db, sql, -1, &stmt, NULL), SQLITE_OK);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			assert_false(ut_guard_may_call(&plain, dangerous[i]));
		sqlite3_finalize(stmt);
	}
	ut_guard_close(&plain);
	free(text);
}

static void modules_of_sqlite_are_gone_but_for_json(void **state)
{
	struct ut_guard plain;
	sqlite3_stmt *stmt = NULL;
	struct sample *s = *state;

	assert_int_equal(ut_guard_open(&plain), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(plain.db, "select name from pragma_module_list", -1,
					    &stmt, NULL),
			 SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		if (strncmp(name, "pragma_", 7) && strncmp(name, "json_", 5))
			fail_msg("the module %s is not refused", name);
	}
	sqlite3_finalize(stmt);
	ut_guard_close(&plain);
	ask("select value from json_each('[7]')", "7\n");
	assert_non_null(strstr(sample_ask(s, "select * from dbstat"), "no such table: dbstat"));
	assert_non_null(strstr(sample_ask(s, "create virtual table temp.t using fts5(a)"),
			       "no such module: fts5"));
}

static void a_tokenizer_cannot_be_read_or_set(void **state)
{
	struct sample *s = *state;
	static const char *const statements[] = {
		"select fts3_tokenizer('simple')",
		"select fts3_tokenizer('evil', x'4141414141414141')",
		"select FTS3_Tokenizer('simple')",
		"create temp view v as select fts3_tokenizer('simple'); select * from v",
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		assert_non_null(strstr(sample_ask(s, statements[i]), "not for queries"));
	assert_non_null(
		strstr(sample_ask(s, "create virtual table temp.t using fts3tokenize('evil')"),
		       "no such module"));
}

/* Otherwise the name would be allowed, with other numbers of arguments, too. */
static void a_refused_name_cannot_be_taken_by_a_function(void **state)
{
	struct sample *s = *state;

	assert_non_null(strstr(sample_ask(s, "create perfetto function sqlite_log(a int, b int) "
					     "returns int as select 1"),
			       "already a function of SQLite"));
	ask("create perfetto function twice(a int) returns int as select $a * 2; select twice(4)",
	    "8\n");
}

static void temporary_data_is_bounded_and_in_memory(void **state)
{
	static const char *const statements[] = {
		"create temp table t as with recursive n(i) as (select 1 union all select i + 1 "
		"from n)"
		" select randomblob(1000) as b from n",
		"with recursive n(i) as (select 1 union all select i + 1 from n limit 300000)"
		" select count(*) from (select i, randomblob(1000) as b from n order by b)",
		"with recursive n(i, b) as (select 1, randomblob(1000) union select i + 1,"
		" randomblob(1000) from n) select count(*) from n",
	};
	struct sample *s = *state;

	ut_guard_set_temp_limit(32 << 20);
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		assert_non_null(strstr(sample_ask(s, statements[i]), "would exceed 32 MiB"));
		ask("select count(*) from slice", "1\n");
	}
	ut_guard_set_temp_limit(0);
	assert_in_range(ut_guard_temp_used(), 0, 1 << 20);
}

/* Tables that are not temporary lie in the database, which is in memory, too. */
static void other_tables_are_bounded_as_well(void **state)
{
	struct sample *s;

	ut_guard_set_temp_limit(32 << 20);
	make((void **)&s);
	*state = s;
	assert_non_null(strstr(sample_ask(s, "create table t as with recursive n(i) as (select 1 "
					     "union all select i + 1 from n) select "
					     "randomblob(1000) from n"),
			       "would exceed 32 MiB"));
	ask("select count(*) from slice", "1\n");
	ut_guard_set_temp_limit(0);
}

static void large_temporary_tables_hold_what_was_put_in(void **state)
{
	struct sample *s = *state;

	ask("create temp table big as with recursive n(i) as (select 1 union all select i + 1 from "
	    "n"
	    " limit 200000) select i, printf('%0100d', i) as text from n;"
	    "select count(*), sum(i), sum(text = printf('%0100d', i)) from big",
	    "200000|20000100000|200000\n");
	ask("delete from big where i % 3; select count(*), sum(i) from big", "66666|6666633333\n");
	ask("select i from big order by text desc limit 1", "199998\n");
	assert_in_range(ut_guard_temp_used(), 1 << 20, 64 << 20);
}

/* Each of these was one step of SQLite's machine, for minutes to days. */
static void one_call_of_a_function_is_bounded(void **state)
{
	static const char *const statements[] = {
		"select length(printf('%.*c', 2000000000, 'x'))",
		"select length(format('%2000000000d', 1))",
		"select length(printf('%s%-*d%s', 'a', -2000000000, 1, 'b'))",
		"select length(printf('%.99999999f%.99999999f', 1.5, 1.5))",
		"select instr(hex(zeroblob(9000000)), hex(zeroblob(4000000)) || '1')",
		"select length(replace(hex(zeroblob(9000000)), hex(zeroblob(4000000)) || '1', ''))",
		"select length(rtrim(hex(zeroblob(9000000)), hex(randomblob(4000000)) || 'x'))",
		"select hex(zeroblob(9000000)) like '%' || hex(zeroblob(4000000)) || '1'",
		"select hex(zeroblob(9000000)) glob '*' || hex(zeroblob(4000000)) || '1'",
		"select length(hex(zeroblob(60000000)))",
		/* a short pattern and a long text are as much work as the other way round */
		"select hex(zeroblob(30000000)) like '%' || hex(zeroblob(480)) || '1'",
		"select hex(zeroblob(30000000)) like '%' || hex(zeroblob(480)) || '1' escape 'x'",
		"select hex(zeroblob(30000000)) glob '*' || hex(zeroblob(480)) || '1'",
		"select hex(zeroblob(30000000)) regexp '(0|00)*(0|000)*x'",
		"select regexp_extract(hex(zeroblob(30000000)), '(0|00)*(0|000)*x')",
		"select json_patch(a, a) from (select json_group_object('k' || i, i) as a from "
		"(with recursive n(i) as (select 1 union all select i + 1 from n limit 100000) "
		"select i from n))",
		"select count(*) from slice where name like printf('%.*c', 1001, '%')",
		"select count(*) from slice where name glob printf('%.*c', 1001, '*')",
	};
	struct sample *s = *state;

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		const char *got = sample_ask(s, statements[i]);

		if (!strstr(got, "too long") && !strstr(got, "too big") &&
		    !strstr(got, "too complex"))
			fail_msg("%s: %s", statements[i], got);
		ask("select count(*) from slice", "1\n");
	}
	/* what is not too much is SQLite's own answer */
	ask("select printf('%5.2f|%-4s|%03d|%%|%c', 3.14159, 'ab', 7, 'x'), format('%,d', 12345)",
	    " 3.14|ab  |007|%|x|12,345\n");
	ask("select printf(), printf(null), instr('abc', 'c'), instr(x'0102', x'02'), instr(null, "
	    "1)",
	    "NULL|NULL|3|2|NULL\n");
	ask("select replace('aXbX', 'X', '--'), trim('  a '), ltrim('xxa', 'x'), rtrim('abb', 'b')",
	    "a--b--|a|a|a\n");
	ask("select 'aBc' like '%b_', 'aBc' like 'a\\_c' escape '\\', 'a_c' like 'a\\_c' escape "
	    "'\\', "
	    "'aBc' glob '*b?', 'aBc' glob '[a-c]B*', null like 'a', 'a' glob null, 12 like '1%', "
	    "'a%' like 'a%%' escape '%'",
	    "1|0|1|0|1|NULL|NULL|1|1\n");
	ask("select json_patch('{\"a\":1,\"b\":2}', '{\"b\":null}'), "
	    "json_array(json_patch('{}', '{\"c\":3}'), '{}'), json_patch(null, '{}')",
	    "{\"a\":1}|[{\"c\":3},\"{}\"]|NULL\n");
	ask("select 'abc' regexp 'b', regexp_extract('abc', '(b)c'), null regexp 'a'",
	    "1|b|NULL\n");
	ask("select printf('%d%d%d%d%d%d%d%d', 1, 2, 3, 4, 5, 6, 7, 8), typeof(trim(1))",
	    "12345678|text\n");
}

/* ---- memory --------------------------------------------------------------------------------- */

struct stopper {
	struct ut_query *query;
	atomic_bool is_done;
};

static void *stop_it(void *ctx)
{
	struct stopper *s = ctx;

	while (!atomic_load(&s->is_done)) {
		ut_query_interrupt(s->query);
		sched_yield();
	}
	return NULL;
}

/* SQLite itself asks only while a statement runs, and there only between some of its steps. */
static void a_statement_can_be_stopped_at_any_time(void **state)
{
	struct sample *s = *state;
	struct stopper stopper = { .query = NULL };
	struct ut_buf doubled = { 0 }, wide = { 0 }, patterns = { 0 };
	const char *const made[] = { "doubled", "wide", "patterns" };
	const char *texts[3], *got;
	pthread_t thread;

	/* each knows the one before twice: 2^40 selects to prepare */
	ut_buf_text(&doubled, "with t0 as (select 1 as x)");
	for (int i = 1; i <= 40; i++)
		ut_buf_fmt(&doubled, ", t%d as (select 1 as x from t%d, t%d as other)", i, i - 1,
			   i - 1);
	ut_buf_text(&doubled, " select x from t40");
	ut_buf_text(&wide, "select 0");
	ut_buf_text(&patterns, "select x like '%' || y");
	for (int i = 0; i < 900; i++) {
		ut_buf_text(&wide, " + length(randomblob(60000000))");
		ut_buf_text(&patterns, " + (x like '%' || y)");
	}
	ut_buf_text(&patterns, " from (select hex(zeroblob(400000)) as x, "
			       "hex(zeroblob(450)) || '1' as y)");
	texts[0] = doubled.data;
	texts[1] = wide.data;
	texts[2] = patterns.data;
	for (size_t i = 0; i < 3; i++) {
		stopper.query = s->query;
		atomic_store(&stopper.is_done, false);
		assert_int_equal(pthread_create(&thread, NULL, stop_it, &stopper), 0);
		got = sample_ask(s, texts[i]);
		atomic_store(&stopper.is_done, true);
		pthread_join(thread, NULL);
		if (strcmp(got, "interrupted") != 0)
			fail_msg("%s: %s", made[i], got);
		ask("select count(*) from slice", "1\n");
	}
	ut_buf_release(&doubled);
	ut_buf_release(&wide);
	ut_buf_release(&patterns);
}

static void memory_of_statements_is_bounded(void **state)
{
	static const char *const statements[] = {
		"select max(length(a) + length(b)) from (select randomblob(40000000) as a, "
		"randomblob(40000000) as b)",
		"with recursive n(i) as (select 1 union all select i + 1 from n) "
		"select percentile(i, 50) from n",
		"with recursive n(i) as (select 1 union all select i + 1 from n limit 3000000) "
		"select group_concat(i), group_concat(i), group_concat(i), group_concat(i) from n",
	};
	struct sample *s = *state;

	ut_guard_set_memory_limit(ut_guard_memory_used() + (64 << 20));
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		const char *got = sample_ask(s, statements[i]);

		if (!strstr(got, "MiB of memory"))
			fail_msg("%s: %s", statements[i], got);
		ask("select count(*) from slice", "1\n");
	}
	ut_guard_set_memory_limit(0);
}

/* Whatever is refused, the statement ends with a message, and the next one is answered. */
static void memory_may_end_anywhere(void **state)
{
	static const char *const statements[] = {
		"select name, dur, count(*) from slice where name like 'w%' group by name order by "
		"2",
		"create temp table t as select * from slice; select * from t; drop table t",
		"create temp view v as select * from slice_stats; select * from v; drop view v",
		"create perfetto function f(a int) returns string as select printf('%d-%s', $a, "
		"name) "
		"from slice; select f(1), f(dur) from slice",
		"create perfetto function g(a int) returns table(x int, y string) as select dur as "
		"x, "
		"name as y from slice where dur > $a; select * from g(1)",
		"create temp view s1 as select ts, dur, name as a from slice; create temp view s2 "
		"as "
		"select ts, dur, name as b from slice; create virtual table temp.j using "
		"span_join(s1, s2); select * from j; drop table j; drop view s1; drop view s2",
		"select percentile(dur, 50), last_non_null(name) over (order by ts) from slice",
		"select json_patch('{\"a\":1}', json_object(name, dur)), name regexp 'w.*', "
		"replace(name, 'w', 'x'), str_split(name, 'o', 0) from slice",
		"select value from json_each((select json_group_array(name) from slice))",
		"select * from args; select * from flow; select * from thread join process using "
		"(upid)",
	};
	struct sample *s = *state;

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		size_t step = 512;

		for (size_t room = 0; room < 512 << 10; room += step, step += step / 16) {
			ut_guard_set_memory_limit(ut_guard_memory_used() + room + 1);
			sample_ask(s, statements[i]);
		}
		ut_guard_set_memory_limit(0);
		drop((void **)&s);
		make((void **)&s);
		*state = s;
		ask("select count(*) from slice", "1\n");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

UT_TESTS(guard)
{
	const struct CMUnitTest tests[] = {
		TEST(every_function_of_this_sqlite_is_known_or_refused),
		TEST(modules_of_sqlite_are_gone_but_for_json),
		TEST(a_tokenizer_cannot_be_read_or_set),
		TEST(a_refused_name_cannot_be_taken_by_a_function),
		TEST(temporary_data_is_bounded_and_in_memory),
		cmocka_unit_test_teardown(other_tables_are_bounded_as_well, drop),
		TEST(large_temporary_tables_hold_what_was_put_in),
		TEST(one_call_of_a_function_is_bounded),
		TEST(a_statement_can_be_stopped_at_any_time),
		TEST(memory_of_statements_is_bounded),
		TEST(memory_may_end_anywhere),
	};

	return cmocka_run_group_tests_name("query/guard", tests, NULL, NULL);
}
