#!/usr/bin/env python3
"""Hardware metrics on a real NVIDIA GPU: counts that are known, Nsight Compute's values, the place
where a pointer chase waits, ends of all kinds.

    UNITRACE_BUILD=build python3 tests/device/test_metrics.py

Needs nvcc, and a device whose counters may be read; ncu for the comparison, and for that also
UNITRACE_CUPTI with a CUPTI of 13.4 or newer, which controls caches and clocks as ncu does.
Everywhere else it skips aloud.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import device
from device import NCU, UNITRACE

SOURCE = device.HERE / "measured.cu"
SIZE = 1024
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum[instructions]"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.folder.name)
        device.compile_cuda(SOURCE.name, cls.dir / "measured", "-lineinfo", "-gencode", "arch=compute_90,code=sm_90")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def record(self, *options, program=(), rc=0, **env):
        for old in self.dir.glob("out*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        done = subprocess.run([UNITRACE, *options, "--chrome-kernel-logging", "--no-summary", "-o",
                               "out.csv", self.dir / "measured", *program], cwd=self.dir, timeout=120,
                              env={**os.environ, **env}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, rc, done.stderr)
        return done.stderr

    def metrics(self):
        path, = self.dir.glob("out.metrics.*.csv")
        return device.metric_rows(path)

    def test_a_matmul_has_as_many_multiplications_as_it_must(self):
        self.record("-q", "-g", "Roofline", "--include-kernels", "matmul")
        for row in self.metrics():
            self.assertEqual(int(row[FFMA]), SIZE ** 3)

    def test_dram_and_occupancy_are_those_of_nsight_compute(self):
        if not pathlib.Path(NCU).exists() or "UNITRACE_CUPTI" not in os.environ:
            self.skipTest("no ncu, or no UNITRACE_CUPTI of 13.4")
        said = self.record("-q", "-g", "Occupancy", "--cache-control", "all")
        self.assertNotIn("cannot do it", said)
        ours = {}
        for row in self.metrics():
            ours.setdefault(row["Kernel"].split("(")[0], row)
        done = subprocess.run([NCU, "--csv", "--print-units", "base", "--cache-control", "all", "--clock-control", "none",
                               "--metrics", f"dram__bytes_read.sum,{WARPS}", self.dir / "measured"],
                              capture_output=True, text=True, check=True)
        theirs = {}
        for row in device.ncu_rows(done.stdout):
            key = row["Kernel Name"].split("(")[0], row["Metric Name"]
            theirs.setdefault(key, float(row["Metric Value"].replace(",", "")))
        self.assertGreaterEqual(len(ours), 5)
        for name, row in ours.items():
            with self.subTest(name):
                read, full = theirs[name, "dram__bytes_read.sum"], theirs[name, WARPS]
                self.assertAlmostEqual(int(row["dram__bytes_read.sum[bytes]"]), read,
                                       delta=0.02 * read + 65536)
                self.assertAlmostEqual(float(row[WARPS + "[%]"]), full, delta=0.02 * full + 1)

    def test_a_pointer_chase_waits_at_its_load(self):
        self.record("--stall-sampling", program=("200",))
        path, = self.dir.glob("out.modules.*/stalls.json")
        chase = next(f for f in json.loads(path.read_text())["functions"] if "chase" in f["kernel"])
        hot = max(chase["pcs"], key=lambda pc: sum(pc["samples"].values()))
        self.assertGreater(hot["samples"]["long_scoreboard"], 0.8 * sum(hot["samples"].values()))
        lines = SOURCE.read_text().splitlines()
        self.assertIn("next[", lines[hot["line"] - 1])

    def test_samples_hit_kernels(self):
        self.record("-k", "-i", "100", program=("200",))
        rows = self.metrics()
        self.assertGreater(len(rows), 100)
        self.assertIn("matmul", {r["Kernel"].split("(")[0] for r in rows})

    def test_ends_of_all_kinds(self):
        for option in ("-q", "-k", "--stall-sampling"):
            for end, rc in (("reset", 0), ("_exit", 3), ("running", 0)):
                with self.subTest((option, end)):
                    self.record(option, program=("50", end), rc=rc)
                    if option == "-q":
                        self.assertTrue(self.metrics())


if __name__ == "__main__":
    device.main(device.missing(nvcc=True))
