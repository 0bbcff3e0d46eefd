"""The CUDA backend without a GPU: a fake CUPTI plays what a device does, a small program marks with
NVTX. What the real ones do is measured in tests/device.
"""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import common
from common import program
from device_support import backend, need_backend

CUDA, CUPTI = backend("cuda"), program("libfake_cupti.so")
KERNELS, CALLS, WORK = "--chrome-kernel-logging", "--chrome-call-logging", "--chrome-device-logging"
SOURCE = pathlib.Path(os.environ.get("UNITRACE_SOURCE", pathlib.Path(__file__).parents[2]))
SHARED = pathlib.Path(os.environ.get("UNITRACE_SHARED", SOURCE.resolve().parent / "shared"))
GOLD = SHARED / "data" / "unitrace" / "gold"
MATMUL = "matmul(int, float const*, float const*, float*)"


class Case(common.Case):
    def record_fake(self, count, *more, options=(KERNELS,), rc=0, **env):
        """The events of the fake program's timeline."""
        env.setdefault("UNITRACE_CUPTI", str(CUPTI))
        for old in self.timelines():
            old.unlink()
        done = self.unitrace(*options, program("fake_cuda"), CUDA, CUPTI, count, *more,
                             env=common.environment(**env))
        self.assertEqual(done.returncode, rc, done.stderr)
        self.said = done.stderr.decode()
        path, = self.timelines()
        return json.loads(path.read_text())["traceEvents"]

    def spans(self, events, *cats):
        return [e for e in events if e["ph"] == "X" and e.get("cat") in cats]

    def count(self, events, *cats):
        return collections.Counter(e["name"] for e in self.spans(events, *cats))


