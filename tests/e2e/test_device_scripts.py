"""Every script of tests/device starts; what reads and reports figures runs against a CUPTI that is played, without a
GPU. What they find on a real one is for a machine that has it.
"""
# ci: no sanitizers
# ci: labels slow
import csv
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import common
from common import BUILD, PATIENCE, SOURCE, UNITRACE, environment, main, program
from device_support import backend, need_backend
from script_support import bare_environment

need_backend("cuda")
common.need("fake_cuda")
DEVICE = SOURCE / "tests/device"
MODULES = {"device", "fake_loop"}  # what the scripts share
CUDA, CUPTI = backend("cuda"), program("libfake_cupti.so")
CUBIN = SOURCE / "tests/data/cuda/kernels.cubin"
LOOP = DEVICE / "fake_loop.py"
OF_A_STEP = 4 + 3  # kernels of fake_loop.py
FAKE = {"UNITRACE_BUILD": str(BUILD), "UNITRACE_CUPTI": str(CUPTI), "FAKE_CUPTI": str(CUPTI), "FAKE_CUPTI_CUBIN": str(CUBIN)}
SKIPPED = 77


def load(name):
    """A script of tests/device as a module; tests/e2e has some of the same name."""
    if str(DEVICE) not in sys.path:
        sys.path.append(str(DEVICE))
    spec = importlib.util.spec_from_file_location(f"device_{name}", DEVICE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


os.environ["UNITRACE_BUILD"] = str(BUILD)
device = load("device")
sys.modules["device"] = device


def script(name, *words, **env):
    return subprocess.run([sys.executable, "-B", str(DEVICE / f"{name}.py"), *map(str, words)], cwd=SOURCE,
                          env=environment(**{**FAKE, **env}), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)


class Started(unittest.TestCase):
    @unittest.skipIf(device.has_gpu(), "not here: there is a GPU, tests/device itself can run")
    def test_without_a_gpu_each_says_so_in_one_line(self):
        names = {path.stem for path in DEVICE.glob("*.py")} - MODULES
        self.assertGreaterEqual(len(names), 12)
        with tempfile.TemporaryDirectory() as folder:
            env = bare_environment(folder)
            for name in sorted(names):
                with self.subTest(name):
                    done = script(name, **env)
                    self.assertEqual(done.returncode, SKIPPED, done.stdout[-2000:])
                    self.assertRegex(done.stdout.splitlines()[-1], r"^SKIP: no (GPU|CUPTI)")
                    self.assertNotIn("Traceback", done.stdout)


class Benchmarks(common.Case):
    def test_bench_cuda(self):
        ways = ["bare", "floor", "work", "kernels", "calls"]
        (self.dir / "libcupti.so.13").symlink_to(CUPTI)  # cupti_floor.c asks for it by name
        if not shutil.which("cc"):
            ways.remove("floor")
        done = script("bench_cuda", PROGRAM=str(LOOP), ROUNDS="2", PROCESSES="2", LOOPS="guide", STEPS="10", THREADS="1",
                      WAYS=",".join(ways), LD_LIBRARY_PATH=str(self.dir))
        self.assertEqual(done.returncode, 0, done.stdout)
        seconds, rate = re.search(r"^guide: 2 rounds of 2 processes, 10 steps in ([\d.]+) s, (\d+) kernels/s$", done.stdout,
                                  re.M).groups()
        self.assertAlmostEqual(int(rate) * float(seconds), 10 * OF_A_STEP, delta=0.2 * 10 * OF_A_STEP)
        for way in ways:
            self.assertRegex(done.stdout, rf"(?m)^  {way} +[\d.]+ x bare \([\d.]+ to [\d.]+\) +CPU +[\d.]+ x +[-+\d.]+ us per kernel$")
        self.assertIn("MainThread:", done.stdout)

    def test_bench_metrics(self):
        found = self.dir / "figures.json"
        done = script("bench_metrics", PROGRAM=str(LOOP), ROUNDS="1", SAMPLERS="1", STEPS="2", JSON=str(found))
        self.assertEqual(done.returncode, 0, done.stdout)
        figures = json.loads(found.read_text())
        self.assertEqual(figures["query"]["kernels"], 3 * OF_A_STEP)
        self.assertEqual(figures["query"]["measured"], 3 * 4)  # kernels of graphs are not
        self.assertIsInstance(figures["query"]["ms_a_kernel"], float)
        for way in ("bare", "work", "sampled", "beside"):
            self.assertGreater(figures["sampling"][way]["median"], 0)
        self.assertRegex(done.stdout, r"(?m)^sampled +[\d.]+ x bare \([\d.]+ to [\d.]+\)")

    def write_ncu(self, kernels):
        """As ncu --csv prints them, below the program's own output."""
        with open(self.dir / "program.none.csv", "w", newline="") as f:
            f.write("==PROF== Connected to process\ninit 1\n")
            table = csv.writer(f, quoting=csv.QUOTE_ALL)
            table.writerow(["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Metric Name", "Metric Unit", "Metric Value"])
            for i, k in enumerate(kernels):
                for metric, unit, value in (("dram__bytes_read.sum", "byte", f"{k.read:,.0f}"),
                                            ("dram__bytes_write.sum", "byte", f"{k.write:,.0f}"),
                                            ("sm__warps_active.avg.pct_of_peak_sustained_active", "%", f"{k.occupancy:.2f}")):
                    table.writerow([i, 4711, k.name, "(256, 1, 1)", "(64, 1, 1)", metric, unit, value])

    def test_beside_ncu(self):
        words = [program("fake_cuda"), CUDA, CUPTI, "12"]
        env = {"PROGRAM": " ".join(map(str, words)), "NCU_TABLES": str(self.dir)}
        os.environ.update(FAKE)
        self.addCleanup(lambda: [os.environ.pop(key) for key in FAKE if key != "UNITRACE_BUILD"])
        kernels = load("beside_ncu").ours(self.dir, words, "none")
        self.assertEqual((len(kernels), kernels[2].read, kernels[2].shape), (12, 3 * 4096, (64, 1, 1, 256, 1, 1)))
        self.write_ncu(kernels)
        done = script("beside_ncu", self.dir / "table.csv", **env)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("12 of 12 kernels within 2 %", done.stdout)
        rows = list(csv.DictReader((self.dir / "table.csv").read_text().splitlines()))
        self.assertEqual([int(r["read"]) for r in rows], [4096 * n for n in range(1, 13)])
        self.assertEqual(rows[0]["off_bytes"], "0.0")
        kernels[0].occupancy *= 1.2
        self.write_ncu(kernels)
        done = script("beside_ncu", **env)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("11 of 12 kernels within 2 %", done.stdout)


class Reading(common.Case):
    """The functions with which the tests of real devices read what we print."""

    def fake(self, *options, count=6):
        done = self.unitrace(*options, program("fake_cuda"), CUDA, CUPTI, count, env=environment(**FAKE))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def test_kernels_are_counted(self):
        self.fake("--chrome-kernel-logging", "-o", "out.utr")
        self.assertEqual(device.count_kernels("out.utr", cwd=self.dir), 6 + 3)
        with self.assertRaisesRegex(RuntimeError, "ended with 1"):
            device.count_kernels("missing.utr", cwd=self.dir)

    def test_the_table_of_devices(self):
        said = self.fake("-d", "--chrome-kernel-logging", "-o", "out.json")
        events = json.loads((self.dir / "out.json").read_text())["traceEvents"]
        kernels = [e for e in events if e["ph"] == "X" and e.get("cat") == "kernel"]
        self.assertEqual(load("test_cuda").kernel_time(said), sum(round(k["dur"] * 1000) for k in kernels))

    def test_the_table_of_collectives(self):
        need_backend("nccl")
        done = self.unitrace("--chrome-ccl-logging", "-r", "--no-summary", "-o", "out.json", program("fake_nccl"), "5", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(load("test_nccl").calls(done.stderr.decode()),
                         {"NCCL::ncclAllReduce": 3, "NCCL::ncclAllGather": 1, "NCCL::ncclSend": 1})

    def test_waits_and_collectives_of_ranks(self):
        """What test_nccl.py takes from unitrace ranks --json."""
        for rank in range(2):
            pid, late = 100 + rank, 5000 * rank
            spans = [{"name": "prepare", "cat": "step", "ts": 0, "dur": 4000 + late},
                     {"name": "MPI_Allreduce", "cat": "MPI", "ts": 4100 + late, "dur": 5100 - late,
                      "args": {"comm": "MPI_COMM_WORLD", "seq": 0, "bytes": 8, "received": 8}}]
            (self.dir / f"rank.{rank}.json").write_text(json.dumps({
                "traceEvents": [{"ph": "X", "pid": pid, "tid": pid, **s} for s in spans],
                "otherData": {"tool": "unitrace", "processes": [{"pid": pid, "rank": rank, "name": "app", "host": "node",
                                                                "realtime_offset_ns": 1700000000000000000}]}}))
        found = device.ask("ranks", "rank.0.json", "rank.1.json", cwd=self.dir)
        waits = {(w["rank"], w["task"]): w["wait_ns"] for w in found["waits"]}
        self.assertGreater(waits[1, "prepare"], 4e6)
        self.assertEqual({"collective", "count", "total_bytes", "busbw_GB_s"} - found["collectives"][0].keys(), set())

    def test_a_picture_of_python_and_kernels(self):
        done = self.unitrace("--python", "--python-modules", "__main__", "--chrome-kernel-logging", "-o", "out.json",
                             sys.executable, LOOP, "query", env=environment(**FAKE))
        self.assertEqual(done.returncode, 0, done.stderr)
        picture = load("test_python_cuda").Picture(self.dir / "out.json")
        self.assertEqual(len(picture.kernels), 3 * OF_A_STEP)
        functions = [s.name for s in picture.spans if s.cat == "Python"]
        if not functions:
            self.skipTest(f"no extension for {sys.executable}")
        self.assertTrue(all(picture.agrees(k) for k in picture.kernels))
        kernel, _, _, where = picture.chain(picture.kernels[0])
        self.assertRegex(where, r"^run \(fake_loop.py:\d+\)$")

    def test_operators_of_pytorch(self):
        package = BUILD / "lib/unitrace/python"
        if not package.exists():
            self.skipTest("the Python package is not built")
        if b"SQLite" in self.unitrace("query", "--help").stderr:
            self.skipTest("built without SQLite")
        events = [{"ph": "M", "pid": 2, "tid": 0, "name": "process_name", "args": {"name": "DEVICE [x] #0"}},
                  {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "name": "aten::mm", "cat": "PyTorch"},
                  {"ph": "X", "pid": 2, "tid": 7, "ts": 50, "dur": 2000, "name": "gemm", "cat": "kernel", "args": {"task": "aten::mm"}}]
        (self.dir / "ops.json").write_text(json.dumps({"traceEvents": events}))
        self.assertEqual(load("test_python_cuda").device_times(self.dir / "ops.json"), {"aten::mm": 2.0})

    def test_roofs(self):
        os.environ.update(FAKE, FAKE_CUPTI_LONG="1")
        self.addCleanup(lambda: [os.environ.pop(key) for key in (*FAKE, "FAKE_CUPTI_LONG") if key != "UNITRACE_BUILD"])
        kept = self.dir / "kept.jsonl"
        os.environ["KERNELS"] = str(kept)
        self.addCleanup(os.environ.pop, "KERNELS")
        found = load("test_roofline").kernels(f"{program('fake_cuda')} {CUDA} {CUPTI} 4", "h200", self.dir)
        self.assertEqual({k["kernel"].split("(")[0].split("[")[0] for k in found}, {"relu", "matmul"})
        lines = load("prove_metrics").roofs(kept)
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], r"^\w.*: bound shared, reached [\d.]+ %, flop \{")

    def test_rows_of_ncu(self):
        text = 'init\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","spin","t.sum","ns","2,000.5"\n"=="\n'
        rows = device.ncu_rows(text)
        self.assertEqual([(r["Metric Unit"], r["Metric Value"]) for r in rows], [("ns", "2,000.5")])
        self.assertEqual(device.ncu_rows("nothing was measured\n"), [])

    def test_groups_of_metrics(self):
        groups = load("test_metric_groups")
        found = groups.groups()
        self.assertEqual({name for name, *_ in found}, set(groups.MOST_PASSES))
        self.assertTrue(all(metrics for metrics in found.values()))


