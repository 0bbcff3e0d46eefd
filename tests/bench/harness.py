"""What the benchmarks share: paths, sizes, budgets, and how they report that something is missing.

UNITRACE_BENCH_SCALE=tiny makes every benchmark as small as it can be: all of its code runs within a second or two,
its figures mean nothing, and budgets are printed but not enforced. tests/e2e/test_bench_scripts.py runs them that
way. The variable of one benchmark (BENCH_OPS=1000) overrides both sizes. harness.h is the same for C.

Exit status: 0 measured, 1 over a budget or failed, 77 something that the benchmark needs is not here.
"""
import os
import pathlib
import sys

BUILD = pathlib.Path(os.environ.get("UNITRACE_BUILD", "build")).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
UNITRACE = BUILD / "bin/unitrace"
PROGRAMS = BUILD / "tests/bench"
SKIPPED = 77
SCALES = ("full", "tiny")

_scale = os.environ.get("UNITRACE_BENCH_SCALE") or "full"
if _scale not in SCALES:
    sys.exit(f"UNITRACE_BENCH_SCALE={_scale}: expected one of {', '.join(SCALES)}")
TINY = _scale == "tiny"


def size(full, tiny, variable=None):
    """A count of either scale; an environment variable overrides it."""
    return int(os.environ.get(variable or "", tiny if TINY else full))


def skip(why):
    """Ends the benchmark: it cannot run here."""
    print(f"SKIP: {why}", flush=True)
    sys.exit(SKIPPED)


def left_out(what, why):
    """Reports that one row of several is not measured."""
    print(f"  left out: {what} ({why})", flush=True)


def need(*paths):
    """Skips unless these are built; a relative path is a program of tests/bench."""
    for path in (UNITRACE, *paths):
        if not (PROGRAMS / path).exists():  # an absolute path stays what it is
            skip(f"{path} is not built")


def verdict(over_budget):
    """The exit status of a benchmark that has a budget."""
    if over_budget and TINY:
        print("over the budget, which is not enforced at this size")
        return 0
    return int(over_budget)
