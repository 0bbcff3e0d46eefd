#!/usr/bin/env python3
"""numba: parallel loops on the TBB of PyPI."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, packages, real_python
from real_support import main, need_unitrace

need_unitrace()
PYTHON = real_python("numba")


class Numba(CountCase):
    def test_parallel_loops(self):
        _, (trace,) = self.counted(f"LD_LIBRARY_PATH={packages().parent}/lib", PYTHON,
                                   PACKAGES / "prange.py", prints="100000 tbb")
        self.assertGreaterEqual(trace.names("tbb")["tbb_parallel_for"], 5)


if __name__ == "__main__":
    main()
