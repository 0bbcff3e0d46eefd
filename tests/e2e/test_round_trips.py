"""json -> utr -> json -> pftrace -> json -> sqlite, csv: what each format can hold comes through.

After every step the result is read by other code than ours (Python's json, csv and sqlite3) and
compared with the file that the chain started from. One trace has every phase and every kind of
metadata, odd ids and large numbers; the others are random (tests/gen/trace_gen.py), named by seed.
"""
# ci: labels fast long
import collections
import csv
import json
import os
import sqlite3
import sys
import unittest

from common import SOURCE, Case
from test_analyze import flex, kernels
from test_chrome_import import Canon, Num, arguments, key, members_of_output, to_ns

sys.path.insert(0, str(SOURCE / "tests" / "gen"))
import trace_gen  # noqa: E402

SEEDS = range(400 if os.environ.get("UNITRACE_LONG") == "1" else 25)
BIG = 2 ** 64 - 1
PLACE = {"pid": 10, "tid": 11}


def event(ph, name, ts, **more):
    return {"ph": ph, "name": name, "ts": ts, **PLACE, **more}


SPANS = [
    event("X", "outer", 1, dur=900, cat="a,b", args={
        "null": None, "nested": {"deep": [1, None, {"k": None, "e": {}, "l": []}], "": 1},
        "list": [1, 2.5, "x"], "long": list(range(20)), "empty": [], "big": BIG, "2^63": 2 ** 63,
        "huge": 10 ** 30, "most": -2 ** 63, "text": "0x1f", "digits": "4711", "é": "雪 😀\t\"\\",
        "": "no key", "bool": True, "tiny": 5e-324, "unicode": "\u2028"}),
    event("X", "inner", 1.001, dur=0.123456, cat="", args={}),
    event("B", "begun", 10, args={"at": "begin"}), event("E", "begun", 20, args={"then": "end"}),
    event("X", "text ids", 5, dur=1, pid="gpu 0", tid="stream 7"),
    event("X", "large ids", 5, dur=1, pid=2 ** 63 + 1, tid=BIG),
    event("X", "below zero", 5, dur=1, pid=-3, tid=-1),
    event("X", "members", 6, dur=1, tts=3, cname="good", custom={"a": [None]}),
    event("X", "rank", 5, dur=1, pid=20, tid=20),
]
TIMESTAMPS = [
    event("i", "here", 2, s="t"), event("i", "process", 3, s="p", args={"n": None}),
    event("i", "all", 4, s="g", cat="x,y,z"), event("I", "old", 5), event("P", "sample", 6, sf=1),
    event("N", "object", 7, id="0xabc"), event("O", "object", 8, id="0xabc", args={"s": {"x": 1}}),
    event("D", "object", 9, id="0xabc"), event("N", "odd", 9, id="a name", scope="s"),
]
ASYNCS = [
    event("b", "plain", 1, cat="io", id="0x1", args={"why": None}), event("n", "in", 2, cat="io", id=1),
    event("e", "plain", 3, cat="io", id=1),
    event("b", "local", 1, cat="io", id2={"local": "0x1"}), event("e", "local", 9, cat="io", id2={"local": "0x1"}),
    event("b", "global", 1, cat="io", id2={"global": "x"}), event("e", "global", 8, cat="io", id2={"global": "x"}),
    event("S", "old", 1, cat="old", id="a b", scope="s"), event("F", "old", 7, cat="old", id="a b", scope="s"),
    event("b", "never ends", 6, cat="io", id="0x77"),
]
FLOWS = [
    event("s", "arrow", 12, cat="f", id=5), event("f", "arrow", 700, cat="f", id=5, bp="e"),
]
COUNTERS = [
    event("C", "mem", 1, args={"heap": 1, "rss": 2.5, "why": "text"}),
    event("C", "mem", 1, id="0x5", args={"heap": -1, "rss": BIG}),
    event("C", "mem", 1, id=7, args={"value": 2 ** 63}), event("C", "mem", 2, args={"value": BIG}),
    event("C", "mem", 2, pid=20, args={"heap": 3}),
]
META = [
    event("M", "process_name", 0, args={"name": "solver"}), event("M", "thread_name", 0, args={"name": "main"}),
    event("M", "process_labels", 0, args={"labels": "one, two,drei"}),
    event("M", "process_sort_index", 0, args={"sort_index": -5}),
    event("M", "thread_sort_index", 0, args={"sort_index": 7}),
    event("M", "num_cpus", 0, args={"number": 8, "null": None}),
    event("M", "process_name", 0, pid="gpu 0", args={"name": "device"}),
    event("M", "process_name", 0, pid=20, args={"name": "RANK 3 solver"}),
    event("M", "thread_name", 0, tid=99, args={"name": "nothing happened here"}),
    event("M", "process_name", 0, pid=98, args={"name": "nothing at all"}),
    event("M", "thread_name", 0, pid="gpu 0", tid="stream 7", args={"name": "копия"}),
]
MEMBERS = {"displayTimeUnit": "ms", "traceName": "a \"name\"", "schemaVersion": 1, "none": None,
           "otherData": {"tool": "somebody else", "n": [1, None]}, "stackFrames": {"1": {"name": "f"}}}
