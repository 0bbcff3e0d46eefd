/* test_query.c - tests src/analysis/query/query.h: what the tables hold and what SQL makes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/sample.h"
#include "support/unit.h"

#define ask(sql, expected) assert_string_equal(sample_ask(s, sql), expected)

/*
 * Two traces. The first: process 100 "app", rank 3, with a thread of nested spans, instants, an
 * argument, a track of overlapping spans, a counter, a flow to the second thread.
 */
static int make(void **state)
{
	struct sample *s = malloc(sizeof(*s));
	uint32_t p, main_thread, worker, async, counter;
	double half = 0.5;
	uint64_t bits;

	sample_init(s);
	p = sample_process(s, 100, "app", 3);
	main_thread = sample_track(s, p, UT_TRACK_THREAD, 100, "main");
	worker = sample_track(s, p, UT_TRACK_THREAD, 101, "worker");
	async = sample_track(s, p, UT_TRACK_ASYNC, 1, "requests");
	counter = sample_track(s, p, UT_TRACK_COUNTER, 2, "memory");
	s->build.store.trace.tracks[counter].unit = sample_str(s, "bytes");

	sample_event(s, main_thread, UT_KIND_SPAN, "outer", 1000, 100);
	sample_event_arg(s, main_thread, "inner", 1010, 30,
			 sample_arg(s, "bytes", UT_ARG_U64, 4096));
	sample_event(s, main_thread, UT_KIND_INSTANT, "mark", 1020, 0);
	sample_event(s, main_thread, UT_KIND_FLOW_OUT, "go", 1020, 77);
	sample_event(s, main_thread, UT_KIND_SPAN, "leaf", 1015, 5);
	sample_event(s, main_thread, UT_KIND_SPAN, "inner", 1050, 20);
	sample_event(s, main_thread, UT_KIND_SPAN, "last", 1100, 0);
	sample_event(s, worker, UT_KIND_SPAN, "work", 1030, 500);
	sample_event(s, worker, UT_KIND_FLOW_IN, "go", 1030, 77);
	sample_event(s, async, UT_KIND_ASYNC_BEGIN, "request", 1000, 1);
	sample_event(s, async, UT_KIND_ASYNC_BEGIN, "request", 1005, 2);
	sample_event(s, async, UT_KIND_ASYNC_END, "request", 1030, 1);
	sample_event(s, async, UT_KIND_ASYNC_BEGIN, "lost", 1040, 3);
	sample_event(s, async, UT_KIND_ASYNC_END, "request", 1050, 2);
	memcpy(&bits, &half, sizeof(bits));
	sample_event(s, counter, UT_KIND_COUNTER, "memory", 1000, 7);
	ut_build_add(&s->build, counter, 1001, bits,
		     ut_types_intern(&s->build.store.types,
				     &(struct ut_type){ .name = sample_str(s, "memory"),
							.kind = UT_KIND_COUNTER,
							.flags = UT_EV_DOUBLE }),
		     0);
	sample_next(s, "first.json");

	p = sample_process(s, 200, "other", -1);
	main_thread = sample_track(s, p, UT_TRACK_THREAD, 200, "main");
	sample_event(s, main_thread, UT_KIND_SPAN, "outer", 500, 40);
	sample_event(s, main_thread, UT_KIND_SPAN, "inner", 510, 10);
	sample_next(s, "second.json");
	*state = s;
	return 0;
}

static int drop(void **state)
{
	sample_release(*state);
	free(*state);
	return 0;
}

static void slices_have_names_times_and_places(void **state)
{
	struct sample *s = *state;

	ask("select id, ts, dur, end, name, track_id, tid, pid, thread_name, process_name, rank, "
	    "trace "
	    "from slice where tid = 100",
	    "0|1000|100|1100|outer|0|100|100|main|app|3|0\n"
	    "1|1010|30|1040|inner|0|100|100|main|app|3|0\n"
	    "2|1015|5|1020|leaf|0|100|100|main|app|3|0\n"
	    "3|1020|0|1020|mark|0|100|100|main|app|3|0\n"
	    "5|1050|20|1070|inner|0|100|100|main|app|3|0\n"
	    "6|1100|0|1100|last|0|100|100|main|app|3|0\n");
	ask("select count(*), sum(dur), min(ts), max(end) from slice", "12|790|500|1530\n");
	ask("select name, rank, trace from slice where trace = 1", "outer|NULL|1\ninner|NULL|1\n");
}

