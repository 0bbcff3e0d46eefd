#!/usr/bin/env python3
"""OpenCL of NVIDIA's driver, recorded through the loader's layer and through our own vendor.

Run by hand on a machine that has it: UNITRACE_BUILD=build python3 tests/device/test_opencl_nvidia.py
Everywhere else it skips aloud.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
PROGRAMS = pathlib.Path(__file__).parents[1] / "programs"
DRIVERS = ("/usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1", "/usr/local/nvidia/lib64/libnvidia-opencl.so.1",
           "/usr/lib/libnvidia-opencl.so.1", "/usr/lib64/libnvidia-opencl.so.1")
DRIVER = next((d for d in DRIVERS if os.path.exists(d)), None)


@unittest.skipUnless(DRIVER, "no OpenCL of NVIDIA's (libnvidia-opencl.so.1)")
class Nvidia(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-nvidia-cl-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        vendors = cls.dir / "vendors"
        vendors.mkdir()
        (vendors / "nvidia.icd").write_text(DRIVER + "\n")
        # the two loaders' variables
        cls.env = dict(os.environ, OCL_ICD_VENDORS=str(vendors), OPENCL_VENDOR_PATH=str(vendors))
        subprocess.run(["cc", "-D_GNU_SOURCE", "-o", cls.dir / "work",
                        PROGRAMS / "opencl_work.c", "-ldl", "-lpthread"], check=True)

    def run_program(self, *words):
        done = subprocess.run([*words, "./work", "gemm", "50"], cwd=self.dir, env=self.env,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def check(self, *options):
        bare = self.run_program().stdout
        done = self.run_program(UNITRACE, "--overwrite", "--chrome-kernel-logging", *options, "-o", "out.json")
        self.assertEqual(done.stdout, bare)
        events = json.loads((self.dir / "out.json").read_text())["traceEvents"]
        devices = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        print(bare.strip().splitlines()[-1], "|", sorted(devices))
        if "NVIDIA" not in " ".join(devices):
            self.skipTest("the loader of this machine does not take vendors from our folder")
        work = [e for e in events if e["ph"] == "X" and e.get("cat") in ("kernel", "copy", "fill", "sync", "other")]
        queued = int(re.search(r"enqueued (\d+)", bare)[1])
        self.assertEqual(len(work), queued)
        return work

    def test_through_the_layer(self):
        work = self.check("--opencl-via", "layer")
        kernels = [e for e in work if e["cat"] == "kernel"]
        self.assertTrue(all(0 < e["dur"] < 1e5 for e in kernels))

    def test_through_our_own_vendor(self):
        self.check("--opencl-via", "icd")


if __name__ == "__main__":
    unittest.main(verbosity=2)
