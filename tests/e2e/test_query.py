#!/usr/bin/env python3
"""`unitrace query` and the SQLite exporter, from the command line.

The same traces are counted three times: by unitrace's virtual tables, by python's sqlite3 on the
exported database, and by plain python over the JSON that they were made from.
"""
import collections
import csv
import json
import os
import pathlib
import pty
import random
import resource
import select
import signal
import sqlite3
import subprocess
import unittest

import common

NAMES = ["alpha", "beta", "Gamma", "x\"y'z", "Ünïcode 名", "with, comma", "line\nbreak", "10", "_%"]
CATS = ["", "cpu", "gpu,copy"]


def us(ns):
    """Microseconds with three decimals, as tools write them."""
    return json.loads(f"{ns // 1000}.{ns % 1000:03d}")


class Maker:
    """A trace of random events, and what is in it."""

    def __init__(self, seed, processes=2, threads=2, spans=60):
        self.random = random.Random(seed)
        self.events, self.slices, self.instants, self.counters = [], [], [], []
        self.flows = []
        for pid in range(100, 100 + processes):
            self.add(ph="M", pid=pid, name="process_name", args={"name": f"app {pid}"})
            for tid in range(pid, pid + threads):
                self.add(ph="M", pid=pid, tid=tid, name="thread_name", args={"name": f"T{tid}"})
                self.thread(pid, tid, spans)
            self.others(pid)
        self.arrows()
        self.random.shuffle(self.events)

    def add(self, **event):
        self.events.append(event)

    def args(self):
        choices = {"n": self.random.randrange(1 << 40), "minus": -self.random.randrange(100),
                   "half": self.random.random(), "text": self.random.choice(NAMES), "yes": True,
                   "list": [1, "two", 3.5], "deep": {"a": [1, {"b": None}]}, "none": None}
        keys = self.random.sample(sorted(choices), self.random.randrange(4))
        return {k: choices[k] for k in keys}

    def thread(self, pid, tid, count):
        """Spans that nest: each gets a part of its parent's time. All begin at different times."""
        ts = 1_000_000
        for _ in range(count // 6):
            length = 2 * self.random.randrange(20_000, 90_000)
            self.span(pid, tid, ts, length, 0, None)
            ts += length + self.random.randrange(1, 5000)

    def span(self, pid, tid, ts, length, depth, parent):
        s = {"name": self.random.choice(NAMES), "cat": self.random.choice(CATS), "ts": ts,
             "dur": length, "pid": pid, "tid": tid, "args": self.args(), "depth": depth,
             "parent": parent, "self": length}
        self.slices.append(s)
        event = {"pid": pid, "tid": tid, "name": s["name"], "ts": us(ts)}
        if s["cat"]:
            event["cat"] = s["cat"]
        self.add(ph="X", dur=us(length), args=s["args"], **event)
        if self.random.random() < 0.3:
            at = ts + length // 2
            self.instants.append({"ts": at, "name": "mark", "pid": pid, "tid": tid})
            self.add(ph="i", s="t", pid=pid, tid=tid, name="mark", ts=us(at))
        at = ts + 1
        for _ in range(self.random.randrange(4) if depth < 4 and length > 20 else 0):
            inner = self.random.randrange(1, length // 4)
            s["self"] -= inner
            self.span(pid, tid, at, inner, depth + 1, s)
            at += inner + self.random.randrange(1, length // 20 + 1)

    def others(self, pid):
        for i in range(20):
            ts, value = 1_000_000 + 1000 * i, self.random.choice([i, -i, i + 0.25])
            self.counters.append({"ts": ts, "value": value, "pid": pid})
            self.add(ph="C", pid=pid, name="memory", ts=us(ts), args={"bytes": value})
        for i in range(10):
            ts, length = 1_000_000 + 777 * i, self.random.randrange(1, 9999)
            s = {"name": "request", "cat": "net", "ts": ts, "dur": length, "pid": pid,
                 "tid": None, "args": {}, "depth": 0, "parent": None, "self": length}
            self.slices.append(s)
            for ph, at in (("b", ts), ("e", ts + length)):
                self.add(ph=ph, pid=pid, tid=pid, id=pid * 100 + i, cat="net", name="request",
                         ts=us(at))

    def arrows(self):
        """Between outermost slices, from their beginnings."""
        outer = [s for s in self.slices if s["depth"] == 0 and s["tid"] is not None]
        for i in range(10):
            a, b = sorted(self.random.sample(outer, 2), key=lambda s: s["ts"])
            self.flows.append((a, b))
            for ph, s, more in (("s", a, {}), ("f", b, {"bp": "e"})):
                self.add(ph=ph, pid=s["pid"], tid=s["tid"], id=1000 + i, cat="flow", name="go",
                         ts=us(s["ts"]), **more)

    def write(self, path):
        path.write_text(json.dumps({"traceEvents": self.events, "about": {"seed": [1, 2]}}))
        return path


class Query(common.Case):
    def query(self, *words, rc=0, **options):
        got = self.unitrace("query", *words, **options)
        self.assertEqual(got.returncode, rc, got.stderr.decode()[-2000:])
        return got

    def rows(self, *words):
        """The rows of a query as tuples."""
        got = self.query("--format", "json", *words)
        return [tuple(row.values()) for row in json.loads(got.stdout)]

    def make(self, seed=1, name="trace.json", **options):
        maker = Maker(seed, **options)
        return maker, maker.write(self.dir / name)

    def complaint(self, *words, rc=1, **options):
        """The one line that a failure prints."""
        got = self.query(*words, rc=rc, **options)
        lines = got.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("unitrace: "), lines)
        return lines[0][len("unitrace: "):]


class Answers(Query):
    """unitrace against python."""

    def test_slices_are_those_of_the_file(self):
        for seed in range(5):
            made, path = self.make(seed, f"{seed}.json")
            got = self.rows(path, "select ts, dur, name, coalesce(cat, ''), pid, tid, depth, self_dur, "
                            "coalesce(args, '{}'), \"end\" - ts from slice where not instant")
            got = [(*row[:8], json.dumps(json.loads(row[8]), sort_keys=True), row[9]) for row in got]
            want = [(s["ts"], s["dur"], s["name"], s["cat"], s["pid"], s["tid"], s["depth"],
                     s["self"], json.dumps(s["args"], sort_keys=True), s["dur"])
                    for s in made.slices]
            self.assertEqual(sorted(got, key=str), sorted(want, key=str))

    def test_parents_are_the_slices_around(self):
        made, path = self.make()
        got = self.rows(path, "select c.ts, c.tid, p.ts, p.name from slice c join slice p "
                        "on c.parent_id = p.id where not c.instant")
        want = [(s["ts"], s["tid"], s["parent"]["ts"], s["parent"]["name"])
                for s in made.slices if s["parent"]]
        self.assertEqual(sorted(got), sorted(want))

    def test_aggregates_agree_however_they_are_asked(self):
        made, path = self.make(spans=300)
        want = collections.defaultdict(list)
        for s in made.slices:
            want[s["name"]].append(s)
        want = sorted((n, len(v), sum(s["dur"] for s in v), sum(s["self"] for s in v),
                       min(s["dur"] for s in v), max(s["dur"] for s in v)) for n, v in want.items())
        raw = self.rows(path, "select name, count(*), sum(dur), sum(self_dur), min(dur), max(dur) "
                        "from slice where not instant group by name")
        stats = self.rows(path, "select name, count, total, self, min, max from slice_stats")
        self.assertEqual(sorted(raw), want)
        nested = collections.Counter()  # in another one of its name: its time is in that one's
        for s in made.slices:
            around = s["parent"]
            while around and around["name"] != s["name"]:
                around = around["parent"]
            nested[s["name"]] += s["dur"] if around else 0
        self.assertGreater(sum(nested.values()), 0)
        self.assertEqual(sorted(stats), [
            (n, count, total - nested[n], own if n != "request" else 0, *rest)  # async: no work
            for n, count, total, own, *rest in want])
        by_hand = collections.Counter()
        for s in made.slices:
            by_hand[s["pid"], s["name"]] += s["dur"]
        got = self.rows(path, "select pid, name, sum(dur) from slice where instant = 0 "
                        "group by pid, name")
        self.assertEqual({(p, n): d for p, n, d in got}, by_hand)

    def test_stats_take_arguments(self):
        made, path = self.make()
        got = self.rows(path, "select name, process, count from slice_stats('name,process')")
        want = collections.Counter((s["name"], s["pid"]) for s in made.slices)
        self.assertEqual(sorted(c for _, _, c in got), sorted(want.values()))
        got = self.rows(path, "select sum(count) from slice_stats where pid = 101")
        self.assertEqual(got, [(sum(s["pid"] == 101 for s in made.slices),)])
        end = 1_000_000 + 5000
        got = self.rows(path, f"select sum(count) from slice_stats('name', 0, 0, {end})")
        self.assertEqual(got, [(sum(s["ts"] < end for s in made.slices),)])
        self.assertEqual(self.rows(path, "select * from slice_stats where trace = 7"), [])
        self.assertIn("slice_stats: by:", self.complaint(path, "select * from slice_stats('nme')"))

    def test_stats_count_every_slice_between_many_instants(self):
        events = []
        for i in range(200):
            for ph, at, name in (("X", 0, f"s{i}"), ("i", 6, f"i{i}"), ("X", 7, "same")):
                events.append({"ph": ph, "pid": 1, "tid": 1, "ts": 10 * i + at, "name": name,
                               **({"dur": 2} if ph == "X" else {"s": "t"})})
        path = self.dir / "many.json"
        path.write_text(json.dumps(events))
        self.assertEqual(self.rows(path, "select count(*), sum(count), sum(self) from slice_stats"),
                         [(201, 400, 800_000)])

    def test_counters_instants_and_flows(self):
        made, path = self.make()
        got = self.rows(path, "select ts, value, pid from counter")
        self.assertEqual(sorted(got), sorted((c["ts"], c["value"], c["pid"]) for c in made.counters))
        got = self.rows(path, "select ts, pid, tid from instant")
        self.assertEqual(sorted(got), sorted((i["ts"], i["pid"], i["tid"]) for i in made.instants))
        got = self.rows(path, "select o.ts, o.tid, i.ts, i.tid from flow join slice o on o.id = "
                        "slice_out join slice i on i.id = slice_in")
        want = [(a["ts"], a["tid"], b["ts"], b["tid"]) for a, b in made.flows]
        self.assertEqual(sorted(got), sorted(want))

    def test_arguments_as_values_and_json(self):
        made, path = self.make()
        got = self.rows(path, "select arg(id, 'n'), arg(id, 'text'), arg(id, 'deep') ->> '$.a[0]', "
                        "json_extract(args, '$.list[1]') from slice where args is not null")
        want = [(s["args"].get("n"), s["args"].get("text"), 1 if "deep" in s["args"] else None,
                 "two" if "list" in s["args"] else None) for s in made.slices if s["args"]]
        self.assertEqual(sorted(got, key=str), sorted(want, key=str))
        keys = collections.Counter(k for s in made.slices for k in s["args"])
        got = self.rows(path, "select flat_key, count(distinct event_id) from args "
                        "where event_id is not null group by 1")
        self.assertEqual(dict(got), keys)

    def test_several_traces_at_once(self):
        counts = []
        for seed in (1, 2, 3):
            made, _ = self.make(seed, f"rank{seed}.json", processes=seed)
            counts.append(len(made.slices))
        got = self.rows(self.dir, "select path, count(*) from slice join trace on trace.id = trace "
                        "where not instant group by 1 order by 1")
        self.assertEqual([pathlib.Path(p).name for p, _ in got],
                         ["rank1.json", "rank2.json", "rank3.json"])
        self.assertEqual([n for _, n in got], counts)
        got = self.rows("rank*.json", "select count(distinct id), max(id) < (select sum(events) "
                        "from trace) from slice where not instant")
        self.assertEqual(got, [(sum(counts), 1)])


class Exported(Query):
    """unitrace against python's sqlite3 on what unitrace has exported."""

    QUERIES = [
        "select * from {} order by 1, 2, 3",
        "select count(*) from {}",
    ]
    TABLES = ["slice", "instant", "counter", "flow", "thread", "process", "track", "metadata",
              "thread_track", "process_track", "counter_track"]
    MORE = [
        "select name, count(*), sum(dur) from slice group by name order by 1",
        "select thread_name, name, sum(self_dur) from slice where depth > 0 group by 1, 2 order by 1, 2",
        "select id from slice where name = 'alpha' and dur > 500 order by id",
        "select id from slice where name in ('alpha', 'beta') and ts between 1000000 and 1100000 "
        "order by id",
        "select id from slice where name glob 'b*' or name like 'GAM%' order by id",
        "select id from slice where name like '_\\%' escape '\\' order by id",
        "select id from slice where tid = 101 and pid = '101' order by id",
        "select s.name, a.key, a.value, a.value_type, a.int_value, a.string_value, a.real_value "
        "from slice s join args a using (arg_set_id) order by s.id, a.key",
        "select c.name, p.name from slice c join slice p on p.id = c.parent_id order by c.id",
        "select process.name, thread.name, count(*) from slice join thread using (utid) "
        "join process on process.upid = thread.upid group by 1, 2 order by 1, 2",
        "select id, ts from slice order by ts, id limit 20",
        "select id, dur from slice order by dur desc, id limit 20",
        "select name, count, total, self, min, max, p50, p99 from slice_stats order by name",
        "with recursive up(id, parent_id, n) as (select id, parent_id, 0 from slice where depth = 3 "
        "union all select s.id, s.parent_id, n + 1 from up join slice s on s.id = up.parent_id) "
        "select id, n from up order by 1, 2",
    ]

    def export(self, path, name="trace.sqlite", **options):
        got = self.unitrace("export", "-o", self.dir / name, path, **options)
        self.assertEqual(got.returncode, 0, got.stderr)
        db = sqlite3.connect(self.dir / name)
        self.addCleanup(db.close)
        return db

    def normal(self, rows, names):
        """args is JSON, its blanks do not matter; lists of arguments may have other numbers."""
        def value(name, v):
            if name == "args" and v is not None:
                return json.loads(v)
            return v is not None if name == "arg_set_id" else v
        return [tuple(map(value, names, row)) for row in rows]

    def compare(self, db, path, sql):
        cursor = db.execute(sql)
        names = [d[0] for d in cursor.description]
        got = json.loads(self.query("--format", "json", path, sql).stdout)
        ours = [tuple(row.values()) for row in got]
        if got:
            self.assertEqual(list(got[0])[:1], names[:1], sql)
        self.assertEqual(self.normal(ours, names), self.normal(cursor.fetchall(), names), sql)

    def test_tables_and_answers_are_the_same(self):
        _, path = self.make(spans=100)
        db = self.export(path)
        for table in self.TABLES:
            for sql in self.QUERIES:
                self.compare(db, path, sql.format(table))
        for sql in self.MORE:
            self.compare(db, path, sql)
        self.assertEqual(db.execute("pragma integrity_check").fetchone(), ("ok",))

    def test_any_bytes_become_text_that_readers_accept(self):
        names = [b"bad \xff\xfe bytes", b"cut \xe2\x82", b"nul\\u0000here", b"it's; --"]
        events = b",".join(b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":1,"name":"%s","cat":"%s",'
                           b'"args":{"%s":"%s","list":["%s"]}}' % (i, n, n, n, n, n)
                           for i, n in enumerate(names))
        path = self.dir / "bytes.json"
        path.write_bytes(b'{"traceEvents":[' + events + b"]}")
        want = [json.loads(b'"%s"' % n.decode(errors="replace").encode()) for n in names]
        db = self.export(path, "bytes.sqlite")
        for column in ("name", "cat"):
            rows = db.execute(f"select {column} from slice order by ts").fetchall()
            self.assertEqual([r[0] for r in rows], want)
        self.assertEqual({r[0] for r in db.execute("select string_value from args")} - {None},
                         set(want))
        rows = self.rows(path, "select name from slice order by ts")
        self.assertEqual([r[0] for r in rows], want)
        found = self.rows(path, f"select count(*) from slice where name = '{want[0]}'")
        self.assertEqual(found, [(1,)])

    def test_a_name_is_found_by_its_index(self):
        _, path = self.make()
        db = self.export(path, "trace.db")
        plan = str(db.execute("explain query plan select sum(dur) from slice where name = 'alpha'")
                   .fetchall())
        self.assertIn("slice_name", plan)

    def test_nothing_is_left_when_the_disk_is_full(self):
        _, path = self.make(spans=2000)

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        got = self.unitrace("export", "-o", self.dir / "x.sqlite", path, preexec_fn=small_files)
        self.assertEqual(got.returncode, 1, got.stderr)
        self.assertIn(b"x.sqlite: SQLite:", got.stderr)
        self.assertEqual([p.name for p in self.dir.iterdir()], ["trace.json"])

    def test_only_plain_files(self):
        _, path = self.make()
        for target in ("-", "x.sqlite.gz"):
            got = self.unitrace("export", "-f", "sqlite", "-o", target, path)
            self.assertEqual(got.returncode, 1, got.stderr)
            self.assertIn(b"needs a plain file", got.stderr)
        self.assertEqual([p.name for p in self.dir.iterdir()], ["trace.json"])

    def test_an_existing_file_is_replaced(self):
        _, path = self.make()
        (self.dir / "x.sqlite").write_text("mine")
        got = self.unitrace("export", "-o", self.dir / "x.sqlite", path)
        self.assertEqual(got.returncode, 0, got.stderr)
        db = sqlite3.connect(self.dir / "x.sqlite")
        self.addCleanup(db.close)
        self.assertGreater(db.execute("select count(*) from slice").fetchone()[0], 0)


class Words(Query):
    """Where the SQL comes from and where the rows go."""

    def test_sql_from_word_file_and_standard_input(self):
        made, path = self.make()
        sql = "select count(*) as n from slice where not instant"
        want = [{"n": len(made.slices)}]
        (self.dir / "q.sql").write_text(sql)
        for words, options in (([path, sql], {}), ([path, "-f", "q.sql"], {}),
                               (["-f", "-", path], {"input": sql.encode()}),
                               ([path], {"input": sql.encode()}),
                               (["-", sql], {"input": path.read_bytes()})):
            got = self.query("--json", *words, **options)
            self.assertEqual(json.loads(got.stdout), want, words)
        self.query("-", rc=2, input=b"")
        self.query("-", "-f", "-", rc=2, input=b"")
        self.query("select 1 from slice", rc=2)

    def test_a_name_that_no_trace_has_is_reported(self):
        """On stderr, with the nearest; rows, formats and status are as ever."""
        path = self.dir / "names.json"
        path.write_text('[{"ph":"X","name":"blur it\'s","pid":1,"tid":1,"ts":1,"dur":2}]')
        got = self.query(path, "--format", "csv", "select dur from slice where name = 'blurr it''s'")
        self.assertEqual(got.stdout, b"dur\n")
        self.assertEqual(got.stderr.decode(), "unitrace: no rows: nothing is called 'blurr it's'; "
                                              "did you mean 'blur it's'?\n")
        for sql in ("select dur from slice where name = 'blur it''s' and dur > 5",
                    "select count(*) from slice where name = 'nobody'",
                    "select dur from slice where name like 'nobody'"):
            self.assertEqual(self.query(path, sql).stderr, b"", sql)

    def test_a_file_whose_name_has_a_blank_is_a_trace(self):
        made, path = self.make(name="a trace.json")
        got = self.query("--json", path, input=b"select sum(not instant) as n from slice")
        self.assertEqual(json.loads(got.stdout), [{"n": len(made.slices)}])

    def test_formats(self):
        _, path = self.make()
        sql = ("select name, dur, dur / 2.0 as half, cat, null as none, '' as empty, x'00ff' as "
               "blob, name from slice order by id limit 30")
        rows = json.loads(self.query("--json", path, sql).stdout)
        self.assertEqual(list(rows[0]), ["name", "dur", "half", "cat", "none", "empty", "blob",
                                         "name_2"])
        text = self.query("--format", "csv", path, sql).stdout.decode()
        got = list(csv.reader(text.splitlines(keepends=True)))
        self.assertEqual(got[0], ["name", "dur", "half", "cat", "none", "empty", "blob", "name"])
        for cells, row in zip(got[1:], rows, strict=True):
            self.assertEqual(cells[0], row["name"])
            self.assertEqual(int(cells[1]), row["dur"])
            self.assertEqual(float(cells[2]), row["half"])
            self.assertEqual(cells[3:7], [row["cat"] or "", "", "", "x'00ff'"])
        lines = self.query("--format", "jsonl", path, sql).stdout.decode().splitlines()
        self.assertEqual([json.loads(line) for line in lines], rows)
        lines = self.query("--format", "tsv", path, sql).stdout.decode().splitlines()
        self.assertEqual(len(lines), 31)
        self.assertTrue(all(line.count("\t") == 7 for line in lines))

    def test_tables_are_aligned(self):
        _, path = self.make()
        got = self.query(path, "select 'a' as text, 5 as number union all select 'long', 12345; "
                         "select 'x' || char(10) || 'y' as two_lines").stdout.decode()
        self.assertEqual(got, "text  number\n----  ------\na          5\nlong   12345\n"
                         "two_lines\n---------\nx\\ny\n")
        got = self.query("-w", "8", path, "select 'abcdefghijklmnop' as a").stdout.decode()
        self.assertEqual(got.splitlines()[2], "abcd…nop")

    def test_one_long_name_does_not_move_the_numbers_of_others_away(self):
        _, path = self.make()
        sql = "select 'a' as text, 5 as number union all select printf('%.*c', 2000, 'x'), 12345"
        lines = self.query(path, sql).stdout.decode().splitlines()
        self.assertEqual([len(line) for line in lines[:3]], [60 + 2 + 6] * 3)
        self.assertEqual(lines[3], "x" * 2000 + "   12345")
        got = self.query("--format", "csv", path, sql).stdout.decode().splitlines()
        self.assertEqual(got[2], "x" * 2000 + ",12345")

    def test_many_rows_keep_coming(self):
        _, path = self.make()
        got = self.query("--format", "table", path, "with recursive n(i) as (select 1 union all "
                         "select i + 1 from n where i < 20000) select i, 'x' from n").stdout
        self.assertEqual(len(got.splitlines()), 20002)

    def test_schema_describes_every_column(self):
        text = self.query("--schema").stdout.decode()
        _, path = self.make()
        for table in self.query(path, ".tables").stdout.decode().split():
            columns = self.rows(path, f"select name from pragma_table_xinfo('{table}')")
            part = text.partition(f" {table} (\n")[2].partition("\n);")[0]
            described = [line.split()[0] for line in part.splitlines()]
            self.assertEqual([c for c, in columns], described, table)
            self.assertTrue(all(" -- " in line for line in part.splitlines()), part)
        one = self.query(path, ".schema flow").stdout.decode()
        self.assertIn("CREATE TABLE flow (", one)
        self.assertIn(one.strip(), text)

    def test_output_is_whole_or_not_there(self):
        _, path = self.make()
        target = self.dir / "out.csv"
        self.complaint("-o", target, path, "select name from slice; select nme from slice")
        self.assertFalse(target.exists())
        self.query("-o", target, "--format", "csv", path, "select 1 as one")
        self.assertEqual(target.read_text(), "one\n1\n")
        self.complaint("-o", target, path, "select nme from slice")
        self.assertEqual(target.read_text(), "one\n1\n")
        self.query("-o", target, "--format", "csv", path, "select 2 as two")
        self.assertEqual(target.read_text(), "two\n2\n")

    def test_a_closed_pipe_is_quiet(self):
        _, path = self.make()
        got = self.run_words("bash", "-c", f"'{common.UNITRACE}' query '{path}' \"with recursive n(i) as "
                             "(select 1 union all select i + 1 from n where i < 1000000) select i "
                             "from n\" | head -n 1")
        self.assertEqual(got.stderr, b"")

    def test_bad_traces_are_reported_like_everywhere(self):
        (self.dir / "bad.json").write_text("hello, I am no trace")
        self.assertIn("bad.json", self.complaint(self.dir / "bad.json", "select 1 as x"))
        self.assertIn("missing.json", self.complaint("missing.json", "select 1 as x"))


class Hostile(Query):
    def test_mistakes_are_one_line_with_place_and_advice(self):
        _, path = self.make()
        for sql, wanted in (
                ("select nme from slice", "SQL:1:8: no such column: nme; did you mean name?"),
                ("select 1;\n\nselect duration from slice",
                 "SQL:3:8: no such column: duration; did you mean dur?"),
                ("select * from slcie", "SQL:1:15: no such table: slcie; did you mean slice?"),
                ("select * form slice", "SQL:1:10: near \"form\": syntax error"),
                ("select (", "SQL: incomplete input"),
                ("select 'abc", "SQL:1:8: unrecognized token: \"'abc\""),
                ("select max() from slice", "SQL:1:8: wrong number of arguments to function max()")):
            self.assertEqual(self.complaint(path, sql), wanted)

    def test_nothing_can_be_written(self):
        _, path = self.make()
        before = path.read_bytes()
        for sql in (f"attach '{self.dir}/evil.db' as evil", f"vacuum into '{self.dir}/evil.db'",
                    "detach main", "select load_extension('/lib/evil.so')",
                    f"pragma temp_store_directory = '{self.dir}'", "pragma writable_schema = on",
                    "pragma journal_mode = wal", "insert into slice(ts) values (1)",
                    "delete from args", "update thread set name = 'x'", "drop table slice",
                    "select writefile('evil', 'x')", "select readfile('/etc/passwd')",
                    "select fts3_tokenizer('simple', x'00')", "select edit('x')",
                    "create virtual table temp.x using slice", "alter table slice add column x",
                    "create index i on slice(name)", "create trigger t after insert on slice begin "
                    "select 1; end", "pragma case_sensitive_like = on"):
            self.complaint(path, sql)
        self.assertEqual([p.name for p in self.dir.iterdir()], ["trace.json"])
        self.assertEqual(path.read_bytes(), before)

    def test_odd_values_do_no_harm(self):
        _, path = self.make()
        for sql in ("select * from slice where id = 9223372036854775807",
                    "select * from slice where id = -9223372036854775808",
                    "select * from args where arg_set_id = 9223372036854775807",
                    "select * from args where arg_set_id = -5 or event_id = 1e18",
                    "select * from flow where slice_in = 1e300",
                    "select arg(id, null), arg(null, 'x'), arg('a', 'b'), arg(-1, 'x'), "
                    "arg(9e18, 'x'), extract_arg(9223372036854775807, 'n'), extract_arg(-1, x'00') "
                    "from slice limit 3",
                    "select * from slice where name in (select key from args) and ts > 'x'",
                    "select * from slice_stats(null, null, null, null, null) limit 1",
                    "select * from slice_stats('name', 9223372036854775807)",
                    "select * from slice_stats('name', 0, 9223372036854775807, 0)",
                    "select count(*) from slice a join slice b on a.name = b.name and a.ts < b.ts",
                    "select * from thread where utid = 0.5",
                    "select zeroblob(100), randomblob(3)"):
            self.query("--format", "json", path, sql)
        deep = "select " + "(" * 900 + "1" + ")" * 900
        self.query(path, deep, rc=self.query_status(path, deep))
        self.complaint(path, "select " + "(" * 5000 + "1" + ")" * 5000)

    def query_status(self, *words):
        return self.unitrace("query", *words).returncode

    def test_empty_traces_have_empty_tables(self):
        path = self.dir / "empty.json"
        path.write_text('{"traceEvents":[]}')
        for table in self.query(path, ".tables").stdout.decode().split():
            rows = self.rows(path, f"select count(*) from {table}")
            self.assertEqual(rows, [(len(self.rows(path, f"select * from {table}")),)])


class Interrupt(Query):
    FOREVER = "select count(*) from slice a, slice b, slice c, slice d"

    def test_control_c_ends_a_query(self):
        _, path = self.make(spans=600)
        for sql in (self.FOREVER, "select count(*) from slice a, slice b, slice c where "
                    "a.dur + b.dur + c.dur = -1"):
            process = self.start(common.UNITRACE, "query", path, sql)
            self.addCleanup(common.end_process, process)
            common.wait_for_cpu(process.pid, 0.3)  # the SQL is under way: reading the trace takes less
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=common.PATIENCE)
            self.assertEqual(process.returncode, -signal.SIGINT, err)
            self.assertEqual((out, err), (b"", b""))

    def talk(self, master, text, until):
        os.write(master, text)
        seen = b""
        while until not in seen:
            ready, _, _ = select.select([master], [], [], common.PATIENCE)
            self.assertTrue(ready, seen)
            seen += os.read(master, 65536)
        return seen.decode()

    def test_the_prompt(self):
        made, path = self.make()
        master, slave = pty.openpty()
        process = subprocess.Popen([common.UNITRACE, "query", path], stdin=slave, stdout=slave,
                                   stderr=slave, preexec_fn=self.take_terminal)
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(common.end_process, process)
        self.talk(master, b"", b"unitrace> ")
        seen = self.talk(master, b".tables\n", b"unitrace> ")
        self.assertIn("slice_stats", seen)
        self.talk(master, b"select count(*)\n", b"...> ")
        seen = self.talk(master, b"from slice where not instant;\n", b"unitrace> ")
        self.assertIn(str(len(made.slices)), seen)
        seen = self.talk(master, b"select nme from slice;\n", b"unitrace> ")
        self.assertIn("did you mean name?", seen)
        seen = self.talk(master, b".nothing\n", b"unitrace> ")
        self.assertIn("no command .nothing", seen)
        self.talk(master, b"select 1\n", b"...> ")
        self.talk(master, b"\x03", b"unitrace> ")  # gives the statement up
        seen = self.talk(master, b"select 40 + 2;\n", b"unitrace> ")
        self.assertIn("42", seen)
        os.write(master, self.FOREVER.encode() + b";\n")
        common.wait_for_cpu(process.pid, 0.2)
        seen = self.talk(master, b"\x03", b"unitrace> ")
        self.assertIn("interrupted", seen)
        os.write(master, b".quit\n")
        process.wait(common.PATIENCE)
        self.assertEqual(process.returncode, 0)

    @staticmethod
    def take_terminal():
        """Ctrl-C goes to the process that owns the terminal."""
        import fcntl
        import termios
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored by what a script has in the background
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


if __name__ == "__main__":
    if not common.UNITRACE.exists():
        common.skip(f"{common.UNITRACE} is not built")
    help_text = subprocess.run([common.UNITRACE, "query", "--schema"], capture_output=True)
    if b"built without SQLite" in help_text.stderr:
        common.skip("built without SQLite")
    common.main()
