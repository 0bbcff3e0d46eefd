#!/usr/bin/env python3
"""Python's own benchmark programs (pyperformance): the functions that take their time are those that
they are known to spend it in, and that py-spy finds, by the kernel's samples and by timers.

py-spy is another run, and on a busy machine one of few samples: so by default the bounds tell that
functions are missing or mixed up, not by how much two samplings differ. UNITRACE_LONG=1 runs the
programs longer, on a quiet machine, and compares closely.
"""
# ci: labels slow real long
import json
import os
import pathlib
import shutil
import subprocess
import sys

from common import BUILD, SOURCE, Case, kernel_samples, main, skip

LONG = bool(os.environ.get("UNITRACE_LONG"))
LOOPS = {"richards": 20, "chaos": 40, "nbody": 30}
# Where the time goes, percent of the program's own functions. Long runs must find half of it, short ones a
# quarter: of their 600 samples 8 to 22 % lie in "fn", from run to run.
PART = 2 if LONG else 4
KNOWN = {"richards": {"schedule": 16, "runTask": 16, "fn": 16, "isTaskHoldingOrWaiting": 8},
         "chaos": {"__call__": 36, "linear_combination": 16, "transform_point": 8},
         "nbody": {"advance": 99}}
if not LONG:
    del KNOWN["nbody"]  # one function, and the same claims
POINTS = 6 if LONG else 30
FEWEST = 400 if LONG else 100  # samples of py-spy that say something
# Percent of the time that is left in the interpreter's loop, without a function's name. From
# outside, frames are read late where the launcher gets no CPU: that takes names from samples.
LEFT = {"timer": 3, "perf": 8} if LONG else {"timer": 25, "perf": 50}
WAYS = (["perf"] if kernel_samples() else []) + ["timer"]


def has_pyperformance(path):
    find = "import pyperf, pyperformance, os; print(os.path.dirname(pyperformance.__file__))"
    got = subprocess.run([path, "-c", find], capture_output=True, check=False, text=True)
    return pathlib.Path(got.stdout.strip()) if got.returncode == 0 else None


PYTHON, FOLDER = next(((p, f) for p in (BUILD / "venv/bin/python", SOURCE / "build/venv/bin/python",
                                        pathlib.Path(sys.executable))
                       if p.exists() and (f := has_pyperformance(p))), (None, None))
if not PYTHON:
    skip("pyperformance is not installed (tools/setup.sh test)")
SPY = shutil.which("py-spy", path=str(PYTHON.parent)) or shutil.which("py-spy")


class Benchmarks(Case):
    def command(self, name):
        """The program is copied: what lies in a library's folder is not the program's own."""
        shutil.copy(FOLDER / f"data-files/benchmarks/bm_{name}/run_benchmark.py", self.dir / f"{name}.py")
        return [PYTHON, f"{name}.py", "--worker", "-w0", "-n1", "-l",
                LOOPS[name] * (5 if LONG else 1)]

    def shares(self, name, weights):
        """Of the time in functions of the program, in percent."""
        total = sum(weights.values())
        self.assertGreater(total, 0, name)
        return {function: 100 * weight / total for function, weight in weights.items()}

    def ours(self, name, by):
        got = self.unitrace("hotspots", "--sampling-by", by, "-o", "run.utr", "--overwrite", "--quiet",
                            *self.command(name))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        got = self.unitrace("hotspots", "--json", "--by", "own", "run.utr")
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        rows = [r for r in json.loads(got.stdout) if (r["module"] or "").endswith(f"{name}.py")]
        return self.shares(name, self.sums((r["name"].split(".")[-1], r["self_ns"]) for r in rows))

    def sums(self, pairs):
        out = {}
        for key, value in pairs:
            out[key] = out.get(key, 0) + value
        return out

    def spied(self, name):
        """Innermost functions of the program by py-spy: lines "f (file:line);g (file:line) count"."""
        got = self.run_words(SPY, "record", "-r", "200", "-f", "raw", "-o", "spy.raw", "--", *self.command(name))
        if got.returncode:  # it may not look into processes here
            return {}
        found = []
        for line in (self.dir / "spy.raw").read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            own = [f.split(" (")[0] for f in stack.split(";") if f"({name}.py:" in f]
            if own:
                found.append((own[-1].split(".")[-1], int(count)))
        if sum(count for _, count in found) < FEWEST:
            return {}
        return self.shares(name, self.sums(found))

    def test_functions_are_those_that_py_spy_finds(self):
        for name, known in KNOWN.items():
            theirs = self.spied(name) if SPY else {}
            for by in WAYS:
                with self.subTest(name, by=by):
                    ours = self.ours(name, by)
                    for function, share in known.items():
                        self.assertGreater(ours.get(function, 0), share / PART, ours)
                    for function, share in theirs.items():
                        if share > 5:
                            self.assertAlmostEqual(ours.get(function, 0), share, delta=POINTS, msg=function)
                    self.no_loop_is_left(LEFT[by])

    def no_loop_is_left(self, percent):
        """Calls of the interpreter's loop have the names of the functions that they run."""
        got = self.unitrace("hotspots", "--json", "run.utr")
        rows = {r["name"]: r for r in json.loads(got.stdout)}
        left = rows.get("_PyEval_EvalFrameDefault", {"self_share": 0})["self_share"]
        self.assertLess(left, percent)


if __name__ == "__main__":
    main()
