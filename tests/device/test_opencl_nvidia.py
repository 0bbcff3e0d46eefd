#!/usr/bin/env python3
"""OpenCL of NVIDIA's driver, recorded through the loader's layer and through our own vendor.

Run by hand on a machine that has it: UNITRACE_BUILD=build python3 tests/device/test_opencl_nvidia.py
Everywhere else it skips aloud. OPENCL_DRIVER=FILE and OPENCL_DEVICE=WORD test another driver, whose device has this
word in its name.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import device
from device import UNITRACE

PROGRAMS = pathlib.Path(__file__).parents[1] / "programs"
PLACES = ("/usr/lib/x86_64-linux-gnu", "/usr/local/nvidia/lib64", "/usr/lib", "/usr/lib64")
DRIVER = os.environ.get("OPENCL_DRIVER") or next((found for folder in PLACES
                                                  if os.path.exists(found := f"{folder}/libnvidia-opencl.so.1")), None)
NAME = os.environ.get("OPENCL_DEVICE", "NVIDIA")
# The two loaders that such a machine has: the distribution's, which knows layers, and the toolkit's.
LOADERS = [folder for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/local/cuda/targets/x86_64-linux/lib")
           if os.path.exists(f"{folder}/libOpenCL.so.1")]


def knows_layers(folder):
    return b"OPENCL_LAYERS" in pathlib.Path(folder, "libOpenCL.so.1").read_bytes()


@unittest.skipUnless(DRIVER, "no OpenCL of NVIDIA's (libnvidia-opencl.so.1)")
class Nvidia(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-nvidia-cl-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        vendors = cls.dir / "vendors"
        vendors.mkdir()
        (vendors / "nvidia.icd").write_text(DRIVER + "\n")
        # One vendor only, in the words of each loader; the toolkit's wants the slash.
        cls.env = dict(os.environ, OCL_ICD_VENDORS=f"{vendors}/", OPENCL_VENDOR_PATH=str(vendors),
                       OCL_ICD_FILENAMES=DRIVER)
        subprocess.run(["cc", "-D_GNU_SOURCE", "-o", cls.dir / "work",
                        PROGRAMS / "opencl_work.c", "-ldl", "-lpthread"], check=True)

    def run_program(self, loader, *words):
        path = ":".join([loader, *filter(None, [self.env.get("LD_LIBRARY_PATH")])])
        done = subprocess.run([*words, "./work", "gemm", "50"], cwd=self.dir, env={**self.env, "LD_LIBRARY_PATH": path},
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def check(self, loader, *options):
        bare = self.run_program(loader).stdout
        done = self.run_program(loader, UNITRACE, "--overwrite", "--chrome-kernel-logging", *options, "-o", "out.json")
        self.assertEqual(done.stdout, bare)
        events = json.loads((self.dir / "out.json").read_text())["traceEvents"]
        devices = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        print(loader, bare.strip().splitlines()[-1], "|", sorted(devices))
        self.assertIn(NAME, " ".join(devices))
        work = [e for e in events if e["ph"] == "X" and e.get("cat") in ("kernel", "copy", "fill", "sync", "other")]
        queued = int(re.search(r"enqueued (\d+)", bare)[1])
        self.assertEqual(len(work), queued)
        kernels = [e for e in work if e["cat"] == "kernel"]
        self.assertTrue(kernels and all(0 < e["dur"] < 1e5 for e in kernels))

    def check_all(self, loaders, *options):
        self.assertTrue(loaders, "no loader (libOpenCL.so.1)")
        for loader in loaders:
            with self.subTest(loader=loader):
                self.check(loader, *options)

    def test_through_the_layer(self):
        self.check_all(list(filter(knows_layers, LOADERS)), "--opencl-via", "layer")

    def test_through_our_own_vendor(self):
        self.check_all(LOADERS, "--opencl-via", "icd")

    def test_through_what_the_launcher_chooses(self):
        self.check_all(LOADERS)


if __name__ == "__main__":
    device.main("" if DRIVER else "no GPU with OpenCL of NVIDIA's (libnvidia-opencl.so.1)")
