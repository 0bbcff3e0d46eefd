"""What `unitrace metrics` costs, against counting the lines of the same file.

A file of time-based samples: BENCH_METRICS_MB megabytes (256 by default) of five kernels with twenty
metrics each. Times are CPU time of the whole command, medians of five; memory is the peak of the
process. The floor is taken in the same run: `wc -l`, which looks at every byte once.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import harness
from harness import SOURCE, UNITRACE

SIZE = harness.size(256, 1, "BENCH_METRICS_MB") * 10**6
RUNS = harness.size(5, 1, "BENCH_METRICS_RUNS")
SIX = ("XVE_STALL[%],XVE_ACTIVE[%],L3_BYTE_READ[bytes],L3_BYTE_WRITE[bytes],"
       "GPU_MEMORY_BYTE_READ[bytes],XVE_INST_EXECUTED_XMX_ALL_UTILIZATION[%]")
BUDGET = 300  # MB/s of one core


def make(path):
    """A piece of a few MB, as often as it takes: making numbers is what takes long here."""
    piece = path.with_suffix(".piece")
    subprocess.run([sys.executable, SOURCE / "tests/gen/metrics_gen.py", "time", piece, "--instances", "4",
                    "--samples", str(harness.size(500, 10))], check=True)
    head, rows = piece.read_text().split("StreamMarker\n", 1)
    with open(path, "w") as f:
        f.write(head + "StreamMarker\n")
        while f.tell() < SIZE:
            f.write(rows)
    piece.unlink()


def measure(words):
    """Median CPU seconds and the largest peak in MB."""
    seconds, peak = [], 0
    for _ in range(RUNS):
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"failed: {words}")
        seconds.append(usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss / 1024)
    return statistics.median(seconds), peak


def main():
    harness.need()
    with tempfile.TemporaryDirectory(prefix="ut_bench_metrics_") as folder:
        folder = pathlib.Path(folder)
        path = folder / "metrics.csv"
        make(path)
        size = path.stat().st_size / 1e6
        lines = subprocess.run(["wc", "-l", path], capture_output=True, text=True).stdout.split()[0]
        floor = max(measure(["wc", "-l", path])[0], 1e-3)
        print(f"{size:.0f} MB, {int(lines)} lines; wc -l {floor:.3f} s ({size / floor:.0f} MB/s)")
        chart = folder / "chart.svg"
        for what, words in (("list (-l)", ["-l"]),
                            ("six metrics of one instance", ["-i", "7", "-m", SIX, "-o", chart]),
                            ("six metrics of every row", ["-i", "0", "-m", SIX, "-o", chart])):
            spent, peak = measure([UNITRACE, "metrics", *words, path])
            speed = size / max(spent, 1e-3)
            print(f"{what:28}{spent:.3f} s, {peak:.0f} MB; {speed:.0f} MB/s "
                  f"({speed / BUDGET:.1f} x the budget), {spent / floor:.1f} x wc -l")
    return 0


if __name__ == "__main__":
    sys.exit(main())
