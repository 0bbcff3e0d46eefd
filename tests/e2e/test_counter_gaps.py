#!/usr/bin/env python3
"""A counter that has no value for a while: every reader leaves that time out, none takes it for 0."""
import csv
import io
import json
import subprocess

import common
import perfetto_oracle

common.need("burn")
BURN = common.program("burn")

GAP = "NaN"  # as our exporter writes it
VALUES = [(0, 100), (10, GAP), (30, 50), (50, GAP)]  # us; a mean of (100 * 10 + 50 * 20) / 30
EVENTS = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "app"}},
          {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "name": "work"},
          *({"ph": "C", "pid": 1, "ts": ts, "name": "usage", "args": {"%": v}} for ts, v in VALUES)]
MEAN = 2000 / 30


class Reader(common.Case):
    def setUp(self):
        super().setUp()
        self.path = self.dir / "a.json"
        self.path.write_text(json.dumps(EVENTS))

    def text(self, *words):
        got = self.unitrace(*words)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode()

    def said(self, *words):
        return json.loads(self.text(*words))

    def usage(self, path, *words):
        row, = self.said("stats", "--json", *words, path)["counters"]
        return row

    def check(self, path):
        row = self.usage(path)
        self.assertEqual((row["count"], row["bad"], row["min"], row["max"], row["last"]), (2, 0, 50, 100, 50))
        self.assertAlmostEqual(row["mean"], MEAN)

    def converted(self, name):
        self.text("export", "--overwrite", "-o", self.dir / name, self.path)
        return self.dir / name


class Gaps(Reader):
    def test_stats(self):
        self.check(self.path)
        part = self.usage(self.path, "--from", "5us", "--to", "40us")  # 100 for 5 us, 50 for 10
        self.assertAlmostEqual(part["mean"], 1000 / 15)
        self.assertIsNone(self.usage(self.path, "--from", "12us", "--to", "28us")["mean"])

    def test_every_format_keeps_them(self):
        for name in ("b.json", "b.json.gz", "b.pftrace", "b.utr"):
            with self.subTest(name):
                self.check(self.converted(name))

    def test_chrome_json_says_that_there_is_none(self):
        events = json.loads(self.converted("b.json").read_text())["traceEvents"]
        self.assertEqual([e["args"]["%"] for e in events if e["ph"] == "C"], [100, GAP, 50, GAP])

    def test_merged(self):
        self.text("merge", "-o", self.dir / "m.json", self.path)
        self.check(self.dir / "m.json")

    def test_filtered(self):
        self.text("filter", "--from", "12us", "-o", self.dir / "f.utr", self.path)
        row = self.usage(self.dir / "f.utr")
        self.assertEqual((row["count"], row["mean"]), (1, 50))
        self.text("validate", self.dir / "f.utr")

    def test_nothing_is_wrong_with_them(self):
        self.assertNotIn("counter-value", self.text("validate", "--json", self.path))

    def test_a_counter_that_never_has_a_value_is_a_finding(self):
        events = [e for e in EVENTS if e["ph"] != "C" or e["args"]["%"] == GAP]
        self.path.write_text(json.dumps(events))
        self.assertIn("counter-value", self.unitrace("validate", "--json", self.path).stdout.decode())

    def test_queries_have_null(self):
        sql = "select ts, value from counter order by ts"
        rows = [(r["ts"], r["value"]) for r in self.said("query", "--json", self.path, sql)]
        self.assertEqual([v for _, v in rows], [100, None, 50, None])
        mean = self.said("query", "--json", self.path, "select avg(value) as m, count(value) as n from counter")
        self.assertEqual(mean, [{"m": 75, "n": 2}])

    def test_csv_has_an_empty_cell(self):
        rows = csv.DictReader(io.StringIO(self.converted("b.csv").read_text()))
        self.assertEqual([r["value"] for r in rows if r["kind"] == "counter"], ["100", "", "50", ""])

    def test_arrow_has_null(self):
        python, why = common.find_venv("pyarrow")
        if why:
            self.skipTest(why)
        code = "import json, sys, pyarrow.feather as f; print(json.dumps(f.read_table(sys.argv[1]).to_pylist(), default=str))"
        got = subprocess.run([python, "-c", code, self.converted("b.arrow")], capture_output=True, text=True, check=True)
        table = json.loads(got.stdout)
        self.assertEqual([r["value"] for r in table if r["kind"] == "counter"], [100, None, 50, None])

    def test_a_list_of_events_has_a_dash(self):
        shown = [line.split() for line in self.text("head", "-n", "20", self.path).splitlines()]
        self.assertEqual([words[-2] for words in shown if "counter" in words], ["100", "-", "50", "-"])
        self.assertNotIn("nan", self.text("head", "--json", "-n", "20", self.path).lower())

    def test_perfetto_has_null(self):
        if perfetto_oracle.missing():
            self.skipTest(perfetto_oracle.missing())
        for name in ("b.json", "b.pftrace"):
            with self.subTest(name):
                rows, wrong = perfetto_oracle.ask(
                    self.converted(name), "select value from counter order by ts",
                    "select name from stats where severity = 'error' and value > 0")
                self.assertEqual([v for v, in rows], [100, None, 50, None])
                self.assertEqual(wrong, [])


class Recorded(Reader):
    def test_usage_is_that_of_the_time_that_was_measured(self):
        """What ran is the same, taken from the counter or from the process's own sums."""
        self.path = self.dir / "run.utr"
        got = self.unitrace("hotspots", "--sampling-by", "timer", "--start-paused", "-o", self.path, BURN,
                            "itt", "resume", "deep", "1", "60", "itt", "pause", "shares", "150", "itt", "resume",
                            "deep", "1", "60", "itt", "pause", "shares", "100")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        facts = json.loads(self.converted("b.json").read_text())["otherData"]["processes"][0]["counters"]
        facts = facts["CPU usage: all threads"]
        self.assertGreater(facts["paused_ns"], 100e6)  # of 250 ms; a pause is seen at the next look
        rows = {r["name"]: r for r in self.said("stats", "--json", self.path)["counters"]}
        mean = 100 * facts["cpu_ns"] / facts["elapsed_ns"]
        self.assertAlmostEqual(rows["CPU usage: all threads"]["mean"], mean, delta=0.1)
        values = self.said("query", "--json", self.path,
                           "select c.ts, c.value from counter c where name = 'CPU usage: all threads' order by ts")
        pauses = self.said("query", "--json", self.path,
                           "select ts, ts + dur as until from slice where name = 'paused' order by ts")
        self.assertEqual(len(pauses), 3)
        middle = (pauses[1]["ts"] + pauses[1]["until"]) / 2
        self.assertIsNone([v["value"] for v in values if v["ts"] <= middle][-1])
        self.assertIsNone(values[-1]["value"])


if __name__ == "__main__":
    common.main()
