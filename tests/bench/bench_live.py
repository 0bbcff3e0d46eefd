#!/usr/bin/env python3
"""How far a page lags behind a recording that it watches, and what the watching costs.

    bench_live.py [SECONDS] [RATE...]      20 s of 100,000 and 1,000,000 tasks a second

Lag: what the clock says less the last moment that the server knows of, asked every 50 ms. The
budget is a ratio, since machines differ: the lag in the last quarter of the recording is at most
twice that of the second quarter, so that it does not grow with what has been recorded.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from bench_view import BUILD, Server

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 20
RATES = [int(word) for word in sys.argv[2:]] or [100_000, 1_000_000]
BUDGET = 2


def measure(rate):
    with tempfile.TemporaryDirectory() as place:
        recorder = subprocess.Popen(
            [BUILD / "bin/unitrace", "-o", "run.utr", BUILD / "tests/bench/live_rate", str(rate), str(SECONDS)],
            cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (found := list(pathlib.Path(place).glob("*.session/*.spool"))):
            time.sleep(0.01)
        server = Server([found[0].parent])
        lags, memory, began = [], 0, time.time()
        while (info := server.info())["live"]:
            lags.append((time.time() - began, time.time() - (int(info["start"]) + info["span"]) / 1e9))
            memory = max(memory, server.memory()[1])
            time.sleep(0.05)
        cpu = server.cpu()
        last = time.time() - began
        server.process.kill()
        recorder.wait()
        return lags, cpu, memory, info["slices"], last


def quarter(lags, n):
    chosen = [lag for at, lag in lags if n * SECONDS / 4 <= at < (n + 1) * SECONDS / 4]
    return statistics.median(chosen), max(chosen)


def main():
    failed = False
    for rate in RATES:
        lags, cpu, memory, slices, last = measure(rate)
        early, late = quarter(lags, 1), quarter(lags, 3)
        ratio = late[0] / early[0]
        failed |= ratio > BUDGET
        print(f"{rate:>9} tasks/s for {SECONDS:.0f} s: lag {early[0]:.2f} s (at most {early[1]:.2f}) in the second "
              f"quarter, {late[0]:.2f} s (at most {late[1]:.2f}) in the last: {ratio:.2f} x; viewer {cpu:.1f} s of "
              f"CPU and {memory} MB for {slices} slices, all there after {last:.1f} s")
    sys.exit(failed)


if __name__ == "__main__":
    main()
