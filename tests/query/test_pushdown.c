/*
 * test_pushdown.c - conditions that the tables check themselves give the same rows as SQLite's own
 * check of the same conditions on a copy of the table, for any value of any type; and they are
 * really checked there.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/sample.h"
#include "support/unit.h"

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static const char *const names[] = {
	"a", "b", "A", "ab", "10", "010", "1e1", "x y", "", "\xc3\xa4"
};

static void add_rows(struct sample *s, uint32_t track, bool async, uint32_t rows)
{
	uint64_t ts = 100 + pick(50);

	for (uint32_t i = 0; i < rows; i++) {
		enum ut_kind kind = async ? UT_KIND_ASYNC_BEGIN : UT_KIND_SPAN;

		ts += pick(4);
		if (async && pick(2)) {
			sample_event(s, track, UT_KIND_ASYNC_END, "", ts, pick(20));
			continue;
		}
		if (!pick(10))
			kind = UT_KIND_INSTANT;
		sample_event(s, track, kind, names[pick(10)], ts, async ? pick(20) : pick(40));
	}
}

/* Traces whose rows have a lot in common; the very first track has this many. */
static struct sample *make_sample(uint32_t first_rows)
{
	struct sample *s = malloc(sizeof(*s));

	seed = 1;
	sample_init(s);
	for (uint32_t trace = 0; trace < 3; trace++) {
		for (uint32_t p = 0; p < 2; p++) {
			uint32_t process = sample_process(s, 10 + p, p ? "app" : "10",
							  (int32_t)(trace * 2 + p) - 1);

			for (uint32_t k = 0; k < 3; k++) {
				uint32_t track = sample_track(
					s, process, k == 2 ? UT_TRACK_ASYNC : UT_TRACK_THREAD,
					10 + k, k ? "worker" : "main");

				add_rows(s, track, k == 2, trace || p || k ? 60 : first_rows);
			}
		}
		s->build.store.trace.tracks[1].id_text = sample_str(s, "\"gpu 0\"");
		sample_next(s, trace ? "other" : "one");
	}
	sample_ask(s, "create temp table copy as select * from slice;"
		      "create temp table moments as select * from instant");
	assert_string_equal(s->answer.data, "");
	return s;
}

static int make(void **state)
{
	*state = make_sample(60);
	return 0;
}

static int drop(void **state)
{
	sample_release(*state);
	free(*state);
	return 0;
}

static void same(struct sample *s, const char *columns, const char *tail)
{
	char sql[512], *expected;

	snprintf(sql, sizeof(sql), "select %s from copy %s", columns, tail);
	expected = strdup(sample_ask(s, sql));
	snprintf(sql, sizeof(sql), "select %s from slice %s", columns, tail);
	if (strcmp(sample_ask(s, sql), expected) != 0)
		fail_msg("%s\n  gives %.300s\n  not   %.300s", sql, s->answer.data, expected);
	free(expected);
}

static const char *const columns[] = { "ts",         "dur",       "self_dur",    "\"end\"",
				       "depth",      "id",        "parent_id",   "name",
				       "cat",        "track_id",  "utid",        "tid",
				       "upid",       "pid",       "thread_name", "process_name",
				       "rank",       "trace",     "async",       "not_work",
				       "track_name", "unfinished" };
static const char *const values[] = { "0",
				      "1",
				      "10",
				      "150",
				      "-1",
				      "10.0",
				      "9.5",
				      "1e300",
				      "-1e300",
				      "'a'",
				      "'10'",
				      "' 10'",
				      "'1e1'",
				      "'x y'",
				      "null",
				      "x'6131'",
				      "'main'",
				      "'app'",
				      "'gpu 0'",
				      "9223372036854775807",
				      "-9223372036854775808",
				      "9223372036854775808.0",
				      "''" };
