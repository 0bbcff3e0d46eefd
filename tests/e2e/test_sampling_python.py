#!/usr/bin/env python3
"""Python's own benchmark programs (pyperformance): the functions that take their time are those that
py-spy finds, by the kernel's samples and by timers."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from common import BUILD, SOURCE, Case, main, skip

PROGRAMS = {"richards": 20, "chaos": 40, "nbody": 30}
POINTS = 6 if os.environ.get("UNITRACE_LONG") else 15  # py-spy is another run, of fewer samples


def has_pyperformance(path):
    find = "import pyperf, pyperformance, os; print(os.path.dirname(pyperformance.__file__))"
    got = subprocess.run([path, "-c", find], capture_output=True, check=False, text=True)
    return pathlib.Path(got.stdout.strip()) if got.returncode == 0 else None


PYTHON, FOLDER = next(((p, f) for p in (BUILD / "venv/bin/python", SOURCE / "build/venv/bin/python",
                                        pathlib.Path(sys.executable))
                       if p.exists() and (f := has_pyperformance(p))), (None, None))
if not PYTHON:
    skip("pyperformance is not installed (tools/setup.sh python)")
SPY = shutil.which("py-spy", path=str(PYTHON.parent)) or shutil.which("py-spy")


class Benchmarks(Case):
    def command(self, name):
        """The program is copied: what lies in a library's folder is not the program's own."""
        shutil.copy(FOLDER / f"data-files/benchmarks/bm_{name}/run_benchmark.py", self.dir / f"{name}.py")
        return [PYTHON, f"{name}.py", "--worker", "-w0", "-n1", "-l", PROGRAMS[name]]

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
        if got.returncode:
            return None
        found = []
        for line in (self.dir / "spy.raw").read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            own = [f.split(" (")[0] for f in stack.split(";") if f"({name}.py:" in f]
            if own:
                found.append((own[-1].split(".")[-1], int(count)))
        return self.shares(name, self.sums(found))

    def test_functions_are_those_that_py_spy_finds(self):
        for name in PROGRAMS:
            theirs = self.spied(name) if SPY else None
            for by in ("perf", "timer"):
                with self.subTest(name, by=by):
                    ours = self.ours(name, by)
                    self.assertGreater(len(ours), 1, ours)
                    for function, share in (theirs or {}).items():
                        if share > 5:
                            self.assertAlmostEqual(ours.get(function, 0), share, delta=POINTS, msg=function)
                    # from outside, frames are read a little late on a busy machine
                    self.no_loop_is_left(3 if by == "timer" else 15)

    def no_loop_is_left(self, percent):
        """Calls of the interpreter's loop have the names of the functions that they run."""
        got = self.unitrace("hotspots", "--json", "run.utr")
        rows = {r["name"]: r for r in json.loads(got.stdout)}
        left = rows.get("_PyEval_EvalFrameDefault", {"self_share": 0})["self_share"]
        self.assertLess(left, percent)


if __name__ == "__main__":
    main()
