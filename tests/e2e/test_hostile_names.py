#!/usr/bin/env python3
"""Names in a trace are somebody else's: no text that we print lets them command a terminal."""
import csv
import io
import json
import os
import pty
import subprocess

from launch_support import PROBE, UNITRACE, Case, clean_env, main, need

need(UNITRACE, PROBE)

EVIL = "\x1b[31m\x07\x9b2J\r\x7f"


def trace():
    """Every kind of event and every place for a name, plus things that validate complains about."""
    e = EVIL
    return {"traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "process" + e}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "thread" + e}},
        {"ph": "M", "name": "process_labels", "pid": 1, "args": {"labels": "label" + e}},
        {"ph": "X", "name": "span" + e, "cat": "cat" + e, "pid": 1, "tid": 2, "ts": 1, "dur": 10,
         "args": {"key" + e: "value" + e, "n" + e: 3}},
        {"ph": "X", "name": "crossing" + e, "pid": 1, "tid": 2, "ts": 5, "dur": 10},
        {"ph": "B", "name": "begun" + e, "pid": 1, "tid": 2, "ts": 20},
        {"ph": "E", "name": "other" + e, "pid": 1, "tid": 2, "ts": 21},
        {"ph": "E", "name": "stray" + e, "pid": 1, "tid": 2, "ts": 22},
        {"ph": "B", "name": "open" + e, "pid": 1, "tid": 2, "ts": 30},
        {"ph": "i", "name": "instant" + e, "pid": 1, "tid": 2, "ts": 3, "s": "t"},
        {"ph": "C", "name": "counter" + e, "pid": 1, "ts": 3, "args": {"series" + e: 1}},
        {"ph": "b", "name": "async" + e, "cat": "c" + e, "id": "0x1" + e, "pid": 1, "ts": 3},
        {"ph": "s", "name": "flow" + e, "cat": "f" + e, "id": 7, "pid": 1, "tid": 2, "ts": 4},
        {"ph": "X", "name": "odd" + e, "pid": "pid" + e, "tid": "tid" + e, "ts": 1, "dur": 1},
        {"ph": "?" + e, "name": "unknown" + e, "pid": 1, "ts": 1}],
        "meta" + e: "data" + e, "displayTimeUnit": "ns" + e}


class Text(Case):
    def setUp(self):
        super().setUp()
        (self.dir / "evil.json").write_text(json.dumps(trace()))
        other = trace()
        other["traceEvents"][3]["dur"] = 400
        (self.dir / "other.json").write_text(json.dumps(other))
        self.unitrace("export", "-o", "evil.utr", "evil.json")
        self.evil_name = "evil\x1b[32m.json"
        (self.dir / self.evil_name).write_text(json.dumps(trace()))

    COMMANDS = (
        ("info", "{}"), ("validate", "{}"), ("validate", "--strict", "{}"), ("stats", "{}"),
        ("stats", "--counters", "{}"), ("stats", "--by", "thread", "{}"),
        ("stats", "--by", "process", "{}"), ("stats", "--by", "category", "{}"),
        ("diff", "{}", "other.json"), ("query", "{}", "select * from slice"),
        ("query", "{}", "select name, cat from slice"), ("query", "{}", "select * from args"),
        ("query", "{}", "select * from thread join process using(upid)"),
        ("query", "{}", "select * from metadata"), ("query", "{}", "select nosuch from slice"),
        ("filter", "-o", "part.json", "--overwrite", "--name", "nosuch", "{}"),
        ("merge", "-f", "-o", "all.json", "{}", "other.json"),
        ("ops", "{}", "-o", "ops"), ("devlog", "{}", "-o", "dev"),
        ("export", "--summary", "--overwrite", "-o", "x.csv", "{}"),
        ("export", "-o", "nosuch\x1b[1m/\x1b/x.json", "nosuch\x1b[1m.json"),
    )

    def no_commands(self, words, said):
        for byte in ("\x1b", "\x07", "\x9b", "\x7f", "\r"):
            self.assertNotIn(byte, said.replace("\r\n", "\n"), words)

    def test_nothing_that_is_printed_holds_a_command(self):
        for command in self.COMMANDS:
            for name in ("evil.json", "evil.utr", self.evil_name):
                words = [w.format(name) for w in command]
                with self.subTest(words):
                    got = self.unitrace(*words)
                    self.no_commands(words, got.stderr.decode())
                    self.no_commands(words, got.stdout.decode())

    def test_nor_on_a_terminal(self):
        for command in (("stats", "evil.json"), ("validate", "evil.json"), ("info", "evil.json"),
                        ("query", "evil.json", "select name from slice")):
            master, slave = pty.openpty()
            subprocess.run([UNITRACE, *command], cwd=self.dir, env=clean_env(NO_COLOR="1"),
                           stdout=slave, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            os.close(slave)
            said = b""
            try:
                while piece := os.read(master, 65536):
                    said += piece
            except OSError:  # how a terminal ends
                pass
            os.close(master)
            self.assertIn(b"evil.json" if command[0] in ("info", "validate") else b"span", said)
            self.no_commands(command, said.decode())


class Formulas(Case):
    """What a spreadsheet would run gets a ' in front, where it is asked for; numbers never do."""

    NAMES = ("=1+1", "+cmd", "-x", "@sum", "\tt", "-5", "+1.5e3", "plain")
    SAFE = ("'=1+1", "'+cmd", "'-x", "'@sum", "'\tt", "-5", "+1.5e3", "plain")

    def setUp(self):
        super().setUp()
        (self.dir / "t.json").write_text(json.dumps(
            [{"ph": "X", "name": n, "pid": 1, "tid": 1, "ts": i * 10, "dur": 1}
             for i, n in enumerate(self.NAMES)]))

    def column(self, text, title):
        return {row[title] for row in csv.DictReader(io.StringIO(text))}

    def test_on_request(self):
        for option, wanted in (([], self.NAMES), (["--csv-safe"], self.SAFE)):
            got = self.unitrace("query", *option, "--format", "csv", "t.json",
                                "select name, -1 as n from slice").stdout.decode()
            self.assertEqual(self.column(got, "name"), set(wanted))
            self.assertEqual(self.column(got, "n"), {"-1"})
            got = self.unitrace("stats", *option, "--csv", "t.json").stdout.decode()
            self.assertEqual(self.column(got, "name"), set(wanted))
            got = self.unitrace("export", *option, "-f", "csv", "-o", "-", "t.json").stdout.decode()
            self.assertEqual(self.column(got, "name"), set(wanted))

    def test_always_in_the_report_of_a_run(self):
        self.unitrace("-o", "r.csv", PROBE, "task", "=evil", "@name", "task", "d", "-5")
        report = next(self.dir.glob("r.*.csv")).read_text()
        self.assertTrue({"'@name", "-5", "work"} <= self.column(report, "task"), report)
        self.assertIn("'=evil", self.column(report, "domain"))


if __name__ == "__main__":
    main()
