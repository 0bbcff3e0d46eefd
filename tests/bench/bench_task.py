"""What one ITT task costs: ours against the floor, in one run.

docs/performance.md has the budgets. Rounds are interleaved so that a busy machine hurts everybody alike; the figures are medians of
CPU time. Instructions are counted by callgrind, as the difference of two run lengths.
"""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

import harness
from harness import PROGRAMS, UNITRACE

LOOP, FLOOR, EMPTY = PROGRAMS / "task_loop", PROGRAMS / "libfloor.so", PROGRAMS / "libempty.so"
ROUNDS, PAIRS, REPEATS = harness.size(15, 1), harness.size(200_000, 1000), harness.size(15, 1)


def run(command, cwd, **env):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **env},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    return done


def record(cwd, *options):
    return [UNITRACE, "--quiet", "--overwrite", "-o", "out.pftrace", *options]


def ways(cwd):
    floor = {"INTEL_LIBITTNOTIFY64": str(FLOOR)}
    empty = {"INTEL_LIBITTNOTIFY64": str(EMPTY)}
    return {
        "no collector": ([], {}),
        "empty functions": ([], empty),
        "floor": ([], floor),
        "recording": (record(cwd), {}),
        "flight recorder": (record(cwd, "--keep-last", "4M"), {}),
        "paused": (record(cwd, "--start-paused"), {}),
    }


def time_all(cwd, threads):
    times = {name: [] for name in ways(cwd)}
    for _ in range(ROUNDS):
        for name, (prefix, env) in ways(cwd).items():
            done = run([*prefix, LOOP, PAIRS, REPEATS, threads], cwd, **env)
            times[name].append(float(done.stdout.split()[0]))
    return {name: statistics.median(values) for name, values in times.items()}


def instructions(cwd, prefix, env):
    counts, lengths = [], (harness.size(20_000, 200), harness.size(120_000, 1200))
    for pairs in lengths:
        done = run([*prefix, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", LOOP,
                    pairs, 1], cwd, **env)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
    return (counts[1] - counts[0]) / (lengths[1] - lengths[0])


def spool_bytes(cwd):
    pairs = harness.size(4_000_000, 4000)
    run([*record(cwd), "--keep-session", LOOP, pairs, 1], cwd)
    info = run([UNITRACE, "info", "--json", *cwd.glob("*.session")], cwd).stdout
    return sum(spool["bytes"] for spool in json.loads(info)) / pairs


def main():
    harness.need(LOOP, FLOOR, EMPTY)
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-bench-"))
    try:
        for threads in (1, 2):
            times = time_all(cwd, threads)
            floor, none = times["floor"], times["no collector"]
            print(f"task begin+end, {threads} thread(s), CPU ns per pair")
            for name, ns in times.items():
                print(f"  {name:16} {ns:7.2f} ns   {ns / floor:5.2f} x floor"
                      f"   {ns - none:+7.2f} ns, {(ns - none) / floor:+.2f} x floor above no collector")
        if shutil.which("valgrind"):
            print("instructions per pair (callgrind)")
            chosen = ways(cwd)
            if harness.TINY:  # valgrind alone takes a second to start
                chosen = {"recording": chosen["recording"]}
            for name, (prefix, env) in chosen.items():
                print(f"  {name:16} {instructions(cwd, prefix, env):7.1f}")
        else:
            harness.left_out("instructions per pair", "valgrind is not installed")
        print(f"spool bytes per pair: {spool_bytes(cwd):.2f}")
        print("budget: recording <= 1.3 x floor, paused <= empty functions + 0.5 ns (goal: no collector + 3 ns),\n"
              "        <= 32 bytes (goal 16)")
    finally:
        shutil.rmtree(cwd)


if __name__ == "__main__":
    main()
