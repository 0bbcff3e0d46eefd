#!/usr/bin/env python3
"""scikit-learn-intelex: oneDAL's loops."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, real_python
from real_support import main, need_unitrace

need_unitrace()
PYTHON = real_python("sklearnex")


class Sklearnex(CountCase):
    def test_k_means(self):
        _, (trace,) = self.counted(PYTHON, PACKAGES / "kmeans.py", prints="(4, 8)")
        self.assertGreater(trace.names("tbb")["tbb_parallel_for"], 10)


if __name__ == "__main__":
    main()
