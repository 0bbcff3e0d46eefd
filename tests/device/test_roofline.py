#!/usr/bin/env python3
"""unitrace roofline on a real NVIDIA GPU: kernels stand where theory puts them.

Run by hand on a machine that has one: UNITRACE_BUILD=build python3 tests/device/test_roofline.py
Everywhere else it skips aloud.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import device
from device import NVCC, UNITRACE

N = 8192
GEMM = f"""
    import torch
    x, y = (torch.randn({N}, {N}, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    torch.matmul(x, y)
    torch.cuda.synchronize()
"""


def kernels(app, place, folder):
    """What a program's kernels reach, as unitrace roofline writes it; KERNELS keeps a copy."""
    path = pathlib.Path(folder) / "kernels.json"
    done = subprocess.run([UNITRACE, "roofline", "--app", app, "--device", place, "--output", path], cwd=folder,
                          capture_output=True, text=True, timeout=280, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    found = json.loads(path.read_text())
    if "KERNELS" in os.environ:
        with open(os.environ["KERNELS"], "a") as kept:
            kept.writelines(json.dumps(kernel) + "\n" for kernel in found)
    print(json.dumps(found, indent=1), flush=True)
    path.unlink()
    return found


class Roofline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="ut_roofline_"))
        cls.device = os.environ.get("ROOFLINE_DEVICE")
        if not cls.device:  # a minute: this machine's own peaks
            cls.device = cls.dir / "device.csv"
            subprocess.run([UNITRACE, "roofline", "--measure-device", "--output", cls.device], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def kernels(self, app):
        return kernels(app, self.device, self.dir)

    @unittest.skipUnless(pathlib.Path(NVCC).exists(), "no nvcc")
    def test_known_kernels_stand_where_theory_puts_them(self):
        program = self.dir / "known"
        device.compile_cuda("roofline.cu", program, "-O3", "-arch=native")
        found = {k["kernel"].split("(")[0]: k for k in self.kernels(str(program))}
        copy, fma, chase = found["copy_all"], found["fma_chains"], found["chase"]
        self.assertEqual(copy["bound"], "dram")
        # The roof is that of reading, and copying reaches 93 % of it at best (cudaMemcpy).
        self.assertGreaterEqual(copy["reached"], 90)
        self.assertLess(copy["reached"], 105)
        self.assertAlmostEqual(copy["bytes"]["dram"] / (4 << 30), 1, delta=0.03)
        self.assertEqual((fma["kind"], fma["bound"]), ("compute", "fp32"))
        # 7 additions make the beginnings of the chains, 7 their sum.
        self.assertEqual(fma["flop"]["fp32"], 132 * 8 * 256 * (20000 * 8 * 2 + 14))
        self.assertGreaterEqual(fma["reached"], 90)
        self.assertLess(chase["reached"], 5)

    def test_a_matrix_product_is_bound_by_tensor_units(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no PyTorch")
        (self.dir / "gemm.py").write_text(textwrap.dedent(GEMM))
        gemm = max(self.kernels(f"{sys.executable} gemm.py"), key=lambda k: k["flop"]["bf16_tensor"] or 0)
        # cuBLAS pads: tiles of 320 rows make 8,320 of 8,192.
        self.assertGreaterEqual(gemm["flop"]["bf16_tensor"], 2 * N**3)
        self.assertLess(gemm["flop"]["bf16_tensor"], 2.1 * N**3)
        self.assertEqual((gemm["kind"], gemm["bound"]), ("compute", "bf16_tensor"))
        self.assertGreaterEqual(gemm["reached"], 60)
        self.assertLess(gemm["reached"], 102)
        self.assertGreater(gemm["intensity"]["dram"], gemm["intensity"]["l2"])


if __name__ == "__main__":
    device.main(device.missing())
