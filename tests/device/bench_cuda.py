#!/usr/bin/env python3
"""What recording CUDA costs a PyTorch loop: interleaved rounds, medians, as a ratio to the bare loop.

    UNITRACE_BUILD=build python3 tests/device/bench_cuda.py

takes below three minutes on an H200. Each round runs every way once, so that a busy machine hurts
all alike. What else can be asked for:

    ROUNDS=5            rounds
    SECONDS=150         stop after the round in which this much time has passed
    LOOPS=guide,block   which loops: the guide's convolution, a block of a transformer
    STEPS=1000,200      steps of each
    WAYS=bare,kernels,calls,driver-only,...
                        which ways; the words of UNITRACE_CUDA_TUNE are ways, too: each records
                        kernels and submitting calls, but does without something

Prints nothing but a reason when there is no GPU.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
UNITRACE = BUILD / "bin/unitrace"
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = float(os.environ.get("SECONDS", "150"))
KERNELS, CALLS = "--chrome-kernel-logging", "--chrome-call-logging"

# Words of UNITRACE_CUDA_TUNE: what the backend does without, or does otherwise.
TUNED = ("runtime-only", "driver-only", "no-calls", "all-calls", "no-memory", "no-flush",
         "big-buffers")
WAYS = {
    "bare": (None, ""),
    "work": (["--chrome-device-logging"], ""),
    "kernels": ([KERNELS], ""),
    "calls": ([KERNELS, CALLS], ""),
    **{word: ([KERNELS], word) for word in TUNED},
}
DEFAULT = "bare,work,kernels,calls,runtime-only,driver-only"

# One process per way and round: start-up is not measured, only the steps after a warm-up.
LOOP = """
    import sys, time, torch, torch.nn as nn
    torch.manual_seed(0)
    if sys.argv[1] == "guide":
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
    run(30)
    begin, cpu = time.perf_counter(), time.process_time()
    run(steps)
    print(time.perf_counter() - begin, time.process_time() - cpu)
"""


def chosen(variable, default, known):
    words = os.environ.get(variable, default).split(",")
    for word in words:
        if known and word not in known:
            sys.exit(f"bench_cuda: {variable} does not know '{word}'; it takes {', '.join(known)}")
    return words


def run_once(folder, program, way, loop, steps):
    options, tune = WAYS[way]
    record = [] if options is None else [UNITRACE, "--quiet", "--no-summary", "--overwrite", "-o",
                                         "out.utr", *options]
    env = {**os.environ, "UNITRACE_CUDA_TUNE": tune}
    done = subprocess.run([*record, sys.executable, program, loop, steps], cwd=folder, env=env,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench_cuda: {way} ended with {done.returncode}: {done.stderr[-500:]}")
    return [float(word) for word in done.stdout.split()]


def kernels_of(folder):
    """How many kernels the last recording holds, by our own statistics."""
    done = subprocess.run([UNITRACE, "stats", "--device", "--csv", "out.utr"], cwd=folder,
                          capture_output=True, text=True, check=False)
    rows = [line for line in done.stdout.splitlines() if line.startswith('"DEVICE')]
    return sum(int(row.split('",')[1].split(",")[8]) for row in rows)


def show(loop, steps, rounds, times, kernels):
    bare = [statistics.median(t[i] for t in times["bare"]) for i in (0, 1)]
    print(f"{loop}, {steps} steps, medians of {rounds}, {kernels} kernels recorded")
    for way, values in times.items():
        wall, cpu = (statistics.median(v[i] for v in values) for i in (0, 1))
        extra = (cpu - bare[1]) / kernels * 1e6 if kernels else 0.0
        print(f"  {way:14} {wall:7.3f} s  {wall / bare[0]:6.3f} x bare   CPU {cpu:7.3f} s"
              f"  {extra:+6.2f} us per kernel")


def main():
    try:
        import torch
        if not torch.cuda.is_available():
            raise ImportError("no NVIDIA GPU")
    except ImportError as why:
        print(f"bench_cuda: skipped, {why}")
        return
    ways = chosen("WAYS", DEFAULT, WAYS)
    ways = ways if "bare" in ways else ["bare", *ways]
    loops = chosen("LOOPS", "guide,block", ("guide", "block"))
    steps = chosen("STEPS", "1000,200", None)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="unitrace-bench-") as folder:
        program = pathlib.Path(folder) / "loop.py"
        program.write_text(textwrap.dedent(LOOP))
        for i, loop in enumerate(loops):
            count = steps[min(i, len(steps) - 1)]
            times, rounds, kernels = {way: [] for way in ways}, 0, 0
            until = SECONDS * (i + 1) / len(loops)
            while rounds < ROUNDS and (not rounds or time.monotonic() - begin < until):
                for way in ways:
                    times[way].append(run_once(folder, program, way, loop, count))
                    if way == "kernels" and not kernels:
                        kernels = kernels_of(folder)
                rounds += 1
            show(loop, count, rounds, times, kernels)


if __name__ == "__main__":
    main()
