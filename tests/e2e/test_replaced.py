"""What a command does when a file of the result's name is there already: one rule for all."""
import json

import common
from common import UNITRACE, main, program, skip

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

TRACE = json.dumps([{"ph": "X", "name": "n", "ts": 1, "dur": 1, "pid": 1, "tid": 1}])
LOG = """ARCH: grayskull, CHIP_FREQ[MHz]: 1000
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]
0, 0, 0, BRISC, 1, 1000
0, 0, 0, BRISC, 4, 2000
"""
HOST = """Name, Start timer count [ns], Stop timer count [ns], Delta timer count [ns], Global Call Count, \
Call Count, Stack Size, Inputs, Outputs, Math Fidelity, Parallelization Strategy, Preferred Name, \
Meta Data, Type
add, 0, 70, 70, 1, 1, 1, , , , , , , tt_dnn_device
"""
# What is computed from files: the words, and the file that they make.
COMPUTED = {
    "export": (["export", "-o", "x.json", "in.json"], "x.json"),
    "export to utr": (["export", "-o", "x.utr", "in.json"], "x.utr"),
    "merge": (["merge", "-o", "x.json", "in.json"], "x.json"),
    "merge without -o": (["merge", "in.json"], "unitrace.all.json"),
    "filter": (["filter", "-o", "x.json", "in.json"], "x.json"),
    "query": (["query", "-o", "x.csv", "in.json", "select 1 as x"], "x.csv"),
    "analyze": (["analyze", "-i", "in.json", "-o", "x.json"], "x.json"),
    "analyze without -o": (["analyze", "-i", "in.json"], "processed_trace.json"),
    "devlog": (["devlog", "log.csv", "-o", "d"], "d/device_stats.txt"),
    "ops": (["ops", "-i", "logs/ops", "-o", "d"], "d/profile_log_ops.csv"),
}


class Replaced(common.Case):
    def setUp(self):
        super().setUp()
        (self.dir / "in.json").write_text(TRACE)
        (self.dir / "log.csv").write_text(LOG)
        (self.dir / "logs" / "ops" / "add").mkdir(parents=True)
        (self.dir / "logs" / "ops" / "add" / "profile_log_host.csv").write_text(HOST)

    def test_what_is_computed_from_files_replaces_an_older_one_and_says_so(self):
        for name, (words, result) in COMPUTED.items():
            with self.subTest(name):
                first = self.unitrace(*words)
                self.assertEqual(first.returncode, 0, first.stderr)
                made = sorted(p.name for p in self.dir.rglob("*"))
                fresh = (self.dir / result).read_bytes()
                (self.dir / result).write_text("old")
                again = self.unitrace(*words)
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertIn(b"existed and w", again.stderr)
                self.assertEqual(again.stderr.count(b"replaced"), 1, again.stderr)
                self.assertNotEqual((self.dir / result).read_text(errors="replace"), "old")
                self.assertEqual(len((self.dir / result).read_bytes()), len(fresh))
                self.assertEqual(sorted(p.name for p in self.dir.rglob("*")), made)
                for path in self.dir.iterdir():
                    if path.is_file() and path.name not in ("in.json", "log.csv"):
                        path.unlink()
                for path in (self.dir / "d").rglob("*"):
                    if path.is_file():
                        path.unlink()

    def test_an_input_is_never_replaced(self):
        for words in (["export", "-o", "in.json", "in.json"], ["merge", "-o", "in.json", "in.json"],
                      ["filter", "-o", "in.json", "in.json"],
                      ["query", "-o", "in.json", "in.json", "select 1"],
                      ["analyze", "-i", "in.json", "-o", "in.json"]):
            got = self.unitrace(*words)
            self.assertEqual(got.returncode, 1, (words, got.stderr))
            self.assertIn(b"in.json is one of the inputs", got.stderr)
            self.assertEqual((self.dir / "in.json").read_text(), TRACE)

    def test_a_command_that_fails_leaves_the_old_result(self):
        (self.dir / "x.json").write_text("old")
        for words in (["export", "-o", "x.json", "no.json"], ["filter", "-o", "x.json", "no.json"],
                      ["merge", "-o", "x.json", "no.json"],
                      ["query", "-o", "x.json", "in.json", "select nothing"],
                      ["analyze", "-i", "no.json", "-o", "x.json"]):
            got = self.unitrace(*words)
            self.assertEqual(got.returncode, 1, (words, got.stderr))
            self.assertNotIn(b"replaced", got.stderr)
            self.assertEqual((self.dir / "x.json").read_text(), "old")

    def test_quiet_is_quiet(self):
        (self.dir / "x.json").write_text("old")
        for command in ("export", "merge", "filter"):
            got = self.unitrace(command, "--quiet", "-o", "x.json", "in.json")
            self.assertEqual((got.returncode, got.stderr), (0, b""))

    def test_names_that_we_choose_get_a_number(self):
        (self.dir / "in.csv").write_text("mine")
        got = self.unitrace("export", "--format", "csv", "in.json")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual((self.dir / "in.csv").read_text(), "mine")
        self.assertTrue((self.dir / "in-2.csv").read_text())

    def test_a_recording_replaces_nothing_unless_told(self):
        probe = program("launch_probe")
        if not probe.exists():
            self.skipTest(f"{probe} is not built")
        (self.dir / "run.json").write_text("mine")
        got = self.unitrace("-o", "run.json", probe)
        self.assertIn(b"run.json exists already and is kept", got.stderr)
        self.assertEqual((self.dir / "run.json").read_text(), "mine")
        self.assertTrue((self.dir / "run-2.json").exists())
        got = self.unitrace("--overwrite", "-o", "run.json", probe)
        self.assertEqual(got.returncode, 0, got.stderr)
        json.loads((self.dir / "run.json").read_text())


class Generated(common.Case):
    def test_pages_are_made_anew_without_a_word(self):
        for _ in range(2):  # each page once, and again over the last ones
            got = self.unitrace("--generate", "man", self.dir / "man")
            self.assertEqual((got.returncode, got.stdout, got.stderr), (0, b"", b""))


if __name__ == "__main__":
    main()
