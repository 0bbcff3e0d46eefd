#!/usr/bin/env python3
"""Results that cannot be written are told before any work is done, and nothing is left of them."""
import json
import os
import re
import subprocess

from common import PATIENCE, wait_for
from launch_support import COLLECTOR, PROBE, UNITRACE, Case, main, need

need(UNITRACE, COLLECTOR, PROBE)

# Root may write anywhere but here: nobody can make a file in /proc.
NOWHERE = "/proc/unitrace-test"
LONG = "x" * 300


class Record(Case):
    def refused(self, status, *options, says):
        """The program has not run; one line says why, and a second one how to use it if misused."""
        got = self.unitrace(*options, "touch", "ran")
        self.assertEqual(got.returncode, status, got.stderr)
        self.assertNotIn("ran", self.files())
        lines = got.stderr.decode().splitlines()
        self.assertEqual(len(lines), 2 if status == 2 else 1, lines)
        self.assertIn(says, lines[0])

    def test_patterns_that_are_none_are_misuse(self):
        for name in ("run.%", "run.%z.json", "run.%q{X", "run.%qX.json", "%.json"):
            with self.subTest(name):
                self.refused(2, "-o", name, says=name)
        self.refused(2, "--output-dir-path", "out.%x", says="out.%x")
        self.refused(2, "-o", "report.%y.txt", says="report.%y.txt")
        self.assertEqual(self.files(), [])

    def test_places_that_cannot_be_written(self):
        (self.dir / "file").write_text("")
        (self.dir / "folder.json").mkdir()
        for options, says in ((("-o", NOWHERE + "/run.json"), "/proc"),
                              (("-o", "/proc/run.json"), "/proc"),
                              (("-o", "/proc/report.txt"), "/proc"),
                              (("--output-dir-path", NOWHERE), "/proc"),
                              (("--result-dir", NOWHERE), "/proc"),
                              (("-o", "file/run.json"), "file is not a folder"),
                              (("-o", "folder.json"), "folder.json: a folder"),
                              (("-o", LONG + ".json"), "too long"),
                              (("-o", LONG + "/run.json"), "too long"),
                              (("-o", "new/folder/" + LONG + ".json"), "too long"),
                              (("-o", "/dev/full"), "No space left"),
                              (("--spool-dir", NOWHERE), "/proc")):
            with self.subTest(options):
                self.refused(125, *options, says=says)
        self.assertEqual(self.files(), ["file", "folder.json"])

    def test_a_format_that_cannot_go_there(self):
        self.refused(125, "-o", "run.sqlite.gz", says="plain file")

    def test_a_variable_that_is_not_set_is_reported_before_the_run(self):
        got = self.unitrace("-o", "run-%q{NO_SUCH_VARIABLE}.json", PROBE)
        self.assertEqual(got.returncode, 0)
        self.assertIn(b"the variable NO_SUCH_VARIABLE is not set", got.stderr)
        self.assertEqual(self.files(), ["run-.json"])

    def test_devices_take_the_reports_of_all(self):
        got = self.unitrace("-o", "/dev/null", "--quiet", PROBE)
        self.assertEqual((got.returncode, got.stderr), (0, b""))
        self.assertRecorded()

    def test_a_pipe_takes_the_timeline(self):
        os.mkfifo(self.dir / "pipe.json")
        with subprocess.Popen(["timeout", "30", "cat", self.dir / "pipe.json"],
                              stdout=subprocess.PIPE) as reader:
            got = self.unitrace("-o", "pipe.json", PROBE)
            text = reader.communicate()[0]
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("traceEvents", json.loads(text))
        self.assertEqual(self.files(), ["pipe.json"])


class Together(Case):
    """Launchers that share a name and end at the same moment."""

    def test_each_keeps_its_status_and_gets_a_file_of_its_own(self):
        os.mkfifo(self.dir / "gate")
        (self.dir / "here").mkdir()
        script = f'exec 3< gate; : > here/$0; read line <&3; exec {PROBE} task mine "run $0" exit "$1"'
        count, runs = 80, []
        for i in range(count):
            runs.append(self.start("-o", "same.json", "--no-summary", "sh", "-c", script, i, i % 7))
        # All of them wait for a line: who closes the other end lets them go at once.
        gate = os.open(self.dir / "gate", os.O_WRONLY)
        wait_for(lambda: len(list((self.dir / "here").iterdir())) == count, f"{count} programs at the gate")
        os.close(gate)
        for i, run in enumerate(runs):
            said = run.communicate(timeout=PATIENCE)[1].decode()
            self.assertEqual(run.returncode, i % 7, said)
            stored = re.findall(r"Timeline is stored in (\S+)", said)
            self.assertEqual(len(stored), 1, said)
            self.assertIn(f"run {i}", self.names(self.dir / stored[0]))
        wanted = {"same.json"} | {f"same-{i}.json" for i in range(2, count + 1)}
        self.assertEqual(set(self.files()) - {"gate", "here"}, wanted)


class Others(Case):
    """The input is no trace at all: who complains about the output has not read it yet."""

    def refused(self, *words, says, status=1):
        (self.dir / "input").write_text("not a trace")
        before = self.files()
        got = self.unitrace(*words)
        self.assertEqual(got.returncode, status, got.stderr)
        said = (got.stderr + got.stdout).decode()
        self.assertIn(says, said)
        self.assertNotIn("input: ", said)
        self.assertEqual(self.files(), before)

    def test_files(self):
        (self.dir / "folder").mkdir()
        for output, says in (("none/out.json", "there is no folder none; make it first"),
                             ("/proc/out.json", "/proc"), ("folder/", "folder"),
                             (LONG + ".json", "too long"), ("/dev/full", "No space left")):
            for words in (("merge", "-o", output, "input"),
                          ("filter", "-o", output, "-f", "chrome", "input"),
                          ("query", "-o", output, "input", "select 1"),
                          ("analyze", "-i", "input", "-o", output),
                          ("analyze", "-i", "input", f"--html={output}")):
                with self.subTest(words):
                    self.refused(*words, says=says)

    def test_export(self):
        for output, says in (("/proc/out.json", "/proc"), (LONG + ".json", "too long")):
            self.refused("export", "-o", output, "input", says=says)
        self.refused("export", "--output-dir-path", NOWHERE, "input", says="/proc")
        self.refused("export", "-o", "out.%z.json", "input", says="%z", status=2)

    def test_folders(self):
        (self.dir / "file").write_text("")
        for folder, says in ((NOWHERE, NOWHERE), ("file", "a file, not a folder"),
                             (LONG, "too long")):
            self.refused("devlog", "input", "-o", folder, says=says)
            self.refused("ops", "--format", "2023", "input", "-o", folder, says=says)
            self.refused("profile-this", "-c", "touch ran", "-o", folder, says=says)
        self.refused("devlog", "input", "-o", "out", "-t", "none/x.json", says="no folder none")


if __name__ == "__main__":
    main()
