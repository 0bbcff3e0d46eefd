#!/usr/bin/env python3
"""Every system call fails in turn: of the collector, in the program; of the launcher, around it.

Whatever fails, the program's output and status are its own, nothing crashes, no half file gets a
final name, and a record is in the timeline or among those that are counted as lost.
"""
# ci: labels slow long
# ci: no sanitizers
# Leaks cannot be looked for under strace.
import errno
import os
import re
import shutil
import subprocess
import unittest

from common import Case, Trace, UNITRACE, environment, main, need, program

need("torture_me", "libtorture.so")

MADE = {"main": 6000, "thread": 4000, "x" * 19999: 10}  # as torture_me.c makes them
SAID = b"%d\n" % sum(MADE.values())
ERRORS = ("ENOSPC", "ENOMEM", "EIO")
LONG = os.environ.get("UNITRACE_LONG") == "1"  # each call with each error, and all of a long series


class Collector(Case):
    def run_once(self, **torture):
        env = environment(LD_PRELOAD=str(program("libtorture.so")),
                          **{f"TORTURE_{k}": str(v) for k, v in torture.items()})
        # env(1) puts the library into the program alone, not into the launcher
        got = self.run_words(UNITRACE, "--keep-session", "--output-dir-path", self.dir / "out",
                             "env", f"LD_PRELOAD={program('libtorture.so')}",
                             program("torture_me"),
                             env={k: v for k, v in env.items() if k != "LD_PRELOAD"})
        self.assertEqual((got.returncode, got.stdout), (7, SAID), (torture, got.stderr))
        return got

    def count_calls(self):
        self.run_once(COUNT=self.dir / "count")
        shutil.rmtree(self.dir / "out")
        return int((self.dir / "count").read_text())

    def check(self, torture):
        """What was made is there or counted."""
        found, losses, nameless = dict.fromkeys(MADE, 0), 0, 0
        for path in (self.dir / "out").glob("torture_me*.json"):
            trace = Trace(path)
            if not trace.named("main") and trace.named("child"):
                continue
            for name in MADE:
                found[name] += len(trace.named(name))
            nameless += len(trace.named("(name lost)"))
            losses += trace.losses["dropped"]
        for name, made in MADE.items():
            self.assertLessEqual(found[name], made, torture)
        missing = sum(MADE.values()) - sum(found.values()) - nameless
        if found["main"]:  # else nothing could be recorded at all, which is told
            self.assertLessEqual(missing, losses, torture)

    def torture(self, key, numbers):
        for number in numbers:
            for name in ERRORS if LONG else (ERRORS[number % len(ERRORS)],):
                torture = {key: number, "ERROR": getattr(errno, name)}
                with self.subTest(**torture):
                    shutil.rmtree(self.dir / "out", ignore_errors=True)
                    self.run_once(**torture)
                    self.check(torture)

    def test_each_call_fails_once(self):
        self.torture("AT", range(1, self.count_calls() + 1))

    def test_everything_fails_from_some_call_on(self):
        calls = self.count_calls()
        self.torture("FROM", sorted({*range(1, calls + 1, 3), calls}))


def injects():
    strace = shutil.which("strace")
    if not strace:
        return "strace is not installed"
    got = subprocess.run([strace, "-qq", "-o", "/dev/null", "-e", "inject=getpid:error=EIO", "true"],
                         capture_output=True)
    return None if got.returncode == 0 else "strace may not trace here"


@unittest.skipIf(injects(), injects())
class Launcher(Case):
    CALLS = {"openat": "EMFILE", "write": "ENOSPC", "pwrite64": "ENOSPC", "mmap": "ENOMEM",
             "ftruncate": "ENOSPC", "fallocate": "ENOSPC", "rename": "EACCES",
             "renameat2": "EACCES", "linkat": "EPERM", "mkdir": "EACCES", "unlink": "EACCES",
             "read": "EIO", "newfstatat": "EACCES", "getdents64": "EIO", "clone": "EAGAIN",
             "clone3": "EAGAIN", "vfork": "EAGAIN", "wait4": "EINTR", "flock": "EIO",
             "fsync": "EIO", "close": "EIO"}

    def strace(self, *options, out):
        return self.run_words("strace", "-qq", "-o", self.dir / "strace.log", *options, UNITRACE,
                              "-o", out, program("torture_me"))

    def numbers(self):
        """{call: its numbers}. Calls before unitrace was loaded are not ours."""
        self.strace(out=self.dir / "count.json")
        names = re.findall(r"^(\w+)\(", (self.dir / "strace.log").read_text(), re.M)
        self.tidy()
        first = max(i for i, n in enumerate(names) if n == "prlimit64" or n == "arch_prctl")
        return {call: range(names[:first].count(call) + 1, names.count(call) + 1)
                for call in self.CALLS}

    def tidy(self):
        for path in self.dir.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def check(self, got, what):
        out = self.dir / "run.json"
        self.assertGreaterEqual(got.returncode, 0, (what, got.stderr))  # no signal
        self.assertIn(got.stdout, (SAID, b""), what)
        if got.returncode == 7:
            self.assertEqual(got.stdout, SAID, what)
        else:
            self.assertIn(b"unitrace: ", got.stderr, what)
        if out.exists():
            Trace(out)  # whole, or not there
        elif got.stdout and got.returncode == 7:
            # then the recording must still be there, and said so
            self.assertTrue(list(self.dir.glob("*.session")) or b"unitrace: " in got.stderr, what)

    def test_each_call_fails_once(self):
        for call, numbers in self.numbers().items():
            error = self.CALLS[call]
            step = 1 if LONG else max(1, len(numbers) // 8)  # long series are alike
            for number in numbers[::step]:
                what = f"{call}:error={error}:when={number}"
                with self.subTest(what):
                    got = self.strace("-e", f"inject={what}", out=self.dir / "run.json")
                    self.check(got, what)
                    self.tidy()


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    main()
