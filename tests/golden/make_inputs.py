#!/usr/bin/env python3
"""Write the inputs that several golden cases share, below inputs/: every byte is decided here.

    make_inputs.py [--check]      with --check: say what differs from what is there, and write nothing

The shapes are those that programs write (ours, torch.profiler, viztracer, Intel's unitrace, AIU's
flex, tt-metal); names and numbers are made up. Times come from fixed tables and from counting, never
from a random generator or a clock, so that a value in an expected table can be worked out by hand.
"""
import gzip
import json
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
FILES = {}


def put(name, data):
    FILES[name] = data if isinstance(data, bytes) else data.encode()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(events):
    return ",\n".join(compact(e) for e in events)


def trace(events, **about):
    tail = "".join(f",{compact(k)}:{compact(v)}" for k, v in about.items())
    return '{"traceEvents":[\n' + lines(events) + "\n]" + tail + "}\n"


# Events of Chrome's format.

def x(name, ts, dur, pid=1, tid=1, cat=None, **args):
    e = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    return {**e, **({"cat": cat} if cat else {}), **({"args": args} if args else {})}


def ev(ph, name, ts, pid=1, tid=1, **more):
    return {"ph": ph, "name": name, "pid": pid, "tid": tid, "ts": ts, **more}


def meta(kind, pid, tid=0, **args):
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args}


def named(pid, name, **threads):
    rows = [meta("process_name", pid, name=name)]
    return rows + [meta("thread_name", pid, int(t[1:]), name=n) for t, n in threads.items()]


# A program with a bit of everything.

def app_events():
    events = named(100, "solver", t1="main", t2="worker")
    events += [meta("process_labels", 100, labels="node7, ./solver -n 3"),
               meta("process_sort_index", 100, sort_index=2),
               meta("thread_sort_index", 100, 2, sort_index=5)] + named(200, "helper", t9="io")
    for i in range(2):
        t = 1000 + i * 500
        events += [x("step", t, 400 + i * 20, 100, 1, "loop", index=i, last=i == 1),
                   x("assemble", t + 10, 150 + i, 100, 1, "math", rows=1 << i, ratio=0.25 * i),
                   x("kernel<float, 4>(int*)", t + 20, 100.5, 100, 1, "math"),
                   x("solve", t + 200, 150.125, 100, 1, "math", how="cg", tol=1e-9),
                   ev("B", "wait", t + 5, 100, 2, cat="sync"),
                   ev("E", "wait", t + 155 + i * 100, 100, 2, args={"woken": i}),
                   x("write", t + 50, 30 + 7 * i, 200, 9, "io", path=f"/tmp/part{i}", bytes=4096 * i),
                   ev("C", "memory", t, 100, args={"heap": 1000 * (i + 1), "stack": 64}),
                   ev("C", "queue", t + 1, 100, id="q1", args={"value": 3 - i})]
    events += [ev("i", "checkpoint", 1450, 100, 1, s="t", cat="marks", args={"note": "first"}),
               ev("i", "signal", 1460, 100, 2, s="p"), ev("I", "everywhere", 1470, 100, 1, s="g"),
               ev("b", "request", 1100, 100, 1, cat="net", id="0x1", args={"url": "a"}),
               ev("n", "half way", 1200, 100, 1, cat="net", id="0x1"),
               ev("b", "request", 1150, 100, 1, cat="net", id="0x2"),
               ev("e", "request", 1300, 100, 1, cat="net", id="0x1"),
               ev("e", "request", 1350, 100, 1, cat="net", id="0x2"),
               ev("s", "hand over", 1020, 100, 1, cat="flow", id=7),
               ev("t", "hand over", 1060, 200, 9, cat="flow", id=7),
               ev("f", "hand over", 1520, 100, 1, cat="flow", id=7, bp="e")]
    return events


def app():
    events = app_events()
    put("app/app.json", trace(events, displayTimeUnit="ns"))
    put("app/array.json", "[\n" + lines(events) + "\n]\n")
    put("app/app.json.gz", gzip.compress(trace(events, displayTimeUnit="ns").encode(), mtime=0))
    put("app/wide.json", trace([
        x("a_rather_long_function_name_" * 4 + f"<{i}>", i * 10, 5 + i, cat="a long category name")
        for i in range(4)] + [x("短い名前", 60, 9), x("ß", 80, 2), x("", 90, 1)]))
    put("app/many.json", trace([x(f"task {i % 30:02}", i * 100, 10 + i * 7 % 83, 1, 1 + i % 3,
                                  f"cat{i % 4}") for i in range(120)]))
    put("app/long.sql", "-- what the longest are\nselect name, dur from slice\n"
                        "order by dur desc, name limit 3;\nselect count(*) as n from slice;\n")