RICH = {**MEMBERS, "traceEvents": SPANS + TIMESTAMPS + ASYNCS + FLOWS + COUNTERS + META}


def identity(e, series):
    """What every table calls a counter."""
    number = f" id: {e['id']}" if "id" in e else ""
    return e["name"] + number + ("" if series == "value" else " " + series)


def values(events):
    """(pid, ts, which counter, value with all its digits), of everything that is counted."""
    return sorted((key(e["pid"]), to_ns(e["ts"]), identity(e, k), key(v)) for e in events
                  if e["ph"] == "C" for k, v in e["args"].items() if not isinstance(v, str))


def text_id(value):
    """A pid or tid as csv has it: a number, or JSON."""
    return value if isinstance(value, str) and value.isdigit() else json.dumps(value, ensure_ascii=False)


def open_(unfinished):
    return {"unfinished": True} if unfinished else {}


def read(row):
    return {**json.loads(row["args"] or "{}"), **open_("unfinished" in row["flags"])}


def spans(events):
    return sorted(key([text_id(e["pid"]), text_id(e["tid"]), to_ns(e["ts"]), to_ns(e["dur"]),
                       e["name"], e.get("cat", ""), arguments(e)]) for e in events if e["ph"] == "X")


def differ(want, got):
    """What one of two counts, or of two dicts, has and the other has not."""
    if isinstance(want, collections.Counter):
        return sorted((want - got).elements()), sorted((got - want).elements())
    return ({k: v for k, v in want.items() if got.get(k) != v}, {k: v for k, v in got.items() if want.get(k) != v})


def canon_of(text, ours):
    canon = Canon(text)
    if ours:
        canon.members = members_of_output(canon.members)
    else:
        canon.members.setdefault("displayTimeUnit", "ns")
    return canon


def moments(canon):
    """Groups of async events and objects; of an end only what a slice has a place for."""
    out = collections.Counter()
    for name, group in canon.groups.items():
        family, cat, scope, local, number, *_ = json.loads(name)
        rows = [json.loads(row) for row in group]
        rows = [row[:2] + row[3:-1] if row[0] == "e" else row for row in rows]
        if family != "flow":
            out[key([family, cat, scope, local, number, sorted(rows, key=key)])] += 1
    return out


