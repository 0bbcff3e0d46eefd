#!/usr/bin/env python3
"""What recording CUDA costs a PyTorch loop: interleaved runs, medians, as a ratio to the bare loop.

Prints nothing but a reason when there is no GPU.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
ROUNDS = int(os.environ.get("ROUNDS", "7"))

LOOP = """
    import sys, time, torch, torch.nn as nn
    torch.manual_seed(0)
    kind = sys.argv[1]
    if kind == "guide":
        net = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4500, 10)).cuda()
        x = torch.rand(10, 3, 32, 32, device="cuda")
    else:
        net = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True).cuda().half()
        x = torch.rand(8, 128, 512, device="cuda").half()
    steps = int(sys.argv[2])
    def run(n):
        for _ in range(n):
            y = net(x)
            y.float().sum().backward()
        torch.cuda.synchronize()
    run(20)
    begin, cpu = time.perf_counter(), time.process_time()
    run(steps)
    print(time.perf_counter() - begin, time.process_time() - cpu)
"""


def main():
    try:
        import torch
        if not torch.cuda.is_available():
            raise ImportError("no NVIDIA GPU")
    except ImportError as why:
        print(f"bench_cuda: skipped, {why}")
        return
    with tempfile.TemporaryDirectory(prefix="unitrace-bench-") as folder:
        program = pathlib.Path(folder) / "loop.py"
        program.write_text(textwrap.dedent(LOOP))
        for kind, steps in (("guide", "2000"), ("transformer", "400")):
            ways = {
                "bare": [],
                "kernels": [UNITRACE, "--quiet", "--overwrite", "-o", "o.pftrace",
                            "--chrome-kernel-logging"],
                "kernels and calls": [UNITRACE, "--quiet", "--overwrite", "-o", "o.pftrace",
                                      "--chrome-kernel-logging", "--chrome-call-logging"],
            }
            times = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, prefix in ways.items():
                    done = subprocess.run([*prefix, sys.executable, program, kind, steps],
                                          cwd=folder, capture_output=True, text=True, check=True)
                    times[name].append([float(x) for x in done.stdout.split()])
            bare = statistics.median(t[0] for t in times["bare"])
            print(f"{kind}, {steps} steps, medians of {ROUNDS}")
            for name, values in times.items():
                wall = statistics.median(v[0] for v in values)
                cpu = statistics.median(v[1] for v in values)
                print(f"  {name:18} {wall:7.3f} s   {wall / bare:6.3f} x bare   CPU {cpu:7.3f} s")


if __name__ == "__main__":
    main()
