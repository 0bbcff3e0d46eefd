#!/usr/bin/env python3
"""Perfetto's trace_processor finds in our files what our own query finds: recordings, as JSON and
as .pftrace."""
# ci: labels slow real
import json
import unittest

import common
import perfetto_oracle

common.need("every_call")

SLICES = "select name, ts, dur from slice where dur > 0 order by ts, dur desc, name"
THREADS = ("select thread.name as t, count(*) as n from slice "
           "join thread_track on thread_track.id = slice.track_id "
           "join thread using (utid) where dur > 0 group by 1 order by 1")
COUNTERS = "select counter.ts, value from counter order by 1, 2"


def as_it_reads(path, value):
    """It takes whole numbers of JSON for signed ones of 64 bits, whatever they were."""
    if path.suffix == ".json" and float(value) >= 2.0 ** 63:
        return float(value) - 2.0 ** 64 if float(value) < 2.0 ** 64 else -1.0
    return float(value)


NESTED = ("select s.name as name, s.ts as ts, s.dur as dur, s.depth as depth, p.name as parent from slice s "
          "left join slice p on p.id = s.parent_id order by s.ts, s.dur desc, s.depth, s.name")


def B(ts, name=None, ph="B", **more):
    return {"ph": ph, "ts": ts, "pid": 1, "tid": 1, **({"name": name} if name else {}), **more}


def E(ts, name=None):
    return B(ts, name, "E")


def b(ts, name, ph="b", number=1):
    return B(ts, name, ph, id=number, cat="c")


def e(ts, name, number=1):
    return b(ts, name, "e", number)


# Events of a shape; what Perfetto and we make of it: name, ts, dur, depth, parent.
SHAPES = {
    "an end behind a begin of its time": (
        [B(10, "a"), B(20, "b"), E(20, "a"), E(30, "b")],
        [("a", 10, 10, 0, None), ("b", 20, 10, 0, None)]),
    "the same without names": (
        [B(10, "a"), B(20, "b"), E(20), E(30)], [("a", 10, 10, 0, None), ("b", 20, 10, 0, None)]),
    "two begins of one time": (
        [B(10, "a"), B(10, "b"), E(20, "b"), E(20, "a")],
        [("a", 10, 10, 0, None), ("b", 10, 10, 1, "a")]),
    "an end for one of several": (
        [B(10, "a"), B(12, "b"), B(14, "c"), E(14, "b"), E(20, "c"), E(22, "a")],
        [("a", 10, 12, 0, None), ("b", 12, 2, 1, "a"), ("c", 14, 6, 1, "a")]),
    "async spans of one id": (
        [b(10, "a"), b(12, "b"), b(13, "at", "n"), e(14, "b"), e(20, "a")],
        [("a", 10, 10, 0, None), ("b", 12, 2, 1, "a"), ("at", 13, 0, 2, "b")]),
    "async spans of two ids": (
        [b(10, "a"), b(12, "b", number=2), e(14, "a"), e(20, "b", 2)],
        [("a", 10, 4, 0, None), ("b", 12, 8, 0, None)]),
    "async spans that cross": (
        [b(10, "a"), b(12, "b"), e(14, "a"), e(20, "b")],
        [("a", 10, 4, 0, None), ("b", 12, 2, 1, "a")]),
    "instants of a thread and of its process": (
        [B(4, "x", "X", dur=4), B(5, "i", "i", s="t"), B(6, "j", "i", s="p"), B(7, "k", "i", s="g")],
        [("x", 4, 4, 0, None), ("i", 5, 0, 1, "x"), ("j", 6, 0, 0, None), ("k", 7, 0, 0, None)]),
}


# The same of files without complete events.
PLAIN = {
    "an end for the begin before it": (
        [B(10, "a"), B(20, "b"), E(20), E(30)], [("a", 10, 20, 0, None), ("b", 20, 0, 1, "a")]),
    "one without length, then another": (
        [B(10, "a"), E(10), B(10, "b"), E(20)], [("b", 10, 10, 0, None), ("a", 10, 0, 0, None)]),
    "two inside, the first without length": (
        [B(10, "a"), B(20, "b"), E(20), B(20, "c"), E(30), E(40)],
        [("a", 10, 30, 0, None), ("c", 20, 10, 1, "a"), ("b", 20, 0, 1, "a")]),
}


