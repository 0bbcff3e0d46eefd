"""Many ranks: what recording 64 of them at once takes of memory, and how long `merge` and `ranks` work
on their files.

    BENCH_RANKS=64 BENCH_MESSAGES=5000 python3 tests/bench/bench_ranks.py

Memory is what a rank has of its own after so many messages, and after ten times as many: it has to stay.
Files are made here: each rank sends to the next one, and an allreduce follows every hundredth message.
Time is CPU time, for others use the cores as well; a quarter and all of the files show whether it is
linear. Under mpiexec the result has to be equal to the byte.
"""
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, SOURCE, UNITRACE

RANKS = harness.size(64, 2, "BENCH_RANKS")
MESSAGES = harness.size(5000, 50, "BENCH_MESSAGES")
TO_SELF = harness.size(2000, 20)
FLAT_KB = 1024
AS_ROOT = {"openmpi": ["--allow-run-as-root", "--oversubscribe"], "mpich": []}


def memory(folder, mpi):
    """kB that a rank has of its own after n and 10 n messages, the most of all ranks."""
    program = folder / "to_self"
    subprocess.run([f"mpicc.{mpi}", "-O2", "-w", SOURCE / "tests/mpi/to_self.c", "-o", program], check=True)
    found = []
    for count in TO_SELF, 10 * TO_SELF:
        done = subprocess.run(
            [f"mpiexec.{mpi}", *AS_ROOT[mpi], "-n", str(RANKS), UNITRACE, "--chrome-mpi-logging", "--quiet",
             "--no-summary", "-o", "run.utr", program, str(count)], cwd=folder, stdout=subprocess.PIPE, text=True,
            check=True)
        found.append(int(done.stdout))
        for path in folder.glob("*.utr"):
            path.unlink()
    return found


def make_rank(path, rank, ranks):
    """Times in us; every message takes 2, from call to call."""
    pid, other = 1000 + rank, (rank + 1) % ranks
    before = (rank - 1) % ranks
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"traceEvents":[\n{"ph":"X","pid":%d,"tid":%d,"ts":0,"dur":10,"name":"MPI_Init","cat":"MPI",'
                '"args":{"rank":%d,"size":%d}}' % (pid, pid, rank, ranks))
        for i in range(MESSAGES):
            t = 20 + 10 * i
            head = '"pid":%d,"tid":%d,"ts":' % (pid, pid)
            f.write(',\n{"ph":"X",%s%d,"dur":2,"name":"MPI_Send","cat":"MPI","args":{"to":%d,"tag":1,"bytes":800}}'
                    ',\n{"ph":"s",%s%d,"name":"MPI message","cat":"flow","id":"0x%x","id2":{"global":"0x%x"}}'
                    % (head, t, other, head, t, (1 << 50) + (rank << 24) + i, (1 << 50) + (rank << 24) + i))
            f.write(',\n{"ph":"X",%s%d,"dur":2,"name":"MPI_Recv","cat":"MPI","args":{"from":%d,"tag":1,"bytes":800}}'
                    ',\n{"ph":"f","bp":"e",%s%d,"name":"MPI message","cat":"flow","id":"0x%x","id2":{"global":"0x%x"}}'
                    % (head, t + 3, before, head, t + 4, (1 << 50) + (before << 24) + i, (1 << 50) + (before << 24) + i))
            if i % 100 == 0:
                f.write(',\n{"ph":"X",%s%d,"dur":3,"name":"MPI_Allreduce","cat":"MPI","args":{"comm":"MPI_COMM_WORLD",'
                        '"seq":%d,"bytes":8,"received":8}}' % (head, t + 6, i // 100))
        f.write(',\n{"ph":"X","pid":%d,"tid":%d,"ts":%d,"dur":10,"name":"MPI_Finalize","cat":"MPI"}\n],"otherData":'
                '{"tool":"unitrace","processes":[{"pid":%d,"rank":%d,"name":"ring","host":"node","realtime_offset_ns":'
                '1700000000000000000}]}}\n' % (pid, pid, 20 + 10 * MESSAGES, pid, rank))


def cpu(*words, **more):
    """CPU seconds of a command, and what it printed."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, check=True, **more)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime, done.stdout


def files(folder, mpi):
    for count in sorted({max(RANKS // 4, 2), RANKS}):
        inside = folder / str(count)
        inside.mkdir()
        for rank in range(count):
            make_rank(inside / f"ring.{rank:03}.json", rank, count)
        size = sum(p.stat().st_size for p in inside.iterdir())
        events = count * (4 * MESSAGES + MESSAGES // 100 + 2)
        for name, words in (("merge", ("merge", "--quiet", "-o", folder / "all.json")), ("ranks", ("ranks", "--json"))):
            seconds, said = cpu(UNITRACE, *words, inside)
            print(f"{name}: {count} files, {events / 1e6:.2f} M events, {size / 1e6:.0f} MB: {seconds:.2f} s of CPU,"
                  f" {events / 1e6 / max(seconds, 1e-3):.2f} M events/s, {size / 1e6 / max(seconds, 1e-3):.0f} MB/s")
        if mpi:
            together = cpu(f"mpiexec.{mpi}", *AS_ROOT[mpi], "-n", "2", UNITRACE, "ranks", "--json", inside)[1]
            print(f"ranks under mpiexec -n 2: {'equal to the byte' if together == said else 'DIFFERS'}")
            if together != said:
                return 1
    return 0


def main():
    harness.need()
    mpis = [m for m in ("openmpi", "mpich") if shutil.which(f"mpicc.{m}") and shutil.which(f"mpiexec.{m}")]
    rc = 0
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        if mpis and (BUILD / "lib/unitrace/backends/mpi.so").exists():
            first, last = memory(folder, mpis[0])
            print(f"{RANKS} ranks at once: {first} kB of their own after {TO_SELF:,} messages, {last} kB after {10 * TO_SELF:,}")
            rc = harness.verdict(last - first > FLAT_KB)
        else:
            harness.left_out("memory of ranks", "no MPI is here, or the MPI backend is not built")
        rc = files(folder, mpis[0] if mpis else None) or rc
    sys.exit(rc)


if __name__ == "__main__":
    main()
