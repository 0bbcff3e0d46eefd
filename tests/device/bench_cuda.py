#!/usr/bin/env python3
"""What recording CUDA costs a PyTorch loop, as a ratio to the bare loop.

    UNITRACE_BUILD=build python3 tests/device/bench_cuda.py

takes about five minutes on an H200. All ways to run a loop are started first, several processes
of each, and then take turns of a fraction of a second: a machine that is busy, hot or slow for a
while hurts all alike. A process's figure is the median over the rounds of what its turn took, in
what the turns of the bare processes took in the same round; a way's is the median of its processes',
and the least and the most are shown beside it. "floor" is what CUPTI costs that makes records of
kernels alone, which are thrown away (cupti_floor.c). What else can be asked for:

    ROUNDS=25           turns of every process
    PROCESSES=4         of every way
    CPUS=2,4,6,8        where they run after their start, for figures that change less from run to run
    SECONDS=300         stop after the round in which this much time has passed
    LOOPS=guide,block,train
                        which loops: the guide's convolution, a small block of a transformer (both
                        bound by the host, which launches as fast as it can), and the training of a
                        larger one
    STEPS=150,60,20     steps of a turn, for each loop
    WAYS=bare,floor,work,kernels,calls,torch.profiler
                        which ways; the words of UNITRACE_CUDA_TUNE are ways, too (several joined
                        by +): each records kernels and submitting calls, but does without something
    THREADS=1           shows what each thread of the first process of a way spent
    PROGRAM=FILE        a Python program that takes turns as LOOP below does, instead of PyTorch
                        (fake_loop.py)

Skips aloud (77) when there is no GPU.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

import device
from device import UNITRACE

ROUNDS = int(os.environ.get("ROUNDS", "25"))
PROCESSES = int(os.environ.get("PROCESSES", "4"))
SECONDS = float(os.environ.get("SECONDS", "300"))
THREADS = bool(os.environ.get("THREADS"))
KERNELS, CALLS = "--chrome-kernel-logging", "--chrome-call-logging"

WAYS = {
    "bare": None,
    "floor": None, # the least that CUPTI can cost
    "torch.profiler": None, # what its users have now
    "work": ["--chrome-device-logging"],
    "kernels": [KERNELS],
    "calls": [KERNELS, CALLS],
}
DEFAULT = "bare,floor,kernels,torch.profiler"
FLOOR = device.HERE / "cupti_floor.c"
WARM_UP = 30  # steps of the loop before its turns

# Start-up is not measured: a line on standard input is a turn, and is answered with the seconds it
# took and the CPU seconds of the process and of each of its threads.
LOOP = """
    import os, sys, time, torch, torch.nn as nn
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
    def threads():
        spent = {}
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/comm") as f:
                key = f.read().strip() + ":" + thread
            with open(f"/proc/self/task/{thread}/schedstat") as f:
                spent[key] = int(f.read().split()[0]) / 1e9
        return spent
    run(30)
    for thread in os.listdir("/proc/self/task") if "CPUS" in os.environ else ():
        os.sched_setaffinity(int(thread), [int(cpu) for cpu in os.environ["CPUS"].split(",")])
    if profiler:
        kinds = torch.profiler.ProfilerActivity
        torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]).__enter__()
        run(10)
    print("ready", flush=True)
    for line in sys.stdin:
        run(max(1, steps // 10))
        before, cpu, begin = threads(), time.process_time(), time.perf_counter()
        run(steps)
        took, cpu = time.perf_counter() - begin, time.process_time() - cpu
        after = threads()
        print(took, cpu, *(f"{k}={after[k] - before.get(k, 0.0)}" for k in after), flush=True)
    if profiler:
        os._exit(0)
"""


class Runner:
    """A process that runs a loop one way, a turn at a time."""

    def __init__(self, folder, program, way, number, loop, steps):
        options, tune = (WAYS[way], "") if way in WAYS else ([KERNELS], way.replace("+", ","))
        self.way, self.trace = way, f"{way}-{number}.utr"
        record = [] if options is None else [UNITRACE, "--quiet", "--no-summary", "--overwrite",
                                             "-o", self.trace, *options]
        self.errors = tempfile.TemporaryFile()
        env = {**os.environ, "UNITRACE_CUDA_TUNE": tune}
        if way == "floor":
            env["CUDA_INJECTION64_PATH"] = f"{folder}/libfloor.so"
        self.process = subprocess.Popen(
            [*record, sys.executable, program, loop, steps, way], cwd=folder, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.turns, self.threads = [], {}

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            sys.exit(f"bench_cuda: {self.way} ended: {self.errors.read()[-500:].decode()}")
        return line.split()

    def turn(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        took, cpu, *threads = self.answer()
        self.turns.append((float(took), float(cpu)))
        for word in threads:
            name, _, spent = word.rpartition("=")
            self.threads.setdefault(name, []).append(float(spent))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def kernels_per_step(folder, runner, steps):
    """By our own statistics of a recording."""
    kernels = device.count_kernels(runner.trace, cwd=folder)
    return kernels / (WARM_UP + len(runner.turns) * (steps + max(1, steps // 10)))


def ratios(runners, bare, which):
    """Of each process of a way."""
    floor = [statistics.median(b.turns[i][which] for b in bare) for i in range(len(bare[0].turns))]
    return [statistics.median(t[which] / f for t, f in zip(r.turns, floor)) for r in runners]


def show_threads(runner, total):
    spent = {name: statistics.median(values) for name, values in runner.threads.items()}
    line = ", ".join(f"{name} {100 * s / total:.0f}%" for name, s in
                     sorted(spent.items(), key=lambda item: -item[1]) if s > 0.003 * total)
    print(f"      {line}")


def show(loop, steps, runners, per_step):
    bare = [r for r in runners if r.way == "bare"]
    took, cpu = (statistics.median(t[i] for b in bare for t in b.turns) for i in (0, 1))
    kernels = per_step * steps
    print(f"{loop}: {len(bare[0].turns)} rounds of {len(bare)} processes, {steps} steps in {took:.3f} s,"
          f" {kernels / took:.0f} kernels/s", flush=True)
    for way in dict.fromkeys(r.way for r in runners):
        ours = [r for r in runners if r.way == way]
        wall, spent = (sorted(ratios(ours, bare, i)) for i in (0, 1))
        extra = cpu * (statistics.median(spent) - 1) / kernels * 1e6 if kernels else 0.0
        print(f"  {way:30} {statistics.median(wall):6.3f} x bare ({wall[0]:.3f} to {wall[-1]:.3f})"
              f"   CPU {statistics.median(spent):6.3f} x  {extra:+6.2f} us per kernel", flush=True)
        if THREADS:
            show_threads(ours[0], took)


def measure(folder, program, loop, steps, ways, until):
    runners = [Runner(folder, program, way, number, loop, steps)
               for number in range(PROCESSES) for way in ways]
    for runner in runners:
        runner.answer()
    rounds = 0
    while rounds < ROUNDS and (not rounds or time.monotonic() < until):
        for i in range(len(runners)):
            runners[(i + rounds) % len(runners)].turn()
        rounds += 1
    for runner in runners:
        runner.end()
    recorded = [r for r in runners if r.way == "kernels"]
    show(loop, int(steps), runners, kernels_per_step(folder, recorded[0], int(steps)) if recorded else 0)


def chosen(variable, default):
    return os.environ.get(variable, default).split(",")


def loop_program(folder):
    """The program that takes turns: PyTorch's loop, or what stands in for it."""
    if "PROGRAM" in os.environ:
        return pathlib.Path(os.environ["PROGRAM"]).resolve()
    device.need(torch=True)
    program = pathlib.Path(folder) / "loop.py"
    program.write_text(textwrap.dedent(LOOP))
    return program


def main():
    ways = chosen("WAYS", DEFAULT)
    ways = ways if "bare" in ways else ["bare", *ways]
    loops, steps = chosen("LOOPS", "guide,block,train"), chosen("STEPS", "150,60,20")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="unitrace-bench-") as folder:
        program = loop_program(folder)
        if "floor" in ways:
            source = FLOOR.parents[2] / "src"
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{source}", f"-I{source / 'record'}", "-o",
                            f"{folder}/libfloor.so", FLOOR, "-ldl"], check=True)
        for i, loop in enumerate(loops):
            measure(folder, program, loop, steps[min(i, len(steps) - 1)], ways,
                    begin + SECONDS * (i + 1) / len(loops))


if __name__ == "__main__":
    main()
