"""unitrace view of traces that nobody here made: torch.profiler on an H200, viztracer, shapes of Perfetto's, logs of
Tenstorrent's chips. What the page says is what stats says, over HTTP and in one file, and no browser complains."""
# ci: labels slow browser real
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import test_perfetto_import
from common import PATIENCE, SOURCE
from view_server import View

INPUTS = SOURCE / "tests/golden/inputs"
KEYS = (("count", "count"), ("total", "total_ns"), ("min", "min_ns"), ("max", "max_ns"))
PROGRAM = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

class Step:
    def run(self, n):
        return [fib(i) for i in range(n)]

for i in range(3):
    Step().run(11)
"""


def viztracer():
    found = [p for p in (SOURCE / "build/venv/bin/viztracer", pathlib.Path(sys.executable).parent / "viztracer") if p.exists()]
    return str(found[0]) if found else shutil.which("viztracer")


class Others(View):
    def check_numbers(self, path):
        told = json.loads(self.unitrace("stats", "--json", "-n", "100000", path).stdout)["spans"]
        rows = {r["name"]: r for r in self.rows(self.ask("aggregate", scope={})["slices"])}
        self.assertTrue(told)
        for want in told:
            got = rows[want["name"]]
            self.assertEqual([got[a] for a, _ in KEYS], [want[b] for _, b in KEYS], want["name"])
            if got["self"] is not None:
                self.assertEqual(got["self"], want["self_ns"], want["name"])
        lanes = [lane["count"] for p in self.ask("places") for lane in p["lanes"] if lane["kind"] in ("spans", "overlap", "async")]
        self.assertEqual(sum(lanes), self.ask("info")["slices"])
        return told

    def check(self, path):
        """The name that took the most time; all is looked at in a browser as well."""
        self.start(str(path))
        told = self.check_numbers(path)
        self.server.kill()
        self.server.wait()
        done = self.unitrace("view", "--save", "run.html", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.cookie = None
        self.start(str(path), enter=False)
        self.browse("view_page.js", self.address, f"file://{self.dir}/run.html", name=told[0]["name"])
        return told

    def test_torch_profiler_on_an_h200(self):
        told = {r["name"] for r in self.check(INPUTS / "h200/train.0.json.gz")}
        self.assertTrue([name for name in told if name.startswith("aten::")])

    def test_viztracer(self):
        """Recorded now, where it is installed."""
        if not viztracer():
            self.skipTest("viztracer is not installed (tools/setup.sh test)")
        (self.dir / "program.py").write_text(PROGRAM)
        subprocess.run([viztracer(), "-o", "viz.json", "program.py"], cwd=self.dir, check=True, capture_output=True, timeout=PATIENCE)
        told = {r["name"].split(" ")[0]: r["count"] for r in self.check(self.dir / "viz.json")}
        self.assertEqual(told["Step.run"], 3)
        self.assertEqual(told["fib"], 3 * sum(CALLS[:11]))

    def test_viztracer_as_it_was_saved(self):
        self.check(INPUTS / "device/viztracer.json")

    def test_shapes_of_perfetto(self):
        """Interned names, clocks of writers, async tracks, nested arguments, flows, counters."""
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed")
        path = self.dir / "writers.pftrace"
        path.write_bytes(test_perfetto_import.encode(test_perfetto_import.WRITERS))
        self.assertEqual({r["name"] for r in self.check(path)} & {"work", "io"}, {"work", "io"})
        self.check(SOURCE / "tests/e2e/perfetto_trace.json")

    def test_logs_of_tenstorrent(self):
        for name in ("zones", "old"):
            done = self.unitrace("devlog", INPUTS / f"tt_logs/{name}.csv", "-o", name, "--no-print-stats")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check(self.dir / name / "device_trace.utr")


CALLS = [1, 1]  # of fib(n)
while len(CALLS) < 11:
    CALLS.append(1 + CALLS[-1] + CALLS[-2])

if __name__ == "__main__":
    unittest.main()