# Ranks: ours, each with its clock and its process.

def rank_trace(rank, host, offset):
    pid = 4000 if host == "n0" else 4001  # two hosts may use the same number
    start = 5000000.0 + rank * 3.25
    events = []
    for i in range(2):
        t = start + i * 100
        events += [x("iterate", t, 90 + rank, pid, pid, "app", i=i),
                   x("MPI_Allreduce", t + 50 + rank * 2, 30 - rank * 2, pid, pid, "MPI", bytes=8 << i),
                   ev("C", "residual", t, pid, pid, args={"value": round(1 / (i + 1 + rank), 4)})]
    events += [ev("s", "flow", start + 1, pid, pid, cat="flow", id="0x1"),
               ev("f", "flow", start + 101, pid, pid, cat="flow", id="0x1", bp="e"),
               ev("b", "overlap", start + 5, pid, pid, cat="app", id2={"local": "0x1"}),
               ev("e", "overlap", start + 150, pid, pid, cat="app", id2={"local": "0x1"})]
    events += named(pid, "cg", **{f"t{pid}": "cg"})
    process = {"pid": pid, "name": "cg", "host": host, "command": "./cg", "rank": rank,
               "realtime_offset_ns": 1700000000000000000 + offset, "boottime_offset_ns": 0,
               "clock_error_ns": 40}
    return trace(events, displayTimeUnit="ns", otherData={
        "tool": "unitrace", "version": "0.0.9", "clock": "CLOCK_MONOTONIC", "processes": [process]})


def ranks():
    for rank, (host, offset) in enumerate((("n0", 0), ("n0", 0), ("n1", 250000), ("n1", 250000))):
        put(f"ranks/cg.{rank}.json", rank_trace(rank, host, offset))
    put("ranks/torch_rank4.json", trace(
        [x("aten::add", 1700000005000100.0, 20, 77, 77, "cpu_op"),
         x("aten::mm", 1700000005000140.5, 33.5, 77, 77, "cpu_op")] + named(77, "python"),
        schemaVersion=1, distributedInfo={"backend": "nccl", "rank": 4, "world_size": 5},
        displayTimeUnit="ms", baseTimeNanoseconds=0))


# Runs from before and after a change.

def runs():
    for side, factor, more in (("before", 1.0, "gone"), ("after", 1.2, "new")):
        for run in range(3):
            events, t = [], 0.0
            for i in range(8):
                for name, dur in (("load", 50), ("compute", 200 * factor), ("store", 30)):
                    took = round(dur * (1 + 0.01 * ((i * 3 + run * 5) % 7)), 3)
                    events.append(x(name, round(t, 3), took, 1, 1 + i % 2, "app"))
                    t += took + 5
            events += [x(more, round(t, 3), 10, 1, 1), x("once", round(t + 20, 3), 4, 1, 2)]
            put(f"runs/{side}{run}.json", trace(events))


# Devices.

def host_meta(pid, program, host="box"):
    return [meta("process_name", pid, pid, name=program),
            meta("process_labels", pid, pid, labels=f"{host}, ./{program}"),
            meta("thread_name", pid, pid, name=program)]


def device_meta(pid, name, of, rows, host="box"):
    events = [meta("process_name", pid, pid, name=name),
              meta("process_labels", pid, pid, labels=f"{host}, pid {of}")]
    for i, (tid, row) in enumerate(rows.items()):
        events += [meta("thread_name", pid, tid, name=row),
                   meta("thread_sort_index", pid, tid, sort_index=2 + i)]
    return events


def our_about(*processes):
    clock = {"realtime_offset_ns": 1700000000000000000, "boottime_offset_ns": 0, "clock_error_ns": 30}
    return {"displayTimeUnit": "ns", "otherData": {
        "tool": "unitrace", "version": "0.0.9", "clock": "CLOCK_MONOTONIC",
        "processes": [{**p, **clock} for p in processes]}}


ROW = 1 << 30  # rows and processes of ours have numbers from here on


