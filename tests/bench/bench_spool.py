"""What a long recording costs: memory of the traced program, and turning the spool into files.

The program records PAIRS tasks (10 M by default; BENCH_PAIRS=50000000 for 100 M events). Times
are CPU seconds of the command; the floor of an export is reading the spool and writing as many
bytes as it wrote, done here with plain copies in the same run.
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile

import harness
from harness import PROGRAMS, UNITRACE

LOOP = PROGRAMS / "task_loop"
PAIRS = harness.size(10_000_000, 10_000, "BENCH_PAIRS")


def run(cwd, *command):
    """The command's output and its CPU seconds, of its own and in the kernel."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(c) for c in command], cwd=cwd, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, (after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)


def memory(output):
    return {k: int(v) for k, v in re.findall(r"(\w+):\s+(\d+) kB", output)}


def report_memory(bare, ours):
    for key, what in (("RssAnon", "private"), ("RssFile", "mapped files"), ("VmHWM", "peak")):
        print(f"  {what:13} {bare[key]:8} KiB bare {ours[key]:8} KiB recorded"
              f" {ours[key] - bare[key]:+8} KiB")


def report_export(cwd, session, events):
    spool = max(session.glob("*.spool"), key=lambda p: p.stat().st_size)
    for fmt, suffix in (("chrome", "json"), ("perfetto", "pftrace")):
        out = cwd / f"out.{suffix}"
        _, (user, system) = run(cwd, UNITRACE, "export", "-f", fmt, "-o", out, session)
        cpu = max(user + system, 1e-3)
        size = out.stat().st_size
        _, read = run(cwd, "dd", f"if={spool}", "of=/dev/null", "bs=1M")
        _, write = run(cwd, "dd", "if=/dev/zero", f"of={out}", "bs=1M", f"count={size >> 20}")
        out.unlink()
        print(f"  {fmt:9} {user:6.2f} + {system:.2f} s CPU   {events / cpu / 1e6:6.2f} M events/s"
              f"   {size / cpu / 1e6:7.0f} MB/s   {cpu / max(sum(read + write), 1e-3):5.1f} x floor")


def main():
    harness.need(LOOP)
    cwd = pathlib.Path(tempfile.mkdtemp(prefix="unitrace-bench-", dir=os.environ.get("BENCH_DIR")))
    try:
        bare = memory(run(cwd, LOOP, PAIRS, 1)[0])
        ours = memory(run(cwd, UNITRACE, "--quiet", "--keep-session", "-o", "x.pftrace", LOOP, PAIRS,
                          1)[0])
        session = next(cwd.glob("*.session"))
        print(f"memory of a program that records {2 * PAIRS / 1e6:.0f} M events")
        report_memory(bare, ours)
        print("export of that recording (2 events per task)")
        report_export(cwd, session, 2 * PAIRS)
        print("budget: <= 32 MiB private; >= 4 M events/s per core to Chrome JSON")
    finally:
        shutil.rmtree(cwd)


if __name__ == "__main__":
    main()
