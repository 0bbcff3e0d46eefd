#!/usr/bin/env python3
"""unitrace serve on a machine with an NVIDIA GPU: each GPU analysis of the page, started through the interface, has a
result with kernels, metrics, stalls and roofs. The same checks run without a GPU in tests/e2e/test_serve_gpu.py.

    UNITRACE_BUILD=build python3 tests/device/test_serve.py

No browser is needed. Needs nvcc, a device whose counters may be read, and a build with the page (libmicrohttpd).
Everywhere else it skips aloud.
"""
import pathlib
import sys
import tempfile

import device

WHY = device.missing(nvcc=True)
if WHY and __name__ == "__main__":
    device.skip(WHY)
sys.path.insert(0, str(device.HERE.parent / "e2e"))
from serve_gpu import GpuRuns, column  # noqa: E402

TURNS = 20
KERNELS = {"matmul", "saxpy", "copy", "transpose", "sum", "chase"}


class Device(GpuRuns):
    chosen = "matmul"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.program = pathlib.Path(cls.folder.name) / "measured"
        device.compile_cuda("measured.cu", cls.program, "-lineinfo", "-arch=native")

    def what(self):
        return {"application": str(self.program), "arguments": [str(TURNS)], "directory": self.folder.name}

    def test_gpu_offload(self):
        name = self.check_offload()
        found = {kernel.partition("(")[0] for kernel in self.kernels(name)}  # the heaviest
        self.assertTrue(found and found <= KERNELS, found)

    def test_gpu_compute_hotspots_of_chosen_kernels(self):
        self.check_hotspots()

    def test_metrics_over_time(self):
        self.check_metrics_over_time()

    def test_stalls_are_those_of_lines(self):
        name = self.check_stalls()
        stalls = self.sheet(name, "metrics", "metrics")["stalls"]
        lines = [line for kernel in stalls for line in column(kernel["instructions"], "line")]
        self.assertTrue(any(lines))

    def test_roofline(self):
        self.check_roofline()


if __name__ == "__main__":
    device.main(WHY)