class Submitted:
    """Calls with the work that they submit and the arrows between."""

    def __init__(self, pid, device, api, task):
        self.pid, self.device, self.api, self.task = pid, device, api, task
        self.calls, self.work, self.number = [], [], 0

    def add(self, call, ts, took, work, start, dur, queue=ROW + 2, **args):
        self.number += 1
        tied = {"task": self.task, "correlation": self.number}
        self.calls += [x(call, ts, took, self.pid, ROW + 1, self.api, **tied),
                       ev("s", "flow", ts, self.pid, ROW + 1, cat="flow", id=hex(1 << 40 | self.number),
                          args={"name": "submits"})]
        cat = args.pop("cat", "kernel")
        self.work += [x(work, start, dur, self.device, queue, cat, **tied, **args),
                      ev("f", "flow", start, self.device, queue, cat="flow", bp="e",
                         id=hex(1 << 40 | self.number), args={"name": "submits"})]

    def call(self, name, ts, took):
        self.calls.append(x(name, ts, took, self.pid, ROW + 1, self.api, task=self.task))


def cuda_events(pid=300, device=ROW + 1, base=8000.0, index=0):
    s = Submitted(pid, device, "CUDA", "train")
    launch = {"grid": "64x2x1", "block": "256x1x1", "registers": 40, "static shared memory": 2048,
              "local memory per thread": 0, "occupancy %": 75}
    s.call("cudaMalloc", base + 1, 40.5)
    s.add("cudaMemcpy", base + 50, 12, "Memcpy HtoD", base + 55, 6.5, cat="copy", bytes=65536)
    for i in range(4):
        s.add("cudaLaunchKernel", base + 70 + i * 5, 2.5, "gemm(float*, int)" if i % 2 else "relu",
              base + 90 + i * 30, 20 + i, ROW + 2 + i % 2, **launch)
    s.add("cudaMemsetAsync", base + 100, 1.25, "Memset", base + 112, 0.75, ROW + 3, cat="fill",
          bytes=512, value=0)
    s.add("cudaMemcpyAsync", base + 102, 1.5, "Memcpy DtoH", base + 205, 9, cat="copy", bytes=4096)
    s.call("cudaDeviceSynchronize", base + 110, 110)
    events = [x("train", base, 250, pid, pid, "python"), *s.calls, *s.work,
              ev("C", "allocated bytes", base + 40, device, device, args={"value": 65536}),
              ev("C", "allocated bytes", base + 230, device, device, args={"value": 0})]
    name = f"DEVICE [Made Up 9000] cuda:{index} GPU-00aa11bb #{index}"
    meta_events = host_meta(pid, "trainer") + [
        meta("thread_name", pid, ROW + 1, name=f"CUDA calls of thread {pid}"),
        meta("thread_sort_index", pid, ROW + 1, sort_index=1001)]
    meta_events += device_meta(device, name, pid, {ROW + 2: "Stream 7 (context 1)",
                                                   ROW + 3: "Stream 8 (context 1)"})
    processes = [{"pid": pid, "name": "trainer", "host": "box", "command": "./trainer"},
                 {"pid": device, "os_pid": pid, "name": name, "host": "box"}]
    return events + meta_events, processes


def opencl_events(pid=310, device=ROW + 1):
    s = Submitted(pid, device, "OpenCL", "filter")
    s.call("clGetPlatformIDs", 9000, 7)
    s.add("clEnqueueWriteBuffer", 9010, 9, "Write Buffer", 9021, 5, cat="copy", bytes=1024)
    for i in range(3):
        s.add("clEnqueueNDRangeKernel", 9020 + i * 4, 3, "blur" if i else "sharpen", 9040 + i * 12.5,
              10 + i * 0.5, **{"global size": "1024x1x1", "local size": "64x1x1"})
    s.add("clEnqueueReadBuffer", 9034, 3, "Read Buffer", 9090, 4.25, cat="copy", bytes=512)
    s.call("clFinish", 9040, 56)
    events = [x("filter", 8999, 120, pid, pid, "program"), *s.calls, *s.work]
    name = "DEVICE [Little GPU] OpenCL GPU 0000:3a:00.0 #0"
    meta_events = host_meta(pid, "imager") + [
        meta("thread_name", pid, ROW + 1, name=f"OpenCL calls of thread {pid}")]
    meta_events += device_meta(device, name, pid, {ROW + 2: "Queue 1"})
    processes = [{"pid": pid, "name": "imager", "host": "box", "command": "./imager"},
                 {"pid": device, "os_pid": pid, "name": name, "host": "box"}]
    return events + meta_events, processes


