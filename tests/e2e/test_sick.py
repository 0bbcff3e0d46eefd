#!/usr/bin/env python3
"""What went wrong is said, never shown as short, empty or healthy: how long tasks last that were open when their
process ended, and what every command that reads traces makes of one that is not whole."""
# ci: labels slow
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from common import PATIENCE, UNITRACE, Case, environment, main, need, program, wait_for
from test_mcp import Server

need("stuck", "hammer", "plain")
STUCK, HAMMER, PLAIN = program("stuck"), program("hammer"), program("plain")
LOOKS = 2.2  # seconds after which the launcher has looked at its processes


def later(since, seconds):
    wait_for(lambda: time.monotonic() > since + seconds, f"{seconds} seconds")


class Endings(Case):
    """Tasks that are open when their process ends."""

    def start(self, *words, options=()):
        run = subprocess.Popen([UNITRACE, "-o", "run.json", "--spool-dir", self.dir / "spool", *options, STUCK, *words],
                               cwd=self.dir, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        pid = int(run.stdout.readline())
        return run, pid, time.monotonic()

    def setUp(self):
        super().setUp()
        (self.dir / "spool").mkdir()

    def timeline(self):
        """Of several processes, the one in which something is stuck."""
        return next(p for p in sorted(self.dir.glob("*.json")) if '"out"' in p.read_text())

    def durations(self, trace):
        got = self.unitrace("stats", "--json", trace)
        self.assertEqual(got.returncode, 0, got.stderr)
        spans = {r["name"]: (r["total_ns"] / 1e9, r["unfinished"]) for r in json.loads(got.stdout)["spans"]
                 if r["name"] in ("out", "in")}
        self.assertEqual(set(spans), {"out", "in"})
        for name, (_, unfinished) in spans.items():
            self.assertEqual(unfinished, 1, name)
        return [length for length, _ in spans.values()]

    def assertLast(self, least, most, trace=None):
        for length in self.durations(trace or self.timeline()):
            self.assertGreaterEqual(length, least)
            self.assertLess(length, most)

    def kill_after(self, seconds, *words, options=(), status=0):
        """Kills the process that is stuck; how long it lived since it said so, at least and at most."""
        run, pid, since = self.start(*words, options=options)
        later(since, seconds)
        least = time.monotonic() - since
        os.kill(pid, signal.SIGKILL)
        most = time.monotonic() - since + 1
        if "zombie" in words:
            later(since, seconds + 2)
        _, err = run.communicate()
        self.assertEqual(run.returncode, status, err)
        return least, most, err

    def test_last_until_the_program_was_killed(self):
        least, most, err = self.kill_after(LOOKS, "here", status=-signal.SIGKILL)
        self.assertLast(least, most)
        self.assertIn(b"2 tasks never ended; shown up to the end of the process", err)
        self.assertRegex(err, rb"Calls +Unfinished")

    def test_of_a_flight_recorder_too(self):
        least, most, err = self.kill_after(0.5, "here", options=("--keep-last", "1M"), status=-signal.SIGKILL)
        self.assertLast(least, most)
        self.assertIn(b"shown up to the end of the process", err)

    def test_of_a_child_last_until_it_was_killed(self):
        """Though it does so between two looks of the launcher."""
        least, most, err = self.kill_after(0.5, "child")
        self.assertLast(least, most)
        self.assertIn(b"shown up to the end of the process", err)

    def test_of_a_child_that_nobody_waits_for(self):
        """It is a zombie until the parent ends, and does not live."""
        least, most, err = self.kill_after(0.5, "zombie")
        self.assertLast(least, most)
        self.assertIn(b"shown up to the end of the process", err)

    def test_while_it_is_paused(self):
        """They began before the pause, and last until the end."""
        least, most, err = self.kill_after(0.5, "paused", options=("--start-paused",), status=-signal.SIGKILL)
        self.assertLast(least, most)
        self.assertIn(b"shown up to the end of the process", err)

    def test_last_until_another_program_was_executed(self):
        for words in (("sleep", "1.5"), (STUCK, "here")):
            with self.subTest(words=words):
                for path in self.dir.glob("*.json"):
                    path.unlink()
                run, pid, since = self.start("exec", *words)
                later(since, 0.5)
                least = time.monotonic() - since
                run.stdin.write(b"x")
                run.stdin.flush()
                if "here" in words:
                    self.assertEqual(int(run.stdout.readline()), pid)
                most = time.monotonic() - since + 1
                if "here" in words:
                    later(since, LOOKS)
                    os.kill(pid, signal.SIGKILL)
                _, err = run.communicate()
                self.assertIn(b"shown up to the end of the process", err)
                traces = sorted(self.dir.glob("*.json"), key=lambda p: p.stat().st_mtime)
                self.assertLast(least, most, traces[0])

    def test_crashes_last_until_the_crash(self):
        for how in ("segv", "abort", "status"):
            with self.subTest(how):
                got = self.unitrace("--overwrite", "-o", "run.json", STUCK, how)
                self.assertNotEqual(got.returncode, 0)
                self.assertIn(b"2 tasks never ended; shown up to the end of the process", got.stderr)
                self.assertTrue(all(length > 0 for length in self.durations("run.json")))

    def test_samples_say_how_their_program_failed(self):
        """A program that records nothing itself, sampled by the kernel and by timers."""
        code = "import time\nend = time.time() + 0.3\nwhile time.time() < end: pass\nraise SystemExit(3)"
        for by in ("auto", "timer"):
            with self.subTest(by):
                got = self.unitrace("hotspots", "--sampling-by", by, "-o", f"{by}.utr", sys.executable, "-c", code)
                self.assertEqual(got.returncode, 3, got.stderr)
                for said in (got, self.unitrace("hotspots", f"{by}.utr"), self.unitrace("stats", f"{by}.utr")):
                    self.assertIn(b"failed: exit status 3", said.stderr)

    def test_a_program_that_crashed_before_a_sample_ends_as_it_did(self):
        got = self.unitrace("hotspots", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(got.returncode, -signal.SIGSEGV, got.stderr)

    def test_overlapped_tasks_and_regions_too(self):
        """Of a process that was killed in one: in the file, the tables and SQL."""
        got = self.unitrace("-o", "run.json", STUCK, "overlapped")
        self.assertEqual(got.returncode, -signal.SIGKILL, got.stderr)
        for name in ("run.json", "run.utr", "run.pftrace", "again.json"):
            with self.subTest(name):
                if name != "run.json":
                    self.assertEqual(self.unitrace("export", "-o", name, "run.json").returncode, 0)
                rows = json.loads(self.unitrace("stats", "--json", name).stdout)["spans"]
                self.assertEqual({r["name"]: r["unfinished"] for r in rows}, {"overlapped": 1, "region": 1})
                rows = json.loads(self.unitrace("query", "--json", name, "select name, unfinished from slice").stdout)
                self.assertEqual(sorted(r["unfinished"] for r in rows), [1, 1], rows)

    def test_when_the_end_was_not_seen_it_is_said(self):
        run, pid, since = self.start("here")
        later(since, LOOKS)
        run.kill()
        run.wait()
        os.kill(pid, signal.SIGKILL)
        session = next(pathlib.Path(self.dir / "spool").iterdir())
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "end of the program")
        got = self.unitrace("export", "-o", "late.json", session)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn(b"2 tasks never ended; shown up to the last sign of life", got.stderr)
        self.assertLast(1, PATIENCE, "late.json")


# ---- every shape through every reader ---------------------------------------------------------------------------

ENDS = r"never ended"
MISSING = r"never ended|missing|dropped"
CUT = r"file ends|truncated|cut off"
NOTHING = r"no spans|no events|nothing|no samples|0 of 0|0 events|no slices"

HEALTHY = (r"nothing to complain", r"hardly wait", r"no difference", r"\bhealthy\b", r"9\d\.\d ?% efficien",
           r"ended as it should", r"-?\bnan\b", r"\binf\b", r"could save")


def stuck(folder, name, *words, options=()):
    subprocess.run([UNITRACE, *options, "-o", name, *words], cwd=folder, env=environment(), capture_output=True,
                   check=False, timeout=PATIENCE)


def make_killed(folder):
    with subprocess.Popen([UNITRACE, "-o", "killed.json", STUCK, "here"], cwd=folder, env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        os.kill(int(run.stdout.readline()), signal.SIGKILL)
        run.communicate()


def make_hung(folder):
    """The launcher is killed, too; the recording is exported afterwards."""
    with subprocess.Popen([UNITRACE, "-o", "none.json", STUCK, "here"], cwd=folder, env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        pid = int(run.stdout.readline())
        run.kill()
        os.kill(pid, signal.SIGKILL)
        run.communicate()
    session = next(folder.glob("*.session"))
    wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "end of the program")
    stuck(folder, "hung.json", session, options=("export",))


def make_truncated(folder):
    stuck(folder, "whole.json", HAMMER, "200")
    text = (folder / "whole.json").read_bytes()
    (folder / "truncated.json").write_bytes(text[:len(text) // 2])
    (folder / "whole.json").unlink()


def make_empty(folder):
    (folder / "empty.json").write_text('{"traceEvents":[]}')


# name: how it is made, what has to be said about it
SHAPES = {
    "killed": (make_killed, ENDS),
    "hung": (make_hung, ENDS),
    "crashed": (lambda d: stuck(d, "crashed.json", STUCK, "segv"), ENDS),
    "failed": (lambda d: stuck(d, "failed.json", STUCK, "status"), ENDS),
    "unfinished": (lambda d: stuck(d, "unfinished.json", STUCK), ENDS),
    "dropped": (lambda d: stuck(d, "dropped.json", HAMMER, options=("--max-size", "128K")), MISSING),
    "truncated": (make_truncated, CUT),
    "empty": (make_empty, NOTHING),
}

T = "TRACE"
# Those that read spans, whatever is in them: the sentence has to be there. Status: of a trace with spans.
READERS = (
    ("stats", T), ("stats", "--json", T), ("stats", "--by", "thread", T), ("diff", T, T),
    ("query", T, "select count(*) from slice"), ("filter", "--overwrite", "-o", "out.json", T),
    *(("export", "--overwrite", "-o", f"out.{suffix}", T) for suffix in ("json", "pftrace", "utr", "json.gz")),
)
# Those that find nothing of theirs in it: they say so, and fail.
STRANGERS = (("ranks", T), ("kernels", T), ("memory", T), ("hotspots", T), ("stats", "--device", T))
# What they write is as sick as what they read.
WRITERS = (("filter", "--overwrite", "-o", "out.json", T), ("merge", "--overwrite", "-o", "out.json", T),
           *(("export", "--overwrite", "-o", f"out.{suffix}", T) for suffix in ("json", "pftrace", "utr", "json.gz")))


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="ut_sick_"))
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        for name, (make, _) in SHAPES.items():
            make(cls.dir)
            assert (cls.dir / f"{name}.json").exists(), name

    def read(self, words, shape):
        words = [f"{shape}.json" if w == T else w for w in words]
        got = subprocess.run([UNITRACE, *words], cwd=self.dir, env=environment(), capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        said = got.stdout + got.stderr
        for phrase in HEALTHY:
            self.assertNotRegex(said, f"(?i){phrase}", words)
        self.assertGreaterEqual(got.returncode, 0, words)
        return got.returncode, said

    def each(self, commands):
        return [(shape, words) for shape in SHAPES for words in commands]

    def test_every_reader_says_what_is_wrong(self):
        for shape, words in self.each(READERS):
            with self.subTest(shape=shape, words=words):
                status, said = self.read(words, shape)
                self.assertEqual(status, 0, said)
                if shape != "empty" or words[0] in ("diff", "filter") or words == ("stats", T):
                    self.assertRegex(said, SHAPES[shape][1])

    def test_validate_fails(self):
        for shape, words in self.each([("validate", T)]):
            with self.subTest(shape=shape, words=words):
                status, said = self.read(words, shape)
                self.assertEqual(status, shape != "empty", said)  # which is odd, and valid
                self.assertRegex(said, SHAPES[shape][1])

    def test_info_counts_it(self):
        for shape, words in self.each([("info", T), ("info", "--json", T)]):
            with self.subTest(shape=shape, words=words):
                status, said = self.read(words, shape)
                self.assertEqual(status, 0, said)
                if shape != "empty":
                    self.assertRegex(said, r"unfinished|dropped|file ends")

    def test_who_finds_nothing_says_so_and_fails(self):
        for shape, words in self.each(STRANGERS):
            with self.subTest(shape=shape, words=words):
                status, said = self.read(words, shape)
                self.assertEqual(status, 1, said)
                self.assertRegex(said, r"\bno\b|nothing")

    def test_what_is_written_is_read_as_sick(self):
        for shape, words in self.each(WRITERS):
            with self.subTest(shape=shape, words=words):
                status, said = self.read(words, shape)
                self.assertEqual(status, 0, said)
                out = words[words.index("-o") + 1]
                if shape in ("truncated", "empty"):  # what is left of it is whole
                    continue
                status, said = self.read(("stats", out), shape)
                self.assertRegex(said, SHAPES[shape][1])
                status, said = self.read(("validate", out), shape)
                self.assertEqual(status, 1, said)

    def test_a_gate_is_not_passed(self):
        """A run that was killed is compared with one that was not, and with itself."""
        stuck(self.dir, "good.json", PLAIN, "hello")
        for shape in SHAPES:
            if shape == "truncated":  # what is left are two equal halves
                continue
            for before in (f"{shape}.json", "good.json"):
                for rule in ("p50>5%", "total>1ms"):
                    with self.subTest(shape=shape, before=before, rule=rule):
                        got = subprocess.run([UNITRACE, "diff", before, f"{shape}.json", "--fail-if", rule],
                                             cwd=self.dir, env=environment(), capture_output=True, text=True,
                                             timeout=PATIENCE, check=False)
                        self.assertIn(got.returncode, (1, 3), got.stdout + got.stderr)
                        self.assertRegex(got.stderr + got.stdout, r"nothing was compared|cannot be decided|broken|fail")

    def test_calls_that_never_ended_are_not_alike(self):
        """Not even those of one run: nobody knows how long they would have lasted."""
        for shape in (name for name, (_, sentence) in SHAPES.items() if sentence == ENDS):
            for runs in ((T, T), (T, T, "--against", T, T)):
                with self.subTest(shape=shape, runs=runs):
                    status, said = self.read(("diff", *runs), shape)
                    self.assertEqual(status, 0, said)
                    self.assertRegex(said, r"\bunfinished\b")
                    self.assertNotRegex(said, r"\balike\b|\bnoise\b")

    def test_an_assistant_is_reported(self):
        server = Server(self.dir)
        try:
            server.begin()
            for shape, (_, sentence) in SHAPES.items():
                with self.subTest(shape):
                    told, failed = server.tool("open", paths=[f"{shape}.json"])
                    trace = None if failed else re.search(r"\bt\d+\b", told)[0]
                    told += "" if failed else server.tool("overview", trace=trace)[0]
                    self.assertRegex(told, f"(?i){sentence}")
                    for tool in () if failed else ("stats", "slow"):
                        told += server.tool(tool, trace=trace)[0]
                    for phrase in HEALTHY:
                        self.assertNotRegex(told, f"(?i){phrase}")
        finally:
            server.end()


class Nothing(Case):
    """Recordings in which nothing is: said when they are made."""

    def test_paused_throughout(self):
        got = self.unitrace("--start-paused", "-o", "run.json", PLAIN, "hello")
        self.assertIn(b"nothing was recorded: it began paused", got.stderr)
        self.assertFalse((self.dir / "run.json").exists())

    def test_a_program_that_failed_without_a_record(self):
        got = self.unitrace("sh", "-c", "exit 3")
        self.assertEqual(got.returncode, 3)
        self.assertIn(b"nothing was recorded", got.stderr)

    def test_a_window_without_events(self):
        self.unitrace("-o", "run.json", PLAIN, "hello")
        for words in (("stats", "--from", "100s", "run.json"), ("stats", "--name", "zzz", "run.json")):
            with self.subTest(words):
                got = self.unitrace(*words)
                self.assertIn(b"no spans", got.stdout)
                self.assertIn(b"no event fits", got.stderr)
        got = self.unitrace("filter", "--name", "zzz", "-o", "none.json", "run.json")
        self.assertIn(b"0 of 1 events", got.stderr)

    def test_a_counter_without_a_value_has_no_least_one(self):
        (self.dir / "c.json").write_text('{"traceEvents":[{"ph":"C","pid":1,"ts":1,"name":"n","args":{"v":"NaN"}}]}')
        got = self.unitrace("stats", "--counters", "c.json")
        self.assertNotRegex(got.stdout.decode(), r"\b0\b.*\b0\b.*\b0\b")


if __name__ == "__main__":
    main()
