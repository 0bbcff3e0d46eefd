"""What the reports of `unitrace analyze` add: CPU time with --json, --html and --verify=report
against the same run without them, both taken in turns. The budget is a tenth; without the options
nothing is watched.

BENCH_ANALYZE_SLICES slices as in bench_analyze.py.
"""
import os
import pathlib
import statistics
import sys
import tempfile

from bench_analyze import SLICES, UNITRACE, make_flex

REPORTS = ["--json", "r.json", "--html", "r.html", "--verify=report"]
ROUNDS = 5


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
    if not UNITRACE.exists():
        print(f"SKIP: {UNITRACE} is not built")
        return 77
    with tempfile.TemporaryDirectory(prefix="ut_bench_") as folder:
        cwd = pathlib.Path(folder)
        make_flex(cwd, SLICES)
        pairs = [(cpu_time(cwd, []), cpu_time(cwd, REPORTS)) for _ in range(ROUNDS)]
        plain = statistics.median(p for p, _ in pairs)
        ratio = statistics.median(r / p for p, r in pairs)
        size = (cwd / "r.html").stat().st_size
    print(f"analyze reports: {SLICES} slices, {plain:.2f} s of CPU time without, "
          f"x{ratio:.3f} with; page {size // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
