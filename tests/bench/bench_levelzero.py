"""What recording Level Zero costs, on the simulated driver: a plain call, a kernel appended to a
regular list, one appended to an immediate list; bare and recorded, in one run.

Rounds are interleaved, so that a busy machine hurts everybody alike; the figures are medians of CPU
time, of all threads for kernels. The driver's own work (it simulates) is the same in each.
"""
import os
import statistics
import subprocess
import tempfile

import harness
from harness import BUILD, UNITRACE

LOOP, DRIVER = BUILD / "tests/levelzero/ze_loop", BUILD / "tests/levelzero/libze_simulated.so"
ROUNDS = harness.size(7, 1, "BENCH_ROUNDS")
COUNT = harness.size(20_000, 100)
WHAT = ("a call", "a kernel in a regular list", "a kernel in an immediate list")
BUDGETS = (1.0, 3.0, 3.0)
WAYS = {
    "bare": None,
    "device work": ["--chrome-device-logging"],
    "work, submits, arrows": ["--chrome-kernel-logging"],
    "work and every call": ["--chrome-kernel-logging", "--chrome-call-logging"],
}


def run(cwd, options):
    record = [] if options is None else [UNITRACE, "--quiet", "--no-summary", "--overwrite", "-o",
                                         "out.pftrace", *options]
    env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=str(DRIVER), ZE_SIMULATED="kernel_ns=100")
    done = subprocess.run([str(w) for w in (*record, LOOP, COUNT)], cwd=cwd, env=env,
                          stdout=subprocess.PIPE, text=True, check=True)
    return [float(word) for word in done.stdout.splitlines()[0].split()]


def main():
    harness.need()
    if not LOOP.exists() or not DRIVER.exists():
        harness.skip("the simulated driver is not built (libze-dev)")
    taken = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as cwd:
        for _ in range(ROUNDS):
            for name, options in WAYS.items():
                taken[name].append(run(cwd, options))
    figures = {name: [statistics.median(c) for c in zip(*rows)] for name, rows in taken.items()}
    for i, what in enumerate(WHAT):
        print(f"{what} (budget +{BUDGETS[i]:g} us):")
        bare = figures["bare"][i]
        for name, row in figures.items():
            print(f"  {name:24}{row[i]:8.3f} us   x{row[i] / bare:6.2f}   +{row[i] - bare:6.3f} us")


if __name__ == "__main__":
    main()
