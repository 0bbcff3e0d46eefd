#!/usr/bin/env python3
"""Inputs that never end, that are cut while they are read, or that nest without end: one clear line,
status 1, and nothing left."""
# ci: labels slow long
# ci: no sanitizers
# Limits on memory leave no room for a sanitizer.
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import unittest
import zlib

from common import wait_for
from launch_support import PATIENCE, PROBE, UNITRACE, Case, clean_env, main, need

need(UNITRACE, PROBE)

STEPS = PROBE.parent / "steps"
LONG = os.environ.get("UNITRACE_LONG") == "1"  # every command reads all that takes long to refuse
EVENT = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}'
BLANKS = r"tr '\0' ' ' < /dev/zero"

COMMANDS = (("head",), ("merge", "-o", "out.json"), ("stats",), ("validate",), ("info",),
            ("export", "-o", "out.json"), ("filter", "-o", "out.json"))


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


class Endless(Case):
    def ends(self, command, path, shell=None):
        words = [str(UNITRACE), *command, path]
        if shell:
            words = ["sh", "-c", f'({shell}) | "$@"', "sh", *words]
        got = subprocess.run(words, cwd=self.dir, env=clean_env(), capture_output=True,
                             timeout=PATIENCE, preexec_fn=bounded)
        said = (got.stdout + got.stderr).decode()
        self.assertEqual(got.returncode, 1, said)
        self.assertIn("offset", said if "merge" not in command else said + "offset")
        self.assertEqual([f for f in self.files() if f.startswith("out") or f.startswith(".")], [])

    def test_zeros(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.ends(command, "/dev/zero")

    def test_zeros_behind_a_good_beginning(self):
        for command in COMMANDS[:2]:  # they keep a copy of what they read
            with self.subTest(command):
                self.ends(command, "-", """echo '{"traceEvents":['; cat /dev/zero""")

    def test_zeros_behind_good_events(self):
        (self.dir / "good.json").write_text(f"[{EVENT}]")
        for command in (*COMMANDS, ("diff", "good.json")) if LONG else COMMANDS[:3]:
            with self.subTest(command):
                self.ends(command, "-", f"echo '[{EVENT},'; cat /dev/zero")

    def test_blanks_behind_good_events(self):
        for command in COMMANDS[:3]:
            with self.subTest(command):
                self.ends(command, "-", f"echo '[{EVENT},'; {BLANKS}")

    def test_blanks_behind_a_whole_list(self):
        self.ends(("stats",), "-", f"echo '[{EVENT}]'; {BLANKS}")

    def test_gzip_of_blanks(self):
        pack = zlib.compressobj(1, zlib.DEFLATED, 31)
        blanks = b" " * (1 << 24)
        with open(self.dir / "bomb.json.gz", "wb") as f:
            f.write(pack.compress(f"[{EVENT},".encode()))
            for _ in range(20):
                f.write(pack.compress(blanks))
            f.write(pack.flush())
        for command in (("stats",), ("validate",)):
            with self.subTest(command):
                self.ends(command, "bomb.json.gz")

    def test_hole_in_a_list_is_stepped_over(self):
        """As much as a writer that was killed may leave; what follows is read."""
        with open(self.dir / "hole.json", "wb") as f:
            f.write(f"[{EVENT},".encode())
            f.seek(100 << 20)
            f.write(f"\n{EVENT}]".encode())
        got = self.unitrace("query", "hole.json", "select count(*) from slice", "--format", "csv")
        self.assertEqual(got.stdout.split()[-1:], [b"2"], got.stderr)

    def sleeps(self, run):
        """Is it past its start, and does it wait?"""
        proc = pathlib.Path(f"/proc/{run.pid}")
        return b"pipe" in (proc / "cmdline").read_bytes() and \
            (proc / "stat").read_text().rpartition(")")[2].split()[0] == "S"

    def writer(self):
        """An end to write to, once somebody reads."""
        try:
            return os.fdopen(os.open(self.dir / "pipe", os.O_WRONLY | os.O_NONBLOCK), "wb")
        except OSError:
            return None

    def test_pipe_that_nobody_opens_ends_with_ctrl_c(self):
        os.mkfifo(self.dir / "pipe")
        for command in ("stats", "query", "head"):
            run = self.start(command, "pipe")
            wait_for(lambda: self.sleeps(run), "process that waits")
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=PATIENCE)
            self.assertNotEqual(run.returncode, 0)

    def test_pipe_that_nobody_writes_to_ends_with_ctrl_c(self):
        os.mkfifo(self.dir / "pipe")
        for command in ("stats", "query", "head"):
            run = self.start(command, "pipe")
            with wait_for(self.writer, "reader of the pipe"):
                run.send_signal(signal.SIGINT)
                run.communicate(timeout=PATIENCE)
            self.assertNotEqual(run.returncode, 0)

    def test_brackets(self):
        for command in COMMANDS if LONG else COMMANDS[:3]:
            with self.subTest(command):
                self.ends(command, "-", "yes '[[[[[[[[' | head -c 300000000")


