#!/usr/bin/env python3
"""OpenCV, which asks for the version first and says nothing to a collector without one."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, real_python
from real_support import main, need_unitrace

need_unitrace()
PYTHON = real_python("cv2")


class OpenCv(CountCase):
    def test_all_that_it_says_is_recorded_by_default(self):
        said, (trace,) = self.counted(PYTHON, PACKAGES / "blur.py", prints="(60, 80) True")
        self.assertEqual(said.of("api_version").total(), 1)
        for function in ("GaussianBlur", "cvtColor", "Canny", "resize"):
            calls = [e for e in trace.slices if e["name"].startswith(f"void cv::{function}(")]
            self.assertEqual(len(calls), 10, trace.names())


if __name__ == "__main__":
    main()
