"""What `unitrace devlog` costs, against reading the log and writing the same bytes.

A log of BENCH_DEVLOG_ROWS rows (199,680 by default, the size of the budget): 64 cores x 5 RISCs,
firmware and kernels. Times are CPU time of the whole command, medians of five; memory is the peak
of the process. The floors are taken in the same run: `cat` of the log, and `cat` of the files.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import harness
from harness import UNITRACE

ROWS = harness.size(199_680, 1280, "BENCH_DEVLOG_ROWS")
RUNS = harness.size(5, 1, "BENCH_DEVLOG_RUNS")
RISCS = (("BRISC", "BRISC"), ("NCRISC", "NCRISC"), ("TRISC_0", "TRISC"), ("TRISC_1", "TRISC"),
         ("TRISC_2", "TRISC"))


def lane(x, y, risc, zone, ops):
    last = risc == "BRISC"  # its firmware waits for the others
    for op in range(1, ops + 1):
        t = 5_000_000 + op * 20_000 + (x * 7 + y * 13 + op) % 50
        for timer, cycles, part, kind in ((22845, 0, "FW", "START"), (21766, 200, "KERNEL", "START"),
                                          (21766, 8000 + (x + op) % 300, "KERNEL", "END"),
                                          (22845, 9000 if last else 8400, "FW", "END")):
            yield (f"0,{x},{y},{risc},{timer},{t + cycles},0,{op << 10},,,{zone}-{part},ZONE_{kind},"
                   f"396,/tt/{zone.lower()}.cc,\n")


def make(path):
    ops = max(1, ROWS // (64 * 5 * 4))
    with open(path, "w") as f:
        f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
                "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                "data, run host ID, trace id, trace id counter, zone name, type, source line, "
                "source file, meta data\n")
        for core in range(64):
            for risc, zone in RISCS:
                f.writelines(lane(core % 8, core // 8, risc, zone, ops))
    return ops * 64 * 5 * 4


def measure(words, **options):
    """Median CPU seconds and the largest peak in MB."""
    seconds, peak = [], 0
    for _ in range(RUNS):
        child = subprocess.Popen(words, stderr=subprocess.DEVNULL, **options)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"failed: {words}")
        seconds.append(usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss / 1024)
    return statistics.median(seconds), peak


def copy(paths, to):
    with open(to, "wb") as f:
        return measure(["cat", *paths], stdout=f)[0]


def main():
    harness.need()
    with tempfile.TemporaryDirectory(prefix="ut_bench_devlog_") as folder:
        folder = pathlib.Path(folder)
        log, out = folder / "log.csv", folder / "out"
        rows = make(log)
        words = [UNITRACE, "devlog", log, "-o", out, "--no-print-stats", "--no-artifacts"]
        read = measure(["cat", log], stdout=subprocess.DEVNULL)[0]
        plain, peak = measure([*words, "--no-analysis-json"])
        files = [p for p in out.iterdir()]
        floor = copy(files, folder / "copy")
        print(f"{rows} rows, {log.stat().st_size / 1e6:.1f} MB")
        print(f"stats, CSV, traces, pages   {plain:.3f} s, {peak:.0f} MB; "
              f"{plain / max(read + floor, 1e-3):.1f} x reading and writing the same bytes "
              f"({read + floor:.3f} s); {rows / plain / 1e6:.2f} M rows/s")
        full, peak = measure(words)
        size = (out / "device_analysis_data.json").stat().st_size
        floor = copy([out / "device_analysis_data.json"], folder / "copy")
        print(f"analysis JSON               {full - plain:.3f} s more, {peak:.0f} MB; "
              f"{size / 1e6:.0f} MB at {size / 1e6 / max(full - plain, 1e-3):.0f} MB/s; "
              f"{(full - plain) / max(floor, 1e-3):.1f} x copying it ({floor:.3f} s)")
        compare, peak = measure([UNITRACE, "devlog", log, "--compare", log],
                                stdout=subprocess.DEVNULL)
        print(f"reading and analysing       {compare / 2:.3f} s; "
              f"{compare / 2 / max(read, 1e-3):.1f} x reading the log ({read:.3f} s); "
              f"{2 * rows / compare / 1e6:.2f} M rows/s; {peak:.0f} MB for two logs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