class Work(Case):
    def test_kernels_copies_fills_and_graphs_are_all_there(self):
        events = self.record_fake(10)
        self.assertEqual(self.count(events, "kernel"), {"relu": 5 + 3, MATMUL: 5})
        self.assertEqual(self.count(events, "copy"), {"Memcpy HtoD": 1})
        self.assertEqual(self.count(events, "fill"), {"Memset": 1})
        nodes = [k["args"]["graph node"] for k in self.spans(events, "kernel")
                 if k["args"].get("graph") == 9]
        self.assertEqual(sorted(nodes), [1, 2, 3])
        held = [e["args"] for e in events if e["ph"] == "C" and e["name"] == "allocated bytes"]
        self.assertEqual([list(a.values()) for a in held], [[4096], [0]])

    def test_a_kernel_gives_its_shape_and_needs(self):
        kernel = self.spans(self.record_fake(1), "kernel")[0]["args"]
        self.assertEqual(kernel["grid"], "64x1x1")
        self.assertEqual(kernel["block"], "256x1x1")
        self.assertEqual((kernel["registers"], kernel["static shared memory"],
                          kernel["local memory per thread"], kernel["occupancy %"]),
                         (32, 1024, 16, 100))

    def test_devices_and_streams_have_names(self):
        names = [e["args"]["name"] for e in self.record_fake(4) if e["ph"] == "M"
                 and e["name"] in ("process_name", "thread_name")]
        self.assertIn("DEVICE [Fake H200] cuda:0 GPU-1a2b3c4d #0", names)
        self.assertIn("Stream 7 (context 1)", names)
        self.assertIn("Stream 8 (context 1)", names)

    def test_work_knows_its_task_and_has_an_arrow_from_its_call(self):
        events = self.record_fake(10)
        work = self.spans(events, "kernel", "copy", "fill")
        self.assertEqual({w["args"]["task"] for w in work}, {"step"})
        out = collections.Counter(e["id"] for e in events if e["ph"] == "s")
        into = collections.Counter(e["id"] for e in events if e["ph"] == "f")
        self.assertEqual(out, into)
        self.assertEqual(set(out.values()), {1})
        self.assertEqual(len(into), len(work))
        calls = {e["args"]["correlation"]: e for e in self.spans(events, "CUDA")
                 if "correlation" in e["args"]}
        for w in work:
            self.assertLessEqual(calls[w["args"]["correlation"]]["ts"], w["ts"])

    def test_kernels_are_chosen_by_name(self):
        events = self.record_fake(10, options=(KERNELS, "--include-kernels", "matmul"))
        self.assertEqual(self.count(events, "kernel"), {MATMUL: 5})

    def test_kernels_are_chosen_by_the_name_that_is_shown(self):
        with_cxx = {"FAKE_CUDA_CXX": "1"}
        shown = self.record_fake(4, options=(KERNELS, "--include-kernels", "matmul(int"), **with_cxx)
        self.assertEqual(self.count(shown, "kernel"), {MATMUL: 2})
        mangled = self.record_fake(4, options=(KERNELS, "--exclude-kernels", "_Z6mat"), **with_cxx)
        self.assertEqual(self.count(mangled, "kernel"), {"relu": 5})

    def test_what_the_program_waits_for_has_a_row_that_is_no_work(self):
        events = self.record_fake(2, options=(KERNELS, CALLS))
        wait, = self.spans(events, "sync")
        self.assertEqual((wait["name"], wait["args"]["waits for"]), ("Wait for a stream", "stream 7"))
        rows = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertIn("Waits of the host", " ".join(rows))
        self.assertNotIn("Wait for", self.unitrace("stats", "--device", self.timelines()[0]).stdout.decode())

    def test_copies_between_devices_and_the_time_that_cupti_takes(self):
        events = self.record_fake(2, FAKE_CUPTI_MORE="1")
        peer, = [e for e in self.spans(events, "copy") if e["name"] == "Memcpy PtoP"]
        self.assertEqual((peer["args"]["from device"], peer["args"]["bytes"]), (3, 512))
        overhead, = [e for e in self.spans(events, "other") if e["name"] == "CUPTI"]
        self.assertEqual(overhead["dur"], 5)
        rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertIn("Overhead", rows[overhead["tid"]])
        table = self.unitrace("stats", "--device", self.timelines()[0]).stdout.decode()
        self.assertIn("5 kernels, 2 copies (4608 bytes), 1 fill, 0 others", table)
        paused = self.record_fake(2, options=(KERNELS, "--start-paused"), FAKE_CUPTI_MORE="1")
        self.assertEqual(self.spans(paused, "other"), [])

    def test_pages_of_managed_memory_on_request(self):
        self.assertNotIn("Pages move HtoD", self.count(self.record_fake(1), "copy"))
        events = self.record_fake(1, options=(KERNELS, "--cuda-unified-memory"))
        pages, = [e for e in self.spans(events, "copy") if e["name"] == "Pages move HtoD"]
        self.assertEqual(pages["args"]["bytes"], 65536)
        fault, = [e for e in self.spans(events, "other") if e["name"] == "Page fault of the host"]
        self.assertEqual((fault["dur"], fault["args"]["instruction"]), (0, "0x55d0c0ffee"))
        later = self.record_fake(1, options=(KERNELS, "--cuda-unified-memory"), FAKE_CUPTI_NOT_READY="1")
        self.assertIn("Pages move HtoD", self.count(later, "copy"))
        self.record_fake(1, options=(KERNELS, "--cuda-unified-memory"), FAKE_CUPTI_NO_PAGES="1")
        self.assertIn("--cuda-unified-memory: this driver does not tell", self.said)

    def test_devices_are_chosen_by_number(self):
        self.assertEqual(len(self.spans(self.record_fake(3, options=(
            KERNELS, "--devices-to-sample", "0,2")), "kernel")), 6)
        others = self.record_fake(3, options=(KERNELS, "--devices-to-sample", "1"))
        self.assertEqual(self.spans(others, "kernel", "copy", "fill", "sync"), [])
        self.assertEqual(self.count(others, "CUDA")["cudaLaunchKernel"], 3)