static const char *const ops[] = { "=", "<", "<=", ">", ">=", "<>", "is", "glob", "like" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void every_comparison_is_as_in_sqlite(void **state)
{
	struct sample *s = *state;
	char where[128];

	for (size_t c = 0; c < COUNT(columns); c++) {
		for (size_t v = 0; v < COUNT(values); v++) {
			for (size_t o = 0; o < COUNT(ops); o++) {
				snprintf(where, sizeof(where), "where %s %s %s", columns[c], ops[o],
					 values[v]);
				same(s, "count(*), sum(id)", where);
			}
		}
	}
}

static void lists_are_as_in_sqlite(void **state)
{
	struct sample *s = *state;
	char where[256];

	for (size_t c = 0; c < COUNT(columns); c++) {
		for (size_t v = 0; v + 3 < COUNT(values); v++) {
			snprintf(where, sizeof(where), "where %s in (%s, %s, %s)", columns[c],
				 values[v], values[v + 1], values[v + 3]);
			same(s, "count(*), sum(id)", where);
		}
	}
	same(s, "count(*)", "where name in (select name from copy where dur > 38)");
	same(s, "count(*)", "where name in ()");
	same(s, "count(*)", "where name not in ('a', 'b')");
	same(s, "count(*)", "where name = 'a' collate nocase");
}

static void conditions_combine(void **state)
{
	static const char *const some[] = {
		"ts > 130",
		"ts between 200 and 20000",
		"dur >= 20",
		"dur between 3 and 30",
		"name = 'a'",
		"name in ('a', 'b', 'ab')",
		"name glob '*b'",
		"name like 'A%'",
		"name like 'a%' or name = '10'",
		"tid = 10",
		"tid = 'gpu 0'",
		"pid in (10, 11)",
		"upid = 2",
		"trace = 1",
		"trace > 0",
		"rank = 3",
		"track_id = 4",
		"depth = 1",
		"async = 1",
		"parent_id = 40",
		"parent_id is null",
		"id = 77",
		"id in (3, 5, 77, 100000)",
		"name is null",
		"cat is null",
	};
	struct sample *s = *state;
	char where[256];

	for (size_t a = 0; a < COUNT(some); a++) {
		for (size_t b = 0; b < COUNT(some); b++) {
			size_t c = pick(COUNT(some));

			snprintf(where, sizeof(where), "where (%s) and (%s)", some[a], some[b]);
			same(s, "count(*), sum(id), min(ts)", where);
			snprintf(where, sizeof(where), "where (%s) and ((%s) or (%s))", some[a],
				 some[b], some[c]);
			same(s, "count(*), sum(id), max(\"end\")", where);
		}
	}
}

static void orders_and_groups_are_as_in_sqlite(void **state)
{
	static const char *const tails[] = {
		"order by ts, id limit 100",
		"where name = 'a' order by ts, id",
		"where dur > 35 order by ts, id",
		"order by id limit 50",
		"where trace < 2 order by name, id",
		"where trace < 2 order by ts desc, id limit 100",
	};
	static const char *const groups[] = {
		"name",        "track_id",    "thread_name",     "tid",
		"name, tid",   "tid, name",   "tid, name, rank", "process_name, name, thread_name",
		"rank",        "cat",         "async, name",     "depth",
		"name, depth", "upper(name)", "trace",
	};
	struct sample *s = *state;
	char text[256];

	for (size_t i = 0; i < COUNT(tails); i++)
		same(s, "id, ts, name", tails[i]);
	for (size_t i = 0; i < COUNT(groups); i++) {
		snprintf(text, sizeof(text), "group by %s order by 1, 2, 3, 4, 5", groups[i]);
		same(s, "count(*), sum(dur), min(ts), max(id), min(name)", text);
		snprintf(text, sizeof(text), "where dur > 3 and trace < 2 group by %s order by %s",
			 groups[i], groups[i]);
		same(s, "count(*), sum(id)", text);
		snprintf(text, sizeof(text), "distinct %s", groups[i]);
		same(s, text, "order by 1");
		same(s, text, "where dur % 7 = 3 order by 1");
		snprintf(text, sizeof(text),
			 "count(distinct name), count(*) from (select distinct %s, "
			 "name",
			 groups[i]);
		same(s, text, ")");
	}
}

static void joins_are_as_in_sqlite(void **state)
{
	struct sample *s = *state;

	same(s, "count(*), sum(copy.id), sum(p.id)",
	     "as copy join copy p on copy.parent_id = p.id");
	assert_string_equal(sample_ask(s,
				       "select (select count(*) from slice c join slice p on "
				       "c.parent_id = p.id) - "
				       "(select count(*) from copy where parent_id is not null)"),
			    "0\n");
	assert_string_equal(sample_ask(s, "select (select sum(c.id) from slice p join slice c on "
					  "c.parent_id = p.id) - "
					  "(select sum(id) from copy where parent_id is not null)"),
			    "0\n");
	assert_string_equal(
		sample_ask(s, "select (select count(*) from process join thread using (upid)) - "
			      "(select count(*) from thread)"),
		"0\n");
	assert_string_equal(
		sample_ask(
			s,
			"select (select count(*) from process p join slice s on s.upid = p.upid) - "
			"(select count(*) from slice)"),
		"0\n");
	/* all that lies in one slice, at any depth */
	assert_string_equal(
		sample_ask(s,
			   "with recursive below(id) as (select id from slice where id = 100 union "
			   "all "
			   "select slice.id from below join slice on slice.parent_id = below.id) "
			   "select (select count(*) from below) - (select count(*) from copy c "
			   "join copy t on t.id = 100 where c.id = 100 or (c.track_id = t.track_id "
			   "and "
			   "c.id > t.id and c.depth > t.depth and not exists (select 1 from copy m "
			   "where "
			   "m.track_id = t.track_id and m.id > t.id and m.id <= c.id and "
			   "m.depth <= t.depth)))"),
		"0\n");
}

static void plan(struct sample *s, const char *sql, const char *wanted)
{
	char text[512];

	snprintf(text, sizeof(text), "explain query plan %s", sql);
	if (!strstr(sample_ask(s, text), wanted))
		fail_msg("%s\n  is done by %s\n  not by     %s", sql, s->answer.data, wanted);
}

static void conditions_are_checked_in_the_columns(void **state)
{
	struct sample *s = *state;

	plan(s, "select 1 from slice where ts >= 5 and ts < 9", ":ts >= ?, ts < ?");
	plan(s, "select 1 from slice where name = 'a' and dur > 5", ":name = ?, dur > ?");
	plan(s, "select 1 from slice where name in ('a', 'b')", ":name IN ?");
	plan(s, "select 1 from slice where name glob 'a*'", ":name GLOB ?");
	plan(s, "select 1 from slice where name like 'a%'", ":name LIKE ?");
	plan(s, "select 1 from slice where id = 7", ":id = ?");
	plan(s, "select 1 from slice where rowid = 7", ":id = ?");
	plan(s, "select 1 from slice where tid = 7 and pid = 5", ":tid = ?, pid = ?");
	plan(s, "select 1 from slice order by ts", ":by ts");
	plan(s, "select sum(dur) from slice where dur > 3 group by name",
	     ":dur > ?, grouped by name");
	plan(s, "select distinct name from slice", ":distinct name");
	plan(s, "select 1 from thread where upid = 3", ":upid = ?");
	plan(s, "select 1 from args where event_id = 3", ":event_id = ?");
	plan(s, "select 1 from flow where slice_in = 3", ":slice_in = ?");
	/* the cheap side of a join is asked row by row */
	plan(s, "select 1 from slice s join thread using (utid)", "SCAN thread");
	plan(s, "select 1 from slice c join slice p on p.id = c.parent_id where c.dur > 5",
	     "SCAN p VIRTUAL TABLE INDEX 0:id = ?");
}

/* More than one block of rows. */
static void long_tracks_are_searched(void **state)
{
	static const char *const tails[] = {
		"where ts = 20000",
		"where ts between 20000 and 20100",
		"where ts >= 49000 and dur > 20",
		"where ts < 30 or ts > 49500",
		"where id between 16380 and 16390",
		"where id = 16384",
		"where parent_id in (16370, 16380, 16381, 16382, 16383, 16384) order by id",
		"where depth > 5 and ts > 30000",
		"where name = 'a' and track_id = 0",
		"where ts > 30000 order by ts, id",
		"where track_id <> 3 order by name, id limit 1000",
	};
	struct sample *s = make_sample(40000);

	(void)state;
	for (size_t i = 0; i < COUNT(tails); i++) {
		same(s, "id, ts, dur, name, depth, parent_id, self_dur", tails[i]);
		same(s, "count(*), sum(id)", tails[i]);
	}
	same(s, "name, count(*), sum(self_dur)", "group by name");
	sample_release(s);
	free(s);
}

static void other_tables_push_down_alike(void **state)
{
	struct sample *s = *state;

	assert_string_equal(sample_ask(s,
				       "select (select sum(id) from instant where name = 'a' and "
				       "ts > 120) - (select sum(id) from moments where name = 'a' "
				       "and ts > 120)"),
			    "0\n");
	assert_string_equal(
		sample_ask(s, "select (select count(*) from event where kind = 'instant') - "
			      "(select count(*) from moments)"),
		"0\n");
}

UT_TESTS(pushdown)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_comparison_is_as_in_sqlite),
		cmocka_unit_test(lists_are_as_in_sqlite),
		cmocka_unit_test(conditions_combine),
		cmocka_unit_test(orders_and_groups_are_as_in_sqlite),
		cmocka_unit_test(joins_are_as_in_sqlite),
		cmocka_unit_test(conditions_are_checked_in_the_columns),
		cmocka_unit_test(other_tables_push_down_alike),
		cmocka_unit_test(long_tracks_are_searched),
	};

	return cmocka_run_group_tests_name("query/pushdown", tests, make, drop);
}
