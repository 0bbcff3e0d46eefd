#!/usr/bin/env python3
"""SQL that people already have: statements written for Perfetto run unchanged and give what its own
trace_processor gives.

perfetto_sql.txt is the list, with trace_processor's answers; where that program is at hand, the
answers are asked for again.
"""
# ci: labels slow real
import json
import pathlib
import re
import signal
import sqlite3
import subprocess
import unittest

import common
import perfetto_oracle

HERE = pathlib.Path(__file__).resolve().parent
TRACE = HERE / "perfetto_trace.json"
LIST = HERE / "perfetto_sql.txt"
ENDLESS = "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t"
MOST_MISSING = 7  # of the statements in the list


class Statement:
    def __init__(self, text):
        self.title, rest = text.split("\n", 1)
        self.sql, kind, self.told, rows = re.match(r"(.*)\n-> (\w+): ([^\n]*)\n(.*)", rest,
                                                  re.S).groups()
        self.kind = kind
        self.rows = rows.rstrip("\n").split("\n") if rows.strip("\n") else []


def statements():
    return [Statement(s) for s in re.split(r"^## ", LIST.read_text(), flags=re.M)[1:]]


def as_text(value):
    if value is None:
        return "NULL"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def as_lines(rows):
    return sorted("\t".join(as_text(v) for v in row) for row in rows)


class Query(common.Case):
    def query(self, sql, *options, trace=TRACE):
        return self.unitrace("query", "--json", *options, trace, sql, text=True)

    def rows(self, sql, trace=TRACE):
        """Of the last statement that has any."""
        got = self.query(sql, trace=trace)
        self.assertEqual(got.returncode, 0, f"{sql}: {got.stderr}")
        decoder, text, last = json.JSONDecoder(), got.stdout.strip(), []
        while text:
            last, end = decoder.raw_decode(text)
            text = text[end:].strip()
        return [list(row.values()) for row in last]

    def value(self, sql):
        return self.rows(sql)[0][0]

    def refused(self, sql, *parts):
        got = self.query(sql)
        self.assertEqual(got.returncode, 1, f"{sql}: {got.stdout}")
        self.assertEqual(len(got.stderr.strip().split("\n")), 1, got.stderr)
        for part in parts:
            self.assertIn(part, got.stderr)


class PublicStatements(Query):
    def test_answers_are_those_of_trace_processor(self):
        for s in statements():
            with self.subTest(s.title):
                if s.kind == "refused":
                    self.refused(s.sql, s.told)
                elif s.kind == "count":
                    self.assertEqual(len(self.rows(s.sql)), int(s.told))
                else:
                    self.assertEqual(as_lines(self.rows(s.sql)), s.rows)
                    self.assertEqual(len(s.rows), int(s.told))

    def test_few_of_many_cannot_be_had(self):
        listed = statements()
        self.assertGreaterEqual(len(listed), 87)
        self.assertLessEqual(sum(s.kind == "refused" for s in listed), MOST_MISSING)

    @unittest.skipIf(perfetto_oracle.missing(), perfetto_oracle.missing())
    def test_the_list_has_what_trace_processor_says(self):
        listed = statements()
        answers = perfetto_oracle.answers(TRACE, [s.sql for s in listed])
        for s, answer in zip(listed, answers):
            with self.subTest(s.title):
                if s.kind == "count":
                    self.assertEqual(len(answer["rows"]), int(s.told))
                elif s.kind == "rows":
                    self.assertEqual(as_lines(answer["rows"]), s.rows)


