#!/usr/bin/env python3
"""The CUDA backend on a real NVIDIA GPU, with PyTorch as the program.

Run by hand on a machine that has one: UNITRACE_BUILD=build python3 tests/device/test_cuda.py
Everywhere else it skips aloud.
"""
import collections
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

import device
from device import NVCC, UNITRACE

WHY = device.missing(torch=True)

LAUNCHES = """
    import torch
    a = torch.ones(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.autograd.profiler.emit_itt(record_shapes=False):
        for i in range(200):
            a.mul_(1.0001)
    torch.cuda.synchronize()
    print(float(a[0]))
"""

GRAPH = """
    import torch
    a = torch.ones(1 << 16, device="cuda")
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        a.add_(1)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for i in range(5):
            a.sin_()
    for i in range(20):
        g.replay()
    torch.cuda.synchronize()
"""

MODEL = """
    import torch, torch.nn as nn
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 5, 3)
            self.linear = nn.Linear(5 * 30 * 30, 10)
        def forward(self, x):
            return self.linear(torch.relu(self.conv(x)).flatten(1))
    net = Net().cuda()
    x = torch.rand(10, 3, 32, 32).cuda()
    with torch.autograd.profiler.emit_itt(record_shapes=False):
        for i in range(3):
            torch.profiler.itt.range_push(f"iteration_{i}")
            net(x)
            torch.profiler.itt.range_pop()
    torch.cuda.synchronize()
"""

DURATIONS = """
    import torch, time
    a = torch.rand(8192, 8192, device="cuda", dtype=torch.bfloat16)
    for i in range(3):
        a @ a
    torch.cuda.synchronize()
    for i in range(5):
        b, e = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        b.record(); c = a @ a; e.record(); torch.cuda.synchronize()
        print(b.elapsed_time(e) * 1000)
"""

FOREVER = """
    import torch, os, signal, threading
    threading.Timer(4, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    a = torch.ones(1 << 20, device="cuda")
    while True:
        for i in range(100):
            a.mul_(1.0001)
        torch.cuda.synchronize()
"""

RANGES = """
    import torch
    a = torch.ones(1 << 20, device="cuda")
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push("outer")
    for i in range(20):
        torch.cuda.nvtx.range_push("inner")
        a.mul_(1.0001)
        torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
"""

BUSY = """
    import torch
    a = torch.ones(1 << 20, device="cuda")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
        a.mul_(2)
        torch.cuda.synchronize()
    print("sum", float(a.sum()))
"""


def kernel_time(said):
    """ns of all kernels, by the table of -d."""
    rows = device.table_rows(said, "Kernel", "== CUDA Backend ==")
    return sum(int(row["Time (ns)"]) for row in rows if not row["Kernel"].startswith(("Memcpy", "Memset")))


