#!/usr/bin/env python3
"""From a kernel to its operator and to the Python function, without a GPU: a fake CUPTI plays it.

What a real one does is in tests/device/test_python_cuda.py.
"""
import collections

from python_support import PACKAGE, Case, Trace, environment, main, need_python
from common import program  # from tests/e2e, which python_support has put on the path
from device_support import backend, need_backend

need_backend("cuda")
PYTHONS = need_python()
CUDA, CUPTI = backend("cuda"), program("libfake_cupti.so")

TEXT = f"""
import ctypes
import unitrace

print("init", ctypes.CDLL({str(CUDA)!r}).InitializeInjection())
run = ctypes.CDLL({str(CUPTI)!r}).fake_cuda_run

def launch(n):
    run(n)

def forward():
    with unitrace.range("aten::addmm", domain="PyTorch"):
        launch(4)

def by_hand():
    launch(2)

forward()
by_hand()
with unitrace.range("aten::relu", domain="PyTorch"):
    run(6)
"""


class Kernels(Case):
    def record(self, python, *options, text=TEXT):
        (self.dir / "train.py").write_text(text)
        got = self.unitrace("--python", "--python-modules", "__main__", "--chrome-kernel-logging",
                            "--no-summary", "-o", "out.json", "--overwrite", *options, python,
                            "train.py", env=environment(UNITRACE_CUPTI=str(CUPTI)))
        self.assertEqual((got.returncode, got.stdout), (0, b"init 1\n"), got.stderr.decode())
        return Trace(self.dir / "out.json")

    def test_a_kernel_names_its_operator_and_its_function(self):
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.record(python)
                kernels = [s for s in trace.spans if s.cat == "kernel"
                           and "graph" not in s.args]
                found = collections.Counter((k.args["task"], k.args["function"], k.args["line"])
                                            for k in kernels)
                first = first_line(kernels)
                self.assertEqual(found, {("aten::addmm", "launch", 8): 4, ("launch", "launch", 8): 2,
                                         ("aten::relu", "<module>", first): 6})
                self.assertEqual({k.args["file"] for k in kernels}, {str(self.dir / "train.py")})

    def test_with_lines_a_kernel_names_the_line(self):
        text = TEXT.replace("\nforward()\n", "\nwith unitrace.Profiler():\n    forward()\n")
        for version, python in PYTHONS.items():
            with self.subTest(version):
                trace = self.record(python, "--python-partial", "--python-lines", text=text)
                found = {(k.args["task"], k.args["function"], k.args["line"]) for k in trace.spans
                         if k.cat == "kernel" and "function" in k.args}
                self.assertEqual(found, {("aten::addmm", "launch:9", 9)})

    def test_the_table_has_the_time_on_the_device(self):
        python = next(iter(PYTHONS.values()))
        trace = self.record(python)
        got = self.run_words(python, "-m", "unitrace.op_table", "out.json",
                             env=environment(PYTHONPATH=str(PACKAGE)))
        rows = {line.split()[0]: line.split() for line in got.stdout.decode().splitlines()[1:]
                if line.startswith("aten::")}
        for name in ("aten::addmm", "aten::relu"):
            device = sum(s.end - s.begin for s in trace.spans
                         if s.cat in ("kernel", "copy", "fill") and s.args.get("task") == name)
            self.assertAlmostEqual(float(rows[name][5]) * 1e6, device, delta=501)
            self.assertEqual(rows[name][1], "1")


def first_line(kernels):
    """The line of <module> is 0 or 1, by the version of Python."""
    return next(k.args["line"] for k in kernels if k.args["function"] == "<module>")


if __name__ == "__main__":
    main()
