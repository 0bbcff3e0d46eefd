#!/usr/bin/env python3
"""The soaks of tests/soak, for seconds instead of an hour: they pass, and they can fail."""
# ci: no sanitizers
# ci: labels slow
import subprocess
import sys
import unittest

from common import PATIENCE, SOURCE, environment, main, need

need("soak_worker")
SOAK = SOURCE / "tests" / "soak" / "soak.py"
SERVE = SOAK.with_name("soak_serve.py")


class Soak(unittest.TestCase):
    def test_seconds_of_it(self):
        got = subprocess.run([sys.executable, str(SOAK), "--seconds", "20", "--seed", "14"],
                             env=environment(), capture_output=True, text=True, timeout=4 * PATIENCE)
        self.assertEqual(got.returncode, 0, got.stdout[-3000:] + got.stderr[-3000:])
        self.assertIn("PASSED", got.stdout)

    def test_growth_is_found(self):
        sys.path.insert(0, str(SOAK.parent))
        import soak
        run = soak.Soak.__new__(soak.Soak)
        run.samples = {"a RssAnon KiB": [1000 + 50 * i for i in range(30)],
                       "b RssAnon KiB": [1000 + i % 3 for i in range(30)],
                       "c descriptors": [7] * 26 + [8] * 4,
                       "d descriptors": [7] * 20 + [8, 8, 7, 8, 8] * 2}
        self.assertEqual({what: bad for what, _, _, bad in run.growth()},
                         {"a RssAnon KiB": True, "b RssAnon KiB": False, "c descriptors": False,
                          "d descriptors": False})
        run.samples = {"c descriptors": [7] * 20 + [8] * 10}
        self.assertTrue(next(run.growth())[3])


class Serve(unittest.TestCase):
    def test_seconds_of_it(self):
        got = subprocess.run([sys.executable, str(SERVE), "--seconds", "3", "--results", "20", "--users", "2", "--seed", "1"],
                             env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        if got.returncode == 77:
            self.skipTest(got.stdout.splitlines()[-1])
        self.assertEqual(got.returncode, 0, got.stdout[-3000:] + got.stderr[-3000:])
        self.assertRegex(got.stdout, r"(?m)^\d+ things done; RssAnon KiB \d+, VmRSS KiB \d+, threads \d+, descriptors \d+")
        self.assertIn("PASSED", got.stdout)

    def test_growth_is_found(self):
        sys.path.insert(0, str(SERVE.parent))
        import soak_serve
        run = soak_serve.Soak.__new__(soak_serve.Soak)
        run.samples = {"RssAnon KiB": [5000 + 500 * i for i in range(30)], "threads": [7, 8] * 15}
        self.assertEqual({what: bad for what, _, _, bad in run.growth()}, {"RssAnon KiB": True, "threads": False})


if __name__ == "__main__":
    main()
