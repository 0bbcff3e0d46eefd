#!/usr/bin/env python3
"""What hardware metrics cost a training step of PyTorch on a real GPU.

    UNITRACE_BUILD=build python3 tests/device/bench_metrics.py

**PM sampling** every 100 us. Processes of the same loop take turns of a tenth of a second, as in
bench_cuda.py: two of the bare program, two that record the work of devices, and one that is sampled.
Only one process can sample a device, and it samples whatever runs there; so the turns of the bare ones
are also looked at before it begins and after it has ended. Told are

    sampled     turns of the sampled program, over bare ones while nobody samples
    beside it   turns of bare programs while the other one samples, over the same
    work        turns with device work recorded, over bare ones of the same rounds

each as the median, with the least and the most of the processes. SAMPLERS of them come one after the
other, ROUNDS rounds each.

**Query** of the default group: milliseconds for each kernel of two training steps, and whether every
kernel that ran was measured.

Skips aloud (77) when there is no GPU. JSON=FILE: the figures for programs. PROGRAM=FILE: as in bench_cuda.py; it is
also run as "FILE query" and prints the seconds of two steps.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap

import bench_cuda
from bench_cuda import Runner
from device import UNITRACE

ROUNDS = int(os.environ.get("ROUNDS", "12"))
SAMPLERS = int(os.environ.get("SAMPLERS", "3"))
STEPS = os.environ.get("STEPS", "20")
WORK = ["--chrome-device-logging"]
bench_cuda.WAYS["sampled"] = [*WORK, "-k", "-i", "100"]

# As the loop "train" of bench_cuda.py, smaller: a kernel that is measured takes milliseconds.
QUERY = """
    import json, sys, time, torch, torch.nn as nn
    torch.manual_seed(0)
    net = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True).bfloat16().cuda()
    x = torch.rand(8, 512, 1024, device="cuda").bfloat16()
    best = torch.optim.AdamW(net.parameters())
    def run(n):
        for _ in range(n):
            net(x).float().sum().backward()
            best.step()
            best.zero_grad()
        torch.cuda.synchronize()
    run(1)
    begin = time.perf_counter()
    run(2)
    print(json.dumps(time.perf_counter() - begin))
"""


def rounds(runners, count):
    """Turns of each runner, by itself."""
    taken = {r: [] for r in runners}
    for n in range(count):
        for i in range(len(runners)):
            r = runners[(i + n) % len(runners)]
            r.turn()
            taken[r].append(r.turns[-1][0])
    return taken


def spread(values):
    values = sorted(values)
    return {"median": statistics.median(values), "least": values[0], "most": values[-1]}


def show(name, about, figure):
    print(f"{name:12} {figure['median']:6.4f} x bare ({figure['least']:.4f} to {figure['most']:.4f})  {about}", flush=True)


def of_way(taken, way):
    return [turns for r, turns in taken.items() if r.way == way]


def measure_sampling(folder, program):
    others = [Runner(folder, program, way, n, "train", STEPS) for n in range(2) for way in ("bare", "work")]
    for r in others:
        r.answer()
    quiet, sampled, beside, work = [rounds(others, ROUNDS)], [], [], []
    for n in range(SAMPLERS):
        one = Runner(folder, program, "sampled", n, "train", STEPS)
        one.answer()
        taken = rounds([*others, one], ROUNDS)
        one.end()
        sampled.append(taken.pop(one))
        beside += of_way(taken, "bare")
        quiet.append(rounds(others, ROUNDS))
    for r in others:
        r.end()
    bare = [t for taken in quiet for turns in of_way(taken, "bare") for t in turns]
    base = statistics.median(bare)
    for taken in quiet:
        own = statistics.median(t for turns in of_way(taken, "bare") for t in turns)
        work += [statistics.median(turns) / own for turns in of_way(taken, "work")]
    figures = {"turn_s": base, "bare": spread([statistics.median(turns) / base for taken in quiet
                                               for turns in of_way(taken, "bare")]),
               "sampled": spread([statistics.median(turns) / base for turns in sampled]),
               "beside": spread([statistics.median(turns) / base for turns in beside]),
               "work": spread(work)}
    print(f"{STEPS} steps in {base:.4f} s; {ROUNDS} rounds, {SAMPLERS} times", flush=True)
    show("bare", "itself, at different times", figures["bare"])
    show("work", "--chrome-device-logging", figures["work"])
    show("sampled", "--chrome-device-logging -k -i 100", figures["sampled"])
    show("beside it", "bare, while another process samples", figures["beside"])
    return figures


def query_program(folder):
    if "PROGRAM" in os.environ:
        return [sys.executable, pathlib.Path(os.environ["PROGRAM"]).resolve(), "query"]
    (folder / "query.py").write_text(textwrap.dedent(QUERY))
    return [sys.executable, "query.py"]


def measure_query(folder):
    program = query_program(folder)
    bare = subprocess.run(program, cwd=folder, check=True, capture_output=True, text=True)
    done = subprocess.run([UNITRACE, "-q", "--chrome-kernel-logging", "--overwrite", "-o", "query.json", *program],
                          cwd=folder, check=True, capture_output=True, text=True)
    took, alone = (json.loads(said.stdout.splitlines()[-1]) for said in (done, bare))
    kernels = [e for e in json.loads((folder / "query.json").read_text())["traceEvents"]
               if e["ph"] == "X" and e.get("cat") == "kernel"]
    measured = [k for k in kernels if "metrics" in k["args"]]
    per_step = len(kernels) / 3
    figures = {"kernels": len(kernels), "measured": len(measured), "seconds": took, "bare_seconds": alone,
               "ms_a_kernel": 1000 * (took - alone) / (2 * per_step), "said": done.stderr[-3000:]}
    print(f"query        {figures['ms_a_kernel']:6.1f} ms a kernel; {len(measured)} of {len(kernels)} kernels of 3 steps "
          f"measured; 2 steps {took:.2f} s, {alone:.3f} s without", flush=True)
    return figures


def main():
    parts = os.environ.get("PARTS", "query,sampling").split(",")
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = bench_cuda.loop_program(folder)
        if "query" in parts:
            figures["query"] = measure_query(folder)
        if "sampling" in parts:
            figures["sampling"] = measure_sampling(folder, program)
    if "JSON" in os.environ:
        pathlib.Path(os.environ["JSON"]).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
