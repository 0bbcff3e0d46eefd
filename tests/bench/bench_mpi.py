"""What recording one MPI call costs above the bare call: tests/mpi/pingpong.c, in one process.

Batches of recorded and of bare calls take turns, so that a busy machine hurts both alike; figures
are lower quartiles of the batches: others use the two cores as well. docs/performance.md has the budget. A ping-pong between two ranks shows
what a program feels; a rank with itself what a call costs when there is nobody to wait for.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, SOURCE, UNITRACE

BATCHES, CALLS, BUDGET = harness.size(60, 4), harness.size(6000, 10), 150
AS_ROOT = {"openmpi": ["--allow-run-as-root", "--oversubscribe"], "mpich": []}


def measure(mpi, folder):
    program = folder / f"pingpong.{mpi}"
    subprocess.run([f"mpicc.{mpi}", "-O2", "-w", str(SOURCE / "tests/mpi/pingpong.c"), "-ldl", "-o",
                    str(program)], check=True)
    done = subprocess.run([f"mpiexec.{mpi}", *AS_ROOT[mpi], "-n", "2", str(UNITRACE),
                           "--chrome-mpi-logging", "--quiet", "--no-summary", "-o", "run.utr",
                           str(program), str(BATCHES), str(CALLS)],
                          cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    for path in folder.glob("*.utr"):
        path.unlink()
    return [line.split() for line in done.stdout.splitlines()]


def main():
    harness.need()
    mpis = [m for m in AS_ROOT if shutil.which(f"mpicc.{m}") and shutil.which(f"mpiexec.{m}")]
    if not mpis or not (BUILD / "lib/unitrace/backends/mpi.so").exists():
        harness.skip("no MPI is here, or the MPI backend is not built")
    worst = 0.0
    print(f"{'':10}{'':10}{'bare':>10}{'recorded':>10}{'above':>10}   ns a call")
    for mpi in mpis:
        with tempfile.TemporaryDirectory() as folder:
            for name, bare, recorded in measure(mpi, pathlib.Path(folder)):
                above = float(recorded) - float(bare)
                worst = max(worst, above)
                print(f"{mpi:10}{name:10}{bare:>10}{recorded:>10}{above:10.1f}")
    print(f"the most is {worst:.0f} ns above the bare call; the budget is {BUDGET}")
    sys.exit(harness.verdict(worst > BUDGET))


if __name__ == "__main__":
    main()
