#!/usr/bin/env python3
"""PyTorch under unitrace --python: functions, modules and operators in one picture, and their table."""
# ci: labels slow real long
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from python_support import PACKAGE, Case, Trace, environment, main, need_python, need_venv

need_python()
VENV = need_venv("torch", "unitrace._core", env=environment(PYTHONPATH=str(PACKAGE)))

TEXT = """
import torch
import unitrace
import unitrace.torch

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
x = torch.rand(4, 8)

def step():
    model(x).sum().backward()

with unitrace.torch.observe(model, shapes=True):
    step()                       # warm-up: not recorded
    unitrace.resume()
    with unitrace.range("own"):
        step()
with unitrace.torch.observe(model):
    with unitrace.range("marks of PyTorch"):
        step()
unitrace.pause()
step()
"""


COMPILED = """
import torch
import unitrace

def model(x):
    return torch.sin(x) + x * 2

fast = torch.compile(model)
x = torch.rand(1000)
fast(x)
unitrace.resume()

def step():
    return fast(x)

with torch.autograd.profiler.emit_itt():
    for _ in range(3):
        step()
"""


RANGES = """
import torch

model, x = torch.nn.Linear(8, 16), torch.rand(4, 8)

def forward():
    return model(x)

with torch.autograd.profiler.emit_itt():
    with torch.profiler.itt.range("of itt"):
        forward()
    with torch.autograd.profiler.record_function("of record_function"):
        forward()
"""


class Torch(Case):
    @unittest.skipUnless(os.environ.get("UNITRACE_LONG"), "long: half a minute of compiling")
    def test_what_torch_compile_has_made_is_named(self):
        (self.dir / "compiled.py").write_text(COMPILED)
        got = self.unitrace("--python", "--python-modules", "__main__", "--start-paused",
                            "--no-summary", "-o", "out.json", VENV, "-W", "ignore", "compiled.py",
                            env=environment(PATH=os.environ["PATH"], TORCHINDUCTOR_COMPILE_THREADS="1",
                                            TORCHINDUCTOR_CACHE_DIR=str(self.dir / "cache")))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = Trace(self.dir / "out.json")
        for step in trace.named("step"):
            names = [s.name for s in self.inside(trace, step)]
            self.assertIn("model", names)  # in what the compiler has made of it
            self.assertTrue([n for n in names if n.startswith("Torch-Compiled Region")], names)
            self.assertTrue([n for n in names if "cpp_fused" in n], names)
        self.assertEqual(len(trace.named("step")), 3)

    def test_functions_modules_and_operators_and_their_table(self):
        (self.dir / "train.py").write_text(TEXT)
        got = self.unitrace("--python", "--python-modules", "__main__", "--start-paused",
                            "--no-summary", "-o", "out.json", VENV, "-W", "ignore", "train.py",
                            env=environment(OMP_NUM_THREADS="1"))
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = Trace(self.dir / "out.json")
        self.assertEqual(len(trace.named("step")), 2)
        self.assertFalse(trace.losses)
        self.check_own(trace)
        self.check_marks(trace)
        self.check_table()

    def test_ranges_go_around_the_functions_that_they_are_about(self):
        """Though the functions that begin them have returned by then."""
        (self.dir / "ranges.py").write_text(RANGES)
        got = self.unitrace("--python", "--python-modules",
                            "__main__,contextlib,torch.profiler.itt,torch.autograd.profiler",
                            "--no-summary", "-o", "out.json", VENV, "-W", "ignore", "ranges.py",
                            env=environment())
        self.assertEqual(got.returncode, 0, got.stderr.decode())
        trace = Trace(self.dir / "out.json")
        for name in ("of itt", "of record_function"):
            inside = [s.name for s in self.inside(trace, trace.one(name))]
            self.assertEqual([n for n in inside if n in ("forward", "aten::linear")],
                             ["forward", "aten::linear"], inside)

    def inside(self, trace, outer):
        return [s for s in trace.spans if s.tid == outer.tid and s is not outer
                and outer.begin <= s.begin and s.end <= outer.end]

    def check_own(self, trace):
        spans = self.inside(trace, trace.one("own"))
        self.assertEqual([s.name for s in spans if s.cat == "PyTorch module"],
                         ["Sequential", "0 (Linear)", "1 (ReLU)", "2 (Linear)"])
        first = next(s for s in spans if s.name == "aten::addmm")
        self.assertEqual(first.args, {"shapes": "[[16], [4, 8], [8, 16]]", "module": "0 (Linear)"})
        backward, = (s for s in spans if s.name == "aten::threshold_backward")
        self.assertNotIn("module", backward.args)
        self.assertIn("aten::mm", [s.name for s in spans])  # of the way back

    def check_marks(self, trace):
        names = [s.name for s in self.inside(trace, trace.one("marks of PyTorch"))]
        self.assertIn("aten::linear", names)
        self.assertIn("step", names)

    def check_table(self):
        got = self.run_words(VENV, "-m", "unitrace.op_table", "out.json", "50",
                             env=environment(PYTHONPATH=str(PACKAGE)))
        lines = got.stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["operator", "calls", "self_ms", "total_ms", "share",
                                            "device_ms"], got.stderr.decode())
        row = next(line.split() for line in lines if line.startswith("aten::addmm "))
        self.assertEqual(row[1], "4")


if __name__ == "__main__":
    main()
