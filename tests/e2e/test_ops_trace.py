"""unitrace ops on traces: ops of PyTorch with their kernels, tasks of other programs, work that nothing
is known to have submitted; traces of ours and of torch.profiler."""
import csv
import json
import subprocess

import common
from common import SOURCE, UNITRACE, Case, main, program, skip
from device_support import backend

if not UNITRACE.exists():
    skip(f"{UNITRACE} is not built")

VENV = SOURCE / "build/venv/bin/python"
CUDA, CUPTI, FAKE = backend("cuda"), program("libfake_cupti.so"), program("fake_cuda")


def span(cat, name, ts, dur, pid=100, tid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def op(name, ts, dur, **args):
    return span("cpu_op", name, ts, dur, **args)


def launch(number, ts, tid=7, external=None, name="cudaLaunchKernel"):
    args = {"External id": external} if external else {}
    return span("cuda_runtime", name, ts, 3, tid=tid, correlation=number, **args)


def kernel(number, name, ts, dur, device=0, cat="kernel", **args):
    return span(cat, name, ts, dur, pid=device, tid=20, correlation=number, device=device, **args)


class Ops(Case):
    def run_ops(self, *words, status=0):
        done = subprocess.run([UNITRACE, "ops", *words], capture_output=True, timeout=common.PATIENCE,
                              cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr.decode()
        return self.rows() if not status else None

    def rows(self, name="profile_log_ops.csv", folder="output/ops"):
        with open(self.dir / folder / name, newline="") as f:
            return list(csv.DictReader(f))

    def report(self, events, *words, name="run.json"):
        (self.dir / name).write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return self.run_ops(name, *words)

    def cells(self, row, *names):
        return [row[name] for name in names]


class Profiler(Ops):
    """Traces as torch.profiler writes them."""
    EVENTS = [
        span("user_annotation", "ProfilerStep#1", 0, 500),
        op("aten::linear", 10, 100, **{"External id": 1, "Ev Idx": 0, "Input Dims": [[8, 16], [4, 16], []],
                                       "Input type": ["float", "c10::Half", "Scalar"], "Sequence number": 5}),
        op("aten::t", 12, 8, **{"External id": 2}),
        op("aten::addmm", 30, 70, **{"External id": 3}),
        launch(1, 40, external=3),
        kernel(1, "gemm", 60, 20, **{"External id": 3}),
        launch(2, 50),
        kernel(2, "bias<float, 4>(int)", 90, 5),
        op("aten::to", 200, 50),
        launch(3, 210, name="cudaMemcpyAsync"),
        kernel(3, "Memcpy HtoD", 215, 10, cat="gpu_memcpy", bytes=4096),
        op("aten::view", 300, 10),
    ]

    def test_an_op_has_its_host_and_device_times(self):
        linear, to, view = self.report(self.EVENTS)
        self.assertEqual([r["OP CODE"] for r in (linear, to, view)],
                         ["aten::linear", "aten::to", "aten::view"])
        self.assertEqual([r["OP TYPE"] for r in (linear, to, view)],
                         ["torch_device", "torch_device", "torch_cpu"])
        self.assertEqual([r["GLOBAL CALL COUNT"] for r in (linear, to, view)], ["1", "2", "3"])
        self.assertEqual(self.cells(linear, "PROCESS ID", "THREAD ID", "DEVICE ID", "HOST START TS",
                                    "HOST END TS", "HOST DURATION [ns]", "HOST SELF DURATION [ns]",
                                    "CALL DEPTH"),
                         ["100", "7", "0", "10000", "110000", "100000", "22000", "1"])
        self.assertEqual(self.cells(linear, "DEVICE START TS", "DEVICE END TS", "DEVICE DURATION [ns]",
                                    "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL COUNT", "DEVICE KERNELS",
                                    "OP TO OP LATENCY [ns]", "LAUNCH LATENCY [ns]"),
                         ["60000", "95000", "35000", "25000", "2", "gemm; bias<float, 4>(int)", "0",
                          "20000"])
        self.assertEqual(self.cells(to, "DEVICE COPY DURATION [ns]", "DEVICE COPY COUNT",
                                    "DEVICE COPY BYTES", "DEVICE KERNEL COUNT", "OP TO OP LATENCY [ns]"),
                         ["10000", "1", "4096", "-", "120000"])
        self.assertEqual(self.cells(view, "DEVICE ID", "DEVICE DURATION [ns]"), ["-", "-"])
        self.assertNotIn("PROBLEM", linear)

    def test_what_an_op_calls_is_counted(self):
        linear, to, view = self.report(self.EVENTS)
        self.assertEqual(self.cells(linear, "aten::addmm Count", "aten::addmm Average [ns]", "aten::t Count",
                                    "cudaLaunchKernel Count", "cudaLaunchKernel Average [ns]"),
                         ["1", "70000", "1", "2", "3000"])
        self.assertEqual(self.cells(to, "cudaMemcpyAsync Count", "aten::t Count"), ["1", "0"])
        self.assertEqual(self.cells(view, "cudaLaunchKernel Average [ns]"), ["0"])

    def test_tensors_and_attributes(self):
        linear, to, _ = self.report(self.EVENTS)
        self.assertEqual([linear[f"INPUT_0_{f}"] for f in "WZYX"], ["1", "1", "8", "16"])
        self.assertEqual(self.cells(linear, "INPUT_1_X", "INPUT_0_DATA TYPE", "INPUT_1_DATA TYPE"),
                         ["16", "float", "c10::Half"])
        self.assertNotIn("INPUT_2_X", linear)
        self.assertEqual(to["INPUT_0_X"], "-")
        got = json.loads(linear["ATTRIBUTES"])
        self.assertEqual(got["Sequence number"], 5)
        self.assertEqual(got["Input Dims"], [[8, 16], [4, 16], []])
        self.assertEqual(got["Input type"], ["float", "c10::Half", "Scalar"])
        self.assertNotIn("External id", got)

    def test_lists_of_tensors_and_many_dimensions(self):
        cat, five = self.report([op("aten::cat", 0, 5, **{"Input Dims": [[[2, 3], [4, 5]], [], [7]]}),
                                 op("aten::conv3d", 10, 5, **{"Input Dims": [[2, 3, 4, 5, 6]]})])
        self.assertEqual([cat[f"INPUT_{i}_X"] for i in (0, 1, 3)], ["3", "5", "7"])
        self.assertNotIn("INPUT_2_X", cat)
        self.assertEqual([five[f"INPUT_0_{f}"] for f in "WZYX"], ["6", "4", "5", "6"])

    def test_nested_gives_every_op_its_row(self):
        rows = self.report(self.EVENTS, "--nested")
        self.assertEqual([(r["OP CODE"], r["CALL DEPTH"], r["DEVICE KERNEL COUNT"]) for r in rows],
                         [("aten::linear", "1", "-"), ("aten::t", "2", "-"), ("aten::addmm", "2", "2"),
                          ("aten::to", "1", "-"), ("aten::view", "1", "-")])
        self.assertEqual(rows[0]["aten::addmm Count"], "1")
        self.assertEqual((rows[0]["cudaLaunchKernel Count"], rows[2]["cudaLaunchKernel Count"]), ("0", "2"))

    def test_a_kernel_without_its_call_is_found_by_the_external_id(self):
        row, = self.report([op("aten::mm", 0, 10, **{"External id": 77}),
                            kernel(5, "gemm", 50, 10, **{"External id": 77})])
        self.assertEqual(self.cells(row, "OP CODE", "DEVICE KERNELS", "LAUNCH LATENCY [ns]"),
                         ["aten::mm", "gemm", "-"])

    def test_a_trace_of_intels_tool_is_joined_by_its_arrows(self):
        """Its calls have the category of ops, its work no number that the calls know."""
        def flow(ph, ts, pid, tid):
            return {"ph": ph, "id": 5, "name": "dep", "cat": "Flow_H2D", "ts": ts, "pid": pid, "tid": tid, "bp": "e"}
        row, = self.report([
            {"ph": "M", "name": "process_name", "pid": 9, "ts": 0, "args": {"name": "DEVICE<vm>[Intel GPU] 0:3a:0.0 #0"}},
            span("PyTorch", "aten::mm", 0, 50), op("zeCommandListAppendLaunchKernel", 10, 5), flow("s", 12, 100, 7),
            {**span("gpu_op", "gemm", 30, 9, pid=9, tid=1), "args": {"id": "1"}}, flow("f", 30, 9, 1)])
        self.assertEqual(self.cells(row, "OP CODE", "DEVICE KERNELS", "DEVICE ARCH", "LAUNCH LATENCY [ns]",
                                    "zeCommandListAppendLaunchKernel Count"), ["aten::mm", "gemm", "Intel GPU", "18000", "1"])

    def test_the_backward_pass_and_custom_ops(self):
        events = [op("autograd::engine::evaluate_function: MmBackward0", 0, 50, tid=9),
                  op("MmBackward0", 1, 48, tid=9), op("aten::mm", 5, 10, tid=9),
                  op("flash_attn::fwd", 100, 10, tid=9), op("triton_poi_fused_add_0", 120, 10, tid=9),
                  launch(1, 6, tid=9), kernel(1, "a", 10, 5), launch(2, 102, tid=9), kernel(2, "b", 110, 5),
                  launch(3, 121, tid=9), kernel(3, "c", 125, 5)]
        rows = self.report(events)
        self.assertEqual([(r["OP CODE"], r["OP TYPE"], r["DEVICE KERNELS"]) for r in rows],
                         [("aten::mm", "torch_device", "a"), ("flash_attn::fwd", "torch_device", "b"),
                          ("triton_poi_fused_add_0", "task", "c")])

    def test_work_of_nobody_has_a_row_that_says_why(self):
        rows = self.report([op("aten::mm", 0, 10), launch(1, 100), kernel(1, "late", 110, 5),
                            kernel(2, "lost", 120, 5), kernel(3, "set", 130, 5, cat="gpu_memset")])
        self.assertEqual([r["OP CODE"] for r in rows], ["aten::mm", "late", "lost", "set"])
        self.assertEqual([r["OP TYPE"] for r in rows], ["torch_cpu", "kernel", "kernel", "fill"])
        self.assertEqual([r["PROBLEM"] for r in rows],
                         ["", "no op was going on in thread 7 when it was submitted",
                          "the trace has no call that submitted it",
                          "the trace has no call that submitted it"])
        self.assertEqual(rows[1]["HOST START TS"], "100000")
        self.assertIn("3 of 4 rows are not whole", self.said)

    def test_devices_are_distinguished(self):
        rows = self.report([op("aten::a", 0, 50), launch(1, 1), kernel(1, "k", 10, 5),
                            launch(2, 2), kernel(2, "k", 20, 5, device=1),
                            op("aten::b", 60, 10), launch(3, 61), kernel(3, "k", 70, 5, device=1)])
        self.assertEqual([r["DEVICE ID"] for r in rows], ["0;1", "1"])
        self.assertEqual(rows[0]["DEVICE KERNELS"], "2 x k")
        self.assertEqual([r["OP TO OP LATENCY [ns]"] for r in rows], ["0", "0"])

    def test_overlapping_ops_have_no_gap(self):
        rows = self.report([op("aten::a", 0, 10), launch(1, 1), kernel(1, "k", 10, 50),
                            op("aten::b", 20, 10), launch(2, 21), kernel(2, "k", 40, 5),
                            op("aten::c", 40, 10), launch(3, 41), kernel(3, "k", 65, 5)])
        self.assertEqual([r["OP TO OP LATENCY [ns]"] for r in rows], ["0", "-", "5000"])

    def test_a_program_without_marks_has_a_row_per_kernel(self):
        row, = self.report([launch(1, 0), kernel(1, "k", 10, 5)])
        self.assertEqual(self.cells(row, "OP CODE", "OP TYPE"), ["k", "kernel"])
        self.assertNotIn("PROBLEM", row)

    def test_names_of_emit_nvtx(self):
        row, = self.report([span("NVTX", "aten::mm, seq = 3, sizes = [[2, 3], [3, 4]]", 0, 10)])
        self.assertEqual(self.cells(row, "OP CODE", "INPUT_0_Y", "INPUT_1_X"), ["aten::mm", "2", "4"])

    def test_many_names_share_the_last_columns(self):
        inner = [op(f"aten::i{n}", 1 + n, 1) for n in range(300)]
        row, = self.report([op("aten::all", 0, 1000), *inner])
        self.assertEqual(len([k for k in row if k.endswith(" Count")]), 257)
        self.assertEqual(row["(other calls) Count"], "44")


class Files(Ops):
    def test_json_page_names_and_several_traces(self):
        one = [op("aten::a", 0, 10)]
        self.report(one)
        (self.dir / "second.json").write_text(json.dumps([op("aten::b", 5, 10)]))
        self.run_ops("run.json", "second.json", "-o", "out", "-n", "two")
        rows = self.rows("profile_log_ops_two.csv", "out")
        self.assertEqual([(r["OP CODE"], r["GLOBAL CALL COUNT"]) for r in rows],
                         [("aten::a", "1"), ("aten::b", "1")])
        data = json.loads((self.dir / "out/profile_log_ops_two.json").read_text())
        self.assertEqual(data[0]["HOST DURATION [ns]"], 10000)
        self.assertTrue((self.dir / "out/profile_log_ops_two.html").exists())
        self.assertFalse(list((self.dir / "out").glob("*.tgz")))

    def test_a_folder_of_traces(self):
        (self.dir / "runs").mkdir()
        for name, code in (("rank10.json", "aten::b"), ("rank9.json", "aten::a")):
            (self.dir / "runs" / name).write_text(json.dumps([op(code, 0, 10)]))
        self.assertEqual([r["OP CODE"] for r in self.run_ops("runs")], ["aten::a", "aten::b"])

    def test_what_cannot_be_read_is_reported(self):
        (self.dir / "empty.json").write_text("[]")
        self.run_ops("empty.json", status=1)
        self.assertIn("no ops in there", self.said)
        (self.dir / "bad.json").write_text("no trace at all")
        self.run_ops("bad.json", status=1)
        self.run_ops("missing-*.json", status=1)
        (self.dir / "d1").mkdir()
        self.run_ops("d1", "bad.json", status=2)
        self.assertFalse((self.dir / "output").exists())


class Recorded(Ops):
    def record(self, name, *options, count=4, **env):
        if not (CUDA.exists() and CUPTI.exists() and FAKE.exists()):
            self.skipTest("the CUDA backend or its fake is not built")
        done = self.unitrace("--chrome-kernel-logging", "--no-summary", *options, "-o", name, FAKE, CUDA,
                             CUPTI, count, env=common.environment(UNITRACE_CUPTI=str(CUPTI), **env))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_recording_of_ours_in_every_format(self):
        seen = []
        for name in ("run.utr", "run.json", "run.pftrace"):
            self.record(name)
            row, = self.run_ops(name)
            self.assertEqual(self.cells(row, "OP CODE", "OP TYPE", "DEVICE ID", "DEVICE ARCH",
                                        "DEVICE KERNEL COUNT", "DEVICE COPY COUNT", "DEVICE COPY BYTES",
                                        "cudaLaunchKernel Count", "cuLaunchKernel Count"),
                             ["step", "task", "0", "Fake H200", "7", "2", "4608", "4", "4"])
            seen.append(row["DEVICE KERNEL DURATION [ns]"])
        self.assertEqual(len(set(seen)), 1)

    def test_ranks_that_number_their_calls_alike_stay_apart_in_one_trace(self):
        for rank, count in enumerate((4, 7)):
            self.record("r.utr", count=count, PMI_RANK=str(rank), PMI_SIZE="2")
        done = self.unitrace("merge", "-o", "all.utr", *sorted(self.dir.glob("r.*.utr")))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.run_ops("all.utr")
        self.assertEqual([r["DEVICE KERNEL COUNT"] for r in rows], ["7", "10"])
        self.assertEqual([r["cudaLaunchKernel Count"] for r in rows], ["4", "7"])

    def test_tasks_that_use_opencl(self):
        tasks = program("opencl_tasks")
        if not tasks.exists() or subprocess.run([tasks, "1"], check=False, capture_output=True).returncode:
            self.skipTest("no OpenCL device, or tests/programs/opencl_tasks is not built")
        done = self.unitrace("--chrome-kernel-logging", "--no-summary", "-o", "run.utr", tasks, 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.run_ops("run.utr")
        self.assertEqual([(r["OP CODE"], r["DEVICE KERNELS"], r["DEVICE COPY BYTES"]) for r in rows],
                         [("load", "-", "4096"), ("step", "2 x add", "-")] * 2)
        for row in rows:
            self.assertGreater(int(row["LAUNCH LATENCY [ns]"]), 0)
            self.assertLessEqual(int(row["HOST START TS"]), int(row["DEVICE START TS"]))
        self.assertEqual(rows[1]["clEnqueueNDRangeKernel Count"], "2")

    def test_pytorch_under_emit_itt(self):
        if not VENV.exists() or subprocess.run([VENV, "-c", "import torch"], check=False,
                                               capture_output=True).returncode:
            self.skipTest("build/venv has no torch (tools/setup.sh test)")
        (self.dir / "t.py").write_text(
            "import torch\n"
            "a = torch.rand(8, 8)\n"
            "with torch.autograd.profiler.emit_itt():\n"
            "    for i in range(3):\n"
            "        torch.nn.functional.linear(a, a).relu()\n")
        done = self.unitrace("--no-summary", "-o", "run.utr", VENV, "-W", "ignore", "t.py",
                             env=common.environment(OMP_NUM_THREADS="1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.run_ops("run.utr")
        self.assertEqual([r["OP CODE"] for r in rows], ["aten::linear", "aten::relu"] * 3)
        self.assertEqual({r["OP TYPE"] for r in rows}, {"torch_cpu"})
        for row in rows:
            self.assertGreater(int(row["HOST DURATION [ns]"]), int(row["HOST SELF DURATION [ns]"]))
        self.assertEqual(rows[0]["aten::matmul Count"], "1")


if __name__ == "__main__":
    main()
