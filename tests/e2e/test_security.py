#!/usr/bin/env python3
"""Who may read and write what: docs/security.md, line by line."""
import os
import pathlib
import stat
import unittest

from common import Case, environment, is_root, main, need, program

need("every_call", "plain")


class Files(Case):
    def test_a_session_is_for_its_owner_alone(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        got = self.unitrace("--keep-session", program("every_call"))
        self.assertEqual(got.returncode, 0, got.stderr)
        session, = self.dir.glob("*.session")
        self.assertEqual(stat.S_IMODE(session.stat().st_mode), 0o700)
        inside = list(session.iterdir())
        self.assertGreater(len(inside), 1)
        for path in inside:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path.name)

    def test_results_are_files_as_the_user_makes_them(self):
        for mask, mode in ((0o022, 0o644), (0o077, 0o600)):
            self.addCleanup(os.umask, os.umask(mask))
            path = self.dir / f"{mode}.json"
            self.unitrace("-o", path, program("every_call"))
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode)


class Names(Case):
    NAME = f"test-security-{os.getpid()}"

    def setUp(self):
        super().setUp()
        self.path = f"/dev/shm/unitrace.{os.geteuid()}.{self.NAME}"

    def tearDown(self):
        if os.path.lexists(self.path):
            os.unlink(self.path)

    def refused(self):
        got = self.unitrace("--session", self.NAME, program("plain"))
        self.assertNotEqual(got.returncode, 0)
        self.assertEqual(got.stdout, b"")
        return got.stderr

    def test_a_link_in_the_place_of_a_named_session_is_refused(self):
        target = self.dir / "target"
        target.write_text("untouched")
        os.symlink(target, self.path)
        self.assertIn(self.path.encode(), self.refused())
        self.assertEqual(target.read_text(), "untouched")

    @unittest.skipUnless(is_root(), "not here: only root can make a file of somebody else's")
    def test_a_named_session_of_somebody_else_is_refused(self):
        with open(self.path, "w") as f:
            f.write("untouched")
        os.chown(self.path, 65534, 65534)
        self.assertIn(b"somebody else", self.refused())
        self.assertEqual(pathlib.Path(self.path).read_text(), "untouched")


class Terminal(Case):
    """Names go to a terminal; they must not speak to it."""
    NAME = "\x1b]0;owned\x07\x1b[2J\x9b31m"

    def test_no_table_hands_on_control_characters(self):
        escaped = "".join(f"\\u{ord(c):04x}" for c in self.NAME)
        trace = self.dir / "t.json"
        trace.write_text(
            '{"traceEvents":['
            f'{{"ph":"M","pid":1,"name":"process_name","args":{{"name":"{escaped}"}}}},'
            f'{{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{{"name":"{escaped}"}}}},'
            f'{{"ph":"X","pid":1,"tid":2,"ts":1,"dur":5,"name":"{escaped}","cat":"{escaped}"}},'
            f'{{"ph":"C","pid":1,"ts":1,"name":"{escaped}","args":{{"{escaped}":5}}}},'
            f'{{"ph":"B","pid":1,"tid":2,"ts":9,"name":"{escaped}"}}]}}')
        for words in (("stats",), ("stats", "--by", "thread,process"), ("stats", "--counters"),
                      ("info",), ("validate",), ("diff",)):
            with self.subTest(words):
                more = (trace,) if words[0] == "diff" else ()
                got = self.unitrace(*words, trace, *more, env=environment(TERM="xterm"))
                said = got.stdout + got.stderr
                self.assertNotIn(b"\x1b", said)
                self.assertNotIn(b"\x07", said)
        got = self.unitrace("query", trace, "select name, process_name from slice")
        self.assertNotIn(b"\x1b", got.stdout + got.stderr)


if __name__ == "__main__":
    main()
