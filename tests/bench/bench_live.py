#!/usr/bin/env python3
"""How far a page lags behind a recording that it watches, and what the watching costs.

    bench_live.py [SECONDS] [RATE...]      20 s of 100,000 and 1,000,000 tasks a second

Lag: what the clock says less the last moment that the server knows of, asked every 50 ms. The
budget is a ratio, since machines differ: the lag in the last quarter of the recording is at most
twice that of the second quarter, so that it does not grow with what has been recorded.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import harness
from bench_view import Server
from harness import PROGRAMS, UNITRACE

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else harness.size(20, 2)
RATES = [int(word) for word in sys.argv[2:]] or ([1000] if harness.TINY else [100_000, 1_000_000])
BUDGET = 2


def measure(rate):
    with tempfile.TemporaryDirectory() as place:
        recorder = subprocess.Popen(
            [UNITRACE, "-o", "run.utr", PROGRAMS / "live_rate", str(rate), str(SECONDS)],
            cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (found := list(pathlib.Path(place).glob("*.session/*.spool"))):
            if recorder.poll() is not None:
                sys.exit(f"the recording ended at once, with {recorder.returncode}")
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
    return (statistics.median(chosen), max(chosen)) if chosen else None


def main():
    harness.need("live_rate")
    failed = False
    for rate in RATES:
        lags, cpu, memory, slices, last = measure(rate)
        early, late = quarter(lags, 1), quarter(lags, 3)
        if not early or not late:
            print(f"{rate:>9} tasks/s: the machine is too busy, the viewer answered {len(lags)} times in {last:.1f} s")
            failed = True
            continue
        ratio = late[0] / early[0]
        failed |= ratio > BUDGET
        print(f"{rate:>9} tasks/s for {SECONDS:.0f} s: lag {early[0]:.2f} s (at most {early[1]:.2f}) in the second "
              f"quarter, {late[0]:.2f} s (at most {late[1]:.2f}) in the last: {ratio:.2f} x; viewer {cpu:.1f} s of "
              f"CPU and {memory} MB for {slices} slices, all there after {last:.1f} s")
    sys.exit(harness.verdict(failed))


if __name__ == "__main__":
    main()