class Calls(Case):
    SUBMITS = {"cudaLaunchKernel": 6, "cudaMemcpy": 1, "cudaMemsetAsync": 1, "cudaGraphLaunch": 1,
               "cudaDeviceSynchronize": 1}

    def test_only_the_calls_that_submit_or_wait_are_recorded(self):
        for env in ({}, {"FAKE_CUPTI_OLD": "1"}):
            with self.subTest(env):
                events = self.record_fake(6, **env)
                self.assertEqual(self.count(events, "CUDA"), self.SUBMITS)
                self.assertEqual(self.count(events, "CUDA driver"), {"cuLaunchKernel": 6})

    def test_all_calls_on_request_and_none_for_device_work_alone(self):
        events = self.record_fake(6, options=(KERNELS, CALLS))
        self.assertEqual(self.count(events, "CUDA"), {**self.SUBMITS, "cudaMalloc": 1})
        events = self.record_fake(6, options=(WORK,))
        self.assertEqual(self.count(events, "CUDA", "CUDA driver"), {})
        self.assertEqual(sum(self.count(events, "kernel").values()), 9)

    def test_one_level_of_calls_is_enough_for_arrows_and_tasks(self):
        for word, gone in (("driver-only", "CUDA"), ("runtime-only", "CUDA driver")):
            with self.subTest(word):
                events = self.record_fake(6, UNITRACE_CUDA_TUNE=word)
                self.assertEqual(self.count(events, gone), {})
                launched = [k for k in self.spans(events, "kernel") if "graph" not in k["args"]]
                self.assertEqual({k["args"].get("task") for k in launched}, {"step"})


class Pauses(Case):
    """CUPTI tells of things when a buffer is full, which may be long after the pause has begun."""

    def test_calls_and_work_of_the_part_that_is_on(self):
        events = self.record_fake(5, "pause", options=(KERNELS, CALLS, "--start-paused"))
        self.assertEqual(self.count(events, "CUDA")["cudaLaunchKernel"], 5)
        self.assertEqual(len(self.spans(events, "kernel")), 5 + 3)
        self.assertEqual(len(self.spans(events, "copy", "fill", "sync")), 3)
        self.assertEqual({k["args"].get("task") for k in self.spans(events, "kernel")}, {"step"})

    def test_work_alone(self):
        events = self.record_fake(5, "pause", options=(WORK, "--start-paused"))
        self.assertEqual(len(self.spans(events, "kernel")), 5 + 3)


class Trouble(Case):
    def test_another_profiler_in_the_process_is_one_line(self):
        events = self.record_fake(5, FAKE_CUPTI_BUSY="1")
        self.assertEqual(self.count(events, "kernel"), {})
        self.assertEqual(len(self.spans(events, "train")), 1)
        lines = [line for line in self.said.splitlines() if "CUDA is not recorded" in line]
        self.assertEqual(len(lines), 1, self.said)
        self.assertIn("another profiler (kineto)", lines[0])

    def test_a_missing_cupti_is_one_line(self):
        events = self.record_fake(5, UNITRACE_CUPTI="/nowhere/libcupti.so")
        self.assertIn("libcupti.so (12 or newer) was not found", self.said)
        self.assertEqual(self.said.count("CUDA is not recorded"), 1, self.said)
        self.assertEqual(len(self.spans(events, "train")), 1)

    def test_lost_records_are_reported(self):
        self.record_fake(5, FAKE_CUPTI_DROPS="1")
        self.assertIn("CUPTI had no room for 3 records", self.said)

    def test_a_killed_program_keeps_what_was_complete(self):
        events = self.record_fake(50, "kill", rc=-signal.SIGKILL)
        self.assertEqual(sum(self.count(events, "kernel").values()), 53)
        self.assertEqual(self.count(events, "CUDA")["cudaLaunchKernel"], 50)


