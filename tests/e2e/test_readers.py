#!/usr/bin/env python3
"""The Firefox profiler reads what we export and counts the same spans with the same durations.

A trace is made in memory, exported through other formats (Perfetto, .utr, SQLite stays out: it is
no timeline) back to Chrome JSON, and loaded into the profiler's command line; then the markers of
every thread are compared with the spans that went in.
"""
# ci: labels real
import collections
import json
import pathlib
import random
import subprocess
import tempfile
import unittest

import firefox_support
from common import UNITRACE, main


def make_trace(path, seed):
    """Nested spans on a few threads of two processes; times with nanoseconds."""
    rng = random.Random(seed)
    events = []
    for pid in (10, 20):
        for tid in (pid, pid + 1):
            events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name",
                           "args": {"name": f"worker {tid}"}})
            now = 1_000_000
            for i in range(40):
                dur = rng.randrange(2000, 90_000)
                events.append(span(pid, tid, now, dur, f"outer_{i % 3}"))
                events.append(span(pid, tid, now + 100, dur // 3, "inner"))
                now += dur + rng.randrange(1, 5000)
    rng.shuffle(events)
    path.write_text(json.dumps({"traceEvents": events}))
    return events


def span(pid, tid, ts, dur, name):
    return {"ph": "X", "pid": pid, "tid": tid, "ts": ts / 1000, "dur": dur / 1000, "name": name,
            "cat": "test", "args": {"bytes": dur}}


def expected(events):
    """{thread name: {span name: sorted durations in us}}"""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M"}
    spans = collections.defaultdict(lambda: collections.defaultdict(list))
    for e in events:
        if e["ph"] == "X":
            spans[names[e["pid"], e["tid"]]][e["name"]].append(e["dur"])
    return spans


class Readers(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(prefix="unitrace-readers-")
        self.addCleanup(self.dir.cleanup)
        self.at = pathlib.Path(self.dir.name)

    def export(self, source, target):
        subprocess.run([UNITRACE, "export", "--quiet", "-o", target, source], check=True,
                       cwd=self.at)

    def check(self, trace, events):
        profiler = firefox_support.Profiler(self, self.at, trace)
        threads = json.loads(profiler("thread", "list", "--json"))["threads"]
        spans = expected(events)
        seen = set()
        for thread in threads:
            name = thread["name"]
            if name not in spans:
                continue
            seen.add(name)
            profiler("thread", "select", thread["threadHandle"])
            for kind in json.loads(profiler("thread", "markers", "--json"))["byType"]:
                durations = spans[name][kind["markerName"]]
                self.assertEqual(kind["count"], len(durations), (name, kind["markerName"]))
                stats = kind["durationStats"]
                self.assertAlmostEqual(stats["max"] * 1000, max(durations), 2)
                self.assertAlmostEqual(stats["min"] * 1000, min(durations), 2)
        self.assertEqual(seen, set(spans), f"threads {[t['name'] for t in threads]}")

    def test_the_firefox_profiler_counts_the_same(self):
        if why := firefox_support.missing():
            self.skipTest(why)
        events = make_trace(self.at / "in.json", 1)
        self.export("in.json", "a.pftrace")
        self.export("a.pftrace", "b.utr")
        self.export("b.utr", "out.json")
        self.check(self.at / "out.json", events)


if __name__ == "__main__":
    main()