class Many(Case):
    """Everything that a file can have many of costs the same for each. Four times as many take four
    times as long, or sixteen times if somebody looks through all for each; CPU time is measured,
    whatever else the machine does."""
    COUNT = 60000

    def seconds(self, command, count):
        """CPU time of a command."""
        run = subprocess.Popen([str(UNITRACE), *command, f"{count}.json"], cwd=self.dir,
                               env=clean_env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(run.returncode, (0, 1))
        return used.ru_utime + used.ru_stime

    def check(self, make, *commands):
        """make(n) returns a trace with n of them."""
        few, many = self.COUNT // 4, self.COUNT
        for count in (few, many):
            (self.dir / f"{count}.json").write_text(json.dumps(make(count)))
        for command in (("stats",), ("validate",), ("info",),
                        ("export", "--overwrite", "-o", "out.json"),
                        ("export", "--overwrite", "-o", "out.pftrace"), *commands):
            with self.subTest(command):
                # 0.2 s: what a run takes in any case, or what another process does to its caches
                self.assertLess(self.seconds(command, many), 8 * self.seconds(command, few) + 0.2)

    def test_counters(self):
        """stats took the square of their number."""
        self.check(lambda n: [{"ph": "C", "name": f"c{i}", "pid": 1, "ts": i, "args": {"v": i}}
                              for i in range(n)], ("diff", f"{self.COUNT}.json"))

    def test_processes_and_threads(self):
        self.check(lambda n: [{"ph": "X", "name": "a", "pid": i, "tid": i, "ts": i, "dur": 1}
                              for i in range(n)])

    def test_levels(self):
        self.check(lambda n: [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": i,
                               "dur": 2 * (n - i)} for i in range(n)])

    def test_begins_without_ends_and_ends_without_begins(self):
        for ph in "BE":
            self.check(lambda n, ph=ph: [{"ph": ph, "name": "a", "pid": 1, "tid": 1, "ts": i}
                                         for i in range(n)])

    def test_arrows_of_one_number(self):
        self.check(lambda n: [{"ph": ph, "name": "a", "id": 1, "pid": 1, "tid": 1, "ts": i}
                              for i in range(n // 2) for ph in "sf"])

    def test_stack_frames_in_a_chain(self):
        self.check(lambda n: {
            "traceEvents": [], "stackFrames": {str(i): {"name": "f", "parent": str(i + 1)}
                                               for i in range(n)},
            "samples": [{"cpu": 0, "tid": 1, "ts": 1, "name": "s", "sf": 0, "weight": 1}]})


class Cut(Case):
    """A file that becomes shorter while it is read is told; it is no crash."""

    def setUp(self):
        super().setUp()
        events = [{"ph": "X", "name": f"n{i % 1000}", "pid": 1, "tid": 1, "ts": i, "dur": 1,
                   "args": {"i": i}} for i in range(100000)]
        (self.dir / "t.json").write_text(json.dumps(events))
        got = self.unitrace("export", "-o", "t.utr", "t.json")
        self.assertEqual(got.returncode, 0, got.stderr)

    def cut_while_stopped(self, *words):
        """Whoever has it mapped is stopped, the file is cut, and he goes on."""
        size = (self.dir / "t.utr").stat().st_size
        copy = self.dir / "copy.utr"
        for cut_at in (0, 4096, size // 2):
            copy.write_bytes((self.dir / "t.utr").read_bytes())
            run = subprocess.Popen([str(UNITRACE), *words], cwd=self.dir, env=clean_env(),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
            maps = f"/proc/{run.pid}/maps"
            while run.poll() is None and "copy.utr" not in pathlib.Path(maps).read_text():
                pass  # it is mapped for a moment only
            if run.poll() is None:
                os.kill(run.pid, signal.SIGSTOP)
                os.truncate(copy, cut_at)
                os.kill(run.pid, signal.SIGCONT)
            out, err = run.communicate(input=b"select sum(dur) from slice;", timeout=PATIENCE)
            yield run.returncode, err.decode(), cut_at

    def test_query_says_so(self):
        """The SQL comes only when the file is mapped, so that it is always cut in time."""
        for status, said, cut_at in self.cut_while_stopped("query", "copy.utr"):
            self.assertEqual(status, 1, said)
            self.assertIn("copy.utr: became shorter while it was read", said)

    def test_others_never_crash(self):
        for words in (("stats", "copy.utr"), ("validate", "copy.utr"),
                      ("export", "-o", "x.json", "--overwrite", "copy.utr")):
            for status, said, cut_at in self.cut_while_stopped(*words):
                self.assertIn(status, (0, 1), (words, said))
                if status and "became shorter" in said:
                    self.assertEqual(said.count("\n"), 1)


class CutRecording(Case):
    """The recording is cut while record itself reads it: the program's status comes first."""

    def record_and_cut(self, then):
        """The status and what was said. The result goes into a pipe that is only emptied when the
        recording has been cut, so that most of that is still to be read."""
        os.mkfifo(self.dir / "pipe.json")
        run = self.start("-o", "pipe.json", "sh", "-c", f"'{STEPS}' many 200000; {then}")
        with open(self.dir / "pipe.json", "rb") as pipe:
            pipe.read(1)
            spools = re.findall(r"\S+\.spool$",
                                pathlib.Path(f"/proc/{run.pid}/maps").read_text(), re.M)
            os.truncate(spools[0], 8192)
            while pipe.read(1 << 20):
                pass
        return run.wait(PATIENCE), run.communicate()[1].decode()

    def check(self, want, then):
        status, said = self.record_and_cut(then)
        self.assertIn("became shorter", said)
        self.assertEqual(status, want, said)
        kept = said.rstrip("\n").split(" export ")[-1]
        self.assertTrue((self.dir / kept).is_dir(), said)

    def test_failure_of_ours_is_not_hidden(self):
        self.check(125, "exit 0")

    def test_status_of_a_failed_program_comes_first(self):
        self.check(7, "exit 7")

    def test_signal_of_the_program_comes_first(self):
        self.check(-signal.SIGTERM, "kill -TERM $$")


@unittest.skipUnless(os.geteuid() == 0, "not here: needs root, to read as somebody else")
class NotOurs(Case):
    """What may not be read in a folder is told, and the rest is read."""

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        folder = self.dir / "traces"
        (folder / "closed").mkdir(parents=True, mode=0o700)
        for name in ("a.json", "b.json", "c.json"):
            (folder / name).write_text(f"[{EVENT}]")
        os.chmod(folder / "b.json", 0)
        os.chmod(folder / "closed", 0)

    def as_somebody(self, *words):
        try:
            return self.unitrace(*words, user=65534, group=65534, extra_groups=[])
        except PermissionError:
            raise unittest.SkipTest("not here: others may not run the program where it lies") from None

    def test_search_goes_on_and_tells(self):
        for words in (("stats", "traces"), ("query", "traces", "select count(*) from slice"),
                      ("validate", "traces"), ("merge", "-o", "-", "traces")):
            with self.subTest(words):
                got = self.as_somebody(*words)
                said = got.stderr.decode()
                self.assertEqual(got.returncode, 0, said)
                for name in ("b.json", "closed"):
                    self.assertEqual(said.count(f"traces/{name}: Permission denied"), 1, said)
                self.assertEqual(said.count("b.json"), 1, said)

    def test_file_that_was_named_is_an_error(self):
        got = self.as_somebody("stats", "traces/a.json", "traces/b.json")
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"traces/b.json: Permission denied", got.stderr)

    def test_nothing_but_closed_files(self):
        for name in ("a.json", "c.json"):
            os.chmod(self.dir / "traces" / name, 0)
        got = self.as_somebody("stats", "traces")
        self.assertEqual(got.returncode, 1)
        self.assertIn(b"traces: no trace in this directory", got.stderr)


if __name__ == "__main__":
    main()