def torch_events(rank=0):
    t, host = 1000.0 + rank * 2, 5000 + rank
    op = {"cat": "cpu_op"}
    dims = {"Input Dims": [[8, 16], [4, 16], []], "Input type": ["float", "c10::Half", "Scalar"]}

    def launch(number, at, name="cudaLaunchKernel", **more):
        return x(name, t + at, 3, host, host, "cuda_runtime", correlation=number, **more)

    def work(number, name, at, dur, cat="kernel", **more):
        return x(name, t + at, dur, 0, 7, cat, correlation=number, device=0, stream=7, **more)

    return [
        x("ProfilerStep#1", t, 500, host, host, "user_annotation"),
        x("aten::linear", t + 10, 100, host, host, **op, **{"External id": 1, "Sequence number": 5}, **dims),
        x("aten::t", t + 12, 8, host, host, **op, **{"External id": 2}),
        x("aten::addmm", t + 30, 70, host, host, **op, **{"External id": 3}),
        launch(1, 40, **{"External id": 3}),
        work(1, "ampere_sgemm_32x32<float>", 60, 20, grid=[4, 1, 1], block=[128, 1, 1],
             **{"registers per thread": 90, "est. achieved occupancy %": 31}),
        ev("s", "ac2g", t + 40, host, host, cat="ac2g", id=1),
        ev("f", "ac2g", t + 60, 0, 7, cat="ac2g", id=1, bp="e"),
        launch(2, 50), work(2, "bias<float, 4>(int)", 90, 5),
        x("aten::to", t + 200, 50, host, host, **op),
        launch(3, 210, "cudaMemcpyAsync"),
        work(3, "Memcpy HtoD (Pageable -> Device)", 215, 10, "gpu_memcpy", bytes=4096),
        x("aten::view", t + 300, 10, host, host, **op), x("aten::relu_", t + 320, 40, host, host, **op),
        launch(4, 330), work(4, "relu_kernel", 340, 6),
        x("aten::sum", t + 400, 60, host, host + 1, **op),
        x("cudaDeviceSynchronize", t + 420, 30, host, host, "cuda_runtime"),
        work(9, "orphan_kernel", 470, 8),
    ] + named(host, "python", **{f"t{host}": f"thread {host} (python)"}) + [
        meta("process_labels", host, labels="CPU"), meta("process_name", 0, name="python"),
        meta("process_labels", 0, labels="GPU 0"), meta("thread_name", 0, 7, name="stream 7 7")]


def intel_events():
    """As Intel's unitrace writes them."""
    ze = {"cat": "cpu_op"}
    return [meta("process_name", 41, name="HOST<p41>"), meta("process_sort_index", 41, sort_index=1),
            meta("thread_name", 41, 41, name="Thread 41"),
            meta("process_name", 42, name="DEVICE<0000:29:00.0>"),
            meta("thread_name", 42, 1, name="L0 Compute Engine"),
            x("zeCommandListAppendLaunchKernel", 100, 12, 41, 41, **ze, id="1"),
            x("zeCommandQueueExecuteCommandLists", 120, 30, 41, 41, **ze, id="2"),
            x("gemm[SIMD32 {4096; 1; 1} {256; 1; 1}]", 140, 60, 42, 1, "gpu_op", id="1"),
            ev("s", "dep", 112, 41, 41, cat="Flow_H2D_1", id="1"),
            ev("t", "dep", 140, 42, 1, cat="Flow_H2D_1", id="1"),
            x("zeEventHostSynchronize", 155, 50, 41, 41, **ze, id="3")]


def viztracer_events():
    return [meta("process_name", 60, 60, name="MainProcess"), meta("thread_name", 60, 60, name="MainThread"),
            x("main (/app/run.py:3)", 10.5, 99.25, 60, 60, "FEE"),
            x("helper (/app/run.py:9)", 20, 30, 60, 60, "FEE", func_args={"n": "3"}, return_value="6"),
            ev("i", "note", 33, 60, 60, s="t", cat="INSTANT", args={"a": [1, {"b": None}]}),
            ev("C", "rss", 40, 60, 60, args={"MB": 12.5})]


def devices():
    events, processes = cuda_events()
    put("device/cuda.json", trace(events, **our_about(*processes)))
    second, more = cuda_events(301, ROW + 5, 8100.0, 1)
    put("device/cuda1.json", trace(second, **our_about(*more)))
    events, processes = opencl_events()
    put("device/opencl.json", trace(events, **our_about(*processes)))
    about = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Made Up 9000", "numSms": 132}],
             "displayTimeUnit": "ms", "baseTimeNanoseconds": 1700000000000000000}
    put("device/torch.json", trace(torch_events(), **about, distributedInfo={
        "backend": "nccl", "rank": 0, "world_size": 1}))
    put("device/intel.json", trace(intel_events()))
    put("device/viztracer.json", trace(viztracer_events(), viztracer_metadata={"version": "1.0.0"}))


# Inputs that are wrong, odd or hostile.

