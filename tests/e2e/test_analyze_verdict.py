#!/usr/bin/env python3
"""`acelyzer --compat 1.3`: the report of -V, and arrows. The expected values are what acelyzer
1.3.0 wrote for the same events. ACELYZER_1_3 names that program, to be compared with as well."""
import json
import os
import subprocess
import tempfile
import unittest

from common import BUILD, PATIENCE, skip

ACELYZER = BUILD / "bin" / "acelyzer"


def span(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def torch(*events):
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AIU"}],
            "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": list(events)}


CALL = span("cuda_runtime", "aiuLaunchScheduleCompute", 100, 100, 10.5, 50.25, correlation=7)
FIRST = span("kernel", "k1", 0, 7, 20.5, 10.0, correlation=7, device=0, stream=1)
BAD = torch(
    CALL, FIRST,
    span("kernel", "k2", 0, 7, 25.5, 50.0, correlation=7, device=0, stream=1),
    span("kernel", "k3", 0, 7, 80.0, 5.0, correlation=8, device=0, stream=2),
    span("kernel", "k3b", 0, 7, 85.0, 0.0, correlation=8, device=0, stream=2),
    span("gpu_memcpy", "Memcpy (HtoD)", 0, 8, 82.0, 5.0, correlation=0, device=0),
    span("gpu_memcpy", "Memcpy (HtoD)", 0, "s 8", 84.0, 1.0, correlation=0, device=0),
    span("cuda_runtime", "aiuScheduleWait", 100, 100, 90.0, 5.0, correlation=9),
    {"ph": "X", "cat": "kernel", "name": "noargs", "pid": 0, "tid": 7, "ts": 81.0, "dur": 5.0})
GOOD = torch(CALL, FIRST)
ORPHAN = torch(FIRST)

OVERLAPS = [
    {"name": "k2", "pid": 0, "tid": 7, "stream": 1, "ts": 25.5, "dur": 50.0},
    {"name": "Memcpy (HtoD)", "pid": 0, "tid": "s 8", "stream": 0, "ts": 84.0, "dur": 1.0}]
OUTSIDE = {"corr_id": "0x7", "kernel_start": 25.5, "kernel_end": 75.5, "parent_start": 10.5,
           "parent_end": 60.75}
TEXT = """
ERRORS (2)
----------
  overlaps: 2 occurrence(s)
    name=k2  pid=0  tid=7  stream=1  ts=25.5  dur=50.0
    name=Memcpy (HtoD)  pid=0  tid=s 8  stream=0  ts=84.0  dur=1.0
  kernel_outside_parent: 1 occurrence(s)
    corr_id=0x7  kernel_start=25.5  kernel_end=75.5  parent_start=10.5  parent_end=60.75

WARNINGS (2)
------------
  orphan_kernels: 2 occurrence(s)
    corr_id=8  count=2
  orphan_parents: 1 occurrence(s)
    corr_id=9

PASSED (0)
----------

TESTS APPLIED (2)
-----------------
  FAIL  Compute Overlap Check
  FAIL  Kernel-Parent Timestamp Check

Result: FAIL (errors detected)
"""


def finding(name, error, count, *instances):
    return {"finding": name, "is_error": error, "count": count, "instances": list(instances)}


class Verdict(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = tmp.name

    def run_it(self, trace, *words, program=ACELYZER):
        with open(os.path.join(self.dir, "t.json"), "w", encoding="utf-8") as f:
            json.dump(trace, f)
        return subprocess.run([program, "-i", "t.json", *words], cwd=self.dir, timeout=PATIENCE,
                              capture_output=True, text=True)

    def read(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8") as f:
            return f.read()

    def report(self, trace, *words, status, program=ACELYZER):
        done = self.run_it(trace, "-V", *words, program=program)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        report = json.loads(self.read("report.json"))
        self.assertIn("CmdLine", report.pop("metadata"))
        return report

    def test_overlaps_and_kernels_outside_of_their_call_fail(self):
        self.assertEqual(self.report(BAD, "--compat=1.3", status=1), {
            "version": "1.0", "result": "FAIL",
            "test_results": [{"test": "Compute Overlap Check", "result": "fail"},
                             {"test": "Kernel-Parent Timestamp Check", "result": "fail"}],
            "errors": [finding("overlaps", True, 2, *OVERLAPS),
                       finding("kernel_outside_parent", True, 1, OUTSIDE)],
            "warnings": [finding("orphan_kernels", False, 2, {"corr_id": 8, "count": 2}),
                         finding("orphan_parents", False, 1, {"corr_id": 9})],
            "passed": []})

    def test_a_kernel_without_a_call_is_a_warning(self):
        report = self.report(ORPHAN, "--compat=1.3", status=0)
        self.assertEqual((report["result"], report["warnings"]), (
            "PASS", [finding("orphan_kernels", False, 1, {"corr_id": 7, "count": 1})]))
        self.assertEqual([t["result"] for t in report["test_results"]], ["pass", "warn"])

    def test_what_is_in_order_passes(self):
        report = self.report(GOOD, "--compat=1.3", status=0)
        self.assertEqual([f["finding"] for f in report["passed"]], [
            "overlaps", "kernel_outside_parent", "orphan_kernels", "orphan_parents"])

    def test_the_text_is_that_of_the_original(self):
        """It needs no --compat: only 1.3 has it."""
        done = self.run_it(BAD, "-V", "-f", "text", "-o", "r.txt")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.read("r.txt").split("\n", 3)[3], TEXT)

    def test_text_without_the_report_is_refused(self):
        done = self.run_it(GOOD, "-f", "text")
        self.assertEqual(done.returncode, 2)
        self.assertIn("text is for the report of -V", done.stderr)
        self.assertEqual(self.run_it(GOOD, "-V", "--compat=1.3", "--json").returncode, 2)

    def test_1_3_has_no_arrow_to_the_call_that_waited(self):
        wait = span("cuda_runtime", "aiuScheduleWait", 100, 100, 60.0, 30.0, correlation=7)
        source = {"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 100, "tid": 100, "ts": 11.0,
                  "id": 7}
        for release, arrows in (("1.2", 5), ("1.3", 3)):
            self.run_it(torch(CALL, FIRST, wait, source), f"--compat={release}", "-o", "o.json")
            events = json.loads(self.read("o.json"))["traceEvents"]
            self.assertEqual(sum(e["ph"] in "sf" for e in events), arrows, release)

    def test_the_original_says_the_same(self):
        original = os.environ.get("ACELYZER_1_3")
        if not original:
            self.skipTest("no toolkit: ACELYZER_1_3 does not name acelyzer 1.3.0")
        for trace, status in ((BAD, 1), (ORPHAN, 0), (GOOD, 0)):
            theirs = self.report(trace, status=status, program=original)
            self.assertEqual(self.report(trace, "--compat=1.3", status=status), theirs)


if __name__ == "__main__":
    if not ACELYZER.exists():
        skip(f"{ACELYZER} is not built")
    unittest.main()
