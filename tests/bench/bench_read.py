#!/usr/bin/env python3
"""How fast traces become data in Python, and beside other readers of the same trace in the same run.

    bench_read.py [ROWS] [MB]        10 million slices, a PyTorch-like trace of 500 MB

Budgets: a DataFrame of 1 M rows from a saved trace within 0.2 s of opening it (imports are not
counted); slices become Arrow at 30 M rows per second of CPU time, one thread. Beside Holistic Trace
Analysis (tools/setup.sh bench): the same sums per name of the same
file at least 10 times faster, in a tenth of the memory. Beside Perfetto's Python API (pip install
perfetto, and its program trace_processor_shell on the PATH or in PERFETTO_BINARY): the same. Also
beside json.load and a loop. What is not installed is said, and left out. Every reader has a process
of its own, and all must find the same sums.
"""
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, PROGRAMS

PACKAGE = BUILD / "lib/unitrace/python"
VENV, OTHERS = BUILD / "venv/bin/python", BUILD / "venv-hta/bin/python"
BUDGET = {"frame": 0.2, "scan": 30e6, "faster": 10, "smaller": 10}

# Each prints {"seconds", "sums": {name: (count, microseconds)}}; argv: file
OURS = """
import json, sys, time
import unitrace
import pyarrow
began = time.perf_counter()
trace = unitrace.open(sys.argv[1])
sums = {row[0]: row[1:] for row in trace.query(
    "select name, count(*), sum(dur) / 1000 from slice where not instant group by 1")}
print(json.dumps({"seconds": time.perf_counter() - began, "sums": sums}))
"""
PLAIN = """
import collections, json, sys, time
began = time.perf_counter()
sums = collections.defaultdict(lambda: [0, 0])
with open(sys.argv[1]) as file:
    for event in json.load(file)["traceEvents"]:
        if event["ph"] == "X":
            one = sums[event["name"]]
            one[0] += 1
            one[1] += event["dur"]
print(json.dumps({"seconds": time.perf_counter() - began, "sums": sums}))
"""
HTA = """
import json, logging, sys, time
logging.disable(logging.CRITICAL)
from hta.common.trace import Trace
began = time.perf_counter()
trace = Trace(trace_files={0: sys.argv[1]}, trace_dir="/")
trace.parse_traces(max_ranks=1, use_multiprocessing=False, use_memory_profiling=False)
frame = trace.get_trace(0)
names = trace.symbol_table.get_sym_table()
frame = frame[frame["dur"] >= 0]
got = frame.groupby("name")["dur"].agg(["count", "sum"])
sums = {names[int(i)]: (int(row["count"]), float(row["sum"])) for i, row in got.iterrows()}
print(json.dumps({"seconds": time.perf_counter() - began, "sums": sums}))
"""
PERFETTO = """
import json, os, sys, time
from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
began = time.perf_counter()
config = TraceProcessorConfig(bin_path=os.environ["PERFETTO_BINARY"])
with TraceProcessor(trace=sys.argv[1], config=config) as tp:
    sums = {row.name: (row.n, row.total) for row in tp.query(
        "select name, count(*) as n, sum(dur) / 1000 as total from slice group by 1")}
print(json.dumps({"seconds": time.perf_counter() - began, "sums": sums}))
"""
FRAME = """
import sys, time
import unitrace
import pandas, pyarrow
pyarrow.table({"a": [1]}).to_pandas()
began, used = time.perf_counter(), time.process_time()
with unitrace.open(sys.argv[1]) as trace:
    frame = trace.slices().to_pandas()
print(time.perf_counter() - began, time.process_time() - used, len(frame))
"""
SCAN = """
import sys, time
import unitrace
import pyarrow
best, rows = 1e9, 0
with unitrace.open(sys.argv[1], threads=1) as trace:
    for _ in range(3):
        began = time.process_time()
        rows = sum(len(batch) for batch in pyarrow.RecordBatchReader.from_stream(trace.slices()))
        best = min(best, time.process_time() - began)
print(rows / best, rows)
"""


def torch_like(path, megabytes):
    """What torch.profiler writes: operators that nest, launches, kernels, with their arguments."""
    dice, number, ts = random.Random(7), 0, 0
    with path.open("w") as file:
        file.write('{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, '
                   '"deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [\n')
        file.write(json.dumps({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0,
                               "args": {"name": "python"}}))
        while file.tell() < megabytes << 20:
            rows = []
            for _ in range(harness.size(2000, 200)):
                number += 1
                length = dice.randint(20, 200)
                op = f"aten::op{number % 300}"
                rows.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": ts, "dur": length,
                             "args": {"External id": number, "Record function id": 0, "Sequence number": number,
                                      "Fwd thread id": 0, "Ev Idx": number,
                                      "Input Dims": [[dice.randint(1, 64), 1024], [1024, 1024]],
                                      "Input type": ["float", "float"]}})
                rows.append({"ph": "X", "cat": "cpu_op", "name": op + "_inner", "pid": 1, "tid": 1, "ts": ts + 2,
                             "dur": length - 5, "args": {"External id": number, "Ev Idx": number}})
                rows.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                             "ts": ts + 4, "dur": 6, "args": {"External id": number, "cbid": 211,
                                                            "correlation": number}})
                rows.append({"ph": "X", "cat": "kernel", "name": f"void kernel_{number % 97}<float, 128>(float*, int)",
                             "pid": 0, "tid": 7, "ts": ts + 15, "dur": max(1, length - 18),
                             "args": {"External id": number, "device": 0, "context": 1, "stream": 7,
                                      "correlation": number, "registers per thread": 32, "shared memory": 0,
                                      "blocks per SM": 1.5, "warps per SM": 12, "grid": [128, 1, 1],
                                      "block": [128, 1, 1], "est. achieved occupancy %": 50}})
                ts += length + 5
            file.write(",\n" + ",\n".join(map(json.dumps, rows)))
        file.write("\n]}\n")


