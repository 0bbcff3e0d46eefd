#!/usr/bin/env python3
"""`acelyzer` gives what the reference gave: every golden case, compared by the comparator that
comes with them. The cases are not part of the repository: UNITRACE_SHARED names the folder that
holds them (data/acelyzer/...), else ../shared beside the repository; without it, skipped."""
# ci: labels slow
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import BUILD, PATIENCE, SOURCE, skip

SHARED = pathlib.Path(os.environ.get("UNITRACE_SHARED", SOURCE.parent / "shared"))
DATA = SHARED / "data" / "acelyzer"
ACELYZER = BUILD / "bin" / "acelyzer"

# Release 1.2 has lost these counters (it renamed the argument that they are made of); here they
# work as in 1.0, so its files lack what ours have.
LOST_IN_1_2 = {
    "15_flex_keepprep_ts3_bw": "bandwidth",
}


def cases(folder):
    return sorted(p for p in (DATA / folder).iterdir() if (p / "cmd.txt").exists())


def status(case):
    return int((case / "rc.txt").read_text())


def undo_numbers(folder):
    """TensorBoard's plugin dies of the reference's tids, which are texts in its files for it: ours
    are numbers there, with a name, and a step. The rest is compared."""
    for path in folder.glob("*.pt.trace.json"):
        trace = json.loads(path.read_text())
        events = trace["traceEvents"]
        made_up = [e for e in events if e["ph"] == "M" and e.get("tid", 0) >= 10 ** 9]
        names = {e["tid"]: e["args"]["name"] for e in made_up}
        if not names:
            continue
        trace["traceEvents"] = [e for e in events if e not in made_up and e.get("tid") != 10 ** 9]
        for e in trace["traceEvents"]:
            e.update({"tid": names[e["tid"]]} if e.get("tid") in names else {})
        path.write_text(json.dumps(trace))


def run(case, *more):
    """Our exit status and what the comparator says."""
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        shutil.copytree(case / "in", tmp / "in")
        (tmp / "out").mkdir()
        line = (case / "cmd.txt").read_text().splitlines()[-1].removeprefix("acelyzer")
        words = " ".join((str(ACELYZER), *more))
        done = subprocess.run(f"{words} {line}", shell=True, cwd=tmp, timeout=PATIENCE,
                              capture_output=True, text=True)
        if done.returncode or not (case / "out").is_dir():
            left = sorted(p.name for p in (tmp / "out").iterdir())
            return done.returncode, done.stdout + done.stderr, left
        undo_numbers(tmp / "out")
        compared = subprocess.run([sys.executable, DATA / "conform.py", case / "out", tmp / "out"],
                                  capture_output=True, text=True, timeout=PATIENCE)
        return compared.returncode, compared.stdout + compared.stderr, []


class Golden(unittest.TestCase):
    def check(self, case, *more):
        code, text, _ = run(case, *more)
        self.assertEqual(code, 0, text[:2000])

    def test_release_1_0(self):
        """Every case that 1.0 could do."""
        done = 0
        for case in cases("golden_v1"):
            if status(case) == 0:
                done += 1
                with self.subTest(case.name):
                    self.check(case)
        self.assertGreater(done, 10)

    def test_options_that_only_1_2_has(self):
        """Without being told so, they give the numbers of 1.2."""
        old = {c.name: status(c) for c in cases("golden_v1")}
        done = 0
        for case in cases("golden_head"):
            if status(case) == 0 and old.get(case.name, 0) != 0:
                done += 1
                with self.subTest(case.name):
                    self.check(case)
        self.assertGreater(done, 3)

    def test_release_1_2_when_asked_for(self):
        for case in cases("golden_head"):
            if status(case) == 0 and case.name not in LOST_IN_1_2:
                with self.subTest(case.name):
                    self.check(case, "--compat=1.2")

    def test_1_2_shows_no_bandwidth_of_collectives_unless_asked(self):
        """Not with -M either, for which there is no case above."""
        traces = DATA / "golden_head" / "44_ar4x3_sync_v2" / "in" / "*.json"
        with tempfile.TemporaryDirectory() as tmp:
            for words, shown in (("", False), ("-M", False), ("-M -C coll_bw", True)):
                subprocess.run([ACELYZER, "-i", traces, "--freq", "557.05:800", "--compat=1.2",
                                "-o", "o.json", *words.split()], cwd=tmp, check=True,
                               timeout=PATIENCE, capture_output=True)
                text = (pathlib.Path(tmp) / "o.json").read_text()
                self.assertEqual('"BW allreduce"' in text, shown, words)

    def test_what_crashed_there_works_here(self):
        for folder, more in (("golden_v1", ()), ("golden_head", ("--compat=1.2",))):
            for case in cases(folder):
                if status(case) != 1:
                    continue
                with self.subTest(f"{folder}/{case.name}"):
                    code, text, left = run(case, *more)
                    self.assertEqual(code, 0, text[:2000])
                    self.assertTrue(any(n.startswith("o.") for n in left), left)

    def test_the_table_of_exit_codes(self):
        """Where the reference did not crash, our status is its status."""
        table = DATA / "golden_head" / "60_exit_codes"
        with tempfile.TemporaryDirectory() as tmp:
            shutil.copytree(table / "in", pathlib.Path(tmp) / "in")
            for line in (table / "result.tsv").read_text().splitlines():
                code, words, out, err = (line.split("\t") + ["", ""])[:4]
                crashed = code == "1" and err and "ERROR" not in out
                args = ["" if w == "''" else w for w in words.split(" ")]
                done = subprocess.run([ACELYZER, *args], cwd=tmp, capture_output=True, text=True,
                                      timeout=PATIENCE)
                with self.subTest(words):
                    text = done.stdout + done.stderr
                    self.assertIn(done.returncode, (0, 1, 2), text)
                    self.assertNotIn("Traceback", text)
                    if not crashed and "x_overlap7" not in words:
                        self.assertEqual(done.returncode, int(code), text)


if __name__ == "__main__":
    if not ACELYZER.exists():
        skip(f"{ACELYZER} is not built")
    if not (DATA / "conform.py").exists():
        skip("no toolkit: the reference data is not here (UNITRACE_SHARED)")
    unittest.main()
