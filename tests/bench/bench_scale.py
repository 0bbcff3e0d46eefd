"""What commands cost on the files of a large job: time, CPU time, memory, disk.

BENCH_RANKS ranks (4 by default) of BENCH_EVENTS events each (1 M by default) are recorded, saved
as .utr and asked; BENCH_JSON of them (2) are exported and merged as text. To save time, only
BENCH_DISTINCT ranks (all) are recorded, and the others are copies of those. docs/scale.md has the
results of a billion events, which is

    BENCH_RANKS=16 BENCH_EVENTS=62500000 BENCH_DISTINCT=2 python3 tests/bench/bench_scale.py

and takes 35 GB of disk. BENCH_DIR says where the files go; they are removed at the end. "M/s" are
million events per second of CPU time, MB/s likewise.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import harness
from harness import PROGRAMS, UNITRACE

RANKS = harness.size(4, 2, "BENCH_RANKS")
EVENTS = harness.size(1_000_000, 2000, "BENCH_EVENTS")
DISTINCT = min(RANKS, harness.size(RANKS, 1, "BENCH_DISTINCT"))
JSON = min(RANKS, harness.size(2, 2, "BENCH_JSON"))

SQL = {
    "query: one aggregate": "select count(*), sum(dur) from slice",
    "query: filtered": "select count(*) from slice where dur > 1000",
    "query: per name": "select name, count, total from slice_stats order by total desc limit 10",
}


class Cost:
    """Of one command, or of several together."""

    def __init__(self, wall=0.0, user=0.0, system=0.0, peak=0.0):
        self.wall, self.user, self.system, self.peak = wall, user, system, peak

    def __add__(self, other):
        return Cost(self.wall + other.wall, self.user + other.user, self.system + other.system,
                    max(self.peak, other.peak))

    def line(self, what, events=0, size=0):
        cpu = max(self.user + self.system, 0.001)
        rate = f"{events / cpu / 1e6:8.1f} M/s" if events else " " * 12
        speed = f"{size / cpu / 1e6:7.0f} MB/s" if size else " " * 12
        print(f"  {what:24}{self.wall:8.2f} s  {self.user:8.2f} + {self.system:6.2f} s CPU"
              f"{rate}{speed}{self.peak:8.0f} MB peak", flush=True)


def run(cwd, *command, env=None):
    start = time.monotonic()
    child = subprocess.Popen([str(c) for c in command], cwd=cwd, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {child.returncode}")
    return Cost(time.monotonic() - start, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024)


def sizes(paths):
    return sum(p.stat().st_size for p in paths)


def record(cwd):
    """Rank by rank: a recording goes when it has been saved as .utr."""
    recorded, spools = Cost(), 0
    for rank in range(DISTINCT):
        recorded += run(cwd, UNITRACE, "--quiet", "--no-summary", "--keep-session", "-o",
                        f"rank.{rank}.utr", PROGRAMS / "scale_rank", EVENTS, rank)
        session = next(cwd.glob("*.session"))
        spools += sum(p.stat().st_size for p in session.iterdir())
        shutil.rmtree(session)
    for rank in range(DISTINCT, RANKS):
        shutil.copyfile(cwd / f"rank.{rank % DISTINCT}.utr", cwd / f"rank.{rank}.utr")
    files = [cwd / f"rank.{rank}.utr" for rank in range(RANKS)]
    print(f"{RANKS} ranks x {EVENTS / 1e6:g} M events, {DISTINCT} of them distinct: "
          f"{spools / DISTINCT / EVENTS:.1f} bytes/event recorded, {sizes(files) / 1e9:.2f} GB as "
          f".utr ({sizes(files) / RANKS / EVENTS:.1f} bytes/event)")
    recorded.line(f"record {DISTINCT}, save as .utr", DISTINCT * EVENTS, spools)
    return files


def ask(cwd, files):
    events, size = RANKS * EVENTS, sizes(files)
    run(cwd, UNITRACE, "info", *files).line("info", events, size)
    run(cwd, UNITRACE, "stats", *files).line("stats", events, size)
    run(cwd, UNITRACE, "stats", "--threads", 1, *files).line("stats, one thread", events, size)
    for what, sql in SQL.items():
        run(cwd, UNITRACE, "query", *files, sql).line(what, events, size)
    shown = subprocess.run([PROGRAMS / "scale_window", files[0]], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    print(f"  one file: opened in {shown[1]} ms of CPU time; all lanes, 2000 pixels: {shown[3]} ms "
          f"for all of it, {shown[5]} ms for a thousandth; its statistics in {shown[7]} bytes")


def merge(cwd, files):
    exported, texts = Cost(), []
    for path in files[JSON:]:
        path.unlink()  # their room is needed
    for n, path in enumerate(files[:JSON]):
        texts.append(cwd / f"text.{n}.json")
        exported += run(cwd, UNITRACE, "export", "--quiet", "-o", texts[-1], path)
    events, size = JSON * EVENTS, sizes(texts)
    exported.line(f"export {JSON} to JSON", events, size)
    out = cwd / "all.json"
    run(cwd, UNITRACE, "merge", "--quiet", "-o", out, *texts).line(f"merge {JSON}, as text", events,
                                                                   size)
    print(f"  {size / 1e9:.2f} GB of JSON ({size / events:.0f} bytes/event), merged "
          f"{out.stat().st_size / 1e9:.2f} GB")
    out.unlink()
    copied = Cost()
    for path in texts:
        copied += run(cwd, "dd", f"if={path}", f"of={out}", "bs=1M")
    copied.line("the same with dd", 0, size)


def main():
    harness.need("scale_rank", "scale_window")
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-bench-", dir=os.environ.get("BENCH_DIR")))
    try:
        files = record(cwd)
        ask(cwd, files)
        merge(cwd, files)
    finally:
        shutil.rmtree(cwd)


if __name__ == "__main__":
    main()