class Definitions(Query):
    def test_functions_may_call_themselves_but_not_forever(self):
        self.assertEqual(self.value("create perfetto function up(x INT) returns INT as "
                                    "select iif($x > 50, $x, up($x + 1)); select up(1)"), 51)
        self.refused("create perfetto function f(x INT) returns INT as select f($x + 1); "
                     "select f(1)", "f(): calls itself too often")
        self.refused("create perfetto function r() returns table(a INT) as select 1 as a; "
                     "create or replace perfetto function r() returns table(a INT) as "
                     "select a from r(); select * from r()", "r(): calls itself too often")

    def test_macros_that_grow_without_end_are_stopped(self):
        self.refused("create perfetto macro m() returns Expr as m!() + m!(); select m!()",
                     "never end")
        doubled = "".join(f"create perfetto macro m{i}(x Expr) returns Expr as "
                          f"m{i - 1}!($x) + m{i - 1}!($x);" for i in range(1, 40))
        self.refused("create perfetto macro m0(x Expr) returns Expr as ($x);" + doubled +
                     "select m39!(1)", "1 MiB")

    def test_definitions_cannot_do_what_queries_cannot(self):
        for body in ("attach 'x' as y", "pragma writable_schema = 1",
                     "select load_extension('x')"):
            with self.subTest(body):
                self.refused(f"create perfetto table t as {body}", "not allowed")
                self.refused(f"create perfetto function f() returns INT as {body}", "not allowed")
        self.refused("create perfetto function f() returns INT as drop table x", "no such table")
        self.refused("create perfetto table t(a INT) as values (1); "
                     "create perfetto function f() returns INT as delete from t", "")
        self.refused("create perfetto macro m() returns Expr as attach 'x' as y; m!()",
                     "not allowed")
        self.refused("create perfetto function slice() returns table(a INT) as select 1 as a",
                     "slice is already a table")

    def test_what_is_wrong_is_reported_with_its_place(self):
        for sql, message in (
                ("select 1;\ninclude perfetto module slices.with_contxt",
                 "SQL:2:25: no module slices.with_contxt; did you mean slices.with_context?"),
                ("include perfetto module nonsense", "no module nonsense; of Perfetto's modules"),
                ("create perfetto tabel x as select 1",
                 "SQL:1:17: TABLE, VIEW, FUNCTION, MACRO or INDEX expected instead of tabel"),
                ("create perfetto function f(x INT) as select 1", "RETURNS expected instead of as"),
                ("create perfetto table t(a INT, b INT) as select 1 as a", "no column b"),
                ("create perfetto function f() returns table(b INT) as select 1 as a",
                 "no column b"),
                ("create perfetto function f(x INT) returns INT as select 1; "
                 "create perfetto function f(x INT) returns INT as select 2", "already exists"),
                ("select cast_itn!(1)", "no such macro: cast_itn; did you mean cast_int?"),
                ("select 1;\nselect cast_int!(1), nme from slice",
                 "SQL:2:22: no such column: nme; did you mean name?"),
                ("create or replace perfetto table t as select nme from slice",
                 "no such column: nme; did you mean name?"),
                ("select cast_int!(1, 2)", "cast_int!() takes 1 arguments, not 2"),
                ("create perfetto function t(a INT) returns table(b INT) as select $a as b; "
                 "select * from t()", "t() takes 1 arguments, not 0"),
                ("create virtual table s using span_join(slice)", "SPAN_JOIN takes two tables"),
                ("create virtual table s using span_join(slice partitioned utid, counter "
                 "partitioned upid)", "partitioned by the same column"),
                ("select * from ancestor_slice", "ancestor_slice needs the id of a slice"),
                ("select name regexp '(' from slice", "'('"),
                ("select stack_id from slice", "ancestor_slice(ID)"),
                ("select create_function('f()', 'INT', 'select 1')", "CREATE PERFETTO FUNCTION"),
                ("select type from slice", "no such column: type; track has it")):
            with self.subTest(sql):
                self.refused(sql, message)

    def test_a_name_of_perfetto_for_a_part_of_ours(self):
        self.assertEqual(
            self.rows("with slice as (select 1 as tid, 2 as utid) "
                      "select tid from slice join (select 1 as x) on x = tid"), [[1]])
        self.refused("with slice as (select 1 as tid) select tid from slice join thread "
                     "on slice.tid <> thread.tid", "ambiguous column name: tid")

    def test_names_that_only_perfetto_knows_are_free(self):
        self.assertEqual(self.rows("create table stats as select 5 as x; "
                                   "create view cpu as select x + 1 as y from stats; "
                                   "select x, y from stats, cpu"), [[5, 6]])
        self.refused("create table stats as select 5 as x; create table stats as select 6 as x",
                     "table stats already exists")

    def test_our_columns_still_come_without_a_join(self):
        self.assertEqual(self.rows("select thread_name, tid, process_name from slice "
                                   "where name = 'receive'"), [["main", 9, "server"]])


class Arguments(Query):
    def test_keys_are_found_with_and_without_what_perfetto_puts_before_them(self):
        for key in ("bytes", "args.bytes", "debug.bytes"):
            with self.subTest(key):
                self.assertEqual(self.value(f"select sum(extract_arg(arg_set_id, '{key}')) "
                                            "from slice"), 16384)
                self.assertEqual(self.value("select sum(int_value) from args "
                                            f"where key = '{key}'"), 16384)
                self.assertEqual(self.value("select sum(case flat_key when "
                                            f"'{key}' then int_value end) from args"), 16384)

    def test_all_that_args_lists_is_found_by_its_key(self):
        missed = self.rows("select key, value from args where event_id is not null and "
                           "extract_arg(arg_set_id, key) is not value")
        self.assertEqual(missed, [])
        self.assertEqual(self.rows("select key from args where key like 'dims%' limit 3"),
                         [["dims[0]"], ["dims[1]"], ["dims[2]"]])

    def test_paths_lead_into_objects(self):
        path = self.dir / "deep.json"
        path.write_text(json.dumps([{
            "ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "x", "args": {
                "a": {"b": [{"c": "found"}, [1, 2.5]], "d.e": True, "b ": 1, "q\"": 3},
                "a.b": "short", "n": None, "list": [[1, 2], {"k": "v"}]}}]))
        for key, expected in (("a.b[0].c", "found"), ("a.b[1][1]", 2.5), ("a.d.e", 1),
                              ("a.b", "short"), ("a.b[2]", None), ("a.b[x]", None), ("n", None),
                              ("a.b[0", None), ("a.", None), ("list[0][1]", 2),
                              ("debug.list[1].k", "v"), ("list[9]", None), ("", None)):
            with self.subTest(key):
                self.assertEqual(self.rows(f"select extract_arg(arg_set_id, '{key}') from slice",
                                           trace=path), [[expected]])


