#!/usr/bin/env python3
"""dpctl on Intel's OpenCL for CPUs: the TBB inside, and the commands on the device."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, packages, real_python
from real_support import main, need_unitrace, skip

need_unitrace()
PYTHON = real_python("dpctl")
VENDOR = packages().parent / "lib/libintelocl.so"
if not VENDOR.exists():
    skip("intel-opencl-rt is not installed (tools/setup.sh real)")


class Dpctl(CountCase):
    def run_kernels(self, *options):
        return self.counted(f"OCL_ICD_FILENAMES={VENDOR}", PYTHON, PACKAGES / "sycl.py",
                            options=options, prints="3200000")

    def test_the_runtime_speaks_through_tbb(self):
        said, _ = self.run_kernels()
        self.assertGreaterEqual(said.of("task_begin")["tbb", "tbb_parallel_for"], 5)

    def test_kernels_beside_it(self):
        said, (trace,) = self.run_kernels("--chrome-kernel-logging")
        self.assertGreaterEqual(said.of("task_begin")["tbb", "tbb_parallel_for"], 5)
        self.assertEqual(trace.names("kernel"), {"twice": 5})
        self.assertEqual(trace.names("OpenCL")["clEnqueueNDRangeKernel"], 5)


if __name__ == "__main__":
    main()