class OpenCl(unittest.TestCase):
    def test_opencl_of_a_cpu(self):
        """test_opencl_nvidia.py, with the driver that the tests of OpenCL use as well."""
        need_backend("opencl")
        icd = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")
        if not icd.exists() or not shutil.which("cc"):
            self.skipTest("PoCL or a compiler is not installed (tools/setup.sh test)")
        done = script("test_opencl_nvidia", OPENCL_DRIVER=icd.read_text().strip(), OPENCL_DEVICE="DEVICE [")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"Ran 3 tests in .*\n\nOK\n")


class Prove(common.Case):
    """prove_metrics.py, with measured.cu played."""

    def setUp(self):
        super().setUp()
        self.prove = load("prove_metrics")
        self.prove.BUILD, self.prove.UNITRACE = BUILD, UNITRACE
        self.prove.WORK = self.prove.OUT = self.dir
        measured = self.dir / "measured"
        measured.write_text(f"#!/bin/sh\nexec '{program('fake_cuda')}' '{CUDA}' '{CUPTI}' 200\n")
        measured.chmod(0o755)
        os.environ.update(FAKE, PROGRAM=str(LOOP))
        self.addCleanup(lambda: [os.environ.pop(key) for key in (*FAKE, "PROGRAM") if key != "UNITRACE_BUILD"])
        self.prove.KERNELS = 2

    def test_measuring_and_sampling_together(self):
        self.assertTrue(self.prove.together())
        (way, found), = self.prove.results["together"].items()
        self.assertEqual((way, found["measured"], found["works"]), ("off own", 2, True))
        self.assertEqual(self.prove.best_way()[0], "off")
        self.assertIn("together=off own: ", "\n".join(self.prove.table()))

    def test_the_hottest_instruction(self):
        folder = self.prove.fresh("stalls")
        done = self.prove.unitrace("--stall-sampling", "--chrome-kernel-logging", "--no-summary", "-o", "chase.csv",
                                   self.dir / "measured", cwd=folder)
        self.assertEqual(done.rc, 0, done.text)
        told = json.loads(self.prove.one(folder, "chase.modules.*/stalls.json").read_text())
        hot = self.prove.hottest(told, "matmul")
        self.assertEqual((hot["line"], max(hot["samples"], key=hot["samples"].get)), (13, "long_scoreboard"))
        self.assertEqual(self.prove.hottest(told, "no such kernel"), {})
        self.assertEqual(self.prove.counted(folder)[1], sum(f["samples"] for f in told["functions"]))

    def test_parts_and_verdicts(self):
        self.prove.device = unittest.mock.Mock(wraps=device, need=lambda **_: None)  # as if there were a GPU
        self.prove.PARTS = [self.prove.together, self.prove.chase]
        self.assertEqual(self.prove.main(), 1)
        self.prove.transcript.close()
        told = json.loads((self.dir / "results.json").read_text())
        self.assertEqual(told["parts"], {"together": "good", "chase": "NOT good"})  # no kernel here is called that
        self.assertIn("==== all of it", (self.dir / "transcript.txt").read_text())

    def test_the_cost_of_a_query(self):
        self.assertTrue(self.prove.costs("query", 60))
        figures = self.prove.results["query"]
        self.assertEqual(figures["kernels"], 3 * OF_A_STEP)
        self.assertRegex("\n".join(self.prove.table()), r"query: [-\d.]+ ms a kernel, 12 of 21 kernels measured")


if __name__ == "__main__":
    main()