static void slices_know_what_they_lie_in(void **state)
{
	struct sample *s = *state;

	ask("select name, depth, parent_id, self_dur from slice where track_id = 0",
	    "outer|0|NULL|50\n"
	    "inner|1|0|25\n"
	    "leaf|2|1|5\n"
	    "mark|2|1|0\n"
	    "inner|1|0|20\n"
	    "last|0|NULL|0\n");
	ask("select name from slice where parent_id = 0", "inner\ninner\n");
	ask("select name from slice where parent_id = 5", "");
	ask("select name from slice where parent_id is null and track_id = 0", "outer\nlast\n");
	ask("select p.name, c.name from slice c join slice p on c.parent_id = p.id where c.trace = "
	    "0",
	    "outer|inner\ninner|leaf\ninner|mark\nouter|inner\n");
	ask("select name, parent_id from instant", "mark|1\n"); /* leaf ends there */
}

static void overlapping_spans_are_slices(void **state)
{
	struct sample *s = *state;

	ask("select ts, dur, name, depth, parent_id, self_dur, unfinished, utid, track_name from "
	    "slice "
	    "where async",
	    "1000|30|request|0|NULL|30|0|NULL|requests\n"
	    "1005|45|request|0|NULL|45|0|NULL|requests\n"
	    "1040|10|lost|0|NULL|10|1|NULL|requests\n");
	ask("select count(*) from slice where dur > 30 and async = 1", "1\n");
}

static void counters_keep_their_types(void **state)
{
	struct sample *s = *state;

	ask("select ts, value, name, unit, track_name from counter",
	    "1000|7|memory|bytes|memory\n1001|0.5|memory|bytes|memory\n");
	ask("select name, unit, events from counter_track", "memory|bytes|2\n");
}

static void arguments_are_found_from_all_sides(void **state)
{
	struct sample *s = *state;

	ask("select name, args, arg(id, 'bytes'), arg(id, 'nothing') from slice where args is not "
	    "null",
	    "inner|{\"bytes\":4096}|4096|NULL\n");
	ask("select event_id, key, value_type, value, int_value, string_value, json from args",
	    "1|bytes|uint|4096|4096|NULL|4096\n");
	ask("select s.name, a.value from slice s join args a using (arg_set_id)", "inner|4096\n");
	ask("select s.name, a.value from slice s join args a on a.event_id = s.id", "inner|4096\n");
	ask("select a.event_id, a.key from slice s join args a using (arg_set_id)", "1|bytes\n");
	ask("select name from slice where arg_set_id = (select arg_set_id from args)", "inner\n");
	ask("select extract_arg(arg_set_id, 'bytes') from slice where name = 'inner' and trace = 0",
	    "4096\nNULL\n");
	ask("select json_extract(args, '$.bytes') + 1 from slice where id = 1", "4097\n");
}

static void flows_join_slices(void **state)
{
	struct sample *s = *state;

	ask("select slice_out, slice_in, ts_out, ts_in, track_out, track_in, name, number, trace "
	    "from flow",
	    "2|7|1020|1030|0|1|go|77|0\n");
	ask("select o.name, i.name from flow join slice o on o.id = slice_out "
	    "join slice i on i.id = slice_in",
	    "leaf|work\n");
	ask("select count(*) from flow where slice_in = 7", "1\n");
	ask("select count(*) from flow where slice_in = 6", "0\n");
	ask("select count(*) from flow where slice_out = 2", "1\n");
}

static void threads_and_processes_are_tables(void **state)
{
	struct sample *s = *state;

	ask("select utid, tid, name, upid, is_main_thread, events, trace from thread",
	    "0|100|main|0|1|7|0\n1|101|worker|0|0|2|0\n4|200|main|1|1|2|1\n");
	ask("select upid, pid, name, rank, start_ts, end_ts, tracks, trace from process",
	    "0|100|app|3|1000|1530|4|0\n1|200|other|NULL|500|540|1|1\n");
	ask("select id, name, type, utid, events from track where upid = 0",
	    "0|main|thread|0|7\n1|worker|thread|1|2\n2|requests|async|NULL|5\n"
	    "3|memory|counter|NULL|2\n");
	ask("select id, path, first, last, dur, events, processes, tracks from trace",
	    "0|first.json|1000|1530|530|16|1|4\n1|second.json|500|540|40|2|1|1\n");
	ask("select trace_start(), trace_end(), trace_dur()", "500|1530|1030\n");
}

