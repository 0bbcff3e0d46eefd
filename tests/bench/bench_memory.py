#!/usr/bin/env python3
"""What watching the memory of a program costs: tests/bench/alloc_loop.c, which allocates a million times
in a second of CPU time, and as fast as it can.

Bare and recorded runs take turns, so that a busy machine hurts both alike; a run gives the lower quartile
of its batches, and of several runs the smallest counts. heaptrack runs among them where it is installed
(Debian: heaptrack). docs/performance.md has the budget.
"""
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, PROGRAMS, UNITRACE

LOOP = PROGRAMS / "alloc_loop"
ROUNDS, COUNT, BUDGET = harness.size(5, 1), harness.size(400_000, 4000), 5.0
# name, bytes of a block on average, is it paced to a million a second?
PROGRAMS = [("1 M/s of 256 B", 256, True), ("1 M/s of 2 KiB", 2048, True), ("nothing else", 256, False)]
WAYS = {"bare": [], "--memory": [str(UNITRACE), "--memory"], "each": [str(UNITRACE), "--memory=each"]}


def run(words, folder):
    """ns of a block, as the program says."""
    if words and words[0] == str(UNITRACE):
        words = [*words[:2], "--quiet", "--no-summary", "-o", "run.utr", "--overwrite", *words[2:]]
    got = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(next(line for line in got.stdout.splitlines() if line.replace(".", "").strip().isdigit()))


def pace(size, folder):
    """Steps of work that make a block take a microsecond."""
    bare = run([str(LOOP), str(COUNT), "0", str(size)], folder)
    step = (run([str(LOOP), str(COUNT // 4), "200", str(size)], folder) - bare) / 200
    return max(0, round((1000 - bare) / step)) if step > 0 else 0


def main():
    harness.need(LOOP, BUILD / "lib/unitrace/backends/memory.so")
    ways, worst = dict(WAYS), 0.0
    if shutil.which("heaptrack"):
        ways["heaptrack"] = ["heaptrack", "-o", "track"]
    else:
        harness.left_out("heaptrack", "not installed")
    print(f"{'':16}" + "".join(f"{way:>12}" for way in ways) + "   ns a block, above the bare one in percent")
    with tempfile.TemporaryDirectory() as folder:
        for name, size, paced in PROGRAMS:
            words = [str(LOOP), str(COUNT if paced else 5 * COUNT), str(pace(size, folder) if paced else 0), str(size)]
            best = {way: float("inf") for way in ways}
            for _ in range(ROUNDS):
                for way, before in ways.items():
                    best[way] = min(best[way], run([*before, *words], folder))
            above = {way: 100 * (ns / best["bare"] - 1) for way, ns in best.items()}
            if paced:
                worst = max(worst, above["--memory"])
            print(f"{name:16}" + "".join(f"{ns:12.1f}" for ns in best.values()))
            print(f"{'':16}" + "".join(f"{percent:+12.1f}" for percent in above.values()))
    print(f"at a million allocations a second it is {worst:.1f} % at most; the budget is {BUDGET:.0f}")
    sys.exit(harness.verdict(worst > BUDGET))


if __name__ == "__main__":
    main()
