"""What the tests of real programs share: finding things, running them traced, reading the trace.

The programs are other people's; where one is not installed its tests are skipped aloud. A file of
which every test was skipped exits with 77.
"""
import atexit
import collections
import decimal
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from common import PATIENCE  # noqa: E402

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", HERE.parents[1] / "build")).resolve()
UNITRACE = BUILD / "bin" / "unitrace"
COLLECTOR = BUILD / "lib" / "libunitrace.so"
LONG = os.environ.get("UNITRACE_LONG") == "1"
OURS = ("INTEL_LIBITTNOTIFY64", "INTEL_JIT_PROFILER64", "INTEL_ITTNOTIFY_GROUPS", "LD_PRELOAD",
        "PTI_ENABLE_COLLECTION", "UT_SESSION", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
        "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


def skip(reason):
    """Skip the whole file."""
    print(f"SKIP: {reason}")
    sys.exit(77)


def need_unitrace():
    for path in (UNITRACE, COLLECTOR):
        if not path.exists():
            skip(f"{path} is not built")


def command(name):
    path = shutil.which(name)
    if not path:
        skip(f"{name} is not installed")
    return path


def venv(name="venv", part="test"):
    """A folder with a python that has the packages, from a part of tools/setup.sh."""
    for build in (BUILD, HERE.parents[1] / "build"):
        if (build / name / "bin/python").exists():
            return build / name / "bin"
    skip(f"{'long: ' * (part == 'real')}no virtual environment {name} (tools/setup.sh {part})")


def missing_module(folder, module):
    """Why a module cannot be imported; None if it can."""
    got = subprocess.run([folder / "python", "-c", f"import {module}"], capture_output=True)
    if not got.returncode:
        return None
    return f"python module {module}: {got.stderr.decode().strip().splitlines()[-1]}"


def need_module(folder, module):
    reason = missing_module(folder, module)
    if reason:
        skip(reason)


def clean_env(**more):
    env = {k: v for k, v in os.environ.items() if k not in OURS}
    env.update(more)
    return env


class Trace:
    """A Chrome trace, as a reader of the format sees it. Times are whole nanoseconds."""

    def __init__(self, path):
        with open(path, encoding="utf-8", errors="strict") as f:
            data = json.load(f, parse_float=decimal.Decimal)
        self.path = path
        self.other = data["otherData"]
        self.events = data["traceEvents"]
        for e in self.events:
            for key in ("ts", "dur"):
                if key in e:
                    e[key] = int(e[key] * 1000)
        self.slices = [e for e in self.events if e["ph"] == "X"]
        self.instants = [e for e in self.events if e["ph"] == "i"]
        self.threads = {e["tid"]: e["args"]["name"] for e in self.events
                        if e["ph"] == "M" and e["name"] == "thread_name"}

    def named(self, name):
        return [e for e in self.slices if e["name"] == name]

    def names(self, cat=None):
        return collections.Counter(e["name"] for e in self.slices if cat in (None, e["cat"]))

    def domains(self):
        return {e["cat"] for e in self.slices}

    def inside(self, outer):
        """What ran on the same thread within a slice, in file order."""
        end = outer["ts"] + outer["dur"]
        return [e for e in self.slices if e is not outer and e["tid"] == outer["tid"] and
                e["ts"] >= outer["ts"] and e["ts"] + e["dur"] <= end]

    def paths(self, tid):
        """Each slice of a thread as the names from the outermost to itself."""
        found, stack = [], []
        for e in self.slices:
            if e["tid"] != tid:
                continue
            while stack and stack[-1]["ts"] + stack[-1]["dur"] <= e["ts"]:
                stack.pop()
            stack.append(e)
            found.append("/".join(s["name"] for s in stack))
        return found

    def flows(self):
        """(name of the slice it starts in, name of the slice it ends in), by number."""
        ends = collections.defaultdict(dict)
        for e in self.events:
            if e["ph"] in "sf":
                ends[e["id"]][e["ph"]] = e
        return [(self.around(x["s"]), self.around(x["f"])) for _, x in sorted(ends.items())]

    def around(self, e):
        found = [s for s in self.slices if s["tid"] == e["tid"] and
                 s["ts"] <= e["ts"] <= s["ts"] + s["dur"]]
        return max(found, key=lambda s: s["ts"]) if found else None


@functools.lru_cache(maxsize=None)
def build_folder():
    path = tempfile.mkdtemp(prefix="ut_real_bin_")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return pathlib.Path(path)


@functools.lru_cache(maxsize=None)
def build(source, options, compiler):
    folder = pathlib.Path(tempfile.mkdtemp(dir=build_folder()))
    target = folder / pathlib.Path(source).stem
    # Compiled by its bare name: it becomes part of what OpenMP says about it.
    got = subprocess.run([compiler, "-O1", "-g", "-o", target, source, *options], cwd=HERE,
                         env=clean_env(), capture_output=True)
    if got.returncode:
        first = (got.stderr.decode().strip().splitlines() or ["no reason given"])[0]
        return None, f"{source} cannot be built here: {first}"
    return target, None


class Case(unittest.TestCase):
    """A test in a folder of its own, which is removed afterwards."""

    maxDiff = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ut_real_"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_in(self, *words, env=None, timeout=PATIENCE, **options):
        return subprocess.run([str(w) for w in words], cwd=self.dir, env=env or clean_env(),
                              capture_output=True, timeout=timeout, **options)

    def compile(self, source, *options, compiler="g++"):
        """A small driver of ours, against the library of others; built once per file of tests."""
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        target, problem = build(source, options, compiler)
        if problem:
            self.skipTest(problem)
        return target

    def record(self, *words, env=None, timeout=PATIENCE, rc=0):
        """Runs unitrace; what the program printed, and what unitrace said."""
        got = self.run_in(UNITRACE, *words, env=env, timeout=timeout)
        self.assertEqual(got.returncode, rc, got.stderr.decode(errors="replace"))
        return got.stdout.decode(), got.stderr.decode()

    def traces(self):
        return [Trace(p) for p in sorted(self.dir.glob("*.json"))]

    def trace(self):
        """The only one there is, checked for what every trace has to be."""
        found = self.traces()
        self.assertEqual(len(found), 1, sorted(p.name for p in self.dir.iterdir()))
        self.check(found[0])
        return found[0]

    def check(self, trace):
        """In order, and nested exactly, on every thread."""
        stacks, last = collections.defaultdict(list), {}
        for e in trace.slices:
            key, end = (e["pid"], e["tid"]), e["ts"] + e["dur"]
            self.assertGreaterEqual(e["ts"], last.get(key, 0), f"not in order: {e}")
            last[key] = e["ts"]
            stack = stacks[key]
            while stack and stack[-1] <= e["ts"]:
                stack.pop()
            if stack:
                self.assertLessEqual(end, stack[-1], f"does not nest: {e}")
            stack.append(end)
            self.assertTrue(e["name"], e)
            self.assertIn(e["tid"], trace.threads, e)


def main():
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    for test, reason in result.skipped:
        print(f"SKIP: {test.id()}: {reason}")
    print(f"{result.testsRun} tests, {failed} failed, {len(result.skipped)} skipped")
    if failed:
        sys.exit(1)
    sys.exit(77 if result.skipped and len(result.skipped) == result.testsRun else 0)