class Shapes(common.Case):
    """Chrome's begins, ends, async spans and instants mean what they mean in Perfetto."""

    def setUp(self):
        super().setUp()
        self.files = {}
        for name, (events, _) in SHAPES.items():
            path = self.dir / f"{name}.json"
            path.write_text(json.dumps({"traceEvents": [B(0, "first", "X", dur=1)] + events}))
            self.files[name] = path
        for name, (events, _) in PLAIN.items():
            self.files[name] = self.dir / f"{name}.json"
            self.files[name].write_text(json.dumps({"traceEvents": events}))

    def check(self, name, rows):
        rows = [(n, ts // 1000, dur // 1000, *rest) for n, ts, dur, *rest in rows if n != "first"]
        self.assertEqual(rows, [tuple(row) for row in {**SHAPES, **PLAIN}[name][1]])

    def test_our_query(self):
        for name, path in self.files.items():
            # files that we write have complete events, which lie in each other by their length
            for suffix in (".utr",) if name in PLAIN else (".json", ".pftrace", ".utr"):
                with self.subTest(name, suffix=suffix):
                    made = path.with_suffix(".again" + suffix)
                    self.assertEqual(self.unitrace("export", "-o", made, path).returncode, 0)
                    got = self.unitrace("query", "--json", made, NESTED)
                    self.check(name, [tuple(row.values()) for row in json.loads(got.stdout)])

    @unittest.skipIf(perfetto_oracle.missing(), perfetto_oracle.missing())
    def test_perfetto(self):
        for name, path in self.files.items():
            with self.subTest(name):
                self.check(name, perfetto_oracle.ask(path, NESTED)[0])

    def test_what_is_inside_an_async_span(self):
        path = self.files["async spans of one id"]
        for sql in ("select count(*) as n from descendant_slice((select id from slice where name = 'a'))",
                    "select count(*) as n from ancestor_slice((select id from slice where name = 'at'))"):
            got = self.unitrace("query", "--json", path, sql)
            self.assertEqual(json.loads(got.stdout), [{"n": 2}], got.stderr)


@unittest.skipIf(perfetto_oracle.missing(), perfetto_oracle.missing())
class Oracle(common.Case):
    def ours(self, path, sql):
        got = self.unitrace("query", "--json", path, sql)
        self.assertEqual(got.returncode, 0, got.stderr)
        return [tuple(row.values()) for row in json.loads(got.stdout)]

    def record_as(self, suffix, *words):
        path = self.dir / f"run{suffix}"
        got = self.unitrace("-o", path, *words)
        self.assertEqual(got.returncode, 0, got.stderr)
        return path

    def compare(self, path):
        slices, threads, counters = perfetto_oracle.ask(path, SLICES, THREADS, COUNTERS)
        self.assertGreater(len(slices), 0)
        first = min(ts for _, ts, _ in slices)  # it counts JSON from 0, or not: only distances matter
        ours = self.ours(path, SLICES)
        ours_first = min(ts for _, ts, _ in ours)
        self.assertEqual([(n, ts - first, d) for n, ts, d in slices],
                         [(n, ts - ours_first, d) for n, ts, d in ours])
        self.assertEqual([(ts - first, float(v)) for ts, v in counters],
                         [(ts - ours_first, as_it_reads(path, v))
                          for ts, v in self.ours(path, COUNTERS)])
        return threads

    def test_json_of_every_call(self):
        self.compare(self.record_as(".json", common.program("every_call")))

    def test_pftrace_of_every_call(self):
        self.compare(self.record_as(".pftrace", common.program("every_call")))

    def test_threads_of_an_example(self):
        program = common.BUILD / "examples/threads"
        if not program.exists():
            self.skipTest(f"{program} is not built")
        of_json = self.compare(self.record_as(".json", program))
        of_pftrace = self.compare(self.record_as(".pftrace", program))
        # Rows that are no threads (frames) have no other place in JSON.
        self.assertLessEqual({name for name, _ in of_pftrace}, {name for name, _ in of_json})
        self.assertGreater(len(of_pftrace), 1)


if __name__ == "__main__":
    common.main()
