#!/usr/bin/env python3
"""What recording CUDA costs a PyTorch loop: interleaved rounds, medians, as a ratio to the bare loop.

    UNITRACE_BUILD=build python3 tests/device/bench_cuda.py

takes about five minutes on an H200. Each round runs every way once, so that a busy machine hurts
all alike; what counts is the median of the rounds' ratios. What else can be asked for:

    ROUNDS=5            rounds
    SECONDS=300         stop after the round in which this much time has passed
    LOOPS=guide,block,train
                        which loops: the guide's convolution, a small block of a transformer (both
                        bound by the host, which launches as fast as it can), and the training of a
                        larger one
    STEPS=300,100,20    steps of each part of a loop
    WAYS=bare,kernels,torch.profiler,...
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
SECONDS = float(os.environ.get("SECONDS", "300"))
KERNELS, CALLS = "--chrome-kernel-logging", "--chrome-call-logging"

# Words of UNITRACE_CUDA_TUNE: what the backend does without, or does otherwise.
TUNED = ("runtime-only", "driver-only", "no-calls", "all-calls", "no-memory", "no-flush",
         "big-buffers")
WAYS = {
    "bare": (None, ""),
    "torch.profiler": (None, ""), # what its users have now
    "work": (["--chrome-device-logging"], ""),
    "kernels": ([KERNELS], ""),
    "calls": ([KERNELS, CALLS], ""),
    **{word: ([KERNELS], word) for word in TUNED},
}
DEFAULT = "bare,work,kernels,calls,torch.profiler"

# One process per way and round. Start-up is not measured: only steps after a warm-up, in several
# parts of which the median counts.
LOOP = """
    import statistics, sys, time, torch, torch.nn as nn
    torch.manual_seed(0)
    name, steps, profiler = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "torch.profiler"
    if name == "guide":
        net = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4500, 10))
        x = torch.rand(10, 3, 32, 32, device="cuda")
    elif name == "block":
        net = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True).half()
        x = torch.rand(8, 128, 512, device="cuda").half()
    else:
        net = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True).bfloat16()
        x = torch.rand(32, 512, 1024, device="cuda").bfloat16()
    net = net.cuda()
    best = torch.optim.AdamW(net.parameters()) if name == "train" else None
    def run(n):
        for _ in range(n):
            net(x).float().sum().backward()
            if best:
                best.step()
                best.zero_grad()
        torch.cuda.synchronize()
    def timed(n):
        begin, cpu = time.perf_counter(), time.process_time()
        run(n)
        return time.perf_counter() - begin, time.process_time() - cpu
    run(30)
    if profiler:
        kinds = torch.profiler.ProfilerActivity
        torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]).__enter__()
        run(10)
    parts = [timed(steps) for _ in range(7)]
    print(*(statistics.median(p[i] for p in parts) for i in (0, 1)))
    sys.stdout.flush()
    if profiler:
        import os
        os._exit(0)
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
    done = subprocess.run([*record, sys.executable, program, loop, steps, way], cwd=folder, env=env,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench_cuda: {way} ended with {done.returncode}: {done.stderr[-500:]}")
    return [float(word) for word in done.stdout.split()]


def kernels_of(folder, steps):
    """How many kernels a measured part of the last recording holds, by our own statistics."""
    done = subprocess.run([UNITRACE, "stats", "--device", "--csv", "out.utr"], cwd=folder,
                          capture_output=True, text=True, check=False)
    rows = [line for line in done.stdout.splitlines() if line.startswith('"DEVICE')]
    return sum(int(row.split('",')[1].split(",")[8]) for row in rows) * steps // (30 + 7 * steps)


def ratio(times, way, which):
    """The median over the rounds of what a way took, in what the bare loop took in that round."""
    return statistics.median(t[which] / b[which] for t, b in zip(times[way], times["bare"]))


def show(loop, steps, times, kernels):
    bare, cpu = (statistics.median(t[i] for t in times["bare"]) for i in (0, 1))
    print(f"{loop}: medians of {len(times['bare'])} rounds, {steps} steps in {bare:.3f} s,"
          f" {kernels / bare:.0f} kernels/s")
    for way in times:
        extra = cpu * (ratio(times, way, 1) - 1) / kernels * 1e6 if kernels else 0.0
        print(f"  {way:14} {ratio(times, way, 0):6.3f} x bare   CPU {ratio(times, way, 1):6.3f} x"
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
    loops = chosen("LOOPS", "guide,block,train", ("guide", "block", "train"))
    steps = chosen("STEPS", "300,100,20", None)
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
                        kernels = kernels_of(folder, int(count))
                rounds += 1
            show(loop, count, times, kernels)


if __name__ == "__main__":
    main()
