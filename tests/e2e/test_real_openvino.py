#!/usr/bin/env python3
"""OpenVINO: its phases and operations, with the oneDNN and TBB that it brings along."""
# ci: labels real
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from count_support import PACKAGES, CountCase, real_python
from real_support import main, need_unitrace

need_unitrace()
PYTHON = real_python("openvino")


class OpenVino(CountCase):
    def test_all_of_an_inference(self):
        said, (trace,) = self.counted(PYTHON, PACKAGES / "infer.py", prints="25392")
        self.assertEqual(trace.names("ov::op::cpu::exec")["Convolution::execute"], 5)
        # Once on each thread that works for it.
        self.assertGreaterEqual(trace.names("dnnl::primitive::execute")["convolution"], 5)
        self.assertEqual(said.of("region_begin")["ov::phases::inference", "Inference::pipeline"], 5)
        self.assertGreater(said.of("jit_load").total(), 0)


if __name__ == "__main__":
    main()
