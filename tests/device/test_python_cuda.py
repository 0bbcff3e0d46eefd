#!/usr/bin/env python3
"""Python, PyTorch's operators and CUDA's kernels in one picture, on a real NVIDIA GPU.

Run by hand on a machine that has one, with a build whose Python part fits the interpreter:
UNITRACE_BUILD=build python3 tests/device/test_python_cuda.py
Everywhere else it skips aloud. It prints what it has found.
"""
import bisect
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import device
from device import BUILD, UNITRACE

PACKAGE = BUILD / "lib/unitrace/python"


def missing():
    """Why nothing can be tested here; "" if it can."""
    if why := device.missing(torch=True):
        return why
    suffix = "cpython-%d%d" % sys.version_info[:2]
    if not list(PACKAGE.glob(f"unitrace/_core.{suffix}-*.so")):
        return f"{PACKAGE} has no extension for {sys.executable} ({suffix}); python3-dev, or UT_PYTHONS"
    return ""


WHY = missing()

EAGER = """
    import torch
    import torch.nn as nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)
            self.linear = nn.Linear(8 * 30 * 30, 10)
        def forward(self, x):
            return self.linear(torch.relu(self.conv(x)).flatten(1))

    net = Net().cuda()
    x = torch.rand(16, 3, 32, 32).cuda()

    def train_step():
        net(x).sum().backward()

    def main():
        train_step()
        torch.cuda.synchronize()
        with torch.autograd.profiler.emit_itt(record_shapes=False):
            for i in range(5):
                with torch.profiler.itt.range(f"iteration_{i}"):
                    train_step()
        torch.cuda.synchronize()

    main()
"""

COMPILED = """
    import os
    import torch

    def gelu_and_scale(x, w, b):
        y = torch.nn.functional.gelu(x @ w + b)
        return (y * 1.5 + torch.sin(y)).softmax(-1)

    fast = torch.compile(gelu_and_scale)
    x, w, b = (torch.rand(s, device="cuda") for s in ((512, 512), (512, 512), (512,)))

    def compiled_step():
        return fast(x, w, b)

    def main():
        for _ in range(3):
            compiled_step()
        torch.cuda.synchronize()
        os.environ["PTI_ENABLE_COLLECTION"] = "1"
        with torch.autograd.profiler.emit_itt(record_shapes=False):
            for i in range(10):
                compiled_step()
        torch.cuda.synchronize()
        os.environ["PTI_ENABLE_COLLECTION"] = "0"
        print("error", float((compiled_step() - gelu_and_scale(x, w, b)).abs().max()))

    main()
"""

TRITON = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add_two_vectors(a, b, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(a + at, at < n) + tl.load(b + at, at < n), at < n)

    a = torch.rand(1 << 16, device="cuda")

    def launch_by_hand():
        out = torch.empty_like(a)
        add_two_vectors[(64,)](a, a, out, a.numel(), BLOCK=1024)
        return out

    for _ in range(7):
        result = launch_by_hand()
    torch.cuda.synchronize()
    print("right", bool((result == 2 * a).all()))
