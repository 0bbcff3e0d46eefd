#!/usr/bin/env python3
"""PyTorch as the users' guide has it: sample.py and launch.sh, as printed there.

Needs the virtual environment of tools/setup.sh test; each run of PyTorch takes some seconds.
"""
# ci: labels slow real
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
from real_support import HERE, PATIENCE, UNITRACE, Case, clean_env, main, need_module, need_unitrace, venv

need_unitrace()
VENV = venv()
need_module(VENV, "torch")

# What one iteration is made of: nested in this way, whatever it costs.
CONVOLUTION = "iteration_%d/aten::conv2d/aten::convolution/aten::_convolution/" \
              "aten::mkldnn_convolution"
LINEAR = "iteration_%d/aten::linear/aten::addmm"
DNN = {"dnnl::primitive::create", "dnnl::primitive::execute"}


def torch_env():
    return clean_env(PATH=f"{VENV}:{os.environ['PATH']}", OMP_NUM_THREADS="2",
                     PYTHONWARNINGS="ignore")


class PyTorch(Case):
    def setUp(self):
        super().setUp()
        for name in ("sample.py", "launch.sh"):
            shutil.copy(HERE / "pytorch" / name, self.dir)

    def torch(self, *words, rc=0):
        return self.record(*words, env=torch_env(), rc=rc)

    def check_sample(self, trace):
        """Three equal iterations, each around the operators that ran in it."""
        pid = trace.slices[0]["pid"]
        paths = trace.paths(pid)
        per_iteration = []
        for i in range(3):
            self.assertIn(CONVOLUTION % i, paths)
            self.assertIn(LINEAR % i, paths)
            whole, = trace.named(f"iteration_{i}")
            ops = [e for e in trace.inside(whole) if e["cat"] == "PyTorch"]
            self.assertTrue(all(e["name"].startswith("aten::") for e in ops))
            per_iteration.append(collections.Counter(e["name"] for e in ops))
        self.assertEqual(per_iteration[0], per_iteration[1])
        self.assertEqual(per_iteration[0], per_iteration[2])
        self.assertEqual(sum(per_iteration[0].values()) * 3 + 3,
                         len([e for e in trace.slices if e["cat"] == "PyTorch"]))
        outside = [p for p in paths if not p.startswith("iteration_")]
        self.assertEqual(outside, [], "emit_itt labels nothing before and after")

    def check_dnn(self, trace):
        if not trace.domains() & DNN:
            self.skipTest("this PyTorch has no oneDNN that speaks ITT")
        paths = trace.paths(trace.slices[0]["pid"])
        for i in range(3):
            self.assertIn(CONVOLUTION % i + "/convolution", paths)
        for e in trace.slices:
            if e["cat"] in DNN:
                self.assertRegex(e["args"]["info"], rf"^cpu,{e['name']},")

    def test_sample(self):
        _, said = self.torch("--format", "chrome,perfetto", "python", "sample.py")
        trace = self.trace()
        self.check_sample(trace)
        self.check_dnn(trace)
        self.assertIn("aten::mkldnn_convolution", said)
        self.assertRegex(trace.path.name, r"^python\.\d+\.json$")
        self.check_perfetto(trace)

    def check_perfetto(self, trace):
        """Decodes without a complaint, and says the same names."""
        protoc = shutil.which("protoc")
        if not protoc:
            print("SKIP: protoc is not installed")
            return
        path, = self.dir.glob("*.pftrace")
        with open(path, "rb") as f:
            got = subprocess.run([protoc, "--decode_raw"], stdin=f, capture_output=True)
        self.assertEqual((got.returncode, got.stderr), (0, b""))
        text = got.stdout.decode()
        for name in trace.names():
            self.assertIn(f'"{name}"', text)

    def test_launch_script(self):
        self.torch("./launch.sh")
        trace = self.trace()
        self.assertRegex(trace.path.name, r"^python\.\d+\.json$")
        self.check_sample(trace)

    def test_dnn_logging_keeps_onednn_and_pytorch(self):
        self.torch("--chrome-dnn-logging", "python", "sample.py")
        trace = self.trace()
        self.check_sample(trace)
        self.assertLessEqual(trace.domains(), DNN | {"PyTorch"})
        self.check_dnn(trace)

    def test_ccl_and_mpi_logging_keep_pytorch_alone(self):
        self.torch("--chrome-ccl-logging", "--chrome-mpi-logging", "python", "sample.py")
        trace = self.trace()
        self.check_sample(trace)
        self.assertEqual(trace.domains(), {"PyTorch"})

    def test_selected_batches(self):
        """PTI_ENABLE_COLLECTION, set by the program in its own environment."""
        printed, _ = self.torch("--chrome-dnn-logging", "--conditional-collection", "python",
                                HERE / "pytorch" / "selected.py")
        self.assertEqual(printed, "trained\n")
        trace = self.trace()
        self.assertEqual([n for n in trace.names() if n.startswith("batch_")],
                         ["batch_0", "batch_1", "batch_2"])
        paths = set(trace.paths(trace.slices[0]["pid"]))
        self.assertIn("batch_2/Optimizer.step#SGD.step", paths)
        self.assertTrue(any(p.startswith("batch_1/autograd::engine::evaluate_function: "
                                         "AddmmBackward0/AddmmBackward0/") for p in paths), paths)
        self.assertTrue(all(p.startswith("batch_") for p in paths), paths)

    def test_killed_in_the_middle(self):
        program = subprocess.Popen([UNITRACE, "sh", "-c",
                                    'echo $$; exec python "$0"', HERE / "pytorch/endless.py"],
                                   cwd=self.dir, env=torch_env(), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        pid = int(program.stdout.readline())
        self.assertEqual(program.stdout.readline(), b"a thousand\n")
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(program.wait(PATIENCE), -signal.SIGKILL)
        program.stdout.close()
        trace = self.trace()
        steps = sum(n for name, n in trace.names().items() if name.startswith("step_"))
        self.assertGreaterEqual(steps, 1000)
        self.assertLessEqual(abs(trace.names()["aten::ones"] - steps), 1)
        unfinished = [e for e in trace.slices if e.get("args", {}).get("unfinished")]
        self.assertLessEqual(len(unfinished), 4)

    def test_cost(self):
        """Measured and printed; too much else runs on a test machine to insist on a figure."""
        code = ("import time, torch\n"
                "x = torch.ones(1)\n"
                "with torch.autograd.profiler.emit_itt():\n"
                "    for _ in range(5):\n"
                "        a = time.process_time_ns()\n"
                "        for _ in range(20000): x.neg()\n"
                "        print((time.process_time_ns() - a) / 20000)\n")
        cost = {}
        for what, words in (("bare", ()), ("traced", (UNITRACE, "--quiet"))):
            got = self.run_in(*words, VENV / "python", "-c", code, env=torch_env())
            self.assertEqual(got.returncode, 0, got.stderr)
            cost[what] = min(float(x) for x in got.stdout.split())
        print(f"emit_itt, ns of CPU per aten::neg: {cost['bare']:.0f} bare, "
              f"{cost['traced']:.0f} traced", file=sys.stderr)
        self.assertEqual(self.trace().names(), {"aten::neg": 100000})


if __name__ == "__main__":
    main()
