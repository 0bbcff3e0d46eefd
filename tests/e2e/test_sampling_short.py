#!/usr/bin/env python3
"""CPU time in threads and processes too short for a sample is accounted for, and said not to be sampled; too few
samples make no verdict. By the kernel's samples, and by timers where the kernel refuses."""
# ci: labels slow
import errno
import json
import pathlib
import re
import subprocess
import unittest

from common import UNITRACE, Case, kernel_samples, main, need, program, pythons

need("brief", "deny_perf")
BRIEF, DENY = program("brief"), program("deny_perf")


def timers_work():
    return subprocess.run([DENY, "1", "true"], check=False).returncode != 77


class Short:
    """What both ways of sampling have in common."""
    DENIED = ()

    def hotspots(self, *words, options=()):
        got = self.run_words(*self.DENIED, UNITRACE, "hotspots", "-o", "run.utr", "--overwrite", *options, *words)
        self.stderr = got.stderr.decode()
        self.assertEqual(got.returncode, 0, self.stderr)
        self.stdout = got.stdout.decode()
        first = self.stdout.splitlines()[0] if self.stdout else ""
        return json.loads(first)["cpu"] / 1e6 if first.startswith("{") else 0

    def rows(self, *options):
        got = self.unitrace("hotspots", "--json", *options, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return json.loads(got.stdout)

    def verdict(self, *options):
        got = self.unitrace("hotspots", *options, "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        return got.stdout.decode().splitlines()[0]

    def check_sums(self, used):
        """All of what the program has used is there, once, in every table."""
        rows = self.rows()
        total = sum(row["self_ns"] for row in rows) / 1e6
        self.assertAlmostEqual(total, used, delta=0.1 * used + 10)
        by_process = sum(row["self_ns"] for row in self.rows("--by", "process")) / 1e6
        self.assertAlmostEqual(by_process, total, delta=0.01)
        by_thread = sum(row["cpu_ns"] for row in self.rows("--threads=threads")) / 1e6
        self.assertAlmostEqual(by_thread, used, delta=0.1 * used + 10)
        self.assertEqual([row["samples"] for row in rows if row["name"] == "[not sampled]"], [0])
        return rows

    def check_accounted(self, used):
        """Nearly all of it is time without a sample."""
        rows = self.check_sums(used)
        self.assertGreater(sum(row["self_share"] for row in rows if row["name"] == "[not sampled]"), 50)
        self.assertRegex(self.verdict(), r"has no sample: |too few samples")

    def test_threads_are_accounted_to_their_ends(self):
        self.check_accounted(self.hotspots(BRIEF, "threads", "600", "300"))

    def test_threads_of_some_samples_are_accounted_exactly(self):
        used = self.hotspots(BRIEF, "threads", "200", "2050")
        self.assertAlmostEqual(sum(row["self_ns"] for row in self.rows()) / 1e6, used, delta=0.06 * used + 5)

    def test_processes_are_accounted_to_their_ends(self):
        self.check_accounted(self.hotspots(BRIEF, "children", "100", "400"))
        self.assertIn(self.GROUP, " ".join(row["name"] for row in self.rows("--by", "process")))

    def test_short_processes_have_names(self):
        """They may be gone before anybody looks; some samples of them are there."""
        self.check_sums(self.hotspots(BRIEF, "children", "60", "3000"))
        self.assertEqual([row["name"] for row in self.rows("--by", "process") if "no name" in row["name"]], [])

    def test_programs_that_execute_others_count_once(self):
        """The kernel goes on counting; what each of them ran is that one's."""
        self.check_sums(self.hotspots(BRIEF, "execs", "8", "30000"))
        rows = self.rows("--by", "process")
        self.assertEqual([row["name"] for row in rows if "no name" in row["name"]], [])

    def test_short_programs_that_execute_others_count_once(self):
        self.check_sums(self.hotspots("sh", "-c", f"{BRIEF} execs 60 900; :"))

    def test_time_without_a_sample_is_in_no_task(self):
        self.hotspots(BRIEF, "threads", "200", "300")
        rows = {row["name"]: row["samples"] for row in self.rows("--by", "task")}
        self.assertEqual(rows.get("[not sampled]"), 0)

    def test_functions_of_python_keep_their_own_time(self):
        """Their code is freed at once, and that of the next one comes to lie in its place."""
        (self.dir / "again.py").write_text("import time\n"
                                           "for i in range(40):\n"
                                           "    names = {'time': time}\n"
                                           "    exec(f'def f{i:03}():\\n    end = time.thread_time() + 0.01\\n'\n"
                                           "         '    while time.thread_time() < end:\\n        pass\\n', names)\n"
                                           "    names[f'f{i:03}']()\n")
        for version, path in pythons().items():
            with self.subTest(version):
                self.hotspots(path, "again.py")
                known = [row["total_ns"] / 1e6 for row in self.rows() if re.fullmatch(r"f\d{3}", row["name"])]
                self.assertGreater(sum(known), 100)
                self.assertLess(max(known), 40)

    def test_functions_of_a_python_that_is_too_old_are_missed_aloud(self):
        old = next(pathlib.Path("~/.pyenv/versions").expanduser().glob("3.[78].*/bin/python3"), None)
        if not old:
            self.skipTest("there is no Python 3.7 or 3.8")
        self.hotspots(old, "-c", "print('{\"cpu\": 0}'); sum(i * i for i in range(10**6))")
        self.assertRegex(self.stderr, r"functions of Python 3\.[78] are not known, only those of 3\.9 and later")

    def test_what_waits_has_no_verdict(self):
        self.hotspots(BRIEF, "idle", "700", options=("--sampling=1000",))
        self.assertRegex(self.verdict(), r"^too few samples to say what takes the time: \d+ in ")

    def test_each_process_is_described(self):
        self.hotspots("sh", "-c", f"{BRIEF} templates 60; {BRIEF} templates 60")
        said = self.unitrace("hotspots", "--threads", "run.utr").stdout.decode()
        self.assertRegex(said, r"(?m)^\d processes used [\d.]+ m?s of CPU time$")
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("  brief (")]), 2, said)
        self.assertIn("Process", said)


@unittest.skipUnless(kernel_samples(), "the kernel does not sample here")
class ByTheKernel(Short, Case):
    GROUP = "programs without samples]"

    def test_what_it_waited_for_is_said(self):
        self.hotspots(BRIEF, "idle", "700", options=("--sampling-waits",))
        verdict = self.verdict()
        self.assertRegex(verdict, r"too few samples.*: its threads waited (9\d|100)\.\d% of their time")

    def test_functions_of_one_template_are_distinguished(self):
        self.hotspots(BRIEF, "templates", "40")
        said = self.unitrace("hotspots", "--tree", "--percent", "1", "run.utr").stdout.decode()
        for name in ("work<1>::go", "work<2>::go", "work<3>::go"):
            self.assertIn(name, said)


@unittest.skipUnless(timers_work(), "the kernel has no seccomp filters")
class ByTimers(Short, Case):
    DENIED = (DENY, str(errno.EPERM))
    GROUP = "[programs and threads not seen]"

    def test_what_waits_has_no_verdict(self):
        """Its only thread is busy long enough to be seen at all."""
        self.hotspots("sh", "-c", f"{BRIEF} templates 8; {BRIEF} idle 700")
        self.assertRegex(self.verdict(), r"too few samples|has no sample")


if __name__ == "__main__":
    main()
