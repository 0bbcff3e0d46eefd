#!/usr/bin/env python3
"""TensorFlow: the oneDNN inside, its primitives and what it compiles."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, real_python
from real_support import main, need_unitrace

need_unitrace()
PYTHON = real_python("tensorflow")


class TensorFlow(CountCase):
    def test_convolutions(self):
        said, (trace,) = self.counted("TF_ENABLE_ONEDNN_OPTS=1", PYTHON, PACKAGES / "conv.py",
                                      prints="212064")
        # Once on each thread that works for it.
        self.assertGreaterEqual(trace.names("dnnl::primitive::execute")["convolution"], 5)
        self.assertGreater(said.of("jit_load").total(), 0)


if __name__ == "__main__":
    main()
