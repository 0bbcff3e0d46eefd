"""What `unitrace ops` costs, against reading the logs and writing the same bytes.

A run of BENCH_OPS ops (100,000 by default, the size of the budget), twice: as Tenstorrent's tools export
it (200 programs, told once each, a zone of the host and a row of the device for every op) and as a trace
of torch.profiler (an op inside each op, a call that launches, a kernel). Times are CPU time of the whole
command, medians of five; memory is the peak of the process. The floor is taken in the same run: `cat` of
the input and `cat` of the files.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import harness
from harness import UNITRACE

OPS = harness.size(100_000, 300, "BENCH_OPS")
RUNS = harness.size(5, 1, "BENCH_OPS_RUNS")
PROGRAMS = 200


def tensor(n):
    return {"dtype": "BFLOAT16", "layout": "TILE",
            "shape": {"W": "1[1]", "Z": "1[1]", "Y": "32[1]", "X": f"{32 * n}[{n}]"},
            "storage_type": {"device_id": 0, "memory_config": {"buffer_type": "DRAM",
                                                               "memory_layout": "INTERLEAVED"}}}


def program(n):
    return json.dumps({
        "op_code": f"Op{n}", "op_type": "tt_dnn_device", "device_id": 0, "op_hash": n,
        "attributes": {f"attribute_{i}": f"MemoryConfig(a={i},b={n})" for i in range(8)},
        "input_tensors": [tensor(n), tensor(n + 1)], "output_tensors": [tensor(n)],
        "kernel_info": {"compute_kernels": [{"math_fidelity": "HiFi4", "name": f"k/{n}/", "source": "k.cpp"}],
                        "datamovement_kernels": [{"name": f"r/{n}/", "source": "r.cpp"}],
                        "kernel_sizes": {"TENSIX_DM_0_max_kernel_size": 744}},
        "performance_model": {"ideal_ns": 7, "compute_ns": 1, "bandwidth_ns": 7, "input_bws": [292.5],
                              "output_bws": [1.5]}}, indent=4)


def make(folder):
    columns = ["GLOBAL CALL COUNT", "METAL TRACE ID", "METAL TRACE REPLAY SESSION ID", "DEVICE ID",
               "DEVICE ARCH", "CORE COUNT", "DEVICE FW DURATION [ns]", "DEVICE FW START CYCLE",
               "DEVICE FW END CYCLE", "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL START CYCLE",
               "DEVICE KERNEL END CYCLE", "DEVICE BRISC KERNEL DURATION [ns]",
               "DEVICE NCRISC KERNEL DURATION [ns]", "OP TO OP LATENCY [ns]"]
    with open(folder / "tracy_ops_data.csv", "w") as messages, \
            open(folder / "tracy_ops_times.csv", "w") as times, \
            open(folder / "cpp_device_perf_report.csv", "w") as device:
        messages.write("MessageName;total_ns\n")
        times.write("name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,"
                    "special_parent_text\n")
        device.write(",".join(columns) + "\n")
        for i in range(OPS):
            op, n, t = (i + 1) << 10, i % PROGRAMS, i * 20_000
            told = f" ->\n{program(n)}" if i < PROGRAMS else ""
            messages.write(f'`TT_DNN_DEVICE_OP: "Op{n}", {n}, 0, {"false" if told else "true"}, {op}{told}`;{t}\n')
            times.write(f'TT_DNN_DEVICE_OP,/tt/op.hpp,10,,"id:{op}",{t - 10 if t else 0},900,1,\n')
            device.write(f"{op},,,0,blackhole,80,5634,{t},{t + 7606},5149,{t + 100},{t + 7000},4961,4173,{n}\n")


def make_trace(path):
    span = '{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}'
    with open(path, "w") as trace:
        trace.write('{"schemaVersion":1,"traceEvents":[\n')
        for i in range(OPS):
            t, n, last = i * 100, i % 8, i == OPS - 1
            trace.write(",\n".join([
                span % ("cpu_op", f"aten::op{n}", 100, 100, t, 90, f'"External id":{i},"Sequence number":{i},'
                        f'"Input type":["float","float"],"Input Dims":[[{n},128],[128,64]]'),
                span % ("cpu_op", f"aten::_op{n}", 100, 100, t + 10, 70, ""),
                span % ("cuda_runtime", "cudaLaunchKernel", 100, 100, t + 20, 5, f'"correlation":{i + 1}'),
                span % ("kernel", f"void at::native::kernel<float, {n}>(int, float*)", 0, 7, t + 30, 50,
                        f'"correlation":{i + 1},"device":0,"stream":7')]) + ("\n]}\n" if last else ",\n"))


def measure(words, **more):
    """CPU seconds (median) and peak memory in MB."""
    spent = []
    for _ in range(RUNS):
        child = subprocess.Popen(words, **more)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"{words[0]} failed")
        spent.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(spent), usage.ru_maxrss / 1024


def report(what, source, out, *files):
    """Prints what the report of a source costs; files are what has to be read for it."""
    spent, peak = measure([UNITRACE, "ops", source, "-o", out, "--no-tarball"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    read, _ = measure(["cat", *files], stdout=subprocess.DEVNULL)
    with open(out.with_suffix(".copy"), "wb") as copy:
        write, _ = measure(["cat", *out.iterdir()], stdout=copy)
    size = sum(p.stat().st_size for p in out.iterdir()) / 1e6
    print(f"{OPS} ops, {what}: {spent:.3f} s, {peak:.0f} MB; {size:.0f} MB of CSV, JSON and page; "
          f"{spent / max(read + write, 1e-3):.1f} x reading and writing the same bytes "
          f"({read + write:.3f} s); {OPS / spent / 1e3:.0f} k ops/s")


def main():
    harness.need()
    with tempfile.TemporaryDirectory(prefix="ut_bench_ops_") as folder:
        folder = pathlib.Path(folder)
        logs, trace = folder / ".logs", folder / "trace.json"
        logs.mkdir()
        make(logs)
        report("logs of 2026", logs, folder / "logs", *logs.iterdir())
        make_trace(trace)
        report("a trace", trace, folder / "trace", trace)
    return 0


if __name__ == "__main__":
    sys.exit(main())
