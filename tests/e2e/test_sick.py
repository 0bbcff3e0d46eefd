#!/usr/bin/env python3
"""What went wrong is said, never shown as short, empty or healthy."""
# ci: labels slow
import json
import os
import pathlib
import signal
import subprocess
import time

from common import UNITRACE, Case, environment, main, need, program, wait_for

need("stuck")
STUCK = program("stuck")


class Endings(Case):
    """Tasks that are open when their process is killed."""

    def start(self, *words):
        run = subprocess.Popen([UNITRACE, "-o", "run.json", "--spool-dir", self.dir / "spool", STUCK, *words],
                               cwd=self.dir, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        pid = int(run.stdout.readline())
        return run, pid, time.monotonic()

    def setUp(self):
        super().setUp()
        (self.dir / "spool").mkdir()

    def durations(self, trace):
        got = self.unitrace("stats", "--json", trace)
        self.assertEqual(got.returncode, 0, got.stderr)
        spans = {r["name"]: (r["total_ns"] / 1e9, r["unfinished"]) for r in json.loads(got.stdout)["spans"]}
        self.assertEqual(set(spans), {"out", "in"})
        return spans

    def seen_alive(self, since):
        """At least two seconds: the launcher has looked."""
        wait_for(lambda: time.monotonic() > since + 2.2, "two seconds")

    def test_last_until_the_program_was_killed(self):
        run, pid, since = self.start("here")
        self.seen_alive(since)
        least = time.monotonic() - since
        os.kill(pid, signal.SIGKILL)
        _, err = run.communicate()
        most = time.monotonic() - since + 1
        self.assertEqual(run.returncode, -signal.SIGKILL)
        for name, (length, unfinished) in self.durations("run.json").items():
            self.assertEqual(unfinished, 1, name)
            self.assertGreaterEqual(length, least, name)
            self.assertLess(length, most, name)
        self.assertIn(b"2 tasks never ended; shown up to the end of the process", err)

    def test_of_a_child_last_until_it_was_seen_alive(self):
        run, pid, since = self.start("child")
        self.seen_alive(since)
        os.kill(pid, signal.SIGKILL)
        _, err = run.communicate()
        self.assertEqual(run.returncode, 0)
        trace = next(p for p in self.dir.glob("*.json") if "stuck" in p.read_text())
        for name, (length, unfinished) in self.durations(trace).items():
            self.assertEqual(unfinished, 1, name)
            self.assertGreater(length, 1, name)
        self.assertIn(b"shown up to the end of the process", err)

    def test_when_the_end_was_not_seen_it_is_said(self):
        run, pid, since = self.start("here")
        self.seen_alive(since)
        run.kill()
        run.wait()
        os.kill(pid, signal.SIGKILL)
        session = next(pathlib.Path(self.dir / "spool").iterdir())
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "end of the program")
        got = self.unitrace("export", "-o", "late.json", session)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"2 tasks never ended; shown up to the last sign of life", got.stderr)
        for name, (length, unfinished) in self.durations("late.json").items():
            self.assertEqual(unfinished, 1, name)
            self.assertGreater(length, 1, name)


if __name__ == "__main__":
    main()
