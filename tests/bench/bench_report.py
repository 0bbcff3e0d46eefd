"""What the reports of `unitrace analyze` add: CPU time with --json and --verify=report, and with
--html, against the same run without them, taken in turns. The budget of the first two is a tenth;
the page holds the whole trace, so what it adds grows with it and is told by itself, as is its size:
a million slices in 8 MB. Without the options nothing is watched.

BENCH_ANALYZE_SLICES slices as in bench_analyze.py.
"""
import os
import pathlib
import statistics
import sys
import tempfile

import harness
from bench_analyze import SLICES, make_flex
from harness import UNITRACE

REPORTS = ["--json", "r.json", "--verify=report"]
PAGE = ["--html", "r.html"]
ROUNDS = harness.size(5, 1)


def cpu_time(cwd, args):
    """User and system seconds of one run."""
    pid = os.fork()
    if not pid:
        os.chdir(cwd)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(UNITRACE, [str(UNITRACE), "analyze", "-i", "f-*.json", "--freq", "560:800", "-D",
                            "0", "--threads", "1", "-o", "o.json", *args])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"unitrace analyze {' '.join(args)}: status {status}")
    return usage.ru_utime + usage.ru_stime


def main():
    harness.need()
    with tempfile.TemporaryDirectory(prefix="ut_bench_") as folder:
        cwd = pathlib.Path(folder)
        make_flex(cwd, SLICES)
        runs = [tuple(cpu_time(cwd, a) for a in ([], REPORTS, PAGE)) for _ in range(ROUNDS)]
        plain = statistics.median(r[0] for r in runs)
        ratio = statistics.median(r[1] / max(r[0], 1e-3) for r in runs)
        page = statistics.median(r[2] - r[0] for r in runs)
        size = (cwd / "r.html").stat().st_size
    print(f"analyze reports: {SLICES} slices, {plain:.2f} s of CPU time without, x{ratio:.3f} "
          f"with; the page {page:.2f} s more, {size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