@unittest.skipIf(WHY, WHY)
class Cuda(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-cuda-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def record(self, script, *options, status=0):
        path = self.dir / "program.py"
        path.write_text(textwrap.dedent(script))
        done = subprocess.run([UNITRACE, *(options or ["--chrome-kernel-logging"]), "-o", "out.json",
                               sys.executable, path], cwd=self.dir, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, status, done.stderr[-2000:])
        self.said = done.stdout + done.stderr
        return json.loads((self.dir / "out.json").read_text())["traceEvents"]

    def work(self, events, cat="kernel"):
        return [e for e in events if e["ph"] == "X" and e.get("cat") == cat]

    def test_every_launch_has_its_kernel_its_arrow_and_its_operator(self):
        events = self.record(LAUNCHES)
        kernels = [k for k in self.work(events) if k["args"].get("task") == "aten::mul_"]
        self.assertEqual(len(kernels), 200, self.said[-1500:])
        out = {e["id"] for e in events if e["ph"] == "s"}
        into = collections.Counter(e["id"] for e in events if e["ph"] == "f")
        self.assertTrue(set(into) <= out)
        self.assertGreaterEqual(len(into), 200)
        calls = {e["name"] for e in events if e.get("cat") == "CUDA"}
        self.assertIn("cudaLaunchKernel", calls)

    def test_kernels_know_their_nvtx_range(self):
        events = self.record(RANGES)
        self.assertEqual(len([e for e in self.work(events, "NVTX") if e["name"] == "inner"]), 20)
        inner = [k for k in self.work(events) if k["args"].get("task") == "inner"]
        self.assertEqual(len(inner), 20)

    def test_only_the_calls_that_submit_or_wait_are_recorded(self):
        names = {e["name"] for e in self.work(self.record(LAUNCHES), "CUDA")}
        self.assertIn("cudaLaunchKernel", names)
        self.assertFalse({"cudaGetDevice", "cudaMalloc", "cudaStreamIsCapturing"} & names, names)

    def test_the_table_counts_every_kernel(self):
        kernels = self.work(self.record(LAUNCHES, "-d", "--chrome-kernel-logging"))
        self.assertEqual(kernel_time(self.said), sum(round(k["dur"] * 1000) for k in kernels))

    def test_graphs_show_their_kernels(self):
        kernels = [k for k in self.work(self.record(GRAPH)) if k["args"].get("graph")]
        self.assertEqual(len(kernels), 100)

    def test_the_guide_s_model_has_its_kernels_under_its_operators(self):
        events = self.record(MODEL)
        tasks = collections.Counter(k["args"].get("task") for k in self.work(events))
        self.assertTrue(any("convolution" in str(t) for t in tasks), tasks)
        self.assertTrue(any("addmm" in str(t) or "linear" in str(t) for t in tasks), tasks)
        names = {e["name"] for e in events if e["ph"] == "X"}
        self.assertTrue({"iteration_0", "iteration_1", "iteration_2"} <= names)
        self.assertFalse([n for n in names if n.startswith("_Z")], "demangled")

    def test_durations_agree_with_cuda_events(self):
        events = self.record(DURATIONS)
        theirs = sorted(float(x) for x in self.said.split("\n") if x.replace(".", "").isdigit())
        ours = sorted(k["dur"] for k in self.work(events) if k["dur"] > 500)
        self.assertGreaterEqual(len(ours), 8)
        median = ours[len(ours) // 2]
        # Events are submitted by the host, and a launch beside them is in their time.
        self.assertLess(abs(median - theirs[0]), max(0.05 * theirs[0], 160), (ours, theirs))

    def test_a_killed_loop_keeps_its_timeline(self):
        events = self.record(FOREVER, "--chrome-kernel-logging", status=-signal.SIGKILL)
        self.assertGreater(len(self.work(events)), 1000)

    def test_torch_profiler_beside_us_does_no_harm(self):
        self.record(BUSY)
        self.assertIn("sum 2097152.0", self.said)

    def test_all_calls(self):
        events = self.record(LAUNCHES, "--chrome-call-logging", "--chrome-kernel-logging")
        apis = collections.Counter(e.get("cat") for e in events if e["ph"] == "X")
        self.assertGreater(apis["CUDA driver"], 200)
        self.assertGreater(apis["CUDA"], 200)


@unittest.skipIf(WHY, WHY)
@unittest.skipUnless(pathlib.Path(NVCC).exists(), "no nvcc")
class Counted(unittest.TestCase):
    """A program of ours, counted.cu, that tells what it has launched."""

    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-counted-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        device.compile_cuda("counted.cu", cls.dir / "counted")

    def record(self, *options):
        """The spans of a recording."""
        done = subprocess.run([UNITRACE, "--overwrite", *options, "-o", "out.json", "./counted"],
                              cwd=self.dir, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stdout + done.stderr
        events = json.loads((self.dir / "out.json").read_text())["traceEvents"]
        return [e for e in events if e["ph"] == "X"]

    def spins(self, spans):
        return [e["dur"] for e in spans if e.get("cat") == "kernel" and "spin" in e["name"]]

    def test_everything_that_was_launched_is_there_once(self):
        spans = self.record("--chrome-kernel-logging", "--chrome-call-logging")
        kernels = [e for e in spans if e.get("cat") == "kernel"]
        in_graphs = [e for e in kernels if e["args"].get("graph")]
        self.assertEqual(len([e for e in kernels if "add_one" in e["name"]]), 300 + 60)
        self.assertEqual(len(in_graphs), 60)
        self.assertEqual(len(self.spins(spans)), 5)
        counts = collections.Counter(e.get("cat") for e in spans)
        self.assertEqual((counts["copy"], counts["fill"]), (7, 3))
        self.assertEqual(len({e["tid"] for e in kernels}), 3)
        waits = collections.Counter(e["args"]["waits for"] for e in spans if e.get("cat") == "sync")
        print("waits:", dict(waits))
        self.assertGreaterEqual(sum(waits.values()), 2 + 1 + 1 + 5)

    def test_a_kernel_takes_as_long_as_cuda_events_say(self):
        spins = sorted(self.spins(self.record("--chrome-kernel-logging")))
        theirs = float(self.said.split("spin ")[1].split()[0])
        print(f"ours {spins[0]:.1f} us, CUDA events {theirs:.1f} us")
        self.assertLess(abs(spins[0] - theirs) / theirs, 0.02)

    @unittest.skipUnless(shutil.which("ncu"), "no Nsight Compute (ncu)")
    def test_a_kernel_takes_as_long_as_nsight_compute_says(self):
        ours = sorted(self.spins(self.record("--chrome-kernel-logging")))
        done = subprocess.run(["ncu", "--clock-control", "none", "--kernel-name", "spin", "--csv",
                               "--metrics", "gpu__time_duration.sum", "./counted"], cwd=self.dir,
                              capture_output=True, text=True, timeout=100)
        rows = [row for row in device.ncu_rows(done.stdout) if row["Metric Name"] == "gpu__time_duration.sum"]
        if not rows:
            self.skipTest(f"ncu measured nothing: {done.stdout[-300:]}")
        scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}
        theirs = sorted(float(r["Metric Value"].replace(",", "")) * scale[r["Metric Unit"]] for r in rows)
        print(f"ours {ours[2]:.1f} us, Nsight Compute {theirs[len(theirs) // 2]:.1f} us")
        self.assertLess(abs(ours[2] - theirs[len(theirs) // 2]) / ours[2], 0.02)

    def test_pages_of_managed_memory(self):
        spans = self.record("--chrome-kernel-logging", "--cuda-unified-memory")
        if "does not tell" in self.said:
            self.skipTest(self.said)
        moved = collections.Counter()
        for e in spans:
            if e["name"].startswith(("Pages move", "Page fault")):
                moved[e["name"]] += e["args"].get("bytes", e["args"].get("faults", 1))
        print("pages:", dict(moved))
        self.assertGreaterEqual(moved["Pages move HtoD"], 65536)
        self.assertGreaterEqual(moved["Pages move DtoH"], 4096)
        self.assertLessEqual(max(moved.values()), 1 << 24) # of 64 KiB that are used twice


if __name__ == "__main__":
    device.main(WHY)