class Instants(Query):
    def test_they_are_slices_without_length_and_not_in_the_statistics(self):
        self.assertEqual(self.rows("select name, dur, self_dur, instant from slice "
                                   "where instant"), [["checkpoint", 0, 0, 1]])
        self.assertEqual(self.value("select count(*) from slice where not instant"),
                         self.value("select sum(count) from slice_stats"))
        self.assertEqual(self.rows("select id from slice where instant"),
                         self.rows("select id from instant"))

    def test_a_database_has_them_too(self):
        path = self.dir / "x.sqlite"
        self.assertEqual(self.unitrace("export", "-o", path, TRACE).returncode, 0)
        db = sqlite3.connect(path)
        self.assertEqual(db.execute("select name, dur, instant from slice where instant")
                         .fetchall(), [("checkpoint", 0, 1)])


class Groups(Query):
    def plan(self, sql):
        return " ".join(str(r[-1]) for r in self.rows("explain query plan " + sql))

    def test_ordinals_and_aliases_stay_in_the_grouped_scan(self):
        for sql in ("select name, count(*) from slice group by 1 order by 2 desc",
                    "select name as n, sum(dur) as d from slice group by n order by d desc limit 3",
                    "select name, thread_name, count(*) from slice group by 1, 2 "
                    "order by 3 desc, 1 desc",
                    "select distinct name from slice order by 1 desc"):
            with self.subTest(sql):
                plan = self.plan(sql)
                self.assertRegex(plan, "grouped by name|distinct name")
                self.assertNotIn("TEMP B-TREE FOR GROUP BY", plan)

    def test_descending_groups_are_those_of_sqlite(self):
        for by in ("name", "name, thread_name", "thread_name, cat"):
            for order in ("desc", "asc", ""):
                terms = ", ".join(f"{c} {order}" for c in by.split(", "))
                plain = ", ".join(f"+{c}" for c in by.split(", "))
                ours = f"select {by}, count(*), sum(dur) from slice group by {by} order by {terms}"
                theirs = (f"select {by}, count(*), sum(dur) from slice group by {plain} "
                          f"order by {terms}")
                with self.subTest(ours):
                    self.assertEqual(self.rows(ours), self.rows(theirs))


class Endless(Query):
    """What never ends by itself: inside SQLite, and inside our tables."""
    statements = {
        "SQLite": ENDLESS,
        "our tables": "with recursive t(x) as (select 1 union all select x + 1 from t) "
                      "select count(*) from t, slice where slice.ts = -t.x",
        "a function": f"create perfetto function f() returns INT as {ENDLESS}; select f()",
    }

    def test_timeout_ends_it_with_a_line(self):
        for where, sql in self.statements.items():
            with self.subTest(where):
                got = self.query(sql, "--timeout", "1")
                self.assertEqual(got.returncode, 1)
                self.assertEqual(got.stderr, "unitrace: the SQL took longer than 1 s "
                                             "(--timeout)\n")

    def test_interrupt_ends_it(self):
        for where, sql in self.statements.items():
            with self.subTest(where):
                run = subprocess.Popen([common.UNITRACE, "query", TRACE, "select 'go'; " + sql],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(common.end_process, run)
                common.wait_for_cpu(run.pid, 0.2)  # the statement is under way: reading the trace takes less
                run.send_signal(signal.SIGINT)
                run.communicate(timeout=common.PATIENCE)
                self.assertEqual(run.returncode, -signal.SIGINT)

    def test_what_ends_in_time_is_complete(self):
        got = self.query("select 7 as x", "--timeout", "100")
        self.assertEqual((got.returncode, json.loads(got.stdout)), (0, [{"x": 7}]))

    def test_no_time_at_all_is_refused(self):
        self.assertEqual(self.query("select 1", "--timeout", "0").returncode, 2)
        self.assertEqual(self.query("select 1", "--timeout", "soon").returncode, 2)


if __name__ == "__main__":
    schema = subprocess.run([common.UNITRACE, "query", "--schema"], capture_output=True)
    if b"built without SQLite" in schema.stderr:
        common.skip("built without SQLite")
    common.main()
