#!/usr/bin/env python3
"""Samples are taken while recording is on, and only then: the program's switches, the session's."""
# ci: labels slow
import json
import pathlib
import re
import subprocess
import sys
import uuid

from common import PATIENCE, UNITRACE, Case, end_process, kernel_samples, main, need, program, wait_for

need("burn", "deny_perf")
BURN, DENY = program("burn"), program("deny_perf")


WAYS = (["perf"] if kernel_samples() else []) + ["timer"]


class Switched(Case):
    def sample(self, by, *words, options=("--start-paused",), env=None):
        got = self.unitrace("hotspots", "--sampling-by", by, "-o", "run.utr", "--overwrite",
                            *options, BURN, *words, env=env)
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        self.stderr = got.stderr.decode()

    def total(self):
        """Which functions have samples, and how many ms all together."""
        got = self.unitrace("hotspots", "--json", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        rows = json.loads(got.stdout)
        names = {row["name"] for row in rows if row["name"].startswith("burn_")}
        return names, sum(row["self_ns"] for row in rows) / 1e6

    def facts(self):
        got = self.unitrace("export", "-o", "run.json", "--overwrite", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = json.loads((self.dir / "run.json").read_text())
        self.pauses = [e for e in trace["traceEvents"] if e["name"] == "paused"]
        return trace["otherData"]["processes"][0]["counters"]["CPU usage: all threads"]


class Program(Switched):
    """Each once with the kernel's samples and once with timers."""

    def test_itt_calls(self):
        for by in WAYS:
            with self.subTest(by):
                self.sample(by, "shares", "150", "itt", "resume", "deep", "1", "200", "itt",
                            "pause", "shares", "150")
                names, ms = self.total()
                self.assertEqual(names, {"burn_deep"})
                self.assertAlmostEqual(ms, 200, delta=25)
                facts = self.facts()
                self.assertAlmostEqual(facts["cpu_ns"] / 1e6, 200, delta=25)
                self.assertGreater(facts["paused_ns"] / 1e6, 250)
                self.assertEqual(len(self.pauses), 2)

    def test_the_variable(self):
        for by in WAYS:
            with self.subTest(by):
                self.sample(by, "shares", "100", "variable", "1", "deep", "1", "200", "variable",
                            "0", "shares", "100")
                names, ms = self.total()
                self.assertEqual(names, {"burn_deep"})
                self.assertAlmostEqual(ms, 200, delta=25)
                self.sample(by, "deep", "1", "150", "variable", "0", "shares", "100",
                            env={"PTI_ENABLE_COLLECTION": "1"})
                self.assertEqual(self.total()[0], {"burn_deep"})

    def test_a_child_is_as_its_parent_was(self):
        for by in WAYS:
            with self.subTest(by):
                self.sample(by, "fork", "100", "itt", "resume", "fork", "200", "itt", "pause",
                            "fork", "100")
                self.assertAlmostEqual(self.total()[1], 200, delta=40)

    def test_detaching_is_for_ever(self):
        for by in WAYS:
            with self.subTest(by):
                self.sample(by, "deep", "1", "150", "itt", "detach", "itt", "resume", "shares",
                            "150", options=())
                self.assertEqual(self.total()[0], {"burn_deep"})

    def test_without_the_option_nothing_is_switched(self):
        self.sample(WAYS[0], "itt", "pause", "deep", "1", "100", options=())
        self.assertEqual(self.total()[0], {"burn_deep"})

    def test_who_is_never_resumed_is_reported_so(self):
        for by in WAYS:
            self.sample(by, "shares", "50")
            self.assertIn("it began paused", self.stderr)
            self.assertNotIn("no samples of", self.stderr)


class Session(Switched):
    def wait_until_heard(self, launcher):
        """The launcher's thread that obeys the session has looked at it: it has slept twice since we came."""
        for task in pathlib.Path(f"/proc/{launcher.pid}/task").iterdir():
            if (task / "comm").read_text() == "ut-switcher\n":
                break
        else:
            self.fail("no thread called ut-switcher")

        def slept():
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[1])

        before = slept()
        wait_for(lambda: slept() >= before + 2, "look at the session")

    def test_pause_resume_stop(self):
        for by in WAYS:
            with self.subTest(by):
                self.switch_by_name(by)

    def switch_by_name(self, by):
        """The program says how far it is: what it does while the session is on is known."""
        name = "cpu" + uuid.uuid4().hex[:8]
        process = self.start(UNITRACE, "hotspots", "--sampling-by", by, "--session", name,
                             "--start-paused", "-o", "run.utr", "--overwrite", sys.executable,
                             "-S", "-E", "-c", STEPS, stdin=subprocess.PIPE)
        self.addCleanup(end_process, process)
        for word, step in (("--resume", b"on"), ("--pause", b"off"), ("--resume", b"again"),
                           ("--stop", b"never"), ("--resume", b"late")):
            self.assertEqual(process.stdout.readline(), b"ready\n")
            self.unitrace(word, name)
            self.wait_until_heard(process)
            process.stdin.write(step + b"\n")
            process.stdin.flush()
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        got = self.unitrace("hotspots", "--json", "run.utr")
        rows = {row["name"]: row for row in json.loads(got.stdout)}
        self.assertLessEqual({"on", "again"}, set(rows))
        self.assertFalse({"first", "off", "never", "late"} & set(rows), set(rows))
        # All samples, whatever function they have: Python's are read from outside, which a busy machine delays.
        self.assertAlmostEqual(sum(row["self_ns"] for row in rows.values()) / 1e6, 400, delta=60)
        self.facts()
        self.assertEqual(len(self.pauses), 3)


STEPS = """
import sys, time
def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        pass
def first(): spin(100)
def on(): spin(200)
def off(): spin(100)
def again(): spin(200)
def never(): spin(100)
def late(): spin(100)
first()
for _ in range(5):
    print("ready", flush=True)
    globals()[sys.stdin.readline().strip()]()
"""

if __name__ == "__main__":
    main()
