#!/usr/bin/env python3
"""Inputs that never end, that are cut while they are read, or that nest without end: one clear line,
status 1, and nothing left."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import time

from launch_support import UNITRACE, Case, clean_env, main, need

need(UNITRACE)

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
        got = subprocess.run(words, cwd=self.dir, env=clean_env(), capture_output=True, timeout=60,
                             preexec_fn=bounded)
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

    def test_brackets(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.ends(command, "-", "yes '[[[[[[[[' | head -c 300000000")


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
                time.sleep(0.001)
            if run.poll() is None:
                os.kill(run.pid, signal.SIGSTOP)
                os.truncate(copy, cut_at)
                os.kill(run.pid, signal.SIGCONT)
            out, err = run.communicate(input=b"select sum(dur) from slice;", timeout=60)
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


if __name__ == "__main__":
    main()
