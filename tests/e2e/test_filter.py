"""unitrace filter and head: parts of a trace, against the same choice made in Python."""
import json
import random
import subprocess

from common import UNITRACE, Case, main, skip, to_ns

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")


def make(path, seed=1, count=300):
    r = random.Random(seed)
    events, ts = [], 5000.0
    for i in range(count):
        dur = round(r.uniform(1, 100), 3)
        tid = r.randrange(1, 4)
        events.append({"ph": "X", "name": f"op{i % 7}", "cat": r.choice(["a", "b"]), "pid": 1,
                       "tid": tid, "ts": round(ts, 3), "dur": dur, "args": {"i": i}})
        if i % 5 == 0:
            events.append({"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": tid,
                           "ts": round(ts, 3)})
            events.append({"ph": "C", "name": "load", "pid": 1, "ts": round(ts, 3),
                           "args": {"value": i}})
        ts += dur + 1
    path.write_text(json.dumps({"traceEvents": events}))
    return events


def spans(events):
    return sorted((to_ns(e["ts"]), to_ns(e["dur"]), e["name"], e["tid"], e["args"]["i"])
                  for e in events if e["ph"] == "X")


class Filter(Case):
    def setUp(self):
        super().setUp()
        self.events = make(self.dir / "in.json")
        self.first = min(to_ns(e["ts"]) for e in self.events)

    def filter(self, *words, output="out.json"):
        got = self.unitrace("filter", "-o", output, "--overwrite", "in.json", *words)
        self.assertEqual(got.returncode, 0, got.stderr)
        return json.loads((self.dir / output).read_text())["traceEvents"]

    def check(self, words, keep):
        want = [e for e in self.events if e["ph"] == "X" and keep(e)]
        self.assertEqual(spans(self.filter(*words)), spans(want), words)
        self.assertTrue(0 < len(want) < 300, words)

    def test_spans_by_name_thread_category_and_length(self):
        self.check(["--name", "op[12]"], lambda e: e["name"] in ("op1", "op2"))
        self.check(["--not-name", "op0"], lambda e: e["name"] != "op0")
        self.check(["--regex", "p[3-5]$"], lambda e: e["name"] in ("op3", "op4", "op5"))
        self.check(["--cat", "a"], lambda e: e["cat"] == "a")
        self.check(["--thread", "2", "--thread", "3"], lambda e: e["tid"] in (2, 3))
        self.check(["--min-dur", "20us", "--max-dur", "60us"],
                   lambda e: 20000 <= to_ns(e["dur"]) <= 60000)
        self.check(["--name", "op1", "--cat", "b"],
                   lambda e: e["name"] == "op1" and e["cat"] == "b")

    def test_a_window_in_time(self):
        low, high = self.first + 2000000, self.first + 5000000
        self.check(["--from", "2ms", "--to", "5ms"],
                   lambda e: to_ns(e["ts"]) + to_ns(e["dur"]) > low and to_ns(e["ts"]) < high)
        self.check(["--from", f"@{low}ns", "--to", f"@{high}ns"],
                   lambda e: to_ns(e["ts"]) + to_ns(e["dur"]) > low and to_ns(e["ts"]) < high)
        out = self.filter("--from", "2ms", "--to", "5ms", "--clip")
        for e in out:
            if e["ph"] == "X":
                self.assertGreaterEqual(to_ns(e["ts"]), low)
                self.assertLessEqual(to_ns(e["ts"]) + to_ns(e["dur"]), high)
        counters = sorted(to_ns(e["ts"]) for e in out if e["ph"] == "C")
        self.assertEqual(counters[0], low)  # the value from before
        self.assertTrue(all(low <= to_ns(e["ts"]) < high for e in out if e["ph"] == "i"))

    def test_kinds(self):
        phases = {e["ph"] for e in self.filter("--kind", "counter,instant")}
        self.assertEqual(phases - {"M"}, {"C", "i"})
        self.assertEqual({e["ph"] for e in self.filter("--kind", "span")} - {"M"}, {"X"})

    def test_arrows_stay_only_between_spans_that_stay(self):
        flow = {"pid": 1, "cat": "f", "name": "f"}
        events = [{"ph": "X", "name": "launch", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
                  {"ph": "s", "id": 1, "tid": 1, "ts": 2, **flow},
                  {"ph": "s", "id": 2, "tid": 1, "ts": 4, **flow},
                  {"ph": "X", "name": "kernel", "pid": 1, "tid": 2, "ts": 20, "dur": 10},
                  {"ph": "f", "bp": "e", "id": 1, "tid": 2, "ts": 20, **flow},
                  {"ph": "X", "name": "copy", "pid": 1, "tid": 2, "ts": 40, "dur": 10},
                  {"ph": "f", "bp": "e", "id": 2, "tid": 2, "ts": 40, **flow}]
        (self.dir / "in.json").write_text(json.dumps(events))
        out = self.filter("--not-name", "copy")
        self.assertEqual(sorted(e["ph"] for e in out if e["ph"] in "sfX"), ["X", "X", "f", "s"])
        self.assertFalse([e for e in self.filter("--name", "kernel") if e["ph"] in "sf"])

    def test_other_formats_and_pipes(self):
        for name in ("out.utr", "out.pftrace", "out.json.gz"):
            got = self.unitrace("filter", "-o", name, "--name", "op1", "in.json")
            self.assertEqual(got.returncode, 0, got.stderr)
            self.assertIn(b"of 420 events", got.stderr)
            rows = json.loads(self.unitrace("stats", "--json", name).stdout)["spans"]
            self.assertEqual([r["name"] for r in rows], ["op1"])
        with open(self.dir / "in.json", "rb") as f:
            got = self.unitrace("filter", "--quiet", "-o", "-", "--name", "op1", "-", stdin=f)
        self.assertEqual(got.stderr, b"")
        self.assertEqual(spans(json.loads(got.stdout)["traceEvents"]),
                         spans(e for e in self.events if e["name"] == "op1"))

    def test_what_is_refused(self):
        for words in ([], ["in.json"], ["-o", "x.xyz", "in.json"], ["-o", "x.json"],
                      ["-o", "x.json", "in.json", "in.json"],
                      ["-o", "x.json", "--clip", "in.json"]):
            self.assertEqual(self.unitrace("filter", *words).returncode, 2, words)
        before = (self.dir / "in.json").read_text()
        got = self.unitrace("filter", "-o", "in.json", "in.json")
        self.assertEqual(got.returncode, 1)
        self.assertEqual((self.dir / "in.json").read_text(), before)


class Head(Case):
    def test_the_first_events_in_order(self):
        events = make(self.dir / "in.json")
        got = json.loads(self.unitrace("head", "-n", 25, "--json", "in.json").stdout)
        times = sorted(to_ns(e["ts"]) for e in events)[:25]
        self.assertEqual([e["ts_ns"] for e in got], times)
        self.assertEqual(got[0]["args"], {"i": 0})
        text = self.unitrace("head", "in.json").stdout.decode().splitlines()
        self.assertEqual(len(text), 11)
        self.assertRegex(text[1], r"^ *0\.000000000 +pid 1 +thread \d +span ")
        self.assertEqual(self.unitrace("head", "-n", 9999, "--json", "in.json").returncode, 0)

    def test_only_the_beginning_is_read(self):
        """A pipe that never ends: head must not wait for its end."""
        make(self.dir / "in.json", count=300)
        text = (self.dir / "in.json").read_text()[:-2]  # without ]}
        script = f"import sys\nwhile True: sys.stdout.write({',' + text[17:]!r})"
        feeder = subprocess.Popen(["python3", "-c", f"print({text!r})\n{script}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            got = self.unitrace("head", "-n", 5, "--json", "-", stdin=feeder.stdout)
        finally:
            feeder.stdout.close()
            feeder.kill()
            feeder.wait()
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(len(json.loads(got.stdout)), 5)

    def test_trouble_is_reported_in_one_line(self):
        (self.dir / "junk").write_text("junk")
        for words in (["junk"], ["missing"]):
            got = self.unitrace("head", *words)
            self.assertEqual((got.returncode, len(got.stderr.splitlines())), (1, 1), got.stderr)
        with open(self.dir / "junk", "rb") as f:
            got = self.unitrace("head", "-", stdin=f)
        self.assertIn(b"not a trace that we know", got.stderr)
        self.assertEqual(self.unitrace("head").returncode, 2)


if __name__ == "__main__":
    main()