class RoundTrips(Case):
    maxDiff = None

    def unitrace(self, *words, **options):
        return super().unitrace(*words, text=True, **options)

    def export(self, source, target):
        done = self.unitrace("export", "--quiet", "--overwrite", "-o", target, source)
        self.assertEqual(done.returncode, 0, f"{source} -> {target}: {done.stderr}")
        if source != "a.json":  # that one may have times below zero
            self.assertEqual(done.stderr, "", f"{source} -> {target}")
        return self.dir / target

    def text(self, name):
        return (self.dir / name).read_text(encoding="utf-8")

    def same(self, what, want, got):
        lost, new = differ(want, got)
        self.assertFalse(lost or new, f"{what}\nlost: {lost}\nnew: {new}")

    def compare(self, what, start, end, parts):
        want, got = canon_of(start, False), canon_of(self.text(end), True)
        for part in parts:
            self.same(f"{what}: {part}", want.known()[part], got.known()[part])
        return want, got

    def chain(self, text):
        self.write("a.json", text)
        for source, target in (("a.json", "b.utr"), ("b.utr", "c.json"), ("c.json", "d.pftrace"),
                               ("d.pftrace", "e.json"), ("e.json", "f.sqlite"), ("e.json", "f.csv")):
            self.export(source, target)

    def csv_rows(self):
        with open(self.dir / "f.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def spans(self):
        return spans(json.loads(self.text("e.json"), parse_float=Num)["traceEvents"])

    def check_csv(self, what):
        got = sorted(key([r["pid"], r["tid"], int(r["ts_ns"]), int(r["dur_ns"]), r["name"],
                          r["category"], read(r)]) for r in self.csv_rows()
                     if r["kind"] == "span")
        self.assertEqual(got, self.spans(), what)

    def check_sqlite(self, what):
        db = sqlite3.connect(self.dir / "f.sqlite")
        got = db.execute("select pid, tid, ts, dur, coalesce(name, ''), coalesce(cat, ''),"
                         " coalesce(args, '{}'), unfinished from slice where not async and not instant")
        got = sorted(key([text_id(p), text_id(t), *row, {**json.loads(args), **open_(u)}])
                     for p, t, *row, args, u in got)
        self.assertEqual(got, self.spans(), what)

    def write(self, name, text):
        (self.dir / name).write_text(text, encoding="utf-8")


class Rich(RoundTrips):
    def setUp(self):
        super().setUp()
        self.origin = json.dumps(RICH)
        self.chain(self.origin)

    def test_utr_and_json_keep_everything(self):
        self.compare("json -> utr -> json", self.origin, "c.json", ("rows", "groups", "meta", "members"))

    def test_pftrace_keeps_all_but_the_names_of_arrows(self):
        want, got = self.compare("pftrace", self.origin, "e.json", ("rows", "meta", "members"))
        self.same("async events and objects", moments(want), moments(got))
        arrows = [(e["ph"], e["tid"]) for e in json.loads(self.text("e.json"))["traceEvents"] if e["ph"] in "sf"]
        self.assertEqual(sorted(arrows), [("f", 11), ("s", 11)])

    def test_a_second_time_around_changes_nothing(self):
        self.export("e.json", "g.pftrace")
        self.export("g.pftrace", "h.json")
        self.assertEqual(self.text("h.json"), self.text("e.json"))

    def test_csv_has_the_spans_and_every_digit_of_the_counters(self):
        self.check_csv("rich")
        got = [r for r in self.csv_rows() if r["kind"] == "counter"]
        self.assertEqual(sorted((key(json.loads(r["pid"])), int(r["ts_ns"]), r["track"],
                                 key(json.loads(r["value"]))) for r in got), values(COUNTERS))

    def test_sqlite_has_the_spans_and_every_digit_of_the_counters(self):
        self.check_sqlite("rich")
        db = sqlite3.connect(self.dir / "f.sqlite")
        got = db.execute("select pid, ts, name, value from counter")
        self.assertEqual(sorted((key(p), t, n, key(int(v) if isinstance(v, str) else v))
                                for p, t, n, v in got), values(COUNTERS))
        got = db.execute("select typeof(value) from counter where value = ?", (str(BIG),))
        self.assertEqual(got.fetchall(), [("text",), ("text",)])
        got = db.execute("select value, int_value, json from args where key in ('big', '2^63', 'huge')"
                         " order by length(value)")
        self.assertEqual(got.fetchall(), [(str(v), str(v) if v <= BIG else None, str(v))
                                          for v in (2 ** 63, BIG, 10 ** 30)])

    def test_counters_have_one_name_in_every_table(self):
        want = sorted({(json.loads(p), name) for p, _, name, _ in values(COUNTERS)}, key=key)
        for source in ("a.json", "b.utr", "d.pftrace", "e.json"):
            sql = "select distinct pid, name from counter"
            got = self.unitrace("query", "--json", source, sql)
            self.assertEqual(sorted(((r["pid"], r["name"]) for r in rows_of(got.stdout)), key=key), want, source)
            got = self.unitrace("query", "--json", source, "select p.pid, t.name from counter_track t"
                                 " join process p using (upid)")
            self.assertEqual(sorted(((r["pid"], r["name"]) for r in rows_of(got.stdout)), key=key), want, source)
            got = self.unitrace("stats", "--counters", "--csv", source)
            names = [r["name"] for r in csv.DictReader(got.stdout.splitlines())]
            self.assertEqual(sorted(names), sorted({n for _, n in want}), source)

    def test_other_data_has_no_key_twice(self):
        def once(pairs):
            keys = [k for k, _ in pairs]
            self.assertEqual(len(keys), len(set(keys)), keys)
            return dict(pairs)
        for name in ("c.json", "e.json"):
            json.loads(self.text(name), object_pairs_hook=once)


class Random(RoundTrips):
    def test_random_traces_come_through(self):
        for seed in SEEDS:
            start = trace_gen.trace(seed, 30)
            self.chain(start)
            self.compare(f"seed {seed}", start, "c.json", ("rows", "groups", "meta", "members"))
            want, got = self.compare(f"seed {seed}, pftrace", start, "e.json", ("meta", "members"))
            # an arrow that hangs on no slice becomes an instant
            self.assertEqual([r for r in want.rows if r not in got.rows], [], f"seed {seed}, pftrace")
            self.check_csv(f"seed {seed}")
            self.check_sqlite(f"seed {seed}")


class Flex(RoundTrips):
    def test_a_flex_trace_keeps_its_devices_through_pftrace_and_utr(self):
        self.write("a.json", json.dumps(flex(kernels(6))))
        self.export("a.json", "a.pftrace")
        self.export("a.json", "a.utr")
        seen = {}
        for source in ("a.json", "a.pftrace", "a.utr"):
            done = self.unitrace("analyze", "-i", source, "--freq", "560:800", "-o", f"{source}.out.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            events = json.loads(self.text(f"{source}.out.json"))["traceEvents"]
            for e in events:
                e.get("args", {}).pop("jobname", None)
            seen[source] = events
        self.assertTrue(any("device" in e.get("args", {}) for e in seen["a.json"]))
        self.assertEqual(seen["a.pftrace"], seen["a.json"])
        self.assertEqual(seen["a.utr"], seen["a.json"])


def rows_of(text):
    whole = json.loads(text)
    return whole if isinstance(whole, list) else whole["rows"]


if __name__ == "__main__":
    unittest.main()
