#!/usr/bin/env python3
"""pytest under unitrace: the plugin is found, tests are ranges, the fixtures profile."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from python_support import PACKAGE, Case, Trace, environment, main, need_python, skip

PYTHONS = need_python()


def with_pytest():
    for python in PYTHONS.values():
        if not subprocess.run([python, "-c", "import pytest"], check=False,
                              capture_output=True).returncode:
            return python
    return skip("pytest is not installed for an interpreter that the package is built for")


PYTHON = with_pytest()

TESTS = """
import pytest
def function_under_test():
    return 1
def unseen():
    return 2
def test_profiled(unitrace_profile):
    assert function_under_test() == 1
def test_by_the_old_name(tracy_profile):
    assert function_under_test() == 1
def test_plain():
    assert unseen() == 2
def test_that_fails(unitrace_profile):
    assert function_under_test() == 2
"""


class Pytest(Case):
    def run_tests(self, *options):
        (self.dir / "test_it.py").write_text(TESTS)
        env = environment(PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1",
                          PATH=os.environ["PATH"])
        got = self.run_words(PYTHON, "-m", "unitrace", "--no-summary", "-o", "out.json", *options,
                             "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", env=env)
        self.assertIn(b"1 failed, 3 passed", got.stdout, got.stderr.decode())
        self.assertEqual(got.returncode, 1)
        return Trace(self.dir / "out.json")

    def test_the_fixtures_profile_their_tests_line_by_line(self):
        trace = self.run_tests("-p", "-l")
        self.assertEqual(len(trace.named("function_under_test")), 3)
        self.assertEqual(len(trace.named("function_under_test:4")), 3)
        self.assertIn("test_profiled:8", trace.names())
        self.assertFalse(trace.named("unseen"))
        self.assertFalse(trace.losses)

    def test_a_whole_run_with_a_range_for_each_test(self):
        trace = self.run_tests("--modules=pluggy,test_it")
        self.assertEqual(len(trace.named("unseen")), 1)
        # pytest's hooks are generators: ranges begin in one step of them and end in another.
        ranges = [s.name for s in trace.overlapped if s.cat == "pytest"]
        self.assertEqual(len(ranges), 16)
        self.assertIn("test_it.py::test_profiled", ranges)
        self.assertFalse(trace.losses)


if __name__ == "__main__":
    main()
