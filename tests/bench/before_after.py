"""Two builds beside each other: what every row of the budgets costs in each, in one run.

    python3 tests/bench/before_after.py OLD/build NEW/build [ROW...]

For changes that must not cost anything. Both builds do the same work on the same input in turns;
what is printed is CPU time of the whole command (for recording: of a pair of calls, by the program
itself), the least of ROUNDS (9) each, and the quotient. A row that one build cannot do is left out,
aloud.

On a machine that others use as well, INSTRUCTIONS=1 counts the instructions of each command once, by
valgrind, with a twentieth of the input; what happens in traced programs is left out then.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import bench_analyze
import bench_devlog
import harness

COUNTED = os.environ.get("INSTRUCTIONS") == "1"
ROUNDS = 1 if COUNTED else harness.size(9, 1, "ROUNDS")
SHARE = 20 if COUNTED else harness.size(1, 1000)  # of the input
FIB = f"def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n\nfib({harness.size(23, 10)})\n"


def task_loop():
    return pathlib.Path(sys.argv[2]).resolve() / "tests/bench/task_loop"


def cpu(words, cwd):
    """Seconds of CPU time of a command, and what it printed."""
    child = subprocess.Popen([str(w) for w in words], cwd=cwd, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    out, _ = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, out


def pair(build, cwd, *options):
    """Nanoseconds a pair of calls, as the loop itself measured them."""
    _, out = cpu([build / "bin/unitrace", "--quiet", "--overwrite", "-o", "pair.pftrace", *options,
                  task_loop(), str(100_000 // SHARE), "15", "1"], cwd)
    return float(out.split()[0])


def instructions(words, cwd):
    """Millions of them that a command takes, all threads together."""
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {run.returncode} under valgrind")
    return int(found[1]) / 1e6


def command(build, cwd, *words):
    words = [build / "bin/unitrace", *words]
    return instructions(words, cwd) if COUNTED else cpu(words, cwd)[0]


def inputs(build, cwd):
    """A recording of 4 M events and the same as JSON, an analysis' input, a device log, a script."""
    count = str(400000 // SHARE)
    cpu([build / "bin/unitrace", "--quiet", "-o", "run.utr", task_loop(), count, "5", "1"], cwd)
    cpu([build / "bin/unitrace", "--quiet", "--keep-session", "-o", "kept.json", task_loop(), count, "5",
         "1"], cwd)
    cpu([build / "bin/unitrace", "export", "run.utr", "-o", "run.json"], cwd)
    (cwd / "flex").mkdir()
    bench_analyze.make_flex(cwd / "flex", 100000 // SHARE)
    bench_analyze.make_torch(cwd, 300000 // SHARE)
    bench_devlog.make(cwd / "log.csv")
    (cwd / "fib.py").write_text(FIB)


def rows(cwd):
    flex = ",".join(str(p) for p in sorted((cwd / "flex").iterdir()))
    session = next(cwd.glob("*.session"))
    names = "select name, count(*), sum(dur) from slice group by 1 order by 2 desc"
    return {
        "recording, fresh pages (ns)": lambda b: pair(b, cwd),
        "recording, flight recorder (ns)": lambda b: pair(b, cwd, "--keep-last", "4M"),
        "paused (ns)": lambda b: pair(b, cwd, "--start-paused"),
        "spool to JSON": lambda b: command(b, cwd, "export", session, "-o", "x.json", "--overwrite"),
        "spool to .pftrace":
            lambda b: command(b, cwd, "export", session, "-o", "x.pftrace", "--overwrite"),
        "spool to .utr": lambda b: command(b, cwd, "export", session, "-o", "x.utr", "--overwrite"),
        "JSON to stats": lambda b: command(b, cwd, "stats", "run.json"),
        "torch JSON to SQL": lambda b: command(b, cwd, "query", "t.pt.trace.json", names),
        "SQL on .utr": lambda b: command(b, cwd, "query", "run.utr", names),
        "stats on .utr": lambda b: command(b, cwd, "stats", "run.utr"),
        "analyze, flex": lambda b: command(b, cwd, "analyze", "-D", "0", "-i", flex, "--freq",
                                           "560.0:800", "--threads", "1", "-o", "a.json"),
        "analyze, torch": lambda b: command(b, cwd, "analyze", "-D", "0", "-i", "t.pt.trace.json",
                                            "--threads", "1", "-o", "b.json"),
        "device log": lambda b: command(b, cwd, "devlog", "log.csv", "-o", "devlog"),
        "ops": lambda b: command(b, cwd, "ops", "t.pt.trace.json"),
        "merge": lambda b: command(b, cwd, "merge", "run.json", "t.pt.trace.json", "-o", "m.json",
                                   "--overwrite"),
        "Python functions": lambda b: command(b, cwd, "--quiet", "--overwrite", "-o", "p.pftrace",
                                              "--python", sys.executable, "fib.py"),
    }


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    old, new = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    for build in (old, new):
        harness.need(build / "bin/unitrace")
    harness.need(task_loop())
    print(f"{'row':34s} {'before':>10s} {'after':>10s} {'ratio':>7s}")
    with tempfile.TemporaryDirectory() as name:
        cwd = pathlib.Path(name)
        inputs(new, cwd)
        for row, measure in rows(cwd).items():
            if sys.argv[3:] and not any(w in row for w in sys.argv[3:]):
                continue
            if COUNTED and ("(ns)" in row or row == "Python functions"):
                continue
            best, builds = [float("inf"), float("inf")], (old, new)
            try:
                for turn in range(ROUNDS):
                    for i in (0, 1) if turn % 2 else (1, 0):
                        best[i] = min(best[i], measure(builds[i]))
            except RuntimeError as error:
                print(f"{row:34s} left out: {error}")
                continue
            print(f"{row:34s} {best[0]:10.3f} {best[1]:10.3f} {best[1] / max(best[0], 1e-6):7.3f}",
                  flush=True)


if __name__ == "__main__":
    main()
