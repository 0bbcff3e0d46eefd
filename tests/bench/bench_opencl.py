"""What recording one OpenCL command costs: a loop of tiny kernels, bare and recorded, in one run.

docs/performance.md has the budget. Rounds are interleaved, so that a busy machine hurts everybody
alike; the figures are medians of the CPU time of the whole process, all threads of the runtime
included, and in brackets of the time on the wall.
"""
import statistics
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, PROGRAMS, UNITRACE

LOOP = PROGRAMS / "opencl_loop"
ROUNDS, COMMANDS, BUDGET = harness.size(15, 1), harness.size(20_000, 20), 2.5

WAYS = {
    "bare": None,
    "device work": ["--chrome-device-logging"],
    "work, submits, arrows": ["--chrome-kernel-logging"],
    "work and every call": ["--chrome-kernel-logging", "--chrome-call-logging"],
    "the same as a vendor": ["--chrome-kernel-logging", "--opencl-via", "icd"],
}


def run(cwd, options, batch):
    record = [] if options is None else [UNITRACE, "--quiet", "--no-summary", "--overwrite", "-o",
                                         "out.pftrace", *options]
    done = subprocess.run([str(w) for w in (*record, LOOP, COMMANDS, batch)], cwd=cwd,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        harness.skip(done.stdout.strip().removeprefix("SKIP: ") or "there is no OpenCL device")
    if done.returncode:
        sys.exit(f"opencl_loop ended with {done.returncode}")
    return [float(word) for word in done.stdout.split()]


def measure(cwd, batch):
    taken = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, options in WAYS.items():
            taken[name].append(run(cwd, options, batch))
    return {name: [statistics.median(column) for column in zip(*rows)]
            for name, rows in taken.items()}


def main():
    harness.need(LOOP, BUILD / "lib/unitrace/backends/opencl.so")
    worst = 0.0
    with tempfile.TemporaryDirectory() as cwd:
        for batch in (COMMANDS, 10):
            print(f"{COMMANDS} tiny kernels, clFinish() after every {batch}:")
            figures = measure(cwd, batch)
            bare, bare_wall = figures["bare"]
            for name, (cpu, wall) in figures.items():
                added = cpu - bare
                worst = max(worst, added) if "vendor" not in name else worst
                print(f"  {name:24}{cpu:7.2f} us a command ({wall:6.2f})   x{cpu / bare:5.2f}   "
                      f"+{added:5.2f} us ({wall - bare_wall:+6.2f})")
    print(f"dearest: +{worst:.2f} us a command; the budget is {BUDGET} us")


if __name__ == "__main__":
    main()