def measure(python, text, path, **more):
    """What it printed, seconds of CPU, and the most memory in MB."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), **more}
    process = subprocess.Popen([str(python), "-c", text, str(path)], env=env, stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, status, use = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit("a reader failed")
    return out, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def can(python, module):
    return python.exists() and not subprocess.run([str(python), "-c", f"import {module}"],
                                                  capture_output=True).returncode


def same(mine, theirs):
    keys = set(mine) | set(theirs)
    return all(key in mine and key in theirs and mine[key][0] == theirs[key][0]
               and abs(mine[key][1] - theirs[key][1]) <= 1 + 1e-6 * mine[key][1] for key in keys)


def others(folder, megabytes, failed, wrong):
    path = folder / "torch.json"
    torch_like(path, megabytes)
    size = path.stat().st_size / 1e6
    out, cpu, memory = measure(VENV, OURS, path)
    mine = json.loads(out)
    base = measure(VENV, "import unitrace, pyarrow", path)[2]
    events = sum(row[0] for row in mine["sums"].values())
    print(f"{size:.0f} MB, {events:,} slices: sums per name")
    print(f"  unitrace         {mine['seconds']:8.2f} s {cpu:8.2f} s CPU {memory:8.0f} MB "
          f"({base:.0f} of them Python and pyarrow)")
    readers = [("json.load and loop", VENV, PLAIN, True, {}),
               ("HTA", OTHERS, HTA, can(OTHERS, "hta"), {})]
    binary = os.environ.get("PERFETTO_BINARY") or shutil.which("trace_processor_shell")
    readers.append(("Perfetto", OTHERS, PERFETTO, bool(binary) and can(OTHERS, "perfetto"),
                    {"PERFETTO_BINARY": binary or ""}))
    for name, python, text, there, more in readers:
        if not there:
            harness.left_out(name, "not installed, see the head of this file")
            continue
        out, cpu, memory2 = measure(python, text, path, **more)
        theirs = json.loads(out)
        faster, smaller = theirs["seconds"] / mine["seconds"], memory2 / memory
        print(f"  {name:16} {theirs['seconds']:8.2f} s {cpu:8.2f} s CPU {memory2:8.0f} MB: "
              f"{faster:.0f} times as long, {smaller:.1f} times the memory")
        if not same(mine["sums"], theirs["sums"]):
            wrong.append(f"{name} finds other sums")
        if name != "json.load and loop" and (faster < BUDGET["faster"] or smaller < BUDGET["smaller"]):
            failed.append(f"{name}: {faster:.1f} times faster, {smaller:.1f} times smaller")


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else harness.size(10_000_000, 1000)
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else harness.size(500, 1)
    failed, wrong = [], []
    harness.need("view_trace")
    if not can(VENV, "pandas, pyarrow"):
        harness.skip("pandas and pyarrow are not in build/venv (tools/setup.sh test)")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        folder = pathlib.Path(folder)
        for count, text, name in ((harness.size(1_000_000, 2000), FRAME, "frame"), (rows, SCAN, "scan")):
            path = folder / f"{count}.utr"
            subprocess.run([PROGRAMS / "view_trace", path, str(count)], check=True)
            said = [measure(VENV, text, path)[0].split() for _ in range(harness.size(5, 1) if name == "frame" else 1)]
            runs = [float(words[0]) for words in said]
            if name == "frame":
                print(f"DataFrame of {count:,} rows from a saved trace: {min(runs):.3f} s, "
                      f"{min(float(words[1]) for words in said):.3f} s CPU (best of {len(runs)}; budget "
                      f"{BUDGET['frame']})")
                if min(runs) > BUDGET["frame"]:
                    failed.append("the first DataFrame takes too long")
            else:
                print(f"{count:,} slices to Arrow: {runs[0] / 1e6:.1f} M rows per second of CPU time "
                      f"(budget {BUDGET['scan'] / 1e6:.0f})")
                if runs[0] < BUDGET["scan"]:
                    failed.append("the scan is too slow")
            path.unlink()
        if megabytes:
            others(folder, megabytes, failed, wrong)
    for what in (*wrong, *failed):
        print(f"{'over the budget' if harness.TINY and what in failed else 'FAILED'}: {what}")
    return 1 if wrong else harness.verdict(bool(failed))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