HOSTILE = ['=1+1|cmd', '"quoted"', "comma, semicolon; tab\there", "line\nbreak\r\n", "\x1b[31mred\x1b[0m",
           "</script><script>alert(1)</script>", "../../etc/passwd", "nul\x00inside", "\u202eright to left",
           "'; drop table slice; --", "%s%n%p", "{}", "\\", " leading and trailing ", "x" * 300, "é" * 40,
           "+49", "-1", "@SUM(A1)", "​zero width"]


def odd():
    put("odd/hostile.json", trace([x(n, i * 10, 5 + i, 1, 1, n, **{n: n}) for i, n in enumerate(HOSTILE)]
                                  + named(1, HOSTILE[4], t1=HOSTILE[5])))
    whole = trace(app_events())
    put("odd/truncated.json", whole[:len(whole) // 2])
    put("odd/cut_in_string.json", whole[:whole.index("assemble") + 4])
    put("odd/no_bracket.json", "[\n" + lines(app_events()[:20]) + ",\n")
    put("odd/empty.json", "")
    put("odd/blank.json", " \n\t\n")
    put("odd/no_events.json", '{"traceEvents":[]}\n')
    put("odd/no_list.json", '{"foo":1}\n')
    put("odd/number.json", "42\n")
    put("odd/text.txt", "this is no trace\n")
    put("odd/zeros.bin", bytes(64))
    put("odd/nan.json", '{"traceEvents":[{"ph":"X","name":"a","ts":NaN,"dur":1,"pid":1,"tid":1},\n'
                        '{"ph":"X","name":"b","ts":5,"dur":Infinity,"pid":1,"tid":1},\n'
                        '{"ph":"X","name":"c","ts":7,"dur":2,"pid":1,"tid":1}]}\n')
    put("odd/bad_utf8.json", b'[{"ph":"X","name":"a\xff\xfeb","ts":1,"dur":2,"pid":1,"tid":1}]\n')
    put("odd/overlap.json", trace([
        x("first", 0, 100), x("crosses", 50, 100), x("first", 0, 100), ev("E", "never began", 10, 1, 2),
        ev("B", "never ends", 20, 1, 2), ev("B", "inside", 30, 1, 2), ev("E", "inside", 40, 1, 2),
        x("backwards", 60, -5, 1, 3), x("zero", 70, 0, 1, 3), ev("s", "lost", 5, id=1, cat="c"),
        ev("f", "found", 8, id=2, cat="c"), ev("b", "open", 9, id=3, cat="c"),
        ev("e", "closed", 9, id=4, cat="c"), ev("C", "no number", 9, args={"v": "text"}),
        ev("Q", "no such phase", 9), {"ph": "X", "name": "no time", "pid": 1, "tid": 1},
        {"name": "no phase"}, 7, None, x("text ids", "12", "3", "p", "t"),
        ev("N", "object", 10, id="0xa"), ev("O", "object", 11, id="0xa", args={"snapshot": {"n": 1}}),
        ev("D", "object", 12, id="0xa")]))
    put("odd/numbers.json", trace([
        x("big", 1.7e15, 0.001, 2 ** 31, 2 ** 63, v=2 ** 64, w=-0.0, e=1e300, t=5e-324),
        x("exact", 1700000000000000.123, 1.0005, 2 ** 31, 1), x("early", 0.0005, 3, -1, -2)]))


SETS = [app, ranks, runs, devices, odd]


def main():
    import inputs_aiu
    import inputs_collectives
    import inputs_kernels
    import inputs_memory
    import inputs_metrics
    import inputs_mpi
    import inputs_profiles
    import inputs_reports
    import inputs_roofline
    import inputs_tt
    for make in SETS + inputs_aiu.SETS + inputs_tt.SETS + inputs_reports.SETS + inputs_metrics.SETS + \
            inputs_roofline.SETS + inputs_kernels.SETS + inputs_memory.SETS + inputs_mpi.SETS + \
            inputs_profiles.SETS + inputs_collectives.SETS:
        make()
    root, wrong = HERE / "inputs", []
    for name, data in sorted(FILES.items()):
        path = root / name
        if path.exists() and path.read_bytes() == data:
            continue
        wrong.append(name)
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    # recorded once: by programs of another day, of a program with OpenMP, on an H200
    kept = {"saved", "threads", "h200"}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name not in FILES and name.split("/")[0] not in kept:
            wrong.append(f"{name} (nobody makes it)")
    for name in wrong:
        print(("differs: " if "--check" in sys.argv else "wrote ") + name)
    return 1 if wrong and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.modules["make_inputs"] = sys.modules["__main__"]
    sys.exit(main())
