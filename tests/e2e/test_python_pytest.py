#!/usr/bin/env python3
"""pytest under unitrace: the plugin is found, tests are ranges, the fixtures profile."""
# ci: labels slow
import collections
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from python_support import PACKAGE, Case, Trace, environment, find_venv, main, need_python, skip

PYTHONS = need_python()


def with_pytest():
    """The virtual environment's, which has everything; or one of the user's."""
    found, _ = find_venv("pytest", "pytest_cov", "xdist")
    version = found and subprocess.check_output(
        [found, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True).strip()
    for python in ([found] if version in PYTHONS else []) + list(PYTHONS.values()):
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

SHAPES = """
import unittest
class TestIt:
    def test_in_a_class(self, unitrace_profile):
        assert function_under_test() == 1
class OfUnittest(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def profiled(self, unitrace_profile):
        pass
    def test_of_unittest(self):
        self.assertEqual(function_under_test(), 1)
@pytest.mark.parametrize("number", [1])
def test_parameters(unitrace_profile, number):
    assert function_under_test() == number
"""

MANY = """
import pytest
def outside():
    pass
def work(n):
    space = {}
    exec(f"def work_{n}(): return {n}", dict(__name__="test_it"), space)
    return space[f"work_{n}"]()
outside()
@pytest.fixture(autouse=True)
def around():
    yield
@pytest.mark.parametrize("n,text", [(1, "a/b"), (2, "\\u00fc ../../x"), (3, "a b"), (4, "a_b"),
                                    (5, "x" * 300)])
def test_p(n, text):
    assert work(n) == n
def test_fails():
    assert work(6) == 7
class TestIt:
    def test_method(self, unitrace_profile):
        assert work(7)
"""


# Seed 004's commands, with our module's name.
SEED_PATH = ("tests/models/bert_large_performant/unit_tests/"
             "test_bert_large_split_and_transform_qkv_heads.py")
SEED_TEST = "test_split_fused_qkv_and_split_heads_with_program_cache"
SEED_FILE = f"""
import pytest
def child_function_1():
    return 1
def function_under_test():
    child_function_1()
@pytest.fixture
def device():
    child_function_1()
@pytest.fixture
def use_program_cache():
    pass
def {SEED_TEST}(device, use_program_cache, tracy_profile):
    function_under_test()
def test_another():
    child_function_1()
"""


class Pytest(Case):
    def pytest(self, tests, *options, more=()):
        """Runs pytest on a file of tests, under unitrace."""
        (self.dir / "test_it.py").write_text(tests)
        env = environment(PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1",
                          PATH=os.environ["PATH"])
        return self.run_words(PYTHON, "-m", "unitrace", "--no-summary", "-o", "out.json", *options,
                              "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, "test_it.py",
                              env=env)

    def run_tests(self, *options):
        got = self.pytest(TESTS, *options)
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

    def test_what_is_profiled_is_the_test_and_not_pytest(self):
        got = self.pytest(TESTS[:TESTS.index("def test_that_fails")] + SHAPES, "-p")
        self.assertIn(b"6 passed", got.stdout, got.stderr.decode())
        trace = Trace(self.dir / "out.json")
        functions = collections.Counter(s.name for s in trace.spans if s.cat != "pytest")
        self.assertEqual(functions.pop("function_under_test"), 5)
        for name in list(functions):
            if name.startswith("TestCase."):  # unittest's own, which the test calls
                del functions[name]
        self.assertEqual(functions, dict.fromkeys(
            ("test_profiled", "test_by_the_old_name", "TestIt.test_in_a_class",
             "OfUnittest.test_of_unittest", "test_parameters"), 1))

    def test_a_whole_run_with_a_range_for_each_test(self):
        trace = self.run_tests("--modules=pluggy,test_it")
        self.assertEqual(len(trace.named("unseen")), 1)
        # pytest's hooks are generators: ranges begin in one step of them and end in another.
        ranges = [s.name for s in trace.overlapped if s.cat == "pytest"]
        self.assertEqual(len(ranges), 16)
        self.assertIn("test_it.py::test_profiled", ranges)
        self.assertFalse(trace.losses)

    def test_each_test_has_a_trace_of_its_own(self):
        for options in (["--modules=test_it"], ["-p"]):
            with self.subTest(options[0]):
                got = self.pytest(MANY, "--test-traces", "each", "--overwrite", *options)
                self.assertIn(b"Traces of 7 tests are stored in each", got.stderr)
                self.check_traces(whole=options[0] != "-p")

    def check_traces(self, whole):
        traces = {p.name: Trace(p) for p in (self.dir / "each").iterdir()}
        self.assertEqual(len(traces), 7, traces)
        numbers = []
        for name, trace in traces.items():
            self.assertRegex(name, r"^test_it\.py-[A-Za-z0-9._-]{1,140}\.json$")
            test, = (s.name for s in trace.spans + trace.overlapped
                     if s.cat == "pytest" and "::" in s.name)
            self.assertNotIn("outside", trace.names())
            work = [s.name for s in trace.spans if s.name.startswith("work_")]
            numbers += work
            if "test_p[" in test:
                self.assertEqual(len(work), whole)
        self.assertEqual(sorted(numbers), sorted(set(numbers)))  # nobody has what is another's
        self.assertEqual(traces["test_it.py-TestIt-test_method.json"].named("work_7")[0].name, "work_7")

    def test_traces_of_tests_that_run_side_by_side(self):
        if subprocess.run([PYTHON, "-c", "import xdist"], check=False, capture_output=True).returncode:
            self.skipTest("pytest-xdist is not installed")
        got = self.pytest(MANY, "--test-traces", "each", "--modules=test_it", more=["-n", "2"])
        self.assertIn(b"Traces of 7 tests are stored in each", got.stderr)
        self.check_traces(whole=True)

    def test_the_commands_of_tenstorrents_guide(self):
        path = self.dir / SEED_PATH
        path.parent.mkdir(parents=True)
        path.write_text(SEED_FILE)
        env = environment(PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1",
                          PATH=os.environ["PATH"])
        for number, (words, children) in enumerate(((["--files=*qkv_heads.py"], 2), (["-p"], 1),
                                                 (["-p", "-l"], 1))):
            with self.subTest(words):
                got = self.run_words(PYTHON, "-m", "unitrace", *words, "--no-summary",
                                     "-o", f"{number}.json", "-m", "pytest",
                                     f"{SEED_PATH}::{SEED_TEST}", env=env)
                self.assertEqual(got.returncode, 0, got.stdout.decode() + got.stderr.decode())
                trace = Trace(self.dir / f"{number}.json")
                self.assertEqual(len(trace.named("child_function_1")), children)
                self.assertEqual(len(trace.named(SEED_TEST)), 1)
                self.assertEqual(bool(trace.named("function_under_test:6")), "-l" in words)

    def test_warnings_that_are_errors(self):
        """As installed by pip, which lists the files: pytest looks whether they are imported yet."""
        site = self.dir / "site"
        site.mkdir()
        info, = PACKAGE.glob("unitrace-*.dist-info")
        for folder in (PACKAGE / "unitrace", info):
            shutil.copytree(folder, site / folder.name)
        (site / info.name / "RECORD").write_text("unitrace/__init__.py,,\nunitrace/pytest_plugin.py,,\n")
        (self.dir / "test_it.py").write_text("def test_it(unitrace_profile): pass\n")
        got = self.unitrace("--python-partial", "--no-summary", PYTHON, "-m", "pytest", "-q",
                            "-W", "error::pytest.PytestAssertRewriteWarning",
                            "-p", "no:cacheprovider", "test_it.py",
                            env=environment(PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1",
                                            PATH=os.environ["PATH"]))
        self.assertEqual(got.returncode, 0, got.stdout.decode() + got.stderr.decode())
        self.assertIn(b"1 passed", got.stdout)

    def test_the_fixture_beside_coverage(self):
        if subprocess.run([PYTHON, "-c", "import pytest_cov"], check=False, capture_output=True).returncode:
            self.skipTest("pytest-cov is not installed")
        got = self.pytest(TESTS, "-p", more=["--cov=test_it"])
        self.assertIn(b"1 failed, 3 passed", got.stdout, got.stderr.decode())
        self.assertEqual(len(Trace(self.dir / "out.json").named("function_under_test")), 3)

    def test_a_run_without_tests_says_so(self):
        got = self.unitrace("--python-test-traces", "each", "--no-summary", PYTHON, "-c", "1")
        self.assertEqual(got.returncode, 0)
        self.assertIn(b"no test was recorded", got.stderr)

    def test_a_name_leads_nowhere_but_into_the_folder(self):
        (self.dir / "script.py").write_text("""
import unitrace
for name in ("../out", "/tmp/out", ".out", "-out", "", "a/b", "x" * 300, "fine"):
    with unitrace.range("t", domain="pytest", trace=name):
        pass
""")
        got = self.unitrace("--python-test-traces", "each", "--no-summary", "--quiet", "-o", "o.json",
                            PYTHON, "script.py")
        self.assertEqual((got.returncode, got.stderr), (0, b""))
        self.assertEqual([p.name for p in (self.dir / "each").iterdir()], ["fine.json"])
        self.assertEqual({p.name for p in self.dir.iterdir()}, {"script.py", "each", "o.json"})


if __name__ == "__main__":
    main()