"""


class Span:
    def __init__(self, e):
        self.name, self.cat = e["name"], e.get("cat", "")
        self.tid, self.args = e["tid"], e.get("args", {})
        self.begin = e["ts"]
        self.end = e["ts"] + e.get("dur", 0)


class Picture:
    """A timeline, asked about its kernels."""

    def __init__(self, path):
        events = json.loads(path.read_text())["traceEvents"]
        self.events = events
        self.spans = [Span(e) for e in events if e["ph"] == "X"]
        self.kernels = [s for s in self.spans if s.cat == "kernel"]
        self.calls = {s.args["correlation"]: s for s in self.spans
                      if s.cat.startswith("CUDA") and "correlation" in s.args}
        rows = {e["tid"]: e["args"]["name"] for e in events
                if e["ph"] == "M" and e["name"] == "thread_name"}
        self.caller = {tid: int(re.search(r"calls of thread (\d+)", name)[1])
                       for tid, name in rows.items() if "calls of thread" in name}
        self.by_thread = collections.defaultdict(list)
        for s in self.spans:
            if not s.cat.startswith("CUDA") and s.cat != "kernel":
                self.by_thread[s.tid].append(s)
        for spans in self.by_thread.values():
            spans.sort(key=lambda s: s.begin)

    def around(self, kernel, cat):
        """The innermost span of a category on the thread that launched the kernel, then."""
        call = self.calls.get(kernel.args.get("correlation"))
        if call is None:
            return None
        spans = self.by_thread.get(self.caller.get(call.tid, call.tid), [])
        at = bisect.bisect_right([s.begin for s in spans], call.begin)
        return next((s for s in reversed(spans[:at]) if s.cat == cat and s.end >= call.begin), None)

    def agrees(self, kernel):
        """Does the kernel itself name the function that the thread was in?"""
        function = self.around(kernel, "Python")
        said = tuple(kernel.args.get(key) for key in ("function", "file", "line"))
        if function is None:
            return said == (None, None, None)
        return said == (function.name, function.args.get("file"), function.args.get("line"))

    def chain(self, kernel):
        op, function = self.around(kernel, "PyTorch"), self.around(kernel, "Python")
        where = (f"{function.name} ({os.path.basename(function.args['file'])}:"
                 f"{function.args['line']})") if function else "?"
        return kernel.name, kernel.args.get("task"), op.name if op else None, where


def device_times(trace):
    """{operator: ms of devices}, by the question that unitrace.op_table asks."""
    sql = subprocess.run([sys.executable, "-c", "from unitrace.op_table import SQL; print(SQL.format(rows=12))"],
                         env=dict(os.environ, PYTHONPATH=str(PACKAGE)), capture_output=True, text=True, check=True).stdout
    return {row["operator"]: row["device_ms"] for row in device.ask("query", trace, sql)}


@unittest.skipIf(WHY, WHY)
class PythonCuda(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-pycuda-"))
        self.addCleanup(shutil.rmtree, self.dir)
        print(f"\n---- {self.id().rsplit('.', 1)[-1]}", flush=True)

    def record(self, script, *options, **more):
        path = self.dir / "program.py"
        path.write_text(textwrap.dedent(script))
        env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(self.dir / "inductor"),
                   TRITON_CACHE_DIR=str(self.dir / "triton"), **more)
        done = subprocess.run([UNITRACE, "--python", "--chrome-kernel-logging", *options,
                               "-o", "out.json", sys.executable, "-W", "ignore", path],
                              cwd=self.dir, env=env, capture_output=True, text=True, timeout=280,
                              check=False)
        self.said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, self.said[-3000:])
        files = sorted(p.name for p in self.dir.glob("out*.json"))
        print("files:", files, "| said:", self.said.strip().splitlines()[:2], flush=True)
        return Picture(self.dir / "out.json")

    def show(self, picture):
        """Each different chain with its number; the chains."""
        chains = collections.Counter(picture.chain(k) for k in picture.kernels)
        for (kernel, task, op, where), count in chains.most_common(40):
            print(f"{count:5}  {kernel[:70]}  <- task {task}  <- {op}  <- {where}", flush=True)
        return chains

    def table(self):
        done = subprocess.run([sys.executable, "-m", "unitrace.op_table", "out.json", "12"],
                              cwd=self.dir, capture_output=True, text=True, timeout=60, check=False,
                              env=dict(os.environ, PYTHONPATH=str(PACKAGE)))
        print(done.stdout + done.stderr, flush=True)
        if "built without SQLite" in done.stderr:
            return None
        self.assertEqual(done.returncode, 0)
        return device_times(self.dir / "out.json")

    def test_kernel_operator_and_python_function(self):
        picture = self.record(EAGER, "--python-modules", "__main__")
        chains = self.show(picture)
        marked = [k for k in picture.kernels if picture.around(k, "PyTorch")]
        self.assertGreaterEqual(len(marked), 5 * 6)
        other = [picture.chain(k) for k in marked
                 if k.args.get("task") != picture.around(k, "PyTorch").name]
        self.assertFalse(other)
        self.assertFalse([picture.chain(k) for k in picture.kernels if not picture.agrees(k)])
        wheres = {where.split(" ")[0] for _, _, op, where in chains if op}
        self.assertTrue({"Net.forward", "forward"} & wheres, wheres)
        ops = {op for _, _, op, _ in chains}
        self.assertTrue(any("convolution" in str(op) for op in ops), ops)
        self.assertTrue(any("Backward" in str(n) for n in {s.name for s in picture.spans}))
        device = self.table()
        if device is not None:
            self.assertGreater(sum(device.values()), 0)
        expected = sum(k.end - k.begin for k in marked) / 1000
        print(f"device time under operators: {expected:.3f} ms", flush=True)

    def test_compiled_models_show_their_triton_kernels(self):
        picture = self.record(COMPILED, "--start-paused", "--python-modules",
                              "__main__,torch._inductor", TORCHINDUCTOR_COMPILE_THREADS="1")
        chains = self.show(picture)
        named = [k for k in picture.kernels if k.name.startswith("triton_")]
        print("Triton's kernels:", collections.Counter(k.name for k in named), flush=True)
        self.assertGreaterEqual(len(named), 10, "a kernel of inductor for each step")
        self.assertFalse([k.name for k in picture.kernels if k.name.startswith("_Z")])
        self.assertIn("compiled_step", {s.name for s in picture.spans if s.cat == "Python"})
        tasks = {task for kernel, task, _, _ in chains if kernel.startswith("triton_")}
        print("their tasks:", tasks, flush=True)
        self.assertTrue(tasks - {None}, "launched inside something that has a name")
        print("regions:", sorted({s.name for s in picture.spans if "ompiled" in s.name})[:10], flush=True)
        self.table()

    def test_a_kernel_written_in_triton_leads_to_the_function_that_launched_it(self):
        picture = self.record(TRITON, "--python-modules", "__main__")
        self.assertIn("right True", self.said)
        self.show(picture)
        kernels = [k for k in picture.kernels if k.name == "add_two_vectors"]
        self.assertEqual(len(kernels), 7)
        for k in kernels:
            self.assertEqual(k.args["function"], "launch_by_hand")
            self.assertEqual(os.path.basename(k.args["file"]), "program.py")
            self.assertTrue(picture.agrees(k), picture.chain(k))

    def test_processes_that_compile_for_the_program_do_no_harm(self):
        """Inductor starts them by itself; they belong to the recording, and nobody hangs."""
        picture = self.record(COMPILED, "--start-paused", TORCHINDUCTOR_COMPILE_THREADS="4")
        error = float(self.said.split("error ")[1].split()[0])
        self.assertLess(error, 0.01)
        self.assertTrue([k for k in picture.kernels if k.name.startswith("triton_")])
        print("events with all of Python:", len(picture.events), flush=True)


if __name__ == "__main__":
    print("unitrace:", UNITRACE, "| Python", sys.version.split()[0], "|", WHY or "GPU is there", flush=True)
    device.main(WHY)