/* As people write it for Perfetto. */
static void queries_for_perfetto_work(void **state)
{
	struct sample *s = *state;

	ask("select slice.name, thread.name, process.name from slice "
	    "join thread_track on slice.track_id = thread_track.id "
	    "join thread using (utid) join process using (upid) where slice.dur > 30 order by ts",
	    "outer|main|other\nouter|main|app\nwork|worker|app\n");
	ask("select ts, value from counter join counter_track on counter.track_id = "
	    "counter_track.id "
	    "where counter_track.name = 'memory'",
	    "1000|7\n1001|0.5\n");
}

static void every_event_is_in_event(void **state)
{
	struct sample *s = *state;

	ask("select kind, count(*) from event group by 1 order by 1",
	    "async begin|3\nasync end|2\ncounter|2\nflow in|1\nflow out|1\ninstant|1\nspan|8\n");
}

static void temporary_tables_and_views_can_be_made(void **state)
{
	struct sample *s = *state;

	ask("create temp table t as select name, dur from slice where trace = 0;"
	    "create temp view v as select max(dur) as m from t; select m from v;"
	    "drop view v; select count(*) from t",
	    "500\n10\n");
}

static void traces_and_files_cannot_be_written(void **state)
{
	struct sample *s = *state;

	ask("delete from slice", "SQL: table slice may not be modified");
	ask("attach 'x.db' as x", "SQL: not allowed: no other database can be attached or written");
	ask("vacuum into 'x.db'", "SQL: not allowed: no other database can be attached or written");
	ask("select load_extension('x')",
	    "SQL: not allowed: this function of SQLite is not for queries");
	ask("pragma journal_mode = wal", "SQL: not allowed: this PRAGMA is not for queries");
	ask("pragma temp_store_directory = '.'",
	    "SQL: not allowed: this PRAGMA is not for queries");
	ask("select count(*) from pragma_table_info('trace')", "21\n");
}

static void mistakes_are_explained_in_one_line(void **state)
{
	struct sample *s = *state;

	ask("select nme from slice", "SQL:1:8: no such column: nme; did you mean name?");
	ask("select name,\n  duration from slice",
	    "SQL:2:3: no such column: duration; did you mean dur?");
	ask("select s.thread_nam from slice s",
	    "SQL:1:8: no such column: s.thread_nam; did you mean thread_name?");
	ask("select * from slics", "SQL:1:15: no such table: slics; did you mean slice?");
	ask("select 1; select * frm slice", "SQL:1:20: near \"frm\": syntax error");
	ask("select ar(id, 'x') from slice", "SQL:1:8: no such function: ar; did you mean arg?");
	ask("select tid from slice join thread using (utid)",
	    "SQL:1:8: ambiguous column name: tid; say which: slice.tid or thread.tid");
	ask("select sum(9223372036854775807) from slice",
	    "SQL: integer overflow; total() takes larger sums than sum()");
	assert_true(strstr(sample_ask(s, "select * from qqqqq"),
			   "there are slice, slice_stats, device_work") != NULL);
}

static void empty_names_are_null(void **state)
{
	struct sample *s = *state;

	ask("select count(cat), count(name) from slice", "0|12\n");
}

UT_TESTS(query)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
		TEST(slices_have_names_times_and_places),
		TEST(slices_know_what_they_lie_in),
		TEST(overlapping_spans_are_slices),
		TEST(counters_keep_their_types),
		TEST(arguments_are_found_from_all_sides),
		TEST(flows_join_slices),
		TEST(threads_and_processes_are_tables),
		TEST(queries_for_perfetto_work),
		TEST(every_event_is_in_event),
		TEST(temporary_tables_and_views_can_be_made),
		TEST(traces_and_files_cannot_be_written),
		TEST(mistakes_are_explained_in_one_line),
		TEST(empty_names_are_null),
	};

	return cmocka_run_group_tests_name("query/query", tests, NULL, NULL);
}