class Tables(Case):
    def report(self, *options, count=6):
        self.record_fake(count, options=(*options, "--no-summary"))
        return self.said

    def rows(self, text, title):
        """The lines of a table, cut at their commas."""
        part = text.split(f"=== {title} ===")[1].split("\n===")[0]
        return [[c.strip() for c in re.split(r", (?=\s|\d|unknown)", line)]
                for line in part.splitlines() if "," in line]

    def test_host_timing_has_a_part_for_the_runtime_and_one_for_the_driver(self):
        text = self.report("-h")
        self.assertIn("\n== CUDA Backend ==\n\n", text)
        self.assertIn("\n== CUDA driver Backend ==\n\n", text)
        rows = {r[0]: r for r in self.rows(text, "API Timing Summary")}
        self.assertEqual(rows["cudaLaunchKernel"][1:3], ["6", "180"])
        self.assertEqual(rows["cuLaunchKernel"][1:], ["6", "60", "100.000000", "10", "10", "10"])

    def test_device_timing_and_properties(self):
        text = self.report("-d")
        rows = {r[0]: r for r in self.rows(text, "Device Timing Summary")}
        self.assertEqual(rows['"relu"'][1:3], ["6", "6006"])
        properties = {r[0]: r for r in self.rows(text, "Kernel Properties")}
        self.assertEqual(properties['"relu"'][1:],
                         ["unknown", "32", "unknown", "1024", "16", "unknown", "32"])

    def test_shapes_on_request(self):
        text = self.report("-d", "-v")
        self.assertIn('"relu[SIMD32 {64; 1; 1} {256; 1; 1}]"', text)
        self.assertIn('"Memcpy HtoD[4096]"', text)

    def test_submission_counts_from_the_call(self):
        rows = {r[0]: r for r in self.rows(self.report("-s", count=7),
                                           "Kernel Submission Summary")}
        matmul = rows[f'"{MATMUL}"']
        self.assertEqual(matmul[1], "3")
        self.assertEqual(matmul[2], str(3 * 30))
        self.assertEqual(matmul[4], str(3 * 4970))

    def test_a_line_for_each_piece_of_work_and_for_each_end_of_a_call(self):
        lines = [line for line in self.report("-t").splitlines() if line.startswith("Thread")]
        self.assertEqual(len(lines), 11)
        for line in lines:
            self.assertRegex(line, r'^Thread \d+ Device 0 : ".+" \[ns\] \d+ \(append\) \d+ '
                                   r'\(submit\) \d+ \(start\) \d+ \(end\)$')
        lines = self.report("-c", "--tid").splitlines()
        begins = [line for line in lines if re.match(r">>>> \[\d+\] <TID:\d+> cu\w+:", line)]
        ends = [line for line in lines if re.match(r"<<<< \[\d+\] <TID:\d+> cu\w+ \[\d+ ns\]",
                                                   line)]
        self.assertEqual((len(begins), len(ends)), (17, 17))

    def test_columns_are_where_the_original_has_them(self):
        if not GOLD.is_dir():
            self.skipTest("no toolkit: the reference data is not here (UNITRACE_SHARED)")
        for option, name, titles in (("-h", "dpc_gemm.h.txt", ["Function"]),
                                     ("-d", "dpc_gemm.d.txt", ["Kernel", "Kernel"])):
            gold = (GOLD / name).read_text().split("== CL CPU Backend ==")[0]
            heads = [re.findall(rf"^ *{titles[0]}(,.*)$", text, re.M)
                     for text in (self.report(option).split("== CUDA driver")[0], gold)]
            self.assertEqual(heads[0], heads[1])
            self.assertEqual(len(heads[0]), len(titles))

    def test_tables_go_where_the_log_goes(self):
        options = ("-h", "-d", "-s", "-t", "-c", "--quiet")
        self.record_fake(6, options=(*options, "-o", "log.txt"))
        log, = self.dir.glob("log.*.txt")
        text = log.read_text()
        for sign in ("API Timing", "Device Timing", "Kernel Submission", "(append)", ">>>> ["):
            self.assertIn(sign, text)
            self.assertNotIn(sign, self.said)
        self.record_fake(6, options=(*options, "-o", "log.csv"))
        table, = self.dir.glob("log.*.csv")
        self.assertIn('device,CUDA,"relu",6,6006,1001,1000,1004,', table.read_text())

    def test_a_file_each_below_the_result_folder(self):
        env = common.environment(UNITRACE_CUPTI=str(CUPTI))
        done = self.unitrace("--result-dir", "rd", "-h", "-d", "-s", "-t", "-c",
                             program("fake_cuda"), CUDA, CUPTI, 3, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        folder, = (self.dir / "rd").glob("fake_cuda.*")
        names = {p.name for p in folder.iterdir()}
        self.assertLessEqual({"host_timing.txt", "device_timing.txt", "device_submission.txt",
                              "device_timeline.txt", "call_logging.txt"}, names)


class Summary(Case):
    def test_the_run_ends_with_how_the_device_was_used(self):
        self.record_fake(20)
        self.assertRegex(self.said, r"DEVICE \[Fake H200\] cuda:0 GPU-1a2b3c4d #0: (host|device|latency)-bound")
        self.assertIn("23 kernels, 1 copy (4096 bytes), 1 fill, 0 others", self.said)
        self.assertRegex(self.said, rf"(?m)^{re.escape(MATMUL)} +step +10 ")

    def test_a_saved_trace_gives_the_same(self):
        answers = []
        for name in ("run.json", "run.pftrace", "run.utr"):
            env = common.environment(UNITRACE_CUPTI=str(CUPTI))
            done = self.unitrace(KERNELS, "-o", name, program("fake_cuda"), CUDA, CUPTI, 20,
                                 env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.unitrace("stats", "--device", "--json", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            got = json.loads(done.stdout)
            answers.append((got["devices"][0]["kernels"], got["devices"][0]["timed"],
                            [(k["kernel"], k["calls"], k["task"]) for k in got["kernels"]]))
        self.assertEqual(answers[0], (23, 25, [("relu", 13, "step"), (MATMUL, 10, "step")]))
        self.assertEqual(answers[1:], answers[:1] * 2)

    def stats_of(self, events):
        (self.dir / "foreign.json").write_text(json.dumps({"traceEvents": events}))
        done = self.unitrace("stats", "--device", "--json", "foreign.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_trace_of_torch_profiler_has_devices(self):
        def span(cat, name, ts, dur, pid, **args):
            return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 7, "ts": ts, "dur": dur,
                    "args": args}
        got = self.stats_of([
            span("cuda_runtime", "cudaLaunchKernel", 10, 3, 100, correlation=1),
            span("cuda_runtime", "cudaMemcpyAsync", 20, 3, 100, correlation=2),
            span("kernel", "gemm", 15, 10, 0, correlation=1, device=0, stream=7,
                 grid=[8, 1, 1], block=[128, 1, 1]),
            span("gpu_memcpy", "Memcpy HtoD", 27, 3, 0, correlation=2, device=0, bytes=64),
            span("cpu_op", "aten::mm", 5, 30, 100),
        ])
        device, = got["devices"]
        self.assertEqual((device["kernels"], device["copies"], device["busy_ns"],
                          device["window_ns"]), (1, 1, 13000, 15000))
        self.assertEqual((device["latency_p50_ns"], device["latency_max_ns"]), (5000, 7000))
        self.assertEqual({r["name"] for r in got["host"]}, {"cudaLaunchKernel", "cudaMemcpyAsync"})

    def test_a_trace_of_intels_tool_has_devices(self):
        def span(name, ts, dur):
            return {"ph": "X", "cat": "gpu_op", "name": name, "pid": 9, "tid": 1, "ts": ts,
                    "dur": dur, "args": {"id": "1"}}
        got = self.stats_of([
            {"ph": "M", "name": "process_name", "pid": 9, "ts": 0,
             "args": {"name": "DEVICE<vm>[Intel GPU] 0:3a:0.0 #0"}},
            span("GEMM[SIMD32 {1; 1024; 1} {1024; 1; 1}]", 10, 5),
            span("zeCommandListAppendMemoryCopy(M2D)[4096]", 20, 5),
            span("zeCommandListAppendBarrier", 30, 50),
        ])
        device, = got["devices"]
        self.assertEqual((device["kernels"], device["copies"], device["busy_ns"],
                          device["window_ns"]), (1, 1, 10000, 15000))
        self.assertEqual({r["backend"] for r in got["device"]}, {"L0"})

    def test_a_trace_without_devices_is_reported(self):
        (self.dir / "plain.json").write_text(
            '[{"ph":"X","pid":1,"tid":1,"name":"a","cat":"b","ts":1,"dur":2}]')
        done = self.unitrace("stats", "--device", "plain.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no work of devices", done.stderr)


class Nvtx(Case):
    def record_nvtx(self, *more, **env):
        done = self.unitrace(KERNELS, "-o", "out.json", program("nvtx_marks"), *more,
                             env=common.environment(UNITRACE_CUPTI=str(CUPTI), **env))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.printed = done.stdout.decode()
        return json.loads((self.dir / "out.json").read_text())["traceEvents"]

    def test_ranges_marks_names_and_payloads(self):
        events = self.record_nvtx()
        self.assertEqual(self.printed, "injected 1\nlevels 0 1 1 0 -1\n")
        solver = {e["name"]: e for e in self.spans(events, "solver")}
        self.assertEqual(set(solver), {"assemble", "lösen"})
        self.assertEqual(solver["assemble"]["args"], {"payload": -42, "category": "numerics"})
        self.assertEqual(self.count(events, "NVTX"), {"iteration": 1})
        overlapped = {e["name"] for e in events if e["ph"] == "b"}
        self.assertEqual(overlapped, {"long one", "other one"})
        self.assertIn("checkpoint", [e["name"] for e in events if e["ph"] == "i"])
        threads = [e["args"]["name"] for e in events if e["name"] == "thread_name"]
        self.assertIn("the worker", threads)

    def test_kernels_know_the_range_and_streams_their_name(self):
        events = self.record_nvtx(CUPTI, CUDA)
        self.assertEqual({k["args"]["task"] for k in self.spans(events, "kernel")}, {"iteration"})
        threads = [e["args"]["name"] for e in events if e["name"] == "thread_name"]
        self.assertIn('Stream 7 "compute" (context 1)', threads)

    def test_without_a_session_nvtx_does_without_us(self):
        env = common.environment(NVTX_INJECTION64_PATH=str(CUDA))
        done = self.run_words(program("nvtx_marks"), env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"^injected [01]\n")

    def build_with_headers(self, source):
        """A program that NVTX's own headers are compiled into; they come with the package nvidia-nvtx."""
        found = sorted(pathlib.Path(common.BUILD).glob("venv/lib/python3*/site-packages/nvidia/**/nvToolsExtPayload.h"))
        if not found:
            self.skipTest("NVTX's headers are not installed (tools/setup.sh test)")
        source = pathlib.Path(__file__).resolve().parents[1] / "real" / source
        subprocess.run(["cc", "-I", found[-1].parent.parent, source, "-o", self.dir / "program", "-ldl"], check=True)
        return self.dir / "program"

    def test_payloads_by_schemas(self):
        done = self.unitrace(KERNELS, "-o", "out.json", self.build_with_headers("nvtx_payload.c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode(), "schemas 1, enabled 1\npopped 0\nnothing to pop -1\n")
        events = json.loads((self.dir / "out.json").read_text())["traceEvents"]
        marks = {e["name"]: e for e in self.spans(events, "marks")}
        self.assertEqual(set(marks), {"initialise", "reduce", "named by its payload"})
        self.assertEqual(marks["reduce"]["args"], {"bytes": 4096, "root": -1, "op": "max", "ratio": 0.5,
                                                   "unit": "GB/s", "why": "because"})
        self.assertEqual(marks["initialise"]["args"], {"bytes": 4096, "root": -1})
        self.assertEqual(marks["named by its payload"]["args"], {"seconds": 1.5, "payload": -3})
        around = marks["initialise"]
        self.assertLess(around["ts"] + around["dur"], marks["named by its payload"]["ts"])
        begun = next(e for e in events if e["ph"] == "b")
        self.assertEqual(begun["name"], "long one")
        self.assertEqual((begun["args"]["seconds"], begun["args"]["payload"]), (1.5, -3))
        self.assertIn("a moment", [e["name"] for e in events if e["ph"] == "i"])

    def test_headers_without_a_session(self):
        """What is pushed is popped, and nothing is recorded."""
        program_of_nvtx = self.build_with_headers("nvtx_payload.c")
        done = self.run_words(program_of_nvtx, env=common.environment(NVTX_INJECTION64_PATH=str(CUDA)))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_python_package(self):
        script = self.dir / "marks.py"
        script.write_text("import nvtx\n"
                          "with nvtx.annotate('outer', domain='mine'):\n"
                          "    with nvtx.annotate('inner', domain='mine', payload=7):\n"
                          "        pass\n")
        python, why = common.find_venv("nvtx")
        if not python:
            self.skipTest(why)
        done = self.unitrace(KERNELS, "-o", "out.json", python, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.dir / "out.json").read_text())["traceEvents"]
        self.assertEqual(self.count(events, "mine"), {"outer": 1, "inner": 1})


if __name__ == "__main__":
    common.need("fake_cuda", "nvtx_marks", "libfake_cupti.so")
    need_backend("cuda")
    common.main()
